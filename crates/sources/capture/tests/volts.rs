//! Tables of volts, as oscilloscopes write them: whether intervals hold where edges rise within a
//! sample or over a few, from two rounds upwards.

use hairspring_capture::edge::{Detector, Method};
use hairspring_capture::{Captured, Input, Options, capture};
use hairspring_core::judge::{Question, assess};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Cursor;

/// How an edge rises: its level at a time relative to its middle.
type Shape = fn(f64, f64) -> f64;

/// A straight line.
fn ramp(at: f64, rise: f64) -> f64 {
    if rise > 0.0 { (at / rise + 0.5).clamp(0.0, 1.0) } else { f64::from(u8::from(at >= 0.0)) }
}

/// A resistor and a capacitor.
fn charged(at: f64, rise: f64) -> f64 {
    if rise > 0.0 { 1.0 - (-(at.max(0.0)) / (0.45 * rise)).exp() } else { ramp(at, 0.0) }
}

/// What happens between two pulses.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Gap {
    /// Any time.
    Free,
    /// The same time, which is no whole number of samples.
    Fixed,
    /// Every pulse begins at the same place between two samples.
    Locked,
}

/// A recording; times in samples.
#[derive(Debug, Clone, Copy)]
struct Class {
    shape: Shape,
    rise: f64,
    bits: i32,
    /// Standard deviation of the noise, in steps of the converter.
    noise: f64,
    rounds: u32,
    gap: Gap,
    jitter: f64,
}

/// Copies of the longest pulse.
const COPIES: u32 = 4;

impl Class {
    fn edges(&self, body: f64, random: &mut Pcg64Mcg) -> Vec<f64> {
        let overhead = 9.0 + random.random::<f64>();
        let (phase, gap) = (random.random::<f64>(), 20.0 + 10.0 * random.random::<f64>());
        let (mut now, mut edges) = (30.0 + phase, Vec::new());
        for k in (0..self.rounds).flat_map(|_| 1..=COPIES) {
            let end = now + overhead + f64::from(k) * body + self.jitter * normal(random);
            edges.extend([now, end]);
            now = match self.gap {
                Gap::Free => end + gap + 10.0 * random.random::<f64>(),
                Gap::Fixed => end + gap,
                Gap::Locked => (end + gap).floor() + phase,
            };
        }
        edges
    }

    fn table(&self, body: f64, random: &mut Pcg64Mcg) -> String {
        let edges = self.edges(body, random);
        let step = 4.0 / 2f64.powi(self.bits);
        let mut text = "Second,Volt\n".to_owned();
        let mut from = 0;
        for n in 0..edges[edges.len() - 1] as usize + 60 {
            let at = n as f64;
            while from + 2 < edges.len() && edges[from + 1] < at - 20.0 * (self.rise + 1.0) {
                from += 2;
            }
            let level: f64 = edges[from..]
                .iter()
                .enumerate()
                .take_while(|(_, edge)| **edge < at + self.rise + 1.0)
                .map(|(which, edge)| {
                    let sign = if which % 2 == 0 { 3.3 } else { -3.3 };
                    sign * (self.shape)(at - edge, self.rise)
                })
                .sum();
            let volts = ((level + 0.1) / step + self.noise * normal(random)).round() * step;
            writeln!(text, "{:.6},{volts:.6}", at * 1e-6).unwrap();
        }
        text
    }

    /// The error in half-widths, the half-width in samples, and whether the figure is trusted.
    fn measured(&self, random: &mut Pcg64Mcg) -> (f64, f64, bool) {
        let body = 10.0 + 30.0 * random.random::<f64>();
        let options = Options {
            ks: Some((1..=COPIES).map(f64::from).collect()),
            rate_ppm: Some(0.0),
            ..Options::default()
        };
        let text = self.table(body, random);
        let Captured { table, .. } =
            capture(Input::File(Box::new(Cursor::new(text.into_bytes()))), &options).unwrap();
        let answer = assess(&table, &Question::default()).unwrap();
        let series = &answer.series[0];
        let ticks = &series.components[0].time.ticks;
        let trusted = series.trusts("body");
        ((ticks.value - body).abs() / ticks.half_width(), ticks.half_width(), trusted)
    }
}

