//! Two clocks over the same spans: by how many percent their readings differ (StopWatch, Figure 1).

use super::waiting::{Waiter, read_ns};
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source, Uncertain};
use hairspring_core::observations::Rate;
use hairspring_host::clock::{Clock, CountsWhen, RateMeter, granularity};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::time::{Duration, Instant};

/// Spans that are measured, in nanoseconds.
pub const SPANS_NS: [f64; 13] = [1e2, 2e2, 5e2, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6];

/// The difference at one length of span.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanPoint {
    /// Intended length, in nanoseconds.
    pub aimed_ns: f64,
    /// Mean length by the second clock, in nanoseconds.
    pub seen_ns: f64,
    /// Difference of the first clock from the second, in percent; `None` if the second did not
    /// move.
    pub percent: Option<Uncertain>,
    /// Standard deviation of a single such difference, in percent of the mean length, among those
    /// of one nesting.
    pub sd_percent: f64,
    /// Spans used.
    pub used: usize,
    /// Spans left out, because something else ran within them or between the reads of the two
    /// clocks.
    pub left_out: usize,
}

/// Largest uncertainty of a difference, in percent of the span; above it only a bound is given.
const NOT_KNOWN_PERCENT: f64 = 100.0;

impl SpanPoint {
    /// The bound of the difference in percent, if the clocks are too coarse to resolve it; it may
    /// be as large as the span.
    pub fn bound_percent(&self, level: f64) -> Option<f64> {
        let estimate = self.percent.as_ref()?.estimate(level);
        (estimate.half_width() >= NOT_KNOWN_PERCENT)
            .then(|| estimate.low.abs().max(estimate.high.abs()))
    }

    /// Whether the clocks differ over this span by more than the constant that all spans have in
    /// common explains.
    pub fn differs(&self, constant_ns: Option<&Estimate>, level: f64) -> bool {
        let Some(percent) = self.percent.as_ref().filter(|_| self.bound_percent(level).is_none())
        else {
            return false;
        };
        let (share, seen_percent) = (100.0 / self.seen_ns, percent.estimate(level));
        let (common, doubt) = constant_ns
            .map_or((0.0, 0.0), |constant| (constant.value * share, constant.half_width() * share));
        (seen_percent.value - common).abs() > seen_percent.half_width().hypot(doubt)
    }

    /// Why the difference is unavailable.
    pub fn reason(&self) -> &'static str {
        if self.used == 0 { "every span was disturbed" } else { "the second did not move" }
    }
}

/// A clock that was compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// Its rate.
    pub rate: Rate,
    /// Its quantum in nanoseconds.
    pub step_ns: f64,
    /// When it counts.
    pub counts: CountsWhen,
}

/// Two clocks compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The first clock.
    pub a: Compared,
    /// The second clock; differences are in percent of its time.
    pub b: Compared,
    /// Shortest span that the reads of both clocks leave room for, in nanoseconds.
    pub least_span_ns: f64,
    /// One entry for each length of span that could be measured.
    pub points: Vec<SpanPoint>,
    /// Lengths that are too short, in nanoseconds: the reads alone take longer.
    pub too_short_ns: Vec<f64>,
}

/// Both clocks' ticks over one span.
#[derive(Debug, Clone, Copy)]
struct Pair {
    a: f64,
    b: f64,
    /// Whether something else ran during the span.
    disturbed: bool,
}

/// Fewest and most rounds, however long they take.
const FEWEST_ROUNDS: usize = 40;
const MOST_ROUNDS: usize = 4_000;

