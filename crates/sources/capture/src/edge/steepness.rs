//! Whether all edges of a direction are equally steep.
//!
//! Behind a linear input they are, whatever their level: what a wire, a filter, coupling and hum
//! add to the slope of an edge is there before it, too. An input that cuts a slow edge, or bends
//! it, shows a part of it that changes with the level from which the edge begins. So this finds
//! overload where all steps have one height and no level between them moves.

/// Fewest edges of a direction that say something, and most that are kept.
const FEWEST_EDGES: usize = 8;
const MOST_EDGES: usize = 1 << 15;
/// The slopes of edges must differ farther than the slope before them: ranges of n values from one
/// distribution differ by chance by a factor of 1 + this / sqrt(n) at most. And the share by which
/// they do at least.
const CHANCE: f64 = 6.0;
const LEAST_SHARE: f64 = 0.01;

/// Collects the steepness of edges that stand alone.
#[derive(Debug, Clone, Default)]
pub(super) struct Steepness {
    /// The largest smoothed slope, and the smoothed slope before the edge: of falling and of rising
    /// edges.
    edges: [Vec<Slopes>; 2],
    /// Place of the last edge, its direction and, if no edge was near before it, its slopes.
    last: Option<(f64, bool, Option<Slopes>)>,
}

/// Smoothed slopes of an edge, with its sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slopes {
    pub top: f64,
    pub before: f64,
}

/// Distances of other edges at which they do not change the slopes of an edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Alone {
    pub before: f64,
    pub after: f64,
}

impl Steepness {
    /// Takes an edge.
    pub(super) fn push(&mut self, at: f64, rising: bool, slopes: Slopes, alone: Alone) {
        if let Some((last, rising, Some(slopes))) = self.last {
            let edges = &mut self.edges[usize::from(rising)];
            if at - last > alone.after && edges.len() < MOST_EDGES {
                edges.push(slopes);
            }
        }
        let is_far = self.last.is_some_and(|(last, ..)| at - last > alone.before);
        self.last = Some((at, rising, is_far.then_some(slopes)));
    }

    /// Share of the steepness by which edges of one direction surely differ, between the 5 % and
    /// the 95 % quantile; 0 if none is sure.
    pub(super) fn spread(&self) -> f64 {
        self.edges.iter().map(|edges| spread(edges)).fold(0.0, f64::max)
    }

    /// The steepness of a typical edge, of the direction that is less steep; `None` without edges
    /// that stand alone.
    pub(super) fn typical(&self) -> Option<f64> {
        let middle = |edges: &Vec<Slopes>| {
            let mut tops: Vec<f64> = edges.iter().map(|slopes| slopes.top).collect();
            let at = tops.len() / 2;
            (!tops.is_empty()).then(|| *tops.select_nth_unstable_by(at, f64::total_cmp).1)
        };
        self.edges.iter().filter_map(middle).min_by(f64::total_cmp)
    }
}

fn spread(edges: &[Slopes]) -> f64 {
    if edges.len() < FEWEST_EDGES {
        return 0.0;
    }
    let range = |of: fn(&Slopes) -> f64| {
        let mut values: Vec<f64> = edges.iter().map(of).collect();
        values.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| values[((values.len() - 1) as f64 * share) as usize];
        (at(0.05), at(0.95))
    };
    let ((low, high), (least_slope, most_slope)) =
        (range(|slopes| slopes.top), range(|slopes| slopes.before));
    let (differ, by_background) = ((high - low) / high, (most_slope - least_slope) / high);
    let surely = 1.0 + CHANCE / (edges.len() as f64).sqrt();
    if differ > LEAST_SHARE.max(surely * by_background) {
        (differ * differ - by_background * by_background).sqrt()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The spread of edges whose slopes are these.
    fn of(slopes: impl Fn(f64) -> Slopes) -> f64 {
        let mut steepness = Steepness::default();
        for n in 0..60 {
            let alone = Alone { before: 50.0, after: 50.0 };
            steepness.push(
                100.0 * f64::from(n),
                n % 2 == 0,
                slopes((f64::from(n) * 1.37).sin()),
                alone,
            );
        }
        steepness.spread()
    }

    #[test]
    fn slopes_that_differ_more_than_the_slope_before_them_show_an_input_that_bends() {
        assert!(
            (of(|at| Slopes { top: 1.0 + 0.05 * at, before: 0.002 * at }) - 0.095).abs() < 0.01
        );
        // Drift, hum and noise are there before the edge, too.
        assert_eq!(of(|at| Slopes { top: 1.0 + 0.05 * at, before: 0.05 * at }), 0.0);
        assert_eq!(of(|at| Slopes { top: 1.0 + 0.004 * at, before: 0.0 }), 0.0);
        assert_eq!(of(|_| Slopes { top: f64::NAN, before: 0.0 }), 0.0);
    }

    #[test]
    fn edges_near_others_do_not_count() {
        let mut steepness = Steepness::default();
        for n in 0..200u32 {
            // Of four edges the first and the third stand alone, and the others are steeper.
            let at = 100.0 * f64::from(n / 4) + [0.0, 30.0, 40.0, 90.0][n as usize % 4];
            let top = if n % 2 == 0 { 1.0 } else { 1.5 };
            steepness.push(
                at,
                n % 4 < 2,
                Slopes { top, before: 0.0 },
                Alone { before: 8.0, after: 20.0 },
            );
        }
        assert_eq!(steepness.edges.each_ref().map(Vec::len), [50, 49]);
        assert_eq!(steepness.spread(), 0.0);
    }
}
