//! The estimator on tables with known results.

use hairspring_core::Error;
use hairspring_core::estimate::{LeftOut, Options, Solution};
use hairspring_core::judge::{Question, Severity, assess, code};
use hairspring_core::observations::{Flags, Observations, read_csv};
use hairspring_core::pipeline::solve;

/// A table of one component: `time(copies)` in every round, with a small wobble that differs from
/// row to row.
fn line(copies: &[u32], rounds: u32, time: impl Fn(u32, u32) -> f64) -> Observations {
    let mut table = Observations::new(vec!["body".into()]);
    let series = table.series("main");
    for round in 0..rounds {
        for n in copies {
            let row = table.row(series, &[f64::from(*n)]);
            table.push(
                row,
                round,
                time(*n, round) + f64::from((round * 7 + n * 13) % 11) / 10.0 - 0.5,
            );
        }
    }
    table
}

fn solved(table: &Observations) -> Solution {
    solve(table, 0, &Options::default()).unwrap()
}

fn body(table: &Observations) -> f64 {
    solved(table).components[0].ticks.value
}

const COPIES: [u32; 9] = [1, 2, 3, 4, 6, 8, 10, 12, 16];

#[test]
fn overhead_is_separated_from_the_slope() {
    for overhead in [0.0, 8.5, 1e6] {
        let solution = solved(&line(&COPIES, 64, |n, _| 100.0 * f64::from(n) + overhead));
        assert!((solution.components[0].ticks.value - 100.0).abs() < 0.02);
        assert!(solution.components[0].ticks.contains(100.0));
        assert!((solution.overhead.unwrap().value - overhead).abs() < 0.2);
    }
}

#[test]
fn bend_at_few_copies_is_left_out_and_listed() {
    // A fence hides part of the first copies.
    let table = line(&COPIES, 64, |n, _| 100.0 * f64::from(n) - 40.0 / f64::from(n * n * n));
    let solution = solved(&table);
    assert!(
        solution.rows.iter().any(|row| row.counts == [1.0] && row.left_out == Some(LeftOut::Bend))
    );
    assert!(
        solution.components[0].ticks.contains(100.0)
            && solution.components[0].ticks.half_width() < 0.5
    );
}

#[test]
fn short_rows_that_alone_check_another_are_no_bend() {
    // A chain in rows of its own, with another overhead than the trips: without its short rows any
    // length of it would fit.
    let mut table = Observations::new(vec!["chain".into(), "trip".into()]);
    let series = table.series("main");
    let chains = [16, 24, 32, 64].map(|n| ([f64::from(n), 0.0], 3.0 * f64::from(n) + 81.0));
    let trips = (1..=9).map(|n| ([0.0, f64::from(n)], 207.0 * f64::from(n) + 190.0));
    for (counts, time) in chains.into_iter().chain(trips) {
        let row = table.row(series, &counts);
        (0..64).for_each(|round| table.push(row, round, time + 0.5 * f64::from(round % 2)));
    }
    let solution = solved(&table);
    assert!(solution.rows.iter().all(|row| row.left_out != Some(LeftOut::Bend)));
    let chain = &solution.components[0].ticks;
    assert!(
        chain.half_width() > 0.5
            && solution.lack_of_fit.as_ref().is_some_and(|lack| lack.p < 0.001),
        "{chain:?}"
    );
}

#[test]
fn outlier_row_is_left_out_and_listed() {
    let table = line(&COPIES, 64, |n, _| 100.0 * f64::from(n) + if n == 10 { 300.0 } else { 0.0 });
    let solution = solved(&table);
    let off: Vec<&[f64]> = solution
        .rows
        .iter()
        .filter(|row| row.left_out == Some(LeftOut::OffLine))
        .map(|row| &row.counts[..])
        .collect();
    assert_eq!(off, [[10.0]]);
    assert!((solution.components[0].ticks.value - 100.0).abs() < 0.02);
    let all = solve(&table, 0, &Options { leave_rows_out: false, ..Options::default() }).unwrap();
    assert_eq!(all.rows_used(), (9, 0));
}

