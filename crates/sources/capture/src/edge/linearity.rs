//! Whether an input is linear, by the levels before the edges.
//!
//! Behind a wire, a filter and any number of coupling capacitors the level before an edge is a
//! linear combination of the pin's own level and of what is left of its rises and of its falls,
//! which fade exponentially. So that combination is fitted. If powers of it explain a large part of
//! the residuals, the input bends or cuts the signal. This is the regression specification error
//! test of J. B. Ramsey, Journal of the Royal Statistical Society B 31, 1969, 350. Unlike the
//! heights of steps, it also shows an input that cuts all steps to the same height.

use hairspring_core::math::{cos, exp};
use nalgebra::{DMatrix, DVector};

/// Time constants in samples: of the tails of slow edges, and of coupling. The combination
/// approximates those between them.
const TIMES: [f64; 17] = [
    4.0, 8.0, 16.0, 32.0, 64.0, 125.0, 250.0, 500.0, 1e3, 2e3, 4e3, 8e3, 16e3, 32e3, 64e3, 128e3,
    256e3,
];
/// The first of them that lasts beyond the next edge.
const LONG_ECHO: usize = 6;
/// Halves of a period, over the whole recording, of the fastest cosine in the combination: drift
/// and slow hum.
const SLOW_COSINES: usize = 6;
/// The same for what changes faster, such as a level that jumps: powers must explain more than
/// these cosines.
const FASTER_COSINES: usize = 18;
/// Edges that are used: at least, at least to call an input linear, and at most.
const FEWEST_EDGES: usize = 100;
const ENOUGH_EDGES: usize = 300;
const MOST_EDGES: usize = 1 << 11;
/// Singular values below this share of the largest one count as 0.
const SINGULAR_SHARE: f64 = 1e-10;
const MOST_ITERATIONS: usize = 1000;
/// Least movement of the levels, as a share of a step (root mean square): without coupling the
/// noise of levels has no meaning.
const LEAST_MOVEMENT: f64 = 0.003;
/// Powers: the first one, by itself for high levels, and the second one for high and for low
/// levels.
const POWERS: usize = 3;
/// Share of what the combination leaves that the powers must explain, the least value of the F
/// test, and the least bend.
const EXPLAINED_SHARE: f64 = 0.12;
const LEAST_F: f64 = 40.0;
const LEAST_BEND: f64 = 0.002;
/// What the powers add at least, in steps of the converter (root mean square): rounding moves a
/// level by at most half a step.
const LEAST_STEPS: f64 = 0.5;

/// The level before an edge, whether it is the high one, and what is left of the falls and of the
/// rises before it for each time constant.
#[derive(Debug, Clone)]
struct Before {
    at: f64,
    level: f64,
    is_high: bool,
    levels_left: [[f64; TIMES.len()]; 2],
}

/// Collects the levels before edges.
#[derive(Debug, Clone, Default)]
pub(super) struct Linearity {
    levels: Vec<Before>,
    levels_left: [[f64; TIMES.len()]; 2],
    /// Place of the last edge.
    last: f64,
    /// Place of the first edge.
    first: Option<f64>,
}

impl Linearity {
    /// Takes an edge at a place in samples; the level before it, if no edge is so near that it
    /// disturbs the level.
    pub(super) fn push(&mut self, at: f64, rising: bool, level: Option<f64>) {
        if self.levels.len() >= MOST_EDGES {
            return;
        }
        let first = *self.first.get_or_insert(at);
        let [falls, rises] = &mut self.levels_left;
        for ((fall, rise), time) in falls.iter_mut().zip(rises).zip(TIMES) {
            let stays = exp((self.last - at) / time);
            (*fall, *rise) = (stays * *fall, stays * *rise);
        }
        self.last = at;
        if let Some(level) = level.filter(|level| level.is_finite()) {
            self.levels.push(Before {
                at: at - first,
                level,
                is_high: !rising,
                levels_left: self.levels_left,
            });
        }
        self.levels_left[usize::from(rising)].iter_mut().for_each(|left| *left += 1.0);
    }

    /// What the levels show behind a converter with steps of this size, or 0.
    pub(super) fn shown(&self, quantum: f64) -> Shown {
        match test(&self.levels) {
            Some(test) if test.is_sure && test.added > LEAST_STEPS * quantum => {
                Shown::Bent(test.bend)
            }
            // Noise makes the bend larger, so a small one is small.
            Some(test) if test.bend < LEAST_BEND && self.levels.len() >= ENOUGH_EDGES => {
                Shown::Linear
            }
            _ => Shown::Nothing,
        }
    }
}

