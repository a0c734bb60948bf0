//! The step response of the recorder, measured from edges that stand alone: where the signal ends
//! in its band, and what an edge does to the place of another one.
//!
//! An upsampled recording, or a filter that ends far below half the sample rate, rings at
//! frequencies that the narrowest kernel passes. A slow edge through a resistor and a capacitor has
//! a tail that no kernel takes away. Both are linear: what one edge adds to the smoothed slope at
//! another one is known, and the place of that edge is corrected by it.

use super::Edge;
use super::kernel::Kernel;
use super::tops::Top;
use hairspring_core::math::{cos, sin, sin_cos};
use std::collections::VecDeque;
use std::f64::consts::{PI, TAU};

/// Differences on either side of an edge for its spectrum.
const WINDOW: usize = 32;
/// The band ends where the power has fallen to this share of that at low frequencies.
const ENDS: f64 = 0.01;
/// End of the band for which the narrowest kernel is made, as a share of the sample rate.
const FULL_BAND: f64 = 0.48;
/// A band that ends above this share needs no wider kernel; the widest kernel.
const NEARLY_FULL: f64 = 0.42;
const WIDEST_KERNEL: f64 = 4.0;
/// Least and most edges of a direction that are averaged.
const LEAST_EDGES: usize = 16;
const MOST_EDGES: usize = 400;
/// Distance up to which edges affect each other at most, in samples for the narrowest kernel, and
/// the table's step.
const FARTHEST_DISTANCE: f64 = 40.0;
const STEP: f64 = 0.25;
/// Effects on a place below this number of samples are not corrected, nor those below this many
/// standard deviations of the table.
const SMALL_EFFECT: f64 = 1e-3;
const SURE_DEVIATIONS: f64 = 5.0;
/// Distance from another edge, as a share of the kernel's reach, at which its own slope is not
/// seen.
const CLEAR_DISTANCE: f64 = 1.5;
/// Edges beyond those of a pulse itself, whose distances also change with its count, may move its
/// edges as far again.
const BEYOND_EDGES: f64 = 2.0;
/// Largest correction in samples.
const MOST_MOVED: f64 = 1.5;

/// Edges that stand alone: no other one is nearer than `distance`.
fn alone(tops: &[Top], distance: usize, end: usize) -> impl Iterator<Item = Top> + '_ {
    let far = move |at: usize| {
        let before = at.checked_sub(1).map_or(0, |before| tops[before].at);
        let after = tops.get(at + 1).map_or(end, |after| after.at);
        tops[at].at > before + distance && tops[at].at + distance < after
    };
    (0..tops.len()).filter(move |at| far(*at)).map(|at| tops[at])
}

/// First differences around a top.
fn slopes(samples: &[f32], top: usize, reach: usize) -> Option<Vec<f64>> {
    let part = samples.get(top.checked_sub(reach)?..top + reach + 2)?;
    Some(part.windows(2).map(|pair| f64::from(pair[1]) - f64::from(pair[0])).collect())
}

/// The end of the signal's band as a share of the sample rate, by the spectrum of edges that stand
/// alone; 0.5 if too few do. `noise` is the standard deviation of the differences.
pub fn band_end(samples: &[f32], tops: &[Top], noise: f64) -> f64 {
    let size = 2 * WINDOW + 1;
    let taper: Vec<f64> = (0..size)
        .map(|n| cos(PI * (n as f64 - WINDOW as f64) / (size as f64 + 1.0)).powi(2))
        .collect();
    let (mut power, mut edges) = (vec![0.0; WINDOW + 1], 0usize);
    for slopes in alone(tops, WINDOW + 1, samples.len())
        .take(MOST_EDGES)
        .filter_map(|top| slopes(samples, top.at, WINDOW))
    {
        edges += 1;
        for (bin, power) in power.iter_mut().enumerate() {
            let step = TAU * bin as f64 / (2 * WINDOW) as f64;
            let (mut re, mut im) = (0.0, 0.0);
            for (n, (slope, taper)) in slopes.iter().zip(&taper).enumerate() {
                let (sin, cos) = sin_cos(step * n as f64);
                (re, im) = (re + slope * taper * cos, im + slope * taper * sin);
            }
            *power += re * re + im * im;
        }
    }
    if edges < LEAST_EDGES {
        return 0.5;
    }
    let tapered: f64 = taper.iter().map(|taper| taper * taper).sum();
    // White noise of samples has differences whose power grows with the frequency.
    let white = |bin: usize| {
        2.0 * noise * noise * tapered * sin(PI * bin as f64 / (2 * WINDOW) as f64).powi(2)
    };
    let low = power[..3].iter().copied().fold(0.0, f64::max) / edges as f64;
    let ends = (0..=WINDOW)
        .rev()
        .find(|bin| power[*bin] / edges as f64 > ENDS * low + 4.0 * white(*bin))
        .unwrap_or(WINDOW);
    ends as f64 / (2 * WINDOW) as f64
}