/// 400 rows of two components, a tenth of them off the plane; `rare` holds the times of the rows
/// with the second component.
fn with_rare(rare: &[f64]) -> Solution {
    let mut table = Observations::new(vec!["often".into(), "rare".into()]);
    let series = table.series("main");
    for at in 0..400u32 {
        let own_excess = rare.get(at as usize).copied();
        let off = own_excess.unwrap_or(if at % 10 == 9 { 3_000.0 } else { 0.0 });
        let row = table
            .row_apart(series, &[f64::from(1 + at % 8), f64::from(u8::from(own_excess.is_some()))]);
        (0..64).for_each(|round| {
            table.push(
                row,
                round,
                80.0 + 100.0 * f64::from(1 + at % 8) + off + 0.5 * f64::from(round % 2),
            )
        });
    }
    solve(&table, series, &Options::default()).unwrap()
}

#[test]
fn readings_without_which_an_unknown_has_none_are_kept() {
    // A long call that was disturbed in most rounds, beside short functions.
    let mut table = Observations::new(vec!["call".into(), "copies".into()]);
    let series = table.series("main");
    for round in 0..5u32 {
        let call = table.row(series, &[1.0, 0.0]);
        let flags = if round > 1 { Flags::GAP } else { Flags::NONE };
        table.push_flagged(call, round, if round == 0 { 4.9e6 } else { 5.1e6 }, flags);
        for copies in [1.0, 2.0, 4.0, 8.0] {
            let row = table.row(series, &[0.0, copies]);
            table.push(row, round, 80.0 + 2.0 * copies + f64::from(round % 2));
        }
    }
    let found = solved(&table);
    assert!(found.component("call").unwrap().ticks.contains(5e6), "{:?}", found.components);
}

#[test]
fn outliers_beside_readings_without_which_an_unknown_has_none_are_left_out() {
    let mut table = Observations::new(vec!["work".into(), "rare".into()]);
    let series = table.series("main");
    for at in 0..60u32 {
        let row = table.row(series, &[f64::from(10 + at), 0.0]);
        let spike = if [40, 44, 48].contains(&at) { 2_000.0 } else { 0.0 };
        table.push(row, 0, 50.0 + 10.0 * f64::from(10 + at) + f64::from(at % 3) + spike);
    }
    let rare = table.row(series, &[20.0, 1.0]);
    table.push(rare, 0, 30_000.0);
    table.push(rare, 0, 60_000.0);
    let work = solved(&table).component("work").unwrap().ticks;
    assert!((work.value - 10.0).abs() < 0.1, "{work:?}");
}

#[test]
fn rows_that_alone_check_each_other_are_kept_however_far_off() {
    // Both are off so far that they are among the first to be left out, which would leave nothing
    // that tells of the component; or only one.
    for rare in [[500_000.0, 100_000.0], [9_000.0, 3_000.0]] {
        let found = with_rare(&rare);
        let time = found.component("rare").unwrap().ticks;
        let mean = (rare[0] + rare[1]) / 2.0;
        assert!(
            (time.value - mean).abs() < 0.02 * mean && time.half_width() > 0.02 * mean,
            "{time:?}"
        );
        assert!(found.rows.iter().all(|row| row.counts[1] == 0.0 || row.left_out.is_none()));
        assert!(found.rows_used().1 > 0);
    }
    // Two that agree show that the third one is off.
    let found = with_rare(&[9_000.0, 3_000.0, 3_000.0]);
    assert!(
        (found.component("rare").unwrap().ticks.value - 3_000.0).abs() < 10.0,
        "{:?}",
        found.components
    );
}

