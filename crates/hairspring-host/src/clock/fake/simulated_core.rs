//! A simulated core for the fake clock, with the noise of real machines: what intervals have to
//! hold on.
//!
//! The core clock stays at a level for some milliseconds. A co-runner on the core's other hardware
//! thread comes and goes, works in phases, and stalls for less than a microsecond at a time; while
//! it is active, an ordered read of the clock takes longer, and so does work, by a share that
//! depends on its kind. Interrupts take the core away. The sizes are those of a virtual machine
//! with a counter of 2.1 GHz, whose core clock is a multiple of 100 MHz.

use fastrand::Rng;

/// How a simulated core behaves. Times are in milliseconds of the counter, or in core cycles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedCore {
    /// Ticks of the counter per nanosecond.
    pub tick_ghz: f64,
    /// Readings are multiples of this, in ticks.
    pub quantum: u64,
    /// Standard deviation of the moment at which a read takes its value, in ticks.
    pub jitter: f64,
    /// Levels of the core clock.
    pub core_ghz: &'static [f64],
    /// Mean time at a level.
    pub stay_ms: f64,
    /// The co-runner on the other hardware thread.
    pub co_runner: CoRunner,
    /// Interruptions of the core.
    pub interrupts: Interrupts,
}

/// Another program on the core's other hardware thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoRunner {
    /// Share of the time in which it is there.
    pub present: f64,
    /// Mean length of an episode, with or without it.
    pub episode_ms: f64,
    /// Mean length of its stalls, in core cycles.
    pub idle: f64,
    /// Mean length of its activity between two stalls, in core cycles.
    pub busy: f64,
    /// Core cycles that half a read of the clock takes more while it is active.
    pub slower_read: f64,
    /// Factor on the share by which it lengthens work: its typical phase, and the spread of the
    /// phases as a standard deviation of the logarithm.
    pub strength: (f64, f64),
}

/// Interruptions of the core, at random moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interrupts {
    /// Mean time between two of them; infinite for none.
    pub every_ms: f64,
    /// Least length.
    pub least_ms: f64,
    /// Mean length beyond that.
    pub length_ms: f64,
}

const NO_CO_RUNNER: CoRunner = CoRunner {
    present: 0.0,
    episode_ms: 40.0,
    idle: 600.0,
    busy: 2_000.0,
    slower_read: 11.0,
    strength: (1.0, 0.0),
};
const NO_INTERRUPTS: Interrupts =
    Interrupts { every_ms: f64::INFINITY, least_ms: 0.0, length_ms: 0.0 };

