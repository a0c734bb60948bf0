//! How a mean over blocks of rounds varies: batch means, in an analysis of variance with placements
//! as a random factor and layouts as a fixed one.

use super::interval::{Contribution, Source, t_quantile};
use super::skewness::skewness_bound;
use crate::grid::Grid;
use crate::laws::f_above;
use crate::limit::{Basis, FEWEST_MEANS, RARELY_CHANCE, limits};

limits! {
    /// Correlation of neighbouring values (lag one) above which they do not count as independent.
    CORRELATED_BLOCKS = 0.15, "",
        Basis::Derived("one standard deviation of the chance correlation of 32 independent values");
    /// Fewer values than this do not show how far neighbours are correlated: the difference of the
    /// two halves of the run is the least.
    FEW_VALUES = 16.0, "values",
        Basis::Derived("the chance correlation has a standard deviation of a quarter");
}

/// Sample variance, with one degree of freedom less than values; NaN for fewer than two.
///
/// ```
/// assert_eq!(hairspring_core::estimate::variance(&[1.0, 2.0, 3.0]), 1.0);
/// ```
pub fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)
}

/// Variance of the values of successive runs as the latest of them sees it; NaN for fewer than two.
///
/// Two runs differ by the root of two standard deviations if what they measure stays where it was.
/// It does not: it drifts as the load of the machine changes. A latest run that is far from the
/// others will be as far from the next ones, so half of the mean square of its distances to the
/// others counts, if that is more. In 47 minutes of runs on an AMD EPYC of family 26, 6.6 % of all
/// pairs of intervals of a core clock did not overlap by the variance alone, and 0.03 % with this.
///
/// ```
/// use hairspring_core::estimate::{variance, variance_of_runs};
/// assert_eq!(variance_of_runs(&[1.0, 3.0, 2.0]), variance(&[1.0, 3.0, 2.0]));
/// assert!(variance_of_runs(&[1.0, 1.1, 0.9, 2.0]) > variance(&[1.0, 1.1, 0.9, 2.0]));
/// ```
pub fn variance_of_runs(values: &[f64]) -> f64 {
    let Some(latest) = values.last() else { return f64::NAN };
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let own = variance(values);
    own.max((own + (latest - mean).powi(2)) / 2.0)
}

/// Variance of the mean of successive values, and its degrees of freedom. Where neighbouring values
/// are correlated (noise slower than a block, a frequency step) fewer of them are independent: the
/// variance is larger and the degrees of freedom fewer.
pub fn variance_of_mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let plain = variance(values) / n;
    let correlation = lag_one_correlation(values);
    if values.len() < 8 || correlation < CORRELATED_BLOCKS {
        let floor = if n < FEW_VALUES { variance_by_halves(values) } else { 0.0 };
        return (plain.max(floor), n - 1.0);
    }
    let inflation = inflation(correlation, n);
    (plain * inflation, ((n - 1.0) / inflation).max(1.0))
}

/// The sum of the autocorrelations of a first-order process, by which the variance of the mean of
/// `n` values is larger than that of independent ones; bounded, because the estimate is poor near
/// 1.
pub fn inflation(correlation: f64, n: f64) -> f64 {
    ((1.0 + correlation) / (1.0 - correlation)).min(n / 2.0)
}

/// Variance of the mean by the difference between the halves of the run: few blocks do not show how
/// far their neighbours are correlated.
fn variance_by_halves(values: &[f64]) -> f64 {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let (first, second) = values.split_at(values.len() / 2);
    ((mean(first) - mean(second)) / 2.0).powi(2)
}

/// Correlation of neighbouring values; 0 if all are equal.
///
/// ```
/// use hairspring_core::estimate::{inflation, lag_one_correlation};
/// let correlation = lag_one_correlation(&[1.0, 2.0, 3.0, 4.0]);
/// assert_eq!((correlation, inflation(correlation, 4.0)), (0.25, 1.25 / 0.75));
/// ```
pub fn lag_one_correlation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

/// The values of some blocks of a grid, in their order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InBlocks<'v> {
    /// The number of each block.
    pub blocks: &'v [usize],
    /// Its value.
    pub values: &'v [f64],
}

