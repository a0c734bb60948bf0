//! `hairspring new`: a first benchmark in a project.

use crate::command::Hairspring;

const PACKAGE: &str = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

fn new() -> Hairspring {
    Hairspring::new().with("new")
}

#[test]
fn a_package_of_cargo_gets_a_bench_target() {
    let ended = new().beside("Cargo.toml", PACKAGE).succeeds().says("wrote    benches/speed.rs");
    assert!(ended.output.ends_with("next     cargo bench --bench speed\n"), "{}", ended.output);
    let manifest: toml::Table = ended.file("Cargo.toml").parse().unwrap();
    assert!(ended.file("Cargo.toml").starts_with(PACKAGE));
    assert_eq!(manifest["bench"][0]["harness"].as_bool(), Some(false));
    assert!(ended.file("benches/speed.rs").contains("hairspring::main!()"));
}

#[test]
fn a_project_of_cmake_gets_a_folder_once() {
    let list = "cmake_minimum_required(VERSION 3.18)\nproject(a C)\nadd_subdirectory(bench)\n";
    let ended = new().beside("CMakeLists.txt", list).option("--name", "fast").succeeds();
    assert_eq!(ended.file("CMakeLists.txt"), list);
    assert!(ended.file("bench/CMakeLists.txt").contains("add_executable(fast fast.cpp)"));
    assert!(ended.file("bench/fast.cpp").contains("HAIRSPRING_MAIN_CPP"));
}

#[test]
fn a_project_of_python_gets_a_file_alone() {
    let ended = new().beside("pyproject.toml", "").succeeds().says("benchmarks/speed.py");
    assert!(!ended.output.contains("added to") && ended.file("pyproject.toml").is_empty());
}

#[test]
fn lines_end_as_those_of_the_file() {
    let ended = new().beside("Cargo.toml", PACKAGE.replace('\n', "\r\n")).succeeds();
    let manifest = ended.file("Cargo.toml");
    assert_eq!(manifest.matches('\n').count(), manifest.matches("\r\n").count());
}

#[test]
fn what_exists_is_not_overwritten() {
    let there = |file| {
        let list = "project(a C)\n";
        new().beside("CMakeLists.txt", list).beside(file, "mine")
    };
    let ended = there("bench/speed.cpp").fails("stays as it is: choose another name (--name)");
    assert_eq!(ended.file("bench/speed.cpp"), "mine");
    let ended = there("bench/CMakeLists.txt").fails("add the benchmark there yourself");
    assert_eq!(ended.file("bench/CMakeLists.txt"), "mine");
    assert_eq!(ended.file("CMakeLists.txt"), "project(a C)\n");
    there("bench/other.cpp").succeeds();
}

#[test]
fn what_is_no_project_is_told() {
    new().ends_with(2).complains("has none of Cargo.toml, CMakeLists.txt");
    new().with("no").ends_with(2).complains("there is no folder no");
    let both = || new().beside("Cargo.toml", PACKAGE).beside("fpm.toml", "name = \"a\"\n");
    both().ends_with(2).complains("this is a project of rust and fpm: choose one with --kind");
    both().option("--kind", "rust").succeeds();
    both().option("--kind", "fpm").fails("give --source");
    both().option("--kind", "python").ends_with(2).complains("has no pyproject.toml");
    both().option("--name", "../x").ends_with(2).complains("lower-case letters");
    both()
        .with("--kind")
        .with("fpm")
        .option("--source", ".")
        .ends_with(2)
        .complains("this is no clone of Hairspring");
    let hostile = ["[workspace]\n", "[package\n", "bench = []\n[package]\nname = \"a\"\n"];
    for manifest in hostile {
        let ended = new().beside("Cargo.toml", manifest).ends_with(1);
        assert_eq!(ended.file("Cargo.toml"), manifest);
    }
    new().beside("Cargo.toml", b"\xff\xfe").ends_with(1).complains("Cargo.toml");
}
