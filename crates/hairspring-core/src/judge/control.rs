//! A control chain: a dependent chain of known length, whose measured length tells whether something else used the core.

use crate::estimate::Estimate;
use crate::observations::{Observations, SeriesId};

/// A control chain that is off its length by more than this share, and by more than its interval, shows a neighbour ...
const DISTURBED: f64 = 0.001;
/// ... and so does one whose interval is wider than this share: on a calm core it is narrower within the first batch.
const WIDE: f64 = 0.005;
/// Half-widths that a control chain in a part of a run is off, for a neighbour to be sure.
const SURELY: f64 = 2.0;
/// Core cycles by which the time of a row may differ from the line of a chain on a calm core: chains begin and end within a cycle of the
/// clock reads. It is the same in every run, so the interval of a chain with few rows does not include it.
const OFFSET_CYCLES: f64 = 1.0;

/// The measured length of a control chain.
#[derive(Debug, Clone)]
pub(super) struct Control {
    /// Core cycles of one copy, as measured.
    pub cycles: Estimate,
    /// Core cycles of one copy, as known.
    pub length: f64,
    /// Core cycles by which the longest row exceeds the shortest.
    span: f64,
}

impl Control {
    /// A control chain whose time was measured from the rows of this series.
    pub fn new(table: &Observations, series: SeriesId, cycles: Estimate, length: f64) -> Control {
        let copies = table.rows_of(series).filter_map(|(_, row)| row.counts.first());
        let (fewest, most) = copies.fold((f64::INFINITY, 0.0_f64), |(fewest, most), copies| (fewest.min(*copies), most.max(*copies)));
        Control { cycles, length, span: (most - fewest).max(0.0) * length }
    }

    fn off(&self) -> f64 {
        (self.cycles.value - self.length).abs()
    }

    /// The distance from its length as a share of it.
    pub fn excess(&self) -> f64 {
        (self.cycles.value / self.length - 1.0).abs()
    }

    /// The same, as a bound for the times of code: all of the distance if it is certain, and otherwise less half of its half-width, because
    /// some of several chains are always off by chance.
    pub fn distance(&self) -> f64 {
        let (off, half) = (self.off(), self.cycles.half_width());
        (if off > half { off } else { off - half / 2.0 }) / self.length
    }

    /// Whether it does not have its length, or is not known well enough to say.
    pub fn is_off(&self) -> bool {
        self.is_missed() || self.cycles.half_width() > WIDE * self.length
    }

    /// Whether it does not have its length.
    pub fn is_missed(&self) -> bool {
        self.off() > DISTURBED * self.length && self.off() > self.cycles.half_width()
    }

    /// Whether it does not have its length, by more than its rows may be off the line on a calm core.
    pub fn is_missed_beyond_offsets(&self) -> bool {
        self.is_missed() && self.excess() * self.span > OFFSET_CYCLES
    }

    /// Whether it is off in a part of a run, which is so short that the chains have wide intervals and that one of several is often off its
    /// length by chance.
    pub fn is_surely_off(&self) -> bool {
        self.off() > WIDE * self.length && self.off() > SURELY * self.cycles.half_width()
    }
}
