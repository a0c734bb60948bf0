//! `hairspring completions`: shell completions of verbs, options and their values.

use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::Args;
use clap_complete::{Shell, generate};

const EXAMPLES: &str = "\
Examples:
  hairspring completions bash > ~/.local/share/bash-completion/completions/hairspring
  hairspring completions zsh > \"${fpath[1]}/_hairspring\"
  hairspring completions fish > ~/.config/fish/completions/hairspring.fish";

/// Print shell completions for this command
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// The verb.
pub const VERB: Verb = Verb::of::<CompletionsArguments>();

impl Runs for CompletionsArguments {
    const NAME: &'static str = "completions";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Runs the verb.
fn run(arguments: &CompletionsArguments) -> Result<Outcome, AnyError> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut crate::command(), "hairspring", &mut script);
    output::print(&String::from_utf8(script)?)?;
    Ok(Outcome::Done)
}
