use super::super::design::{Pilot, components, rows};
use super::*;
use hairspring_core::observations::Rate;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Made-up windows in placements of 20 rounds, in which a switch takes these times in nanoseconds;
/// each window is flagged with this probability.
fn windows(switches: &[f64], refill: f64, flagged: f64) -> Observations {
    let mut random = Pcg64Mcg::seed_from_u64(8);
    let pilot = Pilot {
        pair_ns: 3e3,
        calls_ns: 700.0,
        unit_ns: 130.0,
        touch_ns: Some(2e3),
        flush_ns: Some(3e4),
    };
    let mut table = Observations::new(components(true));
    table.origin.rate = Some(Rate { hz: 1e9, uncertainty_ppm: 0.0, provenance: String::new() });
    let series = table.series("pipe");
    let rows: Vec<_> =
        rows(&pilot).into_iter().map(|(_, counts)| (table.row(series, &counts), counts)).collect();
    for (at, switch) in switches.iter().enumerate() {
        let first = 20 * at as u32;
        if first > 0 {
            table.origin.placements.push(first);
        }
        for round in first..first + 20 {
            for (row, counts) in &rows {
                let times = [*switch, 700.0, 2_000.0, refill, 28_000.0, 0.0];
                let exact: f64 = counts.iter().zip(times).map(|(count, time)| count * time).sum();
                let flags =
                    if random.random::<f64>() < flagged { Flags::SWITCHED } else { Flags::NONE };
                table.push_flagged(
                    *row,
                    round,
                    exact + 60.0 + 40.0 * random.random::<f64>(),
                    flags,
                );
            }
        }
    }
    table
}

fn found(table: &Observations) -> Switched {
    switched(Mechanism::Pipe, table, &Question::default(), Duration::ZERO).unwrap()
}

fn kinds(switched: &Switched) -> Vec<&str> {
    switched.findings.iter().map(|finding| &*finding.code).collect()
}

#[test]
fn costs_add_up_by_the_state_of_the_caches() {
    let switched = found(&windows(&[800.0; 4], 150.0, 0.0));
    let costs: Vec<(Cache, f64)> =
        switched.costs.iter().map(|cost| (cost.cache, cost.ns.value.round())).collect();
    let near = |at: usize, ns: f64| (costs[at].1 - ns).abs() < 5.0;
    assert!(
        near(0, 1_500.0) && near(1, 1_650.0) && (costs[2].1 - 29_500.0).abs() < 60.0,
        "{costs:?}"
    );
    assert_eq!(switched.placed.as_ref().map(|placed| placed.placements), Some(4));
    assert!(
        switched.placed.as_ref().unwrap().spread_percent < 2.0 && switched.findings.is_empty(),
        "{switched:?}"
    );
}

#[test]
fn placements_that_differ_widen_the_interval_and_are_a_finding() {
    let (same, differ) = (
        found(&windows(&[800.0; 4], 0.0, 0.0)),
        found(&windows(&[800.0, 800.0, 1_100.0, 800.0], 0.0, 0.0)),
    );
    assert!(
        kinds(&differ).contains(&"placements_differ")
            && !kinds(&same).contains(&"placements_differ"),
        "{:?}",
        differ.findings
    );
    let half = |switched: &Switched| switched.costs[0].ns.half_width();
    assert!(
        half(&differ) > 10.0 * half(&same) && half(&differ) > 75.0,
        "{} {}",
        half(&differ),
        half(&same)
    );
    let placed = differ.placed.unwrap();
    assert!((placed.spread_percent - 20.0).abs() < 2.0, "{placed:?}");
}

