//! The sources of an error budget in words.

use hairspring_core::estimate::Source;

/// The name of a source in the line `budget`, and in the budget of an experiment.
pub fn source_name(source: Source) -> &'static str {
    match source {
        Source::Stochastic => "noise",
        Source::LackOfFit => "lack of fit",
        Source::Placement => "placement",
        Source::Granularity => "clock resolution",
        Source::Rate => "clock rate",
        Source::Fence => "overhead",
        Source::Reference => "reference chain",
        Source::Runs => "runs",
        Source::Neighbour => "interference",
        Source::Readings => "doubted readings",
        Source::Ends => "how calls begin and end",
        Source::CoreClock => "core clock",
    }
}
