//! Two builds of the same code, judged by pairs of processes: each pair gives three documents, of
//! the base, of the head, and of the base again. [`Builds`] takes them one pair after the other,
//! and its verdicts hold at every look.
//!
//! ```
//! use hairspring_core::judge::Verdict;
//! use hairspring_result::ab::{Builds, Threshold};
//! use hairspring_result::read::read;
//! let document = |ns: f64| {
//!     let time = format!(r#"{{"value": {ns}, "low": {ns}, "high": {ns}, "level": 0.95}}"#);
//!     read(&format!(r#"{{"schema": "hairspring/result/2", "command": "run", "run": null,
//!         "environment": {{}}, "results": [{{"name": "sum", "code": null,
//!         "bytes_per_copy": null, "overhead": null, "components": {{"body":
//!         {{"time_ns": {time}, "below_resolution": false, "mode": null}}}}}}]}}"#)).unwrap()
//! };
//! let mut builds = Builds::default();
//! for noise in [0.01, 0.03, 0.02, 0.01, 0.04] {
//!     builds.add(&document(20.0), &document(21.0 + noise), &document(20.0 - noise));
//! }
//! let found = builds.changes(&|_| Threshold::default());
//! assert_eq!(found[0].verdict, Verdict::Slower);
//! ```

mod change;
mod document;
#[cfg(test)]
mod tests;
mod threshold;

pub use document::{AbDocument, AbSchema, Change, How, Source, Stopped, Trust};
pub use threshold::Threshold;

use crate::document::{Figure, ResultDocument, Series, Unit};
use hairspring_core::pairs::{Pair, level_of_each};

/// Units of times, the ones that do not change with the clock of the core first.
const UNITS: [Unit; 3] = [Unit::Cycles, Unit::Nanoseconds, Unit::Ticks];

/// The times of one benchmark in the three processes of a pair, in each unit.
#[derive(Debug, Clone, Copy, Default)]
struct Times([Option<Pair>; 3]);

impl Times {
    fn of(base: &Figure, head: &Figure, again: &Figure) -> Times {
        Times(UNITS.map(|unit| {
            let time = |figure: &Figure| figure.interval(unit).map(|time| time.value);
            let is_shown = ![base, head, again].iter().any(|figure| figure.below_resolution);
            is_shown.then(|| Pair::of(time(head)?, time(base)?, time(again)?)).flatten()
        }))
    }
}

/// A benchmark that both builds have.
#[derive(Debug, Clone)]
struct Benchmark {
    name: String,
    pairs: Vec<Times>,
    /// What the processes found: code, message, remedy, and in how many processes.
    trust: Vec<Trust>,
}

/// All pairs so far.
#[derive(Debug, Clone, Default)]
pub struct Builds {
    benchmarks: Vec<Benchmark>,
}

impl Builds {
    /// Takes the documents of a pair. Benchmarks that one of them lacks have no pair.
    pub fn add(&mut self, base: &ResultDocument, head: &ResultDocument, again: &ResultDocument) {
        for one in &base.results {
            let (Some(two), Some(three)) = (series(head, &one.name), series(again, &one.name))
            else {
                continue;
            };
            self.take(one, two, three);
        }
    }

    fn take(&mut self, base: &Series, head: &Series, again: &Series) {
        let benchmark = self.benchmark(&base.name);
        if let (Some(one), Some(two), Some(three)) = (first(base), first(head), first(again)) {
            benchmark.pairs.push(Times::of(one, two, three));
        }
        [base, head, again].iter().for_each(|series| benchmark.tell(series));
    }

    /// Takes a pair of one benchmark, in this unit.
    pub fn add_times(&mut self, name: &str, unit: Unit, pair: Pair) {
        let times = Times(UNITS.map(|one| (one == unit).then_some(pair)));
        self.benchmark(name).pairs.push(times);
    }

    fn benchmark(&mut self, name: &str) -> &mut Benchmark {
        let known = self.benchmarks.iter().position(|one| one.name == name);
        let at = known.unwrap_or(self.benchmarks.len());
        if known.is_none() {
            let (name, pairs, trust) = (name.to_owned(), Vec::new(), Vec::new());
            self.benchmarks.push(Benchmark { name, pairs, trust });
        }
        &mut self.benchmarks[at]
    }

    /// The confidence level of each interval: all verdicts together hold in 99 of 100 runs.
    pub fn level(&self) -> f64 {
        level_of_each(self.benchmarks.len())
    }

    /// What the pairs say of each benchmark, by the threshold of its name.
    pub fn changes(&self, threshold: &dyn Fn(&str) -> Threshold) -> Vec<Change> {
        let level = self.level();
        let change = |one: &Benchmark| change::of(one, level, threshold(&one.name));
        self.benchmarks.iter().map(change).collect()
    }
}

/// The time of the first component.
fn first(series: &Series) -> Option<&Figure> {
    let component = series.components.get("body").or_else(|| series.components.values().next());
    component.map(|component| &component.figure)
}

fn series<'d>(document: &'d ResultDocument, name: &str) -> Option<&'d Series> {
    document.results.iter().find(|series| series.name == name)
}
