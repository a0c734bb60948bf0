//! The binary file: functions, their bytes, blocks and source lines.

mod callee;
mod code;
mod cut;
mod disassembly;
mod handlers;
mod image;
mod lines;
mod names;
mod separate;

pub use callee::callee;
pub use code::{Code, Flow, taken};
pub use cut::{Observed, cut, is_padding};
pub use disassembly::Disassembly;
pub use image::{Function, Image};
pub use lines::Lines;
