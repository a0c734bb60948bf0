//! `hairspring experiment`: an experiment in seven steps from a file, and its record.

mod setup;

use crate::arguments::PrintArguments;
use crate::html::PageArguments;
use crate::misuse::Misuse;
use crate::plot::PlotArguments;
use crate::shard::{Kept, ShardArguments};
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::Args;
use hairspring_expect::Quantity;
use hairspring_experiment::record::{Origin, Record, origin};
use hairspring_experiment::{Plan, TEMPLATE, definition, markdown};
use hairspring_program::circumstances::{here, identity};
use hairspring_result::json;
use hairspring_view::format::significant;
use setup::Place;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  hairspring experiment new > switch.toml                a commented template
  hairspring experiment switch.toml --save switch        runs it; writes switch.md and switch.json
  hairspring experiment switch.json                      runs a recorded experiment again
  hairspring experiment *.toml --shard 1/3 --document out    every third experiment; a document of \
each

The file names the need, the quantity, the required accuracy, the circumstances, a model of what \
is expected, and the set-up: a verb
of hairspring or a program that prints observations, run in the folder of the file. Read a file of \
somebody else before you run it.";

/// Run an experiment in seven steps: need, quantity, accuracy, expectation, error budget, run,
/// sanity check
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct ExperimentArguments {
    /// The file of the experiment (TOML), or the JSON record of an earlier run, or several of
    /// them, run one after the other; `new` prints a commented template
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Check the file and evaluate its expectation, and run nothing
    #[arg(long)]
    pub check: bool,
    /// Run in this folder
    /// [default: the folder of the file, or the folder in which the record was made]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Write the record as NAME.md and NAME.json
    #[arg(long, value_name = "NAME", conflicts_with = "check")]
    pub save: Option<PathBuf>,
    /// Print the record as one JSON document instead of Markdown
    #[arg(long, conflicts_with = "check")]
    pub json: bool,
    /// Print Markdown, as without this option
    #[arg(long, conflicts_with_all = ["check", "json"])]
    pub markdown: bool,
    #[command(flatten)]
    pub shard: ShardArguments,
    #[command(flatten)]
    pub page: PageArguments,
    #[command(flatten)]
    pub plots: PlotArguments,
}

/// The verb.
pub const VERB: Verb = Verb::of::<ExperimentArguments>();

impl Runs for ExperimentArguments {
    const NAME: &'static str = "experiment";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Largest record of an earlier run, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// Runs the verb: exits with 3 if the required accuracy is not reached, or the expectation or the
/// second method deviates.
fn run(arguments: &ExperimentArguments) -> Result<Outcome, AnyError> {
    if arguments.files.iter().any(|file| file == Path::new("new")) {
        return template(arguments);
    }
    refuse_several(arguments)?;
    let all: Vec<usize> = (0..arguments.files.len()).collect();
    let Some(own) = arguments.shard.of_part("experiment", all) else { return Ok(Outcome::Done) };
    // Files that are wrong are told before anything runs.
    let ready: Vec<Ready> =
        own.into_iter().map(|place| Ready::read(arguments, place)).collect::<Result<_, _>>()?;
    if arguments.check {
        output::print(&ready.iter().map(|one| checked(&one.plan)).collect::<String>())?;
        return Ok(Outcome::Done);
    }
    let files = arguments.save.as_deref().map(files).transpose()?;
    let mut ended = Outcome::Done;
    for (place, one) in ready.into_iter().enumerate() {
        if place > 0 {
            output::print("\n")?;
        }
        let (name, outcome) = (one.file.clone(), one.run(arguments, files.as_ref()));
        let outcome = match outcome {
            // The others of several still run.
            Err(error) if arguments.files.len() > 1 => {
                output::complain(&format!("{}: {error}", name.display()));
                Outcome::Failed
            }
            outcome => outcome?,
        };
        ended = if outcome == Outcome::Failed { outcome } else { ended.or(outcome) };
    }
    Ok(ended)
}

/// Prints the template, which takes no options.
fn template(arguments: &ExperimentArguments) -> Result<Outcome, AnyError> {
    let shard = &arguments.shard;
    if arguments.files.len() > 1
        || arguments.check
        || arguments.json
        || arguments.markdown
        || !arguments.plots.plot.is_empty()
        || arguments.save.is_some()
        || arguments.folder.is_some()
        || arguments.page.html.is_some()
        || shard.shard.is_some()
        || shard.replicate
        || shard.document.is_some()
    {
        return Err(Misuse(
            "`new` prints a template, and takes no options and no further file".into(),
        )
        .into());
    }
    output::print(TEMPLATE)?;
    Ok(Outcome::Done)
}

/// Refuses options that are about one experiment if there are several, whichever part of them is
/// run here.
fn refuse_several(arguments: &ExperimentArguments) -> Result<(), Misuse> {
    let options = [
        ("--json", arguments.json),
        ("--save", arguments.save.is_some()),
        ("--html", arguments.page.html.is_some()),
        ("--plot", !arguments.plots.plot.is_empty()),
    ];
    let count = arguments.files.len();
    let used = options.iter().find(|(_, is_used)| *is_used && count > 1);
    used.map_or(Ok(()), |(option, _)| {
        Err(Misuse(format!(
            "{option} is about one experiment, and {count} are named: name one file, or leave the \
             document of each in a folder (--document FOLDER)"
        )))
    })
}

/// An experiment that was read.
struct Ready {
    file: PathBuf,
    /// What tells its document from those of the other files of the command line.
    label: String,
    plan: Plan,
    place: Place,
}

impl Ready {
    /// Reads a file of the command line.
    fn read(arguments: &ExperimentArguments, place: usize) -> Result<Ready, AnyError> {
        let file = &arguments.files[place];
        let named = |reason: String| format!("{}: {reason}", file.display());
        let text = read(file).map_err(named)?;
        let Origin { text, folder } = origin(&text).map_err(|reason| Misuse(named(reason)))?;
        let plan = Plan::read(&text).map_err(|reason| Misuse(named(reason)))?;
        let within = Place::of(&folder_of(arguments, file, folder)).map_err(named)?;
        within.check(&plan).map_err(|reason| Misuse(named(reason)))?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let label = if arguments.files.len() > 1 {
            format!("{}-{stem}", place + 1)
        } else {
            stem.into_owned()
        };
        Ok(Ready { file: file.clone(), label, plan, place: within })
    }

