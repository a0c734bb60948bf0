//! The clock speed from made-up tables.

use super::*;
use hairspring_core::observations::Rate;

const TICK_HZ: f64 = 2.6e9;

/// Cycles of one copy of each chain on a made-up core.
type Core = [(&'static str, f64); 6];
const PLAIN_CORE: Core = [
    ("imul", 3.0),
    ("xor", 1.0),
    ("load", 4.0),
    ("mulsd", 3.0),
    ("xor+imul", 4.0),
    ("xor+imul+xor", 5.0),
];

/// A table of rounds in which the core runs at the given speed; the clock steps by 26 ticks.
fn table(core: &Core, hz: impl Fn(u32) -> f64, noise_ticks: f64) -> Observations {
    let mut table = Observations::new(vec!["body".into(), "init".into()]);
    let mut state = 1u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    for round in 0..640 {
        for (name, cycles) in core {
            let series = table.series(name);
            for copies in [64u32, 128, 192, 256, 384, 512] {
                let row = table.row(series, &[f64::from(copies), 0.0]);
                let ticks = f64::from(copies) * cycles * TICK_HZ / hz(round)
                    + 60.0
                    + noise_ticks * random();
                table.push(row, round, ((ticks / 26.0 + random()).floor()) * 26.0);
            }
        }
    }
    table.origin.rate =
        Some(Rate { hz: TICK_HZ, uncertainty_ppm: 1.0, provenance: "invented".into() });
    table.origin.granularity = Some(26.0);
    table
}

fn with(name: &str, cycles: f64) -> Core {
    PLAIN_CORE.map(|(known, length)| if known == name { (known, cycles) } else { (known, length) })
}

#[test]
fn the_speed_of_a_steady_core_is_found() {
    for hz in [0.8e9, 2.6e9, 3.7e9, 5.5e9] {
        let clock = core_clock(&table(&PLAIN_CORE, |_| hz, 5.0), 0.95).unwrap();
        assert!((clock.core_hz.value / hz - 1.0).abs() < 1e-3, "{hz}: {:?}", clock.core_hz);
        assert!(clock.core_hz.low <= hz * 1.0005 && clock.core_hz.high >= hz * 0.9995);
        assert_eq!(
            clock.chains.iter().map(|chain| chain.integer.unwrap()).collect::<Vec<_>>().len(),
            6
        );
        assert!(clock.factor_known && clock.levels.len() == 1);
    }
}

#[test]
fn a_chain_that_breaks_the_lattice_is_named_and_left_out() {
    let clock = core_clock(&table(&with("load", 4.5), |_| 3.7e9, 5.0), 0.95).unwrap();
    assert!((clock.core_hz.value / 3.7e9 - 1.0).abs() < 1e-3);
    let load = clock.chains.iter().find(|chain| chain.name == "load").unwrap();
    assert_eq!(load.integer, None);
    assert!(
        clock.findings.iter().any(|finding| finding.message.contains("load (4.5")),
        "{:?}",
        clock.findings
    );
}

#[test]
fn chains_that_share_a_factor_leave_the_speed_known_up_to_it() {
    let doubled = PLAIN_CORE.map(|(name, _)| (name, if name.contains('+') { 4.0 } else { 2.0 }));
    let clock = core_clock(&table(&doubled, |_| 3.7e9, 5.0), 0.95).unwrap();
    assert!(!clock.factor_known);
    assert!(clock.findings.iter().any(|finding| finding.is(FACTOR_UNKNOWN)));
}

#[test]
fn steps_are_levels_and_not_averaged_away() {
    let clock =
        core_clock(&table(&PLAIN_CORE, |round| if round < 400 { 3.7e9 } else { 3.3e9 }, 5.0), 0.95)
            .unwrap();
    assert!((clock.core_hz.value / 3.7e9 - 1.0).abs() < 1e-3, "{:?}", clock.core_hz);
    let levels: Vec<f64> =
        clock.levels.iter().map(|level| (level.value.value / 1e8).round()).collect();
    assert_eq!(levels, [37.0, 33.0]);
    assert!((clock.levels[0].share - 400.0 / 640.0).abs() < 0.05);
}

#[test]
fn non_integer_lengths_are_an_error_that_shows_them() {
    let mut core = PLAIN_CORE;
    for (at, chain) in core.iter_mut().enumerate() {
        chain.1 *= 1.0 + 0.13 * at as f64;
    }
    let message = core_clock(&table(&core, |_| 3.7e9, 5.0), 0.95).unwrap_err();
    assert!(message.contains("integer lattice") && message.contains("imul"), "{message}");
}

#[test]
fn a_missing_rate_is_reported() {
    let mut table = table(&PLAIN_CORE, |_| 3.7e9, 5.0);
    table.origin.rate = None;
    assert!(core_clock(&table, 0.95).unwrap_err().contains("rate"));
}

#[test]
fn a_load_chain_that_something_slows_is_left_out_without_a_doubt() {
    for load in [4.05, 4.11, 4.2, 4.35, 4.5] {
        let clock = core_clock(&table(&with("load", load), |_| 3.24e9, 5.0), 0.95).unwrap();
        assert!((clock.core_hz.value / 3.24e9 - 1.0).abs() < 1e-3, "{load}: {:?}", clock.core_hz);
        assert!(
            clock.factor_known && clock.off_lattice().count() == 0,
            "{load}: {:?}",
            clock.chains
        );
        assert!(
            clock.findings.iter().all(|finding| finding.severity == Severity::Note),
            "{:?}",
            clock.findings
        );
    }
}

#[test]
fn a_fraction_and_a_slowed_load_chain_leave_the_chains_of_the_lattice() {
    let core =
        with("load", 4.3).map(|(name, cycles)| (name, if name == "mulsd" { 3.36 } else { cycles }));
    let clock = core_clock(&table(&core, |_| 3.24e9, 5.0), 0.95).unwrap();
    assert!((clock.core_hz.value / 3.24e9 - 1.0).abs() < 1e-3 && clock.factor_known, "{clock:?}");
    assert_eq!(clock.off_lattice().count(), 0);
    let left_out: Vec<&str> = clock
        .chains
        .iter()
        .filter(|chain| chain.integer.is_none())
        .map(|chain| chain.name.as_str())
        .collect();
    assert_eq!(left_out, ["load", "mulsd"]);
}

#[test]
fn slowed_chains_of_the_lattice_differ_from_renamed_ones() {
    let of = |xor: f64| core_clock(&table(&with("xor", xor), |_| 3.7e9, 5.0), 0.95).unwrap();
    // The same length in every try: the core causes it.
    assert_eq!(interference(&[of(1.01), of(1.01)], true), None);
    let (slowed, integer) = interference(&[of(1.0), of(1.013)], true).unwrap();
    assert!((slowed - 1.013).abs() < 0.002 && integer == 1.0);
    let doubted = of(1.013).doubted(Some((slowed, integer)));
    assert!(doubted.core_hz.half_width() > 0.005 * 3.7e9);
    assert!(doubted.findings[0].is(hairspring_core::judge::code::CORE_SHARED));
    // A quiet last try leaves no doubt, regardless of the earlier ones.
    assert_eq!(interference(&[of(1.013), of(1.0)], true), None);
}

#[test]
fn wide_interval_is_a_warning_and_not_a_refusal() {
    let of = |noise: f64| core_clock(&table(&PLAIN_CORE, |_| 3.7e9, noise), 0.95).unwrap();
    let wide = |clock: &CoreClock| {
        clock.findings.iter().any(|finding| finding.is(hairspring_core::judge::code::WIDE_INTERVAL))
    };
    let (narrow, noisy) = (of(50.0), of(200.0));
    assert!(narrow.core_hz.relative() < WIDE_SHARE && !wide(&narrow), "{narrow:?}");
    assert!(
        noisy.core_hz.relative() > WIDE_SHARE && wide(&noisy) && noisy.core_hz.contains(3.7e9),
        "{noisy:?}"
    );
}

#[test]
fn clock_of_other_runs_has_their_movement_in_its_interval() {
    let clock = core_clock(&table(&PLAIN_CORE, |_| 3.7e9, 5.0), 0.95).unwrap();
    let between = |sd: f64| {
        clock.clone().beside_other_runs(Some(ClockSpread { sd, runs: 1000 })).of_runs.unwrap()
    };
    let (steady, moving) = (between(0.0), between(0.02));
    assert_eq!((steady.hz, moving.hz.value), (clock.core_hz, clock.core_hz.value));
    let expected = (1.96 * 0.02_f64).hypot(clock.core_hz.relative());
    assert!((moving.hz.relative() / expected - 1.0).abs() < 0.02, "{moving:?}");
    assert_eq!(clock.beside_other_runs(None).of_runs, None);
}
