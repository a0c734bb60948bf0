//! Resolution and cost of a read of a clock, from consecutive reads.

use super::Counter;
use hairspring_core::divisor::gcd;

/// Most reads; a clock that advances only with the kernel's tick needs many.
const MOST_READS: usize = 4_000_000;
/// Number of changes of the reading that is enough to know the steps.
const ENOUGH_STEPS: usize = 2_000;
/// Time after which the search ends, in nanoseconds of the wall clock.
const MOST_NS: u64 = 30_000_000;

/// Share of unchanged reads above which the clock advances more slowly than it is read.
const SLOW_SHARE: f64 = 0.5;
/// A step rarer than this share of all steps is caused by an interruption.
const RARE_SHARE: f64 = 0.005;
/// A cluster with less than this share of all steps is not used for the quantum either.
const RARE_CLUSTER: f64 = 0.02;
/// A greatest common divisor of at least this many ticks is not accidental.
const SOUND: u64 = 4;

/// Properties of a clock that consecutive reads show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Quantum in ticks; 0 if the clock never advanced. The greatest common divisor of the steps
    /// or, if rounding hides it (a counter scaled to nanoseconds), the distance between the
    /// clusters of the steps; at most the step that the system states.
    pub quantum: u64,
    /// Smallest time between two reads, in ticks.
    pub back_to_back_min: u64,
    /// Mean time between two reads, in ticks: an estimate of the cost of a read.
    pub back_to_back_mean: f64,
    /// Number of steps that the quantum was found from.
    pub steps: usize,
    /// Number of times that the clock went backwards.
    pub backward: usize,
}

/// Finds the resolution of a clock from the steps between consecutive reads.
///
/// Cost: up to 30 ms for a clock that rarely advances, a fraction of a millisecond for others.
pub fn granularity(counter: impl Into<Counter>) -> Reading {
    let Counter { read, width, stated_step } = counter.into();
    let begin = super::os::wall_ns();
    let (mut steps, mut backward, mut reads, mut total) = (Vec::new(), 0, 0usize, 0i64);
    let mut before = read();
    while reads < MOST_READS && steps.len() < ENOUGH_STEPS {
        let now = read();
        reads += 1;
        let step = width.signed(before, now);
        match step {
            0 => {}
            1.. => steps.push(step as u64),
            _ => backward += 1,
        }
        total = total.saturating_add(step);
        before = now;
        if reads % 256 == 0 && super::os::wall_ns() - begin > MOST_NS {
            break;
        }
    }
    let unchanged = reads - steps.len() - backward;
    Reading {
        quantum: quantum(&steps, unchanged as f64 / reads.max(1) as f64)
            .min(stated_step.unwrap_or(u64::MAX)),
        back_to_back_min: if unchanged > 0 { 0 } else { steps.iter().copied().min().unwrap_or(0) },
        back_to_back_mean: total as f64 / reads.max(1) as f64,
        steps: steps.len(),
        backward,
    }
}

fn quantum(steps: &[u64], unchanged: f64) -> u64 {
    if unchanged > SLOW_SHARE {
        return steps.iter().copied().min().unwrap_or(0);
    }
    let values = occurrences(steps);
    let divisor = values.iter().fold(0, |all, (value, _)| gcd(all, *value));
    let often = |(value, count): &(u64, usize)| {
        (*count as f64 > steps.len() as f64 * RARE_SHARE).then_some((*value, *count))
    };
    sound_divisor(steps)
        .or_else(|| cluster_distance(&values.iter().filter_map(often).collect::<Vec<_>>(), divisor))
        .unwrap_or(divisor)
}

/// Every distinct value in ascending order, with its number of occurrences.
fn occurrences(steps: &[u64]) -> Vec<(u64, usize)> {
    let mut sorted = steps.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect()
}

/// The greatest common divisor of all steps that occurred more than once, if it is too large to be
/// accidental and divides almost all other steps.
fn sound_divisor(steps: &[u64]) -> Option<u64> {
    let values = occurrences(&without_ones(steps));
    let divisor =
        values.iter().filter(|(_, count)| *count > 1).fold(0, |all, (value, _)| gcd(all, *value));
    if divisor < SOUND {
        return None;
    }
    let odd: usize =
        values.iter().filter(|(value, _)| value % divisor != 0).map(|(_, count)| count).sum();
    let explained = values.iter().map(|(_, count)| count).sum::<usize>() - odd;
    (odd as f64 <= steps.len() as f64 * RARE_SHARE && 2 * explained >= steps.len())
        .then_some(divisor)
}

/// Joins steps of one with the next step. Some counters never return the same reading twice: if
/// they have not advanced, they return the last reading plus one.
fn without_ones(steps: &[u64]) -> Vec<u64> {
    let (mut joined, mut ones) = (Vec::with_capacity(steps.len()), 0);
    for step in steps {
        if *step == 1 {
            ones += 1;
        } else {
            joined.push(step + std::mem::take(&mut ones));
        }
    }
    joined
}