impl SimulatedCore {
    /// One level of the core clock, and nobody else.
    pub const CALM: SimulatedCore = SimulatedCore {
        tick_ghz: 2.1,
        quantum: 2,
        jitter: 0.8,
        core_ghz: &[2.5],
        stay_ms: f64::INFINITY,
        co_runner: NO_CO_RUNNER,
        interrupts: NO_INTERRUPTS,
    };
    /// The core clock steps, but not by much.
    pub const LEVELS: SimulatedCore =
        SimulatedCore { core_ghz: &[2.5, 2.6], stay_ms: 30.0, ..Self::CALM };
    /// The core clock steps often and far.
    pub const FAR_LEVELS: SimulatedCore =
        SimulatedCore { core_ghz: &[2.8, 3.3, 4.0], stay_ms: 8.0, ..Self::CALM };
    /// A co-runner that is there for some milliseconds at a time, a twentieth of the time.
    pub const BURSTS: SimulatedCore = SimulatedCore {
        co_runner: CoRunner { present: 0.05, episode_ms: 4.0, ..NO_CO_RUNNER },
        ..Self::CALM
    };
    /// A co-runner that is always there, and stalls.
    pub const STALLS: SimulatedCore = SimulatedCore {
        co_runner: CoRunner { present: 1.0, strength: (0.6, 1.0), ..NO_CO_RUNNER },
        ..Self::LEVELS
    };
    /// A co-runner in more than half of the time.
    pub const EPISODES: SimulatedCore = SimulatedCore {
        co_runner: CoRunner { present: 0.6, ..Self::STALLS.co_runner },
        ..Self::LEVELS
    };
    /// A co-runner in half of the time, which works in phases that lengthen work much.
    pub const LONG_EPISODES: SimulatedCore = SimulatedCore {
        co_runner: CoRunner { present: 0.5, strength: (3.0, 0.5), ..NO_CO_RUNNER },
        ..Self::LEVELS
    };
    /// A co-runner that is always there, in even phases without any that lengthens work much.
    pub const THIN: SimulatedCore = SimulatedCore {
        co_runner: CoRunner {
            present: 1.0,
            idle: 500.0,
            busy: 2_500.0,
            strength: (1.0, 0.3),
            ..NO_CO_RUNNER
        },
        ..Self::LEVELS
    };
    /// A co-runner that reads of the clock do not show.
    pub const UNSEEN: SimulatedCore = SimulatedCore {
        co_runner: CoRunner { slower_read: 0.0, ..Self::STALLS.co_runner },
        ..Self::LEVELS
    };
    /// A co-runner that never stalls.
    pub const NEVER_QUIET: SimulatedCore = SimulatedCore {
        co_runner: CoRunner { present: 1.0, idle: 1.0, busy: 1e9, ..NO_CO_RUNNER },
        ..Self::LEVELS
    };
    /// An interrupt every 50 us, of 1 us in the mean.
    pub const INTERRUPTS: SimulatedCore = SimulatedCore {
        interrupts: Interrupts { every_ms: 0.05, least_ms: 0.0, length_ms: 0.001 },
        ..Self::CALM
    };
    /// Pauses that a hypervisor makes: every 60 us, of 3 us in the mean and 1.5 us at least.
    pub const PAUSES: SimulatedCore = SimulatedCore {
        interrupts: Interrupts { every_ms: 0.06, least_ms: 0.0015, length_ms: 0.0015 },
        ..Self::CALM
    };
    /// An ordered read whose counter steps by 26 ticks: guards are one or two steps long, whoever
    /// else uses the core.
    pub const COARSE_READ: SimulatedCore = SimulatedCore {
        tick_ghz: 2.6,
        quantum: 26,
        core_ghz: &[3.4],
        stay_ms: f64::INFINITY,
        ..Self::CALM
    };

    /// A calm core with a clock in nanoseconds that steps by this many.
    pub const fn coarse(quantum_ns: u64) -> SimulatedCore {
        SimulatedCore { tick_ghz: 1.0, quantum: quantum_ns, ..Self::CALM }
    }

    /// The same core with the co-runner of another one.
    #[must_use]
    pub const fn beside(self, other: SimulatedCore) -> SimulatedCore {
        SimulatedCore { co_runner: other.co_runner, ..self }
    }

    /// Mean over time of the ticks that a core cycle takes.
    pub fn ticks_per_cycle(&self) -> f64 {
        self.tick_ghz * self.core_ghz.iter().map(|ghz| 1.0 / ghz).sum::<f64>()
            / self.core_ghz.len() as f64
    }
}

/// Core cycles from the begin of a read to the moment at which it takes its value, and from there
/// to its end.
const HALF_READ: f64 = 38.0;
/// Standard deviation of what an active co-runner adds to half a read, as a share of its mean.
const SPREAD_OF_READS: f64 = 0.36;
/// Mean length of the phases of a co-runner.
const PHASE_MS: f64 = 1.0;
/// Standard deviation of the logarithms of the mean stall and the mean activity of a phase.
const STALLS_OF_PHASES: f64 = 0.5;
/// Most that a co-runner lengthens work.
const MOST_SLOWED: f64 = 0.8;
/// Share of work that takes longer for another reason, and the mean of that in core cycles.
const SPIKES: (f64, f64) = (0.004, 150.0);
/// Ticks of the counter at the start.
const START: f64 = 1e6;

/// A phase of the co-runner's program.
#[derive(Debug, Clone, Copy)]
struct Phase {
    idle: f64,
    busy: f64,
    strength: f64,
    until: f64,
}

/// A simulated core at some time.
#[derive(Debug)]
pub(super) struct Simulation {
    core: SimulatedCore,
    random: Rng,
    now: f64,
    /// Ticks per core cycle, and the time at which that changes.
    rate: (f64, f64),
    /// Whether the co-runner is there, and the time at which that changes.
    present: (bool, f64),
    phase: Phase,
    /// Whether it is active, and for how many more core cycles.
    active: (bool, f64),
    interrupt: f64,
}

