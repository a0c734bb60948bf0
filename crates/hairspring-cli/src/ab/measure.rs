//! Pairs until all is decided.

use super::arguments::AbArguments;
use super::thresholds::Thresholds;
use crate::AnyError;
use crate::output;
use hairspring_core::judge::Verdict;
use hairspring_core::limit::LITTLE_SHARE;
use hairspring_core::pairs::level_of_each;
use hairspring_program::circumstances::identity;
use hairspring_result::ab::{AbDocument, AbSchema, Builds, Change, How, Source, Stopped};
use hairspring_result::compare::Limit;
use std::time::{Duration, Instant};

/// Fewest pairs: fewer have another spread than they show.
const FEWEST_PAIRS: u32 = 5;
/// A verdict that there is no difference is clear once a change of this many percent is excluded.
const CLEAR_PERCENT: f64 = 1.0;

/// What is measured in pairs.
pub trait Subject {
    /// Measures the pair of this number, and adds it; whether it was not stopped.
    ///
    /// # Errors
    /// A program failed.
    fn pair(&mut self, number: u32, builds: &mut Builds) -> Result<bool, AnyError>;

    /// What is shown as progress.
    fn shown(&self) -> String;

    /// Puts into the document what it knows.
    fn finish(&self, document: &mut AbDocument);
}

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
    thresholds: &'a Thresholds,
    builds: Builds,
    pairs: u32,
    begin: Instant,
}

/// Measures pairs until all is decided, or something ends them.
pub fn measured(
    arguments: &AbArguments,
    subject: &mut dyn Subject,
    thresholds: &Thresholds,
) -> Measured {
    let (builds, begin) = (Builds::default(), Instant::now());
    let mut work = Work { arguments, thresholds, builds, pairs: 0, begin };
    let stopped = work.run(subject);
    output::status_line("");
    let stopped = stopped.unwrap_or_else(|error| {
        output::complain(&error.to_string());
        Stopped::Failed
    });
    let mut document = work.document(stopped);
    subject.finish(&mut document);
    Measured { has_failed: stopped == Stopped::Failed, document }
}

impl Work<'_> {
    fn run(&mut self, subject: &mut dyn Subject) -> Result<Stopped, AnyError> {
        while self.pairs < self.arguments.most_pairs() {
            self.progress(&subject.shown());
            if !subject.pair(self.pairs, &mut self.builds)? {
                return Ok(Stopped::Interrupted);
            }
            self.pairs += 1;
            if self.arguments.pairs.is_none() && self.pairs >= FEWEST_PAIRS && self.is_decided() {
                return Ok(Stopped::Decided);
            }
        }
        Ok(Stopped::Pairs)
    }

    fn progress(&self, shown: &str) {
        let (number, most) = (self.pairs + 1, self.arguments.most_pairs());
        if self.pairs == 0 {
            return output::status_line(&format!("[{number}/{most}] {shown}"));
        }
        let of_pair = self.begin.elapsed() / self.pairs;
        let left = of_pair.saturating_mul(most - self.pairs).min(Duration::from_secs(1_000_000));
        let open = self.changes().iter().filter(|change| !is_clear(change)).count();
        let left = left.as_secs();
        let text = format!("[{number}/{most}] {open} undecided, {left} s at most: {shown}");
        output::status_line(&text);
    }

    fn changes(&self) -> Vec<Change> {
        self.builds.changes(&|name| self.thresholds.of(name))
    }

    fn is_decided(&self) -> bool {
        self.changes().iter().all(is_clear)
    }

    fn document(&self, stopped: Stopped) -> AbDocument {
        let results = self.changes();
        let is_past = |change: &&Change| change.limit == Some(Limit::Past);
        AbDocument {
            schema: AbSchema::V1,
            command: "ab".into(),
            identity: Some(identity()),
            environment: None,
            base: Source::default(),
            head: Source::default(),
            how: How::Processes,
            pairs: self.pairs,
            pairs_asked: self.arguments.most_pairs(),
            stopped,
            took_s: self.begin.elapsed().as_secs_f64(),
            level: level_of_each(1),
            level_of_each: self.builds.level(),
            past_threshold: results.iter().filter(is_past).count(),
            results,
            start: None,
            missing: Vec::new(),
            added: Vec::new(),
            findings: Vec::new(),
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
