//! `capture`: damaged and doubtful recordings.

use crate::capture::{HZ, capture, frames, samples, vcd, wav};
use crate::command::Hairspring;
use hairspring_capture::edge::Edge;
use hairspring_capture::pattern::{Kind, Orientation};
use hairspring_capture::simulate::Pin;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

#[test]
fn a_damaged_reference_is_reported_with_place_and_reason() {
    let mut pin = Pin::new(1e4, Orientation::Rising);
    pin.reference(3, 1e7);
    let frame = pin.edges.len();
    let more = frames(4, 1e8, true);
    pin.edges
        .extend(more.edges.iter().map(|edge| Edge { at: edge.at + pin.now, rising: edge.rising }));
    let damaged = |change: &dyn Fn(&mut Vec<Edge>)| {
        let mut edges = pin.edges.clone();
        change(&mut edges);
        capture("pin.vcd", vcd(&edges)).option("--channel", "PB7").option("--reference", "100ms")
    };
    // The pulses of the frame and its end are the last eight edges of it.
    let glitch = |edges: &mut Vec<Edge>| {
        let at = edges[frame - 7].at + 3e6;
        edges.splice(
            frame - 6..frame - 6,
            [Edge { at, rising: true }, Edge { at: at + 2.2e4, rising: false }],
        );
    };
    let missing = damaged(&|edges| drop(edges.drain(frame - 6..frame - 4)));
    missing
        .fails("the frame of the reference is damaged, at 0.3")
        .complains("a pulse is missing or extra")
        .in_one_line();
    let glitched =
        damaged(&glitch).fails("the frame of the reference is damaged, at 0.").in_one_line();
    glitched.complains("the end pulse has 2.00 units and should have 1");
    damaged(&|_| ()).succeeds();
}

#[test]
fn damage_leaves_out_a_frame_and_says_where() {
    let whole = frames(12, 1e8, true);
    let frame = whole.edges.len() / 12;
    let damaged = |change: &dyn Fn(&mut Vec<Edge>)| {
        let mut edges = whole.edges.clone();
        change(&mut edges);
        capture("pin.vcd", vcd(&edges)).option("--channel", "PB7").document()
    };
    let glitch = |edges: &mut Vec<Edge>, n: usize| {
        let at = edges[n].at + 150.0;
        edges.splice(
            n + 1..n + 1,
            [
                Edge { at, rising: !edges[n].rising },
                Edge { at: at + 30.0, rising: edges[n].rising },
            ],
        );
    };
    let missing = damaged(&|edges| drop(edges.drain(frame - 10..frame - 8)));
    let one = damaged(&|edges| glitch(edges, 3 * frame - 9));
    let two = damaged(&|edges| {
        glitch(edges, 5 * frame - 8);
        glitch(edges, 3 * frame - 9);
    });
    for (document, left_out) in [(missing, 1), (one, 1), (two, 2)] {
        let finding = document.finding("frames_left_out");
        assert_eq!((&finding["left_out"], &finding["frames"]), (&left_out.into(), &12.into()));
        assert!(
            finding["first_at"].as_str().is_some_and(|text| text.starts_with("at 0.0")),
            "{finding}"
        );
        assert!((document.body()["time_ns"]["value"].as_f64().unwrap() - 100_000.0).abs() < 1e-3);
    }
}

#[test]
fn doubts_about_the_signal_are_findings() {
    let pin = frames(12, HZ, true);
    let hum = |at: usize| 0.3 * (at as f32 * std::f32::consts::TAU * 50.0 / 192_000.0).sin();
    let humming: Vec<f32> =
        samples(&pin).into_iter().enumerate().map(|(at, value)| value + hum(at)).collect();
    let document = capture("pin.wav", wav(192_000, &humming)).document();
    document.finding("level_wanders");
    assert!((document.body()["time_ns"]["value"].as_f64().unwrap() - 100_000.0).abs() < 10.0);
    let clipped: Vec<f32> =
        samples(&pin).into_iter().map(|value| (5.0 * value).clamp(-1.0, 1.0)).collect();
    capture("pin.wav", wav(192_000, &clipped)).document().finding("clipped");
    let file = wav(192_000, &samples(&pin));
    let document = capture("pin.wav", &file[..file.len() - 30_000]).document();
    assert!(
        document.finding("recording_cut")["reason"]
            .as_str()
            .is_some_and(|text| text.contains("promises"))
    );
    let locked = capture("pin.wav", wav(192_000, &samples(&frames(12, HZ, false))))
        .option("--method", "three-point")
        .document();
    let finding = locked.finding("phase_locked");
    assert!(
        finding["severity"] == "warning" && finding["concentration"].as_f64() > Some(0.8),
        "{finding}"
    );
}

