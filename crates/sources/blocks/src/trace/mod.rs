//! The running program: stopped, followed and timed through ptrace.

mod counter;
mod crowd;
mod emulate;
mod follow;
mod guard;
mod maps;
mod memory;
mod outside;
mod pages;
mod process;
mod start;
mod stub;
mod system;
mod tripwire;
mod watchdog;

pub use follow::{Begin, Followed, Follower, Partial};
pub use guard::Guard;
pub use memory::{Snapshot, Undo, put_back};
pub use process::Process;
pub use start::{Journey, Program, Started, Target};
pub use stub::{Call, JUMP, Own, Stub};
