//! `hairspring fit`: solves observations from a file, with the same estimate and checks as `time`.

use crate::arguments::{ExplainArguments, ReportArguments, StatedClockArguments};
use crate::compare::named;
use crate::saved::{Output, Taken};
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use hairspring_core::estimate::Options;
use hairspring_core::judge::methods;
use hairspring_core::judge::{Assessment, Question, Remedies};
use hairspring_core::observations::{Observations, read_csv};
use hairspring_core::pipeline::{optional_stages, weighed, write_weighed};
use hairspring_import::{Form, Tool, detect, has_only_times, head, only_times, unpack};
use hairspring_page::Extras;
use hairspring_program::circumstances::identity;
use hairspring_result::{Environment, Measurement, ResultDocument, Subject, json};
use hairspring_view::text;
use std::io::Read;
use std::path::{Path, PathBuf};

const FIT_EXAMPLES: &str = "\
The file is CSV: comments `# key: value`, a header with one column per component and a last column \
`ticks` (or
`time_ns`), optionally `round`, `flags` and `series`. See spec/observations.md.

  printf 'body,ticks\\n1,108\\n2,208\\n3,308\\n4,408\\n' | hairspring fit -

Files of other tools are fitted again, with an intercept: the overhead that their answer contains.

  hairspring fit target/criterion/NAME/new/sample.json
  hairspring fit google-benchmark.json
  for k in 100 200 400; do go test -bench . -benchtime=${k}x -count 5; done > bench.txt
  hairspring fit bench.txt";

/// Files that `fit` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FitFormat {
    /// Observations: counts and ticks (spec/observations.md)
    Observations,
    /// Criterion.rs: sample.json, raw.csv or cargo-criterion's messages
    Criterion,
    /// Google Benchmark: the JSON of its runs
    GoogleBenchmark,
    /// nanobench: the JSON of its template
    Nanobench,
    /// BenchmarkDotNet: its full JSON
    BenchmarkDotNet,
    /// Go: the output of go test -bench, as text or with -json
    Go,
}

impl FitFormat {
    /// The tool; `None` for observations.
    fn tool(self) -> Option<Tool> {
        match self {
            FitFormat::Observations => None,
            FitFormat::Criterion => Some(Tool::Criterion),
            FitFormat::GoogleBenchmark => Some(Tool::GoogleBenchmark),
            FitFormat::Nanobench => Some(Tool::Nanobench),
            FitFormat::BenchmarkDotNet => Some(Tool::BenchmarkDotNet),
            FitFormat::Go => Some(Tool::Go),
        }
    }
}

/// Solve observations from a file: counts of components and ticks
#[derive(Debug, Clone, Args)]
#[command(after_help = FIT_EXAMPLES)]
pub struct FitArguments {
    /// The file, or - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The tool that wrote the file [default: detected from its content]
    #[arg(long, value_enum)]
    pub format: Option<FitFormat>,
    /// Use all rows, even those far off the line
    #[arg(long)]
    pub keep_all: bool,
    /// Solve without this stage of the analysis, to see its effect (repeatable); blocks, rows, line
    /// and express are always needed
    #[arg(long, value_name = "STAGE", value_delimiter = ',', value_parser = stages())]
    pub without: Vec<String>,
    /// Write every reading to a file (CSV), with the reading at the mean core clock, its weight and
    /// the stage that left it out
    #[arg(long, value_name = "FILE")]
    pub readings: Option<PathBuf>,
    #[command(flatten)]
    pub stated: StatedClockArguments,
    #[command(flatten)]
    pub explain: ExplainArguments,
    #[command(flatten)]
    pub report: ReportArguments,
}

/// The values of --without, from the list of stages.
fn stages() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(
        optional_stages()
            .into_iter()
            .map(|stage| PossibleValue::new(stage.name).help(stage.question)),
    )
}

/// The verb.
pub const VERB: Verb = Verb::of::<FitArguments>().with_remedies(REMEDIES);