/// Compares two clocks, which must be ready, for the given time. In every other round the first
/// clock is read outside the second, so that each of them includes the cost of the other's reads
/// equally often.
pub fn compare(a: Clock, b: Clock, time: Duration) -> Comparison {
    let (meters, waiter) = ((RateMeter::start(a), RateMeter::start(b)), Waiter::start());
    let least_span_ns = read_ns(&a, &waiter) + read_ns(&b, &waiter) + waiter.least_ns();
    let (aimed, too_short_ns) =
        SPANS_NS.iter().partition::<Vec<f64>, _>(|aimed| **aimed >= NEAR_SHARE * least_span_ns);
    let spans = Spans { a, b, waiter, least_span_ns };
    let mut seen_pairs: Vec<Vec<Pair>> = vec![Vec::new(); aimed.len()];
    let mut order: Vec<usize> = (0..aimed.len()).collect();
    let (mut random, begin) = (Pcg64Mcg::seed_from_u64(1), Instant::now());
    for round in 0..MOST_ROUNDS {
        if round >= FEWEST_ROUNDS && begin.elapsed() > time {
            break;
        }
        order.shuffle(&mut random);
        for at in &order {
            seen_pairs[*at].push(spans.one(aimed[*at], round % 2 == 0));
        }
    }
    let compared = |clock: &Clock, meter: &RateMeter| {
        let rate = meter.rate();
        Compared {
            name: clock.name.to_owned(),
            step_ns: granularity(clock).quantum as f64 * 1e9 / rate.hz,
            rate,
            counts: clock.counts,
        }
    };
    let (a, b) = (compared(&a, &meters.0), compared(&b, &meters.1));
    let steps_ns = a.step_ns + b.step_ns;
    let points = aimed
        .iter()
        .zip(&seen_pairs)
        .map(|(aimed, pairs)| point(*aimed, pairs, &a.rate, &b.rate, steps_ns))
        .collect();
    Comparison { a, b, least_span_ns, points, too_short_ns }
}

/// A span is measured if it is at least this share of the shortest possible one.
const NEAR_SHARE: f64 = 0.9;

/// Two clocks, and the waiter between their reads.
struct Spans {
    a: Clock,
    b: Clock,
    waiter: Waiter,
    least_span_ns: f64,
}

/// Reads of both clocks before the span, as within it, so that the reads at both ends find the
/// caches in the same state.
const WARMING_READS: usize = 3;

impl Spans {
    /// One span of about this length. Both ends are read in the same way, after reads of both
    /// clocks and of the waiter's clock. As the nestings alternate, each clock is the first after
    /// them equally often at the start and at the end, so the time before a read takes effect
    /// cancels.
    fn one(&self, aimed_ns: f64, a_outside: bool) -> Pair {
        let (outer, inner) = if a_outside { (&self.a, &self.b) } else { (&self.b, &self.a) };
        let read_both = || {
            (outer.read)();
            (inner.read)();
        };
        for _ in 0..WARMING_READS {
            read_both();
            self.waiter.look();
        }
        let (outer_start, inner_start) = ((outer.read)(), (inner.read)());
        let disturbed =
            self.waiter.wait(aimed_ns - self.least_span_ns, self.least_span_ns, read_both);
        let (inner_end, outer_end) = ((inner.read)(), (outer.read)());
        let outside = outer.width.signed(outer_start, outer_end) as f64;
        let inside = inner.width.signed(inner_start, inner_end) as f64;
        let (a, b) = if a_outside { (outside, inside) } else { (inside, outside) };
        Pair { a, b, disturbed }
    }
}

/// A difference this many median deviations (or quanta) from the median was disturbed between two
/// reads.
const FAR_DEVIATIONS: f64 = 20.0;
/// Blocks of neighbouring rounds, for the interval. Each has as many rounds of either nesting.
const BLOCKS: usize = 20;
const UNSEEN_STEPS: f64 = 3.0;

