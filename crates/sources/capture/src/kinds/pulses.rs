//! Findings about frames and pulses.

use hairspring_core::judge::words::counted;
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings about the frames and their pulses.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum PulseFinding {
    /// Frames with a missing or an extra pulse.
    FramesLeftOut { left_out: u32, frames: u32, first_at: String, reason: String },
    /// Pulses that are outliers in their row.
    PulsesDoubted { pulses: usize, of: usize },
    /// Pulses so short that their two edges shift each other.
    PulsesTooShort { rows: usize, of: usize, samples: f64, needed: f64, left_out: bool },
    /// Pulses outside of all frames.
    PulsesOutside { pulses: u64 },
    /// Pulses before the first whole round of a list and behind the last one.
    RoundsTrimmed { before: usize, after: usize },
    /// Edges that lie at the same place between two samples in every round, or too few rounds to
    /// know that they do not.
    PhaseLocked { concentration: f64, is_sure: bool },
    /// The overhead is significantly negative, as if the counts were `copies` too high.
    OverheadBelowZero {
        value: f64,
        unit: &'static str,
        copies: f64,
        component: String,
        first_pulse: String,
    },
}

impl Kind for PulseFinding {
    fn describe(self) -> Description {
        match self {
            PulseFinding::FramesLeftOut { left_out, frames, first_at, reason } => Description {
                code: "frames_left_out",
                message: format!(
                    "{left_out} of {frames} frames left out; the first {first_at}: {reason}"
                ),
                numbers: numbers! { left_out, frames, first_at, reason },
                remedy: "look at the signal there; none of these pulses is used",
            },
            PulseFinding::PulsesDoubted { pulses, of } => Description {
                code: "pulses_doubted",
                message: format!(
                    "{pulses} of {of} pulses are outliers among the pulses of the same k and left \
                     out"
                ),
                numbers: numbers! { pulses, of },
                remedy: "look at them (flag x in the observations): a glitch taken for a pulse, \
                         or an interrupt on the chip",
            },
            PulseFinding::PulsesTooShort { rows, of, samples, needed, left_out } => {
                pulses_too_short(rows, of, samples, needed, left_out)
            }
            PulseFinding::PulsesOutside { pulses } => Description {
                code: "pulses_outside",
                message: format!(
                    "{} not used",
                    counted(
                        pulses,
                        "pulse outside of all frames is",
                        "pulses outside of all frames are"
                    )
                ),
                numbers: numbers! { pulses },
                remedy: "nothing to do if the pin has other uses between the frames; else look \
                         for glitches",
            },
            PulseFinding::RoundsTrimmed { before, after } => Description {
                code: "rounds_trimmed",
                message: format!(
                    "{before} {} before the first whole round and {after} behind the last one are \
                     left out",
                    if before == 1 { "pulse" } else { "pulses" }
                ),
                numbers: numbers! { before, after },
                remedy: "nothing to do",
            },
            PulseFinding::PhaseLocked { concentration, is_sure } => {
                phase_locked(concentration, is_sure)
            }
            PulseFinding::OverheadBelowZero { value, unit, copies, component, first_pulse } => {
                overhead_below_zero(value, unit, copies, component, first_pulse)
            }
        }
    }
}

fn few(copies: f64) -> String {
    if copies < 0.01 {
        "less than 0.01".to_owned()
    } else {
        format!("{copies:.*}", if copies < 0.1 { 2 } else { 1 })
    }
}

fn pulses_too_short(
    rows: usize,
    of: usize,
    samples: f64,
    needed: f64,
    left_out: bool,
) -> Description {
    Description {
        code: "pulses_too_short",
        message: format!(
            "the pulses of {rows} of {of} rows are shorter than {needed:.0} samples (the shortest \
             {samples:.1}): the two edges of such a pulse shift each other; {}",
            if left_out {
                "those rows are left out"
            } else {
                "all rows are used, as too few would be left"
            }
        ),
        numbers: numbers! { rows, of, samples, needed, left_out },
        remedy: "begin with more copies, record at a higher rate, or put a fixed delay into every \
                 pulse",
    }
}

fn phase_locked(concentration: f64, is_sure: bool) -> Description {
    let consequence = if is_sure {
        format!(
            "the pulses of a row always begin at the same place between two samples \
             (concentration {concentration:.2}): the bias of the edges does not average out"
        )
    } else {
        "there are too few rounds to know whether pulses begin at different places between two \
         samples: the bias of the edges may not average out"
            .to_owned()
    };
    Description {
        code: "phase_locked",
        message: consequence,
        numbers: numbers! { concentration },
        remedy: "record more rounds; dither the gaps between pulses by at least one sample, and \
                 the idle time between frames (spec/capture.md)",
    }
}

fn overhead_below_zero(
    value: f64,
    unit: &'static str,
    copies: f64,
    component: String,
    first_pulse: String,
) -> Description {
    Description {
        code: "overhead_below_zero",
        message: format!(
            "the overhead is {value:.1} {unit}, and a toggle cannot take less than zero time: the \
             counts appear to be {} copies of {component} too high; the first pulse was taken as \
             {first_pulse}",
            few(copies)
        ),
        numbers: [
            (format!("value_{unit}"), value.into()),
            ("copies_of".to_owned(), component.into()),
        ]
        .into_iter()
        .chain(numbers! { copies, first_pulse })
        .collect(),
        remedy: "compare the counts in the firmware's headers with what the first pulse holds; if \
                 they are right, one of the two edges is recorded late (a slow pull-up)",
    }
}
