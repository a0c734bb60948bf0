//! Values that lie too far from the others of a normal distribution: the generalised extreme
//! Studentized deviate test (Rosner 1983, Technometrics 25:165).

use super::interval::t_quantile;

/// Places of the values that lie too far from the others, the farthest first, of `most_deviates`
/// that are looked at. Where all values are of one normal distribution, it finds any with the
/// probability `alpha`: exactly that for `most_deviates` of 1 (Grubbs' test), nearly for more from
/// 15 values on. Several such values do not hide each other as long as they are not more than
/// `most_deviates`.
///
/// ```
/// use hairspring_core::estimate::extreme_deviates;
/// let values = [1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 3.0, 0.98];
/// assert_eq!(extreme_deviates(&values, 0.01, 1), [6]);
/// assert!(extreme_deviates(&values[..6], 0.01, 1).is_empty());
/// ```
pub fn extreme_deviates(values: &[f64], alpha: f64, most_deviates: usize) -> Vec<usize> {
    let mut window = Window::of(values);
    let (mut taken_places, mut extreme_places) = (Vec::new(), 0);
    while taken_places.len() < most_deviates && window.len() > 2 {
        let Some((at, deviate)) = window.take_farthest() else { break };
        taken_places.push(at);
        if deviate > critical(window.len() + 1, alpha) {
            extreme_places = taken_places.len();
        }
    }
    taken_places.truncate(extreme_places);
    taken_places
}

/// The deviate that the largest one of this many normal values exceeds with the probability
/// `alpha`.
fn critical(values: usize, alpha: f64) -> f64 {
    let count = values as f64;
    let t = t_quantile(1.0 - alpha / count, count - 2.0);
    (count - 1.0) * t / ((count - 2.0 + t * t) * count).sqrt()
}

/// A share of the sum of squares that rounding may have made.
const ROUNDED: f64 = 1e-6;

/// The values that are left, in order: the farthest is the first or the last.
struct Window<'v> {
    values: &'v [f64],
    order: Vec<usize>,
    first: usize,
    /// Sums of the distances from the middle value, and of their squares.
    middle: f64,
    sum: f64,
    squares: f64,
}

impl Window<'_> {
    /// All finite values.
    fn of(values: &[f64]) -> Window<'_> {
        let mut order: Vec<usize> =
            (0..values.len()).filter(|at| values[*at].is_finite()).collect();
        order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        let middle = order.get(order.len() / 2).map_or(0.0, |at| values[*at]);
        let mut window = Window { values, order, first: 0, middle, sum: 0.0, squares: 0.0 };
        window.add_up();
        window
    }

    fn len(&self) -> usize {
        self.order.len() - self.first
    }

    fn add_up(&mut self) {
        let distances = || self.order[self.first..].iter().map(|at| self.values[*at] - self.middle);
        (self.sum, self.squares) =
            (distances().sum(), distances().map(|distance| distance * distance).sum());
    }

    /// Takes the value farthest from the mean; gives its place and its distance in standard
    /// deviations. `None` if all are equal.
    fn take_farthest(&mut self) -> Option<(usize, f64)> {
        let count = self.len() as f64;
        let mean = self.middle + self.sum / count;
        let sd = ((self.squares - self.sum * self.sum / count) / (count - 1.0)).sqrt();
        let (low, high) = (self.order[self.first], *self.order.last()?);
        let far = |at: usize| (self.values[at] - mean).abs();
        let at = if far(low) > far(high) { low } else { high };
        let deviate = far(at) / sd;
        if at == high {
            self.order.pop();
        } else {
            self.first += 1;
        }
        self.forget(self.values[at] - self.middle);
        (sd > 0.0).then_some((at, deviate))
    }

    /// Takes a distance out of the sums; they are made anew where they would be rounding.
    fn forget(&mut self, distance: f64) {
        let before = self.squares;
        (self.sum, self.squares) = (self.sum - distance, before - distance * distance);
        if self.squares < ROUNDED * before {
            self.add_up();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// The data of Rosner's paper.
    const ROSNER: [f64; 54] = [
        -0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56, 1.58,
        1.65, 1.69, 1.70, 1.76, 1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15,
        2.23, 2.24, 2.26, 2.35, 2.37, 2.40, 2.47, 2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93, 3.21,
        3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01,
    ];

    #[test]
    fn the_published_example_has_three() {
        assert_eq!(extreme_deviates(&ROSNER, 0.05, 10), [53, 52, 51]);
        assert!((critical(54, 0.05) - 3.158).abs() < 1e-3);
        assert!((critical(52, 0.05) - 3.143).abs() < 1e-3);
        let first = Window::of(&ROSNER).take_farthest().unwrap();
        assert!(first.0 == 53 && (first.1 - 3.118).abs() < 1e-3, "{first:?}");
    }

    /// The same without sums that are kept.
    fn naive(values: &[f64], alpha: f64, most_deviates: usize) -> Vec<usize> {
        let mut places_left: Vec<usize> = (0..values.len()).collect();
        let (mut taken_places, mut extreme_places) = (Vec::new(), 0);
        while taken_places.len() < most_deviates && places_left.len() > 2 {
            let count = places_left.len() as f64;
            let mean = places_left.iter().map(|at| values[*at]).sum::<f64>() / count;
            let squares = places_left.iter().map(|at| (values[*at] - mean).powi(2)).sum::<f64>();
            let far = |at: &usize| (values[*at] - mean).abs();
            let at = *places_left.iter().max_by(|a, b| far(a).total_cmp(&far(b))).unwrap();
            let deviate = far(&at) / (squares / (count - 1.0)).sqrt();
            places_left.retain(|other| *other != at);
            taken_places.push(at);
            if deviate > critical(places_left.len() + 1, alpha) {
                extreme_places = taken_places.len();
            }
        }
        taken_places.truncate(extreme_places);
        taken_places
    }

    #[test]
    fn it_agrees_with_the_naive_test() {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        for round in 0..300 {
            let far = if round % 3 == 0 { 1e9 } else { 8.0 };
            let values: Vec<f64> = (0..5 + round % 40)
                .map(|at| random.random::<f64>() + if at % 11 == 10 { far } else { 0.0 })
                .collect();
            let most_deviates = 1 + values.len() / 5;
            assert_eq!(
                extreme_deviates(&values, 0.05, most_deviates),
                naive(&values, 0.05, most_deviates),
                "{values:?}"
            );
        }
    }

    #[test]
    fn equal_few_and_odd_numbers_have_none() {
        assert!(extreme_deviates(&[2.0; 9], 0.01, 3).is_empty());
        assert!(extreme_deviates(&[1.0, 9.0], 0.01, 3).is_empty());
        assert!(extreme_deviates(&[], 0.01, 3).is_empty());
        assert!(extreme_deviates(&[f64::NAN, f64::INFINITY, 1.0, 1.6, 2.0], 0.01, 3).is_empty());
    }
}
