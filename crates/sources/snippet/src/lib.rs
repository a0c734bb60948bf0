//! A piece of C, C++ or assembly as something that can be timed: straight-line copies of it are
//! generated, compiled with the user's own compiler, loaded by a child process that may crash, and
//! run in interleaved rounds until the requested interval is reached.
//!
//! [`measure`] does all of this. Its parts are [`Request`] and [`Declaration`] (the input),
//! `source` (the generated rows), `compile`, [`host`] (the child), `child` (the parent's side), and
//! `session`.

mod asm;
mod cache;
mod calls;
mod child;
mod compile;
mod copied;
#[cfg(target_arch = "x86_64")]
mod copy;
#[cfg(not(target_arch = "x86_64"))]
#[path = "copy_elsewhere.rs"]
mod copy;
mod declaration;
mod embedded;
mod error;
mod few;
mod findings;
mod messages;
mod mode;
mod occupied;
mod placed;
mod plan;
mod protocol;
mod quick;
mod registers;
mod repeat;
mod request;
mod session;
mod source;
mod table;
mod text;

#[doc(hidden)]
pub mod fuzzing;
pub mod host;

pub use child::{HostProgram, Printed};
pub use compile::Compiler;
pub use copied::{Copy, Lost, Work};
pub use declaration::Declaration;
pub use error::{Error, Failure, Result};
pub use findings::SnippetFinding;
pub use mode::{Judged, Mode};
pub use protocol::{Ended, Ready};
pub use request::{Language, Request, shell_words};
pub use session::{MeasuredCode, measure, measure_watched, series_names};
pub use source::first_values;
