//! The clock speed of the core.

pub mod classic;
