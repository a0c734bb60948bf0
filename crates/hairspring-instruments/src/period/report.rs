//! The input of a report on a cyclic task.

use super::measure::MeasuredTask;
use super::summary::Summary;
use super::system::Known;
use hairspring_core::observations::Rate;
use hairspring_result::{Clock, Environment};

/// A measured cyclic task with its circumstances.
#[derive(Debug, Clone, PartialEq)]
pub struct PeriodReport {
    /// Estimates and findings.
    pub summary: Summary,
    /// Circumstances; its clock is the first of the two.
    pub environment: Environment,
    /// The second clock.
    pub second_clock: Clock,
    /// The real-time priority (SCHED_FIFO) of the task, or why it had none.
    pub real_time: Result<i32, String>,
    /// Shortest time that a cycle takes here, in nanoseconds.
    pub least_cycle_ns: u64,
    /// Time from the first due time to the end, in milliseconds.
    pub elapsed_ms: f64,
    /// Time that the hypervisor took, in milliseconds, if the system reports it.
    pub stolen_ms: Option<f64>,
    /// Involuntary context switches of the task.
    pub switches: i64,
}

impl PeriodReport {
    /// The report of a measurement; `circumstances` says where it was made.
    pub fn new(measured: &MeasuredTask, circumstances: Environment) -> PeriodReport {
        let clock = |at: usize| clock_info(&measured.known[at], &measured.rates[at]);
        PeriodReport {
            summary: measured.summary.clone(),
            environment: Environment {
                clock: Some(clock(0)),
                pinned_cpu: Some(measured.thread.cpu),
                priority_raised: Some(
                    measured.thread.priority_raised || measured.real_time.is_ok(),
                ),
                memory_locked: Some(measured.thread.memory_locked),
                ..circumstances
                    .with_reference(Err("a period is measured in time, not in core cycles".into()))
            }
            .with_core_clock(None),
            second_clock: clock(1),
            real_time: measured.real_time.clone(),
            least_cycle_ns: measured.least_cycle_ns,
            elapsed_ms: measured.elapsed_ms,
            stolen_ms: measured.stolen_ms,
            switches: measured.switches,
        }
    }
}

fn clock_info(known_clock: &Known, rate: &Rate) -> Clock {
    let reading = &known_clock.reading;
    Clock::named(known_clock.clock.name, known_clock.clock.description)
        .with_rate(rate)
        .with_reading(reading.quantum, reading.back_to_back_mean)
}