/// The point of some pairs by clocks of these rates whose quanta are `steps_ns` together.
fn point(aimed_ns: f64, pairs: &[Pair], rate_a: &Rate, rate_b: &Rate, steps_ns: f64) -> SpanPoint {
    let (tick_a, tick_b) = (1e9 / rate_a.hz, 1e9 / rate_b.hz);
    // The two nestings differ by the cost of the reads, so spans are only compared within a
    // nesting.
    let kept_pairs: Vec<Pair> = {
        let even: Vec<Pair> = pairs.iter().copied().step_by(2).collect();
        let odd: Vec<Pair> = pairs.iter().copied().skip(1).step_by(2).collect();
        let (even, odd) =
            (near(&even, tick_a, tick_b, steps_ns), near(&odd, tick_a, tick_b, steps_ns));
        even.into_iter().zip(odd).flat_map(|(even, odd)| [even, odd]).collect()
    };
    let sum = |pairs: &[Pair]| {
        pairs
            .iter()
            .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.a * tick_a, sum.1 + pair.b * tick_b))
    };
    let percent = |pairs: &[Pair]| {
        let (a, b) = sum(pairs);
        (b > 0.0).then(|| 100.0 * (a / b - 1.0))
    };
    let seen_ns = sum(&kept_pairs).1 / kept_pairs.len().max(1) as f64;
    // A clock that showed no step in n spans may still step once in every n / 3 of them (the rule
    // of three).
    let unseen = 100.0 * UNSEEN_STEPS * steps_ns / (kept_pairs.len().max(1) as f64 * seen_ns);
    let single: Vec<f64> = kept_pairs
        .iter()
        .map(|pair| 100.0 * (pair.a * tick_a - pair.b * tick_b) / seen_ns)
        .collect();
    SpanPoint {
        aimed_ns,
        seen_ns,
        percent: percent(&kept_pairs)
            .map(|value| Uncertain { value, budget: budget(&single, rate_a, rate_b, unseen) }),
        sd_percent: if seen_ns > 0.0 { within_nestings(&single) } else { f64::NAN },
        used: kept_pairs.len(),
        left_out: pairs.len() - kept_pairs.len(),
    }
}

fn near(pairs: &[Pair], tick_a: f64, tick_b: f64, steps_ns: f64) -> Vec<Pair> {
    let difference = |pair: &Pair| pair.a * tick_a - pair.b * tick_b;
    let center = median(pairs.iter().map(difference).collect());
    let deviation = median(pairs.iter().map(|pair| (difference(pair) - center).abs()).collect());
    let reach = FAR_DEVIATIONS * deviation.max(steps_ns);
    pairs
        .iter()
        .copied()
        .filter(|pair| !pair.disturbed && (difference(pair) - center).abs() <= reach)
        .collect()
}

