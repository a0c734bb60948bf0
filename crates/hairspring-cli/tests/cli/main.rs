//! The command as a user meets it: what it says, how it ends, and what it leaves behind. Real times
//! are never asserted, except for ratios so loose that no noise can break them.

mod ab;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod blocks;
mod blocks_report;
mod capture;
mod capture_doubts;
mod capture_pulses;
mod clock_history;
mod clock_survey;
mod clocks;
mod code_in_assembly;
mod code_in_c;
mod code_in_cpp;
mod code_that_dies;
mod code_that_does_not_compile;
mod code_that_escapes;
mod code_that_floods;
mod command;
mod compare;
mod compiled_before;
mod doctor;
mod document;
mod expect;
mod experiment;
mod fit;
mod fit_bad_input;
mod fit_other_tools;
#[cfg(feature = "history")]
mod history;
mod installed_files;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod instructions;
mod interactive;
mod interrupted;
mod long;
mod markdown;
mod measurement;
mod merge;
mod mhz;
mod new;
mod output;
mod page;
mod period;
mod place;
mod remedies;
mod results_of_tools;
mod run;
mod saved;
mod shard;
#[cfg(target_os = "linux")]
mod switch;
mod threads;
mod usage;
mod vectors;
mod verify;