/// The width of the kernel for a band that ends there.
pub fn width(band_end: f64) -> f64 {
    if band_end >= NEARLY_FULL { 1.0 } else { (FULL_BAND / band_end).min(WIDEST_KERNEL) }
}

/// Whether enough edges stand alone to measure what they do to each other.
#[derive(Debug, Clone)]
pub enum Stood {
    /// Enough; the response, if edges move each other.
    Alone(Option<Response>),
    /// Too few.
    Together,
}

/// What edges do to the places of others.
#[derive(Debug, Clone)]
pub struct Response {
    /// Derivative of the smoothed slope by the distance from the edge, for rising and falling
    /// edges; signs as for a rising one.
    tables: [Vec<f64>; 2],
    /// Distance of the tables' ends.
    farthest: f64,
    /// Distance up to which an edge moves another one.
    pub reach: f64,
    /// Standard deviation of a correction, in samples.
    pub noise: f64,
    /// Edges that the response is measured from.
    pub edges: usize,
}

impl Response {
    /// The response by edges that stand alone.
    pub fn learn(
        samples: &[f32],
        tops: &[Top],
        kernel: &Kernel,
        place: impl Fn(&[f64]) -> f64,
    ) -> Stood {
        let farthest = (FARTHEST_DISTANCE * kernel.width().sqrt()).ceil();
        let window = farthest as usize + kernel.half() + 4;
        let points = (2.0 * farthest / STEP) as usize + 1;
        let (mut tables, mut noise, mut edges) = ([Vec::new(), Vec::new()], 0.0f64, 0);
        for (rising, table) in [true, false].into_iter().zip(&mut tables) {
            let (mut sums, mut squares, mut n) = (vec![0.0; points], vec![0.0; points], 0);
            let own_tops = alone(tops, farthest as usize + kernel.half() / 2, samples.len())
                .filter(|top| (top.slope > 0.0) == rising);
            for mut slopes in
                own_tops.take(MOST_EDGES).filter_map(|top| slopes(samples, top.at, window))
            {
                slopes.iter_mut().for_each(|slope| *slope *= if rising { 1.0 } else { -1.0 });
                let middle = window as f64 + place(&slopes);
                for (at, (sum, square)) in sums.iter_mut().zip(&mut squares).enumerate() {
                    let bend = kernel.bend(&slopes, middle + at as f64 * STEP - farthest);
                    (*sum, *square) = (*sum + bend, *square + bend * bend);
                }
                n += 1;
            }
            if n < LEAST_EDGES {
                return Stood::Together;
            }
            let n = f64::from(n as u32);
            let variance =
                |(sum, square): (&f64, &f64)| (square / n - (sum / n).powi(2)).max(0.0) / n;
            // Far from the edge, where only noise differs from edge to edge.
            noise = noise.max(
                sums.iter().zip(&squares).take(points / 8).map(variance).sum::<f64>()
                    / (points / 8) as f64,
            );
            *table = sums.iter().map(|sum| sum / n).collect();
            edges += n as usize;
        }
        Stood::Alone(Response { tables, farthest, reach: 0.0, noise, edges }.reached())
    }

    /// With its noise and its reach in samples, from the variance of the tables; `None` if edges do
    /// not move each other.
    fn reached(mut self) -> Option<Response> {
        let curvature = self.curvature(true).min(self.curvature(false));
        if curvature <= 0.0 {
            return None;
        }
        self.noise = self.noise.sqrt() / curvature;
        let effect = |at: usize| {
            self.tables.iter().map(|table| table[at].abs()).fold(0.0, f64::max) / curvature
        };
        let (limit, points) =
            (SMALL_EFFECT.max(SURE_DEVIATIONS * self.noise), self.tables[0].len());
        let far =
            (0..points / 2).find(|at| effect(*at) > limit || effect(points - 1 - at) > limit)?;
        self.reach = self.farthest - far as f64 * STEP;
        Some(self)
    }

