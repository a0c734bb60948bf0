//! The measuring loop that all measurements share: interleaved rounds over rows, with the reference
//! and control chains in the same rounds as the code, until the intervals are narrow enough.
//!
//! [`rounds`] runs every row once, [`batches`] runs rounds for some time, [`until`] runs batches
//! until the requested precision is reached, [`limits`] defines all limits, [`table`] holds the
//! readings, and [`run`] is the result.

pub mod batches;
pub mod companions;
pub mod cpu;
pub mod error;
pub mod harness;
pub mod lattice;
pub mod limits;
pub mod proof;
pub mod rounds;
pub mod ruler;
pub mod run;
pub mod sampling;
pub mod seating;
pub mod stopwatch;
pub mod table;
pub mod until;

pub use error::{Error, Result};
pub use run::Run;
pub use seating::Seating;
pub use table::Table;
pub use until::{Goal, Stop, until_precise};
