//! Negative times: they show that a sum is wrong, unless noise explains them. All parts are judged
//! together, and by their size.

use super::{Analysis, BlocksFinding};
use hairspring_core::estimate::{Component, Contribution, Source, Uncertain};
use hairspring_core::judge::{Finding, Severity, negative_finding};

/// Size of what is negative, as a share of a call, above which the sum is wrong, and above which it
/// is doubtful.
const WRONG_SHARE: f64 = 0.05;
const DOUBTFUL_SHARE: f64 = 0.01;
/// Size from which the sum is wrong although the overlap of neighbours may explain it: how most of
/// the call is shared is not known.
const MOST_OVERLAP: f64 = 0.5;

/// The level at which `parts` intervals hold together as often as one does at `level`.
pub fn family_level(level: f64, parts: usize) -> f64 {
    1.0 - (1.0 - level) / parts.max(1) as f64
}

/// A part that is surely negative, and its size as a share of all calls.
struct Negative {
    component: usize,
    share: f64,
}

/// A finding if parts are surely negative: untrusted if they make up a good part of a call, since
/// other times are then too large by as much; else with the severity of their size.
pub fn negative(analysis: &Analysis) -> Option<Finding> {
    let all_negative = surely_negative(analysis);
    let worst = all_negative.iter().max_by(|a, b| a.share.total_cmp(&b.share))?;
    let share: f64 = all_negative.iter().map(|one| one.share).sum();
    let explained = share <= MOST_OVERLAP
        && all_negative
            .iter()
            .all(|one| is_share_unknown(&analysis.series().solution.components[one.component]));
    if share > WRONG_SHARE && !explained {
        return Some(worst_of(analysis, worst.component));
    }
    let severity = if share > DOUBTFUL_SHARE { Severity::Warning } else { Severity::Note };
    let parts = all_negative
        .iter()
        .map(|one| analysis.series().components[one.component].name.clone())
        .collect();
    Some(Finding::new(
        severity,
        BlocksFinding::NegativeParts { parts, share_percent: 100.0 * share },
    ))
}

/// Whether times that are not negative describe the rows nearly as well, and the interval reaches
/// to them: then only the share of neighbours that overlap is not known.
fn is_share_unknown(part: &Component) -> bool {
    part.uncertain.budget.iter().any(is_overlap)
}

fn is_overlap(entry: &Contribution) -> bool {
    entry.source == Source::Negative
}

/// A part without what its interval holds because neighbours overlap.
fn as_solved(part: &Component) -> Uncertain {
    let budget = part.uncertain.budget.iter().filter(|entry| !is_overlap(entry)).copied().collect();
    Uncertain { value: part.uncertain.value, budget }
}

fn worst_of(analysis: &Analysis, component: usize) -> Finding {
    let part = &analysis.series().components[component];
    let (value, unit) =
        part.time.ns.as_ref().map_or((part.time.ticks.value, "ticks"), |ns| (ns.value, "ns"));
    negative_finding(&part.name, value, unit)
}

/// Whether a part is below zero by more than noise and the ends of calls explain.
pub fn is_beyond_noise(part: &Component, level: f64) -> bool {
    let noise = |source| part.uncertain.part(source, level);
    part.ticks.value + noise(Source::Noise) + noise(Source::Ends) < 0.0
}

