//! Names and lines of stripped programs: from the files into which they were moved, and what there
//! is without them.

use crate::blocks::{Done, Rig, compile, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const WORK: &str = include_str!("../../../../../bench/programs/blocks.c");

fn run(command: &mut Command) -> String {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// A program without names and lines, and the file that has them.
fn stripped() -> (Rig, PathBuf) {
    let rig = compile(WORK, &["-O2", "-g", "-Wl,--build-id"]);
    let names = rig.folder.path().join("program.debug");
    run(Command::new("objcopy").arg("--only-keep-debug").args([&rig.program, &names]));
    run(Command::new("strip").arg(&rig.program));
    (rig, names)
}

fn has_names_and_lines(done: &Done) {
    let document = json(done);
    assert_eq!(document["function"]["name"], "work");
    let lines = document["lines"].as_array().unwrap();
    assert!(
        lines.iter().any(|line| line["text"].as_str().unwrap().contains("CHAIN(10)")),
        "{lines:?}"
    );
}

fn build_id(program: &Path) -> String {
    let text = run(Command::new("readelf").arg("-n").arg(program));
    text.split_once("Build ID: ").unwrap().1.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn names_and_lines_come_from_the_file_that_a_link_names() {
    let (rig, names) = stripped();
    run(Command::new("objcopy")
        .arg(format!("--add-gnu-debuglink={}", names.display()))
        .arg(&rig.program));
    has_names_and_lines(&rig.blocks("work", "1 2 3\n1\n", &["--json"]));
    let hidden = rig.folder.path().join(".debug");
    std::fs::create_dir(&hidden).unwrap();
    std::fs::rename(&names, hidden.join("program.debug")).unwrap();
    has_names_and_lines(&rig.blocks("work", "1 2 3\n1\n", &["--json"]));
    // A file of another build has other lines.
    std::fs::write(hidden.join("program.debug"), "another build").unwrap();
    let done = rig.blocks("work", "1\n", &[]);
    assert!(done.status == 1 && done.stderr.contains("the program is stripped"), "{}", done.stderr);
}

#[test]
fn names_and_lines_come_from_the_folder_by_the_build_id() {
    let (rig, names) = stripped();
    let id = build_id(&rig.program);
    let folder = rig.folder.path().join("names");
    let place = folder.join(".build-id").join(&id[..2]);
    std::fs::create_dir_all(&place).unwrap();
    std::fs::rename(&names, place.join(format!("{}.debug", &id[2..]))).unwrap();
    let folder = folder.to_str().unwrap();
    has_names_and_lines(&rig.blocks("work", "1 2 3\n1\n", &["--json", "--debug-files", folder]));
    let done = rig.blocks("work", "1\n", &[]);
    assert!(done.status == 1 && done.stderr.contains("--list shows all"), "{}", done.stderr);
    // Under the right name, a file of another build does not count.
    let other = compile(WORK, &["-O1", "-g", "-Wl,--build-id"]);
    std::fs::copy(&other.program, place.join(format!("{}.debug", &id[2..]))).unwrap();
    let done = rig.blocks("work", "1\n", &["--debug-files", folder]);
    assert!(done.status == 1 && done.stderr.contains("the program is stripped"), "{}", done.stderr);
}

#[test]
fn functions_are_listed_with_and_without_names() {
    let rig = compile(WORK, &["-O2", "-g"]);
    let list = || {
        run(Command::new(env!("CARGO_BIN_EXE_hairspring"))
            .arg("blocks")
            .arg(&rig.program)
            .arg("--list"))
    };
    let named = list();
    let line = named.lines().find(|line| line.ends_with("  work")).unwrap().to_owned();
    let [address, bytes, _] = line.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{line}")
    };
    run(Command::new("strip").arg(&rig.program));
    let bare = list();
    let same = bare.lines().find(|line| line.split_whitespace().next() == Some(address)).unwrap();
    assert!(
        same.contains(bytes) && same.ends_with("(no name)") && !bare.contains("work"),
        "{same}"
    );
    assert_eq!(json(&rig.blocks(address, "1 2\n", &["--json"]))["function"]["entry"], address);
    let both = Command::new(env!("CARGO_BIN_EXE_hairspring"))
        .args(["blocks", "true", "--list", "--json"])
        .output()
        .unwrap();
    assert_eq!(both.status.code(), Some(2));
}