impl Runs for FitArguments {
    const NAME: &'static str = "fit";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Remedies by the code of a finding (`spec/result.md`); they name options of this verb. A finding
/// that is not listed keeps the neutral remedy of its kind.
const REMEDIES: Remedies = Remedies {
    by_code: &[
        ("rows_left_out", "look at these rows in the --json document; --keep-all uses all of them"),
        (
            "disturbed",
            "look at the readings with a flag, and at those far from the others of their row, in \
             the file",
        ),
    ],
    more_rows: "add rows with other counts",
};

/// Runs the verb.
fn run(arguments: &FitArguments) -> Result<Outcome, AnyError> {
    let readings = readings_file(arguments)?;
    let (table, tool) = read(arguments)?;
    let options = options(arguments);
    let mut assessment = REMEDIES
        .assess(&table, &Question { options: options.clone(), ..Question::default() })
        .map_err(|e| named(&arguments.file, &e))?;
    if let (Some(file), Some(path)) = (readings, &arguments.readings) {
        let all = weighed(&table, &options)?;
        file.fill(|out| {
            write_weighed(&table, &all, out).map_err(|error| named(path, &error).into())
        })?;
    }
    doubt_recording(&table, &mut assessment)?;
    let methods =
        if tool.is_some() { methods::beside_tools(&table, &assessment) } else { Vec::new() };
    let document = arguments.stated.state(ResultDocument::new(&Measurement {
        command: "fit".into(),
        // The file may come from another machine, so this one is not described.
        environment: Environment {
            identity: Some(identity()),
            ..Environment::unknown("the file has no reference chain")
        }
        .with_origin(&table.origin),
        ns_per_unit: table.origin.ns_per_unit(),
        assessment,
        subjects: Subject::of_methods(&methods),
        methods,
        run: None,
    }));
    let text =
        || Ok(text::report(&document, &output::style()) + &arguments.explain.text(&document));
    let extras = || Extras { table: Some(&table), ..Extras::default() };
    arguments.report.print.print_with(|| json::print(&document), text, extras)?;
    Ok(Outcome::Done)
}

/// The file of --readings.
fn readings_file(arguments: &FitArguments) -> Result<Option<Output>, AnyError> {
    let mut taken = Taken::default();
    let solved =
        if is_standard_input(&arguments.file) { Path::new("/dev/stdin") } else { &arguments.file };
    taken.add("the file that is solved", solved);
    arguments
        .readings
        .as_deref()
        .map(|path| Output::open("--readings", path, &mut taken))
        .transpose()
}

fn options(arguments: &FitArguments) -> Options {
    Options {
        level: arguments.report.confidence_level,
        leave_rows_out: !arguments.keep_all,
        without: arguments.without.clone(),
        ..Options::default()
    }
}

/// The observations, and the tool that wrote the file. What is left out of it is reported on
/// standard error.
fn read(arguments: &FitArguments) -> Result<(Observations, Option<Tool>), AnyError> {
    let path = &arguments.file;
    let stream: Box<dyn Read> = if is_standard_input(path) {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::fs::File::open(path).map_err(|e| named(path, &e))?)
    };
    let (head, stream) = unpack(stream).and_then(head).map_err(|e| named(path, &e))?;
    let form = Form::of_head(&head).filter(|_| arguments.format.is_none());
    if let Some(form) = form {
        return Err(named(path, &form.refusal_of_fit()).into());
    }
    let only = has_only_times(&head).filter(|_| arguments.format.is_none());
    if let Some(tool) = only {
        return Err(named(path, &only_times(tool)).into());
    }
    let tool = arguments.format.map_or_else(|| detect(&head), FitFormat::tool);
    let Some(tool) = tool else {
        return Ok((read_csv(stream).map_err(|e| named(path, &e))?, None));
    };
    let imported = hairspring_import::read(stream, tool).map_err(|e| named(path, &e))?;
    imported.remarks.iter().for_each(|remark| output::complain(&named(path, remark)));
    Ok((imported.table, Some(tool)))
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Adds what a table of a recording may be doubted for. A build without these checks refuses it.
fn doubt_recording(table: &Observations, assessment: &mut Assessment) -> Result<(), AnyError> {
    if !table.origin.is_recording() {
        return Ok(());
    }
    #[cfg(feature = "capture")]
    {
        hairspring_capture::doubt_counts(table, assessment);
        hairspring_capture::doubt_bend(assessment);
        Ok(())
    }
    #[cfg(not(feature = "capture"))]
    {
        let series = assessment.series.len();
        let advice = "build the command with the feature `capture` (./install has all)";
        Err(format!(
            "the file has {series} series of a recording, whose checks this build leaves out: \
             {advice}"
        )
        .into())
    }
}