#[test]
fn partners_without_a_cost_are_a_finding() {
    let all_windows = windows(&[800.0; 4], 0.0, 0.0);
    let mut table = all_windows.in_rounds(&(0..0));
    table.origin = all_windows.origin.clone();
    // Of the third partner one window remains.
    for one in
        all_windows.readings().iter().filter(|one| !(40..60).contains(&one.round) || one.row == 0)
    {
        table.push(one.row, one.round, one.ticks);
    }
    let some = found(&table);
    let message = some
        .findings
        .iter()
        .find(|finding| finding.is("partners_unknown"))
        .map(|finding| finding.message.to_string());
    assert!(message.unwrap().starts_with("only 3 of 4 partners"), "{:?}", some.findings);
    let of_one_partner = found(&windows(&[800.0], 0.0, 0.0));
    assert!(
        of_one_partner.placed.is_none()
            && of_one_partner.findings[0].message.contains("one partner only"),
        "{:?}",
        of_one_partner.findings
    );
}

#[test]
fn placements_of_a_short_run_that_differ_are_a_finding_although_each_is_uncertain() {
    // Each placement has few rounds, and noise of a tenth: none of them is off by more than its own
    // uncertainty.
    let mut table = windows(&[700.0, 800.0, 900.0, 780.0], 0.0, 0.0);
    let mut random = Pcg64Mcg::seed_from_u64(6);
    let rows = table.rows().to_vec();
    let mut noisy = Observations::new(table.components().to_vec());
    noisy.origin = table.origin.clone();
    noisy.series("pipe");
    for row in &rows {
        let _ = noisy.row(0, &row.counts);
    }
    noisy.origin.placements = vec![4, 8, 12];
    for reading in table.readings().iter().filter(|reading| reading.round % 20 < 4) {
        let noise = 1.0 + 0.2 * (random.random::<f64>() - 0.5);
        noisy.push(reading.row, reading.round / 20 * 4 + reading.round % 20, reading.ticks * noise);
    }
    table = noisy;
    let switched = found(&table);
    assert!(
        switched.placed.as_ref().unwrap().spread_percent > 5.0
            && kinds(&switched).contains(&"placements_differ"),
        "{switched:?}"
    );
}

#[test]
fn run_that_is_off_from_earlier_ones_is_a_finding() {
    let finding = |earlier: &[f64], now| {
        off_from_earlier(earlier, now, "cycles").map(|finding| finding.code.to_string())
    };
    assert_eq!(finding(&[], 9_000.0), None);
    assert_eq!(finding(&[10_000.0], 9_600.0), None);
    assert_eq!(
        finding(&[10_000.0, 14_000.0, 10_100.0], 13_300.0).as_deref(),
        Some("differs_from_earlier_runs")
    );
    assert_eq!(finding(&[10_000.0], 9_000.0).as_deref(), Some("differs_from_earlier_runs"));
}

#[test]
fn costs_include_how_runs_scatter() {
    let first_run = found(&windows(&[800.0; 4], 150.0, 0.0));
    let half = |switched: &Switched, at: usize| switched.costs[at].ns.half_width();
    let few = first_run.clone().with_earlier(&[1_500.0, 1_700.0], 1_500.0, "ns");
    assert_eq!((few.scatter, half(&few, 0)), (None, half(&first_run, 0)));
    // A standard deviation of 10 %, at three degrees of freedom.
    let many = first_run.clone().with_earlier(
        &[1_350.0, 1_650.0, 1_500.0 + 150.0 * 0.5_f64.sqrt()],
        1_500.0 - 150.0 * 0.5_f64.sqrt(),
        "ns",
    );
    assert!(
        (many.scatter.unwrap().sd - 0.1).abs() < 1e-9
            && (half(&many, 0) / 477.0 - 1.0).abs() < 0.02,
        "{many:?}"
    );
    assert!(
        (half(&many, 1) / 477.0 - 1.0).abs() < 0.05
            && many.costs[0].budget.iter().any(|part| part.source == Source::Runs)
    );
    let same = first_run.clone().with_earlier(&[1_500.0; 5], 1_500.0, "ns");
    assert_eq!(
        (half(&same, 0), same.findings.len()),
        (half(&first_run, 0), 0),
        "runs that agree add nothing"
    );
    // The movement of the core clock is beside the scatter of cycles, and does not hide it.
    let mut moving = first_run.clone();
    for cost in &mut moving.costs {
        cost.budget.push(Contribution::standard(
            Source::CoreClock,
            0.2 * cost.ns.value,
            f64::INFINITY,
        ));
        cost.cycles = Some(cost.ns.scaled(2.0));
    }
    let many = moving.with_earlier(
        &[2_700.0, 3_300.0, 3_000.0 + 300.0 * 0.5_f64.sqrt()],
        3_000.0 - 300.0 * 0.5_f64.sqrt(),
        "cycles",
    );
    let cycles = many.costs[0].cycles.unwrap();
    assert!((cycles.half_width() / (2.0 * 477.0) - 1.0).abs() < 0.02, "{cycles:?}");
    // Student's quantile of both together is smaller than that of three earlier runs alone.
    assert!(half(&many, 0) > 1.96 * 150.0_f64.hypot(0.2 * 1_500.0), "{many:?}");
}

