//! Measurements on a simulated core, through the rounds of the measuring loop: code, the same code
//! again as its alternative, the reference chain, and two control chains.

use super::tally::{Found, LEVEL};
use fastrand::Rng;
use hairspring_core::judge::{Question, assess};
use hairspring_core::observations::{ClockSpread, Flags, Observations, Occupancy, Rate};
use hairspring_host::clock::fake::{self, SimulatedCore};
use hairspring_measure::Table;
use hairspring_measure::rounds::{Dither, Raw, Rig, Rounds};
use std::time::Duration;

/// What is measured, and where.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// The core.
    pub core: SimulatedCore,
    /// Number of rounds.
    pub rounds: u32,
    /// Core cycles of a copy of the code, beside slow evaluations.
    pub body: f64,
    /// Factor on the copies of all rows, for coarse clocks.
    pub longer: f64,
    /// Share by which an active co-runner lengthens the code ...
    pub slower: f64,
    /// ... and the chains, as a share of that.
    pub of_chains: f64,
    /// Core cycles that two rows of the code take more than their copies, as if their front end
    /// stalled once.
    pub offset: f64,
    /// Standard deviation by which every row of the code is off its copies, as a share of them, as
    /// if branches of each row were predicted in a way of its own.
    pub uneven: f64,
    /// Placements, and the factor on the code in each, whose mean is 1.
    pub placements: (u32, fn(&mut Rng) -> f64),
    /// Evaluations of the code among which one is slow, in the mean and at random, and the core
    /// cycles that it takes more.
    pub slow: (f64, f64),
    /// Whether the copies are known to fill units of the core.
    pub fills: bool,
    /// How the core clock moved in earlier runs on this core, if there were some.
    pub earlier: Option<ClockSpread>,
}

impl Plan {
    /// A short measurement on a core.
    pub const fn on(core: SimulatedCore) -> Plan {
        Plan {
            core,
            rounds: 768,
            body: 1.0,
            longer: 1.0,
            slower: 0.03,
            of_chains: 1.0,
            offset: 0.0,
            uneven: 0.0,
            placements: (1, |random| normal(random, 0.0)),
            slow: (f64::INFINITY, 0.0),
            fills: false,
            earlier: None,
        }
    }

    /// The same on a core on which 20 runs were made before: no short run shows levels that it does
    /// not meet.
    pub fn after_others(self) -> Plan {
        let clock = |seed| {
            let assessment = assess(&self.table(seed), &Question::default()).ok()?;
            let time = &assessment.series.first()?.components.first()?.time;
            Some(time.cycles.as_ref()?.value / time.ns.as_ref()?.value)
        };
        let clocks: Vec<f64> = (10_000..10_020).filter_map(clock).collect();
        let mean = clocks.iter().sum::<f64>() / clocks.len() as f64;
        let squares: f64 = clocks.iter().map(|clock| (clock / mean - 1.0).powi(2)).sum();
        let earlier = ClockSpread {
            sd: (squares / (clocks.len() as f64 - 1.0)).sqrt(),
            runs: clocks.len() as u32,
        };
        Plan { earlier: Some(earlier), ..self }
    }

    /// Core cycles of a copy of the code in the mean.
    fn truth(&self) -> f64 {
        self.body + self.slow.1 / self.slow.0
    }
}

/// Rounds of a measurement that goes on because of a co-runner.
pub const LONG_ROUNDS: u32 = 2_400;

/// Copies of the code.
const CODE: &[u32] = &[64, 128, 192, 256, 384, 512];
/// Name, core cycles of a copy, copies, and by how much a co-runner lengthens it, as a share of the
/// chains.
const CHAINS: [(&str, f64, &[u32], f64); 3] = [
    ("reference", 3.0, &[32, 64, 128, 256, 384, 512], 0.1),
    ("control simple", 1.0, &[64, 192, 384, 512], 1.0),
    ("control load", 4.0, &[64, 128, 256], 1.0),
];
/// Longest wait between two readings, in microseconds, and in quanta of the clock.
const LONGEST_WAIT: (f64, f64) = (3.0, 3.0);

