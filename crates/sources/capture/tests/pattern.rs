//! Frames with and without damage: a pulse gets the correct k or none.

use hairspring_capture::edge::{Detector, Edge, Method};
use hairspring_capture::observe::Collector;
use hairspring_capture::pattern::{Decoder, Frame, Item, Kind, Orientation, Problem, Trouble};
use hairspring_capture::simulate::{Converter, Pin};
use hairspring_capture::{Input, Options, capture};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::fmt::Write;
use std::io::Cursor;

const UNIT: f64 = 100.0;

fn width(k: u16) -> f64 {
    100.0 * f64::from(k) + 8.5
}

fn kind() -> Kind {
    Kind::progression(1, 1, 6)
}

/// Three frames of k = 1 to 6.
fn pin(orientation: Orientation) -> Pin {
    let (mut pin, mut random) = (Pin::new(UNIT, orientation), Pcg64::seed_from_u64(7));
    for _ in 0..3 {
        pin.frame(&kind(), &(1..=6).map(width).collect::<Vec<_>>(), &mut || random.random());
    }
    pin
}

fn decode(edges: &[Edge]) -> (Vec<Frame>, Vec<Problem>, usize) {
    let (mut frames, mut problems, mut stray) = (Vec::new(), Vec::new(), 0);
    let mut sink = |item| match item {
        Item::Frame(frame) => frames.push(frame),
        Item::Problem(problem) => problems.push(problem),
        Item::Stray(_) => stray += 1,
    };
    let mut decoder = Decoder::new(None);
    edges.iter().for_each(|edge| decoder.push(*edge, &mut sink));
    decoder.finish(&mut sink);
    (frames, problems, stray)
}

/// Every pulse of every frame has the width of its k.
fn right(frames: &[Frame]) {
    for frame in frames {
        assert_eq!(frame.kind, kind());
        for (k, pulse) in (1..).zip(&frame.pulses) {
            assert!((pulse.width() - width(k)).abs() < 0.5, "k = {k}: {pulse:?}");
        }
    }
}

#[test]
fn frames_are_found_whichever_level_is_idle() {
    for orientation in [Orientation::Rising, Orientation::Falling] {
        let (frames, problems, stray) = decode(&pin(orientation).edges);
        assert_eq!((frames.len(), problems.len(), stray), (3, 0, 0));
        right(&frames);
        assert_eq!(frames[0].orientation, orientation);
        assert!((frames[0].unit - UNIT).abs() < 1e-9 && frames[0].excess.abs() < 1e-9);
        // In a recording that begins in the middle of a frame the other two are found.
        let (frames, _, _) = decode(&pin(orientation).edges[41..]);
        assert_eq!(frames.len(), 2);
        right(&frames);
    }
}

/// Adds the edges of a glitch, for either level of the pin.
fn glitch(edges: &mut Vec<Edge>, at: f64, width: f64) {
    let next = edges.iter().position(|edge| edge.at > at).unwrap_or(edges.len());
    if next == edges.len() || edges[next].at <= at + width {
        return;
    }
    let rising = edges[next].rising;
    edges.splice(next..next, [Edge { at, rising }, Edge { at: at + width, rising: !rising }]);
}

#[test]
fn one_glitch_or_two_anywhere_never_give_a_wrong_k() {
    let whole = pin(Orientation::Rising);
    let mut random = Pcg64::seed_from_u64(11);
    for round in 0..4000 {
        let mut edges = whole.edges.clone();
        for _ in 0..1 + round % 2 {
            glitch(
                &mut edges,
                random.random::<f64>() * whole.now,
                1.0 + 30.0 * random.random::<f64>(),
            );
        }
        let (frames, problems, stray) = decode(&edges);
        right(&frames);
        assert!(frames.len() == 3 || problems.len() + stray > 0, "{round}");
    }
}

#[test]
fn one_missing_pulse_or_two_never_give_a_wrong_k() {
    let whole = pin(Orientation::Falling);
    let mut random = Pcg64::seed_from_u64(12);
    for round in 0..2000 {
        let mut edges = whole.edges.clone();
        for _ in 0..1 + round % 2 {
            let at = random.random_range(0..edges.len() - 1);
            edges.drain(at..at + 2);
        }
        let (frames, problems, stray) = decode(&edges);
        right(&frames);
        assert!(frames.len() < 3 && problems.len() + stray > 0, "{round}");
    }
}

