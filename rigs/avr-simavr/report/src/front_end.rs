//! The analogue path from a pin to a file: a circuit after the pin, and a sound card as in the
//! report (section 6).
//!
//! Every edge is a step. It passes one pole of the circuit; a falling edge passes two more, so that
//! rising and falling edges differ. Then it passes the linear-phase low pass of the converter. The
//! sum passes the sound card's high pass; noise is added, and the converter rounds to 24 bits.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::f64::consts::PI;

/// An edge of the pin, as the simulator wrote it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition {
    /// The cycle at which the instruction that writes the pin begins.
    pub cycle: u64,
    /// Whether the pin went up.
    pub rising: bool,
}

/// The parameters of the circuit and the sound card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrontEnd {
    /// Sample rate that the sound card states, in Hz.
    pub sample_hz: f64,
    /// How much faster its crystal is than the chip's, in parts per million.
    pub crystal_ppm: f64,
    /// Pole of all edges, in Hz.
    pub pole_hz: f64,
    /// Time constant of each of two equal poles that only falling edges pass, in microseconds.
    pub falling_us: f64,
    /// High pass of the sound card, in Hz.
    pub high_pass_hz: f64,
    /// Height of a step; full scale is 1.
    pub step: f64,
    /// Standard deviation of white noise below the height of a step, in dB.
    pub noise_db: f64,
}

impl Default for FrontEnd {
    fn default() -> Self {
        FrontEnd {
            sample_hz: 192_000.0,
            crystal_ppm: 37.0,
            pole_hz: 80_000.0,
            falling_us: 3.7,
            high_pass_hz: 1.5,
            step: 0.5,
            noise_db: -46.0,
        }
    }
}

/// Samples before an edge at which its step begins.
const SAMPLES_BEFORE: usize = 32;
/// Samples after an edge at which its step is complete.
const SAMPLES_BEHIND: usize = 72;
/// Points of a step in one sample.
const FINE_POINTS: usize = 256;
/// Samples in one chunk.
const CHUNK: usize = 1 << 16;

impl FrontEnd {
    /// Records the edges of a chip with that clock, and passes on the samples in chunks. The
    /// recording ends 0.1 s after the last edge.
    pub fn record(
        &self,
        edges: &[Transition],
        chip_hz: f64,
        seed: u64,
        sink: &mut dyn FnMut(&[f32]),
    ) {
        let per_cycle = self.sample_hz * (1.0 + 1e-6 * self.crystal_ppm) / chip_hz;
        let places: Vec<(f64, bool)> =
            edges.iter().map(|edge| (edge.cycle as f64 * per_cycle, edge.rising)).collect();
        let steps = [self.step_response(false), self.step_response(true)];
        let samples = places.last().map_or(0.0, |last| last.0 + 0.1 * self.sample_hz) as usize;
        let (mut settled, mut level, mut stage) = (0, 0.0, Stage::new(self, seed));
        for first in (0..samples).step_by(CHUNK) {
            let length = CHUNK.min(samples - first);
            while settled < places.len()
                && places[settled].0 + (SAMPLES_BEHIND as f64) < first as f64
            {
                level += if places[settled].1 { self.step } else { -self.step };
                settled += 1;
            }
            let signal = self.chunk(&places[settled..], &steps, first, length, level);
            sink(&signal.into_iter().map(|value| stage.convert(value)).collect::<Vec<f32>>());
        }
    }

    /// The sum of all steps from a sample on, those before it already in `level`.
    fn chunk(
        &self,
        places: &[(f64, bool)],
        steps: &[Vec<f64>; 2],
        first: usize,
        length: usize,
        level: f64,
    ) -> Vec<f64> {
        let mut signal = vec![0.0; length];
        let mut done = vec![0.0; length + 1];
        done[0] = level;
        for (at, rising) in
            places.iter().take_while(|place| place.0 < (first + length + SAMPLES_BEFORE) as f64)
        {
            let height = if *rising { self.step } else { -self.step };
            let begin = (at - SAMPLES_BEFORE as f64).ceil().max(first as f64) as usize;
            let end = ((at + SAMPLES_BEHIND as f64).floor() as usize).clamp(begin, first + length);
            for n in begin..end {
                signal[n - first] += height * read(&steps[usize::from(*rising)], n as f64 - at);
            }
            done[end - first] += height;
        }
        let mut level = 0.0;
        for (value, step) in signal.iter_mut().zip(&done) {
            level += step;
            *value += level;
        }
        signal
    }

    /// Share of a step that is complete, from `SAMPLES_BEFORE` samples before the edge.
    fn step_response(&self, rising: bool) -> Vec<f64> {
        let mut response = converter_step();
        let sample_us = 1e6 / self.sample_hz;
        let mut poles = vec![1e6 / (2.0 * PI * self.pole_hz)];
        if !rising {
            poles.extend([self.falling_us; 2]);
        }
        poles
            .iter()
            .filter(|tau| **tau > 0.0)
            .for_each(|tau| low_pass(&mut response, tau / sample_us * FINE_POINTS as f64));
        response
    }
}

