//! What the verbs tell their readers to do, by the code of a finding (spec/result.md): the options of one verb help no other.
//! A finding that is not listed keeps the neutral remedy of its kind.

use hairspring_core::judge::Remedies;

const MORE_TIME: &str = "give it more time (--budget), choose a quieter CPU (--cpu), or time a shorter piece of code";

/// `time`: code that is run for its observations.
pub const TIME: Remedies = Remedies {
    by_code: &[
        (
            "non_linear",
            "the time depends on the data, on code size (caches) or on what ran before: re-initialise with --init, keep the data constant, or look at the rows with --save",
        ),
        ("bend_left_out", "nothing to do: the clock's fence hides the first cycles of a short row, and the remaining rows are straight"),
        ("outliers", "repeat on a quieter machine or CPU (--cpu) if it happens again"),
        ("clock_too_coarse", "use a finer clock (--clock) or more copies"),
        ("core_shared", "measure again; choose another CPU (--cpu)"),
        (
            "overlap",
            "--fence times every evaluation from a standing start; without it the time is what an evaluation adds to a stream of them",
        ),
        ("preempted", "choose a quieter CPU (--cpu) or give it more time (--budget)"),
        (
            "below_resolution",
            "check that the code does something that is kept (--let, an expression, an assignment), or give it more time (--budget)",
        ),
        ("optimised_away", "use a --let variable for every input, and make the code an expression or an assignment to a --let variable"),
        (
            "work_changed",
            "the time is that of the copy: see it with --show asm; to time every operation, give one of them as the code, or hide the value in between from the compiler with `__asm__ volatile(\"\" : \"+r\"(x));`",
        ),
        ("not_optimised", "add -O2 to --cflags, unless unoptimised code is what you want to time"),
        ("precision_missed", "give it more time (--budget), or a quieter CPU (--cpu)"),
        ("wide_interval", "give it more time (--budget), a finer clock (--clock) or a quieter CPU (--cpu)"),
        ("not_checked", "give it more time (--budget), or time a shorter piece of code"),
        ("unordered_clock", "use --clock tsc unless this is what you study"),
    ],
    more_rows: MORE_TIME,
};

/// `fit`: a table that somebody else observed.
pub const FIT: Remedies = Remedies {
    by_code: &[
        ("bend_left_out", "nothing to do, the remaining rows are straight; --keep-all uses all of them"),
        ("outliers", "look at these rows in the --json document; --keep-all uses all of them"),
    ],
    more_rows: "add rows with other counts",
};

/// `capture`: a recording is made once; what can be changed is the firmware, the recorder, or how long it records.
pub const CAPTURE: Remedies = Remedies {
    by_code: &[
        ("bend_left_out", "nothing to do, the remaining rows are straight; --keep-all uses all of them"),
        ("outliers", "look at these rows in the --json document; --keep-all uses all of them"),
        (
            "clock_too_coarse",
            "nothing to do if the interval is narrow enough; else record at a higher rate, or send frames with larger counts",
        ),
        ("preempted", "look at them with --save: an interrupt on the chip, or a glitch; or record more frames"),
        ("below_resolution", "send frames with larger counts, or more of them"),
        ("precision_missed", "record more frames, or send frames with larger counts"),
        ("wide_interval", "record more frames, or send frames with larger counts"),
        ("not_checked", "send frames with more counts, and several of them"),
        ("frames_left_out", "look at the signal there (--edges lists the edges); none of its pulses was given a k"),
        ("pulses_doubted", "look at them with --save (flag x): a glitch in the place of a pulse, or an interrupt on the chip"),
        ("pulses_outside", "nothing to do if the pin has other uses between the frames; else look for glitches with --edges"),
        ("channel_assumed", "choose another one with --channel"),
        (
            "overhead_below_zero",
            "compare --k, or the counts in the firmware's headers, with what the first pulse holds; if they are right, one of the two edges is recorded late (a slow pull-up)",
        ),
    ],
    more_rows: "send frames with more counts (spec/capture.md)",
};

const VERIFY_AGAIN: &str = "verify again, on a quieter CPU (--cpu) or for longer (--budget)";