/// A row: its core cycles, and the share by which an active co-runner lengthens it.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    pub cycles: f64,
    pub slower: f64,
}

/// Rows that run on the simulated core.
pub struct SimulatedRows {
    pub rows: Vec<Work>,
    /// As [`Plan::slow`], for so many of the first rows.
    slow: ((f64, f64), usize),
    random: Rng,
    longest_wait: f64,
    is_warm_up: bool,
}

impl SimulatedRows {
    pub fn new(rows: Vec<Work>, core: &SimulatedCore, seed: u64) -> SimulatedRows {
        let longest_wait =
            (LONGEST_WAIT.0 * 1e3 * core.tick_ghz).max(LONGEST_WAIT.1 * core.quantum as f64);
        SimulatedRows {
            rows,
            slow: ((f64::INFINITY, 0.0), 0),
            random: Rng::with_seed(seed),
            longest_wait,
            is_warm_up: false,
        }
    }

    /// Core cycles that slow evaluations add to a row.
    fn slow_cycles(&mut self, row: usize) -> f64 {
        let ((every, cycles), rows) = self.slow;
        let copies = if row < rows && every.is_finite() { self.rows[row].cycles } else { 0.0 };
        let (mut at, mut sum) = (0.0, 0.0);
        while at < copies {
            at -= every * (1.0 - self.random.f64()).ln();
            sum += if at < copies { cycles } else { 0.0 };
        }
        sum
    }
}

impl Rig for SimulatedRows {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn run(&mut self, row: usize) -> u64 {
        // The loop runs every row twice: the first time is not used.
        self.is_warm_up = !self.is_warm_up;
        if self.is_warm_up {
            fake::wait(self.longest_wait * self.random.f64());
            return 0;
        }
        let further = self.slow_cycles(row);
        let start = fake::read();
        fake::execute(self.rows[row].cycles + further, self.rows[row].slower);
        fake::read().wrapping_sub(start)
    }
}

/// Runs rounds and adds them to a table. Switches of this thread are those of the test, not of the
/// simulation.
pub fn run_rounds(rounds: &mut Rounds, rows: &mut SimulatedRows, count: u32, table: &mut Table) {
    for _ in 0..count {
        let without_switches = |raw: Raw| Raw { flags: raw.flags.without(Flags::SWITCHED), ..raw };
        let readings: Vec<Raw> = rounds.round(rows).into_iter().map(without_switches).collect();
        table.push(&readings);
    }
}

/// The rounds of a simulated core, with guards.
pub fn rounds_of(core: &SimulatedCore, rows: usize, seed: u64) -> Rounds {
    Rounds::new(rows, seed, Dither::none(), core.quantum).with_guards(fake::read)
}

pub fn rate_of(core: &SimulatedCore) -> Rate {
    Rate { hz: core.tick_ghz * 1e9, uncertainty_ppm: 0.0, provenance: "simulated".into() }
}

