//! The pure part of Hairspring, a precision timing instrument for software: from observations to
//! judged estimates.
//!
//! Every measurement is a set of rows of one linear system,
//! `T_r = N_r1*T_1 + ... + N_rp*T_p + eps + delta_r` (Moreno and Fischmeister, equations 2, 6 and
//! 9): the reading of the clock, how often each component ran, the unknown time of each component,
//! the overhead common to all rows, and noise. Data pass through the modules in this order:
//!
//! [`design`] -> [`observations`] -> [`pipeline`] (of `stages`, by the formulas in [`estimate`]) ->
//! [`judge`]
//!
//! This crate uses no clock, no operating system, no file and no `unsafe` code. Callers hand it
//! streams.
//!
//! ```
//! use hairspring_core::estimate::Options;
//! use hairspring_core::pipeline::solve;
//! use hairspring_core::observations::Observations;
//!
//! // A stopwatch with 18.8 ns of overhead timed k copies of a piece of code that takes 40.4 ns.
//! let mut table = Observations::new(vec!["body".into()]);
//! let series = table.series("main");
//! for k in 1..=10 {
//!     let row = table.row(series, &[f64::from(k)]);
//!     for round in 0..4 {
//!         table.push(row, round, 40.4 * f64::from(k) + 18.8);
//!     }
//! }
//! let solution = solve(&table, series, &Options::default()).unwrap();
//! assert!((solution.components[0].ticks.value - 40.4).abs() < 1e-9);
//! assert!((solution.overhead.unwrap().value - 18.8).abs() < 1e-9);
//! ```

#![forbid(unsafe_code)]

pub mod alike;
pub mod design;
pub mod divisor;
pub mod error;
pub mod estimate;
pub mod finding;
mod grid;
pub mod hash;
pub mod judge;
pub mod laws;
pub mod limit;
pub mod load;
pub mod machine;
pub mod math;
pub mod methods;
pub mod named;
pub mod observations;
pub mod pairs;
pub mod pipeline;
pub mod quantum;
mod result;
mod sheet;
#[cfg(test)]
mod simulated;
mod stages;
pub mod stream;

pub use error::{Error, Result};
pub use estimate::Estimate;
