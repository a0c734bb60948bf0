"""Tests of the book's checkers: they report broken links, tables, blocks and outputs, and accept
correct ones.
"""

import os
from pathlib import Path

import book_outputs
import book_pages
import pytest
from book_pages import Page


def rules(text: str, root: Path, name: str = "page.md") -> list[tuple[int, str]]:
    """Line and rule of each complaint about a page with this text."""
    return [
        (complaint.line, complaint.rule)
        for complaint in book_pages.check_page(Page(name, text), root)
    ]


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text(
        "# One\n\n## `hairspring/x/1`, and more\n\n## One\n", encoding="utf-8"
    )
    good = (
        "[a](other.md) [b](other.md#one) [c](other.md#one-1) [d](other.md#hairspringx1-and-more) "
        "[e](https://example.org)"
    )
    assert rules(f"# Top\n\n{good} [f](#top)\n", tmp_path, "other2.md") == [
        (3, "link")
    ]  # the page itself is no file
    (tmp_path / "page.md").write_text(f"# Top\n\n{good} [f](#top)\n", encoding="utf-8")
    assert rules(f"# Top\n\n{good} [f](#top)\n", tmp_path) == []
    for bad in ("[a](gone.md)", "[b](other.md#two)", "[c](#nowhere)", "![d](gone.png)"):
        assert rules(f"# Top\n\n{bad}\n", tmp_path) == [(3, "link")], bad


def test_a_missing_included_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "there.md").touch()
    text = "{{#include there.md}}\n{{#include there.md:part}}\n{{#include gone.md}}\n"
    assert rules(text, tmp_path) == [(3, "include")]


def test_tables_that_do_not_render_are_found(tmp_path: Path) -> None:
    good = "| a | b |\n|---|---|\n| `x \\| y` | 2 |\n| | 2 |\n"
    assert rules(good, tmp_path) == []
    assert rules(f"# Heading\n{good}", tmp_path) == [(2, "table")]
    assert rules(good.replace("\\|", "|"), tmp_path) == [(3, "table")]
    assert rules(good + "| 1 | 2 | 3 |\n| 1 |\n", tmp_path) == [(5, "table"), (6, "table")]
    assert rules("text\n\n| row | without a header |\n", tmp_path) == [(3, "table")]
    assert rules(f"{good}\n| a row | apart |\n", tmp_path) == [(6, "table")]


def test_code_blocks_that_do_not_render_are_found(tmp_path: Path) -> None:
    assert rules("text\n\n    code\n\n```sh\nx\n```\n\n- item\n  goes on\n", tmp_path) == []
    assert rules("text\n    no code\n", tmp_path) == [(2, "code")]
    assert rules("```sh\nopen\n", tmp_path) == [(1, "code")]
    assert rules(f"```c\n{'x' * 121}\n```\n", tmp_path) == [(2, "code")]
    assert rules(f"```sh\n{'x' * 121}\n```\n", tmp_path) == []


def test_an_output_is_run_or_measured(tmp_path: Path) -> None:
    measured = "```console\n$ hairspring mhz\n3000\n```\n"
    assert rules(measured, tmp_path) == [(2, "output")]
    assert rules(f"{measured}\nMeasured on a machine, 2026-11-21.\n", tmp_path) == []
    assert rules(f"{measured}\nMeasured on a machine.\n", tmp_path) == [(2, "output")]
    assert rules("```console\n$ hairspring fit x.csv\n```\n", tmp_path) == []
    assert rules("```console\nfoo\n```\n", tmp_path) == [(2, "output")]
    for block in ("    $ hairspring mhz\n", "```text\nbody 3.1 +- 0.2\n```\n"):
        assert rules(block, tmp_path) == [(1, "output")], block


def test_a_page_missing_from_the_table_of_contents_is_found(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "SUMMARY.md").write_text("- [A](a.md)\n", encoding="utf-8")
    files = ["docs/SUMMARY.md", "docs/a.md", "docs/b.md", "spec/c.md"]
    assert [
        complaint.text.split()[0] for complaint in book_pages.check_summary(files, tmp_path)
    ] == ["docs/b.md"]


def test_a_finding_that_is_not_explained_is_found(tmp_path: Path) -> None:
    for folder in ("docs", "spec"):
        (tmp_path / folder).mkdir()
    rows = "| kind | numbers |\n|---|---|\n| `one`, `two` | `x` |\n| `three` | |\n"
    listed = f"# A\n\n#### findings[]\n\n{rows}\n## B\n\n| `four` | |\n"
    (tmp_path / "spec" / "result.md").write_text(listed, encoding="utf-8")
    (tmp_path / "docs" / "findings.md").write_text(
        "| kind |\n|---|\n| `one` |\n| `three` |\n", encoding="utf-8"
    )
    found = book_pages.check_findings(["spec/result.md", "docs/findings.md"], tmp_path)
    assert [complaint.text.split()[0] for complaint in found] == ["`two`"]


