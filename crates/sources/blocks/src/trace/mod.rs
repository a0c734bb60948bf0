//! The running program: stopped, followed and timed through ptrace.

mod emulate;
mod follow;
mod maps;
mod memory;
mod process;
mod start;
mod stub;
mod system;

pub use follow::{Followed, Follower, Partial};
pub use memory::{Patches, Snapshot, put_back};
pub use process::Process;
pub use start::{Program, Started, Target, start};
pub use stub::{Call, JUMP, Own, Stub};
pub use system::repeatable;
