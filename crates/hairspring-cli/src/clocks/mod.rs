//! `hairspring clocks`: the clocks of the machine, and the stopwatch made of them.

mod arguments;

use crate::misuse::Misuse;
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use arguments::ClocksArguments;
use hairspring_host::clock::{Clock, catalogue, default_clock, find};
use hairspring_host::thread::{PreparedThread, RaisedPriority, allowed_cpus, prepare_thread};
use hairspring_instruments::clocks::{
    LatencyPlan, SurveyPlan, compare, latency, overheads, survey,
};
use hairspring_instruments::clocks::{document, text};
use hairspring_program::circumstances::bound;
use hairspring_result::{Environment, json};
use std::io::IsTerminal;

/// The verb.
pub const VERB: Verb = Verb::of::<ClocksArguments>();

impl Runs for ClocksArguments {
    const NAME: &'static str = "clocks";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Runs the verb.
fn run(arguments: &ClocksArguments) -> Result<Outcome, AnyError> {
    // Read before the thread is bound to one of them.
    let cpus = allowed_cpus();
    let thread = prepare_thread(arguments.cpu)?;
    match (&arguments.compare, arguments.latency, arguments.overhead) {
        (Some(names), _, _) => compared(arguments, names, &thread)?,
        (None, true, _) => latencies(arguments, &thread)?,
        (None, false, true) => overhead(arguments, &thread)?,
        (None, false, false) => all(arguments, &thread, cpus)?,
    }
    Ok(Outcome::Done)
}

fn all(
    arguments: &ClocksArguments,
    thread: &PreparedThread,
    cpus: Vec<usize>,
) -> Result<(), AnyError> {
    let known: Vec<&str> = catalogue().iter().map(|(clock, _)| clock.name).collect();
    if let Some(name) = arguments.names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(
            Misuse(format!("no clock is called `{name}`; known are {}", known.join(", "))).into()
        );
    }
    announce(&format!("measuring the clocks for {:.1} s ...", arguments.budget.as_secs_f64()));
    let others = cpus.into_iter().filter(|cpu| *cpu != thread.cpu);
    let plan = SurveyPlan {
        names: arguments.names.clone(),
        cpus: std::iter::once(thread.cpu).chain(others).collect(),
        budget: arguments.budget,
        level: arguments.report.confidence_level,
    };
    let (survey, circumstances) = (survey(&plan), circumstances(thread));
    let verbose = arguments.verbose || !arguments.names.is_empty();
    arguments.report.print.print(
        || json::print(&document::clock_survey(&survey, plan.level, &circumstances)),
        || Ok(text::clock_survey(&survey, verbose, plan.level, &circumstances, &output::style())),
    )
}

fn latencies(arguments: &ClocksArguments, thread: &PreparedThread) -> Result<(), AnyError> {
    let clocks = chosen(&arguments.names, &["monotonic", default_clock().name], 2)?;
    let plan = LatencyPlan {
        count: arguments.count as usize,
        scale: arguments.scale,
        level: arguments.report.confidence_level,
    };
    announce(&format!("pauses of {:.1} s in all ...", plan.pauses().as_secs_f64()));
    let (latency, circumstances) =
        (latency(&clocks, plan, std::thread::sleep), circumstances(thread));
    arguments.report.print.print(
        || json::print(&document::clock_latency(&latency, &circumstances)),
        || Ok(text::clock_latency(&latency, &circumstances, &output::style())),
    )
}

fn compared(
    arguments: &ClocksArguments,
    names: &[String],
    thread: &PreparedThread,
) -> Result<(), AnyError> {
    let [a, b] = names else { return Err("--compare takes two clocks".into()) };
    if a == b {
        return Err(Misuse(format!(
            "--compare {a} {b}: this is the same clock twice; name two (hairspring clocks lists \
             them)"
        ))
        .into());
    }
    let (first, second) = (find(a)?, find(b)?);
    let comparison = compare(first, second, arguments.budget);
    let (level, circumstances) = (arguments.report.confidence_level, circumstances(thread));
    arguments.report.print.print(
        || json::print(&document::clock_comparison(&comparison, level, &circumstances)),
        || Ok(text::clock_comparison(&comparison, level, &circumstances, &output::style())),
    )
}

fn overhead(arguments: &ClocksArguments, thread: &PreparedThread) -> Result<(), AnyError> {
    let old_way = catalogue()
        .into_iter()
        .find(|(clock, here)| clock.name == "tsc-cpuid" && here.is_ok())
        .map(|(clock, _)| clock.name);
    let defaults: Vec<&str> =
        [Some(default_clock().name), Some("monotonic"), old_way].into_iter().flatten().collect();
    let clocks = chosen(&arguments.names, &defaults, 3)?;
    let raised = arguments.priority.then(RaisedPriority::raise).transpose()?;
    let report =
        overheads(&clocks, arguments.runs as usize, thread.priority_raised || raised.is_some());
    drop(raised);
    let circumstances = circumstances(thread);
    arguments.report.print.print(
        || {
            json::print(&document::stopwatch_overhead(
                &report,
                arguments.report.confidence_level,
                &circumstances,
            ))
        },
        || {
            Ok(text::stopwatch_overhead(
                &report,
                arguments.report.confidence_level,
                &circumstances,
                &output::style(),
            ))
        },
    )
}

/// The named clocks, or the default ones; at most as many as fit into a table.
fn chosen(names: &[String], defaults: &[&str], most: usize) -> Result<Vec<Clock>, AnyError> {
    if names.len() > most {
        return Err(Misuse(format!(
            "{} clocks are named; at most {most} can be shown side by side",
            names.len()
        ))
        .into());
    }
    let mut wanted: Vec<&str> = if names.is_empty() {
        defaults.to_vec()
    } else {
        names.iter().map(String::as_str).collect()
    };
    if let Some(twice) = wanted
        .iter()
        .enumerate()
        .find(|(at, name)| wanted[..*at].contains(name))
        .filter(|_| !names.is_empty())
    {
        return Err(Misuse(format!("clock `{}` is named twice; name it once", twice.1)).into());
    }
    wanted.dedup();
    Ok(wanted.into_iter().map(find).collect::<Result<_, _>>()?)
}

fn circumstances(thread: &PreparedThread) -> Environment {
    bound(thread, "this verb is about clocks and counts no core cycles")
}

/// Says on a terminal what is being done.
fn announce(what: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("{what}");
    }
}
