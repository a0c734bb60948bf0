//! What is said of the place of the timed thread.

use super::Seating;
use hairspring_core::judge::{Description, Finding, Kind, Severity};
use hairspring_core::numbers;
use serde::{Deserialize, Serialize};

/// Why a time on several CPUs is not given in core cycles.
pub const NO_CYCLES: &str = "the code runs on several CPUs, whose clocks differ: the core cycles \
                             of one do not count its time";

/// Other threads that ran while the code did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Threads {
    /// Their processor time, as a share of the time that passed.
    pub share: f64,
    /// Number of CPUs of the process.
    pub cpus: usize,
    /// Whether they were first seen when the timed thread had its seat.
    pub late: bool,
}

/// Where the timed thread was, and what is known of other threads.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Seated {
    /// How it was to run.
    pub seating: Seating,
    /// The CPU that it was bound to.
    pub cpu: Option<usize>,
    /// Whether its priority was raised.
    pub priority_raised: bool,
    /// Other threads that ran while the code did.
    pub threads: Option<Threads>,
}

impl Seated {
    /// Why the code is not to be timed in core cycles.
    pub fn no_cycles(&self) -> Option<&'static str> {
        let threads =
            self.seating == Seating::Threads || self.threads.is_some() && self.cpu.is_none();
        threads.then_some(NO_CYCLES)
    }

    /// What is to be said of it; nothing if the code ran no other threads and nothing was asked
    /// for.
    pub fn finding(&self) -> Option<Finding> {
        let (severity, kind) = match (self.seating, self.threads, self.cpu) {
            (Seating::Threads, ..) => (Severity::Note, SeatingFinding::Unbound { threads: true }),
            (_, Some(Threads { share, .. }), Some(cpu)) => {
                (Severity::Warning, SeatingFinding::ThreadsBound { cpus_used: share, cpu })
            }
            (_, Some(Threads { share, cpus, late }), None) => {
                let severity = if late { Severity::Warning } else { Severity::Note };
                (severity, SeatingFinding::Threads { cpus_used: share, cpus, late })
            }
            (Seating::Unpinned, None, _) => {
                (Severity::Note, SeatingFinding::Unbound { threads: false })
            }
            (Seating::Pinned, None, _) => return None,
        };
        Some(Finding::new(severity, kind))
    }
}

/// Findings about the place of the timed thread.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum SeatingFinding {
    /// The code runs other threads; the timed thread was not bound.
    Threads { cpus_used: f64, cpus: usize, late: bool },
    /// The code runs other threads; the timed thread was bound all the same, as asked.
    ThreadsBound { cpus_used: f64, cpu: usize },
    /// The timed thread was not bound, as asked.
    Unbound { threads: bool },
}

/// The codes of the findings.
#[allow(missing_docs, reason = "each is documented at its kind in `SeatingFinding`")]
pub mod code {
    pub const THREADS: &str = "threads";
    pub const THREADS_BOUND: &str = "threads_bound";
    pub const UNBOUND: &str = "unbound";
}

impl Kind for SeatingFinding {
    fn describe(self) -> Description {
        match self {
            SeatingFinding::Threads { cpus_used, cpus, late } => Description {
                code: code::THREADS,
                numbers: numbers! { cpus_used, cpus, late },
                message: format!(
                    "other threads ran while the code did ({cpus_used:.2} of a CPU): all of them \
                     had the {} and the priority of the process, so the time is that of the code \
                     as the process runs it{}",
                    if cpus == 1 { "one CPU".to_owned() } else { format!("{cpus} CPUs") },
                    if late {
                        "; they were seen late, when a pool of threads may have been made for one \
                         CPU"
                    } else {
                        ""
                    }
                ),
                remedy: "say from the start that the code runs threads, before it makes pools of \
                         them",
            },
            SeatingFinding::ThreadsBound { cpus_used, cpu } => Description {
                code: code::THREADS_BOUND,
                numbers: numbers! { cpus_used, cpu },
                message: format!(
                    "other threads ran while the code did ({cpus_used:.2} of a CPU), but the timed \
                     thread stayed on CPU {cpu}, as asked: threads that the code starts begin on \
                     this CPU too"
                ),
                remedy: "ask for no CPU: the threads then run on all of them",
            },
            SeatingFinding::Unbound { threads } => Description {
                code: code::UNBOUND,
                numbers: numbers! { threads },
                message: if threads {
                    "the timed thread was neither bound to a CPU nor raised in priority, as asked \
                     for code that runs threads"
                        .to_owned()
                } else {
                    "the timed thread was not bound to a CPU, as asked: when it moves, caches are \
                     cold, and core cycles are those of another core"
                        .to_owned()
                },
                remedy: "nothing to do",
            },
        }
    }
}
