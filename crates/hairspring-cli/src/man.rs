//! `hairspring man`: manual pages, made from the same declarations as `--help`.

use crate::misuse::Misuse;
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::{Args, Command};
use clap_mangen::Man;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hairspring man time | man -l -
  hairspring man --out ~/.local/share/man/man1";

/// Print the manual page of this command or of a verb, or write all of them into a folder
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct ManArguments {
    /// The verb whose page is printed [default: the page of hairspring itself]
    #[arg(value_name = "VERB", conflicts_with = "out")]
    pub verb: Option<String>,
    /// Write all pages into this folder, created if it does not exist: hairspring.1, and one for
    /// each verb
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// The verb.
pub const VERB: Verb = Verb::of::<ManArguments>();

impl Runs for ManArguments {
    const NAME: &'static str = "man";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Runs the verb.
fn run(arguments: &ManArguments) -> Result<Outcome, AnyError> {
    let all = commands();
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("--out {}: {error}", folder.display()))?;
        for command in all {
            let path = folder.join(format!("{}.1", name(&command)));
            std::fs::write(&path, page(command)?)
                .map_err(|error| format!("--out: {}: {error}", path.display()))?;
        }
        return Ok(Outcome::Done);
    }
    let wanted = arguments
        .verb
        .as_ref()
        .map_or("hairspring".to_owned(), |verb| format!("hairspring-{verb}"));
    let names: Vec<String> = all[1..].iter().map(|command| command.get_name().to_owned()).collect();
    let unknown = || {
        Misuse(format!(
            "there is no verb `{}`; known are {}",
            arguments.verb.as_deref().unwrap_or_default(),
            names.join(", ")
        ))
    };
    let command = all.into_iter().find(|command| name(command) == wanted).ok_or_else(unknown)?;
    output::print(&page(command)?)?;
    Ok(Outcome::Done)
}

/// The command itself, and all its verbs.
fn commands() -> Vec<Command> {
    let mut whole = crate::command().disable_help_subcommand(true);
    whole.build();
    let verbs: Vec<Command> = whole.get_subcommands().cloned().collect();
    std::iter::once(whole).chain(verbs).collect()
}

/// Name of a page: `hairspring`, or `hairspring-VERB`.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: Command) -> Result<String, AnyError> {
    let mut page = Vec::new();
    Man::new(command)
        .manual("Hairspring")
        .source(concat!("hairspring ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)?;
    Ok(String::from_utf8(page)?)
}