impl Plan {
    /// The observations of a run.
    pub fn table(&self, seed: u64) -> Observations {
        fake::simulate(self.core, seed);
        let mut table = Table::new(vec!["body".into()]);
        table.set_clock("simulated", self.core.quantum);
        let (mut work, mut off) = (Vec::new(), [true, true, false, false, false, false]);
        for (name, cycles, copies, slower) in self.series() {
            for copies in copies.iter().map(|copies| f64::from(*copies) * self.longer) {
                table.add_row(name, &[copies]);
                work.push(Work { cycles: copies * cycles, slower });
            }
        }
        let origin = &mut table.observations_mut().origin;
        origin.clock_spread = self.earlier;
        if self.fills {
            origin.occupancy =
                ["code", "again"].map(|name| (name.to_owned(), Occupancy::Fills)).into();
        }
        origin.reference = Some((CHAINS[0].0.into(), CHAINS[0].1));
        origin.controls = CHAINS[1..].iter().map(|chain| (chain.0.into(), chain.1)).collect();
        let mut rows = SimulatedRows {
            slow: (self.slow, 2 * CODE.len()),
            ..SimulatedRows::new(work, &self.core, seed)
        };
        let mut rounds = rounds_of(&self.core, rows.rows.len(), seed);
        rows.random.shuffle(&mut off);
        off.into_iter()
            .zip(&mut rows.rows)
            .for_each(|(is_off, row)| row.cycles += if is_off { self.offset } else { 0.0 });
        if self.uneven > 0.0 {
            let SimulatedRows { rows, random, .. } = &mut rows;
            rows[..CODE.len()].iter_mut().for_each(|row| row.cycles *= normal(random, self.uneven));
        }
        let still = rows.rows.clone();
        for placement in 0..self.placements.0 {
            if placement > 0 {
                table.begin_placement();
            }
            let factor = self.placements.1(&mut rows.random);
            rows.rows[..CODE.len()]
                .iter_mut()
                .zip(&still)
                .for_each(|(row, still)| row.cycles = factor * still.cycles);
            run_rounds(&mut rounds, &mut rows, self.rounds / self.placements.0, &mut table);
        }
        // The time of the caller does not move, so that the clock is watched for as many reads as
        // it may be.
        rounds.watch(Duration::from_millis(2), &|| Duration::ZERO);
        table.add_pauses(rounds.take_pauses());
        table.finished(rate_of(&self.core))
    }

    fn series(&self) -> impl Iterator<Item = (&'static str, f64, &'static [u32], f64)> + '_ {
        let code = ["code", "again"].map(|name| (name, self.body, CODE, self.slower));
        code.into_iter().chain(CHAINS.map(|(name, cycles, copies, share)| {
            (name, cycles, copies, share * self.of_chains * self.slower)
        }))
    }

    /// The intervals of a run: core cycles, nanoseconds, and the ratio of the two alternatives.
    pub fn run(&self, seed: u64) -> Vec<Found> {
        let table = self.table(seed);
        let truth = self.truth();
        let none = |estimator| Found { estimator, truth, estimate: None, is_trusted: false };
        let Ok(assessment) = assess(&table, &Question::default()) else {
            return ["cycles", "nanoseconds", "ratio"].map(none).into();
        };
        let (code, again) = (&assessment.series[0], &assessment.series[1]);
        let time = &code.components[0].time;
        let ns = truth * self.core.ticks_per_cycle() / self.core.tick_ghz;
        let of = |estimator, truth, estimate, is_trusted| Found {
            estimator,
            truth,
            estimate,
            is_trusted,
        };
        let are_both_trusted = code.is_trusted() && again.is_trusted();
        let mut results = vec![
            of(
                "cycles",
                truth,
                time.cycles.as_ref().map(|cycles| cycles.estimate(LEVEL)),
                code.is_trusted(),
            ),
            of("nanoseconds", ns, time.ns.as_ref().map(|ns| ns.estimate(LEVEL)), code.is_trusted()),
        ];
        if self.placements.0 == 1 && self.offset == 0.0 && self.uneven == 0.0 {
            results.push(of(
                "ratio",
                1.0,
                assessment.comparisons.first().map(|comparison| comparison.ratio),
                are_both_trusted,
            ));
        }
        results
    }
}

/// A factor with this standard deviation.
pub fn normal(random: &mut Rng, sd: f64) -> f64 {
    1.0 + sd * gaussian(random)
}

/// One time in most placements, and up to 15 % less in three of ten, as `snprintf` has it on a
/// Zen 5.
pub fn skewed(random: &mut Rng) -> f64 {
    let (is_shorter, share) = (random.f64() < 0.3, random.f64());
    1.0 + 0.15 * (0.3 * 0.5 - if is_shorter { share } else { 0.0 })
}

/// Nearly normal: a sum of 12 even numbers.
pub fn gaussian(random: &mut Rng) -> f64 {
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}
