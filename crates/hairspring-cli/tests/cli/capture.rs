//! `capture`: recordings of a pin.

use crate::command::{Hairspring, fit};
use hairspring_capture::edge::Edge;
use hairspring_capture::pattern::{Kind, Orientation};
use hairspring_capture::simulate::{Converter, Pin};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::fmt::Write;

pub const HZ: f64 = 192_000.0;

/// Frames of k = 1 to 8, 100 us each with 8.5 us of overhead; times in ticks of the given rate.
pub fn frames(number: usize, hz: f64, dithered: bool) -> Pin {
    let (mut pin, mut random) =
        (Pin::new((100e-6 * hz).round(), Orientation::Rising), Pcg64::seed_from_u64(9));
    for _ in 0..number {
        let widths: Vec<f64> = (1..=8).map(|k| (100e-6 * f64::from(k) + 8.5e-6) * hz).collect();
        pin.frame(&Kind::progression(1, 1, 8), &widths, &mut || {
            if dithered { random.random() } else { 0.0 }
        });
        if !dithered {
            pin.now = pin.now.ceil();
        }
    }
    pin.wait(hz * 1e-3);
    pin
}

pub fn vcd(edges: &[Edge]) -> String {
    let head = "$version Icarus Verilog $end $timescale 10 ns $end $scope module chip $end $var \
                wire 1 ! PB7 $end $var wire 1 # PB6 $end $upscope $end $enddefinitions $end\n#0\n\
                0!\n0#\n";
    let mut text = head.to_owned();
    for edge in edges {
        writeln!(text, "#{}\n{}!", edge.at.round() as u64, u8::from(edge.rising)).unwrap();
    }
    text
}

pub fn samples(pin: &Pin) -> Vec<f32> {
    let mut random = Pcg64::seed_from_u64(2);
    Converter::new(0.5)
        .sample(&pin.edges, pin.now as usize, &mut || 1e-4 * (random.random::<f64>() - 0.5))
}

/// A sound of 24 bits.
pub fn wav(hz: u32, samples: &[f32]) -> Vec<u8> {
    let mut file = b"RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00".to_vec();
    file.extend(hz.to_le_bytes().into_iter().chain((3 * hz).to_le_bytes()).chain([3, 0, 24, 0]));
    file.extend(b"data".iter().copied().chain((3 * samples.len() as u32).to_le_bytes()));
    let full = |value: f32| (value * 8_388_607.0).clamp(-8_388_608.0, 8_388_607.0) as i32;
    file.extend(samples.iter().flat_map(|value| full(*value).to_le_bytes()[..3].to_vec()));
    file
}

pub fn capture(name: &str, content: impl AsRef<[u8]>) -> Hairspring {
    Hairspring::new().with("capture").beside(name, content).with(name)
}

fn time_ns(command: Hairspring) -> (f64, f64, f64) {
    let document = command.document();
    let time = &document.body()["time_ns"];
    let figure = |key: &str| time[key].as_f64().unwrap();
    (figure("low"), figure("value"), figure("high"))
}

#[test]
fn a_simulators_dump_is_exact() {
    let text = vcd(&frames(6, 1e8, true).edges);
    let (_, value, _) = time_ns(capture("pin.vcd", &text).option("--channel", "PB7"));
    assert!((value - 100_000.0).abs() < 1e-3, "{value}");
    capture("pin.vcd", &text)
        .option("--channel", "chip.PB7")
        .succeeds()
        .says("hairspring capture")
        .says("8 rows");
    capture("pin.vcd", &text)
        .fails("2 channels: chip.PB7, chip.PB6; choose one with --channel")
        .in_one_line();
    capture("pin.vcd", &text).option("--channel", "PB6").fails("`PB6` never changes").in_one_line();
    capture("pin.vcd", &text)
        .option("--channel", "PB8")
        .fails("there is no channel `PB8`")
        .in_one_line();
}

#[test]
fn a_sound_card_is_right_within_its_interval_by_every_method() {
    let file = wav(192_000, &samples(&frames(30, HZ, true)));
    for method in ["band-limited", "inflection", "three-point"] {
        let (low, value, high) = time_ns(capture("pin.wav", &file).option("--method", method));
        assert!(
            low <= 100_000.0 && 100_000.0 <= high && (value - 100_000.0).abs() < 60.0,
            "{method}: {low} {value} {high}"
        );
    }
    capture("pin.wav", &file).succeeds().says("samples around the first edge").says("192.000 kHz");
    let piped = Hairspring::new().with("capture").with("-").input(&file);
    assert!((time_ns(piped).1 - 100_000.0).abs() < 5.0);
}