/// Nearly normal, with a standard deviation of 1.
fn normal(random: &mut Pcg64Mcg) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// The classes of one shape, rise, gap and number of rounds, each with other converters, noise and
/// jitter of the chip.
fn classes() -> impl Iterator<Item = Class> {
    const RISES: [f64; 8] = [0.0, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0];
    const GAPS: [Gap; 3] = [Gap::Free, Gap::Fixed, Gap::Locked];
    let mut random = Pcg64Mcg::seed_from_u64(8);
    let mut any = move |of: &[f64]| of[random.random_range(0..of.len())];
    let all_cases = [ramp as Shape, charged].into_iter().flat_map(|shape| {
        RISES.into_iter().flat_map(move |rise| GAPS.into_iter().map(move |gap| (shape, rise, gap)))
    });
    let all_cases_and_rounds = all_cases
        .flat_map(|one| [2, 3, 4, 5, 7, 12, 20].into_iter().map(move |rounds| (one, rounds)));
    all_cases_and_rounds.map(move |((shape, rise, gap), rounds)| Class {
        shape,
        rise,
        gap,
        rounds,
        bits: any(&[8.0, 10.0, 12.0, 16.0]) as i32,
        noise: any(&[0.0, 0.3, 1.0]),
        jitter: any(&[0.0, 0.02, 0.3]),
    })
}

/// Checks that at least 95 % of the trusted intervals of each group hold, but for chance, and that
/// none misses by far.
fn check(group: &str, errors: &[f64]) {
    let (all_errors, held_errors) =
        (errors.len() as f64, errors.iter().filter(|off| **off <= 1.0).count());
    let chance = 2.0 * (all_errors * 0.95 * 0.05).sqrt();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    assert!(
        held_errors as f64 >= 0.95 * all_errors - chance,
        "{group}: {held_errors} of {all_errors} hold, worst {worst}"
    );
    assert!(worst < 3.0, "{group}: off by {worst} half-widths");
}

#[test]
fn intervals_hold_for_every_rise_gap_and_number_of_rounds() {
    const TIMES: usize = 6;
    let mut random = Pcg64Mcg::seed_from_u64(43);
    let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let (mut all_classes, mut trusted_classes) = (0, 0);
    for class in classes().flat_map(|class| [class; TIMES]) {
        let (off, _, is_trusted) = class.measured(&mut random);
        (all_classes, trusted_classes) =
            (all_classes + 1, trusted_classes + usize::from(is_trusted));
        for group in [
            format!("rise of {}, {:?}", class.rise, class.gap),
            format!("{} rounds, {:?}", class.rounds, class.gap),
            format!("{} bits", class.bits),
        ] {
            groups.entry(group).or_default().extend(is_trusted.then_some(off));
        }
    }
    assert!(
        trusted_classes as f64 > 0.98 * f64::from(all_classes),
        "{trusted_classes} of {all_classes} are trusted"
    );
    groups.iter().for_each(|(group, errors)| check(group, errors));
}

/// The median half-width in samples of recordings of a class.
fn half_width(class: Class) -> f64 {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let mut widths: Vec<f64> = (0..31).map(|_| class.measured(&mut random).1).collect();
    widths.sort_by(f64::total_cmp);
    widths[15]
}

#[test]
fn fewer_rounds_and_steeper_edges_make_wider_intervals() {
    let class = |rise, rounds| Class {
        shape: ramp,
        rise,
        rounds,
        gap: Gap::Free,
        bits: 12,
        noise: 0.3,
        jitter: 0.02,
    };
    let by_rounds = [3, 4, 5, 7, 20].map(|rounds| half_width(class(0.3, rounds)));
    assert!(by_rounds.is_sorted_by(|more, less| more > less), "{by_rounds:?}");
    let by_rise = [0.0, 0.7, 2.0, 5.0].map(|rise| half_width(class(rise, 12)));
    assert!(by_rise.is_sorted_by(|more, less| more > less), "{by_rise:?}");
    // Edges over several samples are known between the samples.
    assert!(by_rise[3] < 0.05, "{by_rise:?}");
}

