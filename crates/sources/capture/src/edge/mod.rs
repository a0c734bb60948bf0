//! Edges of a signal, and how samples become edges with a resolution below one sample.

mod detector;
mod estimator;
mod kernel;
mod learn;
mod linearity;
mod outgrown;
mod overload;
mod response;
mod scale;
mod signal;
mod steepness;
mod tops;

pub use detector::Detector;
pub use estimator::Method;
pub use kernel::Kernel;
pub use signal::{ByDistance, Signal, Window};

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Its time in ticks of the recording: samples, or units of the file's timescale.
    pub at: f64,
    /// Whether the level went up.
    pub rising: bool,
}
