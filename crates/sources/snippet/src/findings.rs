//! Findings about the code and the request, rather than about readings.

use hairspring_core::judge::words::shortened;
use hairspring_core::judge::{Description, Kind, Numbers};
use hairspring_core::numbers;

/// Findings about a piece of code that was compiled and run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum SnippetFinding {
    /// The compiler left no code for a copy.
    OptimisedAway { bytes_per_copy: f64 },
    /// Variables of types that no register holds are kept in memory: each copy loads and stores
    /// them.
    KeptInMemory { variables: Vec<String> },
    /// The compiler flags set no optimisation level.
    NotOptimised { flags: String },
    /// A variable walks through memory, and every row begins the walk anew.
    WalkRestarts { variable: String, most: u32 },
    /// Which way a branch goes depends on a variable that each copy computes, and every row begins
    /// with its first value.
    BranchRestarts { variable: String, most: u32 },
    /// What the code does depends on a variable that each copy changes, and every row begins with
    /// its first value.
    ValuesRestart { variable: String, most: u32 },
    /// Copies in long rows are other code than those in short ones.
    OtherCode { short_bytes: f64, bytes: f64 },
    /// The code is faster in a process with one thread, as this one.
    OneThread,
    /// Copies that pass a value on through memory take another time in a loop with few of them.
    ThroughMemory { few_cycles: f64, cycles: f64 },
    /// The compiled copy has fewer operations than the source: the compiler folded, merged or
    /// dropped some.
    WorkChanged { operation: String, copy: u32, source: u32 },
    /// The time of some instructions depends on the values that they work on; these are the first
    /// ones, as far as they are known.
    DependsOnValues { instructions: Vec<String>, values: Vec<String> },
    /// The code under test wrote to its output while it was measured.
    Printed { bytes: u64, first_line: String },
}

impl Kind for SnippetFinding {
    fn describe(self) -> Description {
        match self {
            SnippetFinding::OptimisedAway { bytes_per_copy } => Description {
                code: "optimised_away",
                numbers: numbers! { bytes_per_copy },
                message: format!(
                    "optimised away: the compiler left {bytes_per_copy:.1} bytes of code for each \
                     copy"
                ),
                remedy: "make every input a variable whose value the compiler does not know, and \
                         assign the result to such a variable",
            },
            SnippetFinding::KeptInMemory { variables } => Description {
                code: "kept_in_memory",
                message: format!(
                    "kept in memory between copies because no register holds the type: {}",
                    shortened(&variables)
                ),
                numbers: numbers! { variables },
                remedy: "the time includes a load and a store of each copy; a latency through \
                         such a variable goes through memory",
            },
            SnippetFinding::NotOptimised { flags } => Description {
                code: "not_optimised",
                message: format!(
                    "the compiler flags `{flags}` set no optimisation level: they replace the \
                     default -O2, so the code is not optimised"
                ),
                numbers: numbers! { flags },
                remedy: "add -O2 to the flags, unless unoptimised code is what you want to time",
            },
            SnippetFinding::WalkRestarts { variable, most } => walk_restarts(variable, most),
            SnippetFinding::BranchRestarts { variable, most } => branch_restarts(variable, most),
            SnippetFinding::ValuesRestart { variable, most } => values_restart(variable, most),
            SnippetFinding::WorkChanged { operation, copy, source } => {
                work_changed(operation, copy, source)
            }
            SnippetFinding::OtherCode { short_bytes, bytes } => other_code(short_bytes, bytes),
            SnippetFinding::OneThread => one_thread(),
            SnippetFinding::ThroughMemory { few_cycles, cycles } => {
                through_memory(few_cycles, cycles)
            }
            SnippetFinding::DependsOnValues { instructions, values } => {
                depends_on_values(instructions, values)
            }
            SnippetFinding::Printed { bytes, first_line } => Description {
                code: "printed",
                message: format!(
                    "the code wrote {bytes} bytes while it was measured, first: {first_line:?}"
                ),
                numbers: numbers! { bytes, first_line },
                remedy: "its output was dropped; the time includes the writing",
            },
        }
    }
}