def test_a_front_page_begins_with_the_programs_that_the_tests_run(tmp_path: Path) -> None:
    files = {file for wanted in book_pages.FRONT_PAGES.values() for _, file in wanted}
    for name in [*files, *book_pages.FRONT_PAGES]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    for file in files:
        (tmp_path / file).write_text(f"# {file}\n\nx\n", encoding="utf-8")

    def found(edit: str, changed: str) -> list[str]:
        for name, wanted in book_pages.FRONT_PAGES.items():
            text = "Words.\n\n" + "\n".join(
                f"```{word}\n# {file}\n\nx\n```\n" for word, file in wanted
            )
            text = text.replace(edit, changed)
            if name.endswith(".rs"):
                text = (
                    "".join(f"//! {line}".rstrip() + "\n" for line in text.splitlines())
                    + "mod a;\n"
                )
            (tmp_path / name).write_text(text, encoding="utf-8")
        return [complaint.file for complaint in book_pages.check_programs(["README.md"], tmp_path)]

    assert found("", "") == []
    assert found("# examples/rust/benches/first.rs", "other") == [
        "README.md",
        "crates/hairspring/src/lib.rs",
    ]
    assert found("```cpp", "```rust") == ["README.md", "crates/hairspring/src/lib.rs"]
    assert found("Words.", "```python\nearlier\n```")[-1] == "python/README.md"
    assert list(book_pages.check_programs(["docs/a.md"], tmp_path)) == []


def test_broken_links_of_the_built_book_are_found(tmp_path: Path) -> None:
    assert [complaint.text for complaint in book_pages.check_html(tmp_path)] == [
        "there are no pages"
    ]
    (tmp_path / "a.html").write_text(
        '<h1 id="x"><a href="b.html#y">b</a><a href="#x">x</a></h1>', encoding="utf-8"
    )
    (tmp_path / "b.html").write_text(
        '<a href="a.html#x"></a><a href="c.html"></a><img src="d.png">', encoding="utf-8"
    )
    found = [complaint.text for complaint in book_pages.check_html(tmp_path)]
    assert found == ["b.html#y: no such anchor", "c.html does not exist", "d.png does not exist"]


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the project's folders, and a command that prints its arguments."""
    for name in book_outputs.LINKED:
        (tmp_path / name).mkdir()
    command = tmp_path / "command"
    command.write_text('#!/bin/sh\necho "got $*"\n', encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_outputs_are_compared_and_blessed(book: Path) -> None:
    page = book / "docs" / "page.md"
    measured = "```console\n$ hairspring mhz\nold\n```\n\nMeasured on a machine, 2026-11-21.\n"
    stale = (
        "```console\n$ hairspring fit a \\\n    b > out\n$ cat out\n$ hairspring fit c\nold\n```\n"
    )
    page.write_text(stale + "\n" + measured, encoding="utf-8")
    complaints = book_outputs.check_page("docs/page.md", book, book / "command", bless=False)
    assert [line for line in complaints if line[0] in "+-"][2:] == [
        "+got fit a b",
        "-old",
        "+got fit c",
    ]
    assert book_outputs.check_page("docs/page.md", book, book / "command", bless=True) == []
    assert book_outputs.check_page("docs/page.md", book, book / "command", bless=False) == []
    assert page.read_text(encoding="utf-8").endswith(measured)
    assert not os.path.exists(book / "out")


def test_the_last_digits_of_long_numbers_are_not_compared(book: Path) -> None:
    for old, new, same in (
        ("48.00707514692156", "48.00707514692159", True),
        ("48.007075147", "48.007074147", False),
    ):
        page = book / "docs" / "page.md"
        page.write_text(f"```console\n$ hairspring fit a\n{old}\n```\n", encoding="utf-8")
        (book / "command").write_text(f"#!/bin/sh\necho {new}\n", encoding="utf-8")
        assert (
            book_outputs.check_page("docs/page.md", book, book / "command", bless=False) == []
        ) is same


def test_a_verb_needs_a_page_with_its_options(book: Path) -> None:
    listing = (
        "Commands:\\n  fit   Solve\\n        more words\\n  time  Time\\n  help  "
        "Help\\n\\nOptions:\\n  -h\\n"
    )
    (book / "command").write_text(f"#!/bin/sh\nprintf '{listing}'\n", encoding="utf-8")
    (book / "docs" / "commands").mkdir()
    (book / "docs" / "commands" / "fit.md").write_text(
        "```console\n$ hairspring fit --help\n```\n", encoding="utf-8"
    )
    assert book_outputs.verbs(book / "command") == ["fit", "time"]
    found = list(book_outputs.without_page(book / "command", book))
    assert found == ["docs/commands/time.md: `hairspring time` has no page"]