    /// How far the two edges of a pulse move each other, in samples, by the least distance of the
    /// two in whole samples.
    pub fn by_distance(&self) -> Vec<f64> {
        let curvature = self.curvature(true).min(self.curvature(false));
        let effect =
            |far: f64| self.bend(true, far).abs().max(self.bend(false, far).abs()) / curvature;
        let distances = || (0..=self.reach.ceil() as u32).map(f64::from);
        by_least_distance(distances().map(|far| effect(-far)), distances().map(effect))
    }

    fn table(&self, rising: bool) -> &[f64] {
        &self.tables[usize::from(!rising)]
    }

    /// The derivative at a distance from an edge, by a cubic through four points.
    fn bend(&self, rising: bool, distance: f64) -> f64 {
        let place = (distance + self.farthest) / STEP;
        let (at, t, table) = (place.floor() as usize, place.fract(), self.table(rising));
        if !(1.0..(table.len() - 3) as f64).contains(&place) {
            return 0.0;
        }
        let [a, b, c, d] = [table[at - 1], table[at], table[at + 1], table[at + 2]];
        b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)))
    }

    fn curvature(&self, rising: bool) -> f64 {
        (self.bend(rising, -STEP) - self.bend(rising, STEP)) / (2.0 * STEP)
    }

    /// How far others move an edge.
    fn moved(&self, edge: Edge, other_edges: impl Iterator<Item = Edge>) -> f64 {
        let near = other_edges.filter(|other| (edge.at - other.at).abs() <= self.reach);
        let added: f64 = near
            .map(|other_edge| {
                self.bend(other_edge.rising, edge.at - other_edge.at)
                    * if other_edge.rising == edge.rising { 1.0 } else { -1.0 }
            })
            .sum();
        if added == 0.0 {
            return 0.0;
        }
        // The place where the derivative of the edge alone is what takes the others' away.
        let mut moved = added / self.curvature(edge.rising);
        for _ in 0..6 {
            let slope = (self.bend(edge.rising, moved + STEP)
                - self.bend(edge.rising, moved - STEP))
                / (2.0 * STEP);
            if slope >= 0.0 || moved.abs() > MOST_MOVED {
                break;
            }
            moved -= (self.bend(edge.rising, moved) + added) / slope;
        }
        moved.clamp(-MOST_MOVED, MOST_MOVED)
    }
}

/// How far the two edges of a pulse may move each other, in samples, where too few edges stand
/// alone to measure the step response: by the least distance of the two in whole samples; empty if
/// noise hides it.
///
/// Seen from edges of one direction, each distance is averaged over those whose next edge is
/// farther on that side. What still farther edges add is a part of the average.
pub fn doubt(
    samples: &[f32],
    tops: &[Top],
    kernel: &Kernel,
    place: impl Fn(&[f64]) -> f64,
) -> Vec<f64> {
    let farthest = (FARTHEST_DISTANCE * kernel.width().sqrt()).ceil() as usize;
    let window = farthest + kernel.half() + 4;
    // Effects by side, direction and distance.
    let mut effects = [[(); 2]; 2].map(|sides| sides.map(|()| vec![Mean::default(); farthest + 1]));
    let mut curvatures = [Mean::default(); 2];
    for (n, top) in tops.iter().enumerate().take(4 * MOST_EDGES) {
        let Some(mut slopes) = slopes(samples, top.at, window) else { continue };
        let sign = f64::from(top.slope.signum());
        slopes.iter_mut().for_each(|slope| *slope *= sign);
        let middle = window as f64 + place(&slopes);
        curvatures[usize::from(sign < 0.0)].push(
            (kernel.bend(&slopes, middle - STEP) - kernel.bend(&slopes, middle + STEP))
                / (2.0 * STEP),
        );
        let before = top.at - n.checked_sub(1).map_or(0, |before| tops[before].at);
        let after = tops.get(n + 1).map_or(samples.len(), |after| after.at) - top.at;
        for ((free, side), effects) in [(before, -1.0), (after, 1.0)].into_iter().zip(&mut effects)
        {
            let clear = free
                .saturating_sub((CLEAR_DISTANCE * kernel.half() as f64) as usize)
                .min(farthest + 1);
            let own_effects = &mut effects[usize::from(sign < 0.0)];
            own_effects.iter_mut().enumerate().take(clear).for_each(|(far, mean)| {
                mean.push(kernel.bend(&slopes, middle + side * far as f64))
            });
        }
    }
    let curvature =
        curvatures.map(|mean| mean.sum / mean.number).into_iter().fold(f64::INFINITY, f64::min);
    let sure = |far: usize, side: usize| {
        effects[side]
            .iter()
            .map(|means| means[far].surely() * BEYOND_EDGES / curvature)
            .fold(0.0, f64::max)
    };
    let all_effects = by_least_distance(
        (0..=farthest).map(|far| sure(far, 0)),
        (0..=farthest).map(|far| sure(far, 1)),
    );
    if curvature > 0.0 { all_effects } else { Vec::new() }
}

