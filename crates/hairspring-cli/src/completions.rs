//! `hairspring completions`: shell completions of verbs, options and their values.

use crate::arguments::Arguments;
use crate::{AnyError, Outcome, output};
use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

const EXAMPLES: &str = "\
Examples:
  hairspring completions bash > ~/.local/share/bash-completion/completions/hairspring
  hairspring completions zsh > \"${fpath[1]}/_hairspring\"
  hairspring completions fish > ~/.config/fish/completions/hairspring.fish";

/// Options of `completions`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// Runs the verb.
pub fn run(arguments: &CompletionsArguments) -> Result<Outcome, AnyError> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut Arguments::command(), "hairspring", &mut script);
    output::print(&String::from_utf8(script)?)?;
    Ok(Outcome::Done)
}
