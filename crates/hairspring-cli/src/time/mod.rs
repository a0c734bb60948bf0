//! `hairspring time`: measure a piece of code and report it.

mod arguments;
mod look;
mod remedies;

use crate::baseline::Baseline;
use crate::misuse::Misuse;
use crate::saved::{Output, Taken};
use crate::shard::Kept;
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use arguments::{Choice, LanguageArgument, Show, TimeArguments};
use hairspring_core::estimate::Options;
use hairspring_core::judge::methods::{self, MethodTable};
use hairspring_core::judge::{Assessment, Finding, Question, Severity};
use hairspring_core::observations::{Observations, write_csv};
use hairspring_measure::Stop;
use hairspring_measure::limits::DEFAULT_PRECISION;
use hairspring_page::Extras;
use hairspring_program::circumstances::{here, identity};
use hairspring_result::runs::{about_means, between, misses_precision};
use hairspring_result::{
    Clock, Environment, Measurement, Mode, Reference, ResultDocument, Run, Subject, json,
};
use hairspring_snippet::{
    Declaration, HostProgram, Language, MeasuredCode, Request, SnippetFinding, first_values,
    measure_watched, series_names,
};
use hairspring_view::text;
use remedies::REMEDIES;
use std::time::{Duration, Instant};

/// The verb.
pub const VERB: Verb =
    Verb::of::<TimeArguments>().with_remedies(REMEDIES).with_common_options(&COMMON_OPTIONS);

/// The options that people need first.
const COMMON_OPTIONS: [&str; 10] =
    ["let", "init", "setup", "vs", "lang", "file", "include", "budget", "show", "json"];

