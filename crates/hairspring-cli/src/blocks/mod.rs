//! `hairspring blocks`: times of the basic blocks of a function.

mod arguments;
mod lines;
mod outputs;
mod progress;

use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use arguments::{BlocksArguments, DEBUG_FILES, UnknownsArgument};
use hairspring_blocks::{Choice, Error, MeasuredFunction, Request, Wanted, functions, measure};
use hairspring_blocks::{document, dot, text};
use hairspring_core::judge::Remedies;
use hairspring_program::circumstances::bound;
use hairspring_result::{Clock, Environment, Reference, json};
use hairspring_view::clean::clean;
use std::path::Path;
use std::time::Duration;

/// The verb.
pub const VERB: Verb = Verb::of::<BlocksArguments>().with_remedies(REMEDIES);

impl Runs for BlocksArguments {
    const NAME: &'static str = "blocks";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Time for the rounds, unless it is given.
const BUDGET: Duration = Duration::from_secs(3);

/// Remedies by the code of a finding (`spec/result.md`); they name options of this verb. A finding
/// that is not listed keeps the neutral remedy of its kind.
const REMEDIES: Remedies = Remedies {
    by_code: &[
        (
            "rows_left_out",
            "nothing to do for short calls, whose first cycles the clock's fence hides; repeat on \
             a quieter CPU (--cpu) if others are left out again",
        ),
        ("core_shared", "measure again; choose another CPU (--cpu)"),
        (
            "disturbed",
            "choose a quieter CPU (--cpu), give it more time (--budget), or time a shorter piece \
             of code, which other work interrupts less often",
        ),
        (
            "wide_interval",
            "give it more time (--budget), or add inputs that run this part more often",
        ),
        ("few_rounds", "give it more time (--budget), or fewer inputs"),
        (
            "not_checked",
            "add inputs that take other paths through the function, or time parts of long calls \
             (--parts 40)",
        ),
        (
            "not_additive",
            "the times of single parts mean nothing here (the core overlaps them, or the time \
             depends on the data): use the coarser parts, or solve for edges (--unknowns edges)",
        ),
        (
            "depends_on_data",
            "if it does, this time is attributed to another block whose count changes along with \
             the data: keep the data of these calls alike, or time such a block on its own with \
             --until",
        ),
    ],
    more_rows: "add inputs that take other paths through the function, or end calls early \
                (--until each), or time parts of long calls (--parts 40)",
};

/// Remedies for parts of calls in place of those above.
const IN_PARTS: Remedies = Remedies {
    by_code: &[
        (
            "not_checked",
            "take more parts (--parts), of a call with a longer loop (--longest finds it)",
        ),
        ("few_rounds", "give it more time (--budget), or take fewer parts (--parts)"),
        (
            "not_additive",
            "take more parts (--parts), or parts that begin at another block (--from)",
        ),
        (
            "parts_beyond_call",
            "the rows tell a part only from rows of few trips, which show its latency: take more \
             parts (--parts), or parts that begin at another block (--from)",
        ),
        (
            "time_in_no_part",
            "parts run on data that is in the caches and with branches that are predicted, and \
             what runs rarely may be in none of them: begin parts at a block that has no time yet \
             (--from), or look for what the whole call waits for",
        ),
    ],
    more_rows: "take more parts (--parts), of a call with a longer loop (--longest finds it)",
};

/// Runs the verb.
fn run(arguments: &BlocksArguments) -> Result<Outcome, AnyError> {
    if arguments.list {
        output::print(&list(arguments)?)?;
        return Ok(Outcome::Done);
    }
    let request = request(arguments)?;
    let (save, dot) = outputs::outputs(arguments, &request.program, &request.inputs)?;
    let measured = measure(&request);
    progress::clear();
    let in_parts = arguments.parts.is_some();
    let mut measured = measured.map_err(|error| with_remedy(error, in_parts))?;
    REMEDIES.apply(&mut measured.analysis.findings);
    if in_parts {
        IN_PARTS.apply(&mut measured.analysis.findings);
    }
    for skipped in &measured.skipped {
        output::complain(&format!(
            "input {} ({}) left out: {}",
            skipped.input, skipped.text, skipped.reason
        ));
    }
    measured.notes.iter().for_each(|note| output::complain(note));
    if let Some(save) = save {
        let table = &measured.run.table;
        save.fill(|file| Ok(hairspring_core::observations::write_counted_csv(table, file)?))?;
    }
    if let Some(dot) = dot {
        dot.fill(|file| Ok(file.write_all(dot::dot(&measured).as_bytes())?))?;
    }
    let circumstances = circumstances(&measured);
    let text = || {
        let stages = if arguments.explain.explain {
            text::explain(&measured, &output::style())
        } else {
            String::new()
        };
        text::blocks(&measured, &circumstances, &output::style(), arguments.annotate) + &stages
    };
    let document = || json::print(&document::blocks(&measured, &circumstances));
    arguments.report.print.print(document, || Ok(text()))?;
    Ok(Outcome::Done)
}

/// The request of the command line.
fn request(arguments: &BlocksArguments) -> Result<Request, AnyError> {
    Ok(Request {
        program: program(arguments)?,
        // The command line asks for it unless functions are listed.
        function: arguments.function.clone().unwrap_or_default(),
        debug_files: debug_files(arguments)?.to_owned(),
        inputs: lines::inputs(arguments)?,
        calls: arguments.calls,
        skip: arguments.skip,
        choice: match (arguments.sample, arguments.longest) {
            (true, _) => Choice::Sample,
            (_, true) => Choice::Longest,
            _ => Choice::First,
        },
        memory: arguments.memory << 20,
        from: arguments.from.clone(),
        parts: arguments.parts,
        until: arguments.until.clone(),
        unknowns: match arguments.unknowns {
            UnknownsArgument::Blocks => Wanted::Blocks,
            UnknownsArgument::Edges => Wanted::Edges,
            UnknownsArgument::Auto => Wanted::Auto,
        },
        cpu: arguments.cpu,
        budget: arguments.budget.unwrap_or(BUDGET),
        is_firm: arguments.budget.is_some(),
        timeout: arguments.timeout,
        level: arguments.report.confidence_level,
        progress: progress::show,
    })
}

/// The functions of the program, one a line.
fn list(arguments: &BlocksArguments) -> Result<String, AnyError> {
    let mut out = format!("{:>12} {:>9}  {}\n", "address", "bytes", "function");
    for function in functions(&program(arguments)?, debug_files(arguments)?)? {
        let name = clean(function.name.as_deref().unwrap_or("(no name)"));
        out += &format!("{:>#12x} {:>9}  {name}\n", function.address, function.bytes);
    }
    Ok(out)
}

/// The error with the remedy of this verb.
fn with_remedy(error: Error, in_parts: bool) -> Error {
    match error {
        Error::Core(reason) => {
            Error::Core(if in_parts { IN_PARTS.explain(reason) } else { REMEDIES.explain(reason) })
        }
        other => other,
    }
}

/// The folder with names and lines. The default one need not exist.
fn debug_files(arguments: &BlocksArguments) -> Result<&Path, AnyError> {
    let folder = arguments.debug_files.as_path();
    if folder != Path::new(DEBUG_FILES) && !folder.is_dir() {
        let reason = format!(
            "--debug-files {}: there is no such folder; leave the option out for {DEBUG_FILES}",
            folder.display()
        );
        return Err(Error::BadRequest(reason).into());
    }
    Ok(folder)
}

/// The program's path; a name without a slash is looked up in the current folder first, then in
/// PATH.
fn program(arguments: &BlocksArguments) -> Result<std::path::PathBuf, AnyError> {
    let given = &arguments.program;
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        let bare = given.components().count() == 1;
        std::env::split_paths(&path)
            .map(|folder| folder.join(given))
            .find(|candidate| bare && candidate.is_file())
    };
    let found = if given.is_file() { Some(given.clone()) } else { on_path() };
    let found = found.ok_or_else(|| format!("there is no program `{}`", given.display()))?;
    Ok(std::fs::canonicalize(found)?)
}

fn circumstances(measured: &MeasuredFunction) -> Environment {
    let origin = &measured.run.table.origin;
    let clock = Clock {
        granularity_ticks: origin.granularity,
        ..Clock::named("tsc", "time stamp counter, lfence before and after")
    };
    let reference = measured
        .ruler
        .clone()
        .map(|ruler| Reference { cycles: f64::from(ruler.cycles), provenance: ruler.provenance });
    Environment {
        clock: Some(match &origin.rate {
            Some(rate) => clock.with_rate(rate),
            None => clock,
        }),
        ..bound(&measured.thread, "").with_reference(reference)
    }
}