fn values_restart(variable: String, most: u32) -> Description {
    Description {
        code: "values_restart",
        message: format!(
            "the code changes {variable}, and every row begins with the same {variable}: the at \
             most {most} values come again and again, while what the code changed elsewhere stays, \
             so that it may find what an earlier row did, as a key in a map"
        ),
        numbers: numbers! { variable, most },
        remedy: "nothing to do if the values do not matter; else make the variable a global one \
                 of the code, which goes on from row to row, or undo before each evaluation what \
                 the code does",
    }
}

fn other_code(short_bytes: f64, bytes: f64) -> Description {
    Description {
        code: "other_code",
        message: format!(
            "the compiler makes other code of many copies in a row than of a few: {bytes:.0} bytes \
             for each instead of {short_bytes:.0}; this is the time of the former"
        ),
        numbers: numbers! { short_bytes, bytes },
        remedy: "make the code a function that is not inlined, which is the same code in every \
                 copy; the call is then in its time",
    }
}

fn one_thread() -> Description {
    Description {
        code: "one_thread",
        message:
            "the code asks whether its process has started a thread, as std::shared_ptr does, and \
             may be faster without: this is the time in a process that has not"
                .to_owned(),
        numbers: Numbers::default(),
        remedy: "measure it in a process that has started a thread, if your program has",
    }
}

fn through_memory(few_cycles: f64, cycles: f64) -> Description {
    Description {
        code: "through_memory",
        message: format!(
            "what the code stores is loaded again by the next copy: in a loop with 8 copies a copy \
             takes {few_cycles:.3} cycles, in these rows of more copies {cycles:.3}; a core passes \
             such values on at once in few places only"
        ),
        numbers: numbers! { few_cycles, cycles },
        remedy: "expect the first in a loop with few such places, and the second in long code; a \
                 local variable is kept in a register",
    }
}

/// A number of operations in words: `2 multiplications`, `0 calls of memset`.
fn counted(number: u32, operation: &str) -> String {
    let (noun, rest) = operation
        .split_once(' ')
        .map_or((operation, String::new()), |(noun, rest)| (noun, format!(" {rest}")));
    format!("{number} {noun}{}{rest}", if number == 1 { "" } else { "s" })
}

fn depends_on_values(instructions: Vec<String>, values: Vec<String>) -> Description {
    let began = match values.is_empty() {
        true => "those of this code are not known here".to_owned(),
        false => format!("this code began with {}", shortened(&values)),
    };
    Description {
        code: "depends_on_values",
        message: format!(
            "on some cores the time of {} depends on the values; {began}",
            shortened(&instructions)
        ),
        numbers: numbers! { instructions, values },
        remedy: "nothing to do if these values are typical; else measure with those that are",
    }
}

fn walk_restarts(variable: String, most: u32) -> Description {
    Description {
        code: "walk_restarts",
        message: format!(
            "{variable} takes its next value from memory, and every row begins with the same \
             {variable}: the same {most} places at most are read again and again, and lie in the \
             caches by then"
        ),
        numbers: numbers! { variable, most },
        remedy: "nothing to do if so few places are what you want to time; else make the variable \
                 a global one of the code, which goes on from row to row",
    }
}

fn branch_restarts(variable: String, most: u32) -> Description {
    Description {
        code: "branch_restarts",
        message: format!(
            "which way a branch goes depends on {variable}, and every row begins with the same \
             {variable}: the branch predictor learns the at most {most} values that come again and \
             again"
        ),
        numbers: numbers! { variable, most },
        remedy: "nothing to do if the branch is as predictable in your program; else make the \
                 variable a global one of the code, which goes on from row to row",
    }
}

fn work_changed(operation: String, copy: u32, source: u32) -> Description {
    Description {
        code: "work_changed",
        message: format!(
            "the compiled copy holds {}, the source has {source}: the compiler folded, merged or \
             dropped some",
            counted(copy, &operation)
        ),
        numbers: numbers! { operation, copy, source },
        remedy: "the time is that of the copy: look at its disassembly; to time every operation, \
                 give one of them as the code, or hide the value in between from the compiler",
    }
}
