//! `hairspring report`: converts a saved result to the formats that other tools read.

use crate::compare::Saved;
use crate::interactive::{MOST_BYTES, interactive};
use crate::misuse::Misuse;
use crate::plot::PlotArguments;
use crate::saved::Taken;
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, compare, html, output};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Command};
use hairspring_core::observations::Observations;
use hairspring_page::{Extras, Interactive};
use hairspring_result::throughput::{self, Work};
use hairspring_result::{ResultDocument, Series, complexity};
use hairspring_view::clean::{clean, cut};
use hairspring_view::export::{FORMATS, Format, export, find};
use hairspring_view::{markdown, text};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  hairspring time 'x * x' --let 'int x = 3' --json > result.json
  hairspring report result.json --format bencher
  hairspring report result.json --html result.html
  hairspring report result.json --markdown > comment.md
  hairspring report result.json --plot line:figure.svg
  hairspring time 'x * x' --let 'int x = 3' --json | hairspring report - --format benchstat >> \
new.txt

A benchmark is named after its code, or after its series where there is no code. Components other \
than the first are
appended after a slash.";

/// Convert a saved result to the format of another tool
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct SavedReportArguments {
    /// The saved result: what `time --json` or `fit --json` printed, or a result of another tool
    /// (docs/results-of-tools.md); - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The format
    #[arg(long, value_parser = formats(),
        required_unless_present_any = ["complexity", "html", "markdown", "plot", "throughput"])]
    pub format: Option<&'static Format>,
    /// Print how the times grow with an argument that has four values or more: O(1) to O(n^3), as
    /// lines with their intervals, and which orders the times do not exclude
    #[arg(long, conflicts_with_all = ["format", "markdown"])]
    pub complexity: bool,
    /// Print work in a second, from the work of one execution: an amount and a unit, such as
    /// '64 B'. Arguments of benchmarks count by their names: 'size B', '2*n^3 FLOP'
    #[arg(long, value_name = "WORK", value_parser = Work::parse,
        conflicts_with_all = ["format", "markdown"])]
    pub throughput: Option<Work>,
    /// Print Markdown for a comment on a pull request. Documents of all verbs have it
    #[arg(long, conflicts_with = "format")]
    pub markdown: bool,
    /// Write the document to this file as one HTML page, which needs no network; - for standard
    /// output. Documents of all verbs have one
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// The observations of the document (--save), for --html and --plot: they are solved again, and
    /// their readings over time are shown
    #[arg(long, value_name = "OBSERVATIONS")]
    pub table: Option<PathBuf>,
    /// Put the observations and the solver into the page, at most 3 MB: rows, rounds and stages can
    /// be switched off in it, and it zooms into the readings
    #[arg(long, requires_all = ["table", "html"])]
    pub interactive: bool,
    #[command(flatten)]
    pub plots: PlotArguments,
}

/// The verb.
pub const VERB: Verb = Verb::of::<SavedReportArguments>();

impl Runs for SavedReportArguments {
    const NAME: &'static str = "report";

    fn command() -> Command {
        let purposes: Vec<&str> = FORMATS.iter().map(|format| format.purpose).collect();
        let command = Self::augment_args(Command::new(Self::NAME));
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        command.about(format!("{about}: {}", purposes.join(", ")))
    }

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// The values of --format, from the table of formats.
fn formats() -> impl TypedValueParser<Value = &'static Format> {
    let value = |format: &&Format| {
        PossibleValue::new(format.name).aliases(format.aliases).help(format.help)
    };
    let known = PossibleValuesParser::new(FORMATS.iter().map(value));
    known.try_map(|name| find(&name).ok_or_else(|| format!("there is no format `{name}`")))
}