impl Simulation {
    pub fn new(core: SimulatedCore, seed: u64) -> Simulation {
        let phase = Phase {
            idle: core.co_runner.idle,
            busy: core.co_runner.busy,
            strength: 1.0,
            until: 0.0,
        };
        let random = Rng::with_seed(seed);
        let mut new = Simulation {
            core,
            random,
            now: START,
            rate: (1.0, 0.0),
            present: (false, 0.0),
            phase,
            active: (false, 0.0),
            interrupt: 0.0,
        };
        new.interrupt = START + new.lasting(core.interrupts.every_ms);
        new.catch_up();
        new
    }

    /// Reads the clock.
    pub fn read(&mut self) -> u64 {
        self.catch_up();
        self.half_read();
        let at = self.now + self.core.jitter * self.normal();
        self.half_read();
        let quantum = self.core.quantum as f64;
        ((at / quantum).floor() * quantum) as u64
    }

    /// Does work of this many core cycles. An active co-runner lengthens it by the share `slower`.
    pub fn execute(&mut self, cycles: f64, slower: f64) {
        self.catch_up();
        let met = self.pass(cycles);
        let mean = met * (slower * self.phase.strength).min(MOST_SLOWED);
        let longer = if mean > 0.0 { (mean + mean.sqrt() * self.normal()).max(0.0) } else { 0.0 };
        let spike = if self.random.f64() < SPIKES.0 { self.exponential(SPIKES.1) } else { 0.0 };
        self.advance((cycles + longer + spike) * self.rate.0);
    }

    /// Lets time pass.
    pub fn wait(&mut self, ticks: f64) {
        self.advance(ticks);
        self.catch_up();
        self.redraw();
    }

    fn advance(&mut self, ticks: f64) {
        self.now += ticks;
        while self.now >= self.interrupt {
            self.now += self.core.interrupts.least_ms * 1e6 * self.core.tick_ghz
                + self.lasting(self.core.interrupts.length_ms);
            self.interrupt += self.lasting(self.core.interrupts.every_ms);
        }
    }

    fn half_read(&mut self) {
        let met = self.pass(HALF_READ);
        let slower = if met > HALF_READ / 2.0 {
            self.core.co_runner.slower_read * (1.0 + SPREAD_OF_READS * self.normal())
        } else {
            0.0
        };
        let cycles = HALF_READ + slower.max(0.0) + self.normal().abs();
        self.advance(cycles * self.rate.0);
    }

    /// Brings the level of the clock and the co-runner up to the present.
    fn catch_up(&mut self) {
        if self.now >= self.rate.1 {
            let level = self.random.usize(..self.core.core_ghz.len());
            self.rate = (
                self.core.tick_ghz / self.core.core_ghz[level],
                self.now + self.lasting(self.core.stay_ms),
            );
        }
        let co_runner = self.core.co_runner;
        if co_runner.present == 0.0 {
            return;
        }
        if self.now >= self.present.1 {
            self.present = (
                self.random.f64() < co_runner.present,
                self.now + self.lasting(co_runner.episode_ms),
            );
            self.redraw();
        }
        if self.now >= self.phase.until {
            let (idle, busy) =
                (self.log_normal(STALLS_OF_PHASES), self.log_normal(STALLS_OF_PHASES));
            let strength = co_runner.strength.0 * self.log_normal(co_runner.strength.1);
            let until = self.now + self.lasting(PHASE_MS);
            self.phase =
                Phase { idle: idle * co_runner.idle, busy: busy * co_runner.busy, strength, until };
        }
    }

    /// Draws anew whether the co-runner is active: after a long time that does not depend on what
    /// it was before.
    fn redraw(&mut self) {
        let Phase { idle, busy, .. } = self.phase;
        let active = self.present.0 && self.random.f64() < busy / (idle + busy);
        self.begin(active);
    }

    fn begin(&mut self, active: bool) {
        let mean = if active { self.phase.busy } else { self.phase.idle };
        self.active = (active, self.exponential(mean));
    }

    /// Core cycles of the next ones in which the co-runner is active.
    fn pass(&mut self, mut cycles: f64) -> f64 {
        if !self.present.0 {
            return 0.0;
        }
        let mut met = 0.0;
        while cycles > 0.0 {
            let part = cycles.min(self.active.1);
            met += if self.active.0 { part } else { 0.0 };
            cycles -= part;
            self.active.1 -= part;
            if self.active.1 <= 0.0 {
                self.begin(!self.active.0);
            }
        }
        met
    }

