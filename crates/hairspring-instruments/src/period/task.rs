//! The cyclic task: sleep until the due time, read the clocks, exchange a frame, count, and find
//! the next cycle.

use super::schedule::Schedule;
use super::summary::FEWEST_PERIODS;
use super::tally::{Tally, Wake};
use std::sync::atomic::{AtomicBool, Ordering};

/// The machine that the task runs on.
pub trait Machine {
    /// Time in nanoseconds, by the clock of the due times.
    fn now_ns(&mut self) -> u64;
    /// Sleeps until a time, or until a signal arrives.
    fn sleep_until(&mut self, due_ns: u64);
    /// Reads the two clocks one after the other, and the clock of the due times.
    fn read(&mut self) -> ([u64; 2], u64);
}

/// A partner that a frame is exchanged with in every cycle.
pub trait Partner {
    /// Sends the frame of a cycle whose answer is in time before `end_ns`.
    fn ask(&mut self, cycle: u64, end_ns: u64);
    /// Waits for the answer until a time. Returns the round trip in ticks.
    fn wait(&mut self, cycle: u64, until_ns: u64) -> Option<u64>;
}

/// Takes the raw observations of a run.
pub trait Recorder {
    /// Takes the observation of one cycle. It must not block.
    fn record(&mut self, wake: &Wake, round_trip_ticks: Option<u64>);
}

/// Limit of the wake-up latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// The latency that must not be exceeded.
    pub latency_ns: f64,
    /// Whether the run ends with the first cycle that exceeds it, or later, once there are enough
    /// cycles for a report.
    pub ends_run: bool,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// All cycles were due.
    Done,
    /// It was stopped (Ctrl-C).
    Interrupted,
    /// A cycle exceeded the limit.
    LimitExceeded,
}

/// The parts of a run.
pub struct Task<'a> {
    /// The machine.
    pub machine: &'a mut dyn Machine,
    /// The partner, if frames are exchanged.
    pub partner: Option<&'a mut dyn Partner>,
    /// Takes the raw observations.
    pub recorder: Option<&'a mut dyn Recorder>,
    /// Limit of the latency.
    pub limit: Option<Limit>,
    /// A signal handler sets this to end the run.
    pub stop: &'a AtomicBool,
}

