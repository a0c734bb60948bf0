//! A simulated shared core, for tests. The core clock has levels. A co-runner comes and goes,
//! stalls, and lengthens each chain by a different amount; while it is active, a read of the clock
//! takes longer.

use crate::observations::{Flags, Observations};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A core, its co-runner, and the clock.
#[derive(Clone, Copy)]
pub struct Core {
    /// Share of the time in which the co-runner is present, in episodes of 40 ms.
    pub present: f64,
    /// Mean lengths of its stalls and of its activity, in cycles.
    pub stalls: (f64, f64),
    /// Cycles by which one cycle of a chain is lengthened while the co-runner is active.
    pub slower: f64,
    /// By how much of that the reference and the control chain are lengthened.
    pub of_chains: f64,
    /// Quantum of the clock in ticks.
    pub quantum: f64,
    /// Standard deviation of the core clock from one reading to the next, as a share of it.
    pub jitter: f64,
}

/// The time of a reading that takes this many ticks without pauses of the CPU, on one that pauses
/// once in `apart` ticks in the mean, for half of a length to one and a half.
pub fn with_pauses(run: f64, apart: f64, length: f64, random: &mut Pcg64Mcg) -> f64 {
    let (mut ticks, mut next) = (run, -apart * random.random::<f64>().ln());
    while next < run {
        ticks += length * (0.5 + random.random::<f64>());
        next -= apart * random.random::<f64>().ln();
    }
    ticks
}

pub const CALM: Core = Core {
    present: 0.0,
    stalls: (500.0, 2_000.0),
    slower: 0.0,
    of_chains: 1.0,
    quantum: 2.0,
    jitter: 0.0,
};
pub const STALLS: Core = Core { present: 1.0, stalls: (600.0, 2_000.0), slower: 0.03, ..CALM };

const ROUNDS: u32 = 3_000;
const ROUND_MS: f64 = 0.06;
const LEVELS: [f64; 2] = [21.0 / 25.0, 21.0 / 26.0];

/// Exponential with this mean.
fn exponential(random: &mut Pcg64Mcg, mean: f64) -> f64 {
    -mean * (1.0 - random.random::<f64>()).ln()
}

/// Nearly normal, with a standard deviation of 1.
pub fn normal(random: &mut Pcg64Mcg) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// A quantity that steps between two states, each of which lasts for a random time in milliseconds.
struct Steps {
    state: bool,
    until: f64,
    mean_ms: f64,
    share: f64,
}

impl Steps {
    fn at(&mut self, time: f64, random: &mut Pcg64Mcg) -> bool {
        while self.until <= time {
            self.state = random.random::<f64>() < self.share;
            self.until += exponential(random, self.mean_ms);
        }
        self.state
    }
}

impl Core {
    /// A table of three series: a chain `code` of this latency, a reference of 3 cycles, which is
    /// lengthened by a tenth as much, and a control of 1 cycle.
    pub fn table(&self, latency: f64, seed: u64) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut table = Observations::new(vec!["body".into()]);
        table.origin.granularity = Some(self.quantum);
        let steps = |mean_ms, share| Steps { state: false, until: 0.0, mean_ms, share };
        let (mut level, mut there) = (steps(30.0, 0.5), steps(40.0, self.present));
        let series = [
            ("code", latency, self.slower),
            ("reference", 3.0, self.of_chains * self.slower / 10.0),
            ("control", 1.0, self.of_chains * self.slower),
        ];
        let long = [64.0, 128.0, 192.0, 256.0, 384.0, 512.0];
        let rows = [long, [32.0, 64.0, 128.0, 256.0, 384.0, 512.0], long];
        for round in 0..ROUNDS {
            let time = f64::from(round) * ROUND_MS;
            let rate = LEVELS[usize::from(level.at(time, &mut random))];
            let present = there.at(time, &mut random);
            for ((name, cycles, slower), copies) in series.iter().zip(rows) {
                let id = table.series(name);
                for copies in copies {
                    let row = table.row(id, &[copies]);
                    let (taken_cycles, guard) =
                        self.reading(copies * cycles, *slower, present, &mut random);
                    let jitter =
                        if self.jitter > 0.0 { self.jitter * normal(&mut random) } else { 0.0 };
                    let cycles_with_jitter = taken_cycles * (1.0 + jitter);
                    let ticks = self
                        .floor(cycles_with_jitter * rate + 0.8 * normal(&mut random), &mut random);
                    let guard = self.floor(guard * rate, &mut random).max(1.0) as u32;
                    table.push_guarded(
                        row,
                        round,
                        ticks,
                        Flags::NONE,
                        std::num::NonZeroU32::new(guard),
                    );
                }
            }
        }
        table.origin.reference = Some(("reference".into(), 3.0));
        table.origin.controls = vec![("control".into(), 1.0)];
        table
    }

    fn floor(&self, ticks: f64, random: &mut Pcg64Mcg) -> f64 {
        ((ticks + random.random::<f64>() * self.quantum) / self.quantum).floor() * self.quantum
    }

    /// Core cycles of a row with its two reads, and of its guard.
    fn reading(
        &self,
        cycles: f64,
        slower: f64,
        present: bool,
        random: &mut Pcg64Mcg,
    ) -> (f64, f64) {
        let (idle, busy) = self.stalls;
        let mut active = present && random.random::<f64>() < busy / (idle + busy);
        let mut left_in_phase = exponential(random, if active { busy } else { idle });
        let mut pass = |mut length: f64, random: &mut Pcg64Mcg| -> f64 {
            let mut with = 0.0;
            while length > 0.0 {
                let part = length.min(left_in_phase);
                with += if active { part } else { 0.0 };
                (length, left_in_phase) = (length - part, left_in_phase - part);
                if left_in_phase <= 0.0 {
                    active = present && !active;
                    left_in_phase = exponential(random, if active { busy } else { idle });
                }
            }
            with
        };
        // A read takes longer if the co-runner was active during most of it.
        let read = |empty: f64, extra: f64, met: f64, random: &mut Pcg64Mcg| {
            empty
                + normal(random).abs()
                + if met > empty / 2.0 { (extra + 5.0 * normal(random)).max(0.0) } else { 0.0 }
        };
        let before = read(74.0, 22.0, pass(74.0, random), random);
        let start = read(39.0, 12.0, pass(39.0, random), random);
        let lengthened = pass(cycles, random) * slower;
        let end = read(39.0, 12.0, pass(39.0, random), random);
        let after = read(74.0, 22.0, pass(74.0, random), random);
        let spike = if random.random::<f64>() < 0.004 { exponential(random, 150.0) } else { 0.0 };
        (start + cycles + lengthened + end + spike, before + after)
    }
}
