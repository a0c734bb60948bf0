//! Pauses: moments in which the CPU did not run the thread, and that nothing counts: what a
//! hypervisor or the system's own interrupts take.

use serde::{Deserialize, Serialize};

/// Fewest pauses from which their share of the time is known.
const FEWEST_PAUSES: u32 = 5;

/// Pauses that were seen while the clock was read all the time. Times are in the unit of the
/// readings.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Pauses {
    /// How long the clock was read.
    pub watched: f64,
    /// The time of all pauses together.
    pub lost: f64,
    /// How many there were.
    pub number: u32,
    /// How many times the thread did not run for longer than that: another process ran, or another
    /// virtual machine. They are not among the time. `None` if that was not counted.
    pub longer: Option<u32>,
}

impl Pauses {
    /// Adds those of another time.
    pub fn add(&mut self, other: Pauses) {
        let sum_of_longer =
            self.longer.zip(other.longer).map(|(one, other)| one.saturating_add(other));
        self.longer = if self.watched > 0.0 { sum_of_longer } else { other.longer };
        self.watched += other.watched;
        self.lost += other.lost;
        self.number = self.number.saturating_add(other.number);
    }

    /// The pauses as a part of the time in which the CPU runs the thread, and the time from one to
    /// the next; `None` if there were too few to know.
    pub fn share(&self) -> Option<(f64, f64)> {
        let running = self.watched - self.lost;
        (self.number >= FEWEST_PAUSES && running > 0.0)
            .then(|| (self.lost / running, self.watched / f64::from(self.number)))
    }

    /// How long the clock was read, and the most times that the thread may not have run for longer
    /// than this in it; `None` if the longest ones were not counted.
    pub fn most_beyond(&self, length: f64) -> Option<(f64, u32)> {
        // More pauses of this length would have lost more time.
        let pauses = if length > 0.0 {
            (self.lost / length).min(f64::from(self.number)) as u32
        } else {
            self.number
        };
        Some((self.watched, self.longer?.saturating_add(pauses)))
    }

    /// The largest share that pauses of this number may have, by their random number and lengths.
    pub fn most_share(&self) -> Option<f64> {
        // Lengths as different as exponential ones double the variance of the number.
        self.share().map(|(share, _)| share * (1.0 + 2.0 * (2.0 / f64::from(self.number)).sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_of_the_time_that_is_left() {
        let mut pauses = Pauses::default();
        assert_eq!((pauses.share(), pauses.most_share()), (None, None));
        pauses.add(Pauses { watched: 600.0, lost: 60.0, number: 4, longer: Some(2) });
        assert_eq!(pauses.share(), None, "four are too few");
        pauses.add(Pauses { watched: 500.0, lost: 40.0, number: 4, longer: Some(1) });
        assert_eq!(pauses.share(), Some((0.1, 137.5)));
        assert_eq!(
            [0.0, 5.0, 20.0, 200.0].map(|length| pauses.most_beyond(length)),
            [11, 11, 8, 3].map(|most| Some((1_100.0, most)))
        );
        assert!((pauses.most_share().unwrap() - 0.2).abs() < 1e-12);
        pauses.add(Pauses { watched: 500.0, longer: None, ..Pauses::default() });
        assert_eq!(pauses.most_beyond(20.0), None, "of some time it is not known");
    }
}
