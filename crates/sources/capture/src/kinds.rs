//! What is found of the recording of a pin: of its file ([`FileFinding`]), of its signal ([`SignalFinding`]), and of the
//! pulses in it ([`PulseFinding`]).

mod file;
mod pulses;
mod signal;

pub use file::FileFinding;
pub use pulses::PulseFinding;
pub use signal::SignalFinding;
