use super::super::{Analysis, PAGE_CHAIN, Place, Structure, Unknowns, analyse};
use super::*;
use crate::graph::{Counts, Graph, tests::graph};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Calls with these counts and times, beside functions of the page with an overhead of 80 ticks;
/// `off` is how calls differ.
fn analysis(
    graph: &Graph,
    times: &[f64],
    off: f64,
    calls: impl Iterator<Item = Vec<u64>>,
) -> Analysis {
    let names = Unknowns::Blocks.names(graph).into_iter().chain([PAGE_CHAIN.to_owned()]).collect();
    let mut table = Observations::new(names);
    let series = table.series(SERIES);
    let mut rows = Vec::new();
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let mut push = |counts: Vec<f64>, ticks: f64, off: f64| {
        let row = table.row_apart(series, &counts);
        let differs = off * random.random_range(-1.0..1.0);
        (0..12).for_each(|round| {
            table.push(row, round, ticks + differs + random.random_range(-0.5..0.5))
        });
    };
    for blocks in calls {
        let counts: Vec<f64> = blocks.iter().map(|count| *count as f64).chain([0.0]).collect();
        push(
            counts.clone(),
            80.0 + counts.iter().zip(times).map(|(count, time)| count * time).sum::<f64>(),
            off,
        );
        rows.push(CountRow {
            counts: Counts { edges: vec![0; graph.edges.len()], blocks },
            until: None,
            counted: None,
        });
    }
    [16.0, 32.0, 64.0].iter().for_each(|copies| {
        push([vec![0.0; times.len()], vec![*copies]].concat(), 80.0 + 3.0 * copies, 0.0)
    });
    analyse(
        graph,
        &Structure::from_graph(graph),
        &rows,
        Unknowns::Blocks,
        &table,
        &Question::default(),
        None,
    )
    .unwrap()
}

/// A loop with its test at the head; a call in ten leaves it in the middle.
fn scan(off: f64) -> Analysis {
    let graph = graph(3, &[(0, Some(1)), (1, Some(2)), (1, None), (2, Some(1)), (2, None)]);
    let call = |at: u64| {
        let trips = 5 + at * 7 % 40;
        vec![1, trips + u64::from(at % 10 != 0), trips]
    };
    analysis(&graph, &[30.0, 5.0, 7.0], off, (0..60).map(call))
}

fn part<'a>(analysis: &'a Analysis, lead: &str) -> &'a Component {
    analysis.series().solution.components.iter().find(|part| part.parts[0].0 == lead).unwrap()
}

#[test]
fn a_test_that_runs_once_more_than_its_loop_is_told_with_both() {
    let analysis = scan(8.0);
    let (trip, call) = (part(&analysis, "B3"), part(&analysis, "B1"));
    assert_eq!((&trip.name[..], &call.name[..]), ("B3 + B2", "B1 + B2"));
    assert!((trip.ticks.value - 12.0).abs() < 0.5 && trip.ticks.half_width() < 0.5, "{trip:?}");
    assert!((call.ticks.value - 35.0).abs() < 8.0 && call.ticks.half_width() < 20.0, "{call:?}");
    let at = |name: &str| {
        analysis
            .series()
            .solution
            .components
            .iter()
            .position(|part| part.parts[0].0 == name)
            .unwrap()
    };
    assert_eq!(analysis.places[1], Place::Together(at("B3")));
    let shares = analysis.share(at("B3")).unwrap() + analysis.share(at("B1")).unwrap();
    assert!((shares - (1.0 - 80.0 / analysis.mean_call)).abs() < 0.05, "{shares}");
}

#[test]
fn what_is_told_as_a_difference_alone_is_no_time() {
    // 1 goes to 3 by itself or by 2: 1 runs as often as 3, and neither is told from the way
    // without 2.
    let graph = graph(
        4,
        &[(0, Some(1)), (1, Some(2)), (1, Some(3)), (2, Some(3)), (3, Some(1)), (3, None)],
    );
    let call = |at: u64| vec![1, 8 + at % 9, 2 + at % 5, 8 + at % 9];
    let found_analysis = analysis(&graph, &[30.0, 5.0, 7.0, 2.0], 0.1, (0..60).map(call));
    let of_difference = |at: usize| found_analysis.series().solution.components[at].is_difference();
    let is_shown = |place: &Place| {
        matches!(place,
        Place::Alone(at) | Place::With(at) | Place::Together(at) if of_difference(*at))
    };
    assert!(!found_analysis.places.iter().any(is_shown), "{:?}", found_analysis.places);
}

