//! The steps of many series: the noise of each, moderated by that of its machine; the fit of each;
//! and how many of the steps may be false.
//!
//! The share of false steps among all is controlled as by Benjamini and Hochberg (1995): the level
//! of the tests is lowered until the steps that are expected by chance are no more than the wanted
//! share of those found. Their procedure is valid for errors that depend on each other positively,
//! as those of series from one run do, which a slow run makes slow together. That of Benjamini and
//! Yekutieli would hold for any dependence, at the price of a level that is lower by the logarithm
//! of the number of series.

use super::fit::{Sums, fit};
use super::multiscale::{quantile, thresholds};
use super::noise::{self, Departure, Usual};
use super::odd::odd;
use super::scale::{Scale, Scaled, scaled};
use super::student::{Student, Students};
use super::tail::MOST_POINTS;
use super::{Found, Input, Options, found};
use std::collections::HashMap;
use std::rc::Rc;

/// Level of the fit from which the noise is estimated. It may have a false step rather than miss
/// one, whose size would count as noise.
const LIBERAL: f64 = 0.2;
/// Points of the longest excursion from a level.
const LONGEST_EXCURSION: usize = 2;
/// Levels that are no further apart are the same, in standard deviations.
const SAME_LEVEL: f64 = 4.0;
/// Most lowerings of the level.
const MOST_ROUNDS: usize = 50;

/// A series on its scale, without odd points.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    pub scale: Scale,
    /// The points that are used, and which of the readings they are.
    pub points: Vec<Scaled>,
    pub readings: Vec<usize>,
    pub odd: Vec<usize>,
    pub unusable: Vec<usize>,
    machine: usize,
    pub variances: Vec<f64>,
    /// Variance between runs.
    pub between: f64,
    pub student: Rc<Student>,
    pub middle: f64,
    pub starts: Vec<usize>,
}

/// The steps of all series, in their order.
pub fn find(inputs: &[Input], options: &Options) -> Vec<Found> {
    let mut all: Vec<Prepared> = inputs.iter().map(prepare).collect();
    let mut students = Students::default();
    first_guess(&mut all, &mut students);
    all.iter_mut().for_each(leave_out_odd);
    all.iter_mut().for_each(|one| one.fit_without_excursions(LIBERAL));
    estimate_noise(&mut all, &mut students);
    all.iter_mut().for_each(leave_out_odd);
    let alarm = fit_all(&mut all, options.false_discoveries);
    all.iter().map(|one| found::found(one, alarm, options)).collect()
}

fn prepare(input: &Input) -> Prepared {
    let (scale, points) = scaled(&input.readings);
    let readings: Vec<usize> = (0..points.len()).filter(|at| points[*at].is_some()).collect();
    let unusable = (0..points.len()).filter(|at| points[*at].is_none()).collect();
    let points: Vec<Scaled> = points.into_iter().flatten().collect();
    let mut sorted: Vec<f64> = points.iter().map(|point| point.x).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    Prepared {
        scale,
        readings,
        odd: Vec::new(),
        unusable,
        machine: input.machine,
        variances: Vec::new(),
        between: 0.0,
        student: Rc::new(Student::new(f64::INFINITY)),
        middle: sorted.get(sorted.len() / 2).copied().unwrap_or(0.0),
        starts: Vec::new(),
        points,
    }
}

/// Series of one machine on the scale of logarithms, where they can be compared; every other series
/// is alone.
fn groups(all: &[Prepared]) -> Vec<Vec<usize>> {
    let mut groups: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
    for (at, one) in all.iter().enumerate().filter(|(_, one)| one.points.len() > 1) {
        let alone = if one.scale == Scale::Log { 0 } else { at + 1 };
        groups.entry((one.machine, alone)).or_default().push(at);
    }
    let enough = |group: Vec<usize>| -> Vec<Vec<usize>> {
        if group.len() >= noise::FEWEST_SERIES {
            vec![group]
        } else {
            group.into_iter().map(|at| vec![at]).collect()
        }
    };
    groups.into_values().flat_map(enough).collect()
}

