//! Recorders made from impulse responses on a fine grid, which have nothing in common with the
//! simulator of the crate.

use hairspring_capture::edge::Edge;
use hairspring_capture::simulate::Pin;
use rand::Rng;
use rand_pcg::Pcg64Mcg;
use std::f64::consts::{PI, TAU};

/// Points of a step response in one sample, and its length in samples.
pub const FINE_POINTS: usize = 32;
pub const LENGTH: usize = 256;

/// A low pass to this share of the sample rate: a sinc with a Blackman window over `half` samples
/// on either side.
pub fn linear_phase(band: f64, half: f64) -> Vec<f64> {
    let value = |n: usize| {
        let t = n as f64 / FINE_POINTS as f64 - half;
        let window = if t.abs() > half {
            0.0
        } else {
            0.42 + 0.5 * (PI * t / half).cos() + 0.08 * (TAU * t / half).cos()
        };
        window * if t == 0.0 { 2.0 * band } else { (TAU * band * t).sin() / (PI * t) }
    };
    (0..LENGTH * FINE_POINTS).map(value).collect()
}

/// Fourier transform of a power of two of points, in place; `sign` is -1, or 1 for the inverse
/// without its factor.
fn fourier(re: &mut [f64], im: &mut [f64], sign: f64) {
    let n = re.len();
    let bits = n.trailing_zeros();
    for at in 0..n {
        let other_place = at.reverse_bits() >> (usize::BITS - bits);
        if other_place > at {
            re.swap(at, other_place);
            im.swap(at, other_place);
        }
    }
    let mut size = 2;
    while size <= n {
        for start in (0..n).step_by(size) {
            for k in 0..size / 2 {
                let (sin, cos) = (sign * TAU * k as f64 / size as f64).sin_cos();
                let (a, b) = (start + k, start + k + size / 2);
                let (x, y) = (re[b] * cos - im[b] * sin, re[b] * sin + im[b] * cos);
                (re[b], im[b]) = (re[a] - x, im[a] - y);
                (re[a], im[a]) = (re[a] + x, im[a] + y);
            }
        }
        size *= 2;
    }
}

/// The impulse response with the same spectrum and the shortest delay, by the cepstrum.
pub fn minimum_phase(response: &[f64]) -> Vec<f64> {
    let n = 4 * response.len().next_power_of_two();
    let (mut re, mut im) = (vec![0.0; n], vec![0.0; n]);
    re[..response.len()].copy_from_slice(response);
    fourier(&mut re, &mut im, -1.0);
    let floor = 1e-6 * re.iter().zip(&im).map(|(a, b)| a.hypot(*b)).fold(0.0, f64::max);
    re.iter_mut().zip(&im).for_each(|(a, b)| *a = a.hypot(*b).max(floor).ln());
    im.fill(0.0);
    fourier(&mut re, &mut im, 1.0);
    for (at, (a, b)) in re.iter_mut().zip(&mut im).enumerate() {
        let factor = if at == 0 || at == n / 2 {
            1.0
        } else if at < n / 2 {
            2.0
        } else {
            0.0
        };
        (*a, *b) = (*a / n as f64 * factor, 0.0);
    }
    fourier(&mut re, &mut im, -1.0);
    for (a, b) in re.iter_mut().zip(&mut im) {
        let size = a.exp();
        (*a, *b) = (size * b.cos(), size * b.sin());
    }
    fourier(&mut re, &mut im, 1.0);
    re[..response.len()].iter().map(|value| value / n as f64).collect()
}

/// A response behind a resistor and a capacitor with this time constant in samples.
pub fn behind_rc(response: &[f64], tau: f64) -> Vec<f64> {
    let keep = (-1.0 / (tau * FINE_POINTS as f64)).exp();
    let mut level = 0.0;
    response
        .iter()
        .map(|value| {
            level = keep * level + (1.0 - keep) * value;
            level
        })
        .collect()
}

/// A recorder: step responses to rising and falling edges, noise, and what the input does to the
/// signal.
pub struct Recorder {
    pub rising: Vec<f64>,
    pub falling: Vec<f64>,
    pub noise: f64,
    /// Time constant of the coupling capacitor in samples, if there is one.
    pub coupling: Option<f64>,
    /// The input's output for a level; a step has the height 1.
    pub input: fn(f64) -> f64,
}

pub fn step_of(impulse: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let mut steps: Vec<f64> = impulse
        .iter()
        .map(|value| {
            sum += value;
            sum
        })
        .collect();
    steps.iter_mut().for_each(|step| *step /= sum);
    steps
}

impl Recorder {
    pub fn new(impulse: &[f64]) -> Recorder {
        Recorder {
            rising: step_of(impulse),
            falling: step_of(impulse),
            noise: 1e-3,
            coupling: None,
            input: |level| level,
        }
    }

    pub fn sample(&self, pin: &Pin, random: &mut Pcg64Mcg) -> Vec<f32> {
        let mut signal = vec![0.0f64; pin.now as usize + 2 * LENGTH];
        // What edges that lie far back add to all later samples.
        let mut settled = vec![0.0f64; signal.len()];
        for Edge { at, rising } in &pin.edges {
            let (sign, steps) = if *rising { (1.0, &self.rising) } else { (-1.0, &self.falling) };
            let first = at.ceil() as usize;
            for (n, value) in signal.iter_mut().enumerate().skip(first).take(LENGTH) {
                let place = (n as f64 - at) * FINE_POINTS as f64;
                let index = (place as usize).min(steps.len() - 2);
                *value += sign
                    * (steps[index]
                        + (place - index as f64).min(1.0) * (steps[index + 1] - steps[index]));
            }
            settled[first + LENGTH] += sign;
        }
        let mut far = if pin.edges[0].rising { 0.0 } else { 1.0 };
        let mut coupled = far;
        let through = |(value, change): (&f64, &f64)| {
            far += change;
            let level = value + far;
            coupled += self.coupling.map_or(0.0, |tau| (level - coupled) / tau);
            let noise: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            let level = level - if self.coupling.is_some() { coupled } else { 0.5 };
            (0.5 * (self.input)(level) + 0.5 * self.noise * noise) as f32
        };
        signal.iter().zip(&settled).map(through).collect()
    }
}

/// A sound file of floats at 192 kHz.
pub fn wav(samples: &[f32]) -> Vec<u8> {
    let mut file = b"RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x03\x00\x01\x00".to_vec();
    file.extend(
        192_000u32.to_le_bytes().into_iter().chain(768_000u32.to_le_bytes()).chain([4, 0, 32, 0]),
    );
    file.extend(b"data".iter().copied().chain((4 * samples.len() as u32).to_le_bytes()));
    file.extend(samples.iter().flat_map(|value| value.to_le_bytes()));
    file
}
