//! Whether a clock is synchronized across CPUs: two threads, each bound to a CPU, hand a reading
//! back and forth. Each reads the clock after it has seen the other's reading; a reading lower than
//! the one that it follows is a violation.

use hairspring_host::clock::{Clock, CountsWhen};
use hairspring_host::thread::pin;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What the hand-overs between two CPUs showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HandOver {
    /// The two CPUs.
    pub cpus: (usize, usize),
    /// Number of readings that followed a reading of the other CPU.
    pub handovers: u64,
    /// Number of readings that were lower than the one that they followed.
    pub violations: u64,
    /// How much lower the worst was, in ticks; 0 without violations.
    pub worst_ticks: u64,
    /// Fewest ticks from the first CPU to the second, and back. Their mean is the time of the
    /// fastest hand-over; half of their difference is the time by which the second CPU's clock is
    /// ahead, with the hand-over as its bound.
    pub least_ticks: (i64, i64),
}

impl HandOver {
    /// How far the second CPU's clock is ahead of the first's, in ticks, and the bound of its
    /// error: an offset shorter than a hand-over causes no violation, and no offset can be
    /// determined to better than a quantum of the clock.
    pub fn offset_ticks(&self, quantum: u64) -> (f64, f64) {
        let (there, back) = (self.least_ticks.0 as f64, self.least_ticks.1 as f64);
        ((there - back) / 2.0, ((there + back) / 2.0).abs().max(quantum as f64))
    }
}

/// Whether a clock is synchronized across CPUs.
#[derive(Debug, Clone, PartialEq)]
pub enum Across {
    /// Tried, pair by pair.
    Tried(Vec<HandOver>),
    /// Not applicable or not possible, and why.
    NotTried(String),
}

impl Across {
    /// Hand-overs and violations of all pairs.
    pub fn counted(&self) -> (u64, u64) {
        match self {
            Across::Tried(pairs) => pairs
                .iter()
                .fold((0, 0), |sum, pair| (sum.0 + pair.handovers, sum.1 + pair.violations)),
            Across::NotTried(_) => (0, 0),
        }
    }

    /// The worst violation in ticks; 0 without violations.
    pub fn worst_ticks(&self) -> u64 {
        match self {
            Across::Tried(pairs) => pairs.iter().map(|pair| pair.worst_ticks).max().unwrap_or(0),
            Across::NotTried(_) => 0,
        }
    }
}

/// Tries a clock between the first of these CPUs and each of the others, within a total time.
pub fn across(clock: &Clock, cpus: &[usize], time: Duration) -> Across {
    match clock.counts {
        CountsWhen::WhileThreadRuns => {
            return Across::NotTried(
                "every thread has one of its own, so two threads have nothing to compare".into(),
            );
        }
        CountsWhen::WhileProcessRuns => {
            return Across::NotTried(
                "it counts the time of all threads together, so that two threads change what they \
                 compare"
                    .into(),
            );
        }
        CountsWhen::WhileCoreRuns => {
            return Across::NotTried(
                "every core has one of its own, which begins at another number".into(),
            );
        }
        CountsWhen::Always => {}
    }
    let [home, other_cpus @ ..] = cpus else { return Across::NotTried("no CPU was named".into()) };
    if other_cpus.is_empty() {
        return Across::NotTried(format!("this process may use one CPU only, number {home}"));
    }
    let each = time / other_cpus.len() as u32;
    let pairs: Result<Vec<HandOver>, String> =
        other_cpus.iter().map(|other| hand_over(clock, (*home, *other), each)).collect();
    pairs.map_or_else(Across::NotTried, Across::Tried)
}

/// The shared line: whose turn it is, and the last reading.
#[repr(align(128))]
struct Line {
    turn: AtomicU32,
    reading: AtomicU64,
    end: AtomicBool,
}

/// Turns between two checks of the time.
const SPINS: u32 = 4_096;

fn hand_over(clock: &Clock, cpus: (usize, usize), time: Duration) -> Result<HandOver, String> {
    let line =
        Line { turn: AtomicU32::new(0), reading: AtomicU64::new(0), end: AtomicBool::new(false) };
    let ready = Barrier::new(2);
    let side = |me: u32, cpu: usize| {
        let pinned = pin(cpu).map_err(|reason| format!("cannot run on CPU {cpu}: {reason}"));
        // A clock must be enabled in the thread that reads it.
        let able =
            pinned.and_then(|()| clock.ready().map_err(|error| format!("on CPU {cpu}: {error}")));
        ready.wait();
        if able.is_err() {
            line.end.store(true, Ordering::Release);
        }
        able.map(|()| {
            if me == 0 {
                line.reading.store((clock.read)(), Ordering::Release);
            }
            take_turns(clock, &line, me, time)
        })
    };
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| side(1, cpus.1));
        let first = scope.spawn(|| side(0, cpus.0));
        (first.join(), second.join())
    });
    let failed = |_| "a thread ended early".to_owned();
    let (first, second) = (first.map_err(failed)??, second.map_err(failed)??);
    if first.count.min(second.count) == 0 {
        return Err(format!("CPU {} or {} was too busy for a single hand-over", cpus.0, cpus.1));
    }
    Ok(HandOver {
        cpus,
        handovers: first.count + second.count,
        violations: first.violations + second.violations,
        worst_ticks: first.least_step.min(second.least_step).min(0).unsigned_abs(),
        least_ticks: (second.least_step, first.least_step),
    })
}