/// The noise by differences of neighbours, before any step is known.
fn first_guess(all: &mut [Prepared], students: &mut Students) {
    for group in groups(all) {
        let of = |at: &usize| noise::differences(&all[*at].points);
        let differences: Vec<_> = group.iter().flat_map(of).collect();
        let (between, dof) = (noise::by_differences(&differences), 0.5 * differences.len() as f64);
        group.iter().for_each(|at| all[*at].set_noise(between, 1.0, students.of(dof)));
    }
    all.iter_mut().filter(|one| one.variances.is_empty()).for_each(|one| {
        one.set_noise(0.0, 1.0, students.of(1.0));
    });
}

/// The noise by the departures from the levels of the first fit.
fn estimate_noise(all: &mut [Prepared], students: &mut Students) {
    for group in groups(all) {
        let departures: Vec<_> = group.iter().map(|at| all[*at].departures()).collect();
        let dof = |at: usize| all[at].dof();
        let pooled: Vec<Departure> = departures.iter().flatten().copied().collect();
        let dofs: f64 = group.iter().map(|at| dof(*at)).sum();
        let between = noise::by_departures(&pooled, dofs);
        let factors: Vec<(f64, f64)> = group
            .iter()
            .zip(&departures)
            .map(|(at, own)| (factor(own, between, dof(*at)), dof(*at)))
            .collect();
        let usual = noise::usual(&factors);
        for (at, (factor, dof)) in group.iter().zip(factors) {
            let moderated = |usual: Usual| usual.moderated(factor, dof);
            let (factor, dof) = usual.map_or((1.0, dof), moderated);
            all[*at].set_noise(between, factor, students.of(dof));
        }
    }
}

/// The departures of a series over what they should be.
fn factor(departures: &[Departure], between: f64, dof: f64) -> f64 {
    let ratio = |one: &Departure| one.square / (one.own + between).max(f64::MIN_POSITIVE);
    if dof > 0.0 { departures.iter().map(ratio).sum::<f64>() / dof } else { 1.0 }
}

/// Leaves out the odd points of a series.
fn leave_out_odd(one: &mut Prepared) {
    let is_odd = odd(&one.points, &one.variances, &one.student);
    one.leave_out(&is_odd);
}

/// Fits all series at a level at which the steps are false in no more than a share of them; gives
/// the level.
fn fit_all(all: &mut [Prepared], share: f64) -> f64 {
    let tests = all.iter().filter(|one| one.points.len() > 1).count().max(1) as f64;
    let mut alarm = share;
    all.iter_mut().for_each(|one| one.fit_without_excursions(alarm));
    for _ in 0..MOST_ROUNDS {
        let steps: usize = all.iter().map(Prepared::confirmed).sum();
        let more: usize = all.iter().map(|one| one.confirmed().saturating_sub(1)).sum();
        let next = share * steps.max(1) as f64 / (tests + more as f64);
        if next >= alarm {
            break;
        }
        alarm = next;
        all.iter_mut().filter(|one| one.starts.len() > 1).for_each(|one| {
            one.fit_without_excursions(alarm);
        });
    }
    alarm
}

impl Prepared {
    fn set_noise(&mut self, between: f64, factor: f64, student: Rc<Student>) {
        let is_log = self.scale == Scale::Log;
        self.between = (factor * between).max(0.0);
        self.variances = noise::variances(&self.points, between, factor, is_log);
        self.student = student;
    }

    /// Sums of the points.
    pub fn sums(&self) -> Sums {
        Sums::new(&self.points, &self.variances, self.middle)
    }

    /// The points that a test looks at.
    pub fn of(&self) -> usize {
        self.points.len().clamp(1, MOST_POINTS)
    }

