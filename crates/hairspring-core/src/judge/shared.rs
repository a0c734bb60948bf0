//! Stretches of time in which something else used the core: a process on the other hardware thread slows some chains
//! and not others, and only a chain of known length shows it.

use super::solver::Ruler;
use crate::estimate::levels::noise;
use crate::estimate::{Options, solve};
use crate::observations::{Flags, Observations};
use std::ops::Range;

/// A stretch is doubted if the control chain is off its known length by more than this share ...
const OFF: f64 = 0.006;
/// ... and by more than this many times the noise of a stretch.
const OVER_NOISE: f64 = 4.0;
/// Largest share of doubted stretches that is left out. Beyond it too little would remain to measure with.
const MOST: f64 = 0.5;

/// Flags the readings of the rounds in which a control chain was off its known length, and clears the flag of all others.
pub fn flag_shared_rounds(table: &mut Observations, options: &Options) {
    table.mark(&[], Flags::SHARED);
    let rounds = shared_rounds(table, options).unwrap_or_default();
    table.mark(&rounds, Flags::SHARED);
}

/// The rounds of the stretches in which a control chain was off; empty if most stretches were.
fn shared_rounds(table: &Observations, options: &Options) -> Option<Vec<Range<u32>>> {
    let ruler = Ruler::from_table(table, options)?;
    let all: Vec<Lengths> = table.origin.controls.iter().filter_map(|chain| lengths(table, &ruler, chain, options)).collect();
    let mut starts: Vec<u32> = all.iter().flatten().map(|(from, _)| *from).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut off: Vec<u32> = all.iter().flat_map(off).collect();
    off.sort_unstable();
    off.dedup();
    let few = off.len() as f64 <= MOST * starts.len() as f64;
    starts.push(table.rounds());
    let end = |from: u32| starts.iter().copied().find(|start| *start > from).unwrap_or(u32::MAX);
    few.then(|| without_own(off.into_iter().map(|from| from..end(from)).collect(), table))
}

/// The rounds without those of a layout of the code that would lose most of its rounds: what happens in one layout and not in the others is the
/// code's own doing. Stores that cross pages, in one layout of a `memcpy`, were seen to lengthen the chains behind them.
fn without_own(rounds: Vec<Range<u32>>, table: &Observations) -> Vec<Range<u32>> {
    let Some(turns) = table.turns() else { return rounds };
    let shared = |of: &Range<u32>| -> u32 { rounds.iter().map(|one| one.end.min(of.end).saturating_sub(one.start.max(of.start))).sum() };
    let (mut all, mut lost) = (vec![0.0; turns.layouts], vec![0.0; turns.layouts]);
    for (layout, placement) in turns.iter() {
        all[layout] += f64::from(placement.end - placement.start);
        lost[layout] += f64::from(shared(placement));
    }
    let own = turns.iter().filter(|(layout, _)| lost[*layout] > MOST * all[*layout]);
    own.fold(rounds.clone(), |rest, (_, placement)| rest.iter().flat_map(|one| without(one, placement)).collect())
}

/// A range of rounds without those of another one.
fn without(rounds: &Range<u32>, other: &Range<u32>) -> impl Iterator<Item = Range<u32>> {
    let (before, behind) = (rounds.start..rounds.end.min(other.start), rounds.start.max(other.end)..rounds.end);
    [before, behind].into_iter().filter(|part| !part.is_empty())
}

/// The first round of each stretch, with the measured length of a chain over its known length.
type Lengths = Vec<(u32, f64)>;

fn lengths(table: &Observations, ruler: &Ruler, (name, expected): &(String, f64), options: &Options) -> Option<Lengths> {
    let control = solve(table, table.find_series(name)?, options).ok()?;
    let length = |from: u32, ticks: f64| {
        let reference = ruler.solution.blocks.iter().find(|(other, _)| *other == from)?;
        Some((from, ticks / reference.1[0] * ruler.cycles / expected))
    };
    Some(control.blocks.iter().filter_map(|(from, unknowns)| length(*from, unknowns[0])).collect())
}

/// The first rounds of the stretches in which the chain was off its known length.
fn off(lengths: &Lengths) -> Vec<u32> {
    let limit = OFF.max(OVER_NOISE * noise(&lengths.iter().map(|(_, length)| *length).collect::<Vec<f64>>()));
    lengths.iter().filter(|(_, length)| (length - 1.0).abs() > limit).map(|(from, _)| *from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Question, assess};

    /// A core that another process shares during some rounds: all chains except the ruler then take longer.
    fn table(shared: impl Fn(u32) -> bool) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        let series = [("code", 4.0), ("ruler", 3.0), ("control", 1.0)].map(|(name, length)| (table.series(name), length));
        for round in 0..640u32 {
            for (series, length) in series {
                let slower = if shared(round) && length != 3.0 { 1.05 } else { 1.0 };
                for copies in [64u32, 128, 256, 512] {
                    let row = table.row(series, &[f64::from(copies)]);
                    let wobble = f64::from((round * 7 + copies / 64 * 13) % 11) / 10.0;
                    table.push(row, round, slower * length * f64::from(copies) + 60.0 + wobble);
                }
            }
        }
        table.origin.reference = Some(("ruler".into(), 3.0));
        table.origin.controls = vec![("control".into(), 1.0)];
        table
    }

    fn flagged(table: &Observations) -> usize {
        table.readings().iter().filter(|reading| reading.flags.contains(Flags::SHARED)).count()
    }

    #[test]
    fn shared_rounds_are_left_out_and_the_rest_is_right() {
        let mut table = table(|round| (200..340).contains(&round));
        flag_shared_rounds(&mut table, &Options::default());
        assert_eq!(flagged(&table), 140 * 12);
        let found = assess(&table, &Question::default()).unwrap();
        let cycles = found.series[0].components[0].time.cycles.as_ref().unwrap().value;
        assert!((cycles / 4.0 - 1.0).abs() < 1e-3, "{cycles}");
        flag_shared_rounds(&mut table, &Options::default());
        assert_eq!(flagged(&table), 140 * 12);
    }

    #[test]
    fn rounds_of_a_layout_that_lengthens_the_chains_itself_are_used() {
        // Eight placements of four layouts, of which the last one is slow; a neighbour is there for half of a placement of the first one.
        let mut table = table(|round| round / 80 % 4 == 3 || (320..360).contains(&round));
        table.origin.placements = (1..8).map(|at| at * 80).collect();
        flag_shared_rounds(&mut table, &Options::default());
        assert!(flagged(&table) >= 160 * 12, "{} readings are flagged", flagged(&table));
        table.origin.layouts = 4;
        flag_shared_rounds(&mut table, &Options::default());
        let is_flagged = |reading: &&crate::observations::Reading| reading.flags.contains(Flags::SHARED);
        let rounds: Vec<u32> = table.readings().iter().filter(is_flagged).map(|reading| reading.round).collect();
        assert!(!rounds.is_empty() && rounds.iter().all(|round| (320..400).contains(round)), "{rounds:?}");
    }

    #[test]
    fn no_rounds_are_left_out_of_a_run_that_is_quiet_or_shared_throughout() {
        for shared in [false, true] {
            let mut table = table(|_| shared);
            flag_shared_rounds(&mut table, &Options::default());
            assert_eq!(flagged(&table), 0);
        }
    }
}
