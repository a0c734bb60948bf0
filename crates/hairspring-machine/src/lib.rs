//! Measurements of the machine itself: what it is, how long its core cycle is, and the certificate that the
//! instrument measures right on it.

pub mod beside;
pub mod clocks;
pub mod coverage;
pub mod environment;
pub mod mhz;
pub mod period;
pub mod sampling;
pub mod unit;
pub mod verify;

mod lines;
