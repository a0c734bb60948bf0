//! Finds the edges in a stream of samples, in memory that does not grow.

use super::learn::Learnt;
use super::overload::Overload;
use super::scale::{Averager, scale};
use super::{Edge, Method, REACH};
use crate::error::{Error, Result};

/// Number of samples from which the size of an edge is learnt.
const LEARN: usize = 1 << 21;
/// Samples without an edge after which reading stops.
const MOST_SILENCE: u64 = 1 << 27;
/// Samples used on either side of an edge.
const MARGIN: usize = REACH + 4;
/// An edge is larger than this share of a typical one; a step between the two shares is weak and reported.
const EDGE_SHARE: f64 = 0.5;
const WEAK_SHARE: f64 = 0.3;
/// Integers from this value on are at full scale, which is 1.
const FULL_SCALE: f32 = 0.9999;
/// Samples that are checked together.
const STRIDE: usize = 64;

/// Samples around an edge, for a picture of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Place of the first value, in samples.
    pub first: f64,
    /// Samples from one value to the next: 1, or as many as are averaged.
    pub every: f64,
    /// The values.
    pub samples: Vec<f32>,
    /// The edge.
    pub edge: Edge,
}

/// Properties of a sampled signal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Signal {
    /// Samples read.
    pub samples: u64,
    /// Edges found.
    pub edges: u64,
    /// Height of a step, in units of the samples; full scale of integers is 1.
    pub step: f64,
    /// Standard deviation of the noise far from edges, in the same unit; `None` if the edges are too dense.
    pub noise: Option<f64>,
    /// Standard deviation of the middle of the steps: hum, or a drift of the level.
    pub wander: f64,
    /// Samples at full scale, several in a row, and the first of them.
    pub clipped: u64,
    /// Index of the first such sample.
    pub first_clipped: Option<u64>,
    /// Steps too small for an edge and too large for noise.
    pub weak: u64,
    /// Where the first of them is, in samples.
    pub first_weak: Option<f64>,
    /// Samples that are NaN or infinite.
    pub not_numbers: u64,
    /// Index of the first of them.
    pub first_not_number: Option<u64>,
    /// Steps that are lower than others because the signal was cut before the converter, and the place of the first.
    pub overload: Option<(u64, f64)>,
    /// Samples that a typical edge takes: height over largest difference.
    pub rise: f64,
    /// Samples that are averaged because an edge rises over many; else 1.
    pub averaged: usize,
    /// The first edge with the samples around it.
    pub window: Option<Window>,
}

/// Finds edges in samples that come in blocks.
///
/// ```
/// use hairspring_capture::edge::{Detector, Method};
/// let mut signal = vec![-0.25f32; 200];
/// signal[100..].fill(0.25);
/// let (mut detector, mut edges) = (Detector::new(Method::BandLimited, 0.001), Vec::new());
/// detector.push(&signal, &mut |edge| edges.push(edge)).unwrap();
/// detector.finish(&mut |edge| edges.push(edge)).unwrap();
/// assert!(edges.len() == 1 && edges[0].rising && (edges[0].at - 99.5).abs() < 1e-6);
/// ```
#[derive(Debug)]
pub struct Detector {
    method: Method,
    floor: f64,
    /// Pending samples, after `MARGIN` processed ones; averages of several once edges are known to be slow.
    held: Vec<f32>,
    averager: Averager,
    /// Samples before the first one that was averaged.
    start: u64,
    /// Index of the first value held.
    first: u64,
    /// Whether the input is complete.
    ended: bool,
    /// Place in `held` from which on edges are looked for.
    next: usize,
    learnt: Option<Learnt>,
    signal: Signal,
    middle: (f64, f64),
    heights: f64,
    run: u32,
    /// The full-scale value.
    full: f32,
    overload: Overload,
}

impl Detector {
    /// A detector. `floor` is the smallest difference of two samples that can be an edge: a few steps of the converter.
    pub fn new(method: Method, floor: f64) -> Detector {
        Detector {
            method,
            floor,
            held: Vec::new(),
            averager: Averager::new(1),
            start: 0,
            first: 0,
            ended: false,
            next: 0,
            learnt: None,
            signal: Signal::default(),
            middle: (0.0, 0.0),
            heights: 0.0,
            run: 0,
            full: FULL_SCALE,
            overload: Overload::default(),
        }
    }

