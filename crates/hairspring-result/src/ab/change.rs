//! What the pairs say of one benchmark.

use super::{Benchmark, Change, Threshold, Times, Trust, UNITS};
use crate::document::{Series, Unit, finite};
use hairspring_core::Estimate;
use hairspring_core::judge::{Severity, Verdict, excludes};
use hairspring_core::limit::WIDE_SHARE;
use hairspring_core::math::{exp, ln};
use hairspring_core::pairs::{Pair, Pairs, Sequence, fewest};

/// Findings of a benchmark that are kept.
const MOST_FINDINGS: usize = 8;

impl Benchmark {
    /// Counts the findings of a process that keep its times from being trusted.
    pub(super) fn tell(&mut self, series: &Series) {
        let untrusted =
            series.findings.iter().filter(|finding| finding.severity == Severity::Untrusted);
        for finding in untrusted {
            let known = self.trust.iter().position(|known| known.code == finding.code);
            match known {
                Some(at) => self.trust[at].processes += 1,
                None if self.trust.len() < MOST_FINDINGS => self.trust.push(Trust::new(finding)),
                None => {}
            }
        }
    }

    /// The unit in which most pairs have times, and these. Of two, the first one.
    fn pairs(&self) -> (Unit, Vec<Pair>) {
        let of = |at: usize| self.pairs.iter().filter_map(|Times(times)| times[at]).collect();
        let all: [Vec<Pair>; 3] = [0, 1, 2].map(of);
        let most = all.iter().map(Vec::len).max().unwrap_or(0);
        let at = all.iter().position(|pairs| pairs.len() == most).unwrap_or(0);
        let [cycles, ns, ticks] = all;
        (UNITS[at], [cycles, ns, ticks].into_iter().nth(at).unwrap_or_default())
    }
}

/// The change of a benchmark at this level.
pub(super) fn of(benchmark: &Benchmark, level: f64, threshold: Threshold) -> Change {
    let (unit, times) = benchmark.pairs();
    let mut pairs = Pairs::default();
    times.iter().for_each(|pair| pairs.push(pair));
    let found = pairs.compared(level, WIDE_SHARE);
    let has_times = !times.is_empty();
    let base = mean(times.iter().flat_map(|pair| [pair.base, pair.again]), level);
    let limit = threshold.limit(&found.ratio, has_times.then_some((base.value, unit)));
    Change {
        name: benchmark.name.clone(),
        unit: has_times.then_some(unit),
        base: has_times.then_some(base),
        head: has_times.then(|| mean(times.iter().map(|pair| pair.head), level)),
        ratio: has_times.then_some(found.ratio),
        null: has_times.then_some(found.null),
        widened_percent: (found.widened_by > 1.0).then_some(100.0 * (found.widened_by - 1.0)),
        verdict: found.verdict,
        verdict_reason: reason(benchmark, found.pairs, level, found.verdict),
        excludes_percent: finite(100.0 * excludes(&found.ratio)),
        smallest_percent: finite(100.0 * found.smallest_seen),
        pairs: found.pairs,
        threshold,
        limit,
        untrusted: benchmark.trust.clone(),
    }
}

/// The geometric mean of times, with the interval of a sequence.
fn mean(times: impl Iterator<Item = f64>, level: f64) -> Estimate {
    let mut sequence = Sequence::default();
    times.for_each(|time| sequence.push(ln(time)));
    let (middle, half) = (sequence.mean(), sequence.half_width(level));
    Estimate { value: exp(middle), low: exp(middle - half), high: exp(middle + half), level }
}

/// Why there is no verdict.
fn reason(benchmark: &Benchmark, pairs: u32, level: f64, verdict: Verdict) -> Option<String> {
    let least = fewest(level);
    if verdict != Verdict::Undecided || pairs >= least {
        return None;
    }
    let without = benchmark.pairs.len() as u32 - pairs;
    if without > 0 && without >= pairs {
        return Some("its time is below what the clock can show, or has no number".to_owned());
    }
    Some(format!("{pairs} pairs are too few: at this level a verdict needs {least} or more"))
}
