//! How often each value occurred, in memory that does not grow: exact as long as few values differ,
//! as those of a recorder that counts samples do.

use std::collections::BTreeMap;

/// Most bins that are kept; then bins become twice as wide.
const MOST_BINS: usize = 1 << 15;

/// Counts of values in bins of one width, in ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// Width of a bin.
    width: f64,
    /// Half of the first width: a whole multiple of it lies in the middle of its bin.
    offset: f64,
    bins: BTreeMap<i64, u64>,
    total: u64,
}

/// A bin of a histogram, from its low end (inclusive) to its high end (exclusive).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Low end; below all values for the first bin, if it holds all smaller ones.
    pub low: f64,
    /// High end; above all values for the last bin, if it holds all larger ones.
    pub high: f64,
    /// Values in it.
    pub count: u64,
}

impl Counts {
    /// Bins of this width.
    pub fn new(width: f64) -> Counts {
        Counts { width, offset: width / 2.0, bins: BTreeMap::new(), total: 0 }
    }

    /// Counts a value.
    pub fn push(&mut self, value: f64) {
        *self.bins.entry(((value + self.offset) / self.width).floor() as i64).or_insert(0) += 1;
        self.total += 1;
        while self.bins.len() > MOST_BINS {
            self.widen();
        }
    }

    fn widen(&mut self) {
        let narrow = std::mem::take(&mut self.bins);
        self.width *= 2.0;
        for (bin, count) in narrow {
            *self.bins.entry(bin.div_euclid(2)).or_insert(0) += count;
        }
    }

    /// Width of a bin.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// The middle of the bin below which this share of the values is; `None` without values.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let wanted_values = (share * self.total as f64).ceil().max(1.0) as u64;
        let mut seen_values = 0;
        let bin = self.bins.iter().find(|(_, count)| {
            seen_values += **count;
            seen_values >= wanted_values
        })?;
        Some(self.low(*bin.0) + self.width / 2.0)
    }

    fn low(&self, bin: i64) -> f64 {
        bin as f64 * self.width - self.offset
    }

    /// At most this many bins of one width between the quantiles of these shares, and one for all
    /// smaller and one for all larger values where there are any.
    pub fn histogram(&self, most_bins: usize, (from, to): (f64, f64)) -> Vec<Bin> {
        let (Some(first), Some(last)) = (self.quantile(from), self.quantile(to)) else {
            return Vec::new();
        };
        let place = |value: f64| ((value + self.offset) / self.width).floor() as i64;
        let (first, last) = (place(first), place(last));
        let each = (last - first).max(0) / most_bins.max(1) as i64 + 1;
        let mut bins: BTreeMap<i64, u64> = BTreeMap::new();
        for (bin, count) in &self.bins {
            let own = if *bin > last { i64::MAX } else { (bin - first).div_euclid(each).max(-1) };
            *bins.entry(own).or_insert(0) += count;
        }
        for bin in 0..=(last - first) / each {
            bins.entry(bin).or_insert(0);
        }
        let low = |bin: i64| self.low(first + bin * each);
        let end = low((last - first) / each + 1);
        let bin = |(bin, count): (i64, u64)| match bin {
            -1 => Bin { low: f64::NEG_INFINITY, high: low(0), count },
            i64::MAX => Bin { low: end, high: f64::INFINITY, count },
            bin => Bin { low: low(bin), high: low(bin + 1), count },
        };
        bins.into_iter().map(bin).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_values_are_counted_exactly() {
        let mut counts = Counts::new(1.0);
        [7.0, 9.0, 9.0, 8.0, 9.0, 40.0].into_iter().for_each(|value| counts.push(value));
        assert_eq!(
            [0.0, 0.5, 0.8, 1.0].map(|share| counts.quantile(share)),
            [Some(7.0), Some(9.0), Some(9.0), Some(40.0)]
        );
        let bins = counts.histogram(8, (0.0, 0.8));
        let shown_bins: Vec<(f64, u64)> = bins.iter().map(|bin| (bin.low, bin.count)).collect();
        assert_eq!(shown_bins, [(6.5, 1), (7.5, 1), (8.5, 3), (9.5, 1)]);
        assert!(bins[3].high.is_infinite());
        assert_eq!(Counts::new(1.0).quantile(0.5), None);
        assert_eq!(Counts::new(1.0).histogram(8, (0.0, 1.0)), []);
    }

    #[test]
    fn memory_is_bounded() {
        let mut counts = Counts::new(1.0);
        (0..1_000_000u32).for_each(|n| counts.push(f64::from(n)));
        assert!(counts.bins.len() <= MOST_BINS && counts.width() == 32.0);
        let middle = counts.quantile(0.5).unwrap();
        assert!((middle - 500_000.0).abs() <= counts.width(), "{middle}");
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_bin_of_the_histogram(
            values in prop::collection::vec(-1e6..1e6f64, 1..300), most in 1..20usize
        ) {
            let mut counts = Counts::new(0.5);
            values.iter().for_each(|value| counts.push(*value));
            let bins = counts.histogram(most, (0.05, 0.95));
            for bin in &bins {
                let own = values.iter().filter(|v| (bin.low..bin.high).contains(*v)).count();
                prop_assert_eq!(own as u64, bin.count);
            }
            let all: u64 = bins.iter().map(|bin| bin.count).sum();
            prop_assert_eq!(all, values.len() as u64);
            prop_assert!(bins.len() <= most + 2);
            prop_assert!(bins.windows(2).all(|pair| pair[0].high == pair[1].low));
        }
    }
}
