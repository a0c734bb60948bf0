//! Resolution and read cost of a clock, from consecutive reads.

use super::ReadFn;

/// Reads taken at the most; a clock that moves only with the kernel's tick needs many.
const MOST_READS: usize = 4_000_000;
/// Changes of the reading that are enough to know the steps.
const ENOUGH_STEPS: usize = 2_000;
/// Time after which the search ends, in nanoseconds of the wall clock.
const MOST_NS: u64 = 30_000_000;

/// What consecutive reads of a clock show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Quantum: greatest common divisor of all steps seen, in ticks; 0 where the clock never moved.
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

/// Finds the resolution of a clock: the greatest common divisor of the steps between consecutive reads.
///
/// Cost: up to 30 ms for a clock that hardly moves, a fraction of a millisecond for others.
pub fn granularity(read: ReadFn) -> Reading {
    let mut found = Reading { quantum: 0, back_to_back_min: u64::MAX, back_to_back_mean: 0.0, steps: 0, backward: 0 };
    let begin = super::os::wall_ns();
    let first = read();
    let mut last = first;
    let mut reads = 0usize;
    while reads < MOST_READS && found.steps < ENOUGH_STEPS {
        let now = read();
        reads += 1;
        take_step(&mut found, last, now);
        last = now;
        if reads % 256 == 0 && super::os::wall_ns() - begin > MOST_NS {
            break;
        }
    }
    found.back_to_back_mean = last.wrapping_sub(first) as f64 / reads.max(1) as f64;
    found.back_to_back_min = if found.back_to_back_min == u64::MAX { 0 } else { found.back_to_back_min };
    found
}

fn take_step(found: &mut Reading, last: u64, now: u64) {
    if now < last {
        found.backward += 1;
        return;
    }
    let step = now - last;
    found.back_to_back_min = found.back_to_back_min.min(step);
    if step > 0 {
        found.quantum = gcd(found.quantum, step);
        found.steps += 1;
    }
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
            let found = granularity(fake::read);
            assert_eq!(found.quantum, quantum);
            assert!((found.back_to_back_mean - 37.0).abs() < 1.0);
        }
    }

    #[test]
    fn a_clock_that_stands_still_is_seen_to() {
        fake::set(fake::Settings { quantum: 1, per_read: 0, ..fake::Settings::default() });
        assert_eq!(granularity(fake::read).quantum, 0);
    }
}