/// The sum of the largest effects on either side, at these distances or farther.
fn by_least_distance(
    before: impl Iterator<Item = f64>,
    after: impl Iterator<Item = f64>,
) -> Vec<f64> {
    let (mut all_effects, mut least_effects): (Vec<(f64, f64)>, _) =
        (before.zip(after).collect(), (0.0f64, 0.0f64));
    for (before, after) in all_effects.iter_mut().rev() {
        least_effects = (least_effects.0.max(*before), least_effects.1.max(*after));
        (*before, *after) = least_effects;
    }
    all_effects.into_iter().map(|(before, after)| before + after).collect()
}

/// A mean with its scatter.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: f64,
    squares: f64,
    number: f64,
}

impl Mean {
    fn push(&mut self, value: f64) {
        *self = Mean {
            sum: self.sum + value,
            squares: self.squares + value * value,
            number: self.number + 1.0,
        };
    }

    /// Size of the mean; 0 if chance may have made it, or for too few values.
    fn surely(&self) -> f64 {
        let mean = self.sum / self.number;
        let error = ((self.squares / self.number - mean * mean).max(0.0) / self.number).sqrt();
        if self.number < LEAST_EDGES as f64 || mean.abs() < SURE_DEVIATIONS * error {
            0.0
        } else {
            mean.abs()
        }
    }
}

/// Corrects edges by their neighbours, one after the other.
#[derive(Debug, Default)]
pub struct Neighbours {
    response: Option<Response>,
    /// Edges that were passed on and those that wait for neighbours, by their measured places.
    held_edges: VecDeque<Edge>,
    /// Number of those that were passed on.
    passed: usize,
    /// Largest correction, in samples.
    pub most: f64,
}

impl Neighbours {
    /// Corrections by a response; without one none is made.
    pub fn new(response: Option<Response>) -> Neighbours {
        Neighbours { response, ..Neighbours::default() }
    }

    /// The response, if one was measured.
    pub fn response(&self) -> Option<&Response> {
        self.response.as_ref()
    }

    /// Takes an edge and passes on those whose neighbours are all known.
    pub fn push(&mut self, edge: Edge, sink: &mut dyn FnMut(Edge)) {
        let Some(reach) = self.response.as_ref().map(|response| response.reach) else {
            return sink(edge);
        };
        self.held_edges.push_back(edge);
        while self.held_edges.get(self.passed).is_some_and(|waiting| edge.at - waiting.at > reach) {
            self.pass(reach, sink);
        }
    }

    /// Passes on the remaining edges.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Edge)) {
        let reach = self.response.as_ref().map_or(0.0, |response| response.reach);
        while self.passed < self.held_edges.len() {
            self.pass(reach, sink);
        }
    }

    /// Passes on the first edge that waits.
    fn pass(&mut self, reach: f64, sink: &mut dyn FnMut(Edge)) {
        let (Some(edge), Some(response)) =
            (self.held_edges.get(self.passed).copied(), &self.response)
        else {
            return;
        };
        let at = self.passed;
        let moved = response.moved(
            edge,
            self.held_edges
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, other)| *other),
        );
        self.most = self.most.max(moved.abs());
        sink(Edge { at: edge.at - moved, ..edge });
        self.passed += 1;
        while self
            .held_edges
            .front()
            .is_some_and(|first| self.passed > 0 && edge.at - first.at > reach)
        {
            self.held_edges.pop_front();
            self.passed -= 1;
        }
    }
}
