//! Periods of simulated times, and steps of simulated readings.

use super::*;

/// Edges of a pin that has nothing to do with the recorder's clock, on samples of this period,
/// written to this digit.
fn edges(period: f64, digit: f64, edges: u32) -> Lattice {
    let mut lattice = Lattice::default();
    let mut at = 12_345.678;
    for n in 0..edges {
        at += 9_313.7 + f64::from(n * n % 97) * 531.9 + f64::from(n) * 17.313_7;
        let sample = (at / period).ceil() * period;
        lattice.push((sample / digit).round() * digit);
    }
    lattice
}

#[test]
fn period_is_found_below_the_digits_of_the_times() {
    for period in [
        2.0,
        4.0,
        8.0,
        10.0,
        12.5,
        20.0,
        1e9 / 24e6,
        62.5,
        1e9 / 12e6,
        100.0,
        125.0,
        500.0,
        1000.0,
        2500.0,
        1e4,
    ] {
        let found = edges(period, 1.0, 200).period(1e9).unwrap_or(f64::NAN);
        assert!((found - period).abs() < 1e-3 * period, "{period}: {found}");
    }
}

#[test]
fn period_is_found_in_times_without_a_last_digit() {
    // Kingst writes 15 digits of a second, and readers round times to a part of a tick.
    for period in [1e9 / 12e6, 1e9 / 24e6, 1e9 / 48e6, 1e9 / 3e6] {
        let mut fine = Lattice::default();
        edges(period, 1e-6, 60)
            .times
            .iter()
            .for_each(|time| fine.push((time * 1_048_576.0).round() / 1_048_576.0));
        let found = fine.period(1e9).unwrap_or(f64::NAN);
        assert!((found - period).abs() < 1e-6 * period, "{period}: {found}");
    }
    for period in [1e9 / 24e6, 62.5, 10.0] {
        let mut significant = Lattice::default();
        edges(period, 1e-6, 60)
            .times
            .iter()
            .for_each(|time| significant.push(format!("{time:.9e}").parse().unwrap()));
        let found = significant.period(1e9).unwrap_or(f64::NAN);
        assert!((found - period).abs() < 1e-6 * period, "{period}: {found}");
    }
    let free = edges(1.0 / 3.0, 1e-7, 60).period(1e9).unwrap();
    assert!(free < 1e-3 || (free - 1.0 / 3.0).abs() < 1e-6, "{free}");
}

#[test]
fn cycles_of_a_slow_chip_are_no_period_of_the_recorder() {
    // A chip of 1 MHz, 30 ppm slow, before recorders of 24 and 100 MHz, the latter in
    // nanoseconds.
    let lattice = |hz: f64, sample: f64| {
        // A recorder begins at any part of a cycle.
        let (mut lattice, mut at) = (Lattice::default(), 0.37);
        for n in 0..400u32 {
            at += 100.0 * f64::from(n % 20) + f64::from(n * 7919 % 160) + 42.0;
            lattice.push((at * 1.000_03e-6 * hz / sample).ceil() * sample);
        }
        lattice.period(hz)
    };
    assert_eq!((lattice(24e6, 1.0), lattice(1e9, 10.0)), (Some(1.0), Some(10.0)));
}

#[test]
fn period_of_the_digits_themselves_is_that_of_times_without_a_lattice() {
    assert_eq!(edges(1.0, 1.0, 200).period(1e9), Some(1.0));
    let found = edges(0.001, 0.001, 200).period(1e9).unwrap();
    assert!((found - 0.001).abs() < 1e-9, "{found}");
}

/// Edges on samples of a recorder, each rounded to a unit. `locked` repeats the same round.
fn sampled(period: f64, edges: u32, locked: bool) -> Lattice {
    let (mut lattice, mut at) = (Lattice::default(), 300_007.31 * period);
    for n in 0..edges {
        let round = if locked { n % 16 } else { n };
        let whole = if locked { 400.0 } else { 400.0 + f64::from(n * n % 61) * 7.37 };
        at += (whole + f64::from(round) * 73.41) * period;
        at = if locked && round == 15 { (at / period).floor() * period } else { at };
        lattice.push(((at / period).ceil() * period).round());
    }
    lattice
}

#[test]
fn period_that_is_no_multiple_of_the_unit_is_found_at_any_rate() {
    for (hz, rate) in [
        (1e10, 14_285_714.0),
        (1e10, 14_285_714.285_7),
        (1e10, 66_666_666.0),
        (1e10, 11_059_200.0),
        (1e9, 7_372_800.0),
        (1e9, 33_333_333.0),
        (1e8, 333_333.0),
        (1e8, 32_768.0),
        (1e9, 1_234_567.891),
    ] {
        for (edges, locked) in [(96, true), (96, false), (16, false), (4000, false)] {
            let period = sampled(hz / rate, edges, locked).period(hz).unwrap_or(f64::NAN);
            let off = period * rate / hz - 1.0;
            assert!(off.abs() < 1e-3, "{rate} Hz, {edges} edges, locked {locked}: {period}");
        }
    }
}

