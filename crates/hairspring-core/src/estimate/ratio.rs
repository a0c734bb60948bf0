//! The ratio of two times that were measured in the same rounds. Common influences (core clock, rate of the clock) cancel
//! in every block of rounds, so the interval is narrower than those of the two times. [`apart`] is for times measured in
//! different runs.

use super::blocks::variance_of_mean;
use super::departures::Departures;
use super::interval::{Contribution, Estimate, Source, Spread, Uncertain};
use super::solution::{Component, Solution};
use crate::observations::ClockSpread;

/// Bound of a departure of the rows from their lines that they do not show, as a share of a time in core cycles: chains of known
/// length had departures of this size on calm cores.
const UNSEEN_DEPARTURE: f64 = 0.0002;

/// Standard deviation of a core clock that was read once or twice, as a share of it.
const UNSEEN_MOVEMENT: f64 = 0.01;

/// Sources that are carried from each time to the ratio.
const CARRIED: [Source; 5] = [Source::LackOfFit, Source::Granularity, Source::Readings, Source::Ends, Source::Neighbour];

/// A component of a solution in core cycles, by a reference chain of `cycles` core cycles that was measured in the same rounds;
/// `None` where there is no [`ratio`].
pub fn in_cycles(a: (&Solution, &Component), reference: (&Solution, &Component), cycles: f64) -> Option<Uncertain> {
    let time = ratio(a, reference)?.scaled(cycles);
    let unseen = Contribution::bound(Source::Reference, UNSEEN_DEPARTURE * time.value.abs());
    Some(time.with(unseen))
}

/// Ratio of component `a` of one solution to component `b` of another; `None` if the two share fewer than two blocks of
/// rounds, or `b` is not positive.
pub fn ratio(a: (&Solution, &Component), b: (&Solution, &Component)) -> Option<Uncertain> {
    with_share(a, b, 1.0)
}

/// Ratio of the first components of two solutions, as the length of a chain beside that of the reference chain, at a level.
pub fn of_first(a: &Solution, reference: &Solution, level: f64) -> Option<Estimate> {
    Some(ratio((a, a.components.first()?), (reference, reference.components.first()?))?.estimate(level))
}

/// As [`ratio`], for two pieces of code with rows of their own: what these depart from their lines by in the same way is in both times, and not
/// in their ratio.
pub fn of_alternatives(a: (&Solution, &Component), b: (&Solution, &Component)) -> Option<Uncertain> {
    let departures = |one: (&Solution, &Component)| {
        let used = one.0.rows.iter().filter(|row| row.left_out.is_none());
        Departures::new(used.map(|row| (&row.counts[..], row.residual)), one.1.ticks.value)
    };
    let unknowns = a.0.rank.pivots.len().max(b.0.rank.pivots.len());
    with_share(a, b, departures(a).differing(&departures(b), unknowns))
}

/// The ratio, `times` a number, where one of the two has too few rounds to know how they move together: what each is uncertain by counts in full,
/// and the core clock may have moved between their readings, as it moves `between` runs. With the cycles of a reference chain as `times` it is the
/// time in core cycles at the mean clock of the run, of code that takes so long that one or two rounds spend the budget. `None` if both have
/// more rounds, or `b` is not positive.
pub fn of_few_rounds(
    a: (&Solution, &Component),
    b: (&Solution, &Component),
    times: f64,
    between: Option<ClockSpread>,
) -> Option<Uncertain> {
    let by = &b.1.uncertain;
    let quotient = a.1.uncertain.scaled(times / by.value);
    let is_few = a.0.blocks.len().min(b.0.blocks.len()) < 2;
    if !is_few || !quotient.value.is_finite() || by.value <= 0.0 {
        return None;
    }
    let of_b = by.scaled(quotient.value / by.value).budget.into_iter();
    let of_b = of_b.map(|entry| Contribution { source: Source::Reference, ..entry });
    Some(of_b.chain(moved(quotient.value, UNSEEN_MOVEMENT, between)).fold(quotient, Uncertain::with))
}

