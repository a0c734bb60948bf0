//! The codes of the findings of this crate, for callers that treat some of them specially.

#![allow(missing_docs, reason = "docs/findings.md explains each of them")]

pub const BELOW_RESOLUTION: &str = "below_resolution";
pub const CLOCK_TOO_COARSE: &str = "clock_too_coarse";
pub const CONTENDED: &str = "contended";
pub const CORE_SHARED: &str = "core_shared";
pub const CORRELATED: &str = "correlated";
pub const DENORMALS: &str = "denormals";
pub const DISTURBED: &str = "disturbed";
pub const FREQUENCY_STEPPED: &str = "frequency_stepped";
pub const INIT_UNDOES: &str = "init_undoes";
pub const LAYOUTS_DIFFER: &str = "layouts_differ";
pub const LAYOUTS_UNTRIED: &str = "layouts_untried";
pub const METHODS_DEPART: &str = "methods_depart";
pub const NEGATIVE: &str = "negative";
pub const NEVER_RAN: &str = "never_ran";
pub const NON_LINEAR: &str = "non_linear";
pub const NOT_CHECKED: &str = "not_checked";
pub const NOT_OPTIMISED: &str = "not_optimised";
pub const NO_CYCLES: &str = "no_cycles";
pub const OTHER_PLACEMENTS: &str = "other_placements";
pub const OVERLAP: &str = "overlap";
pub const PAUSED: &str = "paused";
pub const RANK_DEFICIENT: &str = "rank_deficient";
pub const ROWS_LEFT_OUT: &str = "rows_left_out";
pub const SETTLES: &str = "settles";
pub const SLOW_EVALUATIONS: &str = "slow_evaluations";
pub const UNORDERED_CLOCK: &str = "unordered_clock";
pub const WIDE_INTERVAL: &str = "wide_interval";

/// The code of the findings that had this one in documents of the first version. Where a kind was
/// several causes, it is now one finding each.
pub fn of_before(code: &str) -> &str {
    match code {
        "bend_left_out" | "outliers" => ROWS_LEFT_OUT,
        "disturbed_throughout" | "preempted" => DISTURBED,
        "fence_hides" | "precision_missed" => WIDE_INTERVAL,
        "neighbour" => CORE_SHARED,
        "quantum_learnt" => CLOCK_TOO_COARSE,
        "shifted_by_negative" => NEGATIVE,
        "slow_left_out" => SLOW_EVALUATIONS,
        other => other,
    }
}
