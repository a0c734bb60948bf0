//! Signals with clipping, hum, noise, weak steps or no steps.

use hairspring_capture::edge::{Detector, Edge, Method, Signal};
use hairspring_capture::pattern::{Kind, Orientation};
use hairspring_capture::simulate::{Converter, Pin};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

fn pin() -> Pin {
    let (mut pin, mut random) = (Pin::new(100.0, Orientation::Rising), Pcg64::seed_from_u64(1));
    for _ in 0..50 {
        pin.wait(100.0 + 50.0 * random.random::<f64>());
        pin.pulse(150.3);
    }
    pin.wait(300.0);
    pin
}

fn detect(samples: &[f32], method: Method) -> (Vec<Edge>, Signal) {
    let (mut detector, mut edges) = (Detector::new(method, 1e-5), Vec::new());
    detector.push(samples, &mut |edge| edges.push(edge)).unwrap();
    detector.finish(&mut |edge| edges.push(edge)).unwrap();
    (edges, detector.signal())
}

/// Largest error of an edge and the properties of the signal, when the samples are changed.
fn worst(method: Method, mut change: impl FnMut(usize, f32) -> f32) -> (f64, Signal) {
    let pin = pin();
    let samples: Vec<f32> = Converter::new(0.5).sample(&pin.edges, pin.now as usize, &mut || 0.0);
    let samples: Vec<f32> =
        samples.into_iter().enumerate().map(|(at, value)| change(at, value)).collect();
    let (edges, signal) = detect(&samples, method);
    assert_eq!(edges.len(), pin.edges.len());
    let errors = edges.iter().zip(&pin.edges).map(|(found, known)| (found.at - known.at).abs());
    (errors.fold(0.0, f64::max), signal)
}

#[test]
fn estimators_reach_their_documented_accuracy() {
    for (method, limit) in
        [(Method::BandLimited, 0.0005), (Method::Inflection, 0.15), (Method::ThreePoint, 0.3)]
    {
        let (error, signal) = worst(method, |_, value| value);
        assert!(error < limit, "{method:?} {error}");
        assert!(
            (signal.step - 0.5).abs() < 0.02
                && signal.noise.is_some_and(|noise| noise < 1e-3)
                && signal.weak == 0
                && signal.clipped == 0,
            "{signal:?}"
        );
        assert_eq!(signal.edges, 100);
        assert!(signal.window.is_some_and(|window| window.edge.rising));
    }
}

#[test]
fn edges_nearby_move_no_edge() {
    // The edges lie in each other's ringing, which the converter has for 32 samples, as in many
    // rows of k = 1 copies.
    for width in [9.0, 12.3, 19.6, 20.8, 27.7] {
        let (mut pin, mut random) = (Pin::new(100.0, Orientation::Rising), Pcg64::seed_from_u64(6));
        for _ in 0..50 {
            pin.wait(100.0 + random.random::<f64>());
            pin.pulse(width);
        }
        let samples = Converter::new(0.5).sample(&pin.edges, pin.now as usize + 100, &mut || 0.0);
        let (edges, _) = detect(&samples, Method::BandLimited);
        assert_eq!(edges.len(), 100);
        let error =
            edges.chunks(2).map(|pair| (pair[1].at - pair[0].at - width).abs()).fold(0.0, f64::max);
        assert!(error < 3e-4, "{width}: {error}");
    }
}

#[test]
fn hum_moves_no_edge_and_is_reported() {
    let hum = |at: usize| 0.3 * (at as f32 * std::f32::consts::TAU * 50.0 / 192_000.0).sin();
    let (error, signal) = worst(Method::BandLimited, |at, value| value + hum(at));
    assert!(error < 0.01, "{error}");
    assert!(signal.wander > 0.1, "{signal:?}");
}

