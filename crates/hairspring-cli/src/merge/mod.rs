//! `hairspring merge`: results of many machines as one.

mod inputs;

use crate::arguments::PrintArguments;
use crate::interrupt;
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::Args;
use hairspring_core::judge::Remedies;
use hairspring_import::results::{decode, read_bytes};
use hairspring_import::unpack;
use hairspring_program::circumstances::identity;
use hairspring_result::fleet::{Fleet, MergeDocument, Options};
use hairspring_result::json;
use hairspring_view::text;
use inputs::inputs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  hairspring run ./benchmarks --json > $(hostname).json      on each machine
  hairspring merge *.json
  hairspring merge results/ --json > merged.json             all documents in a folder
  find results -name '*.json' | hairspring merge --files-from -
  hairspring merge results/ --without-odd --strict

The machine is a factor: several documents of one machine are one value of it, and the mean over \
machines of one core
family has the spread between them in its interval. Families are not averaged without \
--across-families. With the same
build on all machines, the report says by how much two of them differ: the floor of the fleet.
It exits with 1 if nothing could be merged.";

/// Merge results of many machines: means, spread between machines, odd machines
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct MergeArguments {
    /// Results of `time --json` or `run --json`, a file each (or compressed by gzip), or folders
    /// with such files (*.json, *.json.gz, also in folders below)
    #[arg(value_name = "FILE|FOLDER", required_unless_present = "files_from")]
    pub inputs: Vec<PathBuf>,
    /// A file with further names, one a line or parted by NUL characters; - for standard input
    #[arg(long, value_name = "FILE")]
    pub files_from: Option<PathBuf>,
    /// Also give the means over families
    #[arg(long)]
    pub across_families: bool,
    /// Leave machines that lie too far from the others out of the means
    #[arg(long)]
    pub without_odd: bool,
    /// Exit with 3 if a file could not be merged
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub print: PrintArguments,
}

/// The verb.
pub const VERB: Verb = Verb::of::<MergeArguments>().with_remedies(REMEDIES);

/// Remedies by the code of a finding (`spec/result.md`).
const REMEDIES: Remedies = Remedies {
    by_code: &[(
        "odd_machine",
        "look at its clock (governor, power limit, temperature) and its memory; --without-odd \
         leaves it out of the means",
    )],
    more_rows: "",
};

impl Runs for MergeArguments {
    const NAME: &'static str = "merge";
    const HANDLES_SIGNALS: bool = true;

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Runs the verb. Ctrl-C ends it with what was read so far.
fn run(arguments: &MergeArguments) -> Result<Outcome, AnyError> {
    let files = inputs(&arguments.inputs, arguments.files_from.as_deref())?;
    let stop = interrupt::stop_on_signals()?;
    let (fleet, unread) = read_all(&files, &stop);
    drop(files);
    let (merged, refused) = (fleet.merged(), fleet.refused());
    let options = Options {
        across_families: arguments.across_families,
        without_odd: arguments.without_odd,
        unread,
    };
    let mut document = fleet.merge(&options);
    REMEDIES.apply(&mut document.findings);
    let document = MergeDocument { identity: Some(identity()), ..document };
    let text = || Ok(text::fleet(&document, &output::style()));
    arguments.print.print(|| json::print(&document), text)?;
    if merged == 0 {
        output::complain("nothing is merged: no file holds a result of hairspring");
        return Ok(Outcome::Failed);
    }
    let is_whole = refused == 0 && unread == 0;
    Ok(if arguments.strict && !is_whole { Outcome::LimitMissed } else { Outcome::Done })
}

/// Time between two lines of progress.
const TIME_BETWEEN_LINES: Duration = Duration::from_millis(250);

/// Reads the files one after the other. Also gives how many are left when a signal stops it.
fn read_all(files: &[Result<PathBuf, String>], stop: &AtomicBool) -> (Fleet, usize) {
    let (mut fleet, mut bytes) = (Fleet::default(), Vec::new());
    let (mut at, mut shown) = (0, None::<Instant>);
    while at < files.len() && !stop.load(Ordering::Relaxed) {
        match &files[at] {
            Ok(path) => add(&mut fleet, path, &mut bytes),
            Err(reason) => fleet.refuse("", reason),
        }
        at += 1;
        if shown.is_none_or(|shown| shown.elapsed() >= TIME_BETWEEN_LINES) {
            output::status_line(&format!("read {at} of {} files", files.len()));
            shown = Some(Instant::now());
        }
    }
    output::status_line("");
    (fleet, files.len() - at)
}

/// A buffer that has grown beyond this size is given back.
const USUAL_BYTES: usize = 4 << 20;

fn add(fleet: &mut Fleet, path: &Path, bytes: &mut Vec<u8>) {
    let file = path.display().to_string();
    bytes.clear();
    let text = read(path, bytes).and_then(|()| decode(bytes));
    match text {
        Ok(text) => fleet.add(&file, &text),
        Err(reason) => fleet.refuse(&file, &reason),
    }
    bytes.shrink_to(USUAL_BYTES);
}

fn read(path: &Path, bytes: &mut Vec<u8>) -> Result<(), String> {
    let stream = std::fs::File::open(path).and_then(unpack).map_err(|error| error.to_string())?;
    read_bytes(stream, bytes)
}
