use super::*;
use crate::judge::{Assessment, Question, assess};
use crate::observations::{Observations, Pauses, Rate};
use crate::simulated::with_pauses;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

const ORDERS_APART: f64 = 10_000.0;

/// Rows of up to 8 copies of a body of so many ticks, on a CPU that pauses once in 10,000 ticks for
/// a time of this mean. So many pauses were seen.
fn assessed(body: f64, length: f64, number: u32, flags: Flags, seed: u64) -> Assessment {
    assess(&table(body, length, number, flags, seed), &Question::default()).unwrap()
}

fn table(body: f64, length: f64, number: u32, flags: Flags, seed: u64) -> Observations {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut table = Observations::new(vec!["body".into()]);
    let series = table.series("code");
    for round in 0..200_u32 {
        for copies in 1..=8_u32 {
            let row = table.row(series, &[f64::from(copies)]);
            let run = body * f64::from(copies) + 40.0 + f64::from((round * 7 + copies * 13) % 11);
            let ticks =
                if number > 0 { with_pauses(run, ORDERS_APART, length, &mut random) } else { run };
            table.push_flagged(row, round, ticks, flags);
        }
    }
    table.origin.rate = Some(Rate { hz: 2e9, uncertainty_ppm: 1.0, provenance: "test".into() });
    let number = f64::from(number);
    table.origin.pauses = Pauses {
        watched: (ORDERS_APART + length) * number,
        lost: length * number,
        number: number as u32,
        longer: None,
    };
    table
}

fn finding(assessment: &Assessment) -> Option<&Finding> {
    assessment.series[0].findings.iter().find(|finding| finding.is(code::PAUSED))
}

#[test]
fn times_of_long_rows_are_without_pauses_and_their_intervals_hold() {
    for (body, text, most_error) in [
        (2_000.0, "are left out", 0.004),
        (8_000.0, "is subtracted", 0.03),
        (40_000.0, "is subtracted", 0.02),
    ] {
        for seed in 0..20 {
            let assessment = assessed(body, 400.0, 400, Flags::NONE, seed);
            let time = assessment.series[0].components[0].time.ticks;
            // The times without pauses have a pattern that is 0.005 % of the slope.
            assert!(
                (time.value - body).abs() < time.half_width() + 1e-4 * body
                    && time.relative() < most_error,
                "{body}: {time:?}"
            );
            let paused = finding(&assessment).unwrap();
            assert!(
                paused.severity == Severity::Note && paused.message.ends_with(text),
                "{paused:?}"
            );
            assert!(
                paused.message.contains("3.8 %") || paused.message.contains("3.7 %"),
                "{}",
                paused.message
            );
        }
    }
}

#[test]
fn pauses_in_ticks_need_no_rate() {
    let mut table = table(8_000.0, 400.0, 400, Flags::NONE, 1);
    table.origin.rate = None;
    let assessment = assess(&table, &Question::default()).unwrap();
    let paused = finding(&assessment).unwrap();
    assert!(paused.message.contains("of the time, and nothing counts it"), "{}", paused.message);
    assert!(assessment.series[0].components[0].time.ticks.contains(8_000.0));
}

#[test]
fn pauses_that_are_hardly_known_make_a_time_untrusted() {
    let assessment = assessed(8_000.0, 4_000.0, 12, Flags::NONE, 1);
    let paused = finding(&assessment).unwrap();
    assert!(
        paused.severity == Severity::Untrusted && paused.remedy.contains("more time"),
        "{paused:?}"
    );
    assert!(assessment.series[0].components[0].time.ticks.relative() > 0.1);
}

#[test]
fn pauses_of_which_few_were_seen_are_in_the_interval_without_a_doubt() {
    let assessment = assessed(8_000.0, 700.0, 12, Flags::NONE, 1);
    assert!(
        finding(&assessment).unwrap().severity < Severity::Untrusted,
        "{:?}",
        assessment.series[0].findings
    );
    let time = assessment.series[0].components[0].time.ticks;
    assert!(time.contains(8_000.0) && time.relative() > 0.03, "{time:?}");
}

#[test]
fn code_that_waits_has_the_pauses_in_its_interval() {
    let assessment = assessed(8_000.0, 400.0, 400, Flags::WAITED, 2);
    let paused = finding(&assessment).unwrap();
    assert!(
        paused.severity == Severity::Warning && paused.message.contains("the interval holds"),
        "{paused:?}"
    );
    assert!(assessment.series[0].components[0].time.ticks.contains(8_000.0));
}

