//! Solves observations from other sources.

use hairspring_core::judge::{Assessment, Question, assess};
use hairspring_core::observations::Observations;

/// Solves and checks a table of observations, at a confidence level of 95 %: the time of each
/// component, the overhead, findings, and ratios if there are several series.
///
/// ```
/// let csv = "# rate_hz: 1e9\nbody,ticks\n1,59\n2,99\n4,180\n8,341\n16,660\n";
/// let table = hairspring::read_csv(csv.as_bytes()).unwrap();
/// let body = &hairspring::fit(&table).unwrap().series[0].components[0];
/// let ns = body.time.ns.as_ref().unwrap().estimate(0.95);
/// assert!(ns.contains(40.1), "{ns:?}");
/// ```
///
/// # Errors
/// A table with too few rows for its components, or with nothing to solve.
pub fn fit(table: &Observations) -> hairspring_core::Result<Assessment> {
    assess(table, &Question::default())
}