#[test]
fn two_blocks_of_a_trip_are_told_together_though_ends_between_them_tell_them_apart() {
    // One call of 0 -> 1 -> 2 -> 1 ... -> out, ended at several arrivals at both.
    let graph = graph(3, &[(0, Some(1)), (1, Some(2)), (2, Some(1)), (1, None)]);
    let calls = [
        (5001, 5000),
        (1000, 1000),
        (2500, 2500),
        (4000, 4000),
        (1000, 999),
        (2500, 2499),
        (4000, 3999),
    ];
    let found_analysis = analysis(
        &graph,
        &[30.0, 0.5, 0.75],
        20.0,
        calls.into_iter().map(|(head, body)| vec![1, head, body]),
    );
    let trip = part(&found_analysis, "B3");
    assert!(
        trip.name == "B3 + B2"
            && (trip.ticks.value - 1.25).abs() < 0.02
            && trip.ticks.half_width() < 0.05,
        "{trip:?}"
    );
}

#[test]
fn parts_that_are_known_well_stay_alone() {
    let analysis = scan(0.1);
    assert!(
        !analysis.told_together
            && analysis.places.iter().all(|place| matches!(place, Place::Alone(_))),
        "{:?}",
        analysis.places
    );
    assert!((part(&analysis, "B2").ticks.value - 5.0).abs() < 0.5, "{:?}", part(&analysis, "B2"));
}

#[test]
fn a_dispatch_that_overlaps_what_it_jumps_to_is_told_with_that() {
    // 0 -> 1 -> 2 or 3 -> 1, 1 -> out: the rows say that the dispatch takes less than nothing.
    let graph = graph(
        4,
        &[(0, Some(1)), (1, Some(2)), (1, Some(3)), (2, Some(1)), (3, Some(1)), (1, None)],
    );
    let call = |at: u64| vec![1, 21 + at % 7 + at % 11, 10 + at % 7, 10 + at % 11];
    let found_analysis = analysis(&graph, &[30.0, -6.0, 20.0, 30.0], 0.1, (0..60).map(call));
    for (lead, name, time) in [("B3", "B3 + B2", 14.0), ("B4", "B4 + B2", 24.0)] {
        let told = part(&found_analysis, lead);
        assert!(told.name == name && (told.ticks.value - time).abs() < 0.5, "{told:?}");
    }
    assert!(
        found_analysis.quality.is_carried() && !found_analysis.quality.negative,
        "{:?}",
        found_analysis.findings
    );
}

