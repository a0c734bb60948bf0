//! Learns the size of an edge in this signal from the first stretch with edges.

/// Least distance of an edge from the noise of the differences, in standard deviations: noise alone
/// reaches 5.2 once in two million samples.
const ABOVE_NOISE: f64 = 6.0;
/// The lower quartile of the absolute values of normal noise, in standard deviations.
const QUARTILE: f64 = 0.3186;
/// The same for the median.
const MEDIAN: f64 = 0.6745;
/// Noise of a converter, in its steps, up to which it has few of them.
const FEW_QUANTA: f64 = 2.0;
/// Smallest difference at an edge, as a share of a typical edge.
const EDGE: f64 = 0.5;
/// Samples on either side of an edge in which a converter's filter rings.
const RINGING: usize = 32;
/// Number of differences that estimate the noise: the minimum, and about the number used in a long
/// stretch.
const LEAST_STEPS: usize = 100;
const MOST_STEPS: usize = 200_000;
/// Steps of a converter that a signal takes at least where they are told from the steps of a pin.
const FEW_STEPS: f32 = 3.0;
/// Most peaks that a learnt stretch keeps.
const MOST_PEAKS: usize = 1 << 20;

/// Properties learnt from a stretch of the signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learnt {
    /// Largest difference of a typical edge.
    pub peak: f64,
    /// Standard deviation of all differences by their lower quartile, which dense edges raise by
    /// their ringing.
    pub floor: f64,
    /// Standard deviation of the differences far from all edges; `None` if there are too few such
    /// places.
    pub noise: Option<f64>,
}

/// Learns from samples; `None` if there is no edge in them. `floor` is the smallest difference that
/// can be an edge, `quantum` the step of the converter, or 0.
pub fn learn(samples: &[f32], floor: f64, quantum: f64) -> Option<Learnt> {
    let noise = noise(samples, quantum);
    let least_peak = floor.max(ABOVE_NOISE * noise);
    let mut peaks = peaks(samples, least_peak);
    peaks.sort_by(|a, b| b.total_cmp(a));
    // A single click must not determine the size.
    let large = *peaks.get((peaks.len() / 4).min(9))?;
    let edges: Vec<f64> = peaks.into_iter().filter(|peak| *peak >= 0.4 * large).collect();
    let peak = edges[edges.len() / 2];
    Some(Learnt { peak, floor: noise, noise: noise_far_from_edges(samples, EDGE * peak, quantum) })
}

/// Noise of the differences outside the ringing of all edges; an edge has a difference of at least
/// `edge`.
fn noise_far_from_edges(samples: &[f32], edge: f64, quantum: f64) -> Option<f64> {
    let (edge, stride) = (edge as f32, (samples.len() / MOST_STEPS).max(1));
    let mut steps = Vec::new();
    // Start of the quiet stretch, after the ringing of the last edge.
    let mut from = 0;
    let ends = (1..samples.len())
        .filter(|at| (samples[*at] - samples[at - 1]).abs() >= edge)
        .chain([samples.len() + RINGING]);
    for end in ends {
        let quiet =
            samples.get(from..(end - RINGING.min(end)).min(samples.len())).unwrap_or_default();
        steps.extend(
            quiet
                .windows(2)
                .step_by(stride)
                .map(|pair| (pair[1] - pair[0]).abs())
                .filter(|step| step.is_finite()),
        );
        from = end + RINGING;
    }
    (steps.len() >= LEAST_STEPS).then(|| lower_quartile(steps, quantum))
}

/// Noise of all differences by their lower quartile, which edges hardly affect; dense edges add
/// their ringing.
fn noise(samples: &[f32], quantum: f64) -> f64 {
    let stride = (samples.len() / 50_000).max(1);
    let steps = samples
        .windows(2)
        .step_by(stride)
        .map(|pair| (pair[1] - pair[0]).abs())
        .filter(|step| step.is_finite());
    lower_quartile(steps.collect(), quantum)
}

