//! Readings that were taken in the order of their counts, each count once: the errors of neighbours
//! may be alike, and what moves slowly then moves the slope. Criterion takes its samples so. Rows
//! in random order, or repeated in rounds, do not have this doubt.

use crate::estimate::{CORRELATED_BLOCKS, SERIAL_LIMITS, Serial, Source};
use crate::finding::{Finding, Severity, code};
use crate::limit::{Basis, limits};
use crate::numbers;
use crate::observations::SeriesId;
use crate::stages::{Did, Stage, State};

limits! {
    /// Probability of a high correlation from which the interval is not trusted: it may be high, or
    /// the readings are too few to tell.
    MAY_BE_HIGH = 0.1, "probability",
        Basis::Simulated("intervals_hold_where_errors_of_neighbours_are_alike");
}

pub(crate) const STAGE: Stage = Stage {
    name: "order",
    question: "Are the errors of neighbours alike, where readings were taken in the order of their \
               counts?",
    needs: &[],
    limits: &[LIMITS, SERIAL_LIMITS],
    source: None,
    says,
};

/// Widens the noise of single readings by the correlation of their errors.
pub(crate) fn widen(state: &mut State) -> Did {
    let mut done = Vec::new();
    for series in state.all_series() {
        let Some(solution) = state.solution_mut(series) else { continue };
        let Some(serial) = solution.vector.serial.take() else { continue };
        for (entries, (factor, dof)) in solution.vector.entries.iter_mut().zip(&serial.wider) {
            for entry in entries.iter_mut().filter(|entry| entry.source == Source::Noise) {
                (entry.size, entry.dof) = (entry.size * factor, Some(*dof));
            }
        }
        let wider = serial.wider.first().map_or(1.0, |wider| wider.0);
        let widening = format!("correlation {:.2}, {wider:.2} times as wide", serial.correlation);
        done.push((series, widening));
        state.serial[usize::from(series)] = Some(serial);
    }
    Did::each(done, "the order of the readings is not that of their counts, or they are repeated")
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    state.serial[usize::from(series)].as_ref().and_then(finding).into_iter().collect()
}

fn finding(serial: &Serial) -> Option<Finding> {
    let (correlation, wider) = (serial.correlation, serial.wider.first()?.0);
    let severity = if serial.high >= MAY_BE_HIGH { Severity::Untrusted } else { Severity::Warning };
    let ordered = "the readings were taken in the order of their counts";
    let is_probable = serial.high >= 1.0 - serial.high;
    let message = if is_probable {
        format!(
            "{ordered}, and the errors of neighbours are alike (correlation {correlation:.2}): a \
             drift during the run would be taken for time of the code"
        )
    } else if serial.high >= MAY_BE_HIGH {
        format!(
            "{ordered}, and they do not exclude that the errors of neighbours are alike \
             (correlation {correlation:.2}, above 0.5 with a probability of {:.0} %)",
            100.0 * serial.high
        )
    } else {
        format!(
            "{ordered}, and the errors of neighbours are somewhat alike (correlation \
             {correlation:.2}): the interval is {wider:.1} times as wide as with independent ones"
        )
    };
    let is_said = severity == Severity::Untrusted || correlation > CORRELATED_BLOCKS;
    let remedy = "take more readings (50 or more), in random order or several for each count in \
                  turns, on a quieter machine";
    is_said.then(|| {
        Finding::of(severity, code::CORRELATED, message, numbers! { correlation, wider }, remedy)
    })
}