/// Parts of a long call of 0 -> 1 -> 2 or 3 -> 1, 1 -> out: they begin at 1, in another order of
/// the arms each, and end at a later arrival at 1, 2 or 3, where the core has something left to do
/// that is not the same at each.
fn parts_of_trips() -> Analysis {
    let graph = graph(
        4,
        &[(0, Some(1)), (1, Some(2)), (1, Some(3)), (2, Some(1)), (3, Some(1)), (1, None)],
    );
    let names = Unknowns::Blocks.names(&graph).into_iter().chain([PAGE_CHAIN.to_owned()]).collect();
    let mut table = Observations::new(names);
    let series = table.series(SERIES);
    let mut random = Pcg64Mcg::seed_from_u64(9);
    let mut rows = Vec::new();
    for _ in 0..60 {
        let arms: Vec<usize> = (0..24).map(|_| random.random_range(2..4)).collect();
        let ended_arm = 4 + random.random_range(0..20);
        for (until, left_time) in
            [(1, -9.0), (arms[ended_arm], if arms[ended_arm] == 2 { 14.0 } else { -6.0 })]
        {
            let runs =
                |arm: usize| arms[..ended_arm].iter().filter(|one| **one == arm).count() as u64;
            let blocks = vec![0, ended_arm as u64 + u64::from(until != 1), runs(2), runs(3)];
            let counts: Vec<f64> = blocks.iter().map(|count| *count as f64).chain([0.0]).collect();
            let row = table.row_apart(series, &counts);
            let ticks = 80.0
                + 3.0 * counts[1]
                + 20.0 * counts[2]
                + 31.0 * counts[3]
                + left_time
                + random.random_range(-2.0..2.0);
            (0..12)
                .for_each(|round| table.push(row, round, ticks + random.random_range(-0.5..0.5)));
            rows.push(CountRow {
                counts: Counts { edges: vec![0; 6], blocks },
                until: Some(until),
                counted: None,
            });
        }
    }
    // The whole call has a row without readings.
    table.row_apart(series, &[1.0, 2_000.0, 1_000.0, 1_000.0, 0.0]);
    let whole = Counts { edges: vec![0; 6], blocks: vec![1, 2_000, 1_000, 1_000] };
    rows.push(CountRow { counts: whole, until: None, counted: None });
    for copies in [16.0, 32.0, 64.0] {
        let row = table.row_apart(series, &[0.0, 0.0, 0.0, 0.0, copies]);
        (0..12).for_each(|round| table.push(row, round, 80.0 + 3.0 * copies));
    }
    let call = Some(70_000.0);
    analyse(
        &graph,
        &Structure::from_graph(&graph),
        &rows,
        Unknowns::Blocks,
        &table,
        &Question::default(),
        call,
    )
    .unwrap()
}

#[test]
fn parts_of_a_call_tell_trips_and_not_what_is_left_to_do_where_they_end() {
    let analysis = parts_of_trips();
    for (lead, time) in [("B3", 23.0), ("B4", 34.0)] {
        let trip = part(&analysis, lead);
        assert!(trip.parts.iter().map(|(name, _)| &name[..]).eq([lead, "B2"]), "{:?}", trip.parts);
        assert!(
            (trip.ticks.value - time).abs() < trip.ticks.half_width()
                && trip.ticks.half_width() < 4.0,
            "{trip:?}"
        );
    }
    // The block that is in no part is told nowhere.
    let components = analysis.series().solution.components.len();
    let is_there = |place: &Place| match place {
        Place::Alone(at) | Place::With(at) | Place::Together(at) | Place::Combined(at) => {
            *at < components
        }
        Place::NeverRan | Place::Common => true,
    };
    assert!(
        analysis.places.iter().all(is_there) && analysis.places[0] == Place::NeverRan,
        "{:?}",
        analysis.places
    );
    let rest = crate::analysis::rest(&analysis).unwrap();
    assert!(
        rest.number("low_percent").unwrap() < 18.6 && rest.number("high_percent").unwrap() > 18.6,
        "{rest:?}"
    );
}

#[test]
fn a_block_behind_two_arms_is_told_with_each() {
    // 0 -> 1 -> 2 or 3 -> 4 -> 1 or out
    let edges = [
        (0, Some(1)),
        (1, Some(2)),
        (1, Some(3)),
        (2, Some(4)),
        (3, Some(4)),
        (4, Some(1)),
        (4, None),
    ];
    let call =
        |at: u64| vec![1, 5 + at % 7 + at % 11, 2 + at % 7, 3 + at % 11, 5 + at % 7 + at % 11];
    let found_analysis =
        analysis(&graph(5, &edges), &[30.0, 5.0, 7.0, 17.0, 2.0], 0.1, (0..60).map(call));
    for (lead, time) in [("B1", 30.0), ("B3", 14.0), ("B4", 24.0)] {
        let told = part(&found_analysis, lead);
        assert!((told.ticks.value - time).abs() < 1.0 && told.ticks.half_width() < 2.0, "{told:?}");
    }
    assert!(
        part(&found_analysis, "B3").parts.iter().map(|(name, _)| &name[..]).eq(["B3", "B2", "B5"]),
        "{:?}",
        part(&found_analysis, "B3").parts
    );
}
