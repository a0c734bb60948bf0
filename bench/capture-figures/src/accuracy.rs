//! The estimators on known edges.

use hairspring_capture::edge::{Detector, Edge, Method};
use hairspring_capture::simulate::Converter;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

/// Edges of one trial, and noise in dB below a step.
const EDGES: usize = 2400;
const NOISE_DB: [Option<f64>; 4] = [None, Some(-60.0), Some(-50.0), Some(-40.0)];
/// Microseconds of one sample.
const US: f64 = 1e6 / 192_000.0;

/// Standard deviation and largest error of one interval in us, by method and noise.
pub fn figures() -> Value {
    let mut all = Vec::new();
    for (name, method) in Method::NAMES {
        for noise in NOISE_DB {
            let errors = errors(method, noise);
            let n = errors.len() as f64;
            let mean = errors.iter().sum::<f64>() / n;
            let sd =
                (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
            let most = errors.iter().fold(0.0f64, |most, error| most.max(error.abs()));
            all.push(json!({"method": name, "noise_db": noise, "intervals": errors.len(),
                "mean_us": mean, "sd_us": sd, "most_us": most}));
        }
    }
    Value::Array(all)
}

/// Errors of the intervals from each edge to the next.
fn errors(method: Method, noise_db: Option<f64>) -> Vec<f64> {
    let mut random = Pcg64::seed_from_u64(5);
    let mut edges = Vec::with_capacity(EDGES);
    let mut at = 500.0;
    for n in 0..EDGES {
        edges.push(Edge { at, rising: n % 2 == 0 });
        at += 100.0 + 100.0 * random.random::<f64>();
    }
    let sd = noise_db.map_or(0.0, |db| 0.5 * 10f64.powf(db / 20.0));
    let normal = Normal::new(0.0, sd).expect("a standard deviation");
    let samples =
        Converter::new(0.5).sample(&edges, at as usize + 500, &mut || normal.sample(&mut random));
    let mut found = Vec::new();
    let mut detector = Detector::new(method, 1e-5);
    detector.push(&samples, &mut |edge| found.push(edge.at)).expect("edges");
    detector.finish(&mut |edge| found.push(edge.at)).expect("edges");
    assert_eq!(found.len(), edges.len(), "the number of edges is wrong");
    let found = found.windows(2).map(|pair| pair[1] - pair[0]);
    found
        .zip(edges.windows(2))
        .map(|(found, pair)| US * (found - (pair[1].at - pair[0].at)))
        .collect()
}