#[test]
fn dense_edges_are_not_noise() {
    let frames = |noise: f64, unit: f64| {
        let (mut pin, mut random) = (Pin::new(unit, Orientation::Rising), Pcg64::seed_from_u64(11));
        let counts: Vec<Vec<u16>> = (0..12).map(|n| vec![1 + n % 4, 1 + n / 4]).collect();
        let widths: Vec<f64> = counts
            .iter()
            .map(|row| 9.6 * f64::from(row[0]) + 5.8 * f64::from(row[1]) + 1.0)
            .collect();
        for _ in 0..6 {
            pin.frame(&Kind::Counts(counts.clone()), &widths, &mut || random.random());
        }
        pin.wait(300.0);
        let mut normal = || noise * (0..12).map(|_| random.random::<f64>() - 0.5).sum::<f64>();
        let samples = Converter::new(0.5).sample(&pin.edges, pin.now as usize, &mut normal);
        detect(&samples, Method::BandLimited).1.noise.unwrap() / 0.5
    };
    for unit in [19.2, 20.16, 21.12, 23.04] {
        assert!(frames(0.0, unit) < 1e-3, "{unit}: {}", frames(0.0, unit));
        for noise in [1e-3, 0.01, 0.03] {
            let share = frames(noise, unit) * 0.5 / noise;
            assert!((share - 1.0).abs() < 0.25, "{unit} {noise}: {share}");
        }
    }
    // No sample is far from an edge.
    let mut pin = Pin::new(20.0, Orientation::Rising);
    for _ in 0..2000 {
        pin.pulse(20.3);
        pin.wait(19.6);
    }
    let samples = Converter::new(0.5).sample(&pin.edges, pin.now as usize, &mut || 0.0);
    assert_eq!(detect(&samples, Method::BandLimited).1.noise, None);
}

#[test]
fn ac_coupling_moves_no_edge() {
    // A high pass of 1.5 Hz.
    let (mut level, pole) = (0.0f64, 1.0 - std::f64::consts::TAU * 1.5 / 192_000.0);
    let pin = pin();
    let samples = Converter::new(0.5).sample(&pin.edges, pin.now as usize, &mut || 0.0);
    let mut before = f64::from(samples[0]);
    let filtered: Vec<f32> = samples
        .iter()
        .map(|value| {
            level = pole * (level + f64::from(*value) - before);
            before = f64::from(*value);
            level as f32
        })
        .collect();
    let (edges, signal) = detect(&filtered, Method::BandLimited);
    assert_eq!(signal.overload, None);
    let worst = edges
        .iter()
        .zip(&pin.edges)
        .map(|(found, known)| (found.at - known.at).abs())
        .fold(0.0, f64::max);
    assert!(edges.len() == 100 && worst < 0.01, "{worst}");
}

#[test]
fn clipping_is_reported_with_its_place() {
    let (error, signal) = worst(Method::BandLimited, |_, value| (value * 6.0).clamp(-1.0, 1.0));
    assert!(error < 0.5, "{error}");
    assert!(
        signal.clipped > 1000 && signal.first_clipped.is_some_and(|first| first < 100),
        "{signal:?}"
    );
}

#[test]
fn clipping_below_full_scale_is_detected_by_lower_steps() {
    // An AC-coupled input: the idle level begins at 0 and drifts down.
    let (mut level, mut random) = (0.4f32, Pcg64::seed_from_u64(5));
    let mut noise = || 2e-3 * (random.random::<f32>() - 0.5);
    let mut drooping = |limit: f32| {
        level = 0.4;
        let mut noise = |value: f32| value + noise();
        worst(Method::BandLimited, |_, value| {
            level *= 0.9995;
            noise((1.6 * value + level).clamp(-limit, limit))
        })
    };
    assert_eq!(drooping(1.0).1.overload, None);
    let (_, signal) = drooping(0.5);
    let (steps, first) = signal.overload.unwrap();
    assert!(steps >= 4 && first < 500.0 && signal.clipped == 0, "{steps} {first}");
    // Hum, crosstalk and short pulses are not clipping.
    let hum = |at: usize| 0.3 * (at as f32 * std::f32::consts::TAU * 50.0 / 192_000.0).sin();
    assert_eq!(worst(Method::BandLimited, |at, value| value + hum(at)).1.overload, None);
    assert_eq!(worst(Method::BandLimited, |_, value| value).1.overload, None);
}

#[test]
fn steps_of_another_signal_are_weak() {
    // Crosstalk: a step of a third in the middle of a gap of the first pulses.
    let at = pin().edges[3].at as usize + 60;
    let (_, signal) =
        worst(Method::BandLimited, |n, value| if n > at { value + 0.16 } else { value });
    assert_eq!(signal.weak, 1, "{signal:?}");
    assert!(signal.first_weak.is_some_and(|weak| (weak - at as f64).abs() < 2.0));
}

