//! `hairspring run`: programs with benchmarks, run one after the other; one table, one JSON
//! document.

pub mod arguments;
pub mod child;
#[cfg(target_os = "linux")]
pub mod pages;
pub mod program;
mod source;

use crate::baseline::Baseline;
use crate::misuse::Misuse;
use crate::shard::{Kept, Shard};
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome};
use arguments::RunArguments;
use child::Limits;
use hairspring_core::judge::{Finding, Remedies, Severity};
use hairspring_host::thread::check_cpu;
use hairspring_program::circumstances::identity;
use hairspring_program::output;
use hairspring_result::runs::{about_means, between, misses_precision};
use hairspring_result::{ResultDocument, ResultFinding, document, json};
use hairspring_view::text;
use program::Program;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// The verb.
pub const VERB: Verb = Verb::of::<RunArguments>().with_remedies(REMEDIES);

impl Runs for RunArguments {
    const NAME: &'static str = "run";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

const WIDE_REMEDY: &str =
    "give it more processes (--processes) or more time (--budget), or a quieter CPU (--cpu)";

/// Remedies by the code of a finding (`spec/result.md`); they name options of this verb. A finding
/// that is not listed keeps the neutral remedy of its kind.
const REMEDIES: Remedies = Remedies {
    by_code: &[
        (
            "non_linear",
            "if the time depends on what earlier runs left behind, reset that in an init; \
             otherwise use another CPU (--cpu)",
        ),
        (
            "disturbed",
            "choose a quieter CPU (--cpu), or time a shorter piece of code, which other work \
             interrupts less often",
        ),
        ("wide_interval", WIDE_REMEDY),
        ("fewer_processes", "name their number (--processes 5), or choose fewer benchmarks"),
    ],
    more_rows: "add rows with other counts to the program",
};

/// What times a program without benchmarks.
pub const NO_BENCHMARKS: &str = "if it has none, `hairspring blocks PROGRAM FUNCTION` times a \
                             function of it, and hyperfine or perf stat the whole command";

/// Runs the verb.
fn run(arguments: &RunArguments) -> Result<Outcome, AnyError> {
    let (files, filters) = arguments.split();
    if files.is_empty() {
        let what = if filters.is_empty() {
            "no program given".to_owned()
        } else {
            format!("there is no file `{}`", filters[0])
        };
        return Err(Misuse(format!(
            "{what}: name a program with benchmarks, or a file in C, C++, Fortran or Python"
        ))
        .into());
    }
    arguments.cpu.map_or(Ok(()), check_cpu)?;
    let baseline = Baseline::prepare(&arguments.baseline)?;
    let arguments = &RunArguments {
        cpu: baseline.cpu(arguments.cpu, arguments.seating.value()),
        ..arguments.clone()
    };
    let flags = hairspring_snippet::shell_words("--cflags", &arguments.cflags)?;
    let mut programs = files
        .iter()
        .map(|file| Program::prepare(file, &flags, arguments))
        .collect::<Result<Vec<_>, AnyError>>()?;
    for program in &mut programs {
        program.find_benchmarks(&arguments.limits())?;
        program.choose(|name| arguments.choice.chooses(&filters, name));
    }
    let is_none = programs.iter().all(|program| program.chosen.is_empty());
    if is_none && !(arguments.list && filters.is_empty()) {
        let is_without = filters.is_empty() && programs.iter().all(Program::has_none);
        let advice = if is_without { format!("; {NO_BENCHMARKS}") } else { String::new() };
        return Err(Misuse(hairspring_program::nothing_chosen(&filters) + &advice).into());
    }
    if arguments.shard.part().is_some_and(|shard| is_empty_part(&mut programs, shard)) {
        return Ok(Outcome::Done);
    }
    if arguments.list {
        output::print(&list(&programs))?;
        return Ok(Outcome::Done);
    }
    let chosen: usize = programs.iter().map(|program| program.chosen.len()).sum();
    if arguments.expect.is_llvm() {
        return Err(Misuse(
            "--expect llvm is about a compiled copy of a piece of code: `hairspring time` has it"
                .into(),
        )
        .into());
    }
    if arguments.expect.expect.is_some() && chosen > 1 {
        return Err(Misuse(format!(
            "--expect is about one benchmark, and {chosen} are chosen: add a filter (--list shows \
             the names)"
        ))
        .into());
    }
    measure(arguments, &programs, &baseline)
}

/// Keeps the benchmarks of one part of all; says so if it has none.
fn is_empty_part(programs: &mut [Program], shard: Shard) -> bool {
    let mut places = 0..;
    let count = programs.iter().map(|program| program.chosen.len()).sum();
    for program in &mut *programs {
        program.chosen.retain(|_| places.next().is_some_and(|place| shard.has(place)));
    }
    let is_empty = programs.iter().all(|program| program.chosen.is_empty());
    if is_empty {
        shard.tell_empty("benchmark", count);
    }
    is_empty
}

/// One name per line, with the program before it where there are several.
fn list(programs: &[Program]) -> String {
    let line = |program: &Program, name: &String| {
        if programs.len() > 1 {
            format!("{}: {name}\n", program.shown)
        } else {
            format!("{name}\n")
        }
    };
    programs
        .iter()
        .flat_map(|program| program.chosen.iter().map(move |name| line(program, name)))
        .collect()
}

fn measure(
    arguments: &RunArguments,
    programs: &[Program],
    baseline: &Baseline,
) -> Result<Outcome, AnyError> {
    let kept = Kept::new(&arguments.shard, &identity())?;
    let ran = Ran::of(arguments, programs, &|documents| {
        let so_far = between(documents.to_vec(), arguments.precision);
        if let Some((kept, all)) = kept.as_ref().zip(so_far) {
            kept.write_so_far(&json::print(&all));
        }
    });
    let several = ran.documents.len() > 1;
    let Some(mut all) = between(ran.documents, arguments.precision) else {
        return Ok(Outcome::Failed);
    };
    let missed =
        if several { misses_precision(&all) && arguments.precision.is_some() } else { ran.missed };
    if several {
        REMEDIES.apply(about_means(&mut all));
    }
    all.results.iter_mut().for_each(|series| series.findings.extend(ran.fewer.clone()));
    let (mut all, expected) = arguments.expect.judge(arguments.stated.state(all))?;
    arguments.complexity.add(&mut all);
    arguments.throughput.add(&mut all);
    let (ended, against) = baseline.judge(&mut all)?;
    kept.map_or(Ok(()), |kept| kept.write(&json::print(&all)))?;
    let text = || {
        Ok(text::table(&all, &output::style())
            + &arguments.throughput.text(&all)
            + &arguments.complexity.text(&all)
            + &arguments.explain.text(&all)
            + &against)
    };
    arguments.print.print(|| json::print(&all), text)?;
    baseline.save(&all)?;
    Ok(match (ran.failed, ended.or(expected), missed) {
        (true, _, _) | (_, Outcome::Failed, _) => Outcome::Failed,
        (_, Outcome::LimitMissed, _) | (_, _, true) => Outcome::LimitMissed,
        _ => Outcome::Done,
    })
}

/// What the processes gave.
#[derive(Default)]
struct Ran {
    /// One document of all programs for each process.
    documents: Vec<ResultDocument>,
    /// Whether a program failed.
    failed: bool,
    /// Whether a program missed a limit that the user set.
    missed: bool,
    /// The finding that there are fewer processes than usual.
    fewer: Option<Finding>,
}

impl Ran {
    /// Runs the programs, one after the other, in as many processes as asked for. A program that
    /// fails does not run again. `keep` gets the documents after each process.
    fn of(arguments: &RunArguments, programs: &[Program], keep: &dyn Fn(&[ResultDocument])) -> Ran {
        let (processes, begin, mut ran) = (arguments.processes(), Instant::now(), Ran::default());
        let mut left: Vec<&Program> =
            programs.iter().filter(|program| !program.chosen.is_empty()).collect();
        let keep_to_own_time = left.iter().all(|program| program.observes());
        for process in
            (0..).take_while(|done| processes.goes_on(*done, begin.elapsed(), keep_to_own_time))
        {
            if process > 0 && begin.elapsed() >= processes.longest {
                ran.fewer = Some(fewer(process, processes.most, begin.elapsed()));
                break;
            }
            let mut of_process = Vec::new();
            left.retain(|program| {
                progress(&program.shown, process, processes.most);
                let answer = program
                    .run(arguments)
                    .inspect_err(|error| output::complain(&format!("{}: {error}", program.shown)))
                    .ok();
                let is_well = answer.is_some();
                ran.failed |= !is_well;
                ran.missed |= answer.as_ref().is_some_and(|answer| answer.limit_missed);
                of_process.extend(answer.map(|answer| (*program, answer.document)));
                is_well
            });
            ran.documents.extend(joined(of_process));
            keep(&ran.documents);
        }
        ran
    }
}

fn fewer(processes: u32, usual: u32, took: Duration) -> Finding {
    let kind = ResultFinding::FewerProcesses { processes, usual, took_s: took.as_secs_f64() };
    let mut finding = Finding::new(Severity::Warning, kind);
    REMEDIES.apply([&mut finding]);
    finding
}

/// Joins the documents of several programs. A name that several programs share is prefixed with the
/// program.
fn joined(mut documents: Vec<(&Program, ResultDocument)>) -> Option<ResultDocument> {
    let all: Vec<String> = documents
        .iter()
        .flat_map(|(_, document)| document.results.iter().map(|series| series.name.clone()))
        .collect();
    let twice = |name: &str| all.iter().filter(|other| *other == name).count() > 1;
    for (program, document) in &mut documents {
        let rename = |name: &mut String| {
            if twice(name) {
                *name = format!("{}: {name}", program.shown);
            }
        };
        document.results.iter_mut().for_each(|series| rename(&mut series.name));
        document.comparisons.iter_mut().for_each(|comparison| {
            rename(&mut comparison.a);
            rename(&mut comparison.b);
        });
    }
    let mut all = document::joined(documents.into_iter().map(|(_, document)| document))?;
    "run".clone_into(&mut all.command);
    Some(all)
}

/// Shows which of several processes runs, on a terminal only. The program's own progress line
/// follows.
fn progress(program: &str, process: u32, processes: u32) {
    let mut out = std::io::stderr().lock();
    if out.is_terminal() && processes > 1 {
        let _ = writeln!(out, "\r\u{1b}[K{program}, process {} of {processes}", process + 1);
    }
}

/// The path as the user gave it.
fn shown(path: &Path) -> String {
    path.display().to_string()
}

impl RunArguments {
    /// The limits of a program.
    pub fn limits(&self) -> Limits {
        Limits { timeout: self.timeout, named: "--timeout" }
    }
}
