//! What the reports look like, and where they go.

use crate::command::{Ended, Hairspring, time};
use crate::document::Document;
use std::fs::File;

fn chain() -> Hairspring {
    time("x = x * c").given("uint64_t x = 3").given("uint64_t c = 5")
}

fn fits_a_terminal(ended: &Ended) {
    let longest = ended.output.lines().max_by_key(|line| line.chars().count()).unwrap_or("");
    assert!(longest.chars().count() <= 80, "{} columns: {longest}", longest.chars().count());
}

#[test]
fn json_has_what_scripts_rely_on() {
    let document = chain().document().0;
    assert_eq!(document["schema"], "hairspring/result/2");
    assert_eq!(
        (&document["command"], &document["results"][0]["code"]),
        (&"time".into(), &"x = x * c".into())
    );
    for path in [
        "/environment/cpu/cpus",
        "/environment/clock/rate_hz",
        "/run/rounds",
        "/results/0/components/body/time_ns/low",
    ] {
        assert!(
            document.pointer(path).is_some_and(serde_json::Value::is_number),
            "{path}: {document:#}"
        );
    }
    for path in ["/environment/compiler", "/environment/clock/name", "/environment/system"] {
        assert!(
            document.pointer(path).is_some_and(serde_json::Value::is_string),
            "{path}: {document:#}"
        );
    }
}

#[test]
fn text_fits_80_columns() {
    let long = format!("x = {}x", "x * 3 + ".repeat(60));
    for code in ["x = x * 3", &long, &format!("x = x * 3 /* {} */", "w".repeat(300))] {
        fits_a_terminal(&time(code).given("unsigned x = 3").succeeds());
    }
}

#[test]
fn stages_are_explained_on_request() {
    let ended = chain().with("--explain").succeeds();
    fits_a_terminal(&ended);
    ended
        .says("stages what each asked, and what it did with")
        .says("How did the core clock move, and which code follows it?");
    chain().succeeds().does_not_say("what each asked");
    let document = chain().with("--explain").document();
    assert!(document.result_of(0)["stages"].as_array().is_some_and(|stages| stages.len() > 20));
    chain().with("--explain").with("--explain").ends_with(2);
}

#[test]
fn text_with_everything_in_it_fits_80_columns() {
    fits_a_terminal(
        &chain()
            .option("--method", "all")
            .option("--vs", "x + c")
            .option("--vs", "puts(\"hello\")")
            .succeeds(),
    );
    fits_a_terminal(
        &time("a[0]")
            .given("int a[999]")
            .option("--init", "a[1]++")
            .option("--cold", "a")
            .succeeds(),
    );
    fits_a_terminal(&chain().option("--clock", "times").succeeds());
}

#[test]
fn control_characters_never_reach_the_output() {
    // Every command is checked for them; here are some.
    let nasty = "x = x * 3 /* \u{1b}[31m red \u{7} \u{9b}5n \u{202e} \r */";
    time(nasty).given("unsigned x = 3").succeeds().says("x = x * 3");
    let document = time(nasty).given("unsigned x = 3").document();
    assert_eq!(document.result_of(0)["code"], nasty);
    time("puts(\"\\033[31mred\\a\")").succeeds().says("the code wrote");
    time("x \u{1b}[31m").given("unsigned x = 3").ends_with(1);
    time("1").option("--clock", "\u{1b}[31m").ends_with(2);
    time("1").option("--file", "\u{1b}[31m.c").ends_with(1);
}

#[test]
fn a_closed_output_is_not_an_error() {
    for option in ["--json", "--lang=c"] {
        let (reader, writer) = nix::unistd::pipe().unwrap();
        drop(reader);
        let ended = chain().with(option).output_to(File::from(writer)).succeeds();
        assert_eq!(ended.error, "");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    chain().output_to(full).fails("writing the result: No space left").in_one_line();
}

#[test]
fn a_missing_temporary_folder_is_named() {
    chain()
        .variable("TMPDIR", "/nosuch")
        .fails("making a temporary folder")
        .complains("/nosuch")
        .in_one_line();
}

#[test]
fn a_pipe_has_no_colours_and_ascii_where_the_locale_asks_for_it() {
    chain().succeeds().says("body");
    let plain = chain().variable("LANG", "C").succeeds();
    assert!(plain.output.is_ascii(), "{plain}");
}

#[test]
fn a_terminal_has_colours_unless_asked_not_to() {
    // `script` (package bsdutils or util-linux) runs a command on a terminal of its own.
    let on_terminal = |no_color: &str| {
        let line = format!(
            "NO_COLOR={no_color} {} time 3 --budget 100ms",
            env!("CARGO_BIN_EXE_hairspring")
        );
        let output = std::process::Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .stdin(std::process::Stdio::null())
            .output();
        let output = output.expect("`script` is needed here: apt-get install bsdutils");
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(on_terminal("").contains("\u{1b}["));
    let plain = on_terminal("1");
    assert!(plain.contains("hairspring time: 3") && !plain.contains('\u{1b}'), "{plain}");
}

#[test]
fn nothing_but_the_document_is_on_standard_output() {
    let ended = chain().with("--json").succeeds();
    assert_eq!(ended.error, "");
    Document::result(&ended.output);
    assert!(ended.output.ends_with("}\n"));
}
