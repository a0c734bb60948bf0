//! The Gaussian low pass behind which edges are found: its value at any place between the samples,
//! and its derivative.

use hairspring_core::math::exp;

/// Standard deviation of the narrowest kernel in samples. A larger one passes more noise and
/// reaches farther; a smaller one passes the ringing of the converter and is disturbed by edges
/// nearby.
const SIGMA: f64 = 1.4;
/// Standard deviations on either side that the kernel has; it has fallen to 1e-7 there.
const REACH: f64 = 5.7;
/// Points of the kernel in one sample.
const PHASES: usize = 512;

/// A Gaussian over first differences.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// How many times as wide as the narrowest one it is.
    width: f64,
    /// Differences on either side of a place that it uses; a multiple of 4.
    half: usize,
    /// The derivative by phase and tap.
    bends: Vec<f64>,
    /// The value at whole places, for samples: the value over differences is a sum over samples.
    over_samples: Vec<f32>,
    /// The value by place, for differences at whole places.
    values: Vec<f64>,
}

impl Kernel {
    /// A kernel that is `width` times as wide as the narrowest one, which fits a converter that
    /// passes 0.45 of its sample rate.
    pub fn new(width: f64) -> Kernel {
        let sigma = SIGMA * width;
        let half = (REACH * sigma / 4.0).ceil() as usize * 4;
        let gauss = |place: f64| {
            exp(-0.5 * (place / sigma).powi(2)) / (sigma * std::f64::consts::TAU.sqrt())
        };
        let distance = |phase: usize, tap: usize| {
            phase as f64 / PHASES as f64 - (tap as f64 - (half as f64 - 1.0))
        };
        let places = (0..PHASES + 2).flat_map(|phase| (0..2 * half).map(move |tap| (phase, tap)));
        let bends = places
            .map(|(phase, tap)| {
                -distance(phase, tap) / (sigma * sigma) * gauss(distance(phase, tap))
            })
            .collect();
        let values: Vec<f64> = (0..=2 * half).map(|n| gauss(n as f64 - half as f64)).collect();
        let value = |n: usize| values.get(n).copied().unwrap_or(0.0);
        let over_samples = (0..2 * half + 2)
            .map(|n| (n.checked_sub(1).map_or(0.0, value) - value(n)) as f32)
            .collect();
        Kernel { width, half, bends, over_samples, values }
    }

    /// How many times as wide as the narrowest one it is.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Differences on either side of a place that it uses.
    pub fn half(&self) -> usize {
        self.half
    }

    /// Samples over which an edge rises evenly if its height is this many times the largest
    /// smoothed slope: the squares of the widths of kernel and edge add. Up to 1.4 times as many
    /// for an edge that is much slower than the kernel.
    pub fn rise(&self, height_over_slope: f64) -> f64 {
        let deviation = height_over_slope / std::f64::consts::TAU.sqrt();
        (12.0 * (deviation.powi(2) - (SIGMA * self.width).powi(2)).max(0.0)).sqrt()
    }

    /// The part of the standard deviation of white noise that the smoothed slope keeps.
    pub fn noise(&self) -> f64 {
        self.over_samples.iter().map(|weight| f64::from(*weight).powi(2)).sum::<f64>().sqrt()
    }

    /// The smoothed slope between the samples `at` and `at + 1`; beyond its ends the signal is
    /// constant.
    pub fn slope_at(&self, samples: &[f32], at: usize) -> f32 {
        let first = at as isize - self.half as isize;
        let weighted = self.over_samples.iter().enumerate();
        match samples
            .get(first.max(0) as usize..)
            .filter(|_| first >= 0)
            .and_then(|part| part.get(..self.over_samples.len()))
        {
            Some(part) => {
                self.over_samples.iter().zip(part).map(|(weight, sample)| weight * sample).sum()
            }
            None => weighted
                .map(|(n, weight)| {
                    weight
                        * samples
                            [(first + n as isize).clamp(0, samples.len() as isize - 1) as usize]
                })
                .sum(),
        }
    }

