//! Simulated recordings with known edges, for tests and benchmarks: frames of the pattern, and a
//! converter that samples them.
//!
//! The converter is a linear-phase low pass of the steps (Kaiser window, pass band to 0.4535 of the
//! sample rate), as in a sound card.

use crate::edge::Edge;
use crate::pattern::{END_GAP, Kind, Orientation, PREAMBLE, encode, gap_units};
use std::f64::consts::PI;

/// Frames on a pin, as edges.
#[derive(Debug, Clone)]
pub struct Pin {
    /// Edges so far.
    pub edges: Vec<Edge>,
    /// The time now.
    pub now: f64,
    /// The unit of the header.
    pub unit: f64,
    /// Direction of the leading edges.
    pub orientation: Orientation,
}

impl Pin {
    /// A pin that is idle from time 0.
    pub fn new(unit: f64, orientation: Orientation) -> Pin {
        Pin { edges: Vec::new(), now: 0.0, unit, orientation }
    }

    /// Lets time pass.
    pub fn wait(&mut self, time: f64) {
        self.now += time;
    }

    /// One pulse.
    pub fn pulse(&mut self, width: f64) {
        let rising = self.orientation == Orientation::Rising;
        self.edges.push(Edge { at: self.now, rising });
        self.now += width;
        self.edges.push(Edge { at: self.now, rising: !rising });
    }

    fn header(&mut self, kind: &Kind) {
        for pair in PREAMBLE.chunks_exact(2) {
            self.pulse(pair[0] * self.unit);
            self.wait(pair[1] * self.unit);
        }
        let bits: Vec<u8> = encode(kind)
            .into_iter()
            .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1))
            .collect();
        for (at, bit) in bits.iter().enumerate() {
            if at > 0 {
                self.wait(self.unit);
            }
            self.pulse(self.unit * f64::from(1 + bit));
        }
    }

    /// A frame with pulses of these widths; `dither` returns numbers from 0 to 1.
    pub fn frame(&mut self, kind: &Kind, widths: &[f64], dither: &mut dyn FnMut() -> f64) {
        self.wait(self.unit * (6.0 + dither()));
        self.header(kind);
        for (i, width) in widths.iter().enumerate() {
            self.wait(self.unit * (gap_units(i) + 0.5 * dither()));
            self.pulse(*width);
        }
        self.wait(self.unit * (END_GAP + 0.5 * dither()));
        self.pulse(self.unit);
    }

    /// A frame of reference intervals.
    pub fn reference(&mut self, number: u8, interval: f64) {
        self.wait(self.unit * 6.0);
        self.header(&Kind::Reference(number));
        self.wait(self.unit * 6.0);
        for _ in 0..number {
            self.pulse(2.0 * self.unit);
            self.wait(interval - 2.0 * self.unit);
        }
        self.pulse(self.unit);
    }
}

/// Modified Bessel function of the first kind, order 0, by its series.
fn bessel(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let (mut sum, mut term) = (1.0, 1.0);
    for n in 1..60 {
        term *= quarter / f64::from(n * n);
        sum += term;
    }
    sum
}

/// A converter: edges in samples become a sampled signal.
#[derive(Debug, Clone)]
pub struct Converter {
    /// Height of a step; full scale is 1.
    pub step: f64,
    /// The step's rise by distance, with `FINE_POINTS` points for each sample.
    rise: Vec<f64>,
}

/// Samples on either side of a step that it affects.
const TOUCHED_SAMPLES: usize = 32;
/// Points of the step in one sample.
const FINE_POINTS: usize = 64;

impl Converter {
    /// A converter for steps of that height.
    #[allow(clippy::disallowed_methods, reason = "no result passes through the simulator")]
    pub fn new(step: f64) -> Converter {
        let kernel = |x: f64| {
            let reach = x / TOUCHED_SAMPLES as f64;
            let angle = 2.0 * PI * 0.4535 * x;
            let sinc = if x == 0.0 { 1.0 } else { angle.sin() / angle };
            if reach.abs() >= 1.0 {
                0.0
            } else {
                2.0 * 0.4535 * sinc * bessel(8.0 * (1.0 - reach * reach).sqrt()) / bessel(8.0)
            }
        };
        let width = 1.0 / FINE_POINTS as f64;
        let mut rise = vec![0.0];
        for at in 0..2 * TOUCHED_SAMPLES * FINE_POINTS {
            let x = at as f64 * width - TOUCHED_SAMPLES as f64;
            // Simpson's rule.
            let part =
                (kernel(x) + 4.0 * kernel(x + width / 2.0) + kernel(x + width)) * width / 6.0;
            rise.push(rise[at] + part);
        }
        let whole = rise[rise.len() - 1];
        rise.iter_mut().for_each(|value| *value /= whole);
        Converter { step, rise }
    }

    /// Share of a step's rise that is complete at a distance in samples after it.
    fn risen(&self, distance: f64) -> f64 {
        let place = (distance + TOUCHED_SAMPLES as f64) * FINE_POINTS as f64;
        if place <= 1.0 {
            return 0.0;
        }
        let (at, t) = (place as usize, place.fract());
        if at + 2 >= self.rise.len() {
            return 1.0;
        }
        // A cubic through four points.
        let [a, b, c, d] = [self.rise[at - 1], self.rise[at], self.rise[at + 1], self.rise[at + 2]];
        b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)))
    }

    /// The first `samples` samples of the signal, centred on zero; `noise` is added to each.
    pub fn sample(
        &self,
        edges: &[Edge],
        samples: usize,
        noise: &mut dyn FnMut() -> f64,
    ) -> Vec<f32> {
        let start = if edges.first().is_some_and(|edge| !edge.rising) { 0.5 } else { -0.5 };
        let mut signal = vec![0.0f64; samples];
        let mut level = start * self.step;
        let mut settled = 0;
        for edge in edges {
            let sign = if edge.rising { self.step } else { -self.step };
            let first = (edge.at - TOUCHED_SAMPLES as f64).ceil().max(0.0) as usize;
            let last = ((edge.at + TOUCHED_SAMPLES as f64).floor().max(0.0) as usize)
                .min(samples.saturating_sub(1));
            // The level after the step is added at the beginning of the next stretch.
            let behind = (last + 1).min(samples);
            (first..behind).for_each(|n| signal[n] += sign * self.risen(n as f64 - edge.at));
            if behind > settled {
                signal[settled..behind].iter_mut().for_each(|value| *value += level);
                settled = behind;
            }
            level += sign;
        }
        signal[settled..].iter_mut().for_each(|value| *value += level);
        signal.into_iter().map(|value| (value + noise()) as f32).collect()
    }
}
