//! Which chains have a length that is proved here: a whole number of core cycles in undisturbed
//! readings. Only these count as rulers and as controls, for every instrument. The core cycle is
//! the unit that makes the chains of the lattice whole numbers.

use crate::lattice::{Lattice, lattice, lattice_of_first};
use crate::limits::{
    FEWEST_PARTS, NOISE_OF_PARTS, QUIET_PARTS, SLOWED_SHARE, UNSURE_WIDTH, WHOLE_DISTANCES,
};
use hairspring_core::estimate::ratio::of_first;
use hairspring_core::estimate::{Estimate, Solution, noise};
use hairspring_host::chains::{ChainRole, LATTICE, RULER};

/// How closely the chains of the lattice must lie on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// As chains do that nobody slows.
    Close,
    /// As chains do beside a co-runner on the core, which lengthens all but the reference chain.
    Lengthened,
}

/// The length of a chain in core cycles, as the reference chain counts them.
#[derive(Debug, Clone, PartialEq)]
pub struct Length {
    /// Core cycles of one copy in the mean over the run.
    pub cycles: Estimate,
    /// The same in the quietest quarter of the run.
    pub undisturbed: f64,
    /// The same in parts of the run: a tenth of them have less, and a tenth more.
    pub parts: (f64, f64),
    /// The whole number that the chain is proved to take; `None` if it takes none, or the interval
    /// is too wide to tell.
    pub integer: Option<u32>,
    /// Whether the length varies by more than its noise.
    pub is_unsteady: bool,
}

impl Length {
    /// By what share something lengthens a chain whose length is proved; `None` if nothing surely
    /// does.
    pub fn slowed(&self) -> Option<f64> {
        let integer = f64::from(self.integer?);
        let off = self.cycles.value / integer - 1.0;
        (off > SLOWED_SHARE && (self.is_unsteady || self.cycles.low > integer)).then_some(off)
    }

    /// Whether the interval is too wide to tell whether the length is a whole number.
    pub fn is_open(&self) -> bool {
        self.integer.is_none() && self.cycles.half_width() >= UNSURE_WIDTH
    }

    /// From the mean, and the lengths in parts of the run in the order of time.
    pub fn of(cycles: Estimate, parts: &[f64]) -> Length {
        let (noise, mut sorted) = (noise(parts), parts.to_vec());
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            sorted
                .get((share * (sorted.len().max(1) - 1) as f64) as usize)
                .copied()
                .unwrap_or(cycles.value)
        };
        let (low, high) = (at(0.1), at(0.9));
        // A quarter of values that differ by noise alone is below their mean by two thirds of their
        // standard deviation.
        let undisturbed = (at(QUIET_PARTS) + 0.6745 * noise).min(cycles.value);
        // Twice the standard deviation of a quartile of normal values.
        let of_quiet = if sorted.len() < FEWEST_PARTS {
            f64::INFINITY
        } else {
            2.0 * 1.36 * noise / (sorted.len() as f64).sqrt()
        };
        let sure = [(cycles.value, cycles.half_width()), (undisturbed, of_quiet)];
        let integer = sure
            .into_iter()
            .filter(|(_, half)| *half < UNSURE_WIDTH)
            .find_map(|(cycles, _)| whole(cycles));
        // Eight tenths of values that differ by noise alone lie within 2.56 standard deviations.
        let is_unsteady =
            sorted.len() >= FEWEST_PARTS && high - low > NOISE_OF_PARTS * 2.56 * noise;
        Length { cycles, undisturbed, parts: (low, high), integer, is_unsteady }
    }

    /// The same with what further runs say about it: in each the chain took so many cycles.
    #[must_use]
    pub fn beside_runs(self, runs: &[f64]) -> Length {
        let of_runs = Length::of(self.cycles, runs);
        let parts = if runs.is_empty() {
            self.parts
        } else {
            (self.parts.0.min(of_runs.parts.0), self.parts.1.max(of_runs.parts.1))
        };
        let is_unsteady = self.is_unsteady || of_runs.is_unsteady;
        Length { integer: self.integer.or(of_runs.integer), is_unsteady, parts, ..self }
    }
}

