//! The measuring loop: interleaved rounds over rows, with the reference and control chains beside the code.

pub mod companions;
pub mod error;
pub mod harness;
pub mod rounds;
pub mod ruler;
pub mod sampling;
pub mod stopwatch;

pub use error::{Error, Result};