    /// A detector for volts, whose full scale is unknown.
    pub fn for_volts(method: Method, floor: f64) -> Detector {
        Detector { full: f32::INFINITY, ..Detector::new(method, floor) }
    }

    /// Takes samples and passes the complete edges to `sink`.
    ///
    /// # Errors
    /// [`Error::Unusable`] if there was no edge in the first 2^27 samples.
    pub fn push(&mut self, samples: &[f32], sink: &mut dyn FnMut(Edge)) -> Result<()> {
        for part in samples.chunks(LEARN / 4) {
            self.look(part);
            self.averager.push(part, &mut self.held);
            self.signal.samples += part.len() as u64;
            if self.learnt.is_none() && self.held.len() >= LEARN {
                self.learn()?;
            }
            if self.learnt.is_some() {
                self.scan(self.held.len().saturating_sub(MARGIN), sink);
                self.drop_done();
            }
        }
        Ok(())
    }

    /// Passes the remaining edges to `sink`.
    ///
    /// # Errors
    /// [`Error::Unusable`] if there is no edge in the signal.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Edge)) -> Result<()> {
        if self.learnt.is_none() && !self.set_scale() {
            let samples = self.signal.samples;
            return Err(Error::Unusable(format!(
                "no edge in {samples} samples: nothing rises above noise and drift, in one sample or over many; is it the right channel, and is the pin connected?"
            )));
        }
        self.ended = true;
        // After the end the level is assumed constant.
        let last = self.held.last().copied().unwrap_or(0.0);
        self.held.extend(std::iter::repeat_n(last, MARGIN));
        self.scan(self.held.len() - MARGIN, sink);
        Ok(())
    }

    /// Properties of the signal; complete after `finish`.
    pub fn signal(&self) -> Signal {
        let mut signal = self.signal.clone();
        let n = signal.edges.max(1) as f64;
        signal.averaged = self.averager.every();
        signal.step = self.heights / n;
        signal.overload = self.overload.found();
        // Differences of two samples have twice the variance of one.
        signal.noise = self.learnt.and_then(|learnt| learnt.noise).map(|noise| noise / std::f64::consts::SQRT_2);
        signal.wander = (self.middle.1 / n - (self.middle.0 / n).powi(2)).max(0.0).sqrt();
        signal
    }

    fn learn(&mut self) -> Result<()> {
        if self.set_scale() {
            return Ok(());
        }
        if self.signal.samples >= MOST_SILENCE {
            return Err(Error::Unusable(format!(
                "no edge in the first {} samples, so the rest is not read: is it the right channel, and is the pin connected?",
                self.signal.samples
            )));
        }
        self.next = self.held.len() - MARGIN;
        self.drop_done();
        Ok(())
    }

    /// Learns the size of an edge, and averages the pending samples if edges are slow. Returns whether there is an edge.
    fn set_scale(&mut self) -> bool {
        let Some(scale) = scale(&self.held, self.floor) else { return false };
        (self.learnt, self.signal.rise) = (Some(scale.learnt), scale.rise);
        if scale.every > 1 {
            let samples = std::mem::take(&mut self.held);
            self.averager = Averager::new(scale.every);
            self.averager.push(&samples, &mut self.held);
            (self.start, self.first, self.next) = (self.first, 0, self.next / scale.every);
        }
        true
    }

    /// The place in samples of a place in the pending values.
    fn place(&self, at: f64) -> f64 {
        let every = self.averager.every() as f64;
        self.start as f64 + every * at + 0.5 * (every - 1.0)
    }

    /// Counts samples at full scale and those that are NaN or infinite.
    fn look(&mut self, samples: &[f32]) {
        for (block, part) in samples.chunks(STRIDE).enumerate() {
            // NaN compares as not below the limit.
            let plain = part.iter().fold(true, |plain, sample| plain & (sample.abs() < self.full));
            if plain && self.run == 0 {
                continue;
            }
            for (at, sample) in part.iter().enumerate() {
                let index = self.signal.samples + (block * STRIDE + at) as u64;
                if !sample.is_finite() {
                    self.signal.not_numbers += 1;
                    self.signal.first_not_number.get_or_insert(index);
                }
                self.run = if sample.is_finite() && sample.abs() >= self.full { self.run + 1 } else { 0 };
                if self.run == 3 {
                    self.signal.first_clipped.get_or_insert(index - 2);
                    self.signal.clipped += 2;
                }
                self.signal.clipped += u64::from(self.run >= 3);
            }
        }
    }

    /// Looks for edges whose largest difference begins before `end`.
    fn scan(&mut self, end: usize, sink: &mut dyn FnMut(Edge)) {
        let Some(learnt) = self.learnt else { return };
        let least = (WEAK_SHARE * learnt.peak) as f32;
        while self.next + 1 < end {
            let stop = (self.next + STRIDE).min(end - 1);
            let part = &self.held[self.next..=stop];
            let largest = part.windows(2).fold(0.0f32, |most, pair| most.max((pair[1] - pair[0]).abs()));
            if largest < least {
                self.next = stop;
                continue;
            }
            let start = part.windows(2).position(|pair| (pair[1] - pair[0]).abs() >= least).unwrap_or(0) + self.next;
            match self.top(start, least, end) {
                Some((top, behind)) => {
                    self.found(top, learnt.peak, sink);
                    self.next = behind;
                }
                // The stretch continues after the pending samples.
                None => return,
            }
        }
    }

    /// The largest difference of a stretch of one sign, and where the stretch ends.
    fn top(&self, start: usize, least: f32, end: usize) -> Option<(usize, usize)> {
        let slope = |at: usize| self.held[at + 1] - self.held[at];
        let sign = slope(start).signum();
        let (mut top, mut at) = (start, start);
        while at + 1 < end.max(start + 2) && sign * slope(at) >= 0.5 * least {
            if sign * slope(at) > sign * slope(top) {
                top = at;
            }
            at += 1;
        }
        // A very long stretch is cut to bound the pending samples.
        let whole = at + 1 < end || at - start > LEARN / 8 || end + MARGIN == self.held.len() && self.ended;
        whole.then_some((top, at.max(start + 1)))
    }

    fn found(&mut self, top: usize, typical: f64, sink: &mut dyn FnMut(Edge)) {
        let rising = self.held[top + 1] > self.held[top];
        let slopes = self.slopes(top, if rising { 1.0 } else { -1.0 });
        // Between samples the slope is larger than at them: the sum of two neighbours gives the size at any phase.
        let size = slopes[REACH];
        let at = self.place(self.first as f64 + top as f64 + 0.5 + self.method.offset(&slopes));
        if size < EDGE_SHARE * typical {
            // The ringing of a larger edge nearby is not an edge.
            let larger = slopes.iter().fold(0.0f64, |most, slope| most.max(slope.abs()));
            if larger < 2.0 * size {
                self.signal.weak += 1;
                self.signal.first_weak.get_or_insert(at);
            }
            return;
        }
        let edge = Edge { at, rising };
        self.note(top, edge);
        sink(edge);
    }

    fn slopes(&self, top: usize, sign: f64) -> [f64; 2 * REACH + 1] {
        std::array::from_fn(|n| {
            let at = (top + n).checked_sub(REACH);
            let pair = at.and_then(|at| Some((self.held.get(at)?, self.held.get(at + 1)?)));
            pair.map_or(0.0, |(left, right)| sign * (f64::from(*right) - f64::from(*left)))
        })
    }

    fn note(&mut self, top: usize, edge: Edge) {
        let mean = |range: std::ops::Range<usize>| {
            let part = &self.held[range.start.min(self.held.len() - 1)..range.end.clamp(1, self.held.len())];
            part.iter().map(|sample| f64::from(*sample)).sum::<f64>() / part.len().max(1) as f64
        };
        let (before, after) = (mean(top.saturating_sub(8)..top.saturating_sub(3)), mean(top + 5..top + 10));
        let far = (mean(top.saturating_sub(14)..top.saturating_sub(8)), mean(top + 10..top + 16));
        self.overload.push(edge.at, [before, far.0], [after, far.1]);
        let middle = 0.5 * (before + after);
        self.middle = (self.middle.0 + middle, self.middle.1 + middle * middle);
        self.heights += (after - before).abs();
        self.signal.edges += 1;
        if self.signal.window.is_none() && top >= MARGIN {
            let from = top - MARGIN;
            let samples = self.held[from..(top + MARGIN + 2).min(self.held.len())].to_vec();
            let (first, every) = (self.place(self.first as f64 + from as f64), self.averager.every() as f64);
            self.signal.window = Some(Window { first, every, samples, edge });
        }
    }

    fn drop_done(&mut self) {
        let done = self.next.saturating_sub(MARGIN);
        self.held.drain(..done);
        self.first += done as u64;
        self.next -= done;
    }
}