/// Runs the verb. What the format cannot hold is reported on standard error; it fails if nothing is
/// left.
fn run(arguments: &SavedReportArguments) -> Result<Outcome, AnyError> {
    if arguments.table.is_some() && arguments.html.is_none() && arguments.plots.plot.is_empty() {
        return Err(Misuse("--table is for --html FILE or --plot FILE: give one".into()).into());
    }
    let saved = compare::saved(&arguments.file)?;
    let table = arguments.table.as_deref().map(html::observations).transpose()?;
    let interactive = match &table {
        Some(table) if arguments.interactive => Some(solver(arguments, &saved, table)?),
        _ => None,
    };
    let extras = Extras { table: table.as_ref(), interactive, ..Extras::default() };
    if let Some(path) = &arguments.html {
        write_page(arguments, &saved, &extras, path)?;
    }
    arguments.plots.write(|| match &saved {
        Saved::Tool(document) => hairspring_page::result_plots(document, &extras),
        Saved::Text(text) => hairspring_page::plots(text, &extras),
    })?;
    if arguments.markdown {
        output::print(&as_markdown(&arguments.file, &saved)?)?;
    }
    if arguments.complexity || arguments.throughput.is_some() {
        output::print(&derived(arguments, &compare::document(&arguments.file, saved)?))?;
        return Ok(Outcome::Done);
    }
    let Some(format) = arguments.format else { return Ok(Outcome::Done) };
    let result = compare::document(&arguments.file, saved)?;
    of_tool(&result).iter().for_each(|doubt| output::complain(doubt));
    let found = export(&result, format);
    found.left_out.iter().for_each(|reason| output::complain(reason));
    if found.benchmarks == 0 {
        return Err("no benchmark can be reported in this format".into());
    }
    output::print(&found.text)?;
    Ok(Outcome::Done)
}

/// What follows from the times: their growth, and work in a second.
fn derived(arguments: &SavedReportArguments, result: &ResultDocument) -> String {
    let style = output::style();
    let rates = arguments.throughput.as_ref().map(|work| throughput::of(result, work));
    let rates = rates.map(|rates| text::throughput(&rates, &style));
    let growth = arguments.complexity.then(|| text::complexity(&complexity::of(result), &style));
    [rates, growth].into_iter().flatten().collect::<String>().trim_start_matches('\n').to_owned()
}

/// Writes the page of a document.
fn write_page(
    arguments: &SavedReportArguments,
    saved: &Saved,
    extras: &Extras,
    path: &Path,
) -> Result<(), AnyError> {
    if path != Path::new("-") {
        let mut taken = Taken::default();
        taken.add("the document", &arguments.file);
        arguments.table.iter().for_each(|table| taken.add("the file of --table", table));
        taken.keep("--html", path)?;
    }
    let page = match saved {
        Saved::Tool(document) => hairspring_page::result_page(document, extras),
        Saved::Text(text) => hairspring_page::page(text, extras),
    };
    let about = arguments.table.as_ref().unwrap_or(&arguments.file);
    let page = page.map_err(|error| compare::named(about, &error))?;
    if arguments.interactive && page.len() > MOST_BYTES {
        let (found, most) = (page.len() >> 10, MOST_BYTES >> 10);
        let reason = format!(
            "--interactive: the page has {found} KiB, the limit is {most}: give a part of the \
             observations, or leave out --interactive"
        );
        return Err(compare::named(about, &reason).into());
    }
    if path == Path::new("-") {
        output::print(&page)?;
        return Ok(());
    }
    html::write(html::OPTION, path, page.as_bytes())
}

/// The Markdown of a document.
fn as_markdown(path: &Path, saved: &Saved) -> Result<String, AnyError> {
    let named = |reason: String| {
        let reason = format!("{reason}; --markdown takes what a verb prints with --json");
        compare::named(path, &reason)
    };
    Ok(match saved {
        Saved::Tool(document) => markdown::of(document),
        Saved::Text(text) => markdown::of_json(text).map_err(named)?,
    })
}

/// What the page needs to solve its observations again.
fn solver(
    arguments: &SavedReportArguments,
    saved: &Saved,
    table: &Observations,
) -> Result<Interactive, AnyError> {
    let document = match saved {
        Saved::Tool(document) => (**document).clone(),
        Saved::Text(text) => hairspring_result::read::read(text)
            .map_err(|error| compare::named(&arguments.file, &error))?,
    };
    let name = arguments.table.as_deref().and_then(Path::file_name).unwrap_or_default();
    interactive(&document, table, &clean(&name.to_string_lossy()))
}

/// What a format has no place for of a result of another tool: what its intervals do not contain,
/// and times that are not to be trusted.
fn of_tool(result: &ResultDocument) -> Vec<String> {
    let Some(origin) = &result.origin else { return Vec::new() };
    let lacks =
        |clause: &String| format!("{}: the intervals do not contain {clause}", clean(&origin.tool));
    let doubt = |series: &Series| {
        let found = series.distrust()?;
        let (name, reason) = (cut(&clean(series.title()), 80), clean(&found.message));
        Some(format!("`{name}` is not to be trusted: {reason}"))
    };
    let doubts = result.results.iter().filter_map(doubt).take(MOST_DOUBTS);
    origin.lacks.iter().map(lacks).chain(doubts).collect()
}

/// Times that are named as not to be trusted.
const MOST_DOUBTS: usize = 20;