#[test]
fn nan_samples_are_reported_with_their_place() {
    let pin = pin();
    let mut samples = Converter::new(0.5).sample(&pin.edges, pin.now as usize, &mut || 0.0);
    // Anywhere in a block of samples: first, last and in the middle.
    let wrong = [
        (40, f32::NAN),
        (60, f32::INFINITY),
        (61, f32::NEG_INFINITY),
        (127, f32::NAN),
        (128, f32::NAN),
        (300, f32::NAN),
    ];
    wrong.iter().for_each(|(at, value)| samples[*at] = *value);
    let (_, signal) = detect(&samples, Method::BandLimited);
    assert_eq!((signal.not_numbers, signal.first_not_number, signal.clipped), (6, Some(40), 0));
}

#[test]
fn volts_have_no_full_scale() {
    let pin = pin();
    let samples: Vec<f32> = Converter::new(3.3).sample(&pin.edges, pin.now as usize, &mut || 0.0);
    let mut detector = Detector::for_volts(Method::BandLimited, 1e-4);
    detector.push(&samples, &mut |_| ()).and_then(|()| detector.finish(&mut |_| ())).unwrap();
    assert_eq!((detector.signal().clipped, detector.signal().edges), (0, 100));
}

/// Edges that rise over many samples, as on an oscilloscope: their largest error, and the
/// properties of the signal.
fn slow(rise: f64, noise: f64) -> (f64, Signal) {
    let (mut pin, mut random) =
        (Pin::new(20.0 * rise, Orientation::Rising), Pcg64::seed_from_u64(8));
    for n in 0..30 {
        pin.wait(rise * (12.0 + random.random::<f64>()));
        pin.pulse(rise * (10.3 + f64::from(n % 5)));
    }
    pin.wait(20.0 * rise);
    let done = |distance: f64| {
        0.5 + 0.5 * (std::f64::consts::FRAC_PI_2 * (2.0 * distance / rise).clamp(-1.0, 1.0)).sin()
    };
    let level = |at: f64| {
        pin.edges
            .iter()
            .map(|edge| if edge.rising { done(at - edge.at) } else { -done(at - edge.at) })
            .sum::<f64>()
    };
    let noisy =
        |at| (0.5 * level(f64::from(at)) - 0.25 + noise * (random.random::<f64>() - 0.5)) as f32;
    let samples: Vec<f32> = (0..pin.now as u32).map(noisy).collect();
    let (edges, signal) = detect(&samples, Method::BandLimited);
    assert_eq!(edges.len(), pin.edges.len(), "{signal:?}");
    let errors = edges.iter().zip(&pin.edges).map(|(found, known)| (found.at - known.at).abs());
    (errors.fold(0.0, f64::max), signal)
}

#[test]
fn edges_over_many_samples_are_found_in_their_middle() {
    for (rise, averaged) in [(40.0, 8), (300.0, 64)] {
        let (error, signal) = slow(rise, 0.0);
        assert!(error < 0.01 * rise && signal.averaged == averaged, "{rise}: {error} {signal:?}");
        assert!(signal.rise > 0.5 * rise && signal.rise < 1.5 * rise, "{signal:?}");
        // Noise of a hundredth of a step, far above the difference of two neighbours.
        let (error, _) = slow(rise, 0.02);
        assert!(error < 0.02 * rise, "{rise}: {error}");
    }
    let (_, signal) = slow(2.0, 0.0);
    assert_eq!(signal.averaged, 1);
}

#[test]
fn noise_and_silence_have_no_edges() {
    let mut random = Pcg64::seed_from_u64(4);
    let noise: Vec<f32> = (0..500_000)
        .map(|_| (0..12).map(|_| random.random::<f32>() - 0.5).sum::<f32>() * 0.05)
        .collect();
    let hum: Vec<f32> = (0..200_000).map(|at| 0.5 * (at as f32 * 0.002).sin()).collect();
    for samples in [vec![], vec![0.3; 100_000], noise, hum] {
        let mut detector = Detector::new(Method::BandLimited, 1e-5);
        detector.push(&samples, &mut |edge| panic!("{edge:?}")).unwrap();
        let message = detector.finish(&mut |edge| panic!("{edge:?}")).unwrap_err().to_string();
        assert!(message.contains("no edge in"), "{message}");
    }
}
