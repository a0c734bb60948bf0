//! Remedies for findings in programs with benchmarks: changes to the benchmark's source, and
//! options of the program's command line.

use hairspring_core::judge::Remedies;

/// Remedies of a program with benchmarks.
pub const PROGRAM: Remedies = Remedies {
    by_code: &[
        (
            "non_linear",
            "look at the row times (the --details of the program): if the time depends on what \
             earlier runs left behind, reset that in an init; else try another --cpu",
        ),
        (
            "rows_left_out",
            "look at these rows with the --details of the program, or keep the raw readings with \
             its --save",
        ),
        ("clock_too_coarse", "use a finer clock (--clock) or more copies"),
        ("core_shared", "measure again; choose another CPU (--cpu)"),
        (
            "overlap",
            "a body that starts before its init has ended is measured too short: put a fence \
             after the init, or make the body's input depend on the init's result",
        ),
        (
            "disturbed",
            "choose a quieter CPU (--cpu), give it more time (--budget), or time a shorter piece \
             of code, which other work interrupts less often",
        ),
        (
            "below_resolution",
            "if it is not that fast, the compiler removed it: make its inputs opaque and use its \
             result",
        ),
        (
            "denormals",
            "begin with ordinary values, set a value that shrinks from copy to copy again with an \
             init, or set FTZ and DAZ in MXCSR before the benchmarks as the real program does; \
             nothing to do if denormals are what you want to time",
        ),
        (
            "not_optimised",
            "compile the program with -O2 (or -O3), unless unoptimised code is what you want to \
             time",
        ),
        (
            "wide_interval",
            "give it more time (--budget), a finer clock (--clock) or a quieter CPU (--cpu)",
        ),
        ("not_checked", "give it more time (--budget), or time a shorter piece of code"),
        ("unordered_clock", "use --clock tsc unless this is what you study"),
        ("threads", "--threads says so from the start, before a pool of threads is made"),
        ("threads_bound", "leave out --cpu: the threads then run on all CPUs"),
    ],
    more_rows: "give it more time (--budget), choose a quieter CPU (--cpu), or time a shorter \
                piece of code",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_name_options_that_the_program_has() {
        let command = crate::arguments::command();
        let options: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
        let mut seen = 0;
        for words in PROGRAM.words() {
            for name in words
                .split(|c: char| !c.is_ascii_lowercase() && c != '-')
                .filter_map(|word| word.strip_prefix("--"))
            {
                assert!(options.contains(&name), "no option --{name}: {words}");
                seen += 1;
            }
        }
        assert!(seen > 5, "only {seen} options are named");
    }
}