#[test]
fn second_method_includes_how_runs_scatter_and_agrees_as_before() {
    let of = |value: f64| Uncertain {
        value,
        budget: vec![Contribution::standard(Source::Noise, 5.0, f64::INFINITY)],
    };
    let windows = of(1_500.0).estimate(0.95);
    let check = Check::new(&of(1_500.0), &of(1_530.0), windows, 1e5, 100);
    assert!(!check.agrees);
    let few = check.clone().with_earlier(&[1_500.0, 1_700.0]);
    assert_eq!(few, check);
    let many = check.clone().with_earlier(&[1_400.0, 1_600.0, 1_450.0, 1_550.0, 1_500.0]);
    assert!(
        many.timed_ns.half_width() > 150.0 && many.ns.half_width() > 150.0 && !many.agrees,
        "{many:?}"
    );
    assert!(
        many.timed_budget.iter().any(|part| part.source == Source::Runs)
            && many.timed_ns.value == 1_530.0
    );
    assert_eq!(check.clone().with_earlier(&[1_530.0; 5]), check, "runs that agree add nothing");
    let moving = check.clone().at_any_clock(Some(ClockSpread { sd: 0.05, runs: 100 }));
    assert!(
        moving.timed_ns.half_width() > 140.0 && moving.ns.half_width() > 140.0 && !moving.agrees,
        "{moving:?}"
    );
    assert_eq!(check.clone().at_any_clock(None), check);
}

#[test]
fn a_negative_part_is_shown_with_a_finding() {
    let switched = found(&windows(&[800.0; 4], -300.0, 0.0));
    let refill = switched.parts.iter().find(|part| part.name == REFILL).unwrap();
    assert!((refill.ns.value + 300.0).abs() < 5.0, "{refill:?}");
    assert_eq!(
        kinds(&switched),
        ["negative_part"],
        "the cost of the switch is as good as without it: {:?}",
        switched.findings
    );
}

#[test]
fn windows_with_other_switches_are_told_and_most_of_them_are_not_trusted() {
    let severity = |share: f64| {
        let switched = found(&windows(&[800.0; 4], 0.0, share));
        switched
            .findings
            .iter()
            .find(|finding| finding.is("other_switches"))
            .map(|finding| finding.severity)
    };
    assert_eq!(
        [0.01, 0.2, 0.6].map(severity),
        [None, Some(Severity::Warning), Some(Severity::Untrusted)]
    );
}

#[test]
fn the_second_method_agrees_or_is_a_finding() {
    let bound = |value: f64, half: f64| Uncertain {
        value,
        budget: vec![Contribution::bound(Source::Noise, half)],
    };
    let ns = |value: f64| bound(value, 20.0);
    let base = found(&windows(&[800.0; 4], 0.0, 0.0));
    let warm = base.costs[0].ns;
    let checked = |value: f64| {
        base.clone().checked(Ok(Check::new(
            &ns(value),
            &bound(warm.value, warm.half_width()),
            warm,
            1e5,
            40,
        )))
    };
    assert!(checked(1_510.0).check.unwrap().agrees && checked(1_510.0).findings.is_empty());
    assert_eq!(kinds(&checked(1_700.0)), ["methods_disagree"]);
    assert_eq!(kinds(&base.clone().checked(Err("too busy".into()))), ["no_second_method"]);
}
