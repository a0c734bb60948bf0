//! Readings of code that fills units of the core, taken while somebody else used these units too.
//! Chains do not show that: they leave most units free. The code itself does. Straight code that
//! only waits for its units takes the same time in every round of a core that it has for itself:
//! its fastest rounds are a floor, at which many lie close together. Rounds above it were shared.
//! Where there is no such floor, the core was shared all the time, and nobody knows by how much.

use crate::estimate::Source;
use crate::finding::{Finding, Severity, code};
use crate::limit::{
    Basis, FAR_ERRORS, FAR_SIGMAS, RARELY_CHANCE, SLIGHT_SHARE, WIDE_SHARE, limits,
};
use crate::math::hypot;
use crate::numbers;
use crate::observations::{Occupancy, SeriesId};
use crate::stages::blocks::MIN_ROUNDS;
use crate::stages::{Did, Stage, State, need};

limits! {
    /// A floor has more rounds than the span above it, by this factor.
    STEP_UP = 2.0, "", Basis::Seen("rounds beside a co-runner that is always there become more \
                                    frequent upwards; AMD family 25, November 2026");
}

/// Rounds that a floor has at least: so many are surely more than none.
const ROUNDS_OF_FLOOR: f64 = FAR_ERRORS * FAR_ERRORS;

pub(crate) const STAGE: Stage = Stage {
    name: "ports",
    question: "Which readings of code that fills units of the core were taken while somebody else \
               used them?",
    needs: &[need::REFERENCE],
    limits: &[LIMITS],
    source: Some(Source::Controls),
    says,
};

/// What the rounds of a series say of the units that its code fills.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shared {
    /// Whether the rounds that were not shared are a floor, which gives the time of the code.
    pub has_floor: bool,
    /// What the middle round takes more than the fastest ones, as a share.
    pub above: f64,
}

/// Leaves out the rounds above the floor.
pub(crate) fn choose(state: &mut State) -> Did {
    let fills = |series: &SeriesId| state.occupancy(*series) == Some(Occupancy::Fills);
    let filling: Vec<SeriesId> = state.subjects().into_iter().filter(fills).collect();
    if filling.is_empty() {
        return Did::nothing("no code is known to fill units of the core");
    }
    let Some((reference, _)) = state.reference() else {
        return Did::nothing("there is no reference chain");
    };
    let reference = Rounds::of(state, reference);
    let mut out = Vec::new();
    for series in filling {
        let rounds = Rounds::of(state, series).beside(&reference);
        let (shared, above) = rounds.shared(reference.scatter());
        let keeps = shared.has_floor && rounds.keeps_rows(state, series, above);
        if keeps {
            out.extend(rounds.places_above(state, series, above));
        }
        state.ports[usize::from(series)] = Some(Shared { has_floor: keeps, ..shared });
    }
    state.leave_out_all(out, "no rounds are above a floor")
}

/// The rounds of a series: what each took, as a multiple of what its rows take when they are fast.
struct Rounds {
    /// By round; NaN where the series has too few readings.
    ratios: Vec<f64>,
    /// The same in ascending order, without the gaps.
    sorted: Vec<f64>,
    /// Standard deviation of a ratio by the step of the clock.
    rounding: f64,
}

impl Rounds {
    fn of(state: &State, series: SeriesId) -> Rounds {
        let sheet = &state.sheet;
        let mut sums = vec![(0.0, 0.0); sheet.rounds as usize];
        let (mut sum_of_fast, mut number_of_rows) = (0.0, 0.0);
        for row in sheet.rows_of(series) {
            let used: Vec<(u32, f64)> = sheet
                .row(row)
                .filter(|one| one.is_used)
                .map(|one| (one.round, one.ticks))
                .collect();
            let Some(fast) = fast(used.iter().map(|(_, ticks)| *ticks).collect()) else { continue };
            (sum_of_fast, number_of_rows) = (sum_of_fast + fast, number_of_rows + 1.0);
            for (round, ticks) in used {
                let sum = &mut sums[round as usize];
                *sum = (sum.0 + ticks, sum.1 + fast);
            }
        }
        let ratios: Vec<f64> = sums
            .iter()
            .map(|(sum, fast)| if *fast > sum_of_fast / 2.0 { sum / fast } else { f64::NAN })
            .collect();
        Rounds::new(ratios, (number_of_rows * state.quantum.rounding()).sqrt() / sum_of_fast)
    }