/// The ratio, if this share of the rows' departures differs between the two.
fn with_share(a: (&Solution, &Component), b: (&Solution, &Component), share: f64) -> Option<Uncertain> {
    let value = a.1.ticks.value / b.1.ticks.value;
    if !value.is_finite() || b.1.ticks.value <= 0.0 {
        return None;
    }
    let at = (index(a.0, a.1)?, index(b.0, b.1)?);
    let departures: Vec<f64> = shared_blocks(a.0, b.0).map(|(x, y)| (x[at.0] - value * y[at.1]) / b.1.ticks.value).collect();
    if departures.len() < 2 {
        return None;
    }
    let (variance, dof) = variance_of_mean(&departures);
    let mut budget = vec![Contribution::standard(Source::Stochastic, variance.sqrt(), dof)];
    let systematic = |component: &Component, factor: f64| -> Vec<Contribution> {
        let carried = component.uncertain.budget.iter().filter(|entry| CARRIED.contains(&entry.source));
        let differs = |entry: &Contribution| if entry.source == Source::LackOfFit { share } else { 1.0 };
        carried.map(|entry| entry.scaled(factor * differs(entry))).collect()
    };
    budget.extend(systematic(a.1, 1.0 / b.1.ticks.value));
    budget.extend(systematic(b.1, value / b.1.ticks.value).into_iter().map(|entry| Contribution { source: Source::Reference, ..entry }));
    budget.push(Contribution::bound(Source::Fence, shadow(a.1, b.1, value)));
    budget.retain(|entry| !matches!(entry.spread, Spread::Standard { sd: 0.0, .. } | Spread::Bound(0.0)));
    Some(Uncertain { value, budget })
}

/// Fewest blocks that show how the core clock moved.
const FEWEST_BLOCKS: usize = 8;

/// How the core clock moves.
#[derive(Debug, Clone, Copy)]
struct Movement {
    /// Its standard deviation, as a share.
    sd: f64,
    /// Share of it that a time follows: 1 for code that only computes, near 0 for the time of memory.
    followed: f64,
}

/// How the movement of the core clock changes a time, from the blocks of a reference chain: the chain's standard deviation between
/// blocks, times the share of it that the time follows (the slope of a regression, so that the time of memory hardly counts). The
/// mean over the run is known better than that, but the next run may have any of these clocks, or one that earlier runs had. `None`
/// for too few blocks, if earlier runs are not known.
pub fn clock_movement(
    a: (&Solution, &Component),
    reference: (&Solution, &Component),
    between: Option<ClockSpread>,
) -> Option<Contribution> {
    let seen = movement(a, reference);
    let followed = match (seen, between) {
        // A clock that hardly moved in this run does not show what the time follows.
        (Some(seen), Some(between)) if 2.0 * seen.sd < between.sd => 1.0,
        (seen, _) => seen.map_or(1.0, |seen| seen.followed),
    };
    moved(a.1.ticks.value * followed, seen.map_or(0.0, |seen| seen.sd), between)
}

/// The entry in the budget of a time that follows the core clock: the larger of its movements within this run, as a share, and
/// between runs. `None` if it did not move.
pub fn moved(time: f64, within: f64, between: Option<ClockSpread>) -> Option<Contribution> {
    let (sd, dof) = match between {
        Some(between) if between.sd > within => (between.sd, f64::from(between.runs) - 1.0),
        // The clock has few levels, so large deviations from the mean are not more frequent than small ones.
        _ => (within, f64::INFINITY),
    };
    (sd > 0.0).then(|| Contribution::standard(Source::CoreClock, time.abs() * sd, dof))
}

fn movement(a: (&Solution, &Component), reference: (&Solution, &Component)) -> Option<Movement> {
    let at = (index(a.0, a.1)?, index(reference.0, reference.1)?);
    let (time, chain) = (a.1.ticks.value, reference.1.ticks.value);
    let moves: Vec<(f64, f64)> = shared_blocks(a.0, reference.0).map(|(x, y)| (x[at.0] / time - 1.0, y[at.1] / chain - 1.0)).collect();
    if moves.len() < FEWEST_BLOCKS || chain <= 0.0 || time == 0.0 {
        return None;
    }
    let squares: f64 = moves.iter().map(|(_, clock)| clock * clock).sum();
    let products: f64 = moves.iter().map(|(time, clock)| time * clock).sum();
    let sd = (squares / (moves.len() - 1) as f64).sqrt();
    (squares > 0.0).then(|| Movement { sd, followed: (products / squares).abs() })
}