/// How the layouts of the code count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LayoutsAre {
    /// They are the same in every run: only what varies within each is noise.
    Fixed,
    /// They are a sample of those that the code may have, as for the verdict about two
    /// alternatives, which must not depend on those that were tried. Layouts that do not surely
    /// differ count as one.
    ASample,
}

/// The weights of some blocks in a mean, whose sum is 1: by their rounds, or, if the code has
/// layouts and each has spans of its own, equal for each layout.
pub(crate) fn weights(grid: &Grid, blocks: &[usize]) -> Vec<f64> {
    let rounds =
        |at: &usize| f64::from(grid.blocks[*at].rounds.end - grid.blocks[*at].rounds.start);
    let layout = |at: &usize| grid.spans[grid.blocks[*at].span].layout;
    let mut of_layouts = vec![0.0; grid.layouts];
    blocks
        .iter()
        .filter_map(|at| Some((layout(at)?, rounds(at))))
        .for_each(|(layout, rounds)| of_layouts[layout] += rounds);
    let has_all = grid.layouts > 1 && of_layouts.iter().all(|rounds| *rounds > 0.0);
    let all_rounds: f64 = blocks.iter().map(rounds).sum();
    let weight = |at: &usize| match layout(at) {
        Some(layout) if has_all => rounds(at) / of_layouts[layout] / grid.layouts as f64,
        None if has_all => 0.0,
        _ => rounds(at) / all_rounds,
    };
    blocks.iter().map(weight).collect()
}

/// A span with its mean.
#[derive(Debug, Clone, Copy)]
struct SpanMean {
    layout: Option<usize>,
    weight: f64,
    mean: f64,
    /// Variance of the mean by the blocks of the span, and its degrees of freedom.
    within: f64,
    dof: f64,
}

/// A variance with its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Variance {
    variance: f64,
    dof: f64,
}

impl InBlocks<'_> {
    /// The weighted mean.
    pub fn mean(&self, grid: &Grid) -> f64 {
        weights(grid, self.blocks)
            .iter()
            .zip(self.values)
            .map(|(weight, value)| weight * value)
            .sum()
    }

    /// The budget of the mean: noise, and what placements add to it.
    pub fn budget(&self, grid: &Grid, level: f64, layouts: LayoutsAre) -> Vec<Contribution> {
        let spans = self.spans(grid);
        if spans.len() < FEWEST_MEANS as usize {
            let (variance, dof) = variance_of_mean(self.values);
            return vec![Contribution::standard(Source::Noise, variance.sqrt(), dof)];
        }
        let rounds = rounds(&spans);
        let (between, values) = between(&spans, grid, layouts);
        let excess = (between.variance - rounds.variance).max(0.0);
        let skewed = if excess > 0.0 { skewness_bound(&values, excess.sqrt(), level) } else { 0.0 };
        let noise = Contribution::standard(Source::Noise, rounds.variance.sqrt(), rounds.dof);
        let placement = (excess > 0.0)
            .then(|| Contribution::standard(Source::Placement, excess.sqrt(), between.dof));
        let skewed = (skewed > 0.0).then(|| Contribution::bound(Source::Placement, skewed));
        std::iter::once(noise).chain(placement).chain(skewed).collect()
    }

    /// The means of the spans.
    fn spans(&self, grid: &Grid) -> Vec<SpanMean> {
        let weights = weights(grid, self.blocks);
        let weighted_values: Vec<(usize, f64, f64)> = self
            .blocks
            .iter()
            .zip(weights)
            .zip(self.values)
            .map(|((at, weight), value)| (grid.blocks[*at].span, weight, *value))
            .collect();
        let span = |some: &[(usize, f64, f64)]| {
            let weight: f64 = some.iter().map(|(_, weight, _)| weight).sum();
            let values: Vec<f64> = some.iter().map(|(_, _, value)| *value).collect();
            let n = values.len() as f64;
            let within = if values.len() > 1 { variance(&values) / n } else { 0.0 };
            SpanMean {
                layout: grid.spans[some[0].0].layout,
                weight,
                mean: values.iter().sum::<f64>() / n,
                within,
                dof: n - 1.0,
            }
        };
        weighted_values
            .chunk_by(|a, b| a.0 == b.0)
            .map(span)
            .filter(|span| span.weight > 0.0)
            .collect()
    }

    /// The mean of each span that has blocks, with its number.
    pub fn span_means(&self, grid: &Grid) -> Vec<(usize, f64)> {
        let values_of_spans: Vec<(usize, f64)> = self
            .blocks
            .iter()
            .zip(self.values)
            .map(|(at, value)| (grid.blocks[*at].span, *value))
            .collect();
        let mean = |some: &[(usize, f64)]| {
            (some[0].0, some.iter().map(|(_, value)| value).sum::<f64>() / some.len() as f64)
        };
        values_of_spans.chunk_by(|a, b| a.0 == b.0).map(mean).collect()
    }

    /// The mean of each layout, if the code has several and each has spans of its own; and whether
    /// they surely differ.
    pub fn layouts(&self, grid: &Grid) -> Option<LayoutMeans> {
        layout_means(&self.spans(grid), grid.layouts)
    }
}