fn read(step: &[f64], distance: f64) -> f64 {
    let place = (distance + SAMPLES_BEFORE as f64) * FINE_POINTS as f64;
    let at = place as usize;
    if at + 1 >= step.len() { 1.0 } else { step[at] + (step[at + 1] - step[at]) * place.fract() }
}

/// Step response of the converter: a pass band up to 0.4535 of the sample rate, in a Kaiser window
/// of shape 8.
fn converter_step() -> Vec<f64> {
    let kernel = |x: f64| {
        let (reach, angle) = (x / SAMPLES_BEFORE as f64, 2.0 * PI * 0.4535 * x);
        let sinc = if angle == 0.0 { 1.0 } else { angle.sin() / angle };
        if reach.abs() >= 1.0 { 0.0 } else { sinc * bessel(8.0 * (1.0 - reach * reach).sqrt()) }
    };
    let width = 1.0 / FINE_POINTS as f64;
    let mut sum = 0.0;
    let mut response: Vec<f64> = (0..=(SAMPLES_BEFORE + SAMPLES_BEHIND) * FINE_POINTS)
        .map(|at| {
            let x = at as f64 * width - SAMPLES_BEFORE as f64;
            let before = sum;
            // Simpson's rule for the next stretch.
            sum += kernel(x) + 4.0 * kernel(x + 0.5 * width) + kernel(x + width);
            before
        })
        .collect();
    response.iter_mut().for_each(|value| *value /= sum);
    response
}

/// One pole with this time constant in points, exact for a signal of straight lines between its
/// points.
fn low_pass(signal: &mut [f64], tau: f64) {
    let decay = (-1.0 / tau).exp();
    let (mut before, mut state) = (0.0, 0.0);
    for value in signal {
        let slope = *value - before;
        // After a ramp the output lags by tau.
        let target = *value - slope * tau;
        state = target + (state - (before - slope * tau)) * decay;
        before = *value;
        *value = state;
    }
}

/// The modified Bessel function I0.
fn bessel(x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..40 {
        term *= (x / (2.0 * f64::from(n))).powi(2);
        sum += term;
    }
    sum
}

/// High pass, noise and rounding, which keep a state from sample to sample.
struct Stage {
    decay: f64,
    before: Option<f64>,
    output: f64,
    noise: f64,
    random: Pcg64,
}

impl Stage {
    fn new(front_end: &FrontEnd, seed: u64) -> Stage {
        Stage {
            decay: (-2.0 * PI * front_end.high_pass_hz / front_end.sample_hz).exp(),
            before: None,
            output: 0.0,
            noise: front_end.step * 10f64.powf(front_end.noise_db / 20.0),
            random: Pcg64::seed_from_u64(seed),
        }
    }

    fn convert(&mut self, value: f64) -> f32 {
        self.output = self.decay * (self.output + value - self.before.unwrap_or(value));
        self.before = Some(value);
        let noisy = self.output + if self.noise > 0.0 { self.noise * self.normal() } else { 0.0 };
        let full = f64::from(1 << 23);
        ((noisy * full).round().clamp(-full, full - 1.0) / full) as f32
    }

    /// A normal random number, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let (size, turn): (f64, f64) = (self.random.random(), self.random.random());
        (-2.0 * (1.0 - size).ln()).sqrt() * (2.0 * PI * turn).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pole_is_exact_for_a_ramp_and_settles() {
        let mut ramp: Vec<f64> = (0..200).map(f64::from).collect();
        low_pass(&mut ramp, 5.0);
        assert!((ramp[150] - 145.0).abs() < 1e-9);
    }

    #[test]
    fn steps_begin_at_0_and_end_at_1_and_falling_ones_are_later() {
        let front_end = FrontEnd::default();
        let (rise, fall) = (front_end.step_response(true), front_end.step_response(false));
        assert!(
            rise[0].abs() < 1e-12
                && (rise[rise.len() - 1] - 1.0).abs() < 1e-9
                && (fall[fall.len() - 1] - 1.0).abs() < 1e-9
        );
        let half = |step: &[f64]| step.iter().position(|value| *value > 0.5).unwrap();
        assert!(half(&fall) > half(&rise) + FINE_POINTS);
    }

    #[test]
    fn chunks_join_and_the_level_returns() {
        let front_end = FrontEnd { noise_db: -300.0, high_pass_hz: 0.0, ..FrontEnd::default() };
        let edges = [(50_000, true), (341_300, false), (341_400, true), (700_000, false)];
        let edges = edges.map(|(cycle, rising)| Transition { cycle, rising });
        let mut all = Vec::new();
        front_end.record(&edges, 1e6, 1, &mut |samples| all.extend_from_slice(samples));
        let largest = all.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0f32, f32::max);
        assert!(
            all.len() > 2 * CHUNK
                && all[0] == 0.0
                && all[all.len() - 1].abs() < 1e-6
                && largest < 0.5
        );
        assert!((all[60_000] - 0.5).abs() < 1e-6);
    }
}