    fn new(ratios: Vec<f64>, rounding: f64) -> Rounds {
        let mut sorted: Vec<f64> =
            ratios.iter().copied().filter(|ratio| ratio.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Rounds { ratios, sorted, rounding }
    }

    /// The same without what was fast because the core clock was: in these rounds the reference
    /// chain was fast too.
    fn beside(&self, reference: &Rounds) -> Rounds {
        let usual = reference.at(0.5);
        let slower = |(ratio, chain): (&f64, &f64)| ratio / (chain / usual).min(1.0);
        Rounds::new(self.ratios.iter().zip(&reference.ratios).map(slower).collect(), self.rounding)
    }

    fn at(&self, share: f64) -> f64 {
        self.sorted.get((share * self.sorted.len() as f64) as usize).copied().unwrap_or(1.0)
    }

    /// The standard deviation of the faster half.
    fn scatter(&self) -> f64 {
        self.at(0.5) - self.at(0.16)
    }

    fn number_below(&self, ratio: f64) -> usize {
        self.sorted.partition_point(|one| *one <= ratio)
    }

    /// What was shared, and the ratio above which rounds were. A few rounds may be too fast by
    /// chance, as a step of the core clock is not seen at once.
    fn shared(&self, scatter: f64) -> (Shared, f64) {
        let number = self.sorted.len();
        let Some(fastest) = self.sorted.get((RARELY_CHANCE * number as f64) as usize).copied()
        else {
            return (Shared { has_floor: false, above: 0.0 }, f64::INFINITY);
        };
        let width = fastest * SLIGHT_SHARE.max(FAR_SIGMAS * hypot(scatter, self.rounding));
        let at_floor = self.number_below(fastest + width);
        let above = self.number_below(fastest + 2.0 * width) - at_floor;
        let has_floor = at_floor as f64 >= ROUNDS_OF_FLOOR.max(STEP_UP * above as f64);
        (Shared { has_floor, above: self.at(0.5) / fastest - 1.0 }, fastest + width)
    }

    /// Whether each row keeps enough readings.
    fn keeps_rows(&self, state: &State, series: SeriesId, above: f64) -> bool {
        let kept_readings = |row| {
            state
                .sheet
                .row(row)
                .filter(|one| one.is_used && self.ratios[one.round as usize] <= above)
                .count()
        };
        state.sheet.rows_of(series).into_iter().all(|row| kept_readings(row) >= MIN_ROUNDS as usize)
    }

    fn places_above(&self, state: &State, series: SeriesId, above: f64) -> Vec<usize> {
        let rows = state.sheet.rows_of(series);
        let samples = rows.into_iter().flat_map(|row| state.sheet.row(row));
        samples
            .filter(|one| one.is_used && self.ratios[one.round as usize] > above)
            .map(|one| one.at)
            .collect()
    }
}

/// A fast reading of a row.
fn fast(mut ticks: Vec<f64>) -> Option<f64> {
    let at = ticks.len() / 20;
    (!ticks.is_empty())
        .then(|| *ticks.select_nth_unstable_by(at, f64::total_cmp).1)
        .filter(|fast| *fast > 0.0)
}

/// Without a floor, the time may be too long by what the rounds take more than the fastest.
pub(crate) fn widen(state: &mut State) -> Did {
    let shared: Vec<(SeriesId, f64)> = state
        .all_series()
        .filter_map(|series| Some((series, doubt(state, series)?.above)))
        .collect();
    shared.iter().for_each(|(series, above)| state.bound_all(*series, *above, Source::Controls));
    let text = |(series, above): (SeriesId, f64)| {
        (series, format!("no floor: up to {:.1} % too long", 100.0 * above))
    };
    Did::each(
        shared.into_iter().map(text).collect(),
        "the units were its own in the readings that count",
    )
}

fn doubt(state: &State, series: SeriesId) -> Option<Shared> {
    state.ports[usize::from(series)]
        .filter(|shared| !shared.has_floor && shared.above > SLIGHT_SHARE)
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let Some(shared) = doubt(state, series) else { return Vec::new() };
    let above_percent = 100.0 * shared.above;
    let message = format!(
        "something else used the units of the core that the code fills: rounds take \
         {above_percent:.0} % more than the fastest, and hardly any is undisturbed"
    );
    let remedy = "measure again, on another CPU or a quieter machine";
    // Where all rounds are near the fastest, the interval holds what was shared.
    let severity = if shared.above > WIDE_SHARE { Severity::Untrusted } else { Severity::Warning };
    vec![Finding::of(severity, code::CORE_SHARED, message, numbers! { above_percent }, remedy)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Options;
    use crate::judge::{Question, assess};
    use crate::observations::Observations;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    const ROUNDS: u32 = 600;

    /// Code of 2 cycles a copy that fills units, and a chain; `slower` gives what a round of the
    /// code takes, as a multiple.
    fn table(mut slower: impl FnMut(u32, &mut Pcg64Mcg) -> f64) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        let mut table = Observations::new(vec!["body".into()]);
        table.origin.granularity = Some(1.0);
        for round in 0..ROUNDS {
            let factor = slower(round, &mut random);
            for (name, cycles, factor) in [("code", 2.0, factor), ("reference", 3.0, 1.0)] {
                let series = table.series(name);
                for copies in [64.0, 128.0, 192.0, 256.0, 384.0] {
                    let row = table.row(series, &[copies]);
                    let ticks = 40.0 + copies * cycles * factor + random.random::<f64>();
                    table.push(row, round, ticks.floor());
                }
            }
        }
        table.origin.reference = Some(("reference".into(), 3.0));
        table.origin.occupancy = vec![("code".into(), Occupancy::Fills)];
        table
    }

    fn found(table: &Observations, without: &[&str]) -> (f64, bool) {
        let without = without.iter().map(|name| (*name).to_owned()).collect();
        let assessment = assess(
            table,
            &Question { options: Options { without, ..Options::default() }, ..Question::default() },
        )
        .unwrap();
        let code = assessment.series.iter().find(|series| series.name == "code").unwrap();
        (code.components[0].time.cycles.as_ref().unwrap().value, code.is_trusted())
    }

    /// A co-runner that is away in a share of the rounds.
    fn co_runner(away: f64) -> impl FnMut(u32, &mut Pcg64Mcg) -> f64 {
        move |_, random| {
            if random.random::<f64>() < away { 1.0 } else { 1.05 + 0.6 * random.random::<f64>() }
        }
    }

    #[test]
    fn rounds_in_which_the_units_were_free_give_the_time() {
        for away in [0.15, 0.5, 0.9] {
            let table = table(co_runner(away));
            let (cycles, is_trusted) = found(&table, &[]);
            assert!((cycles / 2.0 - 1.0).abs() < 0.005 && is_trusted, "{away}: {cycles}");
        }
        assert!(found(&table(co_runner(0.15)), &[STAGE.name]).0 > 2.2);
    }

    #[test]
    fn a_co_runner_that_is_always_there_is_a_doubt() {
        // The less a round was disturbed, the rarer it is.
        let table = table(|_, random| 1.0 + 0.6 * random.random::<f64>().sqrt());
        let (cycles, is_trusted) = found(&table, &[]);
        assert!(cycles > 2.2 && !is_trusted, "{cycles}");
    }

    #[test]
    fn a_core_of_its_own_keeps_its_rounds() {
        let table = table(|_, random| 1.0 + 0.002 * random.random::<f64>());
        let options = Options::default();
        let state = crate::pipeline::state_of(&table, &options);
        assert_eq!(state.number_out(table.find_series("code").unwrap(), &STAGE), 0);
    }

    #[test]
    fn other_code_keeps_its_rounds() {
        let mut table = table(co_runner(0.5));
        table.origin.occupancy = vec![("code".into(), Occupancy::Waits)];
        let options = Options::default();
        let state = crate::pipeline::state_of(&table, &options);
        assert_eq!(state.number_out(table.find_series("code").unwrap(), &STAGE), 0);
    }

    #[test]
    fn rounds_at_a_faster_core_clock_are_no_floor() {
        let chain: Vec<f64> =
            (0..400).map(|round| if round % 10 == 0 { 0.95 } else { 1.0 }).collect();
        let code: Vec<f64> = chain
            .iter()
            .enumerate()
            .map(|(round, clock)| clock * (1.0 + 1e-5 * round as f64))
            .collect();
        let rounds = Rounds::new(code, 0.0).beside(&Rounds::new(chain, 0.0));
        let (shared, above) = rounds.shared(0.001);
        assert!(
            shared.has_floor && rounds.number_below(above) == rounds.sorted.len(),
            "{shared:?}"
        );
    }
}
