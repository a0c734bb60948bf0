//! Tops of the smoothed slope in a stretch of the signal, and how large they typically are: a pin's
//! fall may be much slower than its rise.

use super::kernel::Kernel;

/// Smallest top of an edge, as a share of a typical one.
const EDGE: f32 = 0.4;
/// A stretch of one sign ends where the slope falls below this share of the smallest top.
const END: f32 = 0.5;
/// Smoothed slopes that are computed together.
const BLOCK: usize = 1 << 12;
/// Most tops that are kept.
const MOST_TOPS: usize = 1 << 20;

/// A top: the place of its difference, and its signed size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Top {
    /// Index of the sample before it.
    pub at: usize,
    /// Its size; below zero where the signal falls.
    pub slope: f32,
}

/// Typical sizes of the edges of both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// Of rising edges.
    pub rising: f32,
    /// Of falling edges.
    pub falling: f32,
}

impl Sizes {
    /// The size for edges of this direction.
    pub fn of(&self, rising: bool) -> f32 {
        if rising { self.rising } else { self.falling }
    }

    /// The smaller one.
    pub fn least(&self) -> f32 {
        self.rising.min(self.falling)
    }

    /// Typical sizes of tops; a direction without tops has the size of the other. `None` without
    /// tops.
    pub fn typical(tops: &[Top]) -> Option<Sizes> {
        let of = |rising: bool| {
            typical(
                tops.iter()
                    .filter(|top| (top.slope > 0.0) == rising)
                    .map(|top| top.slope.abs())
                    .collect(),
            )
        };
        let (rising, falling) = (of(true), of(false));
        Some(Sizes { rising: rising.or(falling)?, falling: falling.or(rising)? })
    }
}

fn typical(mut sizes: Vec<f32>) -> Option<f32> {
    sizes.sort_by(|a, b| b.total_cmp(a));
    // A single click must not determine the size.
    let large = *sizes.get((sizes.len() / 4).min(9))?;
    let edges = sizes.partition_point(|size| *size >= EDGE * large);
    Some(sizes[edges / 2])
}

/// Tops of at least this size, one for each stretch of one sign.
pub fn tops(samples: &[f32], kernel: &Kernel, least_slope: f32) -> Vec<Top> {
    let (mut all_tops, mut current): (Vec<Top>, Option<Top>) = (Vec::new(), None);
    let mut slopes = vec![0.0f32; BLOCK];
    for from in (0..samples.len().saturating_sub(1)).step_by(BLOCK) {
        let part = &mut slopes[..BLOCK.min(samples.len() - 1 - from)];
        kernel.slopes(samples, from, part);
        for (n, slope) in part.iter().enumerate() {
            if current.is_none() && slope.abs() < END * least_slope {
                continue;
            }
            let here = Top { at: from + n, slope: *slope };
            current = match current {
                Some(top) if slope * top.slope.signum() < END * least_slope => {
                    all_tops.extend(
                        (top.slope.abs() >= least_slope && all_tops.len() < MOST_TOPS)
                            .then_some(top),
                    );
                    (slope.abs() >= END * least_slope).then_some(here)
                }
                Some(top) if slope.abs() <= top.slope.abs() => Some(top),
                _ => Some(here),
            };
        }
    }
    all_tops.extend(current.filter(|top| top.slope.abs() >= least_slope));
    all_tops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_falls_beside_fast_rises_have_a_size_of_their_own() {
        let mut level = 0.0f32;
        let samples: Vec<f32> = (0..4000)
            .map(|n| {
                level = if n % 200 < 100 { 1.0 } else { level * (-0.1f32).exp() };
                level
            })
            .collect();
        let found_tops = tops(&samples, &Kernel::new(1.0), 0.01);
        assert!((38..=40).contains(&found_tops.len()), "{}", found_tops.len());
        assert!(found_tops.windows(2).all(|pair| pair[0].slope * pair[1].slope < 0.0));
        let sizes = Sizes::typical(&found_tops).unwrap();
        assert!(sizes.rising > 3.0 * sizes.falling && sizes.least() > 0.05, "{sizes:?}");
        assert_eq!(Sizes::typical(&[]), None);
    }
}
