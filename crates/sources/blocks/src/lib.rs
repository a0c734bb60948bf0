//! Times of the basic blocks of a function in an unmodified binary (Moreno and Fischmeister, 5.1
//! and 6.2): the counts come from following the timed machine code, the times from the engine, and
//! the solution gives the time of each part.
//!
//! The modules follow the data: `binary` (function, blocks, source lines), `trace` (the program,
//! stopped, followed, timed), [`analysis`] (solution of counts and times).
//!
//! - A **basic block** is instructions that always run one after the other; calls do not end it.
//!   `B2->B5` is an **edge**: as an unknown, the time of B2 when it continues to B5.
//! - A **whole call** goes from the first instruction of the function to its return; a **partial
//!   run** is ended before a block, and separates what whole calls cannot.
//! - Parts are **merged** if they run equally often in every row: only the sum of their times can
//!   be known. They are told **together** if their counts are nearly a sum of those of others.
//! - The time of a call is **additive** if it is the sum of its blocks' times; on a core that
//!   overlaps them it need not be.

pub mod analysis;
pub mod graph;

pub mod document;
pub mod dot;
pub mod text;

mod error;
mod inputs;
mod result;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod binary;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod count;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod elsewhere;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod measure;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod trace;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub use elsewhere::{functions, measure};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[doc(hidden)]
pub mod fuzzing;
pub use error::{Error, Result};
pub use inputs::{Input, read as read_inputs};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use measure::{functions, measure};
pub use result::{
    Choice, FunctionInfo, ListedFunction, MeasuredFunction, Progress, Request, Skipped, Traced,
    Wanted,
};