/// Variance of the mean by the variation within spans.
fn rounds(spans: &[SpanMean]) -> Variance {
    let parts = spans
        .iter()
        .filter(|span| span.dof > 0.0)
        .map(|span| (span.weight * span.weight * span.within, span.dof));
    let (variance, fourth) = parts
        .fold((0.0, 0.0), |(sum, fourth), (part, dof)| (sum + part, fourth + part * part / dof));
    // Spans of a single block vary like the others.
    let (all_squares, known_squares) =
        (sum_of_squares(spans.iter()), sum_of_squares(spans.iter().filter(|span| span.dof > 0.0)));
    let scale = if known_squares > 0.0 { all_squares / known_squares } else { 0.0 };
    Variance {
        variance: variance * scale,
        dof: if fourth > 0.0 { variance * variance / fourth } else { f64::INFINITY },
    }
}

fn sum_of_squares<'s>(spans: impl Iterator<Item = &'s SpanMean>) -> f64 {
    spans.map(|span| span.weight * span.weight).sum()
}

/// The means of the layouts of a code.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LayoutMeans {
    pub means: Vec<f64>,
    /// Whether they surely differ.
    pub differ: bool,
    /// Variance of the mean of all by what varies within layouts.
    within: f64,
    dof: f64,
}

impl LayoutMeans {
    /// The mean of all layouts.
    pub fn mean(&self) -> f64 {
        self.means.iter().sum::<f64>() / self.means.len() as f64
    }

    /// The shortest and the longest time of a layout.
    pub fn range(&self) -> (f64, f64) {
        self.means.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), mean| {
            (least.min(*mean), most.max(*mean))
        })
    }

    /// Variance of the mean if the layouts are a sample, of which each `crossover` neighbouring
    /// ones count as one.
    fn as_sample(&self, crossover: usize) -> Option<(Variance, Vec<f64>)> {
        let values: Vec<f64> = self
            .means
            .chunks(crossover)
            .map(|some| some.iter().sum::<f64>() / some.len() as f64)
            .collect();
        let n = values.len() as f64;
        (values.len() > 1)
            .then(|| (Variance { variance: variance(&values) / n, dof: n - 1.0 }, values))
    }
}

