//! Finds the edges in a stream of samples, in memory that does not grow.

use super::kernel::Kernel;
use super::learn::Learnt;
use super::linearity::Shown;
use super::outgrown::Outgrown;
use super::overload::{Level, Overload};
use super::response::{Neighbours, Response, Stood, band_end, doubt, width};
use super::scale::{Averager, scale};
use super::signal::{ByDistance, Moved, Signal, Window};
use super::steepness::{Alone, Slopes, Steepness};
use super::tops::{Sizes, Top, tops};
use super::{Edge, Method};
use crate::error::{Error, Result};

/// Number of samples from which the size of an edge is learnt.
const LEARNING_SAMPLES: usize = 1 << 21;
/// Samples without an edge after which reading stops.
const MOST_SILENCE: u64 = 1 << 27;
/// Differences on either side of an edge beyond the kernel that are looked at, and samples beyond
/// those.
const DIFFERENCES_BEYOND: usize = 10;
const SPARE_SAMPLES: usize = 4;
/// Tops in noise reach this many of its standard deviations once in two million samples.
const ABOVE_NOISE: f64 = 6.0;
/// Smallest smoothed slope that can be an edge, as a share of the smallest difference.
const SMOOTHED_SLOPE: f64 = 0.25;
/// An edge is larger than this share of a typical one; a step between the two shares is weak and
/// reported.
const EDGE_SHARE: f64 = 0.5;
const WEAK_SHARE: f64 = 0.3;
/// Integers from this value on are at full scale, which is 1.
const FULL_SCALE: f32 = 0.9999;
/// Distance of other edges, in rises of an edge, at which the tail of a slow one is a quarter of a
/// percent.
const TAILS: f64 = 6.0;
/// Share by which edges of one direction differ in steepness with their place between the samples
/// if no filter is before the converter: measured up to 0.06, through a resistor and a capacitor of
/// half a sample.
const ALIASED_SHARE: f64 = 0.08;
/// Samples that are checked together.
const STRIDE: usize = 64;
/// Differences on either side of a smoothed top among which the largest one is.
const NEAR_DIFFERENCES: usize = 3;

/// Samples that are used on either side of an edge.
fn margin(kernel: &Kernel) -> usize {
    // Levels are looked at up to 16 samples away for the narrowest kernel.
    (kernel.half() + DIFFERENCES_BEYOND + SPARE_SAMPLES)
        .max(16 * kernel.width().ceil() as usize + 2)
}

/// Index of the largest value.
fn largest(values: &[f64]) -> usize {
    values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(at, _)| at)
}

/// The tops that are edges: about as large as a typical one of their direction.
fn edges_of(all_tops: &[Top]) -> Vec<Top> {
    let Some(sizes) = Sizes::typical(all_tops) else { return Vec::new() };
    all_tops
        .iter()
        .filter(|top| top.slope.abs() >= EDGE_SHARE as f32 * sizes.of(top.slope > 0.0))
        .copied()
        .collect()
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
    /// The low pass of the edges, and the samples that are used on either side of one.
    kernel: Kernel,
    margin: usize,
    /// Typical smoothed slopes.
    sizes: Sizes,
    neighbours: Neighbours,
    /// How far the edges of a pulse may move each other where the step response is unknown, by
    /// their least distance in pending values.
    doubt: Vec<f64>,
    /// Pending samples, after `margin` processed ones; averages of several once edges are known to
    /// be slow.
    held_samples: Vec<f32>,
    averager: Averager,
    /// Samples before the first one that was averaged.
    start: u64,
    /// Index of the first value held.
    first: u64,
    /// Whether the input is complete.
    has_ended: bool,
    /// Place in `held_samples` from which on edges are looked for.
    next: usize,
    learnt: Option<Learnt>,
    outgrown: Outgrown,
    signal: Signal,
    middle: (f64, f64),
    heights: f64,
    run: u32,
    /// The full-scale value.
    full: f32,
    overload: Overload,
    steepness: Steepness,
}

