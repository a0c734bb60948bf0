//! Sums over values from which their mean and variance follow. Values are best given as distances
//! from a number near to them.

/// The number of some values, their sum, and that of their squares.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moments {
    pub count: f64,
    pub sum: f64,
    pub squares: f64,
}

impl Moments {
    /// One value.
    #[inline]
    pub fn of(value: f64) -> Moments {
        Moments { count: 1.0, sum: value, squares: value * value }
    }

    /// Adds those of other values.
    #[inline]
    pub fn add(&mut self, other: &Moments) {
        *self = Moments {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        };
    }

    /// NaN for none.
    pub fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Sum of the squares of the distances from the mean.
    pub fn around_mean(&self) -> f64 {
        self.squares - self.sum * self.sum / self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::variance;

    #[test]
    fn mean_and_variance_are_those_of_the_values() {
        let values = [3.0, 4.5, -1.0, 7.25];
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments.add(&Moments::of(*value)));
        assert_eq!((moments.count, moments.mean()), (4.0, 3.4375));
        assert!((moments.around_mean() / 3.0 - variance(&values)).abs() < 1e-12);
        assert!(Moments::default().mean().is_nan());
    }
}
