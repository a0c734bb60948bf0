//! A series as it is shown.

use super::{Chosen, Terms};
use crate::change::{Found, FoundStep, Scale};
use crate::document::{LastEntry, LevelEntry, PointEntry, SeriesEntry, StepEntry};
use crate::store::{Machine, Point, Run};
use crate::take::{CORE_CYCLE, HOST};
use hairspring_core::Estimate;

/// A series with what was found in it.
pub fn entry(chosen: &Chosen, found: &Found, runs: &[Run], terms: &Terms) -> SeriesEntry {
    let level = terms.options.level;
    let percent = |size: f64| percent(found, size);
    let levels: Vec<LevelEntry> = found
        .levels
        .iter()
        .map(|one| LevelEntry {
            from: one.from,
            to: one.to,
            mean: mean(found, one.x, one.half, level),
        })
        .collect();
    SeriesEntry {
        name: chosen.key.name.clone(),
        component: chosen.key.component.clone(),
        unit: chosen.key.unit.clone(),
        code_hash: chosen.key.code.clone(),
        machine: in_words(&chosen.machine),
        count: chosen.points.len(),
        steps_are_shares: found.scale == Scale::Log,
        now: levels.last().map(|level| level.mean),
        steps: found.steps.iter().map(|one| step(one, chosen, found, runs, terms)).collect(),
        last: found.forecast.map(|one| LastEntry {
            value: found.value(one.x),
            expected: mean(found, one.expected, one.half, level),
            outside: false,
            chance: one.chance,
        }),
        smallest_step_percent: found.smallest.and_then(percent),
        noise_percent: percent(found.noise),
        between_runs_percent: percent(found.between),
        odd: found.odd.clone(),
        unused: found.unusable.len(),
        levels,
        points: if terms.with_points { points(chosen, found, runs) } else { Vec::new() },
    }
}

/// A size in percent, or as the difference that it is.
fn percent(found: &Found, size: f64) -> Option<f64> {
    let size = found.size(size);
    let shown = if found.scale == Scale::Log { 100.0 * size } else { size };
    shown.is_finite().then_some(shown)
}

fn mean(found: &Found, x: f64, half: f64, level: f64) -> Estimate {
    Estimate {
        value: found.value(x),
        low: found.value(x - half),
        high: found.value(x + half),
        level,
    }
}

/// A machine in words.
pub fn in_words(machine: &Machine) -> String {
    let guest = if machine.guest == Some(true) { "virtual machine" } else { "" };
    let model = if machine.model.is_empty() { "unknown machine" } else { &machine.model };
    let parts = [model, &machine.family, &machine.architecture, guest];
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(", ")
}

fn step(
    step: &FoundStep,
    chosen: &Chosen,
    found: &Found,
    runs: &[Run],
    terms: &Terms,
) -> StepEntry {
    let commit = |at: usize| runs[chosen.points[at].0].commit.clone();
    let size = |size: f64| percent(found, size).unwrap_or(f64::INFINITY);
    let first = (step.after + 1).min(step.at);
    StepEntry {
        rise_percent: Estimate {
            value: size(step.size),
            low: size(step.size - step.half),
            high: size(step.size + step.half),
            level: terms.options.level,
        },
        at: step.at,
        place: [first, step.up_to],
        after_commit: commit(step.after),
        at_commit: commit(step.at),
        up_to_commit: commit(step.up_to),
        chance: step.chance,
        new: step.points_behind <= terms.new_points && step.at > last_start(found),
        worse: (step.size > 0.0) != (chosen.key.unit == "hz"),
        of_host: false,
        past: false,
    }
}

/// No step before the last one is new.
fn last_start(found: &Found) -> usize {
    found.levels.iter().rev().nth(1).map_or(0, |level| level.from)
}