#[test]
fn problems_have_reason_and_place() {
    let whole = pin(Orientation::Rising);
    // The frame's header has 3 + 56 pulses.
    let third = 2 * (59 + 2);
    let mut edges = whole.edges.clone();
    edges.drain(third..third + 2);
    let (frames, problems, _) = decode(&edges);
    assert_eq!((frames.len(), problems.len()), (2, 1));
    assert!(
        problems[0].reason.contains("before pulse 3 of 6")
            && problems[0].reason.contains("a pulse is missing"),
        "{problems:?}"
    );
    assert_eq!(problems[0].at, whole.edges[third + 2].at);
    let mut edges = whole.edges.clone();
    edges.remove(third);
    let (_, problems, _) = decode(&edges);
    assert_eq!(problems[0].trouble, Trouble::SameDirection);
    let (frames, problems, _) = decode(&whole.edges[..whole.edges.len() - 3]);
    assert_eq!((frames.len(), problems[0].trouble), (2, Trouble::Unfinished));
    assert!(problems[0].reason.contains("after pulse 5 of 6"), "{problems:?}");
}

#[test]
fn a_glitch_in_place_of_a_missing_pulse_is_flagged() {
    let mut pin = Pin::new(UNIT, Orientation::Rising);
    let mut random = Pcg64::seed_from_u64(7);
    for n in 0..8 {
        let mut widths: Vec<f64> = (1..=6).map(width).collect();
        if n == 5 {
            widths[3] = 20.0;
        }
        pin.frame(&kind(), &widths, &mut || random.random());
    }
    let mut collector = Collector::new(Vec::new());
    decode(&pin.edges).0.iter().for_each(|frame| collector.frame(frame).unwrap());
    let (table, doubted) = collector.finish().unwrap();
    let flagged: Vec<f64> = table
        .readings()
        .iter()
        .filter(|reading| reading.flags.any())
        .map(|reading| reading.ticks)
        .collect();
    assert_eq!((doubted, flagged.len()), (1, 1));
    assert!((flagged[0] - 20.0).abs() < 1e-6);
}

#[test]
fn reference_frames_give_intervals() {
    let mut pin = Pin::new(UNIT, Orientation::Rising);
    pin.frame(&kind(), &(1..=6).map(width).collect::<Vec<_>>(), &mut || 0.3);
    pin.reference(4, 48_000.7);
    pin.frame(&kind(), &(1..=6).map(width).collect::<Vec<_>>(), &mut || 0.1);
    let (frames, problems, _) = decode(&pin.edges);
    assert_eq!((frames.len(), problems.len()), (3, 0));
    let mut collector = Collector::new(Vec::new());
    frames.iter().for_each(|frame| collector.frame(frame).unwrap());
    assert_eq!(collector.intervals.len(), 3);
    assert!(collector.intervals.iter().all(|interval| (interval - 48_000.7).abs() < 1e-6));
}

#[test]
fn a_sound_card_gives_the_same_frames() {
    let pin = pin(Orientation::Falling);
    let mut random = Pcg64::seed_from_u64(3);
    let samples = Converter::new(0.5)
        .sample(&pin.edges, pin.now as usize + 1000, &mut || 1e-4 * (random.random::<f64>() - 0.5));
    let (mut detector, mut edges) = (Detector::new(Method::BandLimited, 1e-5), Vec::new());
    // In blocks of odd sizes.
    samples
        .chunks(777)
        .for_each(|block| detector.push(block, &mut |edge| edges.push(edge)).unwrap());
    detector.finish(&mut |edge| edges.push(edge)).unwrap();
    assert_eq!(edges.len(), pin.edges.len());
    let worst = edges
        .iter()
        .zip(&pin.edges)
        .map(|(found, known)| (found.at - known.at).abs())
        .fold(0.0, f64::max);
    assert!(worst < 0.01, "{worst}");
    let (frames, problems, _) = decode(&edges);
    assert_eq!((frames.len(), problems.len()), (3, 0));
    right(&frames);
}

/// Pulses of 4, 1, 3 and 2 copies whose gaps make the preamble of a frame by chance.
#[test]
fn a_preamble_by_chance_is_no_frame_for_a_list_of_counts() {
    let (mut table, mut at) = ("Time [s],D0\n0.000000000,0\n".to_owned(), 1000.0);
    for _ in 0..6 {
        for (copies, gap) in [(4.0, 1.0), (1.0, 3.0), (3.0, 1.0), (2.0, 11.0)] {
            for (time, level) in [(at, 1), (at + 100.0 * copies, 0)] {
                writeln!(table, "{:.9},{level}", time * 1e-6).unwrap();
            }
            at += 100.0 * (copies + gap);
        }
    }
    let read = |ks: Option<Vec<f64>>| {
        let input = Input::Pipe(Box::new(Cursor::new(table.clone().into_bytes())));
        capture(input, &Options { ks, ..Options::default() })
    };
    let capture = read(Some(vec![4.0, 1.0, 3.0, 2.0])).unwrap();
    assert_eq!((capture.rounds, capture.table.readings().len()), (6, 24));
    assert!(!capture.findings.iter().any(|finding| finding.is("frames_left_out")));
    assert!(read(None).unwrap_err().to_string().contains("needs --k"));
}
