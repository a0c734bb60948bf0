//! What was found in a series, by the numbers of its readings.

use super::fit::Sums;
use super::many::Prepared;
use super::scale::Scale;
use super::step::{Step, Terms, smallest, steps};
use super::{Forecast, Found, FoundStep, Level, Options};

/// What was found in a series that was fitted at this level of the test.
pub(super) fn found(series: &Prepared, alarm: f64, options: &Options) -> Found {
    let sums = series.sums();
    let n = series.points.len();
    let starts = confirmed(&series.starts, n);
    let end = if starts.len() < series.starts.len() { n - 1 } else { n };
    let terms = Terms { level: options.level, student: &series.student, of: series.of() };
    let sums_to_end = sums.part(0, end);
    let steps = if end == 0 { Vec::new() } else { steps(&sums_to_end, &starts, &terms) };
    let levels = levels(series, &sums, &starts, end, options.level);
    let last = starts.last().copied().unwrap_or(0);
    let variance = middle(&series.variances);
    let behind = options.behind.min((end - last) / 2);
    Found {
        scale: series.scale,
        steps: steps.iter().map(|step| numbered(step, series)).collect(),
        forecast: forecast(series, &sums, last, options.level),
        smallest: smallest(variance, end - last - behind, behind, alarm, &terms),
        noise: variance.sqrt(),
        between: series.between.sqrt(),
        dof: series.student.dof(),
        levels,
        odd: series.odd.clone(),
        unusable: series.unusable.clone(),
    }
}

/// The levels without a last one of a single point: that may be an odd one.
fn confirmed(starts: &[usize], n: usize) -> Vec<usize> {
    let is_single = starts.len() > 1 && starts.last().is_some_and(|last| last + 1 == n);
    starts[..starts.len() - usize::from(is_single)].to_vec()
}

fn levels(series: &Prepared, sums: &Sums, starts: &[usize], end: usize, level: f64) -> Vec<Level> {
    let mut ends = starts.to_vec();
    ends.push(end);
    let factor = series.student.factor(level);
    let one = |pair: &[usize]| Level {
        from: series.readings[pair[0]],
        to: series.readings[pair[1] - 1],
        x: sums.mean(pair[0], pair[1]) + series.middle,
        half: factor / sums.weight(pair[0], pair[1]).sqrt(),
        points: pair[1] - pair[0],
    };
    ends.windows(2).filter(|pair| pair[1] > pair[0]).map(one).collect()
}

fn numbered(step: &Step, series: &Prepared) -> FoundStep {
    let reading = |at: usize| series.readings[at];
    FoundStep {
        before: reading(step.at - 1),
        at: reading(step.at),
        after: reading(step.place.start() - 1),
        up_to: reading(*step.place.end()),
        size: step.size,
        half: step.half,
        chance: step.chance,
        points_behind: step.points_behind,
    }
}

/// Where the last point was expected, by those of its level before it.
fn forecast(series: &Prepared, sums: &Sums, from: usize, level: f64) -> Option<Forecast> {
    let at = series.points.len().checked_sub(1).filter(|at| *at > from)?;
    let spread = (series.variances[at] + 1.0 / sums.weight(from, at)).sqrt();
    let expected = sums.mean(from, at) + series.middle;
    let x = series.points[at].x;
    Some(Forecast {
        reading: series.readings[at],
        x,
        expected,
        half: series.student.factor(level) * spread,
        chance: series.student.outside((x - expected).abs() / spread),
    })
}

fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

impl Found {
    /// A size on the scale of the series as a share of the value before it, or as a difference.
    pub fn size(&self, size: f64) -> f64 {
        match self.scale {
            Scale::Log => hairspring_core::math::exp_m1(size),
            Scale::Linear => size,
        }
    }

    /// A place on the scale of the series as a value.
    pub fn value(&self, x: f64) -> f64 {
        match self.scale {
            Scale::Log => hairspring_core::math::exp(x),
            Scale::Linear => x,
        }
    }
}
