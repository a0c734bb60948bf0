//! Pairs until all is decided.

use super::arguments::AbArguments;
use super::arm::Setting;
use super::pair;
use super::sides::{Both, Sides, both_name};
use super::thresholds::Thresholds;
use crate::AnyError;
use crate::output;
use crate::run::arguments::RunArguments;
use hairspring_core::judge::{Finding, Severity, Verdict};
use hairspring_core::limit::LITTLE_SHARE;
use hairspring_core::pairs::level_of_each;
use hairspring_measure::Seating;
use hairspring_measure::cpu::quiet_cpu;
use hairspring_program::circumstances::identity;
use hairspring_result::ab::{AbDocument, AbSchema, Builds, Change, How, Stopped};
use hairspring_result::compare::Limit;
use hairspring_result::document::joined;
use hairspring_result::{Environment, ResultDocument, ResultFinding};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Fewest pairs: fewer have another spread than they show.
const FEWEST_PAIRS: u32 = 5;
/// A verdict that there is no difference is clear once a change of this many percent is excluded.
const CLEAR_PERCENT: f64 = 1.0;

/// What was measured.
pub struct Measured {
    /// The document.
    pub document: AbDocument,
    /// Whether a program failed, which is told already.
    pub has_failed: bool,
}

/// All pairs so far.
struct Work<'a> {
    arguments: &'a AbArguments,
    setting: Setting<'a>,
    sides: &'a Sides,
    thresholds: &'a Thresholds,
    builds: Builds,
    pairs: u32,
    in_turns: bool,
    environment: Option<Environment>,
    begin: Instant,
}

/// Measures pairs until all is decided, or something ends them.
pub fn measured(
    arguments: &AbArguments,
    of_run: &RunArguments,
    sides: Sides,
    thresholds: &Thresholds,
    stop: &AtomicBool,
) -> Measured {
    let setting = Setting { arguments: of_run, cpu: cpu(arguments) };
    let mut work = Work {
        arguments,
        setting,
        sides: &sides,
        thresholds,
        builds: Builds::default(),
        pairs: 0,
        in_turns: true,
        environment: None,
        begin: Instant::now(),
    };
    let stopped = work.run(stop);
    output::status_line("");
    let stopped = stopped.unwrap_or_else(|error| {
        output::complain(&error.to_string());
        Stopped::Failed
    });
    Measured { has_failed: stopped == Stopped::Failed, document: work.document(stopped) }
}

/// The CPU that all processes have, where they may be bound to one.
fn cpu(arguments: &AbArguments) -> Option<usize> {
    let seating = arguments.seating.value();
    let quiet = || (seating == Seating::Pinned).then(|| quiet_cpu(seating.clock())).flatten();
    arguments.cpu.or_else(quiet)
}

impl Work<'_> {
    fn run(&mut self, stop: &AtomicBool) -> Result<Stopped, AnyError> {
        while self.pairs < self.arguments.most_pairs() {
            if !self.pair(stop)? {
                return Ok(Stopped::Interrupted);
            }
            self.pairs += 1;
            if self.arguments.pairs.is_none() && self.pairs >= FEWEST_PAIRS && self.is_decided() {
                return Ok(Stopped::Decided);
            }
        }
        Ok(Stopped::Pairs)
    }

    /// Measures a pair of each program; whether it was not stopped.
    fn pair(&mut self, stop: &AtomicBool) -> Result<bool, AnyError> {
        let mut all: [Vec<ResultDocument>; 3] = Default::default();
        for both in &self.sides.both {
            self.progress(both);
            let (base, head) = (&both.base, &both.head);
            let Some(measured) = pair::measure(base, head, self.setting, self.pairs, stop)? else {
                return Ok(false);
            };
            self.in_turns &= measured.in_turns;
            for (all, document) in all.iter_mut().zip(measured.documents) {
                all.push(named(document, both));
            }
        }
        if let [Some(base), Some(head), Some(again)] = all.map(joined) {
            self.builds.add(&base, &head, &again);
            self.environment.get_or_insert(base.environment);
        }
        Ok(true)
    }

    fn progress(&self, both: &Both) {
        let (number, most) = (self.pairs + 1, self.arguments.most_pairs());
        let done = f64::from(self.pairs.max(1));
        let left = self.begin.elapsed().as_secs_f64() / done * f64::from(most - self.pairs);
        let left = Duration::from_secs_f64(left.clamp(0.0, 1e6)).as_secs();
        let left = if self.pairs > 0 { format!(", {left} s at most") } else { String::new() };
        let open = self.changes().iter().filter(|change| !is_clear(change)).count();
        let open = if self.pairs > 0 { format!(", {open} undecided") } else { String::new() };
        output::status_line(&format!("[{number}/{most}] {}{open}{left}", both.head.shown));
    }

    fn changes(&self) -> Vec<Change> {
        self.builds.changes(&|name| self.thresholds.of(name))
    }

    fn is_decided(&self) -> bool {
        self.changes().iter().all(is_clear)
    }

    fn findings(&self) -> Vec<Finding> {
        let turns = (!self.in_turns)
            .then(|| Finding::new(Severity::Warning, ResultFinding::NoTurns));
        let same =
            self.sides.is_same.then(|| Finding::new(Severity::Note, ResultFinding::SameBuild));
        turns.into_iter().chain(same).collect()
    }

    fn document(&self, stopped: Stopped) -> AbDocument {
        let results = self.changes();
        AbDocument {
            schema: AbSchema::V1,
            command: "ab".into(),
            identity: Some(identity()),
            environment: self.environment.clone(),
            base: self.sides.base.clone(),
            head: self.sides.head.clone(),
            how: if self.in_turns { How::Rounds } else { How::Processes },
            pairs: self.pairs,
            pairs_asked: self.arguments.most_pairs(),
            stopped,
            took_s: self.begin.elapsed().as_secs_f64(),
            level: level_of_each(1),
            level_of_each: self.builds.level(),
            past_threshold: results
                .iter()
                .filter(|change| change.limit == Some(Limit::Past))
                .count(),
            results,
            missing: self.sides.missing.clone(),
            added: self.sides.added.clone(),
            findings: self.findings(),
        }
    }
}

/// Whether further pairs would tell nothing of importance.
fn is_clear(change: &Change) -> bool {
    let most = change.excludes_percent.unwrap_or(f64::INFINITY);
    let least = change.smallest_percent.unwrap_or(f64::INFINITY);
    let is_clear = match change.verdict {
        Verdict::Faster | Verdict::Slower => true,
        Verdict::NoDifference => most <= CLEAR_PERCENT,
        Verdict::Undecided => false,
    };
    let is_tiny = least <= 100.0 * LITTLE_SHARE;
    is_clear && (change.limit != Some(Limit::Undecided) || is_tiny)
}

/// The document with the name of its program before those of its benchmarks, if there are several.
fn named(mut document: ResultDocument, both: &Both) -> ResultDocument {
    for series in &mut document.results {
        series.name = both_name(&both.name, &series.name);
    }
    document
}