impl Detector {
    /// A detector. `floor` is the smallest difference of two samples that can be an edge: a few
    /// steps of the converter.
    pub fn new(method: Method, floor: f64) -> Detector {
        let kernel = Kernel::new(1.0);
        Detector {
            method,
            floor,
            margin: margin(&kernel),
            kernel,
            sizes: Sizes { rising: 0.0, falling: 0.0 },
            neighbours: Neighbours::default(),
            doubt: Vec::new(),
            held_samples: Vec::new(),
            averager: Averager::new(1),
            start: 0,
            first: 0,
            has_ended: false,
            next: 0,
            learnt: None,
            outgrown: Outgrown::default(),
            signal: Signal::default(),
            middle: (0.0, 0.0),
            heights: 0.0,
            run: 0,
            full: FULL_SCALE,
            overload: Overload::default(),
            steepness: Steepness::default(),
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
        for part in samples.chunks(LEARNING_SAMPLES / 4) {
            self.look(part);
            self.averager.push(part, &mut self.held_samples);
            self.signal.samples += part.len() as u64;
            if self.learnt.is_none() && self.held_samples.len() >= LEARNING_SAMPLES {
                self.learn()?;
            }
            if self.learnt.is_some() {
                self.scan(self.held_samples.len().saturating_sub(self.margin), sink);
                self.outgrown.check()?;
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
                "no edge in {samples} samples: nothing rises above noise and drift, in one sample \
                 or over many; is it the right channel, and is the pin connected?"
            )));
        }
        self.has_ended = true;
        // After the end the level is assumed constant.
        let last = self.held_samples.last().copied().unwrap_or(0.0);
        self.held_samples.extend(std::iter::repeat_n(last, self.margin));
        self.scan(self.held_samples.len() - self.margin, sink);
        self.pass(None, sink);
        self.outgrown.check()
    }

    /// Properties of the signal; complete after `finish`.
    pub fn signal(&self) -> Signal {
        let mut signal = self.signal.clone();
        let n = signal.edges.max(1) as f64;
        signal.averaged = self.averager.every();
        signal.step = self.heights / n;
        signal.rise = signal.rise.max(self.rise(signal.step));
        signal.smoothed_rise = self
            .steepness
            .typical()
            .map_or(0.0, |top| signal.averaged as f64 * self.kernel.rise(signal.step / top));
        signal.is_filtered = self.full.is_finite();
        signal.overload = self.overload.lower_steps();
        let least_sure = if self.full.is_finite() { 0.0 } else { ALIASED_SHARE };
        signal.steepness_spread =
            Some(self.steepness.spread()).filter(|spread| *spread > least_sure).unwrap_or(0.0);
        (signal.height_spread, signal.bent) = (self.overload.spread(), self.overload.bent());
        match self.overload.shown(signal.quantum) {
            Shown::Bent(bend) => signal.bend_of_levels = bend,
            // Then the heights of slow edges only seem to follow their level.
            Shown::Linear => signal.bent = 0.0,
            Shown::Nothing => {}
        }
        let every = self.averager.every() as f64;
        signal.doubt =
            ByDistance { every, moved: self.doubt.iter().map(|moved| every * moved).collect() };
        signal.neighbours = self.neighbours.response().map(|response| Moved {
            edges: response.edges,
            reach: every * response.reach,
            most: every * self.neighbours.most,
            noise: every * response.noise,
            of_pulse: ByDistance {
                every,
                moved: response.by_distance().iter().map(|moved| every * moved).collect(),
            },
        });
        // Differences of two samples have twice the variance of one.
        signal.noise = self
            .learnt
            .and_then(|learnt| learnt.noise)
            .map(|noise| noise / std::f64::consts::SQRT_2);
        signal.wander = (self.middle.1 / n - (self.middle.0 / n).powi(2)).max(0.0).sqrt();
        signal
    }

    /// Samples that a typical edge takes: its height over its largest difference. Averages share
    /// that difference by chance, and have a rise of their own.
    fn rise(&self, step: f64) -> f64 {
        match self.learnt {
            Some(learnt) if self.averager.every() == 1 => step / learnt.peak,
            _ => 0.0,
        }
    }

    fn learn(&mut self) -> Result<()> {
        if self.set_scale() {
            return Ok(());
        }
        if self.signal.samples >= MOST_SILENCE {
            return Err(Error::Unusable(format!(
                "no edge in the first {} samples, so the rest is not read: is it the right \
                 channel, and is the pin connected?",
                self.signal.samples
            )));
        }
        self.next = self.held_samples.len() - self.margin;
        self.drop_done();
        Ok(())
    }

    /// Learns the size of an edge, and averages the pending samples if edges are slow. Returns
    /// whether there is an edge.
    fn set_scale(&mut self) -> bool {
        let Some(scale) = scale(&self.held_samples, self.floor) else { return false };
        self.outgrown = Outgrown::of(&self.held_samples, scale.learnt.peak);
        (self.learnt, self.signal.rise, self.signal.quantum) =
            (Some(scale.learnt), scale.rise, scale.quantum);
        if scale.every > 1 {
            let samples = std::mem::take(&mut self.held_samples);
            self.averager = Averager::new(scale.every);
            self.averager.push(&samples, &mut self.held_samples);
            (self.start, self.first, self.next) = (self.first, 0, self.next / scale.every);
        }
        self.set_kernel(&scale.learnt)
    }

    /// Learns where the signal's band ends, the typical slopes behind a kernel for it, and the step
    /// response. Returns whether there is an edge.
    fn set_kernel(&mut self, learnt: &Learnt) -> bool {
        // The differences of white noise have twice its variance.
        let least_slope = |kernel: &Kernel| {
            (SMOOTHED_SLOPE * self.floor)
                .max(ABOVE_NOISE * learnt.floor * kernel.noise() / std::f64::consts::SQRT_2)
        };
        let mut edges = tops(&self.held_samples, &self.kernel, least_slope(&self.kernel) as f32);
        edges = edges_of(&edges);
        self.signal.band_end = band_end(&self.held_samples, &edges, learnt.noise.unwrap_or(0.0));
        self.signal.width =
            if self.method == Method::BandLimited { width(self.signal.band_end) } else { 1.0 };
        if self.signal.width > 1.0 {
            self.kernel = Kernel::new(self.signal.width);
            self.margin = margin(&self.kernel);
            edges =
                edges_of(&tops(&self.held_samples, &self.kernel, least_slope(&self.kernel) as f32));
        }
        let Some(sizes) = Sizes::typical(&edges) else { return false };
        self.sizes = sizes;
        if self.method == Method::BandLimited {
            let place = |slopes: &[f64]| self.method.offset(slopes, &self.kernel);
            let response = match Response::learn(&self.held_samples, &edges, &self.kernel, place) {
                Stood::Alone(response) => response,
                Stood::Together => {
                    self.doubt = doubt(&self.held_samples, &edges, &self.kernel, place);
                    None
                }
            };
            self.neighbours = Neighbours::new(response);
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
                self.run =
                    if sample.is_finite() && sample.abs() >= self.full { self.run + 1 } else { 0 };
                if self.run == 3 {
                    self.signal.first_clipped.get_or_insert(index - 2);
                    self.signal.clipped += 2;
                }
                self.signal.clipped += u64::from(self.run >= 3);
            }
        }
    }

    /// Looks for edges whose largest smoothed slope begins before `end`.
    fn scan(&mut self, end: usize, sink: &mut dyn FnMut(Edge)) {
        if self.learnt.is_none() {
            return;
        }
        let (half, least_size) = (self.kernel.half(), WEAK_SHARE as f32 * self.sizes.least());
        let mut slopes = [0.0f32; STRIDE];
        while self.next + 1 < end {
            let stop = (self.next + STRIDE).min(end - 1);
            // A smoothed slope is a mean of differences: one of them is at least as large.
            let around = &self.held_samples
                [self.next.saturating_sub(half)..(stop + half + 1).min(self.held_samples.len())];
            let largest =
                around.windows(2).fold(0.0f32, |most, pair| most.max((pair[1] - pair[0]).abs()));
            let part = &mut slopes[..stop - self.next];
            if largest >= least_size {
                self.kernel.slopes(&self.held_samples, self.next, part);
            }
            let start = if largest < least_size {
                None
            } else {
                part.iter().position(|slope| slope.abs() >= self.weak(*slope > 0.0))
            };
            let Some(start) = start else {
                self.next = stop;
                continue;
            };
            match self.top(self.next + start, end) {
                Some((top, behind)) => {
                    self.pass_edge_at(top, sink);
                    self.next = behind;
                }
                // The stretch continues after the pending samples.
                None => return,
            }
        }
    }

    /// The smallest smoothed slope that is looked at.
    fn weak(&self, rising: bool) -> f32 {
        WEAK_SHARE as f32 * self.sizes.of(rising)
    }

    /// The largest smoothed slope of a stretch of one sign, and where the stretch ends.
    fn top(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let first = self.kernel.slope_at(&self.held_samples, start);
        let (sign, least_slope) = (first.signum(), 0.5 * self.weak(first > 0.0));
        let (mut top, mut at) = ((start, sign * first), start);
        while at + 1 < end.max(start + 2) {
            let slope = sign * self.kernel.slope_at(&self.held_samples, at);
            if slope < least_slope {
                break;
            }
            if slope > top.1 {
                top = (at, slope);
            }
            at += 1;
        }
        // A very long stretch is cut to bound the pending samples.
        let whole = at + 1 < end
            || at - start > LEARNING_SAMPLES / 8
            || end + self.margin == self.held_samples.len() && self.has_ended;
        whole.then_some((top.0, at.max(start + 1)))
    }

    fn pass_edge_at(&mut self, top: usize, sink: &mut dyn FnMut(Edge)) {
        let rising = self.kernel.slope_at(&self.held_samples, top) > 0.0;
        let sign = if rising { 1.0 } else { -1.0 };
        let slopes = self.slopes(top, sign);
        let (middle, typical) = (slopes.len() / 2, f64::from(self.sizes.of(rising)));
        let size = self.kernel.value(&slopes, middle);
        // Methods with few points begin at the largest difference.
        let top = if self.method == Method::BandLimited {
            top
        } else {
            top + largest(&slopes[middle - NEAR_DIFFERENCES..=middle + NEAR_DIFFERENCES])
                - NEAR_DIFFERENCES
        };
        let offset = self.method.offset(&self.slopes(top, sign), &self.kernel);
        let edge = Edge { at: self.first as f64 + top as f64 + 0.5 + offset, rising };
        if size < EDGE_SHARE * typical {
            // The ringing of a larger edge nearby is not an edge.
            let near = (self.kernel.half()..slopes.len() - self.kernel.half())
                .map(|at| self.kernel.value(&slopes, at).abs());
            if near.fold(0.0, f64::max) < 2.0 * size {
                self.signal.weak += 1;
                let place = self.place(edge.at);
                self.signal.first_weak.get_or_insert(place);
            }
            return;
        }
        self.note(top, edge);
        self.compare(&self.slopes(top, sign), edge, offset);
        self.pass(Some(edge), sink);
    }

    /// Passes an edge on, by way of the correction by its neighbours; without one, those that wait
    /// for it.
    fn pass(&mut self, edge: Option<Edge>, sink: &mut dyn FnMut(Edge)) {
        let mut neighbours = std::mem::take(&mut self.neighbours);
        let mut placed = |edge: Edge| sink(Edge { at: self.place(edge.at), ..edge });
        match edge {
            Some(edge) => neighbours.push(edge, &mut placed),
            None => neighbours.finish(&mut placed),
        }
        self.neighbours = neighbours;
    }

    /// First differences around a top times a sign, as many as a method needs; those beyond the
    /// signal are 0.
    fn slopes(&self, top: usize, sign: f64) -> Vec<f64> {
        let reach = self.kernel.half() + DIFFERENCES_BEYOND;
        let slope = |n: usize| {
            let at = (top + n).checked_sub(reach)?;
            let pair = Some((self.held_samples.get(at)?, self.held_samples.get(at + 1)?));
            pair.map(|(left, right)| sign * (f64::from(*right) - f64::from(*left)))
        };
        (0..=2 * reach).map(|n| slope(n).unwrap_or(0.0)).collect()
    }

    fn note(&mut self, top: usize, measured: Edge) {
        let edge = Edge { at: self.place(measured.at), ..measured };
        // Levels are means at fixed distances from the edge, not from a sample: the tail of a slow
        // edge would change them with its place between the samples.
        let place = (measured.at - self.first as f64 - 0.5).max(0.0);
        let (base, share) = (place as usize, place.fract());
        let sample = |at: usize| f64::from(self.held_samples[at.min(self.held_samples.len() - 1)]);
        let mean = |range: std::ops::Range<usize>| {
            let sum: f64 = range.clone().map(sample).sum();
            (sum + share * (sample(range.end) - sample(range.start))) / range.len().max(1) as f64
        };
        // Distances grow with the kernel, and so does the ringing.
        let wide = self.kernel.width().ceil() as usize;
        let before = |from: usize, to: usize| {
            mean(base.saturating_sub(from * wide)..base.saturating_sub(to * wide))
        };
        let after = |from: usize, to: usize| mean(base + from * wide..base + to * wide);
        let (before, after) = (
            Level { near: before(8, 3), far: before(14, 8) },
            Level { near: after(5, 10), far: after(10, 16) },
        );
        self.overload.push(edge.at, (wide * self.averager.every()) as f64, before, after);
        let (before, after) = (before.near, after.near);
        self.outgrown.push(edge.at, (after - before).abs(), (self.heights, self.signal.edges));
        self.signal.cut_steps += u64::from(before.abs().max(after.abs()) >= f64::from(self.full));
        let middle = 0.5 * (before + after);
        self.middle = (self.middle.0 + middle, self.middle.1 + middle * middle);
        self.heights += (after - before).abs();
        self.signal.edges += 1;
        if self.signal.window.is_none() && top >= self.margin {
            let from = top - self.margin;
            let samples = self.held_samples
                [from..(top + self.margin + 2).min(self.held_samples.len())]
                .to_vec();
            let (first, every) =
                (self.place(self.first as f64 + from as f64), self.averager.every() as f64);
            self.signal.window = Some(Window { first, every, samples, edge });
        }
    }

    /// Compares the steepness of an edge with that of others; `offset` is its place from the middle
    /// of the slopes.
    fn compare(&mut self, slopes: &[f64], edge: Edge, offset: f64) {
        let (middle, every) = (slopes.len() / 2, self.averager.every() as f64);
        // Simpson's rule from the middle to the edge.
        let bend = |at: f64| self.kernel.bend(slopes, middle as f64 + at * offset);
        let top = self.kernel.value(slopes, middle)
            + offset / 6.0 * (bend(0.0) + 4.0 * bend(0.5) + bend(1.0));
        let before = self.kernel.value(slopes, middle - DIFFERENCES_BEYOND);
        let (tails, half) = (TAILS * self.signal.rise, self.kernel.half() as f64);
        let alone = Alone {
            before: tails.max(every * (half + DIFFERENCES_BEYOND as f64)),
            after: tails.max(every * half),
        };
        self.steepness.push(self.place(edge.at), edge.rising, Slopes { top, before }, alone);
    }

    fn drop_done(&mut self) {
        let done = self.next.saturating_sub(self.margin);
        self.held_samples.drain(..done);
        self.first += done as u64;
        self.next -= done;
    }
}
