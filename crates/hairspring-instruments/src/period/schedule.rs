//! When a cycle is due, and which one comes after an overrun.

/// Due times of a cyclic task: `start + number * period`, in nanoseconds of CLOCK_MONOTONIC. They
/// are fixed in advance, so that a late wake-up does not delay later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// When cycle 0 is due.
    pub start_ns: u64,
    /// The period.
    pub period_ns: u64,
    /// Total number of cycles.
    pub cycles: u64,
}

impl Schedule {
    /// When a cycle is due.
    pub fn due_ns(&self, cycle: u64) -> u64 {
        self.start_ns.saturating_add(cycle.saturating_mul(self.period_ns))
    }

    /// The cycle after this one if the task is done at `now_ns`: the first that is due in the
    /// future. Cycles in between are missed; they are not made up for.
    pub fn next(&self, cycle: u64, now_ns: u64) -> u64 {
        let first_future =
            now_ns.checked_sub(self.start_ns).map_or(0, |since| since / self.period_ns + 1);
        first_future.max(cycle + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULE: Schedule = Schedule { start_ns: 1_000, period_ns: 100, cycles: 10 };

    #[test]
    fn the_next_cycle_follows_where_the_task_is_done_in_time() {
        assert_eq!(SCHEDULE.next(0, 1_000), 1);
        assert_eq!(SCHEDULE.next(3, 1_399), 4);
    }

    #[test]
    fn cycles_whose_due_time_has_passed_are_skipped() {
        // A cycle that is due right now is missed: there is no time left to sleep.
        assert_eq!(SCHEDULE.next(3, 1_400), 5);
        assert_eq!(SCHEDULE.next(3, 1_777), 8);
    }

    #[test]
    fn no_cycle_runs_twice() {
        assert_eq!(SCHEDULE.next(7, 0), 8);
        assert_eq!(SCHEDULE.next(7, 1_200), 8);
        assert_eq!(Schedule { cycles: u64::MAX, ..SCHEDULE }.due_ns(u64::MAX), u64::MAX);
    }
}
