//! Time needed for an accuracy: how long one timed interval must last on a given clock (Staelin and
//! McVoy, 6.1).
//!
//! There are two methods. The published one ("enough") tests the clock with the loop itself: it
//! lengthens the interval until small variations of the work show as equally small variations of
//! the time. It needs no knowledge of the clock, but it mistakes noise for a coarse clock: on a
//! busy machine no interval passes, and it falls back to one second. The second method is
//! [`resolution_window_ns`]: the quantum is measured, and the interval follows from it. The line
//! fit needs neither: it takes many short intervals at a dithered phase, and their mean is free of
//! the quantum.

use serde::{Deserialize, Serialize};

/// Accuracy that the published check ensures: 1 %.
pub const ACCURACY: f64 = 0.01;
/// Intervals tried in turn, in nanoseconds. The paper names the last of them.
pub const WINDOWS_NS: [f64; 4] = [5e6, 1e7, 5e7, 1e8];
/// The interval that is used unproven if the last of [`WINDOWS_NS`] does not pass: one second.
pub const LAST_WINDOW_NS: f64 = 1e9;
/// The work of the check, as shares of the trips that fill the interval: 100.0, 100.5, 101.0 and
/// 101.5 %.
pub const WORK: [f64; 4] = [1.0, 1.005, 1.01, 1.015];
/// Accepted departure of each of the four times, as a share of the interval: 0.1 %.
pub const TOLERANCE: f64 = 0.001;

/// One interval that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Target length of the interval, in nanoseconds.
    pub window_ns: f64,
    /// Trips of the loop that filled it.
    pub trips: u64,
    /// Time minus expected time, both over the reference time, for each of [`WORK`].
    pub departures: [f64; 4],
}

impl Trial {
    /// The trial with these times for the [`jiggled`] trips; `reference_ns` is a time of `trips`
    /// taken before.
    pub fn new(window_ns: f64, trips: u64, reference_ns: f64, times_ns: [f64; 4]) -> Trial {
        let steps = jiggled(trips);
        let expected = |at: usize| steps[at] as f64 / trips as f64;
        let departures = std::array::from_fn(|at| times_ns[at] / reference_ns - expected(at));
        Trial { window_ns, trips, departures }
    }

    /// Whether all four times are as expected within [`TOLERANCE`].
    pub fn passes(&self) -> bool {
        self.departures.iter().all(|departure| departure.abs() <= TOLERANCE)
    }
}

/// The time needed, and how it was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Enough {
    /// How long a timed interval must last, in nanoseconds.
    pub window_ns: f64,
    /// Whether the check passed at this interval; if not, it is [`LAST_WINDOW_NS`].
    pub proven: bool,
    /// The intervals that were tried, in order.
    pub trials: Vec<Trial>,
}

/// Trips of the four loops of the check. Each loop has at least one trip more than the one before.
///
/// ```
/// assert_eq!(hairspring_core::design::enough::jiggled(1_000), [1_000, 1_005, 1_010, 1_015]);
/// assert_eq!(hairspring_core::design::enough::jiggled(10), [10, 11, 12, 13]);
/// ```
pub fn jiggled(trips: u64) -> [u64; 4] {
    std::array::from_fn(|at| {
        ((trips as f64 * WORK[at]).round() as u64).max(trips.saturating_add(at as u64))
    })
}

/// The interval in nanoseconds that reaches an accuracy on a clock with this quantum: the
/// difference of two readings is off by less than one quantum.
///
/// ```
/// assert_eq!(hairspring_core::design::enough::resolution_window_ns(1e7, 0.01), 1e9);
/// ```
pub fn resolution_window_ns(quantum_ns: f64, accuracy: f64) -> f64 {
    quantum_ns / accuracy
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(times: [f64; 4]) -> Trial {
        Trial::new(5e6, 10_000, 5e6, times.map(|share| share * 5e6))
    }

    #[test]
    fn all_four_times_must_be_as_expected() {
        assert!(trial([1.0, 1.005, 1.01, 1.015]).passes());
        assert!(trial([1.0009, 1.0041, 1.0109, 1.0141]).passes());
        for at in 0..4 {
            let mut times = WORK;
            times[at] += 0.0012;
            assert!(!trial(times).passes(), "{at}");
        }
    }

    #[test]
    fn clock_that_shows_no_difference_does_not_pass() {
        assert!(!trial([1.0; 4]).passes());
        assert!(!Trial::new(5e6, 10_000, 0.0, [0.0; 4]).passes());
    }

    #[test]
    fn few_trips_are_compared_with_the_actual_trips() {
        assert!(Trial::new(5e6, 10, 100.0, [100.0, 110.0, 120.0, 130.0]).passes());
    }

    proptest::proptest! {
        #[test]
        fn passing_interval_is_at_least_the_resolution_window(quanta in 0.5f64..400.0,
            phase in 0.0f64..1.0) {
            // A clock whose quantum is the interval over `quanta`, read at any phase.
            let read = |share: f64| ((share * quanta + phase).floor()) / quanta;
            let times = WORK.map(read);
            if times[0] > 0.0 && Trial::new(1.0, 1_000_000, times[0], times).passes() {
                proptest::prop_assert!(1.0 >= resolution_window_ns(1.0 / quanta, ACCURACY));
            }
        }
    }
}
