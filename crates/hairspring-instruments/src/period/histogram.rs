//! A histogram of bounded size: bins of one width, and counts of values outside of them.

/// Most bins of a histogram; bins are widened if more would be needed.
const MOST_BINS: f64 = 100_000.0;

/// Counts of values in bins of one width, in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    low_ns: f64,
    bin_ns: f64,
    bins: Vec<u64>,
    below: u64,
    above: u64,
}

impl Histogram {
    /// Bins from `low_ns` to at least `high_ns`, widened if there would be more than 100,000 of
    /// them.
    pub fn new(low_ns: f64, high_ns: f64, bin_ns: f64) -> Histogram {
        let bin_ns = bin_ns.max((high_ns - low_ns) / MOST_BINS);
        let count = ((high_ns - low_ns) / bin_ns - 1e-9).ceil().max(1.0) as usize;
        Histogram { low_ns, bin_ns, bins: vec![0; count], below: 0, above: 0 }
    }

    /// Counts a value.
    pub fn push(&mut self, ns: f64) {
        let place = (ns - self.low_ns) / self.bin_ns;
        if place < 0.0 {
            self.below += 1;
        } else if let Some(bin) = self.bins.get_mut(place as usize) {
            *bin += 1;
        } else {
            self.above += 1;
        }
    }

    /// Width of a bin.
    pub fn bin_ns(&self) -> f64 {
        self.bin_ns
    }

    /// Low end of the first bin and high end of the last one.
    pub fn range_ns(&self) -> (f64, f64) {
        (self.low_ns, self.low_ns + self.bin_ns * self.bins.len() as f64)
    }

    /// Values below all bins.
    pub fn below(&self) -> u64 {
        self.below
    }

    /// Values above all bins: the overflow.
    pub fn above(&self) -> u64 {
        self.above
    }

    /// Total number of values.
    pub fn count(&self) -> u64 {
        self.below + self.above + self.bins.iter().sum::<u64>()
    }

    /// Lower edge and count of every bin that is not empty.
    pub fn filled(&self) -> impl Iterator<Item = (f64, u64)> {
        let bins = self.bins.iter().enumerate().filter(|(_, count)| **count > 0);
        bins.map(|(at, count)| (self.low_ns + at as f64 * self.bin_ns, *count))
    }

    /// The quantile of this share, as the upper edge of its bin; `None` if it is in the overflow.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let wanted_values = (share * self.count() as f64).ceil().max(1.0) as u64;
        let mut seen_values = self.below;
        if seen_values >= wanted_values {
            return Some(self.low_ns);
        }
        let at = self.bins.iter().position(|count| {
            seen_values += count;
            seen_values >= wanted_values
        })?;
        Some(self.low_ns + (at + 1) as f64 * self.bin_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_counted_once() {
        let mut histogram = Histogram::new(0.0, 10.0, 2.0);
        for ns in [-0.5, 0.0, 1.9, 2.0, 9.9, 10.0, 1e9] {
            histogram.push(ns);
        }
        assert_eq!(histogram.filled().collect::<Vec<_>>(), [(0.0, 2), (2.0, 1), (8.0, 1)]);
        assert_eq!((histogram.below(), histogram.above(), histogram.count()), (1, 2, 7));
        assert_eq!(histogram.range_ns(), (0.0, 10.0));
    }

    #[test]
    fn quantiles_are_upper_edges_and_unknown_in_the_overflow() {
        let mut histogram = Histogram::new(0.0, 100.0, 1.0);
        (0..100).for_each(|ns| histogram.push(f64::from(ns)));
        histogram.push(1e6);
        assert_eq!(histogram.quantile(0.5), Some(51.0));
        assert_eq!(histogram.quantile(1.0), None);
    }

    #[test]
    fn its_size_is_bounded() {
        let histogram = Histogram::new(0.0, 1e12, 1.0);
        assert!(histogram.bins.len() <= 100_001 && histogram.bin_ns() >= 1e7);
    }
}