/// The lengths in parts of the run, in the order of time: a step of the core clock changes both
/// chains of a part alike.
fn in_parts(chain: &Solution, reference: &Solution, cycles: f64) -> Vec<f64> {
    let of_reference = |round: u32| {
        reference.blocks.iter().find(|(first, _)| *first == round).map(|(_, unknowns)| unknowns[0])
    };
    let parts = chain
        .blocks
        .iter()
        .filter_map(|(first, unknowns)| Some(cycles * unknowns[0] / of_reference(*first)?));
    parts.filter(|part| part.is_finite()).collect()
}

/// The whole number that is nearest to a length, if it is close enough.
fn whole(cycles: f64) -> Option<u32> {
    let nearest = cycles.round();
    ((1.0..=64.0).contains(&nearest)
        && (cycles - nearest).abs() < WHOLE_DISTANCES.1.min(WHOLE_DISTANCES.0 * nearest))
    .then_some(nearest as u32)
}

/// The lengths of chains with these roles, in their order; `None` if the chains of the lattice do
/// not lie on one, or one of them is missing.
///
/// A chain of the lattice has its length by the lattice. Any other one has a whole number if that
/// is close to its mean, or to its length in the quietest quarter of the run, where something else
/// slows it.
pub fn prove(chains: &[(ChainRole, &Solution)], level: f64, fit: Fit) -> Option<Vec<Length>> {
    let of_role = |role: ChainRole| {
        chains.iter().find(|(known, _)| *known == role).map(|(_, solution)| *solution)
    };
    let reference = of_role(RULER)?;
    let on_lattice: Vec<Estimate> = LATTICE
        .iter()
        .map(|role| of_first(of_role(*role)?, reference, level))
        .collect::<Option<_>>()?;
    let fitted_lattice = fitted(&on_lattice, fit)?;
    let proved = |role: ChainRole| {
        LATTICE.iter().position(|known| *known == role).and_then(|at| fitted_lattice.integers[at])
    };
    let cycles = f64::from(proved(RULER)?);
    let length = |(role, chain): &(ChainRole, &Solution)| {
        let length = Length::of(
            of_first(chain, reference, level)?.scaled(cycles),
            &in_parts(chain, reference, cycles),
        );
        Some(Length { integer: proved(*role).or(length.integer), ..length })
    };
    chains.iter().map(length).collect()
}