#[test]
fn repeated_pulses_are_no_evidence_each() {
    // 16 widths that are repeated lie near multiples of some number by chance.
    for start in 0..200u32 {
        let (mut lattice, mut at) = (Lattice::default(), 1000.0);
        for n in 0..96u32 {
            let copies = f64::from(n / 2 % 8 + 1);
            let width = (f64::from(start) * 0.37 + 73.0 * copies + 20.0).ceil();
            at += if n % 2 == 0 { 100.0 } else { width };
            lattice.push(at);
        }
        let period = lattice.period(333_333.0).unwrap_or(f64::NAN);
        assert!(period == period.round() && period < 3.5, "{start}: {period}");
    }
}

#[test]
fn thirds_of_a_digit_that_share_a_factor_show_the_period() {
    // 12 MHz in picoseconds: no sample's number is a multiple of three, so all times are odd.
    let (mut lattice, mut sample) = (Lattice::default(), 122u64);
    for n in 0..50u64 {
        lattice.push((sample as f64 * 1e12 / 12e6).round());
        sample += if n % 2 == 0 { 78 + 38 * (n / 2 % 5) } else { 66 };
        sample += u64::from(sample % 3 == 0);
    }
    let period = lattice.period(1e12).unwrap_or(f64::NAN);
    assert!((period - 1e12 / 12e6).abs() < 1.0, "{period}");
}

/// A number that shares nothing with those of its neighbours.
fn mixed(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

#[test]
fn times_of_a_fine_clock_show_no_period() {
    for seed in 0..300u32 {
        let (mut lattice, mut at) = (Lattice::default(), 0u64);
        for n in 0..[8, 20, 60][seed as usize % 3] {
            at += 5_000 + mixed(n + 1_000 * u64::from(seed)) % 40_009;
            lattice.push(at as f64);
        }
        let period = lattice.period(1e9);
        assert!(period.is_none_or(|period| period == 1.0), "{seed}: {period:?}");
    }
}

#[test]
fn few_edges_show_no_period_beyond_the_digits() {
    assert_eq!(Lattice::default().period(1e9), None);
    assert_eq!(edges(8.0, 1.0, 4).period(1e9), Some(1.0));
    let mut same = Lattice::default();
    (0..50).for_each(|_| same.push(7.0));
    assert_eq!(same.period(1e9), None);
}

/// Durations of 1 to 12 copies by a clock of this period, written to whole nanoseconds, in five
/// rounds.
fn durations(copy: f64, period: f64) -> Observations {
    let mut table = Observations::new(vec!["body".into()]);
    table.origin.unit = Unit::TimeNs;
    let series = table.series("main");
    let mut at = 0.37 * period;
    for (round, copies) in
        (0..5u32).flat_map(|round| (1..=12u32).map(move |copies| (round, copies)))
    {
        let row = table.row(series, &[f64::from(copies)]);
        let end = at + 0.8 * period + copy * f64::from(copies);
        let read = |time: f64| ((time / period).floor() * period).round();
        table.push(row, round, read(end) - read(at));
        at = end + 17.313 * period;
    }
    table
}

#[test]
fn readings_show_the_step_of_a_coarse_clock() {
    for period in [16.0, 62.5, 1000.0, 1e9 / 24e6, 1e9 / 32_768.0, 1e9 / 3_579_545.0, 1e9 / 54e6] {
        for copy in [0.7, 3.31, 25.7] {
            let found = step_of_readings(&durations(copy * period, period)).unwrap_or(f64::NAN);
            assert!((found / period - 1.0).abs() < 2e-3, "{period} {copy}: {found}");
        }
    }
}

#[test]
fn a_step_of_which_a_usual_period_is_a_part_is_found_whole() {
    // A fifth of it is the period of 327.68 MHz.
    let period = 1e9 / 65.536e6;
    let mut table = Observations::new(vec!["body".into()]);
    table.origin.unit = Unit::TimeNs;
    let series = table.series("main");
    for n in 0..60u32 {
        let row = table.row(series, &[f64::from(n % 5 + 1)]);
        let steps = (2.237 * f64::from(n % 5 + 1) + 4.6 + f64::from(n * 7 % 10) / 10.0).floor();
        table.push(row, n / 5, (steps * period * 1e6).round() / 1e6);
    }
    let found = step_of_readings(&table).unwrap_or(f64::NAN);
    assert!((found / period - 1.0).abs() < 1e-6, "{found}");
}

#[test]
fn readings_of_a_fine_clock_show_no_step() {
    for copy in [100.0, 31.7, 4000.3] {
        assert_eq!(step_of_readings(&durations(copy, 1.0)), None, "{copy}");
    }
    // A chip that counts its cycles, and is exact: all readings are multiples of 4.
    let exact: String =
        (0..5).flat_map(|_| 1..=20).map(|k| format!("{k},{}\n", 8 + 100 * k)).collect();
    let read = |rows: &str| {
        crate::observations::read_csv(format!("body,ticks\n{rows}").as_bytes()).unwrap()
    };
    assert_eq!(step_of_readings(&read(&exact)), None);
    assert_eq!(step_of_readings(&read("1,0\n2,0\n")), None);
}