    /// The smoothed slopes from the place `from` on, as many as `slopes` holds.
    pub fn slopes(&self, samples: &[f32], from: usize, slopes: &mut [f32]) {
        let part = from.checked_sub(self.half).and_then(|first| {
            samples.get(first..first + slopes.len() + self.over_samples.len() - 1)
        });
        let Some(part) = part else {
            slopes
                .iter_mut()
                .enumerate()
                .for_each(|(n, slope)| *slope = self.slope_at(samples, from + n));
            return;
        };
        slopes.fill(0.0);
        for (n, weight) in self.over_samples.iter().enumerate() {
            slopes.iter_mut().zip(&part[n..]).for_each(|(slope, sample)| *slope += weight * sample);
        }
    }

    /// The smoothed value of differences around one of them.
    pub fn value(&self, slopes: &[f64], at: usize) -> f64 {
        let first = at - self.half;
        self.values.iter().zip(&slopes[first..]).map(|(weight, slope)| weight * slope).sum()
    }

    /// Derivative of the smoothed differences at a place, counted from the first of them. NaN at a
    /// place that is not known, because readings are infinite, or too near to an end.
    pub fn bend(&self, slopes: &[f64], at: f64) -> f64 {
        let base = at.floor();
        let place = (at - base) * PHASES as f64;
        let (phase, part) = (place as usize, place.fract());
        let taps = 2 * self.half;
        let first = (base as usize + 1).checked_sub(self.half).filter(|_| at.is_finite());
        let Some(slopes) = first.and_then(|first| slopes.get(first..first + taps)) else {
            return f64::NAN;
        };
        let (here, next) =
            (&self.bends[phase * taps..][..taps], &self.bends[(phase + 1) * taps..][..taps]);
        // Several independent sums avoid one long dependence chain.
        let mut sums = [0.0; 4];
        let pairs = here.chunks_exact(4).zip(next.chunks_exact(4));
        for (slopes, (here, next)) in slopes.chunks_exact(4).zip(pairs) {
            for (n, sum) in sums.iter_mut().enumerate() {
                *sum += slopes[n] * (here[n] + part * (next[n] - here[n]));
            }
        }
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothed_slopes_agree_however_they_are_computed() {
        let samples: Vec<f32> = (0..200).map(|n| ((n * n) as f32 * 0.013).sin()).collect();
        let differences: Vec<f64> =
            samples.windows(2).map(|pair| f64::from(pair[1] - pair[0])).collect();
        for width in [1.0, 1.7, 4.0] {
            let kernel = Kernel::new(width);
            let mut slopes = vec![0.0; 64];
            kernel.slopes(&samples, 60, &mut slopes);
            for (n, slope) in slopes.iter().enumerate() {
                let single_slope = kernel.slope_at(&samples, 60 + n);
                assert!(
                    (slope - single_slope).abs() < 1e-6
                        && (f64::from(single_slope) - kernel.value(&differences, 60 + n)).abs()
                            < 1e-6,
                    "{n}"
                );
            }
            // The derivative is that of the value.
            let middle = kernel.bend(&differences, 100.0);
            let around = (kernel.value(&differences, 101) - kernel.value(&differences, 99)) / 2.0;
            assert!((middle - around).abs() < 0.2 * kernel.noise(), "{middle} {around}");
        }
    }

    #[test]
    fn the_smoothed_slope_shows_how_long_an_edge_rises() {
        for (width, rise) in [(1.0, 0.0), (1.0, 4.0), (1.0, 8.0), (2.0, 10.0)] {
            let kernel = Kernel::new(width);
            let samples: Vec<f32> = (0..200)
                .map(|n| {
                    ((n as f32 - 100.0 + 0.5 * rise as f32) / (rise as f32).max(1e-3))
                        .clamp(0.0, 1.0)
                })
                .collect();
            let mut slopes = vec![0.0; 200];
            kernel.slopes(&samples, 0, &mut slopes);
            let top = slopes.iter().copied().fold(0.0, f32::max);
            let found = kernel.rise(1.0 / f64::from(top));
            assert!((rise - 0.5..1.4 * rise + 0.5).contains(&found), "{width} {rise} {found}");
        }
    }

    #[test]
    fn a_step_has_a_smoothed_slope_of_one_sum() {
        let mut samples = vec![0.0f32; 100];
        samples[50..].fill(1.0);
        let mut slopes = vec![0.0; 100];
        Kernel::new(1.0).slopes(&samples, 0, &mut slopes);
        assert!((slopes.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert_eq!(slopes.iter().copied().fold(0.0, f32::max), slopes[49]);
    }
}