#[test]
fn curve_is_reported_as_non_linear() {
    let table = line(&COPIES, 64, |n, _| 100.0 * f64::from(n) + 4.0 * f64::from(n * n));
    let assessment = assess(&table, &Question::default()).unwrap();
    let worst = assessment.series[0].findings.iter().find(|finding| finding.is(code::NON_LINEAR));
    assert!(
        worst.is_some_and(|finding| finding.severity >= Severity::Warning),
        "{:?}",
        assessment.series[0].findings
    );
}

#[test]
fn flagged_readings_and_spikes_are_counted_but_not_used() {
    let mut table = line(&COPIES, 64, |n, round| {
        100.0 * f64::from(n) + if (round + n) % 13 == 0 { 5_000.0 } else { 0.0 }
    });
    let row = table.row(0, &[4.0]);
    for round in 0..20 {
        table.push_flagged(row, round, 9e9, Flags::SWITCHED);
    }
    let solution = solved(&table);
    assert!((solution.components[0].ticks.value - 100.0).abs() < 0.05);
    assert_eq!(solution.readings, table.readings().len());
    assert!(solution.readings_used < solution.readings - 20);
}

#[test]
fn init_and_body_are_separated() {
    let mut table = Observations::new(vec!["body".into(), "init".into()]);
    let series = table.series("main");
    for round in 0..64 {
        for (n, m) in [(1u32, 1u32), (2, 3), (3, 4), (4, 5), (5, 6), (6, 8), (7, 7)] {
            let row = table.row(series, &[f64::from(n), f64::from(m)]);
            let wobble = f64::from((round * 7 + n * 13 + m * 5) % 11) / 10.0 - 0.5;
            table.push(row, round, 30.0 * f64::from(n) + 120.0 * f64::from(m) + 60.0 + wobble);
        }
    }
    let solution = solved(&table);
    assert!((solution.component("body").unwrap().ticks.value - 30.0).abs() < 0.2);
    assert!((solution.component("init").unwrap().ticks.value - 120.0).abs() < 0.2);
}

#[test]
fn inseparable_components_are_reported_as_a_combination() {
    // Equation 6 with M_k = N_k: only the sum can be determined.
    let rows: String = (1..=8)
        .flat_map(|n| (0..6).map(move |i| format!("{n},{n},{}\n", 150 * n + 60 + i % 2)))
        .collect();
    let table = read_csv(format!("body,init,ticks\n{rows}").as_bytes()).unwrap();
    let solution = solved(&table);
    assert_eq!(solution.components.len(), 1);
    assert_eq!(solution.components[0].name, "body + init");
    assert!((solution.components[0].ticks.value - 150.0).abs() < 0.2);
}

#[test]
fn two_rows_are_solved_but_not_checked() {
    let table = line(&[1, 2], 64, |n, _| 100.0 * f64::from(n) + 8.5);
    assert!((body(&table) - 100.0).abs() < 0.2);
    let found = assess(&table, &Question::default()).unwrap();
    assert!(found.series[0].findings.iter().any(|finding| finding.is(code::NOT_CHECKED)));
}

#[test]
fn rows_exactly_on_the_line_check_it() {
    let rows = |off: u32| -> String {
        let ticks = |n: u32| 150 * n + 60 + if n == 5 { off } else { 0 };
        (0..3).flat_map(|_| 1..=8).map(|n| format!("{n},{}\n", ticks(n))).collect()
    };
    let unchecked = |off| {
        let table = read_csv(format!("body,ticks\n{}", rows(off)).as_bytes()).unwrap();
        let found = assess(&table, &Question::default()).unwrap();
        found.series[0].findings.iter().any(|finding| finding.is(code::NOT_CHECKED))
    };
    assert!(!unchecked(0));
    assert!(unchecked(1));
}