#[test]
fn short_rows_and_rare_pauses_are_no_doubt() {
    for (body, length, number) in
        [(500.0, 400.0, 100), (5_000.0, 10.0, 100), (5_000.0, 400.0, 4), (5_000.0, 0.0, 0)]
    {
        let found = assessed(body, length, number, Flags::NONE, 3);
        assert!(finding(&found).is_none(), "{body} {length} {number}");
    }
}

const FAR_APART: f64 = 140_000.0;
const LENGTH: f64 = 8_000.0;

/// Rows of one to four copies of a body, beside pauses; `own_time` is what an evaluation takes
/// beyond it.
fn rows(body: f64, rounds: u32, mut own_time: impl FnMut(&mut Pcg64Mcg) -> f64) -> Observations {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let mut table = Observations::new(vec!["body".into()]);
    let series = table.series("code");
    for round in 0..rounds {
        for copies in 1..=4_u32 {
            let row = table.row(series, &[f64::from(copies)]);
            let run = body * f64::from(copies)
                + 50.0
                + 20.0 * random.random::<f64>()
                + own_time(&mut random);
            table.push(row, round, with_pauses(run, FAR_APART, LENGTH, &mut random));
        }
    }
    table.origin.pauses = Pauses {
        watched: 100.0 * (FAR_APART + LENGTH),
        lost: 100.0 * LENGTH,
        number: 100,
        longer: None,
    };
    table
}

/// The places of the readings that are left out for pauses, and what pauses do not explain.
fn left_out(table: &Observations) -> Option<(Vec<usize>, f64)> {
    let options = crate::estimate::Options::default();
    let state = crate::pipeline::state_of(table, &options);
    let (_, removed) =
        state.paused.0.first().copied().flatten().filter(|(are, _)| *are == Are::LeftOut)?;
    let number = state.number_of(&STAGE);
    let out = state.sheet.left_out(&[number]).map(|(_, one)| one.at).collect();
    Some((out, removed.bound))
}

#[test]
fn what_is_left_has_no_pause() {
    for body in [3_000.0, 20_000.0, 80_000.0] {
        let table = rows(body, 400, |_| 0.0);
        let (left_out, unexplained) = left_out(&table).unwrap_or_else(|| panic!("{body}"));
        for (at, reading) in table.readings().iter().enumerate() {
            let copies = table.rows()[reading.row as usize].counts[0];
            assert_eq!(
                reading.ticks > body * copies + 100.0,
                left_out.contains(&at),
                "{body}: {reading:?}"
            );
        }
        assert!(unexplained < 0.005, "{body}: {unexplained}");
    }
}

#[test]
fn code_that_varies_by_itself_keeps_all_of_its_readings() {
    let half = |random: &mut Pcg64Mcg| if random.random::<f64>() < 0.5 { 6_000.0 } else { 0.0 };
    let slowly = |random: &mut Pcg64Mcg| 6_000.0 * random.random::<f64>();
    assert_eq!(
        (left_out(&rows(5_000.0, 400, half)), left_out(&rows(20_000.0, 400, slowly))),
        (None, None)
    );
}

#[test]
fn code_that_is_long_at_times_has_that_in_what_pauses_do_not_explain() {
    let at_times =
        |random: &mut Pcg64Mcg| if random.random::<f64>() < 0.1 { 20_000.0 } else { 0.0 };
    let pauses_left_out = left_out(&rows(20_000.0, 400, at_times));
    // Each reading of the longest row takes 2,000 ticks more in the mean, 2.5 % of it.
    assert!(
        pauses_left_out.iter().all(|(_, unexplained)| (0.005..0.03).contains(unexplained)),
        "{pauses_left_out:?}"
    );
}

#[test]
fn pauses_explain_readings_that_are_longer_than_they_are() {
    // Behind a pause the code takes as long again as the pause.
    let mut cold = rows(20_000.0, 400, |_| 0.0);
    let length = LENGTH / 2.0;
    cold.origin.pauses = Pauses {
        watched: 100.0 * (FAR_APART + length),
        lost: 100.0 * length,
        ..cold.origin.pauses
    };
    let pauses_left_out = left_out(&cold).unwrap();
    // By their time it would be 2.8 %.
    assert!(pauses_left_out.1 < 0.015, "{}", pauses_left_out.1);
}

#[test]
fn short_rows_long_rows_and_rare_pauses_are_left_alone() {
    assert!(left_out(&rows(1_000.0, 400, |_| 0.0)).is_none());
    assert!(left_out(&rows(200_000.0, 400, |_| 0.0)).is_none());
    let mut rare = rows(20_000.0, 400, |_| 0.0);
    rare.origin.pauses.watched *= 100.0;
    assert!(left_out(&rare).is_none());
    rare.origin.pauses = Pauses::default();
    assert!(left_out(&rare).is_none());
}