/// The observations of one side.
#[derive(Debug, Clone, Copy)]
struct Side {
    count: u64,
    violations: u64,
    least_step: i64,
}

impl Side {
    fn see(&mut self, step: i64) {
        self.count += 1;
        self.violations += u64::from(step < 0);
        self.least_step = self.least_step.min(step);
    }
}

fn take_turns(clock: &Clock, line: &Line, me: u32, time: Duration) -> Side {
    let (begin, mut side) =
        (Instant::now(), Side { count: 0, violations: 0, least_step: i64::MAX });
    loop {
        let mut spins = 0;
        while line.turn.load(Ordering::Acquire) != me {
            spins += 1;
            if line.end.load(Ordering::Acquire) || spins % SPINS == 0 && begin.elapsed() > time {
                line.end.store(true, Ordering::Release);
                return side;
            }
            std::hint::spin_loop();
        }
        let seen_reading = line.reading.load(Ordering::Acquire);
        let now = (clock.read)();
        side.see(clock.width.signed(seen_reading, now));
        line.reading.store(now, Ordering::Release);
        line.turn.store(1 - me, Ordering::Release);
        if side.count % 64 == 0 && begin.elapsed() > time {
            line.end.store(true, Ordering::Release);
            return side;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::{catalogue, fake};

    #[test]
    fn a_lower_reading_is_a_violation_even_after_a_wrap() {
        let mut side = Side { count: 0, violations: 0, least_step: i64::MAX };
        let width = hairspring_host::clock::Width::bits(16);
        [(10, 20), (0xfff0, 0x10), (500, 470)]
            .into_iter()
            .for_each(|(seen, now)| side.see(width.signed(seen, now)));
        assert_eq!((side.count, side.violations, side.least_step), (3, 1, -30));
    }

    #[test]
    fn an_offset_is_half_the_difference_of_the_two_directions() {
        let pair = HandOver {
            cpus: (0, 1),
            handovers: 9,
            violations: 0,
            worst_ticks: 0,
            least_ticks: (150, 50),
        };
        assert_eq!(pair.offset_ticks(26), (50.0, 100.0));
        // A clock that did not step in any hand-over may be off by a step.
        assert_eq!(HandOver { least_ticks: (0, 0), ..pair }.offset_ticks(1), (0.0, 1.0));
    }

    #[test]
    fn clocks_of_a_thread_are_not_compared_and_the_reason_is_given() {
        for (clock, _) in
            catalogue().into_iter().filter(|(clock, _)| clock.counts != CountsWhen::Always)
        {
            let Across::NotTried(reason) = across(&clock, &[0, 1], Duration::from_millis(1)) else {
                panic!("{}", clock.name)
            };
            assert!(reason.contains("thread"), "{reason}");
        }
    }

    #[test]
    fn a_process_with_one_cpu_is_reported() {
        let Across::NotTried(reason) = across(&fake::clock(64), &[3], Duration::from_millis(1))
        else {
            panic!("tried")
        };
        assert!(reason.contains("one CPU only, number 3"), "{reason}");
    }

    #[test]
    fn a_missing_cpu_is_named() {
        let reason =
            hand_over(&fake::clock(64), (0, 100_000), Duration::from_millis(5)).unwrap_err();
        assert!(reason.contains("100000"), "{reason}");
    }

    #[test]
    fn clocks_are_enabled_in_their_threads_and_a_refusal_is_reported() {
        let cpus = hairspring_host::thread::allowed_cpus();
        let same = (cpus[0], cpus[0]);
        // Settings belong to the thread that made them: in the new threads enabling alone starts
        // this clock.
        let asleep = Clock { enable: Some(wake), ..Clock::new("asleep", "", asleep_read) };
        assert!(
            hand_over(&asleep, same, Duration::from_millis(200))
                .is_ok_and(|found| found.violations == 0 && found.handovers > 0)
        );
        let refused = Clock { enable: Some(|| Err("not in this thread".into())), ..asleep };
        let reason = hand_over(&refused, same, Duration::from_millis(5)).unwrap_err();
        assert!(reason.contains("not in this thread") && reason.contains("`asleep`"), "{reason}");
    }

    thread_local! {
        static IS_AWAKE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    }

    fn wake() -> Result<(), String> {
        IS_AWAKE.set(true);
        Ok(())
    }

    /// A clock that counts on, but reads 0 in a thread that has not enabled it.
    extern "C" fn asleep_read() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let next = NEXT.fetch_add(1, Ordering::AcqRel);
        if IS_AWAKE.get() { next } else { 0 }
    }

    /// A clock whose readings decrease by one from each reader to the next.
    extern "C" fn falling() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(u64::MAX / 4);
        NEXT.fetch_sub(1, Ordering::AcqRel)
    }

    #[test]
    fn a_falling_clock_is_detected_with_two_cpus() {
        let clock = Clock::new("falling", "", falling);
        match across(&clock, &hairspring_host::thread::allowed_cpus(), Duration::from_millis(20)) {
            Across::Tried(pairs) => {
                let (handovers, violations) = Across::Tried(pairs.clone()).counted();
                assert!(
                    handovers > 0 && violations == handovers && pairs[0].worst_ticks == 1,
                    "{pairs:?}"
                );
            }
            Across::NotTried(reason) => {
                assert!(reason.contains("one CPU") || reason.contains("too busy"), "{reason}")
            }
        }
    }
}
