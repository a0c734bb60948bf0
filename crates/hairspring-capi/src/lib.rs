//! The C ABI of the engine: every call goes through one wall that turns an error or a panic into a
//! status with a text.
//!
//! Handles are opaque and may be used by several threads; plain structs begin with their size and
//! may grow (`sized`). The header is `include/hairspring_engine.h`, made by cbindgen from these
//! files.
#![allow(
    unsafe_code,
    reason = "the C ABI: pointers come from the caller, and each is checked for null and alignment \
              first"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the rules for C callers are stated once, at the head of the header"
)]

mod assessment;
mod clocks;
mod lmbench;
mod lmbench_text;
mod measure;
mod observations;
mod procedure;
mod remedies;
mod sized;
mod stopwatch;
mod trials;
mod wall;

pub use assessment::*;
pub use clocks::*;
pub use lmbench::*;
pub use measure::*;
pub use observations::*;
pub use procedure::*;
pub use stopwatch::*;
pub use trials::*;
pub use wall::{Status, hairspring_last_error, hairspring_status_name, hairspring_version};