fn points(chosen: &Chosen, found: &Found, runs: &[Run]) -> Vec<PointEntry> {
    let finite = |number: f64| number.is_finite().then_some(number);
    let one = |(at, (run, _, point)): (usize, &(usize, usize, Point))| PointEntry {
        commit: runs[*run].commit.clone(),
        made_s: runs[*run].made,
        value: finite(point.value),
        low: finite(point.low),
        high: finite(point.high),
        used: !found.odd.contains(&at) && !found.unusable.contains(&at),
    };
    chosen.points.iter().enumerate().map(one).collect()
}

/// Names steps that the core clock of the machine has, too: at the same place, in nanoseconds, and
/// by the same share.
pub fn name_steps_of_hosts(all: &mut [SeriesEntry], chosen: &[Chosen]) {
    let is_host = |one: &Chosen| one.key.component == HOST && one.key.name == CORE_CYCLE;
    let ranks = |at: usize, step: &StepEntry| {
        let rank = |point: usize| chosen[at].points[point].1;
        (rank(step.place[0].saturating_sub(1)), rank(step.place[1]))
    };
    let hosts: Vec<(usize, (usize, usize), Estimate)> = (0..all.len())
        .filter(|at| is_host(&chosen[*at]))
        .flat_map(|at| {
            let machine = chosen[at].machine_number;
            let step = |step: &StepEntry| (machine, ranks(at, step), step.rise_percent);
            all[at].steps.iter().map(step).collect::<Vec<_>>()
        })
        .collect();
    for at in 0..all.len() {
        if all[at].unit != "ns" || !all[at].steps_are_shares {
            continue;
        }
        let machine = chosen[at].machine_number;
        for number in 0..all[at].steps.len() {
            let place = ranks(at, &all[at].steps[number]);
            let rise = all[at].steps[number].rise_percent;
            let is_same = |(of, host, size): &(usize, (usize, usize), Estimate)| {
                let apart = (size.value - rise.value).abs();
                *of == machine
                    && host.0 < place.1
                    && place.0 < host.1
                    && apart <= size.half_width() + rise.half_width()
            };
            all[at].steps[number].of_host = hosts.iter().any(is_same);
        }
    }
}

/// Which of the new steps and of the last points are told: no more than the wanted share of them is
/// expected by chance (Benjamini and Hochberg), among all series.
pub fn judge_new(all: &mut [SeriesEntry], terms: &Terms) {
    let share = terms.options.false_discoveries;
    let tests = all.iter().filter(|one| one.count > 1).count();
    let new = all.iter().flat_map(|one| &one.steps).filter(|step| step.new);
    let limit = largest_chance(new.map(|step| step.chance).collect(), tests, share);
    let last = all.iter().filter_map(|one| one.last.as_ref());
    let last_limit = largest_chance(last.map(|one| one.chance).collect(), tests, share);
    for one in all.iter_mut() {
        let least = if one.steps_are_shares { 100.0 * terms.threshold } else { 0.0 };
        for step in &mut one.steps {
            step.new &= step.chance <= limit;
            step.past = step.new && step.worse && !step.of_host && beyond(step, least);
        }
        if let Some(last) = &mut one.last {
            last.outside = last.chance <= last_limit;
        }
    }
}

/// Whether the whole interval of a step lies beyond a limit.
fn beyond(step: &StepEntry, least: f64) -> bool {
    let rise = &step.rise_percent;
    let worse = if rise.value > 0.0 { rise.low } else { -rise.high };
    worse > least
}

/// The largest of these probabilities that is told among so many tests.
fn largest_chance(mut chances: Vec<f64>, tests: usize, share: f64) -> f64 {
    chances.sort_unstable_by(f64::total_cmp);
    let of = tests.max(chances.len()).max(1) as f64;
    let is_told = |(at, chance): &(usize, &f64)| **chance <= share * (at + 1) as f64 / of;
    let told = chances.iter().enumerate().filter(is_told).map(|(_, chance)| *chance);
    told.fold(-1.0, f64::max)
}
