//! Loops: how many trips fill an interval, and which rows separate the loop from its body (Staelin
//! and McVoy, 6.3 and 6.4).

use serde::{Deserialize, Serialize};

/// An interval is long enough at this share of the wanted interval.
const LONG_ENOUGH: f64 = 0.95;
/// Readings below this, in nanoseconds, carry no information: on a coarse clock they are a few
/// quanta.
const MEANINGLESS_NS: f64 = 150_000.0;
/// Growth of the trips after a reading without information.
const GROWTH: u64 = 10;
/// Margin on the number of trips computed from a meaningful reading, because the reading is noisy.
const MARGIN: f64 = 1.1;

/// Result of one timed interval for the number of trips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sizing {
    /// The interval was long enough.
    LongEnough,
    /// The loop must run again with this many trips, always more than before.
    Again(u64),
}

/// Loop auto-sizing: the next number of trips from the time that `trips` took. Both times are in
/// nanoseconds.
///
/// An interval of 95 % of the wanted one is long enough. Below 150 us the trips are multiplied by
/// 10, otherwise by 1.1 times the wanted over the measured time.
///
/// ```
/// use hairspring_core::design::loops::{Sizing, size};
/// assert_eq!(size(1, 0.0, 5e6), Sizing::Again(10));
/// assert_eq!(size(1_000, 1e6, 5e6), Sizing::Again(5_500));
/// assert_eq!(size(5_500, 5.5e6, 5e6), Sizing::LongEnough);
/// ```
pub fn size(trips: u64, measured_ns: f64, wanted_ns: f64) -> Sizing {
    if measured_ns >= LONG_ENOUGH * wanted_ns {
        return Sizing::LongEnough;
    }
    let next = if measured_ns < MEANINGLESS_NS {
        trips.saturating_mul(GROWTH)
    } else {
        (MARGIN * wanted_ns / measured_ns * trips as f64) as u64
    };
    Sizing::Again(next.max(trips.saturating_add(1)))
}

/// A loop with some copies of the body in each trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LoopRow {
    /// Copies of the body in one trip.
    pub copies: u32,
    /// Trips of the loop.
    pub trips: u64,
}

impl LoopRow {
    /// Counts of the components body and loop between the two reads of the clock (see
    /// [`COMPONENTS`]).
    pub fn counts(&self) -> [f64; 2] {
        [f64::from(self.copies) * self.trips as f64, self.trips as f64]
    }
}

/// Names of the components whose counts [`LoopRow::counts`] gives.
pub const COMPONENTS: [&str; 2] = ["body", "loop"];

/// Rows for the loop overhead: loops of one copy and of two, each at several trips up to `trips`.
///
/// The paper has one row of each and two equations, `T1 = N1 (loop + body)` and
/// `T2 = N2 (loop + 2 body)`, with the solution `loop = 2 T1/N1 - T2/N2`; it subtracts the timing
/// overhead first. Here several numbers of trips of each give an overdetermined system for
/// [`crate::pipeline::solve`], which estimates the timing overhead, the body and the loop with
/// their intervals. It reports a lack of fit where the rows are not on a plane, for example because
/// a core runs the second copy at the same time as the loop.
///
/// `trips` below 8 count as 8, so that the rows differ.
pub fn two_equations(trips: u64) -> Vec<LoopRow> {
    [1, 2]
        .into_iter()
        .flat_map(|copies| parts(trips).map(move |trips| LoopRow { copies, trips }))
        .collect()
}

/// Name of the only component of [`alone`].
pub const ALONE_COMPONENT: [&str; 1] = ["loop"];

/// Rows of empty loops at several trips up to `trips` (at least 8). The time of an empty loop is an
/// upper bound of what a loop adds to its body.
pub fn alone(trips: u64) -> Vec<LoopRow> {
    parts(trips).map(|trips| LoopRow { copies: 0, trips }).collect()
}

/// A quarter, a half, three quarters and all of the trips.
fn parts(trips: u64) -> impl Iterator<Item = u64> {
    [2u128, 4, 6, 8].into_iter().map(move |eighths| (u128::from(trips.max(8)) * eighths / 8) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn sizing_always_grows_and_ends(per_trip_ns in 0.01f64..1e10, wanted_ns in 1.0f64..1e9) {
            let (mut trips, mut rounds) = (1u64, 0);
            while let Sizing::Again(next) = size(trips, trips as f64 * per_trip_ns, wanted_ns) {
                proptest::prop_assert!(next > trips);
                (trips, rounds) = (next, rounds + 1);
            }
            proptest::prop_assert!(rounds < 30);
        }

        #[test]
        fn rows_have_full_rank(trips in 0u64..u64::MAX) {
            let rows = two_equations(trips);
            let design: Vec<Vec<f64>> = rows.iter().map(|row| vec![row.counts()[0], row.counts()[1],
                1.0]).collect();
            proptest::prop_assert_eq!(crate::estimate::exact_rank(&design).pivots.len(), 3);
            proptest::prop_assert!(rows.iter().all(|row| row.trips >= 1));
        }
    }

    #[test]
    fn trips_saturate_at_the_largest_number() {
        assert_eq!(size(u64::MAX / 2, 0.0, 1e6), Sizing::Again(u64::MAX));
    }
}
