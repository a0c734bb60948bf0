//! Wrong usage ends with 2 and a message that helps; help and version with 0.

use crate::command::{Hairspring, time, verbs};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

fn misused(command: Hairspring, message: &str) {
    let ended = command.ends_with(2).complains(message).complains("--help");
    assert_eq!(ended.output, "");
}

#[test]
fn help_and_version_are_there() {
    for verb in verbs() {
        Hairspring::new()
            .with(&verb)
            .with("--help")
            .succeeds()
            .says(&format!("Usage: hairspring {verb}"));
    }
    for verb in ["time", "fit", "verify", "period"] {
        Hairspring::new().with(verb).with("--help").succeeds().says("--json");
    }
    Hairspring::new().with("--help").succeeds().says("Exit status: 0 success");
    Hairspring::new().with("--version").succeeds().says("hairspring 0.");
}

#[test]
fn verbs_and_arguments_must_be_known() {
    Hairspring::new().ends_with(2).complains("Usage: hairspring");
    misused(Hairspring::new().with("measure"), "unrecognized subcommand 'measure'");
    misused(Hairspring::new().with("time"), "<CODE>");
    misused(Hairspring::new().with("fit"), "<FILE>");
    misused(Hairspring::new().with("verify").with("now"), "unexpected argument 'now'");
    misused(time("1").with("--nosuch"), "unexpected argument '--nosuch'");
    misused(time("1").with("--jsn"), "a similar argument exists: '--json'");
    misused(time("1").with("2"), "unexpected argument '2'");
}

#[test]
fn every_verb_refuses_options_that_it_does_not_have() {
    for verb in verbs() {
        let odd = OsStr::from_bytes(b"--\xff\xfe");
        // Twice: code may begin with a minus, so `time` takes the first one for its code.
        let twice = |option: &str| Hairspring::new().with(&verb).with(option).with(option);
        misused(twice("--nosuch"), "--nosuch");
        misused(twice("--\u{1b}[31m"), "--");
        Hairspring::new().with(&verb).with(odd).ends_with(2);
        Hairspring::new().with(&verb).with("--help=no").ends_with(2);
    }
}

#[test]
fn values_must_make_sense() {
    misused(time("1").option("--budget", "fast"), "expected a time such as 1s, 250ms or 2m");
    misused(Hairspring::new().with("verify").with("--budget=-1s"), "above 0");
    misused(time("1").option("--budget", "0"), "above 0");
    misused(time("1").option("--timeout", "1000h"), "at most a day");
    misused(time("1").option("--precision", "much"), "expected a percentage such as 0.5%");
    misused(time("1").option("--precision", "100%"), "below 100 %");
    misused(time("1").option("--precision", "NaN"), "--precision");
    misused(time("1").option("--confidence-level", "20%"), "from 50% to 99.99%");
    misused(time("1").option("--cpu", "first"), "invalid digit");
    misused(time("1").with("--cpu=-1"), "--cpu");
    misused(time("1").option("--lang", "cobol"), "[possible values: c, c++, asm]");
    misused(
        time("1").option("--method", "guess"),
        "[possible values: line, differential, direct, all]",
    );
    misused(time("1").with("--json").with("--json"), "cannot be used multiple times");
}

#[test]
fn code_may_begin_with_a_minus() {
    time("-x").given("int x = 3").succeeds();
    time("--x").given("int x = 3").succeeds().says("chained through x");
}

#[test]
fn arguments_that_are_not_utf_8_are_refused() {
    let odd = OsStr::from_bytes(b"\xff\xfe");
    Hairspring::new().with(odd).ends_with(2);
    time(odd).ends_with(2).complains("UTF-8");
    time("1").option("--let", odd).ends_with(2);
    time("1").option("--file", odd).ends_with(1);
    Hairspring::new().with("fit").with(odd).ends_with(1).complains("No such file");
}

#[test]
fn a_host_without_a_parent_ends() {
    Hairspring::new().with("__host").succeeds();
}