impl Runs for TimeArguments {
    const NAME: &'static str = "time";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Default budget.
const BUDGET: Duration = Duration::from_millis(800);

/// Runs the verb.
fn run(arguments: &TimeArguments) -> Result<Outcome, AnyError> {
    let Some((arguments, places)) = &of_part(arguments) else { return Ok(Outcome::Done) };
    let mut request = Request { places: places.clone(), ..request(arguments)? };
    // The file is opened before the measurement, so that a path that cannot be written fails at
    // once.
    let save = arguments
        .save
        .as_deref()
        .map(|path| Output::open("--save", path, &mut Taken::default()))
        .transpose()?;
    let baseline = Baseline::prepare(&arguments.baseline)?;
    request.cpu = baseline.cpu(request.cpu, request.seating);
    if arguments.expect.is_llvm() && (arguments.init.is_some() || arguments.fence) {
        let reason = "--expect llvm simulates a whole copy, and the body alone is compared: leave \
                      out --init and --fence";
        return Err(Misuse(reason.into()).into());
    }
    arguments.expect.prepare()?;
    let kept = Kept::new(&arguments.shard, &identity())?;
    let Measured { mut result, reached, table } =
        processes(arguments, &request, save, kept.as_ref())?;
    remedies::suit(&mut result);
    let result = arguments.stated.state(result);
    let (mut result, expected) = arguments.expect.judge(result)?;
    if !arguments.show.contains(&Show::Asm) {
        result.results.iter_mut().for_each(|series| series.disassembly = None);
    }
    arguments.throughput.add(&mut result);
    let (ended, against) = baseline.judge(&mut result)?;
    kept.map_or(Ok(()), |kept| kept.write(&json::print(&result)))?;
    let text = || Ok(shown(arguments, &result) + &against);
    let extras = || Extras { table: table.as_ref(), ..Extras::default() };
    arguments.report.print.print_with(|| json::print(&result), text, extras)?;
    baseline.save(&result)?;
    Ok(if arguments.precision.is_some() && !reached {
        Outcome::LimitMissed
    } else {
        ended.or(expected)
    })
}

/// The comparisons that this machine makes, and the places of their codes in the whole command
/// line. Each alternative with the code, in the same rounds, is one of them; code without an
/// alternative is one, too.
fn of_part(arguments: &TimeArguments) -> Option<(TimeArguments, Vec<usize>)> {
    let shard = &arguments.shard;
    if arguments.vs.is_empty() {
        return shard.of_part("code", vec![()]).map(|_| (arguments.clone(), Vec::new()));
    }
    let all = arguments.vs.iter().cloned().zip(1..).collect();
    let own = shard.of_part("alternative", all)?;
    let (vs, places): (_, Vec<usize>) = own.into_iter().unzip();
    let places = std::iter::once(0).chain(places).collect();
    Some((TimeArguments { vs, ..arguments.clone() }, places))
}

/// The result as text, with what was asked for beside it.
fn shown(arguments: &TimeArguments, result: &ResultDocument) -> String {
    let style = output::style();
    let table = if arguments.processes > 1 {
        text::table(result, &style)
    } else {
        text::report(result, &style)
    };
    table + &arguments.throughput.text(result) + &arguments.explain.text(result)
}

/// What the processes gave together.
struct Measured {
    result: ResultDocument,
    /// Whether the precision was reached.
    reached: bool,
    /// The observations of the first process, if a page draws them.
    table: Option<Observations>,
}

/// Measures in as many processes as asked for. `kept` gets the result after each of them.
fn processes(
    arguments: &TimeArguments,
    request: &Request,
    save: Option<Output>,
    kept: Option<&Kept>,
) -> Result<Measured, AnyError> {
    let (document, mut reached, table) = once(arguments, request, save)?;
    let mut documents = vec![document];
    for _ in 1..arguments.processes {
        let so_far = kept.and_then(|_| between(documents.clone(), arguments.precision));
        if let Some((kept, all)) = kept.zip(so_far) {
            kept.write_so_far(&json::print(&all));
        }
        documents.push(once(arguments, request, None)?.0);
    }
    let mut result = between(documents, arguments.precision).ok_or("no process gave an answer")?;
    if arguments.processes > 1 {
        REMEDIES.apply(about_means(&mut result));
        reached = !misses_precision(&result);
    }
    Ok(Measured { result, reached, table })
}

/// One measurement in a process of its own, whether it reached the precision, and its observations,
/// if a page draws them.
fn once(
    arguments: &TimeArguments,
    request: &Request,
    save: Option<Output>,
) -> Result<(ResultDocument, bool, Option<Observations>), AnyError> {
    let begin = Instant::now();
    let is_shown = arguments.report.print.is_text();
    let mut look = |found: &Assessment| {
        if is_shown {
            look::show(found)
        }
    };
    let measured = measure_watched(request, &HostProgram::current()?, &mut look);
    if is_shown {
        look::clear();
    }
    let measured = measured?;
    // The raw readings are saved even if they cannot be solved.
    if let Some(file) = save {
        file.fill(|out| Ok(write_csv(&measured.run.table, out)?))?;
    }
    let question = Question {
        options: Options { level: request.level, ..Options::default() },
        precision: arguments.precision,
        stolen_ms: measured.run.stolen_ms,
    };
    let assessment = REMEDIES.assess(&measured.run.table, &question)?;
    let reached = precise(&assessment, request);
    let document = document(arguments, request, &measured, assessment, begin);
    Ok((document, reached, arguments.report.print.draws().then_some(measured.run.table)))
}

fn request(arguments: &TimeArguments) -> Result<Request, AnyError> {
    let lets =
        arguments.lets.iter().map(|text| Declaration::parse(text)).collect::<Result<_, _>>()?;
    let all_methods = arguments.method != Choice::Line;
    if all_methods && (arguments.init.is_some() || arguments.fence || !arguments.cold.is_empty()) {
        return Err(Misuse(format!(
            "--method: {} measurements cannot separate a body from its --init, --fence or --cold; \
             use --method line",
            arguments::names_of_other_methods()
        ))
        .into());
    }
    let file = |path: &std::path::PathBuf| {
        path.canonicalize().map_err(|e| format!("--file {}: {e}", path.display()))
    };
    Ok(Request {
        codes: std::iter::once(&arguments.code).chain(&arguments.vs).cloned().collect(),
        lets,
        // A fence is measured as an init, so that it is separate from the body.
        init: arguments.init.clone().or(arguments.fence.then(String::new)),
        setup: arguments.setup.clone(),
        cold: arguments.cold.clone(),
        fence: arguments.fence,
        language: match arguments.lang {
            LanguageArgument::C => Language::C,
            LanguageArgument::Cpp => Language::Cpp,
            LanguageArgument::Asm => Language::Asm,
        },
        files: arguments.file.iter().map(file).collect::<Result<_, _>>()?,
        includes: arguments.include.clone(),
        compiler: arguments.cc.clone(),
        flags: arguments.cflags.clone(),
        link: arguments.link.clone(),
        clock: arguments.clock.clone(),
        cpu: arguments.cpu,
        seating: arguments.seating.value(),
        budget: arguments.budget.unwrap_or(BUDGET),
        is_firm: arguments.budget.is_some(),
        precision: arguments.precision.unwrap_or(DEFAULT_PRECISION),
        level: arguments.report.confidence_level,
        timeout: arguments.timeout,
        all_methods,
        is_cached: !arguments.no_cache,
        multithreaded: arguments.multithreaded,
        in_memory: false,
        walks: Vec::new(),
        places: Vec::new(),
    })
}

/// By so much may a budget be overrun without a word.
const ALLOWED_OVERRUN: Duration = Duration::from_millis(200);

/// Why the rounds took longer than their budget, and what is needed.
fn overrun(budget: Duration, run: &hairspring_measure::Run) -> String {
    let ms = |time: Duration| (time.as_secs_f64() * 1e3).round();
    let round = ms(run.measuring / run.rounds.max(1));
    format!(
        "budget of {} ms overrun: the least rounds and their start took {} ms; a round takes \
         {round} ms",
        ms(budget),
        ms(run.elapsed)
    )
}

/// Whether every body reached the precision.
fn precise(assessment: &Assessment, request: &Request) -> bool {
    let mut bodies = assessment.series.iter().filter_map(|series| series.components.first());
    bodies.all(|body| body.time.judged(request.level).relative() <= request.precision)
}

fn document(
    arguments: &TimeArguments,
    request: &Request,
    measured: &MeasuredCode,
    assessment: Assessment,
    begin: Instant,
) -> ResultDocument {
    let methods =
        chosen_methods(arguments.method, methods::methods(&measured.run.table, &assessment));
    ResultDocument::new(&Measurement {
        command: "time".into(),
        environment: environment(request, measured),
        ns_per_unit: measured.run.table.origin.ns_per_unit(),
        subjects: subjects(
            request,
            measured,
            &assessment,
            &methods,
            arguments.show.contains(&Show::Asm) || arguments.expect.is_llvm(),
        ),
        methods,
        run: Some(Run {
            rounds: measured.run.rounds,
            measured_ms: Some(measured.run.measuring.as_secs_f64() * 1e3),
            budget_spent_ms: Some(measured.run.elapsed.as_secs_f64() * 1e3),
            elapsed_ms: Some(begin.elapsed().as_secs_f64() * 1e3),
            stop: match measured.run.stop {
                Stop::Budget if measured.run.elapsed > request.budget + ALLOWED_OVERRUN => {
                    overrun(request.budget, &measured.run)
                }
                stop => stop.to_string(),
            },
            stolen_ms: measured.run.stolen_ms,
            quiet_percent: assessment.quiet_share.map(|share| 100.0 * share),
            processes: None,
            placements: measured.run.placements(),
        }),
        assessment,
    })
}

/// The tables with the chosen methods; the line fit stays for comparison.
fn chosen_methods(method: Choice, mut tables: Vec<MethodTable>) -> Vec<MethodTable> {
    if method == Choice::Line {
        return Vec::new();
    }
    let wanted = |name: &'static str| {
        name == methods::LINE || method == Choice::All || method == Choice::Other(name)
    };
    tables.iter_mut().for_each(|table| table.rows.retain(|row| wanted(row.method)));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn environment(request: &Request, measured: &MeasuredCode) -> Environment {
    let ready = &measured.ready;
    let clock = Clock::named(ready.clock.0.clone(), ready.clock.1.clone());
    let reference = measured
        .ruler
        .clone()
        .map(|ruler| Reference { cycles: f64::from(ruler.cycles), provenance: ruler.provenance });
    Environment {
        clock: Some(
            clock
                .with_rate(&measured.ended_process.rate)
                .with_reading(ready.quantum, ready.read_cost),
        ),
        compiler: Some(measured.compiler.version.clone()),
        compiler_flags: Some(request.flags.clone()),
        pinned_cpu: measured.seated.cpu,
        priority_raised: Some(measured.seated.priority_raised),
        memory_locked: Some(ready.memory_locked),
        ..here("").with_reference(reference)
    }
}

fn subjects(
    request: &Request,
    measured: &MeasuredCode,
    found: &Assessment,
    tables: &[MethodTable],
    show: bool,
) -> Vec<Subject> {
    let names = series_names(request);
    let doubts = |name: &str| {
        tables
            .iter()
            .filter(|table| table.subject == name)
            .flat_map(methods::doubts)
            .collect::<Vec<_>>()
    };
    names
        .into_iter()
        .enumerate()
        .map(|(at, name)| Subject {
            findings: findings(request, measured, at)
                .into_iter()
                .chain(doubts(&name))
                .chain(through_memory(measured, found, at))
                .collect(),
            name,
            code: Some(request.codes[at].clone()),
            mode: measured.copies[at].judged.mode.map(|mode| match mode {
                hairspring_snippet::Mode::Latency => Mode::Latency,
                hairspring_snippet::Mode::Throughput => Mode::Throughput,
            }),
            mode_reason: measured.copies[at].judged.reason.clone(),
            disassembly: if show { measured.copies[at].disassembly.clone() } else { Vec::new() },
            bytes_per_copy: measured.copy_bytes[at],
        })
        .collect()
}

/// Findings about the code rather than about its readings.
fn findings(request: &Request, measured: &MeasuredCode, at: usize) -> Vec<Finding> {
    let code = &request.codes[at];
    let uses_variable = request.lets.iter().any(|declaration| code.contains(&declaration.name));
    // Loading a constant takes up to ten bytes, and code without a variable may do just that.
    let constant = |bytes: f64| {
        !uses_variable && !code.contains('(') && bytes <= 10.0 && request.language != Language::Asm
    };
    let is_call = |code: &str| request.language != Language::Asm && calls(code);
    let optimised = measured.copy_bytes[at]
        .filter(|bytes| {
            *bytes < 1.0 || (constant(*bytes) || is_call(code)) && measured.copies[at].only_moves
        })
        .map(|bytes| {
            Finding::new(
                Severity::Warning,
                SnippetFinding::OptimisedAway { bytes_per_copy: bytes.max(0.0) },
            )
        });
    let printed = measured.printed.as_ref().filter(|_| at == 0).map(|printed| {
        Finding::new(
            Severity::Warning,
            SnippetFinding::Printed {
                bytes: printed.bytes,
                first_line: printed.first_line.clone(),
            },
        )
    });
    let mut all: Vec<Finding> = optimised
        .into_iter()
        .chain(changed_work(measured, at))
        .chain(printed)
        .chain(measured.seated.finding())
        .chain(notes(request, measured, at))
        .collect();
    all.extend(values(request, measured, at));
    all.extend(one_thread(request, measured, at));
    all.extend(other_code(measured, at));
    all.extend(restarts(request, measured, at));
    REMEDIES.apply(&mut all);
    all
}

/// Functions that compilers make into stores, so that a copy of their code computes nothing and is
/// still the work that was asked for.
const STORES: [&str; 6] = ["memset", "bzero", "fill", "fill_n", "wmemset", "__builtin_memset"];

/// Whether code in C or C++ calls a function by its name, as far as its text tells, and not only
/// such that consist of stores.
fn calls(code: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut names = code
        .match_indices('(')
        .filter_map(|(at, _)| code[..at].trim_end().rsplit(|letter| !is_letter(letter)).next());
    names.any(|name| !name.is_empty() && !STORES.contains(&name))
}

/// Operations that the compiler removed from the copy.
fn changed_work(measured: &MeasuredCode, at: usize) -> impl Iterator<Item = Finding> {
    let lost = measured.lost[at].iter();
    lost.map(|lost| {
        let kind = SnippetFinding::WorkChanged {
            operation: lost.operation.clone(),
            copy: lost.copy,
            source: lost.source,
        };
        Finding::new(Severity::Warning, kind)
    })
}

/// That the rows have other code than the copy that was looked at.
fn other_code(measured: &MeasuredCode, at: usize) -> Option<Finding> {
    let (_, short_bytes, bytes) =
        *measured.other_code.iter().find(|(subject, ..)| *subject == at)?;
    Some(Finding::new(Severity::Warning, SnippetFinding::OtherCode { short_bytes, bytes }))
}

/// What the copy does faster in a process with one thread.
fn one_thread(request: &Request, measured: &MeasuredCode, at: usize) -> Option<Finding> {
    let is_alone = !request.multithreaded && measured.seated.threads.is_none();
    (is_alone && measured.copies[at].asks_for_threads)
        .then(|| Finding::new(Severity::Warning, SnippetFinding::OneThread))
}

/// The values on which the time of some instructions of the copy depends.
fn values(request: &Request, measured: &MeasuredCode, at: usize) -> Option<Finding> {
    let instructions = measured.copies[at].on_values.clone();
    let kind = |instructions| SnippetFinding::DependsOnValues {
        instructions,
        values: first_values(request, at),
    };
    (!instructions.is_empty()).then(|| Finding::new(Severity::Note, kind(instructions)))
}

/// Evaluations in the longest row.
fn most_evaluations(measured: &MeasuredCode) -> u32 {
    let table = &measured.run.table;
    let own = table
        .rows()
        .iter()
        .filter(|row| !table.origin.is_auxiliary(&table.series_names()[usize::from(row.series)]));
    own.filter_map(|row| row.counts.first()).fold(0.0, |most: f64, count| most.max(*count)) as u32
}

/// A walk through memory that every row begins anew, values that decide a branch, and others on
/// which it depends what the code does.
fn restarts(
    request: &Request,
    measured: &MeasuredCode,
    at: usize,
) -> impl Iterator<Item = Finding> {
    let (copy, most) = (&measured.copies[at], most_evaluations(measured));
    let begin_anew = |names: &[String]| {
        names.iter().filter(|name| !measured.walks.contains(name)).cloned().collect::<Vec<String>>()
    };
    let walk = begin_anew(&copy.walked)
        .into_iter()
        .map(move |variable| SnippetFinding::WalkRestarts { variable, most });
    let branch = begin_anew(&copy.decides)
        .into_iter()
        .map(move |variable| SnippetFinding::BranchRestarts { variable, most });
    let is_unfollowed = copy.work.is_none() && !copy.disassembly.is_empty();
    let changed = if is_unfollowed { request.changed_integers(at) } else { copy.indexes.clone() };
    let value = begin_anew(&changed)
        .into_iter()
        .map(move |variable| SnippetFinding::ValuesRestart { variable, most });
    walk.chain(branch).chain(value).map(|kind| Finding::new(Severity::Warning, kind))
}

/// So many times the time in a loop with few copies is another time.
const ANOTHER_TIME: f64 = 1.25;

/// Another time of code that stores and loads in a loop with few copies.
fn through_memory(measured: &MeasuredCode, assessment: &Assessment, at: usize) -> Option<Finding> {
    let cycles = assessment.series.get(at)?.components.first()?.time.cycles.as_ref()?.value;
    let few_cycles = measured.few.get(at).copied().flatten()?;
    let is_another = cycles > ANOTHER_TIME * few_cycles || few_cycles > ANOTHER_TIME * cycles;
    is_another.then(|| {
        Finding::new(Severity::Warning, SnippetFinding::ThroughMemory { few_cycles, cycles })
    })
}

/// Notes about the request.
fn notes(request: &Request, measured: &MeasuredCode, at: usize) -> impl Iterator<Item = Finding> {
    let (code, copy) = (&request.codes[at], &measured.copies[at]);
    let is_kept = |declaration: &&Declaration| {
        declaration.is_wide_scalar() || declaration.is_vector() && copy.stores_and_loads()
    };
    let wide =
        |declaration: &&Declaration| is_kept(declaration) && code.contains(&declaration.name);
    let variables: Vec<String> =
        request.lets.iter().filter(wide).map(|declaration| declaration.name.clone()).collect();
    let compiled = request.language != Language::Asm;
    let kept =
        (compiled && !variables.is_empty()).then_some(SnippetFinding::KeptInMemory { variables });
    let plain =
        compiled && at == 0 && !request.flags.split_whitespace().any(|flag| flag.starts_with("-O"));
    let plain = plain.then(|| SnippetFinding::NotOptimised { flags: request.flags.clone() });
    kept.into_iter().chain(plain).map(|kind| Finding::new(Severity::Note, kind))
}
