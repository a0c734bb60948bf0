//! Programs with benchmarks, in pairs of processes.

use super::arguments::AbArguments;
use super::arm::Setting;
use super::measure::Subject;
use super::pair;
use super::sides::{Both, Sides, both_name};
use crate::AnyError;
use crate::run::arguments::RunArguments;
use hairspring_core::judge::{Finding, Severity};
use hairspring_measure::Seating;
use hairspring_measure::cpu::quiet_cpu;
use hairspring_result::ab::{AbDocument, Builds, How};
use hairspring_result::document::joined;
use hairspring_result::{Environment, ResultDocument, ResultFinding};
use std::sync::atomic::AtomicBool;

/// The programs of both builds.
pub struct Programs<'a> {
    setting: Setting<'a>,
    sides: Sides,
    in_turns: bool,
    environment: Option<Environment>,
}

impl<'a> Programs<'a> {
    /// The programs of these builds.
    pub fn new(
        arguments: &AbArguments,
        of_run: &'a RunArguments,
        sides: Sides,
        stop: &'a AtomicBool,
    ) -> Programs<'a> {
        let setting = Setting { arguments: of_run, cpu: cpu(arguments), stop };
        Programs { setting, sides, in_turns: true, environment: None }
    }

    fn findings(&self) -> Vec<Finding> {
        let turns =
            (!self.in_turns).then(|| Finding::new(Severity::Warning, ResultFinding::NoTurns));
        let is_same = self.sides.is_same;
        let same = is_same.then(|| Finding::new(Severity::Note, ResultFinding::SameBuild));
        turns.into_iter().chain(same).collect()
    }
}

/// The CPU that all processes have, where they may be bound to one.
fn cpu(arguments: &AbArguments) -> Option<usize> {
    let seating = arguments.seating.value();
    let quiet = || (seating == Seating::Pinned).then(|| quiet_cpu(seating.clock())).flatten();
    arguments.cpu.or_else(quiet)
}

impl Subject for Programs<'_> {
    fn pair(&mut self, number: u32, builds: &mut Builds) -> Result<bool, AnyError> {
        let mut all: [Vec<ResultDocument>; 3] = Default::default();
        for both in &self.sides.both {
            let (base, head) = (&both.base, &both.head);
            let Some(measured) = pair::measure(base, head, self.setting, number)? else {
                return Ok(false);
            };
            self.in_turns &= measured.in_turns;
            for (all, document) in all.iter_mut().zip(measured.documents) {
                all.push(named(document, both));
            }
        }
        if let [Some(base), Some(head), Some(again)] = all.map(joined) {
            builds.add(&base, &head, &again);
            self.environment.get_or_insert(base.environment);
        }
        Ok(true)
    }

    fn shown(&self) -> String {
        self.sides.both.iter().map(|both| both.head.shown.clone()).collect::<Vec<_>>().join(", ")
    }

    fn finish(&self, document: &mut AbDocument) {
        document.environment.clone_from(&self.environment);
        document.base.clone_from(&self.sides.base);
        document.head.clone_from(&self.sides.head);
        document.missing.clone_from(&self.sides.missing);
        document.added.clone_from(&self.sides.added);
        document.how = if self.in_turns { How::Rounds } else { How::Processes };
        document.findings = self.findings();
    }
}

/// The document with the name of its program before those of its benchmarks, if there are several.
fn named(mut document: ResultDocument, both: &Both) -> ResultDocument {
    for series in &mut document.results {
        series.name = both_name(&both.name, &series.name);
    }
    document
}