/// The same edges as levels and as volts have intervals of the same width.
#[test]
fn edges_within_a_sample_are_known_as_well_as_levels() {
    let options = || Options {
        ks: Some((1..=COPIES).map(f64::from).collect()),
        rate_ppm: Some(0.0),
        ..Options::default()
    };
    let class = Class {
        shape: ramp,
        rise: 0.0,
        rounds: 7,
        gap: Gap::Free,
        bits: 8,
        noise: 0.3,
        jitter: 0.02,
    };
    let volts = class.table(10.1, &mut Pcg64Mcg::seed_from_u64(4));
    let levels: String = volts
        .lines()
        .map(|line| match line.split_once(',') {
            Some((time, volts)) => match volts.parse::<f64>() {
                Ok(volts) => format!("{time},{}\n", u8::from(volts > 1.7)),
                Err(_) => "Time [s],D0\n".to_owned(),
            },
            None => String::new(),
        })
        .collect();
    let half = |text: String| {
        let input = Input::File(Box::new(Cursor::new(text.into_bytes())));
        let Captured { table, .. } = capture(input, &options()).unwrap();
        let ticks =
            assess(&table, &Question::default()).unwrap().series[0].components[0].time.ticks;
        assert!((ticks.low..ticks.high).contains(&(10.1 * table.origin.rate.unwrap().hz * 1e-6)));
        ticks.half_width() / ticks.value
    };
    let (volts, levels) = (half(volts), half(levels));
    assert!((0.5..2.0).contains(&(volts / levels)), "{volts} {levels}");
}

/// Edges that a detector finds in volts.
fn edges_in(volts: &[f32]) -> Result<usize, String> {
    let (mut detector, mut edges) = (Detector::for_volts(Method::BandLimited, 1e-4), 0);
    let done = detector.push(volts, &mut |_| edges += 1);
    done.and_then(|()| detector.finish(&mut |_| edges += 1))
        .map(|()| edges)
        .map_err(|error| error.to_string())
}

/// An idle beginning of 2^21 samples and more, whose noise is that many steps, and 24 pulses.
fn idle(sigma: f64, random: &mut Pcg64Mcg) -> Vec<f32> {
    const STEP: f64 = 0.078_125;
    let (mut drift, mut volts) = (0.9, Vec::new());
    for _ in 0..(1 << 21) + 100_000 {
        drift += 2e-5 * normal(random);
        volts.push(((drift / STEP + sigma * normal(random)).round() * STEP) as f32);
    }
    for width in [105, 205, 305, 405].repeat(6) {
        for (level, length) in [(0.2, 150 + random.random_range(0..30)), (2.5, width)] {
            let noisy = |random: &mut Pcg64Mcg| (level + 0.01 * normal(random)) / STEP;
            volts.extend((0..length).map(|_| (noisy(random).round() * STEP) as f32));
        }
    }
    volts.extend([0.2f32; 300]);
    volts
}

/// A floating input before the first pulse: its noise and drift take a few steps of a converter.
#[test]
fn noise_of_a_few_steps_in_a_long_idle_beginning_is_no_edge() {
    // So little that it looks like the levels of a pin, until the first pulse comes.
    let mut volts = idle(0.1, &mut Pcg64Mcg::seed_from_u64(3));
    volts.truncate((1 << 21) + 10);
    assert!(edges_in(&volts).is_ok_and(|edges| edges > 1000));
    let volts = idle(0.1, &mut Pcg64Mcg::seed_from_u64(3));
    let mut detector = Detector::for_volts(Method::BandLimited, 1e-4);
    let error = detector.push(&volts, &mut |_| ()).and_then(|()| detector.finish(&mut |_| ()));
    assert!(error.is_err_and(|error| error.to_string().contains("cut the recording before")));
    for (seed, sigma) in [0.3, 0.6, 1.0, 2.0].into_iter().enumerate() {
        let mut random = Pcg64Mcg::seed_from_u64(seed as u64);
        let volts = idle(sigma, &mut random);
        assert_eq!(edges_in(&volts), Ok(48), "noise of {sigma} steps");
    }
}

/// A converter without two of its codes: where the level is near one of them, a sample is two steps
/// off by little noise.
#[test]
fn missing_codes_of_a_converter_are_no_edges() {
    for (width, edges, noise) in [
        (12_500, 5, 0.012),
        (12_500, 5, 0.03),
        (2_200, 4, 0.012),
        (3_000, 9, 0.005),
        (900, 24, 0.012),
        (500, 40, 0.03),
    ] {
        let mut random = Pcg64Mcg::seed_from_u64(width);
        let (mut level, mut volts) = (2.885, Vec::new());
        for n in 0..(edges + 1) * width {
            let high = n / width % 2 == 0;
            level += (if high { 2.885 } else { 0.035 } - level) / 60.0;
            let place = (level + noise * normal(&mut random) - 0.02) / 0.04;
            let code = match place.round() as i32 {
                code @ (6 | 72) if place > f64::from(code) => code + 1,
                code @ (6 | 72) => code - 1,
                code => code,
            };
            volts.push((0.02 + 0.04 * f64::from(code)) as f32);
        }
        assert_eq!(edges_in(&volts), Ok(edges as usize), "{width} {noise}");
    }
}