    /// A random duration of this mean, in ticks.
    fn lasting(&mut self, mean_ms: f64) -> f64 {
        if mean_ms.is_finite() {
            self.exponential(mean_ms * 1e6 * self.core.tick_ghz)
        } else {
            f64::INFINITY
        }
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.random.f64()).ln()
    }

    fn log_normal(&mut self, sd: f64) -> f64 {
        if sd > 0.0 { (sd * self.normal()).exp() } else { 1.0 }
    }

    /// Nearly normal, of standard deviation 1: the sum of four even numbers.
    fn normal(&mut self) -> f64 {
        const EVEN_STEPS: f64 = 65_536.0;
        let bits = self.random.u64(..);
        let sum: u64 = (0..4).map(|at| bits >> (16 * at) & 0xffff).sum();
        ((sum as f64 + 2.0) / EVEN_STEPS - 2.0) * 3f64.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation.
    fn moments(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (
            mean,
            (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64)
                .sqrt(),
        )
    }

    /// Times of reads with nothing between them, in core cycles.
    fn guards(core: SimulatedCore) -> Vec<f64> {
        let mut simulation = Simulation::new(core, 1);
        let time_of_read = |_| {
            simulation.wait(3_000.0);
            let before = simulation.read();
            (simulation.read() - before) as f64 / simulation.rate.0
        };
        (0..20_000).map(time_of_read).collect()
    }

    #[test]
    fn reads_take_longer_beside_an_active_co_runner() {
        let share =
            |core| guards(core).iter().filter(|guard| **guard > 88.0).count() as f64 / 20_000.0;
        assert!(share(SimulatedCore::CALM) < 0.01, "{}", share(SimulatedCore::CALM));
        assert!(share(SimulatedCore::NEVER_QUIET) > 0.9, "{}", share(SimulatedCore::NEVER_QUIET));
        assert!(
            (0.5..0.9).contains(&share(SimulatedCore::STALLS)),
            "{}",
            share(SimulatedCore::STALLS)
        );
    }

    #[test]
    fn work_takes_its_cycles_on_a_calm_core_and_more_beside_a_co_runner() {
        let per_cycle = |core: SimulatedCore| {
            let mut simulation = Simulation::new(core, 2);
            let mut time_of_work = |_| {
                simulation.wait(3_000.0);
                let before = simulation.now;
                simulation.execute(500.0, 0.03);
                (simulation.now - before) / simulation.rate.0 / 500.0
            };
            let mut all: Vec<f64> = (0..20_001).map(&mut time_of_work).collect();
            *all.select_nth_unstable_by(10_000, f64::total_cmp).1
        };
        assert!((per_cycle(SimulatedCore::CALM) - 1.0).abs() < 1e-9);
        assert!(per_cycle(SimulatedCore::THIN) > 1.005);
    }

    #[test]
    fn readings_are_multiples_of_the_quantum_and_keep_the_mean() {
        for core in [SimulatedCore::CALM, SimulatedCore::COARSE_READ, SimulatedCore::coarse(1_000)]
        {
            let (mean, _) = moments(&guards(core));
            // Half a read before and after, each longer by the mean of a normal number's size.
            let expected = 2.0 * (HALF_READ + 0.8);
            assert!((mean - expected).abs() < 0.1 * expected, "{mean} {expected}");
            let mut simulation = Simulation::new(core, 3);
            assert!((0..100).all(|_| simulation.read() % core.quantum == 0));
        }
    }

    #[test]
    fn core_clock_stays_at_its_levels() {
        let mut simulation = Simulation::new(SimulatedCore::FAR_LEVELS, 4);
        let mut steps = 0;
        let mut seen_rates = Vec::new();
        for _ in 0..100_000 {
            let before = simulation.rate.0;
            simulation.wait(2_100.0);
            steps += u32::from(simulation.rate.0 != before);
            seen_rates.push(simulation.rate.0);
        }
        // 100 ms in stays of 8 ms, a third of which step to the same level.
        assert!((3..20).contains(&steps), "{steps}");
        assert!(
            seen_rates.iter().all(|rate| SimulatedCore::FAR_LEVELS
                .core_ghz
                .iter()
                .any(|ghz| 2.1 / ghz == *rate))
        );
    }

    #[test]
    fn interrupts_take_their_share_of_the_time() {
        let mut simulation = Simulation::new(SimulatedCore::INTERRUPTS, 5);
        let mut worked = 0.0;
        for _ in 0..50_000 {
            simulation.wait(2_100.0);
            worked += 2_100.0;
        }
        let taken = (simulation.now - START) / worked - 1.0;
        assert!((0.015..0.025).contains(&taken), "{taken}");
    }
}