fn layout_means(spans: &[SpanMean], layouts: usize) -> Option<LayoutMeans> {
    let of = |layout: usize| {
        spans.iter().filter(move |span| span.layout == Some(layout)).map(|span| span.mean)
    };
    let counts: Vec<f64> = (0..layouts).map(|layout| of(layout).count() as f64).collect();
    let (number_of_spans, number_of_layouts) = (counts.iter().sum::<f64>(), layouts as f64);
    if layouts < 2 || counts.contains(&0.0) || number_of_spans < number_of_layouts + 1.0 {
        return None;
    }
    let means: Vec<f64> =
        (0..layouts).zip(&counts).map(|(layout, count)| of(layout).sum::<f64>() / count).collect();
    let middle =
        means.iter().zip(&counts).map(|(mean, count)| mean * count).sum::<f64>() / number_of_spans;
    let between: f64 =
        means.iter().zip(&counts).map(|(mean, count)| count * (mean - middle).powi(2)).sum::<f64>()
            / (number_of_layouts - 1.0);
    let squares: f64 = (0..layouts)
        .flat_map(|layout| of(layout).map(move |mean| (layout, mean)))
        .map(|(layout, mean)| (mean - means[layout]).powi(2))
        .sum();
    let (dof, within) =
        (number_of_spans - number_of_layouts, squares / (number_of_spans - number_of_layouts));
    let chance = |f: f64| f_above(f, number_of_layouts - 1.0, dof);
    // Where no placement of a layout differs from another one, any difference between the layouts
    // counts.
    let differ =
        if within > 0.0 { chance(between / within) < RARELY_CHANCE } else { between > 0.0 };
    let within = within * counts.iter().map(|count| 1.0 / count).sum::<f64>()
        / (number_of_layouts * number_of_layouts);
    Some(LayoutMeans { means, differ, within, dof })
}

/// Variance of the mean by what spans differ by, and the values that show it.
fn between(spans: &[SpanMean], grid: &Grid, are: LayoutsAre) -> (Variance, Vec<f64>) {
    let means = layout_means(spans, grid.layouts);
    let mean: f64 = spans.iter().map(|span| span.weight * span.mean).sum();
    let own_mean = |span: &SpanMean| {
        means.as_ref().zip(span.layout).map_or(mean, |(all, layout)| all.means[layout])
    };
    let departures: Vec<f64> = spans.iter().map(|span| span.mean - own_mean(span)).collect();
    let values: Vec<f64> = departures.iter().map(|departure| mean + departure).collect();
    let correlation = if spans.len() < 8 { 0.0 } else { lag_one_correlation(&departures) };
    let inflation = if correlation < CORRELATED_BLOCKS {
        1.0
    } else {
        inflation(correlation, spans.len() as f64)
    };
    let n = spans.len() as f64;
    let within = match &means {
        Some(means) => Variance { variance: means.within, dof: means.dof },
        None => {
            let squares: f64 = spans
                .iter()
                .zip(&departures)
                .map(|(span, departure)| (span.weight * departure).powi(2))
                .sum();
            Variance { variance: squares * n / (n - 1.0), dof: n - 1.0 }
        }
    };
    let within =
        Variance { variance: within.variance * inflation, dof: (within.dof / inflation).max(1.0) };
    let sample = means
        .filter(|means| are == LayoutsAre::ASample && means.differ)
        .and_then(|means| means.as_sample(grid.crossover));
    match sample {
        Some((sample, means)) if wider(&sample, &within) => (sample, means),
        _ => (within, values),
    }
}

