//! The documents of `clocks`: the survey, the latency experiments, two clocks compared, the
//! stopwatch's overhead.

mod comparison;
mod latency;
mod overhead;
mod survey;

pub use comparison::{ClockComparisonDocument, clock_comparison};
pub use latency::{ClockLatencyDocument, clock_latency};
pub use overhead::{StopwatchOverheadDocument, stopwatch_overhead};
pub use survey::{ClocksDocument, clock_survey};

#[cfg(feature = "schema")]
use hairspring_result::json::schema;

/// The verb that makes all of them.
const COMMAND: &str = "clocks";

/// Names of the published files and the JSON schemas in them.
#[cfg(feature = "schema")]
pub fn clock_schemas() -> [(&'static str, serde_json::Value); 4] {
    [
        ("clocks.schema.json", schema::<ClocksDocument>()),
        ("clock-latency.schema.json", schema::<ClockLatencyDocument>()),
        ("clock-comparison.schema.json", schema::<ClockComparisonDocument>()),
        ("stopwatch-overhead.schema.json", schema::<StopwatchOverheadDocument>()),
    ]
}
