//! `hairspring compare`: two saved results.

use crate::arguments::PrintArguments;
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::Args;
use hairspring_import::results::{self, Results};
use hairspring_import::unpack;
use hairspring_program::circumstances::identity;
use hairspring_program::values::share;
use hairspring_result::compare::{CompareDocument, Compared, Places, comparable, compare};
use hairspring_result::{ResultDocument, json, read::read as read_document};
use hairspring_view::text;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  hairspring time 'f(x)' --file f.c --let 'int x = 3' --json > old.json
  ... a change to f.c, and the same with > new.json
  hairspring compare old.json new.json
  hairspring compare old.json new.json --threshold 5%     exit with 3 if anything certainly takes \
5 % longer
  hairspring compare old.json new.json --threshold 5% --strict       and if this is undecided, or \
something is missing
  hyperfine ./a --export-json old.json; ... a change, the same with new.json, and compare

Series are matched by name and code. A ratio is new over old, in core cycles where both have them. \
The two were not
measured in the same rounds, so disturbances do not cancel: the ratio's interval covers the worst \
case of all that may
differ between the two, and the verdict comes from it. Results of different CPUs or machines have \
no verdict without
--across: they differ by more than a change of the code.";

/// Compare two saved results: ratios with their intervals
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompareArguments {
    /// The result to compare with: what `time --json` or `fit --json` printed, or a result of
    /// another tool (docs/results-of-tools.md); - for standard input
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The result to compare
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Exit with 3 if a body certainly takes longer by more than this share. docs/pass-or-fail.md
    /// has the rules
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// Exit with 3 as well if something is undecided, or missing in the new result.
    /// docs/pass-or-fail.md has the rules
    #[arg(long)]
    pub strict: bool,
    /// Decide also if the two ran on different CPUs or machines
    #[arg(long)]
    pub across: bool,
    #[command(flatten)]
    pub print: PrintArguments,
}

/// The verb.
pub const VERB: Verb = Verb::of::<CompareArguments>();

impl Runs for CompareArguments {
    const NAME: &'static str = "compare";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Runs the verb. It exits with 1 if the results have no series in common.
fn run(arguments: &CompareArguments) -> Result<Outcome, AnyError> {
    if [&arguments.old, &arguments.new].iter().all(|path| path.as_path() == Path::new("-")) {
        return Err(crate::misuse::Misuse(
            "only one of the two can be standard input: give a file for the other".into(),
        )
        .into());
    }
    let (old, new) = (read(&arguments.old)?, read(&arguments.new)?);
    comparable(&old, &new)?;
    let places = if arguments.across { Places::Any } else { Places::Same };
    let compared = compare(&old, &new, arguments.threshold, places);
    let (before, after) =
        (arguments.old.display().to_string(), arguments.new.display().to_string());
    let document = || {
        let document = CompareDocument::new(&compared, (Some(&before), &old), (Some(&after), &new));
        json::print(&CompareDocument { identity: Some(identity()), ..document })
    };
    let text =
        || text::compare(&compared, &shown(&before, &old), &shown(&after, &new), &output::style());
    arguments.print.print(document, || Ok(text()))?;
    Ok(outcome(&compared, arguments.strict))
}

/// The file, and the tool that wrote it if that is another one.
fn shown(file: &str, document: &ResultDocument) -> String {
    let tool = document.origin.as_ref().map(|origin| format!(" (of {})", origin.title()));
    format!("{file}{}", tool.unwrap_or_default())
}

/// The outcome of a comparison, in which nothing may be uncertain if it is `strict`; reports on
/// standard error if there was nothing to compare, which fails.
pub fn outcome(compared: &Compared, strict: bool) -> Outcome {
    if compared.pairs.is_empty() {
        output::complain(
            "nothing to compare: the two results have no series with the same name and code; \
             `hairspring time CODE --vs OTHER` compares two pieces of code",
        );
        return if strict { Outcome::LimitMissed } else { Outcome::Failed };
    }
    let missed = compared.past() > 0 || strict && !compared.is_certain();
    if missed { Outcome::LimitMissed } else { Outcome::Done }
}

/// A saved file.
pub enum Saved {
    /// The document of a result of another tool.
    Tool(Box<ResultDocument>),
    /// The text of a file of no other tool.
    Text(String),
}

/// Reads a saved result, or that of another tool, from a file or from standard input.
pub fn read(path: &Path) -> Result<ResultDocument, String> {
    document(path, saved(path)?)
}

/// The result in a saved file.
pub fn document(path: &Path, saved: Saved) -> Result<ResultDocument, String> {
    match saved {
        Saved::Tool(document) => Ok(*document),
        Saved::Text(text) => {
            read_document(&text).map_err(|error| named(path, &format!("{error}; {OTHERS}")))
        }
    }
}

/// A reason with the file that it is about.
pub fn named(path: &Path, reason: &dyn std::fmt::Display) -> String {
    if path == Path::new("-") {
        format!("standard input: {reason}")
    } else {
        format!("{}: {reason}", path.display())
    }
}

/// Reads a file of any document.
pub fn saved(path: &Path) -> Result<Saved, String> {
    let named = |reason: &dyn std::fmt::Display| named(path, reason);
    if path.is_dir() {
        return of_tool(results::read_folder(path), &named).map(Box::new).map(Saved::Tool);
    }
    let mut bytes = Vec::new();
    let stream = if path == Path::new("-") {
        unpack(std::io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(unpack)
    };
    let stream = stream.map_err(|error| named(&error))?;
    results::read_bytes(stream, &mut bytes).map_err(|error| named(&error))?;
    let text = results::decode(&bytes).map_err(|error| named(&error))?;
    match results::read(&text) {
        Some(found) => of_tool(found, &named).map(Box::new).map(Saved::Tool),
        None => Ok(Saved::Text(text.into_owned())),
    }
}

/// The document of a result of another tool. What is left out of it is reported on standard error.
fn of_tool(
    found: Result<Results, String>,
    named: &dyn Fn(&dyn std::fmt::Display) -> String,
) -> Result<ResultDocument, String> {
    let found = found.map_err(|error| named(&error))?;
    found.remarks.iter().for_each(|remark| output::complain(&named(remark)));
    Ok(found.into_document())
}

/// What else is read.
const OTHERS: &str = "results of other tools that are read: see docs/results-of-tools.md";
