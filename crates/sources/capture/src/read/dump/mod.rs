//! What the dumps of simulators have in common, in whichever format: variables in scopes, what
//! wrote them, and the level of one bit.

mod level;
mod names;
mod writer;

pub(super) use level::{Levels, MOST_TIME, level_of_port};
pub(super) use names::{Declared, Names, Variable, ends_of};
pub(super) use writer::Origin;

use super::{Format, Recording, Remark};
use writer::Writer;

/// Properties of a dump whose channel was read, with the ticks per second that it states.
pub(super) fn recording(
    format: Format,
    channel: &str,
    hz: Option<f64>,
    origin: &Origin,
    levels: &Levels,
) -> Recording {
    let (times, first) = levels.changes.undefined;
    // Stamps are the times of samples, rounded.
    let ticks_per_sample = hz.zip(origin.sample_hz).map_or(1.0, |(hz, samples)| hz / samples);
    Recording {
        format: Some(format),
        channel: channel.to_owned(),
        hz,
        rate_ppm: None,
        granularity: Some(ticks_per_sample.max(1.0)),
        exact: origin.writer == Writer::Simulator,
        unnamed: origin.writer == Writer::Unknown && origin.sample_hz.is_none(),
        edges: levels.changes.edges,
        signal: None,
        remarks: if times > 0 { vec![Remark::Undefined { times, first }] } else { Vec::new() },
    }
}
