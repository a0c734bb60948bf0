//! Watching for pauses: the clock is read again and again, and a step that is much longer than the
//! others is a pause of the CPU.

use hairspring_core::observations::Pauses;
use hairspring_host::clock::{ReadFn, Width};
use std::time::Duration;

/// Reads between two looks at the time.
const READS: usize = 64;
/// Most looks: the time of a caller need not move.
const MOST_LOOKS: usize = 4_096;
/// A step that takes so many times as long as the median of the first ones is a pause.
const PAUSE: u64 = 10;
/// A step that takes so many times as long is more than that: another process ran, which is counted
/// elsewhere.
const OTHER_PROCESS: u64 = 5_000;

/// The pauses that are seen in this time by a clock of this width and quantum. The first reads are
/// not among it: behind code that fills the caches they wait for memory.
pub fn pauses(
    now: ReadFn,
    width: Width,
    quantum: u64,
    time: Duration,
    elapsed: &dyn Fn() -> Duration,
) -> Pauses {
    let begin = elapsed();
    let mut first = steps(now, width);
    first.sort_unstable();
    // Most steps of a coarse clock are 0, and the others a quantum.
    let usual = first[READS / 2].max(quantum).max(1);
    let mut seen_pauses = Pauses::default();
    for _ in 0..MOST_LOOKS {
        seen_pauses.add(in_steps(&steps(now, width), usual));
        if elapsed().saturating_sub(begin) >= time {
            break;
        }
    }
    seen_pauses
}

/// Times from one read of the clock to the next.
fn steps(now: ReadFn, width: Width) -> [u64; READS] {
    let mut last = now();
    std::array::from_fn(|_| {
        let next = now();
        let step = width.wrapped(next.wrapping_sub(last));
        last = next;
        step
    })
}

fn in_steps(steps: &[u64], usual: u64) -> Pauses {
    let (mut seen_pauses, mut longer_steps) = (Pauses::default(), 0);
    for step in steps {
        if *step >= OTHER_PROCESS * usual {
            longer_steps += 1;
            continue;
        }
        seen_pauses.watched += *step as f64;
        if *step > PAUSE * usual {
            seen_pauses.lost += (*step - usual) as f64;
            seen_pauses.number += 1;
        }
    }
    Pauses { longer: Some(longer_steps), ..seen_pauses }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::default_clock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Instant;

    #[test]
    fn long_steps_are_pauses_and_longer_ones_are_other_processes() {
        let mut steps = [50_u64; READS];
        (steps[3], steps[20], steps[40]) = (450, 3_050, 400_000);
        assert_eq!(
            in_steps(&steps, 50),
            Pauses {
                watched: 61.0 * 50.0 + 450.0 + 3_050.0,
                lost: 3_000.0,
                number: 1,
                longer: Some(1)
            }
        );
    }

    #[test]
    fn first_reads_wait_for_memory_and_do_not_count() {
        static READ: AtomicU64 = AtomicU64::new(0);
        // Steps of 50, and some of 2,000 among the first.
        extern "C" fn now() -> u64 {
            let read = READ.fetch_add(1, Ordering::Relaxed);
            50 * read + 1_950 * (read / 5).min(6)
        }
        let seen = pauses(now, Width::bits(64), 1, Duration::ZERO, &|| Duration::ZERO);
        assert_eq!(seen, Pauses { watched: 64.0 * 50.0, lost: 0.0, number: 0, longer: Some(0) });
    }

    #[test]
    fn steps_of_a_coarse_clock_are_no_pauses() {
        static READ: AtomicU64 = AtomicU64::new(0);
        extern "C" fn now() -> u64 {
            READ.fetch_add(12, Ordering::Relaxed) / 1_000 * 1_000
        }
        let seen_pauses =
            pauses(now, Width::bits(64), 1_000, Duration::from_millis(1), &|| Duration::ZERO);
        assert!(seen_pauses.watched > 1e6 && seen_pauses.number == 0, "{seen_pauses:?}");
    }

    #[test]
    fn the_clock_is_watched_for_the_time() {
        let (clock, begin) = (default_clock(), Instant::now());
        let seen_pauses =
            pauses(clock.read, clock.width, 1, Duration::from_millis(5), &|| begin.elapsed());
        pauses(clock.read, clock.width, 1, Duration::from_millis(5), &|| Duration::ZERO);
        assert!(
            begin.elapsed() >= Duration::from_millis(5)
                && seen_pauses.watched > 0.0
                && seen_pauses.lost < seen_pauses.watched,
            "{seen_pauses:?}"
        );
    }
}