#[test]
fn oversampled_edges_are_reported() {
    // An oscilloscope: 40 times as many samples, and edges that take 60 of them.
    let pin = frames(6, 40.0 * HZ, true);
    let mut signal = vec![-0.25f32; pin.now as usize];
    for pulse in pin.edges.chunks(2) {
        let (leading, trailing) = (pulse[0].at, pulse[1].at);
        for (at, value) in
            signal.iter_mut().enumerate().take(trailing as usize + 40).skip(leading as usize - 40)
        {
            let risen = |edge: f64| ((at as f64 - edge) / 60.0 + 0.5).clamp(0.0, 1.0) as f32;
            *value += 0.5 * (risen(leading) - risen(trailing));
        }
    }
    let file = wav(40 * 192_000, &signal);
    let (_, value, _) = time_ns(capture("pin.wav", &file));
    assert!((value - 100_000.0).abs() < 5.0, "{value}");
    let finding = capture("pin.wav", &file).document().finding("oversampled").clone();
    assert_eq!(finding["averaged"].as_u64(), Some(16), "{finding}");
    capture("pin.wav", &file)
        .succeeds()
        .says("samples: 16 of them are averaged")
        .says("samples around the first edge");
}

#[test]
fn an_inverted_signal_is_the_same() {
    let inverted: Vec<f32> =
        samples(&frames(30, HZ, true)).into_iter().map(|value| -value).collect();
    let file = wav(192_000, &inverted);
    assert!((time_ns(capture("pin.wav", &file)).1 - 100_000.0).abs() < 5.0);
    capture("pin.wav", &file)
        .option("--polarity", "rising")
        .fails("without --polarity the header tells")
        .in_one_line();
}

#[test]
fn a_known_interval_calibrates_both_crystals() {
    // A recorder that is 37 ppm fast, and the chip's intervals of 0.1 s.
    let hz = HZ * (1.0 + 37e-6);
    let mut pin = frames(10, hz, true);
    pin.reference(5, 0.1 * hz);
    let more = frames(10, hz, true);
    pin.edges
        .extend(more.edges.iter().map(|edge| Edge { at: edge.at + pin.now, rising: edge.rising }));
    pin.now += more.now;
    let file = wav(192_000, &samples(&pin));
    let (low, value, high) = time_ns(capture("pin.wav", &file).option("--reference", "100ms"));
    // One interval of 95 % may miss, but not by its own width.
    assert!((value - 100_000.0).abs() < high - low && high - low < 1.0, "{low} {value} {high}");
    assert!((time_ns(capture("pin.wav", &file)).1 - value - 3.7).abs() < 0.2);
    capture("pin.wav", &file).option("--reference", "1s").fails("as long as 1 s").in_one_line();
    let other = wav(192_000, &samples(&frames(10, hz, true)));
    let by_file = capture("pin.wav", &other).beside("reference.wav", &file);
    assert!(
        (time_ns(
            by_file.option("--reference", "100ms").option("--reference-file", "reference.wav")
        )
        .1 - 100_000.0)
            .abs()
            < 5.0
    );
    capture("pin.wav", &other)
        .option("--reference", "100ms")
        .fails("no reference interval")
        .in_one_line();
}

#[test]
fn only_the_dump_of_a_simulator_is_exact() {
    let simulated = vcd(&frames(6, 1e8, true).edges);
    let half = |file: &str, more: &[&str]| {
        let command = more
            .iter()
            .fold(capture("pin.vcd", file).option("--channel", "PB7"), |command, one| {
                command.with(one)
            });
        let (low, value, high) = time_ns(command);
        1e6 * (high - low) / 2.0 / value
    };
    assert!(half(&simulated, &[]) < 20.0);
    for version in ["$version libsigrok 0.5.2 $end", ""] {
        let recorded = simulated.replace("$version Icarus Verilog $end", version);
        assert!(half(&recorded, &[]) > 100.0, "{version}");
        assert!(half(&recorded, &["--rate-ppm", "0"]) < 20.0, "{version}");
        capture("pin.vcd", &recorded)
            .option("--channel", "PB7")
            .succeeds()
            .says("no simulator is named");
    }
}

