//! Resolution and read cost of a clock, from consecutive reads.

use super::Counter;

/// Reads taken at the most; a clock that moves only with the kernel's tick needs many.
const MOST_READS: usize = 4_000_000;
/// Changes of the reading that are enough to know the steps.
const ENOUGH_STEPS: usize = 2_000;
/// Time after which the search ends, in nanoseconds of the wall clock.
const MOST_NS: u64 = 30_000_000;

/// Share of unchanged reads from which on the clock is slower than its own reading.
const SLOW: f64 = 0.5;
/// A step that is rarer than this share of all was taken by something else that ran in between.
const RARE: f64 = 0.005;
/// A cluster of steps with less than this share of all says nothing of the quantum either.
const RARE_CLUSTER: f64 = 0.02;

/// What consecutive reads of a clock show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Quantum in ticks; 0 where the clock never moved. The greatest common divisor of the steps, or, where rounding
    /// blurs it (a counter scaled to nanoseconds), the distance between the clusters that the steps form.
    pub quantum: u64,
    /// Smallest time between two reads, in ticks.
    pub back_to_back_min: u64,
    /// Mean time between two reads, in ticks: the cost of a read as far as back to back reads show it.
    pub back_to_back_mean: f64,
    /// Steps that the quantum was found from.
    pub steps: usize,
    /// Times that the clock went backwards.
    pub backward: usize,
}

/// Finds the resolution of a clock from the steps between consecutive reads.
///
/// Cost: up to 30 ms for a clock that hardly moves, a fraction of a millisecond for others.
pub fn granularity(counter: impl Into<Counter>) -> Reading {
    let Counter { read, width } = counter.into();
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
        quantum: quantum(&steps, unchanged as f64 / reads.max(1) as f64),
        back_to_back_min: if unchanged > 0 { 0 } else { steps.iter().copied().min().unwrap_or(0) },
        back_to_back_mean: total as f64 / reads.max(1) as f64,
        steps: steps.len(),
        backward,
    }
}

fn quantum(steps: &[u64], unchanged: f64) -> u64 {
    if unchanged > SLOW {
        return steps.iter().copied().min().unwrap_or(0);
    }
    let divisor = steps.iter().copied().fold(0, gcd);
    let mut frequent: Vec<u64> = steps.to_vec();
    frequent.sort_unstable();
    let least = (steps.len() as f64 * RARE) as usize;
    let same = frequent.chunk_by(|a, b| a == b).filter(|same| same.len() > least);
    let values: Vec<(u64, usize)> = same.map(|same| (same[0], same.len())).collect();
    cluster_distance(&values, divisor).unwrap_or(divisor)
}

/// Distance between clusters of values (with how often each was seen) that lie within rounding of each other; `None`
/// where there are no such clusters.
fn cluster_distance(values: &[(u64, usize)], divisor: u64) -> Option<u64> {
    let clusters: Vec<&[(u64, usize)]> = values.chunk_by(|a, b| b.0 - a.0 <= 2 * divisor).collect();
    let blurred = clusters.iter().all(|cluster| cluster[cluster.len() - 1].0 - cluster[0].0 <= 3 * divisor);
    let weight = |cluster: &[(u64, usize)]| cluster.iter().map(|(_, count)| *count as f64).sum::<f64>();
    let center =
        |cluster: &[(u64, usize)]| cluster.iter().map(|(value, count)| *value as f64 * *count as f64).sum::<f64>() / weight(cluster);
    let least = RARE_CLUSTER * weight(values);
    let centers: Vec<f64> = clusters.iter().filter(|cluster| weight(cluster) > least).map(|cluster| center(cluster)).collect();
    let nearest = centers.windows(2).map(|pair| pair[1] - pair[0]).min_by(f64::total_cmp)?;
    blurred.then_some(nearest.round() as u64)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::super::fake;
    use super::*;

    #[test]
    fn the_step_of_a_coarse_clock_is_found() {
        for quantum in [26, 1_000] {
            fake::set(fake::Settings { quantum, per_read: 37, ..fake::Settings::default() });
            let found = granularity(&fake::clock(64));
            assert_eq!(found.quantum, quantum);
            assert!((found.back_to_back_mean - 37.0).abs() < 1.0);
        }
    }

    #[test]
    fn a_counter_that_wraps_did_not_go_backwards() {
        fake::set(fake::Settings { quantum: 2, per_read: 37, start: 65_000, bits: 16, ..fake::Settings::default() });
        let found = granularity(&fake::clock(16));
        assert_eq!((found.quantum, found.backward), (2, 0));
        assert!((found.back_to_back_mean - 37.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn a_rare_odd_step_does_not_hide_the_quantum() {
        let steps: Vec<u64> = (0..1_000).map(|i| if i % 100 == 3 { 1 } else { [26, 52, 78][i % 3] }).collect();
        assert_eq!(quantum(&steps, 0.0), 26);
    }

    #[test]
    fn rounding_to_nanoseconds_does_not_hide_the_step_of_the_counter() {
        let steps: Vec<u64> = (0..1_000).map(|i| [30, 31, 40, 41, 40][i % 5]).collect();
        assert_eq!(quantum(&steps, 0.0), 10);
        let fine: Vec<u64> = (0..1_000).map(|i| 28 + (i % 7) as u64).collect();
        assert_eq!(quantum(&fine, 0.0), 1);
        // The kernel's tick in nanoseconds, never quite the same.
        assert_eq!(quantum(&[3_999_998, 4_000_001, 4_000_003], 0.99), 3_999_998);
    }

    #[test]
    fn a_clock_that_stands_still_is_seen_to() {
        fake::set(fake::Settings { quantum: 1, per_read: 0, ..fake::Settings::default() });
        assert_eq!(granularity(&fake::clock(64)).quantum, 0);
    }
}