/// The parts whose interval at the level of the whole family is below zero; and those that are
/// negative by a good part of a call, if noise alone does not explain it: a departure of that size
/// makes every interval wide.
fn surely_negative(analysis: &Analysis) -> Vec<Negative> {
    let components = &analysis.series().solution.components;
    let parts = components.iter().filter(|part| !part.is_difference()).count();
    let negative_part = |(component, part): (usize, &Component)| {
        let level = family_level(part.ticks.level, parts);
        let share = analysis.size(component);
        let is_negative = as_solved(part).estimate(level).high < 0.0
            || share > WRONG_SHARE && is_beyond_noise(part, level);
        (!part.is_difference() && is_negative).then_some(Negative { component, share })
    };
    components.iter().enumerate().filter_map(negative_part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{CountRow, PAGE_CHAIN, SERIES, Structure, Unknowns, analyse};
    use crate::graph::{Counts, tests::graph};
    use hairspring_core::judge::{Question, code};
    use hairspring_core::observations::Observations;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Sixteen arms in a row that take nothing beside a block of 400 ticks, but the first one,
    /// which takes `first`.
    fn arms(seed: u64, first: f64) -> Analysis {
        const ARMS: usize = 16;
        let edges: Vec<(usize, Option<usize>)> =
            (0..=ARMS).map(|at| (at, (at < ARMS).then_some(at + 1))).collect();
        let graph = graph(ARMS + 1, &edges);
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let names =
            Unknowns::Blocks.names(&graph).into_iter().chain([PAGE_CHAIN.to_owned()]).collect();
        let mut table = Observations::new(names);
        let series = table.series(SERIES);
        let mut rows = Vec::new();
        for at in 0..80 {
            let trips = 1 + at % 9;
            let blocks: Vec<u64> = std::iter::once(trips)
                .chain((0..ARMS).map(|_| random.random_range(0..=trips)))
                .collect();
            let counts: Vec<f64> = blocks.iter().map(|count| *count as f64).chain([0.0]).collect();
            let row = table.row_apart(series, &counts);
            let exact = 80.0 + 400.0 * counts[0] + first * counts[1];
            (0..12).for_each(|round| {
                table.push(
                    row,
                    round,
                    exact + (0..4).map(|_| random.random_range(-9.0..9.0)).sum::<f64>(),
                )
            });
            rows.push(CountRow {
                counts: Counts { edges: vec![0; graph.edges.len()], blocks },
                until: None,
                counted: None,
            });
        }
        for copies in [16.0, 32.0, 64.0] {
            let row = table.row_apart(series, &[vec![0.0; ARMS + 1], vec![copies]].concat());
            (0..12).for_each(|round| {
                table.push(row, round, 80.0 + 3.0 * copies + f64::from(round % 3))
            });
        }
        analyse(
            &graph,
            &Structure::from_graph(&graph),
            &rows,
            Unknowns::Blocks,
            &table,
            &Question::default(),
            None,
        )
        .unwrap()
    }

    #[test]
    fn sixteen_parts_of_nothing_are_hardly_ever_refused() {
        let analyses: Vec<Analysis> = (0..60).map(|seed| arms(seed, 0.0)).collect();
        let number_found = |code: &str| {
            analyses
                .iter()
                .filter(|one| one.findings.iter().any(|finding| finding.is(code)))
                .count()
        };
        assert!(analyses.iter().all(|one| one.quality.is_carried()));
        assert!(
            number_found("negative_parts") <= 5 && number_found(code::NEGATIVE) == 0,
            "{}",
            number_found("negative_parts")
        );
    }

    #[test]
    fn size_decides_what_a_negative_time_means() {
        let worst = |first: f64| {
            let analysis = arms(1, first);
            let is_about =
                |finding: &&Finding| finding.is(code::NEGATIVE) || finding.is("negative_parts");
            (
                analysis.quality.is_carried(),
                analysis.findings.iter().find(is_about).map(|finding| finding.severity),
            )
        };
        assert_eq!(worst(-5.0), (true, Some(Severity::Note)));
        assert_eq!(worst(-20.0), (true, Some(Severity::Warning)));
        assert_eq!(worst(-120.0), (false, Some(Severity::Untrusted)));
    }

    #[test]
    fn overlap_explains_a_negative_time_that_is_less_than_half_of_a_call() {
        let severity = |first: f64| {
            let mut analysis = arms(1, first);
            for part in &mut analysis.assessment.series[0].solution.components {
                part.uncertain
                    .budget
                    .push(Contribution::bound(Source::Negative, 2.0 * first.abs()));
            }
            negative(&analysis).map(|finding| finding.severity)
        };
        assert_eq!(
            (severity(-120.0), severity(-300.0)),
            (Some(Severity::Warning), Some(Severity::Untrusted))
        );
    }
}