#[test]
fn a_reference_at_another_sample_rate_calibrates_the_crystal() {
    // A recorder that is 37 ppm fast. What it recorded at 192 kHz calibrates what it recorded at 96
    // kHz.
    let (fast, slow) = (192_000.0 * (1.0 + 37e-6), 96_000.0 * (1.0 + 37e-6));
    let mut pin = frames(2, fast, true);
    pin.reference(5, 0.1 * fast);
    pin.now += 0.02 * fast;
    let reference = wav(192_000, &samples(&pin));
    let other = wav(96_000, &samples(&frames(10, slow, true)));
    let by_file = || {
        let capture = capture("pin.wav", &other).beside("reference.wav", &reference);
        capture.option("--reference", "100ms").option("--reference-file", "reference.wav")
    };
    let (low, value, high) = time_ns(by_file());
    assert!((value - 100_000.0).abs() < high - low && high - low < 5.0, "{low} {value} {high}");
    by_file().succeeds().says("corrected by +3");
    let seconds = |text: &str| text.lines().map(|line| line.parse().unwrap()).collect::<Vec<f64>>();
    let (corrected, stated) = (
        by_file().with("--edges").succeeds().output,
        capture("pin.wav", &other).with("--edges").succeeds().output,
    );
    let (corrected, stated) = (seconds(&corrected), seconds(&stated));
    let ppm = 1e6 * (stated[stated.len() - 1] / corrected[corrected.len() - 1] - 1.0);
    assert!(corrected.len() == stated.len() && (ppm - 37.0).abs() < 2.0, "{ppm}");
}

#[test]
fn a_reference_of_a_fraction_of_a_nanosecond_is_not_rounded() {
    // At 10 GHz, an interval of 800,000.4 ns; a whole number of nanoseconds is 0.5 ppm off.
    let mut pin = frames(4, 1e10, true);
    pin.reference(5, 8_000_004.0);
    let text: String = pin
        .edges
        .iter()
        .fold("time [ns]\n".to_owned(), |text, edge| format!("{text}{:.1}\n", edge.at / 10.0));
    let document = capture("pin.csv", &text).option("--reference", "800.0004us").document();
    let hz = document.0["environment"]["clock"]["rate_hz"].as_f64().unwrap();
    assert!((hz / 1e9 - 1.0).abs() < 1e-7, "{hz}");
}

#[test]
fn a_single_reference_interval_is_doubted() {
    // The recorder drops 25 samples of the only interval.
    let mut pin = frames(10, HZ, true);
    pin.reference(2, HZ - 25.0);
    pin.wait(2000.0);
    let file = wav(192_000, &samples(&pin));
    let reference = || capture("pin.wav", &file).option("--reference", "1s");
    let (low, _, high) = time_ns(reference());
    assert!(low < 100_000.0 && 100_000.0 < high, "{low} {high}");
    reference().succeeds().says("there is one reference interval, -130");
    let by_file =
        capture("pin.wav", &file).beside("reference.wav", &file).option("--reference", "1s");
    by_file
        .option("--reference-file", "reference.wav")
        .succeeds()
        .says("there is one reference interval");
}

#[test]
fn compressed_sound_is_named_with_a_way_to_convert_it() {
    let core = b"caff\0\x01\0\0desc\0\0\0\0\0\0\0\x20\x40\xe5\x88\x80\0\0\0\0aac \
                 \0\0\0\0\0\0\0\0\0\0\x04\0\0\0\x01\0\0\0\0\0";
    capture("pin.caf", core.as_slice())
        .fails("encoding `aac `")
        .complains("sox FILE pin.wav")
        .in_one_line();
    for head in ["fLaC\0\0", "FORM\0\0\x01\0AIFF", ".snd\0\0", "caff\0\x01", "riff"] {
        capture("pin.bin", head).fails(" the ").in_one_line();
    }
    capture("pin.ogg", "OggS\0\x02").fails("whose compression moves edges").in_one_line();
}

