//! The sources of an error budget in words.

use hairspring_core::estimate::Source;

/// The name of a source in the line `budget`, and in the budget of an experiment.
pub fn source_name(source: Source) -> &'static str {
    match source {
        Source::Noise => "noise",
        Source::Placement => "placement",
        Source::Departure => "lack of fit",
        Source::Negative => "negative times",
        Source::Quantum => "clock resolution",
        Source::Readings => "doubted readings",
        Source::Ends => "how calls begin and end",
        Source::Undone => "what the init undoes",
        Source::Fence => "overhead",
        Source::Overlap => "overlap with the init",
        Source::Settling => "settling",
        Source::Slow => "slow evaluations",
        Source::Pauses => "pauses of the CPU",
        Source::Controls => "control chains",
        Source::Reference => "reference chain",
        Source::CoreClock => "core clock",
        Source::Rate => "clock rate",
        Source::Runs => "runs",
        Source::Machines => "machines",
    }
}