fn budget(single: &[f64], rate_a: &Rate, rate_b: &Rate, unseen: f64) -> Vec<Contribution> {
    // Whole pairs of nestings go into one block.
    let pairs: Vec<f64> = single.chunks_exact(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
    let blocks = BLOCKS.min(pairs.len());
    let means: Vec<f64> = (0..blocks)
        .map(|block| &pairs[block * pairs.len() / blocks..(block + 1) * pairs.len() / blocks])
        .map(|block| block.iter().sum::<f64>() / block.len() as f64)
        .collect();
    let noise = sd(&means) / (blocks.max(1) as f64).sqrt();
    let ppm = (rate_a.uncertainty_ppm.powi(2) + rate_b.uncertainty_ppm.powi(2)).sqrt();
    vec![
        Contribution::standard(Source::Noise, noise, (blocks.max(2) - 1) as f64),
        Contribution::standard(Source::Rate, ppm * 1e-4, f64::INFINITY),
        Contribution::bound(Source::Quantum, unseen),
    ]
}

/// Standard deviation of a single difference within its nesting; the nestings alternate.
fn within_nestings(single: &[f64]) -> f64 {
    let of = |first: usize| sd(&single.iter().skip(first).step_by(2).copied().collect::<Vec<_>>());
    ((of(0).powi(2) + of(1).powi(2)) / 2.0).sqrt()
}

fn sd(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0)).sqrt()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(hz: f64) -> Rate {
        Rate { hz, uncertainty_ppm: 1.0, provenance: "invented".into() }
    }

    /// Pairs in which the outer clock shows 20 ns more, each with a different wobble.
    fn pairs(percent: f64) -> Vec<Pair> {
        let pair_at = |at: usize| {
            let (length, wobble) =
                (1_000.0 + (at * 37 % 101) as f64, (at * 7 % 11) as f64 / 10.0 - 0.5);
            let (a, b) = if at % 2 == 0 { (20.0, 0.0) } else { (0.0, 20.0) };
            Pair {
                a: length * (1.0 + percent / 100.0) + a + wobble,
                b: length + b,
                disturbed: false,
            }
        };
        (0..400).map(pair_at).collect()
    }

    #[test]
    fn the_cost_of_the_reads_cancels_and_a_true_difference_stays() {
        for percent in [0.0, 2.0, -0.5] {
            let span_point = point(1e3, &pairs(percent), &rate(1e9), &rate(1e9), 1.0);
            let difference = span_point.percent.unwrap().estimate(0.95);
            assert!(
                (difference.value - percent).abs() < 0.02
                    && span_point.left_out == 0
                    && span_point.sd_percent < 0.5,
                "{percent}: {difference:?}"
            );
        }
    }

    #[test]
    fn disturbed_spans_are_left_out_and_counted() {
        let mut pairs = pairs(0.0);
        pairs[6].a += 50_000.0;
        // Both clocks show this disturbance: the span is longer than intended.
        pairs[11] = Pair { a: 90_000.0, b: 90_000.0, disturbed: true };
        let span_point = point(1e3, &pairs, &rate(1e9), &rate(1e9), 1.0);
        assert!(
            span_point.left_out >= 2
                && (span_point.seen_ns - 1_060.0).abs() < 5.0
                && span_point.percent.unwrap().value.abs() < 0.02
        );
    }

    #[test]
    fn a_clock_that_did_not_move_gives_no_percentage() {
        let still: Vec<Pair> =
            (0..40).map(|_| Pair { a: 100.0, b: 0.0, disturbed: false }).collect();
        assert_eq!(point(1e2, &still, &rate(1e9), &rate(1e3), 1e6).percent, None);
    }

    #[test]
    fn a_clock_that_showed_no_step_may_still_be_right() {
        let still: Vec<Pair> =
            (0..400).map(|_| Pair { a: 0.0, b: 100.0, disturbed: false }).collect();
        let found = point(1e2, &still, &rate(1e9), &rate(1e9), 1e5).percent.unwrap().estimate(0.95);
        assert!(found.value == -100.0 && found.contains(0.0), "{found:?}");
    }

    #[test]
    fn a_clock_too_coarse_for_a_span_has_a_bound() {
        let still: Vec<Pair> =
            (0..400).map(|_| Pair { a: 0.0, b: 100.0, disturbed: false }).collect();
        let bound = point(1e2, &still, &rate(1e9), &rate(1e9), 1e7).bound_percent(0.95).unwrap();
        assert!((10_000.0..1e6).contains(&bound), "{bound}");
        assert_eq!(point(1e3, &pairs(2.0), &rate(1e9), &rate(1e9), 1.0).bound_percent(0.95), None);
    }

    #[test]
    fn every_length_is_tried_or_reported_as_too_short() {
        let clock = hairspring_host::clock::find("monotonic").unwrap();
        let comparison = compare(clock, clock, Duration::from_millis(100));
        assert_eq!(comparison.points.len() + comparison.too_short_ns.len(), SPANS_NS.len());
        assert!(
            comparison.too_short_ns.iter().all(|aimed| *aimed < comparison.least_span_ns),
            "{comparison:?}"
        );
    }

    #[test]
    fn the_mean_of_a_coarse_clock_is_right() {
        // Steps of 1000 ns over spans of 100 ns: one span in ten contains a step.
        let coarse: Vec<Pair> = (0..2_000)
            .map(|at| Pair {
                a: if at * 7 % 10 == 0 { 1_000.0 } else { 0.0 },
                b: 100.0,
                disturbed: false,
            })
            .collect();
        let found = point(1e2, &coarse, &rate(1e9), &rate(1e9), 1e3);
        assert!(found.percent.unwrap().estimate(0.95).contains(0.0) && found.left_out == 0);
    }
}