#[test]
fn edges_are_one_per_line_and_can_be_read_again() {
    let pin = frames(4, 1e8, true);
    let listed =
        capture("pin.vcd", vcd(&pin.edges)).option("--channel", "PB7").with("--edges").succeeds();
    let times: Vec<f64> = listed.output.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(times.len(), pin.edges.len());
    assert!(times.iter().zip(&pin.edges).all(|(time, edge)| (time - edge.at / 1e8).abs() < 1e-8));
    assert!((time_ns(capture("edges.csv", &listed.output)).1 - 100_000.0).abs() < 1.0);
}

#[test]
fn observations_are_saved_for_fit() {
    let command = capture("pin.vcd", vcd(&frames(4, 1e8, true).edges))
        .option("--channel", "PB7")
        .option("--components", "loop");
    let document = command.document();
    assert_eq!(document.components(), ["loop"]);
    let saved = capture("pin.vcd", vcd(&frames(4, 1e8, true).edges))
        .option("--channel", "PB7")
        .option("--save", "/dev/stderr")
        .start()
        .ends_with_any(&[0]);
    assert!(
        saved.error.contains("# rate_hz: 100000000") && saved.error.contains("body,"),
        "{saved}"
    );
    let document = fit(saved.error).document();
    assert!((document.body()["time_ns"]["value"].as_f64().unwrap() - 100_000.0).abs() < 1e-3);
}

#[test]
fn recordings_are_not_written_and_a_failed_capture_keeps_what_was_saved() {
    let text = vcd(&frames(4, 1e8, true).edges);
    let ended = capture("pin.vcd", &text)
        .option("--channel", "PB7")
        .option("--save", "pin.vcd")
        .ends_with(2);
    assert_eq!(
        ended.complains("--save pin.vcd: it is the recording, which would be lost").file("pin.vcd"),
        text
    );
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept.csv");
    std::fs::write(&kept, "kept, and longer than nothing").unwrap();
    capture("pin.vcd", "nonsense").option("--save", kept.to_str().unwrap()).ends_with(1);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "kept, and longer than nothing");
    capture("pin.vcd", &text)
        .option("--channel", "PB7")
        .option("--save", kept.to_str().unwrap())
        .succeeds();
    let saved = std::fs::read_to_string(&kept).unwrap();
    assert!(saved.starts_with("# hairspring observations") && !saved.contains("kept"), "{saved}");
}

#[test]
fn findings_travel_with_the_saved_observations() {
    // Clipped at full scale: the finding and the wider interval are also those of `fit`.
    let clipped: Vec<f32> = samples(&frames(30, HZ, true))
        .into_iter()
        .map(|value| (4.5 * value).clamp(-1.0, 1.0))
        .collect();
    let file = wav(192_000, &clipped);
    let whole = wav(192_000, &samples(&frames(30, HZ, true)));
    let document = capture("pin.wav", &file).option("--rate-ppm", "0").document();
    let (low, _, high) = time_ns(capture("pin.wav", &file).option("--rate-ppm", "0"));
    let (narrow_low, _, narrow_high) =
        time_ns(capture("pin.wav", &whole).option("--rate-ppm", "0"));
    assert!(high - low > 10.0 * (narrow_high - narrow_low), "{low} {high}");
    let finding = document.finding("clipped").clone();
    let saved = capture("pin.wav", &file)
        .option("--rate-ppm", "0")
        .option("--save", "/dev/stderr")
        .start()
        .ends_with_any(&[0]);
    let again = fit(saved.error).document();
    assert_eq!(again.finding("clipped")["message"], finding["message"]);
    assert_eq!(again.body()["time_ns"]["high"].as_f64(), Some(high));
    // Counts that are too high show in `fit` too, where the readings are from a recording.
    let rows: String =
        (0..30).map(|n| format!("{},{}\n", n % 5 + 2, 100 * (n % 5 + 1) + n % 3)).collect();
    fit(format!("# clock: capture of PB7\nbody,ticks\n{rows}"))
        .succeeds()
        .says("NOT TO BE TRUSTED")
        .says("copies of body too high");
    assert!(
        fit(format!("body,ticks\n{rows}"))
            .document()
            .findings(0)
            .iter()
            .all(|kind| *kind != "overhead_below_zero")
    );
}