/// Distance between clusters of values (with their occurrences) that differ only by rounding.
/// `None` if there are no such clusters, if the distance is not much larger than the rounding, or
/// if it is larger than the smallest step, which cannot be smaller than the quantum.
fn cluster_distance(values: &[(u64, usize)], divisor: u64) -> Option<u64> {
    let clusters: Vec<&[(u64, usize)]> = values.chunk_by(|a, b| b.0 - a.0 <= 2 * divisor).collect();
    let blurred =
        clusters.iter().all(|cluster| cluster[cluster.len() - 1].0 - cluster[0].0 <= 3 * divisor);
    let weight =
        |cluster: &[(u64, usize)]| cluster.iter().map(|(_, count)| *count as f64).sum::<f64>();
    let center = |cluster: &[(u64, usize)]| {
        cluster.iter().map(|(value, count)| *value as f64 * *count as f64).sum::<f64>()
            / weight(cluster)
    };
    let least_weight = RARE_CLUSTER * weight(values);
    let centers: Vec<f64> = clusters
        .iter()
        .filter(|cluster| weight(cluster) > least_weight)
        .map(|cluster| center(cluster))
        .collect();
    let nearest = centers.windows(2).map(|pair| pair[1] - pair[0]).min_by(f64::total_cmp)?;
    let distance = nearest.round() as u64;
    (blurred && distance >= SOUND * divisor && distance as f64 <= centers[0].ceil())
        .then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::super::fake;
    use super::*;

    #[test]
    fn quantum_of_a_coarse_clock_is_found() {
        for quantum in [26, 1_000] {
            fake::set(fake::Settings { quantum, per_read: 37, ..fake::Settings::default() });
            let granularity = granularity(&fake::clock(64));
            assert_eq!(granularity.quantum, quantum);
            assert!((granularity.back_to_back_mean - 37.0).abs() < 1.0);
        }
    }

    #[test]
    fn wrapping_counter_does_not_go_backwards() {
        fake::set(fake::Settings {
            quantum: 2,
            per_read: 37,
            start: 65_000,
            bits: 16,
            ..fake::Settings::default()
        });
        let granularity = granularity(&fake::clock(16));
        assert_eq!((granularity.quantum, granularity.backward), (2, 0));
        assert!((granularity.back_to_back_mean - 37.0).abs() < 0.1, "{granularity:?}");
    }

    #[test]
    fn rare_odd_step_does_not_hide_the_quantum() {
        let steps: Vec<u64> =
            (0..1_000).map(|i| if i % 100 == 3 { 1 } else { [26, 52, 78][i % 3] }).collect();
        assert_eq!(quantum(&steps, 0.0), 26);
    }

    #[test]
    fn quantum_is_at_most_the_smallest_step() {
        // Two tight clusters of steps, and one that is repeatedly longer by the same time.
        let steps: Vec<u64> = (0..1_000)
            .map(|i| if i % 20 == 3 { 263 + 26 * (i as u64 % 3) } else { 52 + 26 * (i as u64 % 2) })
            .collect();
        assert!(quantum(&steps, 0.0) <= 52, "{}", quantum(&steps, 0.0));
        let steps: Vec<u64> = (0..1_000).map(|i| [52, 52, 52, 263][i % 4]).collect();
        assert_eq!(quantum(&steps, 0.0), 1);
        let steps: Vec<u64> =
            (0..1_000).map(|i| if i % 20 == 3 { 26 * 11 } else { [52, 78][i % 2] }).collect();
        assert_eq!(quantum(&steps, 0.0), 26);
    }

    #[test]
    fn quantum_of_a_counter_that_never_repeats_a_reading_is_found() {
        let steps: Vec<u64> = (0..2_000).map(|i| [26, 26, 1, 25, 26, 26, 52, 26][i % 8]).collect();
        assert_eq!(quantum(&steps, 0.0), 26);
        assert_eq!(without_ones(&[26, 1, 1, 24, 26, 1]), [26, 26, 26]);
        // A counter that is slower than its reads really advances by one.
        let slow: Vec<u64> = (0..2_000).map(|i| if i % 400 == 7 { 41 } else { 1 }).collect();
        assert_eq!(quantum(&slow, 0.0), 1);
        // A fine counter whose reads hardly vary.
        let fine: Vec<u64> = (0..2_000).map(|i| if i % 300 == 7 { 20 } else { 18 }).collect();
        assert_eq!(quantum(&fine, 0.0), 2);
    }

    #[test]
    fn rounding_to_nanoseconds_does_not_hide_the_quantum() {
        let steps: Vec<u64> = (0..1_000).map(|i| [30, 31, 40, 41, 40][i % 5]).collect();
        assert_eq!(quantum(&steps, 0.0), 10);
        let fine: Vec<u64> = (0..1_000).map(|i| 28 + (i % 7) as u64).collect();
        assert_eq!(quantum(&fine, 0.0), 1);
        // The kernel's tick in nanoseconds varies slightly.
        assert_eq!(quantum(&[3_999_998, 4_000_001, 4_000_003], 0.99), 3_999_998);
    }

    #[test]
    fn a_step_is_at_most_the_stated_one() {
        // Every second tick of the kernel is lost.
        fake::set(fake::Settings { quantum: 8_000, per_read: 37, ..fake::Settings::default() });
        for (stated_step, quantum) in [(None, 8_000), (Some(4_000), 4_000), (Some(16_000), 8_000)] {
            let clock = super::super::Clock { stated_step, ..fake::clock(64) };
            assert_eq!(granularity(&clock).quantum, quantum);
        }
    }

    #[test]
    fn clock_that_stands_still_has_quantum_zero() {
        fake::set(fake::Settings { quantum: 1, per_read: 0, ..fake::Settings::default() });
        assert_eq!(granularity(&fake::clock(64)).quantum, 0);
    }
}
