//! Latencies and reciprocal throughputs of machine instructions in core cycles, without counters or
//! privilege.
//!
//! [`forms`] chooses the forms, [`design`] makes chains and independent copies of each, [`measure`]
//! runs them in rounds with the reference chain, [`system`] splits the chains into the latencies of
//! single pairs of operands, and [`result`] is the table.

pub mod against;
mod arrangement;
pub mod cpu;
pub mod design;
pub mod document;
mod encode;
pub mod export;
pub mod form;
pub mod forms;
mod helper;
mod kinds;
pub mod measure;
mod memory;
mod register;
pub mod result;
#[cfg(test)]
mod simulated;
pub mod system;
pub mod table;
pub mod text;
mod values;

pub use arrangement::Arrangement;
pub use kinds::{InstructionFinding, code};
pub use values::Values;
