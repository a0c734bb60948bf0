//! How often the interval of the slope contains the truth, over captures with different recorder
//! clocks and noise.

use crate::recordings::{COPIES, COPY, HZ, OVERHEAD};
use hairspring_capture::edge::{Detector, Method};
use hairspring_capture::observe::Collector;
use hairspring_capture::pattern::{Decoder, Item, Kind, Orientation};
use hairspring_capture::simulate::{Converter, Pin};
use hairspring_core::estimate::Options;
use hairspring_core::pipeline::solve;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

/// Frames of one capture.
const FRAMES: usize = 24;
/// Noise in dB below a step.
const NOISE_DB: f64 = -50.0;

/// Coverage, mean error and standard deviation of the slope for each method.
pub fn figures(captures: u64) -> Value {
    let all = Method::NAMES.iter().map(|(name, method)| {
        let (mut covered, mut errors, mut widths) = (0, Vec::new(), 0.0);
        for seed in 0..captures {
            let (low, value, high) = slope(*method, seed);
            covered += u64::from((low..=high).contains(&(COPY * HZ)));
            errors.push(1e6 / HZ * (value - COPY * HZ));
            widths += 0.5e6 / HZ * (high - low);
        }
        let n = captures as f64;
        let mean = errors.iter().sum::<f64>() / n;
        let sd =
            (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        json!({"method": name, "captures": captures, "coverage": covered as f64 / n,
            "mean_us": mean, "sd_us": sd, "half_width_us": widths / n})
    });
    Value::Array(all.collect())
}

/// The slope of one capture with its interval, in samples.
fn slope(method: Method, seed: u64) -> (f64, f64, f64) {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut pin = Pin::new(100e-6 * HZ, Orientation::Rising);
    let widths: Vec<f64> = (1..=COPIES).map(|k| (COPY * f64::from(k) + OVERHEAD) * HZ).collect();
    for _ in 0..FRAMES {
        pin.frame(&Kind::progression(1, 1, COPIES), &widths, &mut || random.random());
    }
    let normal = Normal::new(0.0, 0.5 * 10f64.powf(NOISE_DB / 20.0)).expect("a standard deviation");
    let samples = Converter::new(0.5)
        .sample(&pin.edges, pin.now as usize + 500, &mut || normal.sample(&mut random));
    let (mut detector, mut decoder, mut collector) =
        (Detector::new(method, 1e-5), Decoder::new(None), Collector::new(Vec::new()));
    let mut take = |edge| {
        decoder.push(edge, &mut |item| {
            if let Item::Frame(frame) = item {
                collector.frame(&frame).expect("one component");
            }
        });
    };
    detector.push(&samples, &mut take).expect("edges");
    detector.finish(&mut take).expect("edges");
    assert_eq!(collector.frames as usize, FRAMES, "a frame is missing");
    let (mut table, _) = collector.finish().expect("frames");
    table.origin.granularity = Some(method.quantum());
    let solution = solve(&table, 0, &Options::default()).expect("a line");
    let slope = solution.components[0].ticks;
    (slope.low, slope.value, slope.high)
}
