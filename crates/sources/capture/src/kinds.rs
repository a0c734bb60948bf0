//! Findings about the recording of a pin: its file ([`FileFinding`]), its signal
//! ([`SignalFinding`], [`NeighbourFinding`], [`OverloadFinding`]), its pulses ([`PulseFinding`])
//! and its reference ([`ReferenceFinding`]).

mod file;
mod neighbours;
mod overload;
mod pulses;
mod reference;
mod signal;

pub use file::FileFinding;
pub use neighbours::NeighbourFinding;
pub use overload::OverloadFinding;
pub use pulses::PulseFinding;
pub use reference::ReferenceFinding;
pub use signal::SignalFinding;
