//! Remedies of the Python package: they name arguments of its functions, which are also options of
//! `python -m hairspring`. A test in `python/tests` checks that each name in backquotes is such an
//! argument.

use hairspring_core::judge::Remedies;

/// Remedies of `time` and `benchmark`: a statement that was run.
pub const TIME: Remedies = Remedies {
    by_code: &[
        (
            "non_linear",
            "if the time depends on what earlier copies left behind, give the statement an \
             `init`; else try another `cpu`; the rows stand in the JSON document",
        ),
        ("rows_left_out", "look at these rows in the JSON document, or keep the raw readings"),
        ("clock_too_coarse", "use a finer `clock`"),
        ("core_shared", "measure again; choose another `cpu`"),
        (
            "overlap",
            "statement and init do not simply add up: what the one leaves behind changes the time \
             of the other; time them together as one statement",
        ),
        (
            "disturbed",
            "choose a quieter `cpu`, give it more time (`budget`), or time a shorter piece of \
             code, which other work interrupts less often",
        ),
        (
            "below_resolution",
            "if it is not that fast, Python's compiler folded or removed it: let it work on names \
             instead of constants, and assign its result",
        ),
        ("wide_interval", "give it more time (`budget`), a finer `clock` or a quieter `cpu`"),
        ("not_checked", "give it more time (`budget`), or time a shorter statement"),
        ("threads", "`threads` says so from the start, before a pool of threads is made"),
        ("threads_bound", "leave out `cpu`: the threads then run on all CPUs"),
    ],
    more_rows: "give it more time (`budget`), choose a quieter `cpu`, or time a shorter statement",
};

/// Remedies of `fit`: observations of somebody else.
pub const FIT: Remedies = Remedies {
    by_code: &[(
        "rows_left_out",
        "look at these rows in the JSON document; `keep_all` uses all of them",
    )],
    more_rows: "add rows with other counts",
};
