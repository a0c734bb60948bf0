//! A cyclic task: woken at absolute due times, its period measured by two clocks at once (Kwon and
//! Choi, section 4, with any two clocks in the place of getnstimeofday and the cycle counter).
//!
//! [`tally`] and [`exchange`] are pure; [`task`] is the loop; [`system`] and [`partner`] are the
//! machine and the network. Memory does not grow with the length of a run.

pub mod distribution;
pub mod document;
pub mod exchange;
pub mod frame;
pub mod histogram;
mod kinds;
pub mod measure;
pub mod partner;
pub mod recorder;
pub mod schedule;
pub mod summary;
pub mod system;
pub mod tally;
pub mod task;
pub mod text;

mod report;

pub use report::PeriodReport;

pub use kinds::{PeriodFinding, QUANTUM_HIDES_SPREAD};
