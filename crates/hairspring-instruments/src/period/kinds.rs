//! Findings about a cyclic task.

use hairspring_core::judge::words::in_percent;
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings about the periods of a cyclic task, and about what it exchanges and saves.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum PeriodFinding {
    /// The thread's priority could not be raised, or its memory not locked.
    NotPrepared { what: String },
    /// The task did not keep its period: cycles were skipped because earlier ones took too long.
    CyclesMissed { missed: u64, due: u64, share_percent: f64 },
    /// The quantum of a clock hides the spread of a period.
    QuantumHidesSpread { clock: String, quantum_ns: f64, sd_ns: f64 },
    /// Two clocks run at different rates, beyond their uncertainty.
    ClocksDisagree { first: String, second: String, ppm: f64 },
    /// A clock is the counter of a core, and something else took it during the run, or the core
    /// lost it.
    CounterTaken { clock: String, reason: String },
    /// Answers of the partner came late, or not at all.
    AnswersMissing { sent: u64, lost: u64, late: u64, not_sent: u64 },
    /// Raw observations could not be written fast enough.
    NotSaved { cycles: u64 },
}

/// Code of [`PeriodFinding::QuantumHidesSpread`].
pub const QUANTUM_HIDES_SPREAD: &str = "quantum_hides_spread";

impl Kind for PeriodFinding {
    fn describe(self) -> Description {
        match self {
            PeriodFinding::NotPrepared { what } => Description {
                code: "not_settled",
                message: format!("not allowed here: {what}"),
                numbers: numbers! { what },
                remedy: "run with the privilege to raise priority and lock memory, for steadier \
                         readings",
            },
            PeriodFinding::CyclesMissed { missed, due, share_percent } => {
                cycles_missed(missed, due, share_percent)
            }
            PeriodFinding::QuantumHidesSpread { clock, quantum_ns, sd_ns } => Description {
                code: QUANTUM_HIDES_SPREAD,
                message: format!(
                    "clock `{clock}` steps by {quantum_ns:.0} ns: its spread of {sd_ns:.0} ns is \
                     mostly that quantum"
                ),
                numbers: numbers! { clock, quantum_ns, sd_ns },
                remedy: "use a finer clock; the mean is not affected",
            },
            PeriodFinding::ClocksDisagree { first, second, ppm } => Description {
                code: "clocks_disagree",
                message: format!(
                    "`{first}` and `{second}` differ by {ppm:+.1} ppm, more than their uncertainty"
                ),
                numbers: numbers! { first, second, ppm },
                remedy: "one of them is steered (NTP) or off; monotonic_raw is not steered",
            },
            PeriodFinding::CounterTaken { clock, reason } => Description {
                code: "counter_taken",
                message: format!("the periods by clock `{clock}` are wrong: {reason}"),
                numbers: numbers! { clock, reason },
                remedy: "end what the message names, or use a clock that nothing can take, such \
                         as monotonic",
            },
            PeriodFinding::AnswersMissing { sent, lost, late, not_sent } => {
                answers_missing(sent, lost, late, not_sent)
            }
            PeriodFinding::NotSaved { cycles } => Description {
                code: "not_saved",
                numbers: numbers! { cycles },
                message: format!(
                    "{cycles} cycles are missing in the saved file: it could not be written fast \
                     enough"
                ),
                remedy: "save to a faster disk, or ask for a longer period",
            },
        }
    }
}

fn cycles_missed(missed: u64, due: u64, share_percent: f64) -> Description {
    Description {
        code: "cycles_missed",
        numbers: numbers! { missed, due, share_percent },
        message: format!(
            "{missed} of {due} cycles were missed ({}): the cycle before was not done when they \
             were due. Missed cycles have no latency, so the latency's mean and quantiles look \
             better than they are",
            in_percent(share_percent)
        ),
        remedy: "ask for a longer period, raise the priority, or use a CPU that has nothing else \
                 to do",
    }
}

fn answers_missing(sent: u64, lost: u64, late: u64, not_sent: u64) -> Description {
    Description {
        code: "answers_missing",
        numbers: numbers! { sent, lost, late, not_sent },
        message: format!(
            "of {sent} frames {lost} were never answered and {late} answered late; {not_sent} \
             could not be sent"
        ),
        remedy: "look at the partner's load, the network and its queues; round trips include only \
                 the answers that came",
    }
}
