use super::*;
use crate::order::ordered;
use crate::store::{Figure, NewRun, SeriesKey, Sqlite};

/// A history of runs with the values of some series each.
fn history(runs: &[&[(&str, f64)]]) -> (tempfile::TempDir, Sqlite) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Sqlite::create(&folder.path().join("h.db")).unwrap();
    for (at, values) in runs.iter().enumerate() {
        let figure = |(name, value): &(&str, f64)| Figure {
            series: SeriesKey {
                name: (*name).to_owned(),
                component: if *name == "core cycle" { "host".into() } else { "body".into() },
                unit: "ns".into(),
                code: String::new(),
            },
            value: *value,
            low: value * 0.995,
            high: value * 1.005,
            level: 0.95,
            trusted: true,
            findings: String::new(),
        };
        let run = Run {
            hash: at.to_string(),
            made: at as i64,
            commit: Some(format!("{at:040}")),
            ..Run::default()
        };
        let figures = values.iter().map(figure).collect();
        store.add(&NewRun { run, figures, document: String::new() }).unwrap();
    }
    (folder, store)
}

fn judged(store: &Sqlite) -> HistoryDocument {
    let runs = store.runs().unwrap();
    let terms = Terms {
        command: "history check".into(),
        database: "h.db".into(),
        options: Options::default(),
        threshold: 0.02,
        new_points: 10,
        with_points: true,
        wanted: Wanted::default(),
    };
    judge(store, &runs, &ordered(&runs, &[]), &terms).unwrap()
}

/// Values that move a little, in turn.
fn around(value: f64, at: usize) -> f64 {
    value * (1.0 + 0.002 * [0.0, 1.0, -1.0, 0.5, -0.5][at % 5])
}

#[test]
fn a_new_step_for_the_worse_is_past_the_limit_and_an_old_one_is_not() {
    let runs: Vec<Vec<(&str, f64)>> = (0..40)
        .map(|at| {
            vec![
                ("new", around(if at < 36 { 10.0 } else { 12.0 }, at)),
                ("old", around(if at < 10 { 10.0 } else { 12.0 }, at)),
                ("better", around(if at < 36 { 10.0 } else { 9.0 }, at)),
                ("flat", around(10.0, at)),
            ]
        })
        .collect();
    let runs: Vec<&[(&str, f64)]> = runs.iter().map(Vec::as_slice).collect();
    let (_folder, store) = history(&runs);
    let found = judged(&store);
    assert_eq!((found.counts.past, found.counts.steps, found.counts.series), (1, 3, 4));
    let first = &found.series[0];
    assert_eq!(first.name, "new");
    let step = &first.steps[0];
    assert_eq!((step.at, step.past, step.worse), (36, true, true));
    assert!((step.rise_percent.value - 20.0).abs() < 0.5, "{:?}", step.rise_percent);
    assert_eq!(step.at_commit.as_deref(), Some(&*format!("{:040}", 36)));
    assert!(first.smallest_step_percent.unwrap() < 5.0);
}

#[test]
fn a_step_of_the_core_clock_is_one_of_the_host() {
    let runs: Vec<Vec<(&str, f64)>> = (0..40)
        .map(|at| {
            let cycle = if at < 34 { 0.3 } else { 0.33 };
            vec![
                ("core cycle", around(cycle, at)),
                ("follows", around(20.0 * cycle, at + 1)),
                ("more", around(20.0 * cycle * if at < 34 { 1.0 } else { 1.3 }, at + 2)),
            ]
        })
        .collect();
    let runs: Vec<&[(&str, f64)]> = runs.iter().map(Vec::as_slice).collect();
    let (_folder, store) = history(&runs);
    let found = judged(&store);
    let of = |name: &str| found.series.iter().find(|one| one.name == name).unwrap();
    assert!(of("follows").steps[0].of_host && !of("follows").steps[0].past);
    assert!(!of("more").steps[0].of_host && of("more").steps[0].past);
    assert_eq!(found.counts.past, 1);
}

#[test]
fn an_empty_history_has_no_series() {
    let (_folder, store) = history(&[]);
    let found = judged(&store);
    assert_eq!((found.counts.series, found.runs, found.commits), (0, 0, 0));
}