/// Standard deviation by the lower quartile of absolute values. Those of a converter with few steps
/// are often equal: the quartile is then inside of the range that was rounded to its value. There
/// the median counts if it is larger: a converter may lack codes, so that one of its steps is two.
fn lower_quartile(mut steps: Vec<f32>, quantum: f64) -> f64 {
    if steps.is_empty() {
        return 0.0;
    }
    let quarter = by_quantile(&mut steps, 0.25, quantum) / QUARTILE;
    if quarter < FEW_QUANTA * quantum {
        quarter.max(by_quantile(&mut steps, 0.5, quantum) / MEDIAN)
    } else {
        quarter
    }
}

/// A quantile of values that were rounded to whole quanta, as if they were spread evenly over the
/// range that was rounded to each.
fn by_quantile(steps: &mut [f32], share: f64, quantum: f64) -> f64 {
    let place = (steps.len() as f64 * share) as usize;
    let value = f64::from(*steps.select_nth_unstable_by(place, f32::total_cmp).1);
    if quantum <= 0.0 {
        return value;
    }
    let rounded = |step: f64| (step / quantum).round();
    let count = |holds: &dyn Fn(f64) -> bool| {
        steps.iter().filter(|step| holds(rounded(f64::from(**step)))).count() as f64
    };
    let own_step = rounded(value);
    let (below, same) = (count(&|step| step < own_step), count(&|step| step == own_step));
    let (low, high) = ((own_step - 0.5).max(0.0), own_step + 0.5);
    quantum * (low + (high - low) * (place as f64 - below) / same)
}

/// The step of the converter: the smallest difference, if the signal takes more than a few of them;
/// else 0.
pub fn quantum(samples: &[f32]) -> f64 {
    let but_last = &samples[..samples.len().saturating_sub(1)];
    let low = but_last.iter().copied().fold(f32::INFINITY, f32::min);
    let high = but_last.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let least = least_difference(samples);
    if high - low > (FEW_STEPS - 0.5) * least { f64::from(least) } else { 0.0 }
}

/// The smallest difference of neighbours that is none of equal samples; infinite without one.
pub fn least_difference(samples: &[f32]) -> f32 {
    let steps = samples.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    steps.filter(|step| *step > 0.0).fold(f32::INFINITY, f32::min)
}

/// Tops of the stretches in which differences of one sign are above a size.
fn peaks(samples: &[f32], least_slope: f64) -> Vec<f64> {
    let mut peaks = Vec::new();
    let mut top = 0.0f64;
    for pair in samples.windows(2) {
        let slope = f64::from(pair[1]) - f64::from(pair[0]);
        if slope.abs() > least_slope && (top == 0.0 || top.signum() == slope.signum()) {
            top = if slope.abs() > top.abs() { slope } else { top };
        } else if top != 0.0 {
            peaks.push(top.abs());
            top = if slope.abs() > least_slope { slope } else { 0.0 };
            if peaks.len() == MOST_PEAKS {
                break;
            }
        }
    }
    if top != 0.0 {
        peaks.push(top.abs());
    }
    peaks
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use rand_pcg::Pcg32;

    #[test]
    fn noise_of_few_steps_of_a_converter_is_known() {
        let mut dice = Pcg32::new(5, 7);
        // A sum of twelve uniform numbers is nearly normal, with a standard deviation of 1.
        let mut normal = || (0..12).map(|_| dice.random::<f64>()).sum::<f64>() - 6.0;
        for sigma in [0.3, 0.6, 1.0, 3.0] {
            let level = |n: usize| if n / 5000 % 2 == 0 { 0.0 } else { 80.0 };
            let samples: Vec<f32> =
                (0..50_000).map(|n| 0.031 * (level(n) + sigma * normal()).round() as f32).collect();
            let noise_in_steps =
                noise(&samples, quantum(&samples)) / 0.031 / std::f64::consts::SQRT_2;
            assert!((0.8..1.6).contains(&(noise_in_steps / sigma)), "{sigma} {noise_in_steps}");
            assert_eq!(
                learn(&samples, 1e-4, quantum(&samples))
                    .map(|learnt| (learnt.peak / 0.031 / 80.0).round()),
                Some(1.0),
                "{sigma}"
            );
        }
        // Levels without noise have no step of a converter.
        assert_eq!(quantum(&[0.0, 0.0, 1.0, 1.0, 0.0]), 0.0);
    }
}