/// Whether a variance gives a wider interval than another one.
fn wider(one: &Variance, other: &Variance) -> bool {
    let half = |variance: &Variance| t_quantile(0.95, variance.dof) * variance.variance.sqrt();
    half(one) > half(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Uncertain;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    #[test]
    fn lasting_step_leaves_few_independent_blocks() {
        let alternating: Vec<f64> = (0..32).map(|i| f64::from(i % 2)).collect();
        let step: Vec<f64> = (0..32).map(|i| f64::from(u8::from(i >= 16))).collect();
        let (fast, slow) = (variance_of_mean(&alternating), variance_of_mean(&step));
        assert!(slow.0 > 5.0 * fast.0);
        assert!(slow.1 < 6.0 && fast.1 == 31.0);
        // Few blocks: the halves differ by 1, so the mean may be off by a half.
        assert_eq!(variance_of_mean(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]).0, 0.25);
    }

    const LAYOUTS: [f64; 4] = [36.0, 41.0, 46.0, 45.0];

    /// A grid of placements in which so many layouts take turns, a block each.
    fn grid(layouts: usize, placements: usize) -> Grid {
        let mut table = crate::observations::Observations::new(vec!["body".into()]);
        table.origin.crossover = 2;
        table.origin.placements = (1..placements as u32).map(|at| 8 * at).collect();
        Grid::new(&table, 8 * placements as u32, 1, Some(layouts))
    }

    /// Values of the blocks of a grid, which vary by this standard deviation from placement to
    /// placement.
    fn values(
        grid: &Grid,
        layouts: &[f64],
        sd: f64,
        random: &mut Pcg64Mcg,
    ) -> (Vec<usize>, Vec<f64>) {
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let of_spans: Vec<f64> =
            (0..grid.spans.len()).map(|at| layouts[at % layouts.len()] + sd * normal()).collect();
        (
            (0..grid.blocks.len()).collect(),
            grid.blocks.iter().map(|block| of_spans[block.span]).collect(),
        )
    }

    fn half_width(of: InBlocks, grid: &Grid, are: LayoutsAre) -> f64 {
        Uncertain { value: 0.0, budget: of.budget(grid, 0.95, are) }.estimate(0.95).half_width()
    }

    #[test]
    fn the_mean_is_that_of_the_layouts_however_many_placements_each_has() {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for placements in 8..20 {
            let grid = grid(4, placements);
            let (blocks, values) = values(&grid, &LAYOUTS, 0.0, &mut random);
            let values_in_blocks = InBlocks { blocks: &blocks, values: &values };
            let layouts = values_in_blocks.layouts(&grid).unwrap();
            assert!(
                (values_in_blocks.mean(&grid) - 42.0).abs() < 1e-9
                    && layouts.differ
                    && layouts.range() == (36.0, 46.0),
                "{layouts:?}"
            );
            assert!(half_width(values_in_blocks, &grid, LayoutsAre::Fixed) < 1e-9);
        }
        for (layouts, placements) in [(4, 3), (4, 4), (1, 9)] {
            let grid = grid(layouts, placements);
            let (blocks, values) = values(&grid, &LAYOUTS, 0.1, &mut random);
            assert_eq!(
                InBlocks { blocks: &blocks, values: &values }.layouts(&grid),
                None,
                "{placements} placements"
            );
        }
    }

    #[test]
    fn intervals_hold_the_mean_of_the_layouts() {
        const RUNS: u32 = 2_000;
        let mut random = Pcg64Mcg::seed_from_u64(2);
        for placements in [5, 7, 11, 16] {
            let grid = grid(4, placements);
            let mut is_held = || {
                let (blocks, values) = values(&grid, &LAYOUTS, 0.5, &mut random);
                let all = InBlocks { blocks: &blocks, values: &values };
                (all.mean(&grid) - 42.0).abs() <= half_width(all, &grid, LayoutsAre::Fixed)
            };
            let held = (0..RUNS).filter(|_| is_held()).count();
            // Skewness and correlation that chance shows make intervals wider, never narrower.
            assert!((1_860..=1_970).contains(&held), "{placements} placements: {held} of {RUNS}");
        }
    }

    #[test]
    fn layouts_that_are_close_together_by_chance_do_not_narrow_the_interval() {
        const RUNS: u32 = 2_000;
        let mut random = Pcg64Mcg::seed_from_u64(4);
        let grid = grid(8, 16);
        let mut differ = 0;
        let mut is_held = || {
            let (blocks, values) = values(&grid, &[42.0; 8], 0.5, &mut random);
            let values_in_blocks = InBlocks { blocks: &blocks, values: &values };
            differ += usize::from(values_in_blocks.layouts(&grid).unwrap().differ);
            assert!(
                half_width(values_in_blocks, &grid, LayoutsAre::ASample)
                    >= half_width(values_in_blocks, &grid, LayoutsAre::Fixed) - 1e-12
            );
            (values_in_blocks.mean(&grid) - 42.0).abs()
                <= half_width(values_in_blocks, &grid, LayoutsAre::ASample)
        };
        let held = (0..RUNS).filter(|_| is_held()).count();
        assert!(held >= 1_860, "{held} of {RUNS}");
        assert!(
            (5..=40).contains(&differ),
            "layouts that are alike seldom count as different: {differ} of {RUNS}"
        );
    }
}