/// `verify`: chains of known length.
pub const VERIFY: Remedies = Remedies {
    by_code: &[
        ("non_linear", VERIFY_AGAIN),
        ("outliers", VERIFY_AGAIN),
        ("core_shared", VERIFY_AGAIN),
        ("negative", "verify again, on a quieter CPU (--cpu)"),
        ("clock_too_coarse", "use a finer clock (--clock)"),
        ("preempted", "choose a quieter CPU (--cpu) or give it more time (--budget)"),
        ("below_resolution", "give it more time (--budget)"),
        ("wide_interval", "give it more time (--budget), a finer clock (--clock) or a quieter CPU (--cpu)"),
        ("not_checked", "give it more time (--budget)"),
        ("unordered_clock", "use --clock tsc unless this is what you study"),
    ],
    more_rows: "give it more time (--budget) or choose a quieter CPU (--cpu)",
};

/// `mhz`: the core clock.
pub const MHZ: Remedies = Remedies {
    by_code: &[
        ("core_shared", "measure again; choose another CPU (--cpu)"),
        ("preempted", "choose a quieter CPU (--cpu) or give each try more time (--time)"),
    ],
    more_rows: "give each try more time (--time) or choose a quieter CPU (--cpu)",
};

/// `blocks`: calls of a function in a program, with the counts of its blocks.
pub const BLOCKS: Remedies = Remedies {
    by_code: &[
        ("bend_left_out", "nothing to do: the clock's fence hides the first cycles of a short call"),
        ("outliers", "repeat on a quieter machine or CPU (--cpu) if it happens again"),
        ("core_shared", "measure again; choose another CPU (--cpu)"),
        ("preempted", "choose a quieter CPU (--cpu) or give it more time (--budget)"),
        ("precision_missed", "give it more time (--budget), or a quieter CPU (--cpu)"),
        ("wide_interval", "give it more time (--budget), or add inputs in which it runs more often"),
        ("not_checked", "add inputs that take other ways through the function"),
        (
            "not_additive",
            "times of single parts say nothing here (the core overlaps them, or the time depends on the data): use the coarser parts, or solve for edges (--unknowns)",
        ),
        (
            "depends_on_data",
            "if it does, what goes along with another block's count is counted as that block's time: keep the data of these calls alike, or see with --until what such a block takes by itself",
        ),
    ],
    more_rows: "add inputs that take other ways through the function, or end calls early (--until each)",
};

/// `period`: a cyclic task.
pub const PERIOD: Remedies = Remedies {
    by_code: &[
        ("cycles_missed", "ask for a longer period, raise the priority (--priority), or use a CPU that has nothing else to do (--cpu)"),
        ("quantum_hides_spread", "use a finer clock (--clock); the mean is not touched by it"),
    ],
    more_rows: "let it run for longer (--duration)",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;
    use hairspring_program::PROGRAM;

    const OF_VERBS: [(&str, Remedies); 8] = [
        ("time", TIME),
        ("fit", FIT),
        ("capture", CAPTURE),
        ("verify", VERIFY),
        ("mhz", MHZ),
        ("blocks", BLOCKS),
        ("period", PERIOD),
        // What `run` finds in the tables of a program is told as the program would tell it.
        ("run", PROGRAM),
    ];

    /// The names of options in a text, without their dashes.
    fn named(text: &str) -> impl Iterator<Item = &str> {
        let words = text.split(|c: char| !c.is_ascii_lowercase() && c != '-');
        words.filter_map(|word| word.strip_prefix("--")).filter(|name| !name.is_empty())
    }

    #[test]
    fn remedies_name_options_that_the_verb_has() {
        let command = Arguments::command();
        for (verb, remedies) in OF_VERBS {
            let verb = command.find_subcommand(verb).unwrap();
            let options: Vec<&str> = verb.get_arguments().filter_map(clap::Arg::get_long).collect();
            for words in remedies.words() {
                for name in named(words) {
                    assert!(options.contains(&name), "{} has no --{name}: {words}", verb.get_name());
                }
            }
        }
    }

    #[test]
    fn remedies_are_for_kinds_that_there_are() {
        let documents = concat!(include_str!("../../../spec/result.md"), include_str!("../../../spec/period.md"));
        for (verb, remedies) in OF_VERBS {
            for (code, _) in remedies.by_code {
                assert!(documents.contains(&format!("`{code}`")), "{verb}: no document tells of `{code}`");
            }
        }
    }
}
