//! What a caller of the C ABI is told to do: fields of its structs by name. A test looks for every name in backquotes in the
//! header.

use hairspring_core::judge::Remedies;

/// Remedies of `hairspring_assess`.
pub const ASSESS: Remedies = Remedies {
    by_code: &[
        ("bend_left_out", "nothing to do, the remaining rows are straight; `keep_all_rows` of the `hairspring_question` uses all of them"),
        ("outliers", "look at these rows; `keep_all_rows` of the `hairspring_question` uses all of them"),
        ("precision_missed", "repeat the rows more often, observe rows with larger counts, or ask for less `precision`"),
    ],
    more_rows: "add rows with other counts",
};
