//! Edges of a signal, and how samples become edges with a resolution below one sample.

mod detector;
mod estimator;
mod kernel;
mod learn;
mod linearity;
mod overload;
mod response;
mod scale;
mod steepness;
mod tops;

pub use detector::{ByDistance, Detector, Signal, Window};
pub use estimator::Method;
pub use kernel::Kernel;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Its time in ticks of the recording: samples, or units of the file's timescale.
    pub at: f64,
    /// Whether the level went up.
    pub rising: bool,
}