/// What the levels show of the input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shown {
    /// Nothing: they are too few, too noisy, or hardly move.
    Nothing,
    /// It is linear.
    Linear,
    /// Movement of the levels that a linear input does not explain, as a share of their whole
    /// movement.
    Bent(f64),
}

/// Outcome of the test.
#[derive(Debug)]
struct Test {
    /// Whether the powers surely explain a part of what the linear combination leaves, and more of
    /// it than cosines of time.
    is_sure: bool,
    /// What the powers add to the levels (root mean square).
    added: f64,
    /// The same, as a share of the levels' movement.
    bend: f64,
}

/// The test; `None` for too few levels, or for levels that hardly move.
fn test(levels: &[Before]) -> Option<Test> {
    let values = DVector::from_iterator(levels.len(), levels.iter().map(|before| before.level));
    let linear = with(&linear(levels), &cosines(levels, 1..=SLOW_COSINES));
    let freedom = levels
        .len()
        .checked_sub(linear.ncols() + POWERS)
        .filter(|_| levels.len() >= FEWEST_EDGES)? as f64;
    let combination = fit(&linear, &values)?;
    let moved = moved(levels, &combination)?;
    let left_by = |combination: DVector<f64>| (&values - combination).norm_squared();
    let left_with = |more: &[DVector<f64>]| fit(&with(&linear, more), &values).map(left_by);
    let (squares_left, squares_still_left) =
        (left_by(combination), left_with(&powers(levels, &moved))?);
    let explained = (squares_left - squares_still_left).max(0.0);
    let f = explained / POWERS as f64 / (squares_still_left / freedom);
    let added = (explained / levels.len() as f64).sqrt();
    let bend = (explained / moved.norm_squared()).sqrt();
    let is_large = bend > LEAST_BEND && f > LEAST_F && explained / squares_left > EXPLAINED_SHARE;
    let is_sure = is_large
        && squares_still_left < left_with(&cosines(levels, SLOW_COSINES + 1..=FASTER_COSINES))?;
    Some(Test { is_sure, added, bend })
}

/// The columns of the linear combination. What was before the first edge is unknown and fades with
/// each time constant.
fn linear(levels: &[Before]) -> DMatrix<f64> {
    let row = |before: &Before| -> Vec<f64> {
        let unknown = TIMES[LONG_ECHO..].iter().map(|time| exp(-before.at / time));
        let left = before.levels_left.iter().flatten().copied();
        [1.0, f64::from(u8::from(before.is_high))].into_iter().chain(left).chain(unknown).collect()
    };
    let rows: Vec<Vec<f64>> = levels.iter().map(row).collect();
    DMatrix::from_fn(levels.len(), rows.first().map_or(0, Vec::len), |at, column| rows[at][column])
}

/// Cosines of time; the first has half a period in the recording.
fn cosines(levels: &[Before], halves: std::ops::RangeInclusive<usize>) -> Vec<DVector<f64>> {
    let end = levels.last().map_or(1.0, |last| last.at.max(1.0));
    let cosine = |halves| {
        levels.iter().map(move |before| cos(std::f64::consts::PI * halves as f64 * before.at / end))
    };
    halves.map(|halves| DVector::from_iterator(levels.len(), cosine(halves))).collect()
}

/// The columns and more of them.
fn with(columns: &DMatrix<f64>, more: &[DVector<f64>]) -> DMatrix<f64> {
    let first = columns.ncols();
    let mut all_columns = columns.clone().insert_columns(first, more.len(), 0.0);
    more.iter().enumerate().for_each(|(n, column)| all_columns.set_column(first + n, column));
    all_columns
}

/// The values of the columns' combination that is nearest to the values.
fn fit(columns: &DMatrix<f64>, values: &DVector<f64>) -> Option<DVector<f64>> {
    let parts = columns.clone().try_svd(true, true, f64::EPSILON, MOST_ITERATIONS)?;
    let unknowns = parts.solve(values, SINGULAR_SHARE * parts.singular_values.max()).ok()?;
    Some(columns * unknowns)
}

/// The combination without the mean of its high and of its low levels. `None` if one of them is
/// missing, or if they hardly move.
fn moved(levels: &[Before], combination: &DVector<f64>) -> Option<DVector<f64>> {
    let mean = |is_high: bool| {
        let own_levels =
            || levels.iter().zip(combination).filter(move |(before, _)| before.is_high == is_high);
        Some(own_levels().map(|(_, value)| value).sum::<f64>() / own_levels().count() as f64)
            .filter(|mean| mean.is_finite())
    };
    let (low, high) = (mean(false)?, mean(true)?);
    let movement = levels
        .iter()
        .zip(combination)
        .map(|(before, value)| value - if before.is_high { high } else { low });
    let moved = DVector::from_iterator(combination.len(), movement);
    let is_enough =
        moved.norm() > LEAST_MOVEMENT * (high - low).abs() * (levels.len() as f64).sqrt();
    is_enough.then_some(moved)
}

