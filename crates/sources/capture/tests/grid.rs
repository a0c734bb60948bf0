//! Value change dumps of recorders that round the times of their samples to a unit, and do not
//! state how far apart the samples are.

use hairspring_capture::{Captured, Input, Options, capture};
use hairspring_core::judge::{Question, assess};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::fmt::Write;
use std::io::Cursor;

const ROUNDS: u32 = 6;
const COPIES: u32 = 8;

/// A recorder: its samples per second, and the unit of its stamps.
struct Recorder {
    hz: f64,
    unit: &'static str,
    units: f64,
}

/// A dump of pulses around 1 to 8 copies, and the time of a copy in seconds. With `locked`, pulses
/// begin at the same part of a sample.
fn dump(recorder: &Recorder, locked: bool, random: &mut Pcg64Mcg) -> (String, f64) {
    let Recorder { hz, unit, units } = recorder;
    let (copy, overhead) =
        ((73.0 + random.random::<f64>()) / hz, (20.0 + random.random::<f64>()) / hz);
    let phase = random.random::<f64>() / hz;
    let mut text =
        format!("$timescale {unit} $end $var wire 1 ! pin $end $enddefinitions $end\n#0\n0!\n");
    let (mut at, mut level) = (1e-3, 1);
    for copies in (0..ROUNDS).flat_map(|_| 1..=COPIES) {
        at += 300e-6;
        at = if locked {
            (at * hz).round() / hz + phase
        } else {
            at + random.random::<f64>() * 1e-5
        };
        for step in [0.0, f64::from(copies) * copy + overhead] {
            at += step;
            let stamp = (at * hz).ceil() / hz * units;
            writeln!(text, "#{}\n{level}!", stamp.round()).unwrap();
            level = 1 - level;
        }
    }
    (text, copy)
}

/// Whether the interval holds, and the quantum in samples.
fn measured(recorder: &Recorder, text: String, copy: f64) -> (bool, f64) {
    let options = Options {
        ks: Some((1..=COPIES).map(f64::from).collect()),
        rate_ppm: Some(0.0),
        ..Options::default()
    };
    let Captured { table, .. } =
        capture(Input::File(Box::new(Cursor::new(text.into_bytes()))), &options).unwrap();
    let quantum = table.origin.granularity.unwrap() / recorder.units * recorder.hz;
    let assessment = assess(&table, &Question::default()).unwrap();
    let time = &assessment.series[0].components[0].time.ticks;
    ((time.value - copy * recorder.units).abs() <= time.half_width(), quantum)
}

#[test]
fn the_stamps_show_the_sample_at_any_rate() {
    let mut random = Pcg64Mcg::seed_from_u64(43);
    for (hz, unit, units) in [
        (14_285_714.0, "100 ps", 1e10),
        (66_666_666.0, "100 ps", 1e10),
        (33_333_333.0, "1 ns", 1e9),
        (11_059_200.0, "100 ps", 1e10),
        (7_372_800.0, "1 ns", 1e9),
        (333_333.0, "10 ns", 1e8),
    ] {
        let recorder = Recorder { hz, unit, units };
        let (mut missed, mut multiples) = (0, 0);
        for n in 0..20 {
            let (text, copy) = dump(&recorder, n % 2 == 0, &mut random);
            let (holds, quantum) = measured(&recorder, text, copy);
            // Locked pulses may all be an even number of samples.
            assert!(quantum > 0.999 && (quantum - quantum.round()).abs() < 1e-3, "{hz}: {quantum}");
            multiples += u32::from(quantum > 1.5);
            missed += u32::from(!holds);
        }
        assert!(multiples <= 2, "{hz} Hz: {multiples} of 20 quanta are several samples");
        assert!(missed <= 2, "{hz} Hz: {missed} of 20 intervals miss");
    }
}