/// The bound from what fences hide, which is a property of the core. If both times have fences, both lack the same, and the
/// error of the ratio decreases towards a ratio of 1. If only one has fences, the ratio is off by all that they hide.
fn shadow(a: &Component, b: &Component, ratio: f64) -> f64 {
    let hidden = |component: &Component| component.uncertain.part(Source::Fence, component.ticks.level) / b.ticks.value;
    let (hidden_a, hidden_b) = (hidden(a), hidden(b));
    if hidden_a > 0.0 && hidden_b > 0.0 { (1.0 - ratio).abs() * hidden_a.max(hidden_b) } else { hidden_a + ratio.abs() * hidden_b }
}

/// Ratio `new / old` of two times that were measured in different runs.
///
/// No common influences cancel, and differences between runs (addresses of code and data, the state of the machine) are in
/// neither interval. So the intervals are combined like systematic contributions (Muller: linearly, not in quadrature): the
/// low end is the low end of `new` over the high end of `old`, and the high end is the high end of `new` over the low end
/// of `old`. The interval is up to 1.4 times as wide as in quadrature, and wider than that of [`ratio`]. Its level is the
/// lower one of the two.
///
/// If the interval of `old` contains zero, the ratio has no upper end; if `old` is not positive, its value is infinite.
/// `None` if the whole interval of `old` is negative, or a value is not finite.
///
/// ```
/// use hairspring_core::Estimate;
/// use hairspring_core::estimate::ratio::apart;
/// let time = |value: f64, half: f64| Estimate { value, low: value - half, high: value + half, level: 0.95 };
/// let found = apart(&time(3.0, 0.03), &time(2.0, 0.02)).unwrap();
/// assert_eq!((found.value, found.low, found.high), (1.5, 2.97 / 2.02, 3.03 / 1.98));
/// ```
pub fn apart(new: &Estimate, old: &Estimate) -> Option<Estimate> {
    if !new.value.is_finite() || !old.value.is_finite() || new.low.is_nan() || new.high.is_nan() || old.low.is_nan() {
        return None;
    }
    if old.high.is_nan() || old.high <= 0.0 {
        return None;
    }
    let level = new.level.min(old.level);
    let value = if old.value > 0.0 { new.value / old.value } else { f64::INFINITY };
    if old.low <= 0.0 {
        let low = if new.low > 0.0 { new.low / old.high } else { f64::NEG_INFINITY };
        return Some(Estimate { value, low, high: f64::INFINITY, level });
    }
    let low = new.low / if new.low > 0.0 { old.high } else { old.low };
    let high = new.high / if new.high > 0.0 { old.low } else { old.high };
    Some(Estimate { value, low, high, level })
}

fn index(solution: &Solution, component: &Component) -> Option<usize> {
    let alone = |combination: &super::Combination| -> Vec<(String, f64)> {
        combination.terms.iter().map(|(j, c)| (solution.columns[*j].clone(), *c)).collect()
    };
    solution.rank.identifiable.iter().position(|combination| alone(combination) == component.parts)
}

/// The unknowns of two solutions in blocks of the same rounds. One may have fewer and longer blocks, whose ends are also ends of the
/// other's: the shorter ones are then averaged.
fn shared_blocks<'s>(a: &'s Solution, b: &'s Solution) -> impl Iterator<Item = (Vec<f64>, Vec<f64>)> + 's {
    let longer = if length(a) >= length(b) { a } else { b };
    let rounds = length(longer);
    longer.blocks.iter().filter_map(move |(from, _)| Some((within(a, *from, rounds)?, within(b, *from, rounds)?)))
}

/// Rounds of the shortest block.
fn length(solution: &Solution) -> u32 {
    solution.blocks.windows(2).map(|pair| pair[1].0 - pair[0].0).min().unwrap_or(u32::MAX)
}

