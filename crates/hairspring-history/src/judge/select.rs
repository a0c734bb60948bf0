//! Which points make a series: those of one name, component and code on one machine, in the unit
//! that most of them have.

use crate::change::{Input, Reading};
use crate::store::{Machine, Point, Run, SeriesKey};
use std::collections::HashMap;

/// A point with the place of its run in the list of runs, and in their order.
pub type Placed = (usize, usize, Point);

/// A series on a machine, with its points in the order of the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The series.
    pub key: SeriesKey,
    /// A number for each machine ...
    pub machine_number: usize,
    /// ... and the machine.
    pub machine: Machine,
    /// The points in the order of the runs.
    pub points: Vec<Placed>,
}

/// Which series are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Parts of names; empty for all.
    pub names: Vec<String>,
}

impl Wanted {
    /// Whether a series is shown.
    pub fn takes(&self, chosen: &Chosen) -> bool {
        let title = format!("{} {}", chosen.key.name, chosen.key.component);
        self.names.is_empty() || self.names.iter().any(|name| title.contains(name.as_str()))
    }
}

impl Chosen {
    /// Its points as numbers. Those that are not to be trusted have none.
    pub fn input(&self) -> Input {
        let reading = |(_, _, point): &(usize, usize, Point)| Reading {
            value: if point.trusted { point.value } else { f64::NAN },
            low: point.low,
            high: point.high,
            level: point.level,
        };
        Input { machine: self.machine_number, readings: self.points.iter().map(reading).collect() }
    }
}

/// The series of all points. `order` has the places of the runs in their order.
pub fn choose(
    series: &[(i64, SeriesKey)],
    points: &[Point],
    runs: &[Run],
    order: &[usize],
) -> Vec<Chosen> {
    let keys: HashMap<i64, &SeriesKey> = series.iter().map(|(id, key)| (*id, key)).collect();
    let mut places = HashMap::with_capacity(order.len());
    for (rank, at) in order.iter().enumerate() {
        places.insert(runs[*at].id, (rank, *at));
    }
    let machines = machines(runs);
    let mut all: HashMap<(i64, usize), Vec<Placed>> = HashMap::new();
    for point in points {
        if let Some((rank, at)) = places.get(&point.run) {
            all.entry((point.series, machines[*at])).or_default().push((*at, *rank, *point));
        }
    }
    let mut chosen: Vec<Chosen> = all
        .into_iter()
        .filter_map(|((series, machine_number), mut points)| {
            points.sort_unstable_by_key(|(_, rank, _)| *rank);
            let machine = runs[points.first()?.0].machine.clone();
            Some(Chosen { key: (*keys.get(&series)?).clone(), machine_number, machine, points })
        })
        .collect();
    chosen.sort_by(|a, b| (&a.key, a.machine_number).cmp(&(&b.key, b.machine_number)));
    in_one_unit(chosen)
}

/// A number for the machine of each run.
fn machines(runs: &[Run]) -> Vec<usize> {
    let mut known: Vec<&Machine> = Vec::new();
    let mut number = |machine| {
        known.iter().position(|one| *one == machine).unwrap_or_else(|| {
            known.push(machine);
            known.len() - 1
        })
    };
    runs.iter().map(|run| number(&run.machine)).collect()
}

/// Of series that differ in the unit alone, the one with most points; of those with as many, the
/// one in cycles, which do not change with the core clock.
fn in_one_unit(chosen: Vec<Chosen>) -> Vec<Chosen> {
    let worth = |one: &Chosen| (one.points.len(), one.key.unit == "cycles");
    let is_same = |a: &Chosen, b: &Chosen| {
        let parts = |one: &Chosen| (one.key.name.clone(), one.key.component.clone());
        parts(a) == parts(b) && a.key.code == b.key.code && a.machine_number == b.machine_number
    };
    let mut kept: Vec<Chosen> = Vec::new();
    let mut from = 0;
    for one in chosen {
        // Only those of the same name and component lie behind `from`.
        if kept.get(from).is_some_and(|first| {
            (&first.key.name, &first.key.component) != (&one.key.name, &one.key.component)
        }) {
            from = kept.len();
        }
        match kept[from..].iter_mut().find(|other| is_same(other, &one)) {
            Some(other) if worth(&one) > worth(other) => *other = one,
            Some(_) => {}
            None => kept.push(one),
        }
    }
    kept
}
