//! The remedies of `time`.

use hairspring_core::judge::Remedies;
use hairspring_host::thread::allowed_cpus;
use hairspring_result::ResultDocument;

const MORE_TIME: &str =
    "give it more time (--budget), choose a quieter CPU (--cpu), or time a shorter piece of code";

/// Remedies by the code of a finding (`spec/result.md`); they name options of this verb. A finding
/// that is not listed keeps the neutral remedy of its kind.
pub const REMEDIES: Remedies = Remedies {
    by_code: &[
        (
            "non_linear",
            "the time of a copy changes with their number: data that the code changes is set back \
             by --init; code or data may outgrow a cache or a predictor; --save has the rows",
        ),
        (
            "rows_left_out",
            "nothing to do for rows with few copies, whose first cycles the clock's fence hides; \
             repeat on a quieter CPU (--cpu) if others are left out again",
        ),
        ("clock_too_coarse", "use a finer clock (--clock) or more copies"),
        ("core_shared", "measure again; choose another CPU (--cpu)"),
        (
            "overlap",
            "--fence times every evaluation from a standing start; without it the time is what an \
             evaluation adds to a stream of them",
        ),
        (
            "disturbed",
            "choose a quieter CPU (--cpu), give it more time (--budget), or time a shorter piece \
             of code, which other work interrupts less often",
        ),
        (
            "below_resolution",
            "make sure that the result of the code is used (--let, an expression, an assignment), \
             or give it more time (--budget)",
        ),
        ("layouts_untried", "give it more time (--budget), or make --setup shorter"),
        (
            "layouts_differ",
            "align the code (add -falign-functions=64 -falign-loops=64 to --cflags), or expect \
             any of these times: a change elsewhere in a program moves it",
        ),
        (
            "optimised_away",
            "use a --let variable for every input, and make the code an expression or an \
             assignment to a --let variable",
        ),
        (
            "work_changed",
            "this is the time of the compiled copy (see --show asm); to time every operation, \
             give one of them as the code, or hide the intermediate value from the compiler with \
             `__asm__ volatile(\"\" : \"+r\"(x));`",
        ),
        ("not_optimised", "add -O2 to --cflags, unless unoptimised code is what you want to time"),
        (
            "denormals",
            "begin with ordinary values (--let; in assembly --setup), set a value that shrinks \
             from copy to copy again with --init, or treat denormals as zero, as in --include \
             xmmintrin.h --setup '_mm_setcsr(_mm_getcsr() | 0x8040);'; nothing to do if denormals \
             are what you want to time",
        ),
        (
            "walk_restarts",
            "nothing to do if so few places are what you want to time; else let the walk end \
             where it began, and give one piece of code without --init: it then goes on from row \
             to row",
        ),
        (
            "values_restart",
            "nothing to do if the values do not matter; else leave out the --let of the variable \
             and declare it in a file (--file), where it goes on from row to row, or undo with \
             --init what the code does, as in --init 'm.clear()'",
        ),
        (
            "other_code",
            "put the code into a function with __attribute__((noinline)) (--file): it is then the \
             same code in every copy, and the call is in its time",
        ),
        ("one_thread", "--multithreaded measures it in a process that has started a thread"),
        (
            "branch_restarts",
            "nothing to do if the branch is as predictable in your program; else leave out its \
             --let, and declare the variable in a file (--file): there it goes on from row to row",
        ),
        (
            "depends_on_values",
            "nothing to do if these values are typical; else give those that are (--let; in \
             assembly --setup)",
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
    more_rows: MORE_TIME,
};

/// Where there is hardly another CPU to choose.
const ON_FEW_CPUS: Remedies = Remedies {
    by_code: &[
        (
            "core_shared",
            "measure again when the core's other hardware thread is idle; the effect of what runs \
             there is in the interval as far as it was seen, and --vs compares beside the same \
             co-runner",
        ),
        (
            "rows_left_out",
            "nothing to do for rows with few copies, whose first cycles the clock's fence hides; \
             else measure again",
        ),
        (
            "disturbed",
            "stop other programs, give it more time (--budget), or time a shorter piece of code, \
             which other work interrupts less often",
        ),
        (
            "wide_interval",
            "give it more time (--budget), stop other programs, or use a finer clock (--clock)",
        ),
    ],
    more_rows: MORE_TIME,
};
/// So many CPUs are few: the measurement and the rest of the machine need one each.
const FEW_CPUS: usize = 2;

/// Puts remedies into a document that help with the CPUs that this process may use.
pub fn suit(document: &mut ResultDocument) {
    if allowed_cpus().len() <= FEW_CPUS {
        ON_FEW_CPUS.apply(document.results.iter_mut().flat_map(|series| &mut series.findings));
    }
}
