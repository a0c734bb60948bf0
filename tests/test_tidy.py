"""Tests of the checker: it must report breaches, and nothing else."""

from pathlib import Path

import tidy

RUST = """
/// Braces in text do not count: { "
fn first<'a>(x: &'a [u8; 2]) -> char {
    let _ = "}";
    let _ = r#"} " }"#;
    /* } */
    '}'
}

trait T {
    fn declared(&self) -> [u8; 4];
    fn one_line(&self) {}
}
"""


def test_rust_functions_are_measured_by_their_own_braces() -> None:
    assert list(tidy.rust_functions(RUST)) == [("first", 3, 6), ("one_line", 12, 1)]


def test_python_functions_are_measured() -> None:
    assert list(tidy.python_functions("def f():\n    def g():\n        pass\n")) == [
        ("f", 1, 3),
        ("g", 2, 2),
    ]


def test_only_paths_of_the_project_count_as_paths(tmp_path: Path) -> None:
    (tmp_path / "crates").mkdir()
    for name in ("crates/gone", "docs/", "README.md", "./run"):
        assert tidy.looks_like_path(name, tmp_path), name
    for name in (
        "ns/op",
        "hairspring/result/2",
        "--json",
        "cargo test",
        "x * c",
        "crates/<name>/src",
        "tests/NN-name.sh",
        "crates/NAME.rs",
        "bench/target/peers/",
        ".csv",
    ):
        assert not tidy.looks_like_path(name, tmp_path), name


def test_a_drawn_tree_names_paths() -> None:
    document = (
        "```\ncrates/\n  engine/src/   the engine; see lib.rs\n    clock/ units.rs\nREADME.md\n"
        "```\n"
    )
    paths = [path for _, path in tidy.named_paths(document, Path())]
    expected = [
        "crates/",
        "crates/engine/src/",
        "crates/engine/src/clock/",
        "crates/engine/src/units.rs",
        "README.md",
    ]
    assert paths == expected


def test_code_spans_are_checked(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "beside.md").touch()
    text = (
        "`lost.rs`, `in/deep.rs`, `beside.md`, `built/target/x.json`, `own.c`\n\n    cat >own.c\n"
    )
    for file, expected in (("docs/page.md", ["lost.rs"]), ("CHANGELOG.md", [])):
        found = [
            finding.subject
            for finding in tidy.check_named_paths(file, text, tmp_path, ["far/in/deep.rs"])
        ]
        assert found == expected, file


def test_paths_of_a_machine_and_registries_are_found() -> None:
    text = (
        "cd /home"
        + "/somebody\npip install -i https://pypi.org"
        + "/simple x\nls target/home/x ~/.cargo\n"
    )
    assert [(finding.rule, finding.line) for finding in tidy.check_patterns("a", text)] == [
        ("machine-path", 1),
        ("address", 2),
    ]


def test_an_exception_needs_a_reason(tmp_path: Path) -> None:
    listed = tmp_path / "exceptions.txt"
    listed.write_text("# remark\n\nlong-file a.rs -- a table\nlong-file  b.rs\n")
    keys, complaints = tidy.read_exceptions(listed)
    assert keys == {"long-file a.rs", "long-file b.rs"}
    assert len(complaints) == 1


IMPURE = """//! No `unsafe`, no libc, std::fs is not here.
#![forbid(unsafe_code)]
use std::time::Duration;
use std::{collections::HashMap, fs};
fn f() { let text = "std::process"; let _ = std::thread::current(); println!("{text}"); }
/// See --keep-all; a line -- of words, and an arrow -->.
unsafe fn g() { std::time::Instant::now(); }
"""


def test_names_of_a_system_or_a_front_end_are_found_in_the_core() -> None:
    found = [
        (finding.line, finding.subject)
        for finding in tidy.check_purity("crates/hairspring-core/src/a/b.rs", IMPURE)
    ]
    assert found == [
        (4, "std::{collections::HashMap, fs}"),
        (5, "std::thread"),
        (5, "println!"),
        (7, "unsafe"),
        (7, "Instant"),
        (6, "--keep-all"),
    ]
    assert not list(tidy.check_purity("crates/hairspring-host/src/a.rs", IMPURE))
    assert [
        finding.subject
        for finding in tidy.check_purity("crates/hairspring-core/Cargo.toml", "libc = 1\n")
    ] == ["libc"]


def columns(file: str, text: str) -> list[int]:
    return [finding.line for finding in tidy.check_columns(file, text)]


def test_a_long_line_is_reported_once_for_a_file() -> None:
    long = "x" * 101
    assert columns("a.rs", f"// {long}\n// {long}\n") == [1]
    assert columns("a.rs", "x" * 100 + "\n") == []
    assert columns("a.csv", long + "\n") == []
    assert columns("run", f"#!/usr/bin/env bash\n# {long}\n") == [2]
    assert (
        columns("CHANGELOG.md", long + "\n") == columns("changelog/fixed-x.md", long + "\n") == []
    )


def test_text_that_cannot_be_parted_is_no_long_line() -> None:
    text = "word " * 30
    assert (
        columns("a.rs", f'let a = r#"{text}"#;\n')
        == columns("a.py", f'A = """\n{text}\n"""\n')
        == []
    )
    assert columns("a.rs", f'let a = "{text}";\n') == [1]
    assert columns("a.sh", f"echo '{text}'\n") == columns("a.h", f'#error "{text}"\n') == []
    assert columns("a.py", f'"""{text}"""\n') == [1]
    assert columns("a.toml", f'a = "{text}"\n') == [] and columns("a.toml", f"# {text}\n") == [1]
    assert columns("a.c", f"/* https://example.org/{'x' * 99} */\n") == []


def test_paragraphs_of_documents_are_measured() -> None:
    text = "word " * 30
    assert columns("a.md", f"{text}\n") == [1]
    for line in (
        f"| {text} |",
        f"# {text}",
        f"```\n{text}\n```",
        f"[{text}](other.md)",
        f"<p>{text}",
    ):
        assert columns("a.md", line + "\n") == [], line
