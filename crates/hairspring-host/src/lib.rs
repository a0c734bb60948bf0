//! The interface of Hairspring to the machine: clocks, chains of known length, threads, processes,
//! and the description of the machine. All assembly that reads a clock or runs a chain is here, and
//! nearly all `unsafe` code.

pub mod chains;
pub mod clock;
pub mod clock_history;
pub mod environment;
pub mod error;
pub mod fence;
#[cfg(target_os = "linux")]
pub mod free_pages;
mod history_file;
pub mod identity;
pub mod interference;
pub mod other_threads;
#[cfg(feature = "process")]
pub mod process;
pub mod run_history;
pub mod seat;
#[cfg(target_os = "linux")]
pub mod shared;
pub mod terminal;
pub mod thread;

pub use error::{Error, Result};