#[test]
fn too_few_rows_are_an_error_with_numbers() {
    let table = read_csv("body,ticks\n1,108\n2,208\n".as_bytes()).unwrap();
    match solve(&table, 0, &Options::default()) {
        Err(Error::TooFewRows { usable, unknowns, .. }) => assert_eq!((usable, unknowns), (2, 2)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn time_below_resolution_gets_an_upper_bound() {
    let table = line(&COPIES, 64, |_, _| 60.0);
    let assessment = assess(&table, &Question::default()).unwrap();
    let below =
        assessment.series[0].findings.iter().find(|finding| finding.is(code::BELOW_RESOLUTION));
    let below = below.and_then(|finding| finding.number("bound_ticks"));
    assert!(below.is_some_and(|bound| bound > 0.0));
}

#[test]
fn clock_that_never_moves_gives_a_bound_from_its_quantum() {
    let mut table = Observations::new(vec!["body".into()]);
    let series = table.series("main");
    for round in 0..64 {
        for n in COPIES {
            let row = table.row(series, &[f64::from(n)]);
            table.push(row, round, 0.0);
        }
    }
    table.origin.granularity = Some(4e6);
    let assessment = assess(&table, &Question::default()).unwrap();
    assert!(assessment.series[0].components[0].time.ticks.high > 1e4);
    assert!(assessment.series[0].findings.iter().any(|finding| finding.is(code::BELOW_RESOLUTION)));
}

/// Readings by a clock that moves by 64 ticks at a time, between pulses whose phase a fixed gap
/// decides; the time of a copy too.
fn by_steps(n: u32) -> (f64, Observations) {
    let share = |factor: f64| (f64::from(n) * factor).fract();
    let copy = if n % 4 == 0 {
        64.0 * f64::from(1 + n % 9) * (1.0 + 2e-5)
    } else {
        64.0 * 10f64.powf(2.0 * share(0.618) - 0.3)
    };
    let (overhead, gap) = (64.0 * (0.3 + 9.0 * share(0.414)), 64.0 * (20.0 + 300.0 * share(0.732)));
    let mut table = Observations::new(vec!["body".into()]);
    let (series, mut at) = (table.series("main"), 64.0 * share(0.236));
    for (round, copies) in (0..[1, 5, 20][n as usize % 3])
        .flat_map(|round| (1..=8 + n % 13).map(move |copies| (round, copies)))
    {
        let row = table.row(series, &[f64::from(copies)]);
        let end = at + overhead + copy * f64::from(copies);
        table.push(row, round, ((end / 64.0).floor() - (at / 64.0).floor()) * 64.0);
        at = end + gap;
    }
    (copy, table)
}

#[test]
fn steps_of_a_clock_that_nobody_states_are_in_the_interval() {
    let holds = |n: u32| {
        let (copy, table) = by_steps(n);
        let assessment = assess(&table, &Question::default()).unwrap();
        assert!(
            assessment.series[0].findings.iter().any(|finding| finding.is(code::CLOCK_TOO_COARSE)),
            "{n}"
        );
        assessment.series[0].components[0].time.ticks.contains(copy)
    };
    let held = (0..120).filter(|n| holds(*n)).count();
    assert!(held >= 114, "{held}");
}

#[test]
fn unrepeated_rows_are_solved_by_regression() {
    let rows: String = (0..400)
        .map(|i| {
            let (a, b) = (i * 7 % 23, i * 5 % 17);
            let spike = if i % 50 == 0 { 10_000 } else { 0 };
            format!("{a},{b},{i},{}\n", 3 * a + 11 * b + 2 * i + 40 + i % 3 + spike)
        })
        .collect();
    let table = read_csv(format!("a,b,c,ticks\n{rows}").as_bytes()).unwrap();
    let solution = solved(&table);
    for (name, truth) in [("a", 3.0), ("b", 11.0), ("c", 2.0)] {
        assert!((solution.component(name).unwrap().ticks.value - truth).abs() < 0.05, "{name}");
    }
    assert_eq!(solution.readings - solution.readings_used, 8);
}

#[test]
fn solving_is_deterministic() {
    let table = line(&COPIES, 64, |n, _| 100.0 * f64::from(n));
    assert_eq!(solved(&table).components[0].ticks, solved(&table).components[0].ticks);
}