    /// Runs it, and leaves its record where it was asked for.
    fn run(
        self,
        arguments: &ExperimentArguments,
        files: Option<&[PathBuf; 2]>,
    ) -> Result<Outcome, AnyError> {
        let kept = Kept::labelled(&arguments.shard, &identity(), &self.label)?;
        let record = measured(self.plan, &self.place)?;
        kept.map_or(Ok(()), |kept| kept.write(&json::print(&record)))?;
        if let Some([markdown_file, json_file]) = files {
            write(markdown_file, &markdown::markdown(&record))?;
            write(json_file, &json::print(&record))?;
        }
        let print = PrintArguments {
            json: arguments.json,
            markdown: false,
            page: arguments.page.clone(),
            plots: arguments.plots.clone(),
        };
        print.print(|| json::print(&record), || Ok(markdown::markdown(&record)))?;
        Ok(if record.passed { Outcome::Done } else { Outcome::LimitMissed })
    }
}

/// The folder in which the set-ups run. That of a record may be on another machine, or gone: then
/// the record's own is tried.
fn folder_of(arguments: &ExperimentArguments, file: &Path, recorded: Option<String>) -> PathBuf {
    if let Some(folder) = &arguments.folder {
        return folder.clone();
    }
    let folder_of_plan = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
        .to_owned();
    match recorded.map(PathBuf::from) {
        Some(folder) if folder.is_dir() => folder,
        Some(folder) => {
            output::complain(&format!(
                "the record was made in {}, which is not here: its set-ups run in the record's \
                 own folder; --folder names another one",
                folder.display()
            ));
            folder_of_plan
        }
        None => folder_of_plan,
    }
}

fn measured(mut plan: Plan, place: &Place) -> Result<Record, AnyError> {
    let inputs = place.inputs(&mut plan)?;
    plan.evaluate()?;
    let runs = place.runs(&plan, inputs)?;
    if let Some(Err(reason)) = &runs.check {
        output::complain(reason);
    }
    Ok(Record::new(&plan, here("each set-up describes its own circumstances"), &runs))
}

/// What the file expects, in one paragraph.
fn checked(plan: &Plan) -> String {
    let names: Vec<String> = plan.to_measure().map(|(name, _)| format!("`{name}`")).collect();
    if !names.is_empty() {
        let (name, what) = (plan.definition.name.escape_debug(), plan.expected.dimension.words());
        return format!(
            "{name}: expected {what}, from {}, which is measured before the run\n",
            names.join(", ")
        );
    }
    let (by, (unit, size)) = (&plan.expected.monte_carlo, &plan.unit);
    let agree = match by.agrees {
        true => "Monte Carlo agrees".to_owned(),
        false => format!(
            "Monte Carlo gives {} to {} {unit}, which counts",
            significant(by.low / size, 3),
            significant(by.high / size, 3)
        ),
    };
    let rounded = Quantity {
        value: digits(plan.expected.value, 6),
        stochastic: digits(plan.expected.stochastic, 3),
        systematic: digits(plan.expected.systematic, 3),
        ..plan.expected.clone()
    };
    format!("{}: expected {rounded}; {agree}\n", plan.definition.name.escape_debug())
}

/// The number with so many digits: no expectation is known more precisely, and its uncertainty has
/// fewer.
fn digits(number: f64, count: usize) -> f64 {
    format!("{number:.*e}", count - 1).parse().unwrap_or(number)
}

fn read(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!(
            "is larger than {} MiB; an experiment has at most {} KiB",
            MOST_BYTES >> 20,
            definition::MOST_BYTES >> 10
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        format!("is not UTF-8 text: byte {} is not valid", error.utf8_error().valid_up_to())
    })
}

/// The files of a record. Whether they can be written is checked before the run.
fn files(name: &Path) -> Result<[PathBuf; 2], AnyError> {
    let of = |ending: &str| {
        let mut whole = name.as_os_str().to_owned();
        whole.push(ending);
        PathBuf::from(whole)
    };
    let files = [of(".md"), of(".json")];
    for file in &files {
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(file);
        opened.map_err(|error| format!("--save {}: {error}", file.display()))?;
    }
    Ok(files)
}

fn write(path: &Path, text: &str) -> Result<(), AnyError> {
    let written = std::fs::File::create(path).and_then(|mut file| file.write_all(text.as_bytes()));
    Ok(written.map_err(|error| format!("--save {}: {error}", path.display()))?)
}