#[test]
fn components_have_one_name_each() {
    let text = vcd(&frames(4, 1e8, true).edges);
    let named = |names: &str| {
        capture("pin.vcd", &text).option("--channel", "PB7").option("--components", names)
    };
    named("a,b")
        .fails("--components names 2 and the pulses count 1 component: nothing is left for b")
        .in_one_line();
    for wrong in ["", "=", "a,", "1"] {
        named(wrong).ends_with(2).complains("is not a component name");
    }
    let (mut pin, mut random) = (Pin::new(1e4, Orientation::Rising), Pcg64::seed_from_u64(3));
    for _ in 0..6 {
        let kind = Kind::Counts(vec![vec![1, 1], vec![2, 1], vec![1, 2], vec![3, 2], vec![2, 3]]);
        pin.frame(&kind, &[13_000.0, 23_000.0, 15_000.0, 35_000.0, 27_000.0], &mut || {
            random.random()
        });
    }
    let text = vcd(&pin.edges);
    let named = |names: &str| {
        capture("pin.vcd", &text).option("--channel", "PB7").option("--components", names)
    };
    assert_eq!(named("loop, start").document().components(), ["loop", "start"]);
    named("init").fails("two components would be called `init`").in_one_line();
    named("a,a").fails("two components would be called `a`").in_one_line();
    named("a,overhead").ends_with(2).complains("reserved for the overhead");
}

#[test]
fn a_list_of_counts_needs_all_pulses_to_fit() {
    let (mut pin, mut random) = (Pin::new(100.0, Orientation::Rising), Pcg64::seed_from_u64(1));
    for n in 0..40 {
        pin.wait(30_000.0 + 1e3 * random.random::<f64>());
        pin.pulse(10_000.0 * f64::from(n % 5 + 1) + 850.0);
    }
    let whole = || capture("pin.vcd", vcd(&pin.edges)).option("--channel", "PB7");
    assert!((time_ns(whole().option("--k", "1..5")).1 - 100_000.0).abs() < 1e-3);
    whole().fails("no whole frame of the header pattern in 80 edges").in_one_line();
    whole().option("--k", "1..6").fails("not a whole number of rounds of 6").in_one_line();
    whole().option("--k", "5,4,3,2,1").fails("pulse 1 (").in_one_line();
    let mut edges = pin.edges.clone();
    edges.drain(12..14);
    edges.drain(40..48);
    capture("pin.vcd", vcd(&edges))
        .option("--channel", "PB7")
        .option("--k", "1..5")
        .fails("copies by the line through all pulses")
        .in_one_line();
    let pattern = capture("pin.vcd", vcd(&frames(2, 1e8, true).edges)).option("--channel", "PB7");
    pattern.option("--k", "1..8").fails("leave --k out").in_one_line();
}

#[test]
fn incomplete_rounds_are_trimmed() {
    let mut text = "Time [s],pin\n0,0\n".to_owned();
    let mut at = 1e-3;
    for n in 2..31 {
        writeln!(text, "{at:.9},1\n{:.9},0", at + 1e-5 * f64::from(n % 4 + 1) + 1e-6).unwrap();
        at += 1e-4 + 1e-8 * f64::from(n * n % 7);
    }
    let capture = || capture("pin.csv", &text).option("--k", "1..4");
    capture().fails("--trim leaves incomplete rounds at its ends out").in_one_line();
    let (low, value, high) = time_ns(capture().with("--trim"));
    assert!(low <= 10_000.0 && 10_000.0 <= high, "{low} {value} {high}");
    capture()
        .with("--trim")
        .succeeds()
        .says("2 pulses before the first whole round and 3 behind the last one are left out");
    Hairspring::new()
        .with("capture")
        .with("-")
        .with("--trim")
        .ends_with(2)
        .complains("--trim is about the list of --k");
}

#[test]
fn options_that_make_no_sense() {
    let with = |options: &[&str]| {
        options.iter().fold(Hairspring::new().with("capture").with("x.wav"), |command, option| {
            command.with(option)
        })
    };
    for wrong in [
        &["--k", "5..1"][..],
        &["--reference", "0s"],
        &["--reference-file", "y"],
        &["--edges", "--json"],
        &["--rate-ppm", "-1"],
    ] {
        with(wrong).ends_with(2);
    }
}
