//! Learns the size of an edge in this signal from the first stretch with edges.

/// Least distance of an edge from the noise of the differences, in standard deviations: noise alone reaches 5.2 once in
/// two million samples.
const ABOVE_NOISE: f64 = 6.0;
/// The lower quartile of the absolute values of normal noise, in standard deviations.
const QUARTILE: f64 = 0.3186;
/// Smallest difference at an edge, as a share of a typical edge.
const EDGE: f64 = 0.5;
/// Samples on either side of an edge in which a converter's filter rings.
const RINGING: usize = 32;
/// Number of differences that estimate the noise: the minimum, and about the number used in a long stretch.
const LEAST_STEPS: usize = 100;
const MOST_STEPS: usize = 200_000;
/// Most peaks that a learnt stretch keeps.
const MOST_PEAKS: usize = 1 << 20;

/// Properties learnt from a stretch of the signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learnt {
    /// Largest difference of a typical edge.
    pub peak: f64,
    /// Standard deviation of all differences by their lower quartile, which dense edges raise by their ringing.
    pub floor: f64,
    /// Standard deviation of the differences far from all edges; `None` if there are too few such places.
    pub noise: Option<f64>,
}

/// Learns from samples; `None` if there is no edge in them. `floor` is the smallest difference that can be an edge.
pub fn learn(samples: &[f32], floor: f64) -> Option<Learnt> {
    let noise = noise(samples);
    let least = floor.max(ABOVE_NOISE * noise);
    let mut peaks = peaks(samples, least);
    peaks.sort_by(|a, b| b.total_cmp(a));
    // A single click must not determine the size.
    let large = *peaks.get((peaks.len() / 4).min(9))?;
    let edges: Vec<f64> = peaks.into_iter().filter(|peak| *peak >= 0.4 * large).collect();
    let peak = edges[edges.len() / 2];
    Some(Learnt { peak, floor: noise, noise: noise_far_from_edges(samples, EDGE * peak) })
}

/// Noise of the differences outside the ringing of all edges; an edge has a difference of at least `edge`.
fn noise_far_from_edges(samples: &[f32], edge: f64) -> Option<f64> {
    let (edge, stride) = (edge as f32, (samples.len() / MOST_STEPS).max(1));
    let mut steps = Vec::new();
    // Start of the quiet stretch, after the ringing of the last edge.
    let mut from = 0;
    let ends = (1..samples.len()).filter(|at| (samples[*at] - samples[at - 1]).abs() >= edge).chain([samples.len() + RINGING]);
    for end in ends {
        let quiet = samples.get(from..(end - RINGING.min(end)).min(samples.len())).unwrap_or_default();
        steps.extend(quiet.windows(2).step_by(stride).map(|pair| (pair[1] - pair[0]).abs()).filter(|step| step.is_finite()));
        from = end + RINGING;
    }
    (steps.len() >= LEAST_STEPS).then(|| lower_quartile(steps))
}

/// Noise of all differences by their lower quartile, which edges hardly affect; dense edges add their ringing.
fn noise(samples: &[f32]) -> f64 {
    let stride = (samples.len() / 50_000).max(1);
    let steps = samples.windows(2).step_by(stride).map(|pair| (pair[1] - pair[0]).abs()).filter(|step| step.is_finite());
    lower_quartile(steps.collect())
}

/// Standard deviation by the lower quartile of absolute values.
fn lower_quartile(mut steps: Vec<f32>) -> f64 {
    if steps.is_empty() {
        return 0.0;
    }
    let quarter = steps.len() / 4;
    let (_, value, _) = steps.select_nth_unstable_by(quarter, f32::total_cmp);
    f64::from(*value) / QUARTILE
}

/// Tops of the stretches in which differences of one sign are above a size.
fn peaks(samples: &[f32], least: f64) -> Vec<f64> {
    let mut peaks = Vec::new();
    let mut top = 0.0f64;
    for pair in samples.windows(2) {
        let slope = f64::from(pair[1]) - f64::from(pair[0]);
        if slope.abs() > least && (top == 0.0 || top.signum() == slope.signum()) {
            top = if slope.abs() > top.abs() { slope } else { top };
        } else if top != 0.0 {
            peaks.push(top.abs());
            top = if slope.abs() > least { slope } else { 0.0 };
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
