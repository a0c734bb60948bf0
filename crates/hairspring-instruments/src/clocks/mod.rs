//! The clocks of the machine, measured: resolution, cost of a read, rate, and whether they are
//! synchronized across CPUs.

mod across;
mod comparison;
mod constant;
mod cost;
mod kinds;
mod latency;
mod overhead;
mod summary;
mod survey;
mod waiting;

pub mod document;
pub mod text;

pub use across::{Across, HandOver, across};
pub use comparison::{Compared, Comparison, SPANS_NS, SpanPoint, compare};
pub use constant::constant_ns;
pub use cost::read_cost;
pub use kinds::ClockFinding;
pub use latency::{ClockLatency, Experiment, Latency, LatencyPlan, latency};
pub use overhead::{ClockOverhead, OverheadReport, overheads};
pub use summary::{Bin, Summary};
pub use survey::{MeasuredClock, RateSeen, Report, Survey, SurveyPlan, survey};
