//! Findings about the recording of a pin: its file ([`FileFinding`]), its signal ([`SignalFinding`]), and its
//! pulses ([`PulseFinding`]).

mod file;
mod pulses;
mod signal;

pub use file::FileFinding;
pub use pulses::PulseFinding;
pub use signal::SignalFinding;