#[test]
fn counts_that_are_too_high_are_not_trusted() {
    let (mut plain, mut framed, mut random) = (
        Pin::new(1e4, Orientation::Rising),
        Pin::new(1e4, Orientation::Rising),
        Pcg64::seed_from_u64(7),
    );
    let widths: Vec<f64> = (1..=4).map(|k| 10_000.0 * f64::from(k) + 850.0).collect();
    for _ in 0..8 {
        for width in &widths {
            plain.wait(30_000.0 + 1e3 * random.random::<f64>());
            plain.pulse(*width);
        }
        framed.frame(&Kind::progression(2, 1, 4), &widths, &mut || random.random());
    }
    let open = |pin: &Pin| capture("pin.vcd", vcd(&pin.edges)).option("--channel", "PB7");
    for wrong in [open(&plain).option("--k", "2..5").document(), open(&framed).document()] {
        let finding = wrong.finding("overhead_below_zero");
        assert!(
            finding["severity"] == "untrusted" && finding["first_pulse"] == "k = 2",
            "{finding}"
        );
        assert!(
            finding["copies"].as_f64().is_some_and(|copies| (copies - 0.915).abs() < 1e-3),
            "{finding}"
        );
    }
    let right = open(&plain).option("--k", "1..4").document();
    assert!(!right.findings(0).contains(&"overhead_below_zero"));
}

#[test]
fn coarse_times_are_not_reported_as_a_missing_pattern() {
    let coarse: Vec<Edge> = frames(4, 1e8, true)
        .edges
        .iter()
        .map(|edge| Edge { at: (edge.at / 1e5).floor(), rising: edge.rising })
        .collect();
    let file = vcd(&coarse).replace("10 ns", "1 ms");
    capture("pin.vcd", file)
        .option("--channel", "PB7")
        .fails("the unit of the file's times is too coarse")
        .in_one_line();
}

#[test]
fn other_files_are_refused() {
    let open = |name: &str| Hairspring::new().with("capture").with(name);
    open("nosuch.wav").fails("nosuch.wav: No such file").in_one_line();
    open(".").fails("is a directory").in_one_line();
    open("/dev/null").fails("the file is empty").in_one_line();
    open("/dev/zero").fails("the format of this recording is unknown").in_one_line();
    open("/dev/zero").option("--format", "vcd").fails("byte 0: is not text").in_one_line();
    open("/dev/zero").option("--format", "csv").fails("line 1: is longer than").in_one_line();
    open("/dev/zero").option("--format", "wav").fails("this is not a sound file").in_one_line();
    open("-").fails("standard input: the file is empty").in_one_line();
    let mut file = wav(192_000, &samples(&frames(1, HZ, true)));
    file[24..28].fill(0);
    capture("pin.wav", file).fails("pin.wav: byte 24: the rate is 0").in_one_line();
    capture("pin.wav", wav(192_000, &[0.0; 1000])).fails("no edge in 1000 samples").in_one_line();
    capture("pin.sr", b"PK\x03\x04 and nothing more")
        .fails("this is not a complete sigrok session")
        .in_one_line();
    capture("pin.vcd", "$timescale 1 ns $end\n$var wire").fails("within its header").in_one_line();
    capture("pin.csv", "Time [s],A\n0,0\n1,y\n")
        .fails("pin.csv: line 3: `y` is not a number")
        .in_one_line();
}
