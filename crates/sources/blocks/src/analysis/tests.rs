use super::*;
use hairspring_core::judge::shared_finding;

/// Rows of a straight line of three blocks that are also ended early, the last two of which
/// overlap.
fn overlapping(by: f64) -> Analysis {
    let graph =
        crate::graph::tests::graph(3, &[(0, Some(1)), (1, Some(2)), (2, Some(2)), (2, None)]);
    let mut table = Observations::new(Unknowns::Blocks.names(&graph));
    let series = table.series(SERIES);
    let mut rows = Vec::new();
    for trips in 1..=20u64 {
        for (blocks, until) in [([1, trips, trips], None), ([1, trips, trips - 1], Some(2))] {
            let counts = blocks.map(|count| count as f64);
            let row = table.row_apart(series, &counts);
            // Ended early, the last trip of block 1 takes long.
            let ticks = 80.0 + 10.0 * counts[1] + if until.is_some() { by } else { 0.0 };
            (0..8).for_each(|round| {
                table.push(
                    row,
                    round,
                    ticks + 0.2 * f64::from(round % 2) + 0.1 * (trips % 3) as f64,
                )
            });
            rows.push(CountRow {
                counts: Counts { blocks: blocks.to_vec(), edges: vec![0; 4] },
                until,
                counted: None,
            });
        }
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
fn a_clearly_negative_time_shows_that_parts_overlap() {
    assert!(overlapping(0.0).quality.carried == Some(true), "{:?}", overlapping(0.0).quality);
    let analysis = overlapping(4.0);
    assert!(analysis.quality.negative && !analysis.quality.is_carried(), "{:?}", analysis.quality);
    assert!(
        analysis.findings.iter().any(|finding| finding.is(code::NEGATIVE)),
        "{:?}",
        analysis.findings
    );
}

/// Calls of 78 ticks beside an overhead of 80, all by the same path: two blocks that run once.
/// Functions of the page tell the overhead, if there are any.
pub fn of_one_path(with_page: bool) -> Analysis {
    let graph = crate::graph::tests::graph(2, &[(0, Some(1)), (1, None)]);
    let mut table = Observations::new(
        Unknowns::Blocks.names(&graph).into_iter().chain([PAGE_CHAIN.to_owned()]).collect(),
    );
    let series = table.series(SERIES);
    let mut push = |counts: [f64; 3], ticks: f64| {
        let row = table.row_apart(series, &counts);
        (0..12)
            .for_each(|round| table.push(row, round, ticks + 0.2 * (f64::from(round % 3) - 1.0)));
    };
    push([1.0, 1.0, 0.0], 158.0);
    [16.0, 32.0, 64.0]
        .iter()
        .filter(|_| with_page)
        .for_each(|copies| push([0.0, 0.0, *copies], 80.0 + 3.0 * copies));
    let rows = [CountRow {
        counts: Counts { blocks: vec![1, 1], edges: vec![1, 1] },
        until: None,
        counted: None,
    }];
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

fn sum_of_shares(analysis: &Analysis) -> f64 {
    (0..analysis.series().components.len()).filter_map(|at| analysis.own_share(at)).sum()
}

#[test]
fn parts_that_tell_everything_are_all_of_a_short_call() {
    let analysis = of_one_path(true);
    assert!(
        (analysis.mean_call - 158.0).abs() < 0.5
            && (analysis.own_call().unwrap() - 78.0).abs() < 1.0,
        "{}",
        analysis.mean_call
    );
    assert!((sum_of_shares(&analysis) - 1.0).abs() < 0.02, "{}", sum_of_shares(&analysis));
    // Where the overhead is not known, it is in the parts and in the call.
    let analysis = of_one_path(false);
    assert!(
        analysis.own_call() == Some(analysis.mean_call)
            && (sum_of_shares(&analysis) - 1.0).abs() < 0.02,
        "{}",
        sum_of_shares(&analysis)
    );
}

#[test]
fn calls_that_take_no_longer_than_the_overhead_have_no_shares() {
    let mut analysis = of_one_path(true);
    analysis.mean_call = 70.0;
    assert!(
        analysis.own_call().is_none()
            && analysis.own_share(0).is_none()
            && analysis.share(0).is_some()
    );
}

#[test]
fn what_is_in_no_part_is_judged_without_the_overhead_of_the_whole_call() {
    let mut analysis = of_one_path(true);
    // Half of what was timed is the overhead, and nothing else is beside the parts.
    assert!((analysis.mean_call - 158.0).abs() < 0.5 && rest(&analysis).is_none());
    analysis.mean_call += 80.0;
    assert!(rest(&analysis).is_some());
}

#[test]
fn a_small_control_chain_error_is_a_warning() {
    let weight = |control_cycles: f64| {
        with_lenient_control(shared_finding(Severity::Untrusted, control_cycles, 1.0)).severity
    };
    assert_eq!(
        (weight(1.007), weight(0.985), weight(1.03)),
        (Severity::Warning, Severity::Warning, Severity::Untrusted)
    );
}