impl Task<'_> {
    /// Runs the cycles of a schedule, and finishes the tally.
    pub fn run(&mut self, schedule: &Schedule, tally: &mut Tally) -> Stop {
        let (mut cycle, mut exceeded) = (0, false);
        while cycle < schedule.cycles {
            let due_ns = schedule.due_ns(cycle);
            if !self.sleep(due_ns) {
                tally.finish(cycle);
                return Stop::Interrupted;
            }
            let (ticks, wake_ns) = self.machine.read();
            let wake = Wake { cycle, due_ns, wake_ns, ticks };
            let latency = tally.push(wake);
            let next = self.work(schedule, &wake);
            exceeded |=
                self.limit.is_some_and(|limit| limit.ends_run && latency > limit.latency_ns);
            if exceeded && tally.periods() >= FEWEST_PERIODS && tally.cycles > FEWEST_PERIODS {
                tally.finish(cycle + 1);
                return Stop::LimitExceeded;
            }
            cycle = next;
        }
        tally.finish(schedule.cycles);
        Stop::Done
    }

    /// Sleeps until the due time; `false` if the run was stopped meanwhile.
    fn sleep(&mut self, due_ns: u64) -> bool {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            self.machine.sleep_until(due_ns);
            if self.machine.now_ns() >= due_ns {
                return true;
            }
        }
    }

    /// The work of a cycle. Waiting for the answer does not count as work: the next cycle is chosen
    /// before the wait.
    fn work(&mut self, schedule: &Schedule, wake: &Wake) -> u64 {
        if let Some(partner) = &mut self.partner {
            partner.ask(wake.cycle, schedule.due_ns(wake.cycle + 1));
        }
        let next = schedule.next(wake.cycle, self.machine.now_ns());
        let round_trip = self
            .partner
            .as_mut()
            .and_then(|partner| partner.wait(wake.cycle, schedule.due_ns(next)));
        if let Some(recorder) = &mut self.recorder {
            recorder.record(wake, round_trip);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::{Bins, Tick};
    use super::*;
    use hairspring_host::clock::Width;

    fn tick(ns: f64) -> Tick {
        Tick { ns, width: Width::FULL }
    }

    const SCHEDULE: Schedule = Schedule { start_ns: 10_000, period_ns: 1_000, cycles: 20 };

    /// A machine whose time only advances when it sleeps or works; a list gives the latency of each
    /// wake-up.
    struct Invented {
        now: u64,
        late: Vec<u64>,
        at: usize,
    }

    impl Machine for Invented {
        fn now_ns(&mut self) -> u64 {
            self.now
        }
        fn sleep_until(&mut self, due_ns: u64) {
            self.now = self.now.max(due_ns + self.late[self.at % self.late.len()]);
            self.at += 1;
        }
        fn read(&mut self) -> ([u64; 2], u64) {
            ([3 * self.now, self.now], self.now)
        }
    }

    struct Records(Vec<(u64, Option<u64>)>);

    impl Recorder for Records {
        fn record(&mut self, wake: &Wake, round_trip_ticks: Option<u64>) {
            self.0.push((wake.cycle, round_trip_ticks));
        }
    }

    fn run(
        late: &[u64],
        limit: Option<Limit>,
        stop: bool,
    ) -> (Tally, Stop, Vec<(u64, Option<u64>)>) {
        let mut tally =
            Tally::new([1.0 / 3.0, 1.0].map(tick), &Bins::for_period(SCHEDULE.period_ns));
        let (mut machine, mut records) =
            (Invented { now: 0, late: late.to_vec(), at: 0 }, Records(Vec::new()));
        let stop = AtomicBool::new(stop);
        let mut task = Task {
            machine: &mut machine,
            partner: None,
            recorder: Some(&mut records),
            limit,
            stop: &stop,
        };
        let end = task.run(&SCHEDULE, &mut tally);
        (tally, end, records.0)
    }

    #[test]
    fn due_times_do_not_drift_with_late_wake_ups() {
        let (tally, end, records) = run(&[90], None, false);
        assert_eq!((end, tally.cycles, tally.missed), (Stop::Done, 20, 0));
        assert_eq!(tally.latency.moments.most().value, 90.0);
        assert_eq!(tally.clocks[0].ticks, 3 * 19 * 1_000);
        assert_eq!(records.len(), 20);
    }

    #[test]
    fn an_overrun_skips_to_the_next_due_time() {
        let mut late = vec![0; 20];
        late[4] = 2_500;
        let (tally, end, records) = run(&late, None, false);
        assert_eq!((end, tally.cycles, tally.missed), (Stop::Done, 18, 2));
        assert_eq!(records.iter().map(|record| record.0).collect::<Vec<_>>()[3..7], [3, 4, 7, 8]);
        assert_eq!(tally.latency.moments.most().cycle, 4);
    }

    #[test]
    fn an_overrun_at_the_end_counts_as_missed_cycles() {
        let (tally, end, _) = run(&[0, 100_000], None, false);
        assert_eq!((end, tally.cycles, tally.missed), (Stop::Done, 2, 18));
    }

    #[test]
    fn the_limit_can_end_the_run() {
        let limit = |ends_run| Some(Limit { latency_ns: 50.0, ends_run });
        let (tally, end, _) = run(&[0, 0, 60], limit(true), false);
        assert_eq!((end, tally.cycles, tally.missed), (Stop::LimitExceeded, 3, 0));
        assert_eq!(run(&[60], limit(true), false).0.cycles, FEWEST_PERIODS + 1);
        assert_eq!(run(&[0, 0, 60], limit(false), false).1, Stop::Done);
        assert_eq!(run(&[50], limit(true), false).1, Stop::Done);
    }

    #[test]
    fn the_stop_flag_ends_the_run() {
        let (tally, end, _) = run(&[0], None, true);
        assert_eq!((end, tally.cycles, tally.missed), (Stop::Interrupted, 0, 0));
    }

    /// Answers every second frame after 300 ns, and does not answer the others.
    struct Forgetful<'a>(&'a mut Vec<(u64, u64)>);

    impl Partner for Forgetful<'_> {
        fn ask(&mut self, cycle: u64, end_ns: u64) {
            self.0.push((cycle, end_ns));
        }
        fn wait(&mut self, cycle: u64, until_ns: u64) -> Option<u64> {
            assert_eq!(until_ns, SCHEDULE.due_ns(cycle + 1));
            (cycle % 2 == 0).then_some(300)
        }
    }

    #[test]
    fn a_frame_is_exchanged_in_every_cycle_and_waiting_for_it_misses_none() {
        let (mut asked_cycles, mut records) = (Vec::new(), Records(Vec::new()));
        let mut tally =
            Tally::new([1.0 / 3.0, 1.0].map(tick), &Bins::for_period(SCHEDULE.period_ns));
        let mut machine = Invented { now: 0, late: vec![90], at: 0 };
        let stop = AtomicBool::new(false);
        let mut partner = Forgetful(&mut asked_cycles);
        Task {
            machine: &mut machine,
            partner: Some(&mut partner),
            recorder: Some(&mut records),
            limit: None,
            stop: &stop,
        }
        .run(&SCHEDULE, &mut tally);
        assert_eq!((asked_cycles.len(), asked_cycles[3], tally.missed), (20, (3, 14_000), 0));
        assert_eq!(records.0[..2], [(0, Some(300)), (1, None)]);
    }
}
