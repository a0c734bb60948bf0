//! By how much machines of one family differ with the same build: what a fleet cannot tell apart.

use crate::document::finite;
use hairspring_core::estimate::student_factor;

/// Fewest machines whose spread says by how much two of them differ.
pub const FEWEST_FOR_FLOOR: usize = 3;

/// How machines differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Standard deviation between them, as a share of their mean.
    pub relative: f64,
    /// Their number.
    pub machines: usize,
}

/// By how much two machines with these spreads differ at most, in percent: the interval of the
/// difference of two more machines. Several series have the root of the mean square of their
/// spreads, and the degrees of freedom of one, because they are of the same machines.
pub fn floor_percent(spreads: &[Spread], level: f64) -> Option<f64> {
    let enough = || spreads.iter().filter(|spread| spread.machines >= FEWEST_FOR_FLOOR);
    let most = enough().map(|spread| spread.machines).max()? as f64;
    let dof = |spread: &Spread| spread.machines as f64 - 1.0;
    let squares: f64 = enough().map(|spread| dof(spread) * spread.relative.powi(2)).sum();
    let relative = (squares / enough().map(dof).sum::<f64>()).sqrt();
    finite(100.0 * student_factor(level, most - 1.0) * std::f64::consts::SQRT_2 * relative)
}
