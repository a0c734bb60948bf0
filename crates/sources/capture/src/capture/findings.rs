//! Findings about a recording, its frames and its pulses.

use super::{CRYSTAL_PPM, Options};
use crate::edge::{Method, Signal};
use crate::error::Place;
use crate::kinds::{FileFinding, PulseFinding};
use crate::observe::Collector;
use crate::pattern::Trouble;
use crate::read::{Recording, Remark};
use crate::short::Short;
use crate::signal::{locked_severity, signal_findings};
use hairspring_core::judge::{Finding, Severity};

/// A place as text.
pub(super) fn at(ticks: f64, hz: Option<f64>) -> String {
    hz.map_or(Place::Ticks(ticks), |hz| Place::Seconds(ticks / hz)).to_string()
}

/// Findings about a recording whose edges were read: damage, undefined levels, noise, overload.
pub fn recording_findings(recording: &Recording) -> Vec<Finding> {
    remarks(recording, recording.hz)
}

pub(super) fn remarks(recording: &Recording, hz: Option<f64>) -> Vec<Finding> {
    let kind = |remark: &Remark| match remark.clone() {
        Remark::Truncated { place, reason } => {
            (Severity::Warning, FileFinding::RecordingCut { place: place.to_string(), reason })
        }
        Remark::WrongSizes { stated, actual } => {
            (Severity::Note, FileFinding::SizesWrong { stated, found: actual })
        }
        Remark::Undefined { times, first } => {
            (Severity::Warning, FileFinding::LevelUndefined { times, first_at: at(first, hz) })
        }
        Remark::OtherChannels { taken, all } => {
            (Severity::Note, FileFinding::ChannelAssumed { taken, all })
        }
    };
    let of_file =
        recording.remarks.iter().map(kind).map(|(severity, kind)| Finding::new(severity, kind));
    of_file
        .chain(
            recording
                .signal
                .iter()
                .flat_map(|signal| signal_findings(signal, &|place| at(place, hz))),
        )
        .collect()
}

/// A finding if the file does not tell whether its clock is a crystal, and nothing else does.
pub(crate) fn unnamed(recording: &Recording, options: &Options) -> Option<Finding> {
    let is_known = recording.exact
        || options.rate_ppm.is_some()
        || options.reference.is_some()
        || options.crystal.is_some();
    (recording.unnamed && !is_known).then(|| {
        Finding::new(Severity::Warning, FileFinding::WriterUnknown { assumed_ppm: CRYSTAL_PPM })
    })
}

pub(super) fn too_short(short: Short, needed: f64, averaged: f64) -> Finding {
    let kind = PulseFinding::PulsesTooShort {
        rows: short.rows,
        of: short.of,
        samples: short.shortest / averaged,
        needed,
        left_out: short.left_out,
    };
    Finding::new(if short.left_out { Severity::Warning } else { Severity::Untrusted }, kind)
}

pub(super) fn doubts(
    collector: &Collector,
    outside: u64,
    method: Method,
    recording: &Recording,
    hz: Option<f64>,
) -> Vec<Finding> {
    let mut all_findings = Vec::new();
    if let Some(first) = collector.problems.first() {
        let kind = PulseFinding::FramesLeftOut {
            left_out: collector.left_out,
            frames: collector.left_out + collector.frames,
            first_at: at(first.at, hz),
            reason: first.reason.clone(),
        };
        // A recording rarely ends with a complete frame.
        let only_the_end = collector.left_out == 1 && first.trouble == Trouble::Unfinished;
        all_findings.push(Finding::new(
            if only_the_end { Severity::Note } else { Severity::Warning },
            kind,
        ));
    }
    if outside > 0 {
        all_findings
            .push(Finding::new(Severity::Note, PulseFinding::PulsesOutside { pulses: outside }));
    }
    all_findings.extend(
        recording.signal.as_ref().and_then(|signal| phase_locked(collector, signal, method)),
    );
    all_findings
}

/// A finding if pulses begin at the same place between two samples, or may do so where that moves
/// the edges.
fn phase_locked(collector: &Collector, signal: &Signal, method: Method) -> Option<Finding> {
    let (coverage, severity) = (collector.phases().coverage(), locked_severity(signal, method));
    let matters = coverage.may_be_locked() && severity == Severity::Warning;
    let kind = PulseFinding::PhaseLocked {
        concentration: coverage.concentration(),
        is_sure: coverage.is_locked(),
    };
    (coverage.is_locked() || matters).then(|| Finding::new(severity, kind))
}
