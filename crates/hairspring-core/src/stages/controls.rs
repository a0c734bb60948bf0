//! Chains of known length that ran in the same rounds: what they miss of their lengths, times of code may miss too. A process on the other hardware
//! thread slows some chains and not others. A chain of the code waits as they do; independent copies fill units of the core, of which the chains
//! need few, and are slowed by much more.

use crate::estimate::{Entry, Estimate, LayoutsAre, Source, combined};
use crate::finding::{Finding, Severity, code};
use crate::limit::{Basis, HALF_PRECISION, USUAL_PRECISION, limits};
use crate::numbers;
use crate::observations::{Occupancy, SeriesId};
use crate::stages::{Did, Stage, State, need};

limits! {
    /// So much of a chain's distance from its length is chance.
    BY_CHANCE = 0.5, "half-widths", Basis::Derived("some of several chains are always off by chance");
}

pub(crate) const STAGE: Stage = Stage {
    name: "controls",
    question: "Do chains of known length have their lengths?",
    needs: &[need::REFERENCE, need::CONTROLS],
    limits: &[LIMITS],
    source: Some(Source::Controls),
    says,
};

/// The measured length of a control chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Control {
    /// Core cycles of one copy, as measured.
    pub cycles: Estimate,
    /// Core cycles of one copy, as known.
    pub length: f64,
}

impl Control {
    fn off(&self) -> f64 {
        (self.cycles.value - self.length).abs()
    }

    /// The distance from its length as a bound for the times of code, as a share: less what it may be off by chance.
    fn distance(&self) -> f64 {
        ((self.off() - BY_CHANCE * self.cycles.half_width()) / self.length).max(0.0)
    }

    /// Whether it surely does not have its length, by so much that there is a finding.
    pub fn is_doubted(&self) -> bool {
        control_finding(&self.cycles, self.length, None).is_some()
    }
}

/// Adds the largest distance of a control from its length to all times. It is an error of the unit that all times are compared with, so that it
/// cancels in a ratio.
pub(crate) fn widen(state: &mut State) -> Did {
    state.controls = state.table.origin.controls.iter().filter_map(|(name, length)| control(state, name, *length)).collect();
    let bound = state.controls.iter().map(Control::distance).fold(0.0, f64::max);
    if bound == 0.0 {
        return Did::nothing("they have");
    }
    for series in state.subjects() {
        let Some(solution) = state.solution_mut(series) else { continue };
        for unknown in 0..solution.vector.values.len() {
            solution.add(unknown, Entry::bound(Source::Controls, bound * solution.vector.values[unknown]).shared());
        }
    }
    Did::something(format!("one is off by up to {:.3} %", 100.0 * bound))
}

fn control(state: &State, name: &str, length: f64) -> Option<Control> {
    let (reference, of_reference) = state.reference()?;
    let (chain, ruler) = (state.solution(state.table.find_series(name)?)?, state.solution(reference)?);
    let per_tick = of_reference / ruler.vector.values[0];
    let cycles = chain.vector.values[0] * per_tick;
    let parts = [chain.part(0, per_tick), ruler.part(0, -cycles / ruler.vector.values[0])];
    Some(Control { cycles: combined(cycles, &parts, state.options.level, LayoutsAre::Fixed).estimate(state.options.level), length })
}

/// The most severe finding about the controls.
fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let occupancy = state.table.origin.occupancy_of(&state.table.series_names()[usize::from(series)]);
    let all = state.controls.iter().filter_map(|control| control_finding(&control.cycles, control.length, occupancy));
    all.max_by_key(|finding| finding.severity).into_iter().collect()
}

/// A finding if a control chain does not have its known length. The interval holds what it misses, and code that waits misses no more; where the
/// code fills units of the core, nobody knows by how much it was slowed.
pub fn control_finding(control: &Estimate, expected_cycles: f64, occupancy: Option<Occupancy>) -> Option<Finding> {
    let distance = (control.value - expected_cycles).abs();
    let off = distance / expected_cycles;
    let severity = match occupancy {
        Some(Occupancy::Waits) => Severity::Warning,
        Some(Occupancy::Fills) => Severity::Untrusted,
        None if off > USUAL_PRECISION => Severity::Untrusted,
        None => Severity::Warning,
    };
    (distance > control.half_width() && off > HALF_PRECISION).then(|| shared_finding(severity, control.value, expected_cycles))
}

/// The finding that something else used the core, by a chain of this length.
pub fn shared_finding(severity: Severity, control_cycles: f64, expected_cycles: f64) -> Finding {
    let unit = if expected_cycles == 1.0 { "cycle" } else { "cycles" };
    let message = format!(
        "a control chain of {expected_cycles} {unit} was measured as {control_cycles:.3}: something else used the core (for example a process on its other hardware thread), or slowed one chain and not the other"
    );
    let remedy = "measure again, on another CPU or a quieter machine";
    Finding::of(severity, code::CORE_SHARED, message, numbers! { control_cycles, expected_cycles }, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn severity(cycles: f64, occupancy: Option<Occupancy>) -> Option<Severity> {
        let measured = Estimate { value: cycles, low: cycles - 0.001, high: cycles + 0.001, level: 0.95 };
        control_finding(&measured, 1.0, occupancy).map(|finding| finding.severity)
    }

    #[test]
    fn a_control_that_is_off_is_in_the_interval_of_a_chain_and_not_in_that_of_independent_copies() {
        for (cycles, unknown) in [(1.004, None), (1.007, Some(Severity::Warning)), (1.05, Some(Severity::Untrusted))] {
            assert_eq!(severity(cycles, None), unknown);
            assert_eq!(severity(cycles, Some(Occupancy::Waits)), unknown.map(|_| Severity::Warning));
            assert_eq!(severity(cycles, Some(Occupancy::Fills)), unknown.map(|_| Severity::Untrusted));
        }
    }
}
