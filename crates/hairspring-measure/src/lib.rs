//! The measuring loop, once for all that is measured: interleaved rounds over rows, with the reference and control chains
//! in the same rounds as the code, until the intervals are narrow enough.
//!
//! [`rounds`] runs every row once, [`batches`] runs rounds for some time, [`until`] runs batches until the precision asked for
//! is reached, [`limits`] has every limit with its reason, and [`table`] holds what was read. [`run`] is what comes back.

pub mod batches;
pub mod companions;
pub mod error;
pub mod harness;
pub mod limits;
pub mod rounds;
pub mod ruler;
pub mod run;
pub mod sampling;
pub mod stopwatch;
pub mod table;
pub mod until;

pub use error::{Error, Result};
pub use run::Run;
pub use table::Table;
pub use until::{Goal, Stop, until_precise};