    /// Fits levels at which the test raises a false alarm with this probability.
    fn fit(&mut self, alarm: f64) {
        let of = self.of();
        let parts = self.points.len().div_ceil(of).max(1) as f64;
        let limits = thresholds(quantile(alarm / parts, of), of, of, &self.student);
        self.starts = in_parts(&self.sums(), &limits, of);
    }

    /// Leaves points out.
    fn leave_out(&mut self, which: &[bool]) {
        let kept = || which.iter().map(|one| !one);
        self.odd
            .extend(self.readings.iter().zip(which).filter(|(_, one)| **one).map(|(at, _)| *at));
        self.odd.sort_unstable();
        let mut keep = kept();
        self.points.retain(|_| keep.next().unwrap_or(true));
        let mut keep = kept();
        self.readings.retain(|_| keep.next().unwrap_or(true));
        let mut keep = kept();
        self.variances.retain(|_| keep.next().unwrap_or(true));
    }

    /// Fits levels, and leaves out those of one or two points between levels that are the same: a
    /// change of the code does not end so soon where it began, a disturbance of the machine does.
    fn fit_without_excursions(&mut self, alarm: f64) {
        self.fit(alarm);
        let excursions = self.excursions();
        if excursions.iter().any(|one| *one) {
            self.leave_out(&excursions);
            self.fit(alarm);
        }
    }

    fn excursions(&self) -> Vec<bool> {
        let (sums, n) = (self.sums(), self.points.len());
        let mut ends = self.starts.clone();
        ends.push(n);
        let mut found = vec![false; n];
        for ends in ends.windows(4) {
            let apart = (sums.mean(ends[0], ends[1]) - sums.mean(ends[2], ends[3])).abs();
            let spread = 1.0 / sums.weight(ends[0], ends[1]) + 1.0 / sums.weight(ends[2], ends[3]);
            let is_same = apart <= self.student.widened(SAME_LEVEL) * spread.sqrt();
            if ends[2] - ends[1] <= LONGEST_EXCURSION && is_same {
                found[ends[1]..ends[2]].fill(true);
            }
        }
        found
    }

    /// The number of steps with at least two points behind the last one.
    fn confirmed(&self) -> usize {
        let is_single = self.starts.last().is_some_and(|last| last + 1 == self.points.len());
        self.starts.len().saturating_sub(1 + usize::from(is_single))
    }

    fn dof(&self) -> f64 {
        self.points.len().saturating_sub(self.starts.len()) as f64
    }

    /// How far the points lie from their levels.
    fn departures(&self) -> Vec<Departure> {
        let sums = self.sums();
        let mut ends = self.starts.clone();
        ends.push(self.points.len());
        let of = |pair: &[usize]| {
            let level = sums.mean(pair[0], pair[1]) + self.middle;
            let one = move |point: &Scaled| Departure {
                square: (point.x - level) * (point.x - level),
                own: point.sd * point.sd,
            };
            self.points[pair[0]..pair[1]].iter().map(one).collect::<Vec<_>>()
        };
        ends.windows(2).flat_map(of).collect()
    }
}

/// The fit of a series that may be longer than what is looked at at once: the next part starts at
/// the last level of the one before, or in the middle of it.
fn in_parts(sums: &Sums, limits: &[f64], longest: usize) -> Vec<usize> {
    let (n, mut from) = (sums.count(), 0);
    let mut starts = vec![0];
    loop {
        let to = (from + longest).min(n);
        let part = fit(&sums.part(from, to), limits);
        starts.extend(part.iter().skip(1).map(|at| from + at));
        if to == n {
            break;
        }
        // A step near the end of a part is looked for again in the next one, which knows more.
        let unsure = to - longest / 8;
        while starts[starts.len() - 1] > unsure {
            starts.pop();
        }
        from = starts[starts.len() - 1].max(from + longest / 2);
    }
    starts.truncate(if n == 0 { 0 } else { starts.len() });
    starts
}
