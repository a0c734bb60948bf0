//! The running program: stopped, followed and timed through ptrace.

mod assembly;
#[cfg(test)]
mod both_ways;
mod counter;
mod crowd;
mod emulate;
mod extent;
mod follow;
mod guard;
mod maps;
mod memory;
mod outside;
mod pages;
mod process;
mod replay;
mod room;
mod start;
mod stub;
mod system;
mod translate;
mod tripwire;
mod watchdog;

pub use follow::{Begin, Followed, Follower, Partial};
pub use guard::Guard;
pub use memory::{Snapshot, Undo, put_back};
pub use process::Process;
pub use replay::COPY_PAYS_AFTER;
pub use start::{Journey, Program, Started, Target};
pub use stub::{Call, JUMP, PageFunction, Stub};