/// The mean unknowns of the blocks that begin within some rounds; `None` for none.
fn within(solution: &Solution, from: u32, rounds: u32) -> Option<Vec<f64>> {
    let inside: Vec<&Vec<f64>> =
        solution.blocks.iter().filter(|(start, _)| *start >= from && *start - from < rounds).map(|(_, unknowns)| unknowns).collect();
    let first = inside.first()?;
    Some((0..first.len()).map(|at| inside.iter().map(|unknowns| unknowns[at]).sum::<f64>() / inside.len() as f64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(low: f64, value: f64, high: f64) -> Estimate {
        Estimate { value, low, high, level: 0.95 }
    }

    #[test]
    fn ends_combine_the_worst_ends_of_both() {
        let found = apart(&within(9.0, 10.0, 11.0), &within(4.0, 5.0, 6.0)).unwrap();
        assert_eq!((found.value, found.low, found.high), (2.0, 1.5, 2.75));
        let negative = apart(&within(-1.0, 1.0, 3.0), &within(4.0, 5.0, 6.0)).unwrap();
        assert_eq!((negative.low, negative.high), (-0.25, 0.75));
        let other = Estimate { level: 0.9, ..within(4.0, 5.0, 6.0) };
        assert_eq!(apart(&within(9.0, 10.0, 11.0), &other).unwrap().level, 0.9);
    }

    #[test]
    fn long_code_of_one_round_has_cycles_that_hold() {
        use crate::observations::Observations;
        let mut table = Observations::new(vec!["body".into()]);
        let (code, chain) = (table.series("code"), table.series("chain"));
        for (series, of_copy, copies) in [(code, 9e6, [1.0, 2.0, 3.0, 4.0]), (chain, 1.5, [64.0, 128.0, 256.0, 512.0])] {
            for (at, n) in copies.into_iter().enumerate() {
                let row = table.row(series, &[n]);
                table.push(row, 0, 40.0 + of_copy * n * (1.0 + [0.001, -0.001, 0.001, -0.001][at]));
            }
        }
        let solve = |series| crate::estimate::solve(&table, series, &crate::estimate::Options::default()).unwrap();
        let (code, chain) = (solve(code), solve(chain));
        let (body, reference) = ((&code, &code.components[0]), (&chain, &chain.components[0]));
        assert_eq!(in_cycles(body, reference, 3.0), None);
        let found = of_few_rounds(body, reference, 3.0, None).unwrap().estimate(0.95);
        assert!(found.contains(1.8e7) && (0.01..0.05).contains(&found.relative()), "{found:?}");
        let moved = of_few_rounds(body, reference, 3.0, Some(ClockSpread { sd: 0.1, runs: 9 })).unwrap().estimate(0.95);
        assert!(moved.relative() > 0.2, "{moved:?}");
        let many = solution(&[5.0, 5.1, 4.9, 5.0, 5.1, 4.9, 5.0, 5.1]);
        assert_eq!(of_few_rounds((&many, &many.components[0]), (&many, &many.components[0]), 3.0, None), None);
    }

    #[test]
    fn alternatives_of_few_rounds_have_a_ratio_that_is_wider() {
        let few = |time: f64| solution(&[time, 1.01 * time]);
        let (a, b) = (few(6.0), few(3.0));
        let (body, other) = ((&a, &a.components[0]), (&b, &b.components[0]));
        let found = of_few_rounds(body, other, 1.0, None).unwrap();
        let sources: Vec<Source> = found.budget.iter().map(|entry| entry.source).collect();
        assert!([Source::Reference, Source::CoreClock].iter().all(|source| sources.contains(source)), "{sources:?}");
        let found = found.estimate(0.95);
        let both = a.components[0].ticks.relative().hypot(b.components[0].ticks.relative());
        assert!(found.contains(2.0) && found.relative() > both, "{found:?}");
        assert_eq!(of_alternatives(body, other), None);
        let below = few(-3.0);
        assert_eq!(of_few_rounds(body, (&below, &below.components[0]), 1.0, None), None);
        let many = solution(&[5.0, 5.1, 4.9, 5.0, 5.1, 4.9, 5.0, 5.1]);
        let enough = (&many, &many.components[0]);
        assert!(of_alternatives(enough, enough).is_some() && of_few_rounds(enough, enough, 1.0, None).is_none());
    }

    /// A solution of one unknown with these values in its blocks.
    fn solution(blocks: &[f64]) -> Solution {
        use crate::observations::Observations;
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        let round = |(round, time): (usize, &f64)| (1..=4u32).map(|n| (n, round as u32, time * f64::from(n) + 9.0)).collect::<Vec<_>>();
        for (n, round, ticks) in blocks.iter().enumerate().flat_map(round) {
            let row = table.row(series, &[f64::from(n)]);
            table.push(row, round, ticks);
        }
        crate::estimate::solve(&table, series, &crate::estimate::Options::default()).unwrap()
    }

    /// The movement of the core clock in the budget of a solution, as a share of its time.
    fn moved_share(code: &Solution, chain: &Solution, between: Option<ClockSpread>) -> Option<f64> {
        match clock_movement((code, &code.components[0]), (chain, &chain.components[0]), between)?.spread {
            Spread::Standard { sd, .. } => Some(sd / code.components[0].ticks.value),
            Spread::Bound(_) => None,
        }
    }

    #[test]
    fn time_follows_the_core_clock_only_as_far_as_its_blocks_do() {
        let levels: Vec<f64> = (0..32).map(|block| if block / 8 % 2 == 0 { 1.0 } else { 1.05 }).collect();
        let times = |share: f64| levels.iter().map(|level| 50.0 * (1.0 + share * (level - 1.0))).collect::<Vec<f64>>();
        let (chain, core_bound, memory_bound) = (solution(&levels), solution(&times(1.0)), solution(&times(0.0)));
        let sd = |code: &Solution| moved_share(code, &chain, None).unwrap();
        assert!((sd(&core_bound) - 0.025).abs() < 0.002, "{}", sd(&core_bound));
        assert!(sd(&memory_bound) < 1e-6, "{}", sd(&memory_bound));
        let few = solution(&levels[..6]);
        assert!(moved_share(&few, &few, None).is_none());
    }

    #[test]
    fn movement_between_runs_counts_where_it_is_larger_than_that_within_the_run() {
        let levels = |step: f64| -> Vec<f64> { (0..32).map(|block| if block / 8 % 2 == 0 { 1.0 } else { 1.0 + step }).collect() };
        let memory_bound = solution(&[50.0; 32]);
        let (still, moving) = (solution(&levels(0.0004)), solution(&levels(0.05)));
        let between = |sd: f64| Some(ClockSpread { sd, runs: 12 });
        // A clock that stood still does not show that the time of memory does not follow it.
        assert!((moved_share(&memory_bound, &still, between(0.02)).unwrap() - 0.02).abs() < 1e-9);
        assert!((moved_share(&still, &still, between(0.02)).unwrap() - 0.02).abs() < 1e-9);
        assert!((moved_share(&moving, &moving, between(0.001)).unwrap() - 0.025).abs() < 0.002);
        assert!(moved_share(&memory_bound, &moving, between(0.04)).unwrap() < 1e-6);
        // With few blocks earlier runs are all that is known.
        let few = solution(&[1.0; 6]);
        assert!((moved_share(&few, &few, between(0.02)).unwrap() - 0.02).abs() < 1e-9);
    }

    #[test]
    fn old_time_below_resolution_gives_no_upper_end_whatever_its_sign() {
        let some = |old: f64| apart(&within(9.0, 10.0, 11.0), &within(-0.5, old, 0.5)).unwrap();
        for old in [0.1, -0.1, 0.0] {
            assert_eq!((some(old).low, some(old).high), (18.0, f64::INFINITY));
        }
        let both = apart(&within(-0.5, 0.1, 0.5), &within(-0.5, 0.1, 0.5)).unwrap();
        assert_eq!((both.low, both.high), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(apart(&within(1.0, 1.0, 1.0), &within(-3.0, -2.0, -1.0)), None);
        assert_eq!(apart(&within(1.0, f64::NAN, 1.0), &within(1.0, 1.0, 1.0)), None);
    }
}
