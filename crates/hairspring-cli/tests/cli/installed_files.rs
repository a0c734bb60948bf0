//! What is installed beside the command: manual pages and completions, made by the command itself.

use crate::command::{Hairspring, needs, verbs};
use std::process::Command;

fn man() -> Hairspring {
    Hairspring::new().with("man")
}

/// Long options in a help text: the first word of an entry, or the one behind a short option.
fn options(help: &str) -> Vec<String> {
    let entry = |line: &str| {
        line.trim_start()
            .strip_prefix("-")
            .is_some()
            .then(|| line.split("--").nth(1).map(str::to_owned))
            .flatten()
    };
    let name = |rest: String| {
        rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect()
    };
    help.split_once("Options:\n").unwrap().1.lines().filter_map(entry).map(name).collect()
}

#[test]
fn every_verb_has_a_page_with_all_its_options() {
    let ended = man().option("--out", "share/man/man1").succeeds();
    assert_eq!(ended.output, "");
    assert!(
        ended.file("share/man/man1/hairspring.1").contains("hairspring\\-time(1)"),
        "the verbs' pages are named"
    );
    for verb in verbs() {
        let page = ended.file(&format!("share/man/man1/hairspring-{verb}.1"));
        assert!(
            page.contains(&format!(".TH hairspring-{verb} 1  \"hairspring 0."))
                && page.contains(".SH SYNOPSIS"),
            "{page}"
        );
        let help = Hairspring::new().with(&verb).with("--help-all").succeeds().output;
        let options = options(&help);
        assert!(options.iter().any(|option| option == "help"), "{help}");
        for option in options {
            let escaped = format!("\\-\\-{}", option.replace('-', "\\-"));
            assert!(page.contains(&escaped), "--{option} is not in the page of {verb}:\n{page}");
        }
    }
}

#[test]
fn one_page_is_printed() {
    man().succeeds().says(".TH hairspring 1").says("Exit status: 0 success");
    man()
        .with("report")
        .succeeds()
        .says("The JSON of hyperfine")
        .says("Lines of Go\\*(Aqs benchmarks");
    let page = man().with("time").succeeds().says(".TH hairspring-time 1").output;
    assert_eq!(page, man().option("--out", ".").succeeds().file("hairspring-time.1"));
    man()
        .with("tea")
        .ends_with(2)
        .complains("there is no verb `tea`; known are time, run,")
        .in_one_line();
    man().with("time").option("--out", "x").ends_with(2).complains("cannot be used with");
    man()
        .beside("taken", "")
        .option("--out", "taken/man1")
        .fails("--out taken/man1: Not a directory");
}

/// Runs bash with the completions loaded; gives what it completes the words to.
fn completed_by_bash(script: &str, words: &[&str]) -> Vec<String> {
    let asked = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                 COMP_LINE=\"$*\"; COMP_POINT=${#COMP_LINE}\n\
                 function=$(complete -p hairspring | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n\
                 \"$function\" hairspring \"${COMP_WORDS[COMP_CWORD]}\" \
                 \"${COMP_WORDS[COMP_CWORD-1]}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let ended = Command::new("bash")
        .args(["--norc", "-c", asked, "bash", script])
        .args(words)
        .output()
        .unwrap();
    assert!(
        ended.status.success() && ended.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    String::from_utf8(ended.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_verbs_options_and_values() {
    needs("bash");
    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&script, Hairspring::new().with("completions").with("bash").succeeds().output)
        .unwrap();
    let path = script.path().to_str().unwrap();
    assert!(Command::new("bash").args(["-n", path]).status().unwrap().success());
    let completed = |words: &[&str]| completed_by_bash(path, words);
    assert_eq!(completed(&["hairspring", "ti"]), ["time"]);
    assert_eq!(completed(&["hairspring", "time", "--cfl"]), ["--cflags"]);
    assert_eq!(completed(&["hairspring", "time", "--method", "di"]), ["differential", "direct"]);
    assert_eq!(completed(&["hairspring", "report", "--format", "be"]), ["bencher", "benchstat"]);
    let all = completed(&["hairspring", ""]);
    assert!(verbs().iter().all(|verb| all.contains(verb)), "{all:?}");
}

#[test]
fn other_shells_have_completions_too() {
    let script = |shell: &str| Hairspring::new().with("completions").with(shell).succeeds();
    script("zsh").says("#compdef hairspring").says("--cflags");
    script("fish").says("complete -c hairspring").says("-l cflags");
    Hairspring::new()
        .with("completions")
        .with("cmd")
        .ends_with(2)
        .complains("[possible values: bash, ");
    Hairspring::new().with("completions").ends_with(2).complains("<SHELL>");
}