/// The powers of the movement of the levels.
fn powers(levels: &[Before], moved: &DVector<f64>) -> [DVector<f64>; POWERS] {
    let size = moved.amax().max(f64::MIN_POSITIVE);
    let of = |is_high: bool, power: i32| {
        let own_powers = levels.iter().zip(moved).map(|(before, value)| {
            if before.is_high == is_high { (value / size).powi(power) } else { 0.0 }
        });
        DVector::from_iterator(levels.len(), own_powers)
    };
    [of(true, 1), of(true, 2), of(false, 2)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// A pin with pulses of many widths behind a coupling capacitor of 2,800 samples, between two
    /// of the time constants, and an input with this output.
    fn shown(noise: f64, input: impl Fn(f64) -> f64) -> Shown {
        let (mut linearity, mut at, mut mean) = (Linearity::default(), 0.0, 0.0);
        for n in 0..600 {
            let high = f64::from(n % 2);
            let past = 60.0 + 400.0 * (0.5 + 0.5 * (f64::from(n) * 0.37).sin()) * (0.2 + high);
            mean = high + (mean - high) * f64::exp(-past / 2800.0);
            at += past;
            linearity.push(
                at,
                n % 2 == 0,
                Some(input(high - mean) + noise * f64::from(n * 7919 % 101 - 50)),
            );
        }
        linearity.shown(0.0)
    }

    #[test]
    fn an_input_that_bends_or_cuts_differs_from_a_coupled_one() {
        assert_eq!(shown(1e-5, |level| level), Shown::Linear);
        assert_eq!(shown(0.0, |level| level), Shown::Linear);
        assert_eq!(shown(0.0, |level| if level > 0.1 { 0.3 } else { -0.3 }), Shown::Nothing);
        let bend = |input: fn(f64) -> f64| {
            if let Shown::Bent(bend) = shown(1e-5, input) { bend } else { 0.0 }
        };
        let (soft, cut) =
            (bend(|level| 2.0 * (level / 2.0).tanh()), bend(|level| level.clamp(-0.4, 0.4)));
        assert!(soft > 0.005 && cut > 0.1, "{soft} {cut}");
    }

    /// A pin without a coupling capacitor, with something added that changes in time (0 to about
    /// 1), behind a converter.
    fn shown_with(quantum: f64, seed: u64, added: impl Fn(f64) -> f64) -> Shown {
        let (mut linearity, mut at) = (Linearity::default(), 0.0);
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        for n in 0..300 {
            let high = f64::from(n % 2);
            at += 60.0 + 400.0 * random.random::<f64>();
            // Little noise: it does not hide the steps of the converter.
            let level = high + added(at / 78_000.0) + random.random_range(-1.5e-3..1.5e-3);
            let rounded = if quantum > 0.0 { (level / quantum).round() * quantum } else { level };
            linearity.push(at, n % 2 == 0, Some(rounded));
        }
        linearity.shown(quantum)
    }

    #[test]
    fn drift_hum_and_the_steps_of_a_converter_are_not_a_bend() {
        let is_bent = |shown| matches!(shown, Shown::Bent(_));
        for (n, quantum) in (0..20u8).flat_map(|n| [(n, 0.0), (n, 0.012)]) {
            // Levels at several places between two steps of the converter, and a change at several
            // times.
            let (offset, when) = (0.0006 * f64::from(n), 0.05 * f64::from(n));
            for size in [0.01, 0.02, 0.05] {
                let drift = |time: f64| offset + size * time;
                let parabola = |time: f64| offset + 4.0 * size * (time - when).powi(2);
                let hum = |time: f64| offset + size * (20.0 * time + f64::from(n)).sin();
                let jump = |time: f64| offset + if time > when { size } else { 0.0 };
                assert!(
                    !is_bent(shown_with(quantum, n.into(), drift)),
                    "drift {n} {size} {quantum}"
                );
                assert!(
                    !is_bent(shown_with(quantum, n.into(), parabola)),
                    "parabola {n} {size} {quantum}"
                );
                assert!(!is_bent(shown_with(quantum, n.into(), hum)), "hum {n} {size} {quantum}");
                assert!(!is_bent(shown_with(quantum, n.into(), jump)), "jump {n} {size} {quantum}");
            }
        }
    }
}