fn fitted(slopes: &[Estimate], fit: Fit) -> Option<Lattice> {
    match fit {
        Fit::Close => lattice(slopes, slopes.len()),
        Fit::Lengthened => lattice_of_first(slopes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::estimate::Options;
    use hairspring_core::observations::{Flags, Observations};
    use hairspring_core::pipeline::solve;
    use hairspring_host::clock::fake::{self, SimulatedCore};

    /// A chain of a simulated core: its cycles, and the share by which a co-runner lengthens it
    /// while it is active.
    type Simulated = (ChainRole, f64, f64);
    const ALU: [Simulated; 4] = [
        (ChainRole::Multiply, 3.0, 0.0),
        (ChainRole::Simple, 1.0, 0.002),
        (ChainRole::SimpleMultiply, 4.0, 0.001),
        (ChainRole::SimpleMultiplySimple, 5.0, 0.001),
    ];
    /// Zen 3: the step of its counter in ticks, and its clocks.
    const ZEN3: SimulatedCore =
        SimulatedCore { tick_ghz: 2.445, quantum: 25, core_ghz: &[3.24], ..SimulatedCore::CALM };

    fn table(core: SimulatedCore, chains: &[Simulated], seed: u64) -> Observations {
        fake::simulate(core, seed);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut table = Observations::new(vec!["body".into()]);
        for round in 0..1_920 {
            for (role, cycles, slower) in chains {
                let series = table.series(role.name());
                for copies in [64u32, 128, 192, 256] {
                    let row = table.row(series, &[f64::from(copies)]);
                    fake::wait(3.0 * core.quantum.max(100) as f64 * random.f64());
                    let begin = fake::read();
                    fake::execute(f64::from(copies) * cycles, *slower);
                    table.push_guarded(
                        row,
                        round,
                        (fake::read() - begin) as f64,
                        Flags::NONE,
                        None,
                    );
                }
            }
        }
        table.origin.granularity = Some(core.quantum as f64);
        table
    }

    /// The length of one more chain beside those of the lattice.
    fn length_of(chain: Simulated, core: SimulatedCore, seed: u64) -> Length {
        let all_chains = [ALU.as_slice(), &[chain]].concat();
        let table = table(core, &all_chains, seed);
        let solved = |(role, ..): &Simulated| {
            (
                *role,
                solve(&table, table.find_series(role.name()).unwrap(), &Options::default())
                    .unwrap(),
            )
        };
        let solved: Vec<(ChainRole, Solution)> = all_chains.iter().map(solved).collect();
        let chains: Vec<(ChainRole, &Solution)> =
            solved.iter().map(|(role, solution)| (*role, solution)).collect();
        prove(&chains, 0.95, Fit::Close).unwrap().pop().unwrap()
    }

    /// Of some runs, how many prove this number.
    fn proved(chain: Simulated, core: SimulatedCore, integer: u32) -> usize {
        (0..RUNS).filter(|seed| length_of(chain, core, *seed).integer == Some(integer)).count()
    }

    const RUNS: u64 = 12;
    const DIVIDE: ChainRole = ChainRole::FloatDivide;
    const LOAD: ChainRole = ChainRole::Load;

    #[test]
    fn a_chain_of_a_whole_number_is_proved_and_one_of_a_fraction_is_not() {
        assert_eq!(proved((DIVIDE, 13.0, 0.0), ZEN3, 13), RUNS as usize);
        assert_eq!(proved((LOAD, 4.0, 0.0), ZEN3, 4), RUNS as usize);
        let fraction = length_of((DIVIDE, 13.36, 0.0), ZEN3, 1);
        assert!(
            fraction.integer.is_none() && !fraction.is_open() && !fraction.is_unsteady,
            "{fraction:?}"
        );
        assert_eq!(proved((DIVIDE, 13.36, 0.0), ZEN3, 13), 0);
    }

    #[test]
    fn a_load_chain_that_a_co_runner_slows_in_half_of_the_time_is_proved_and_slowed() {
        let beside = ZEN3.beside(SimulatedCore { co_runner: SPELLS, ..ZEN3 });
        for slower in [0.02, 0.05, 0.12] {
            let lengths: Vec<Length> =
                (0..RUNS).map(|seed| length_of((LOAD, 4.0, slower), beside, seed)).collect();
            let right = lengths
                .iter()
                .filter(|length| length.integer.is_none_or(|integer| integer == 4))
                .count();
            let (proved, slowed) = (
                lengths.iter().filter(|length| length.integer.is_some()).count(),
                lengths.iter().filter(|length| length.slowed().is_some()).count(),
            );
            println!("{slower}: {right} right, {proved} proved, {slowed} slowed of {RUNS}");
            assert!(
                right == lengths.len() && proved * 2 >= lengths.len(),
                "{slower}: {right} right, {proved} proved"
            );
            assert!(slowed > 0 || slower < 0.1, "{slower}: {slowed} slowed");
        }
    }

    /// A co-runner that is there for some milliseconds at a time, in half of the time.
    const SPELLS: fake::CoRunner = fake::CoRunner {
        present: 0.5,
        episode_ms: 4.0,
        idle: 1.0,
        busy: 1e9,
        ..SimulatedCore::CALM.co_runner
    };

    #[test]
    fn a_load_chain_that_is_slowed_all_the_time_is_no_control_and_its_number_is_not_guessed() {
        let always = ZEN3.beside(SimulatedCore::NEVER_QUIET);
        for slower in [0.03, 0.06, 0.12] {
            assert_eq!(proved((LOAD, 4.0, slower), always, 4), 0, "{slower}");
            assert_eq!(proved((LOAD, 4.0, slower), always, 5), 0, "{slower}");
        }
    }

    #[test]
    fn a_fraction_beside_a_co_runner_stays_a_fraction() {
        let beside = ZEN3.beside(SimulatedCore { co_runner: SPELLS, ..ZEN3 });
        let load = (0..RUNS)
            .filter(|seed| length_of((DIVIDE, 13.36, 0.02), beside, *seed).integer.is_some())
            .count();
        assert!(load <= 1, "{load}");
    }

    #[test]
    fn only_lengths_close_to_whole_numbers_are_accepted() {
        assert_eq!((whole(3.996), whole(13.04), whole(1.0)), (Some(4), Some(13), Some(1)));
        assert_eq!(
            (whole(4.65), whole(14.86), whole(0.2), whole(500.0), whole(f64::NAN)),
            (None, None, None, None, None)
        );
    }
}
