//! The experiment in seven steps (Muller, "Modeling and Analysis: Measuring"): a file that says
//! what is to be measured and what is expected, the error budget of the set-up, the sanity check,
//! and the record that another person can run again.
//!
//! Nothing here runs a program or opens a file. A front end reads a [`Plan`], runs its set-ups, and
//! hands the documents that they print to [`record::Record::new`].

#![forbid(unsafe_code)]

pub mod budget;
pub mod definition;
pub mod markdown;
pub mod measured;
pub mod plan;
pub mod record;
mod sources;

pub use definition::{Definition, Input, Setup, Work};
pub use plan::Plan;

/// The commented template of an experiment's file.
pub const TEMPLATE: &str = include_str!("template.toml");
