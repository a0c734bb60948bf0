//! Remedies for each verb, by the code of a finding (spec/result.md). They name options, so every verb has a list of its own.
//! A finding that is not listed keeps the neutral remedy of its kind.

use hairspring_core::judge::Remedies;

const MORE_TIME: &str = "give it more time (--budget), choose a quieter CPU (--cpu), or time a shorter piece of code";

/// `time`: code that is compiled and run.
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
            "make sure that the result of the code is used (--let, an expression, an assignment), or give it more time (--budget)",
        ),
        ("optimised_away", "use a --let variable for every input, and make the code an expression or an assignment to a --let variable"),
        (
            "work_changed",
            "this is the time of the compiled copy (see --show asm); to time every operation, give one of them as the code, or hide the intermediate value from the compiler with `__asm__ volatile(\"\" : \"+r\"(x));`",
        ),
        ("not_optimised", "add -O2 to --cflags, unless unoptimised code is what you want to time"),
        ("precision_missed", "give it more time (--budget), or a quieter CPU (--cpu)"),
        ("wide_interval", "give it more time (--budget), a finer clock (--clock) or a quieter CPU (--cpu)"),
        ("not_checked", "give it more time (--budget), or time a shorter piece of code"),
        ("unordered_clock", "use --clock tsc unless this is what you study"),
    ],
    more_rows: MORE_TIME,
};

/// `fit`: observations from a file.
pub const FIT: Remedies = Remedies {
    by_code: &[
        ("bend_left_out", "nothing to do, the remaining rows are straight; --keep-all uses all of them"),
        ("outliers", "look at these rows in the --json document; --keep-all uses all of them"),
    ],
    more_rows: "add rows with other counts",
};

/// `capture`: a recording cannot be repeated by Hairspring; the user can change the firmware, the recorder or the recording time.
pub const CAPTURE: Remedies = Remedies {
    by_code: &[
        ("bend_left_out", "nothing to do, the remaining rows are straight; --keep-all uses all of them"),
        ("outliers", "look at these rows in the --json document; --keep-all uses all of them"),
        (
            "clock_too_coarse",
            "nothing to do if the interval is narrow enough; otherwise record at a higher rate, or send frames with larger counts",
        ),
        ("preempted", "look at these pulses with --save (an interrupt on the chip, or a glitch), or record more frames"),
        ("below_resolution", "send frames with larger counts, or more of them"),
        ("precision_missed", "record more frames, or send frames with larger counts"),
        ("wide_interval", "record more frames, or send frames with larger counts"),
        ("not_checked", "send several frames with more different counts"),
        ("frames_left_out", "look at the signal there (--edges lists the edges); none of the pulses of these frames is used"),
        ("pulses_doubted", "look at them with --save (flag x): a glitch was taken for a pulse, or the chip handled an interrupt"),
        ("pulses_outside", "nothing to do if the pin has other uses between the frames; otherwise look for glitches with --edges"),
        ("channel_assumed", "choose another channel with --channel"),
        (
            "overhead_below_zero",
            "compare --k, or the counts in the firmware's headers, with what the first pulse holds; if they are right, one of the two edges is recorded late (a slow pull-up)",
        ),
    ],
    more_rows: "send frames with more different counts (spec/capture.md)",
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
        ("wide_interval", "give it more time (--budget), or add inputs that run this part more often"),
        ("not_checked", "add inputs that take other paths through the function"),
        (
            "not_additive",
            "the times of single parts mean nothing here (the core overlaps them, or the time depends on the data): use the coarser parts, or solve for edges (--unknowns edges)",
        ),
        (
            "depends_on_data",
            "if it does, this time is attributed to another block whose count changes along with the data: keep the data of these calls alike, or time such a block on its own with --until",
        ),
    ],
    more_rows: "add inputs that take other paths through the function, or end calls early (--until each)",
};

/// `period`: a cyclic task.
pub const PERIOD: Remedies = Remedies {
    by_code: &[
        ("cycles_missed", "ask for a longer period, raise the priority (--priority), or use a CPU that has nothing else to do (--cpu)"),
        ("quantum_hides_spread", "use a finer clock (--clock); the mean is not affected"),
    ],
    more_rows: "let it run for longer (--duration)",
};

/// `run`: observations that a program prints; what it measured is changed in its source.
pub const RUN: Remedies = Remedies {
    by_code: &[
        (
            "non_linear",
            "if the time depends on what earlier runs left behind, give the benchmark an init; otherwise use another CPU (--cpu)",
        ),
        ("preempted", "choose a quieter CPU (--cpu)"),
    ],
    more_rows: "add rows with other counts to the program",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    const BY_VERB: [(&str, Remedies); 8] = [
        ("time", TIME),
        ("fit", FIT),
        ("capture", CAPTURE),
        ("verify", VERIFY),
        ("mhz", MHZ),
        ("blocks", BLOCKS),
        ("period", PERIOD),
        ("run", RUN),
    ];

    /// The names of options in a text, without their dashes.
    fn option_names(text: &str) -> impl Iterator<Item = &str> {
        let words = text.split(|c: char| !c.is_ascii_lowercase() && c != '-');
        words.filter_map(|word| word.strip_prefix("--")).filter(|name| !name.is_empty())
    }

    #[test]
    fn remedies_name_existing_options() {
        let command = Arguments::command();
        for (verb, remedies) in BY_VERB {
            let verb = command.find_subcommand(verb).unwrap();
            let options: Vec<&str> = verb.get_arguments().filter_map(clap::Arg::get_long).collect();
            for words in remedies.words() {
                for name in option_names(words) {
                    assert!(options.contains(&name), "{} has no --{name}: {words}", verb.get_name());
                }
            }
        }
    }

    #[test]
    fn remedies_are_for_documented_findings() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
        let documents = ["result.md", "period.md"].map(|name| std::fs::read_to_string(folder.join(name)).unwrap()).concat();
        for (verb, remedies) in BY_VERB {
            for (code, _) in remedies.by_code {
                assert!(documents.contains(&format!("`{code}`")), "{verb}: `{code}` is not documented");
            }
        }
    }
}
