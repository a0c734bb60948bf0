//! `hairspring blocks`: times of the basic blocks of a function.

mod arguments;

pub use arguments::BlocksArguments;

use crate::{AnyError, Outcome, output};
use arguments::UnknownsArgument;
use hairspring_blocks::{Measured, Request, Wanted, measure, parse_inputs};
use hairspring_report::{ClockInfo, Environment, json, text};
use hairspring_snippet::cleanup::Group;
use std::process::{Command, Stdio};

/// Runs the verb.
pub fn run(arguments: &BlocksArguments) -> Result<Outcome, AnyError> {
    let request = Request {
        program: program(arguments)?,
        function: arguments.function.clone(),
        inputs: parse_inputs(&inputs(arguments)?)?,
        calls: arguments.calls,
        until: arguments.until.clone(),
        unknowns: match arguments.unknowns {
            UnknownsArgument::Blocks => Wanted::Blocks,
            UnknownsArgument::Edges => Wanted::Edges,
            UnknownsArgument::Auto => Wanted::Auto,
        },
        cpu: arguments.cpu,
        budget: arguments.budget,
        timeout: arguments.timeout,
        level: arguments.report.confidence_level,
    };
    let measured = measure(&request)?;
    for skipped in &measured.skipped {
        output::complain(&format!("input {} ({}) left out: {}", skipped.input, skipped.text, skipped.reason));
    }
    if let Some(path) = &arguments.save {
        let file = std::fs::File::create(path).map_err(|e| format!("{}: {e}", path.display()))?;
        hairspring_engine::observations::write_csv(&measured.table, std::io::BufWriter::new(file))?;
    }
    let circumstances = circumstances(&measured);
    output::print(&if arguments.report.json {
        json::print(&json::blocks(&measured, &circumstances))
    } else {
        text::blocks(&measured, &circumstances, &output::style())
    })?;
    Ok(Outcome::Done)
}

/// The program by its path; one without a slash is looked for here first, then where the shell would look.
fn program(arguments: &BlocksArguments) -> Result<std::path::PathBuf, AnyError> {
    let given = &arguments.program;
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        let bare = given.components().count() == 1;
        std::env::split_paths(&path).map(|folder| folder.join(given)).find(|candidate| bare && candidate.is_file())
    };
    let found = if given.is_file() { Some(given.clone()) } else { on_path() };
    let found = found.ok_or_else(|| format!("there is no program `{}`", given.display()))?;
    Ok(std::fs::canonicalize(found)?)
}

/// The lines of the inputs: a file, standard input, or what a command prints.
fn inputs(arguments: &BlocksArguments) -> Result<String, AnyError> {
    let named = |path: &std::path::Path, e: std::io::Error| format!("{}: {e}", path.display());
    match (&arguments.inputs, &arguments.generate) {
        (Some(path), _) if path.as_os_str() == "-" => Ok(std::io::read_to_string(std::io::stdin().lock())?),
        (Some(path), _) => Ok(std::fs::read_to_string(path).map_err(|e| named(path, e))?),
        (None, Some(command)) => generate(command),
        // clap asks for one of the two.
        (None, None) => Ok(String::new()),
    }
}

fn generate(command: &str) -> Result<String, AnyError> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::piped());
    let (child, _group) = Group::spawn_marked(&mut shell)?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("--generate: `{command}` ended with {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout).map_err(|_| format!("--generate: what `{command}` prints is no UTF-8 text"))?)
}

fn circumstances(measured: &Measured) -> Environment {
    let origin = &measured.table.origin;
    Environment {
        machine: Some(hairspring_machine::environment::machine()),
        clock: Some(ClockInfo {
            name: "tsc".into(),
            description: "time stamp counter, lfence before and after".into(),
            rate: origin.rate.clone(),
            granularity_ticks: origin.granularity,
            read_cost_ticks: None,
        }),
        ruler: measured.ruler.clone().map(Into::into),
        compiler: None,
        compiler_flags: None,
        pinned_cpu: Some(measured.settled.cpu),
        priority_raised: Some(measured.settled.priority_raised),
        memory_locked: Some(measured.settled.memory_locked),
    }
}
