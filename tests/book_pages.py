"""The rules for the Markdown of the project. Reads the project's file names on standard input, one
per line.

link      A link leads to a file that exists, and its anchor to a heading of that file.
include   A file that a page includes ({{#include FILE}}) exists.
table     A table has a header, an empty line before it, and as many cells in each row as in its
          header. A `|` within a cell is written `\\|`, in a code span too.
code      A code block is closed, is not the continuation of a paragraph, and has lines of at most
          120 characters (commands in `sh` may be longer: a reader copies them as one line).
output    The language of a block with a command and its output is `console`. Either
          tests/book_outputs.py can run it, or the line after it says where and when it was made:
          "Measured on MACHINE, DATE."
summary   The book's table of contents names every page of docs/.
findings  docs/findings.md has every kind of finding that spec/result.md lists.
program   A front page begins with the first programs of examples/, word for word: the tests of each
          language run these.

With the folder of the built book as an argument (--html FOLDER), links are checked in its pages
instead.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

CODE_COLUMNS = 120
MADE = re.compile(r"(?:Measured on|Simulated with) .+?, \d{4}-\d{2}-\d{2}\b")
INCLUDE = re.compile(r"\{\{#include ([^}:]+)(?::[^}]*)?\}\}")
# Commands with the same output everywhere (`./parser` is a script that prints readings from a
# file). All others need a line that says where and when the output was made.
SAME_EVERYWHERE = re.compile(
    r"hairspring (?:fit|capture|compare|merge|report)\b|hairspring (?:\w+ )?--(?:help|version)\b"
    r"|hairspring experiment .* --check\b|hairspring run \./parser |cat |grep |printf |head "
    r"|python3 examples/"
)


class Complaint(NamedTuple):
    """One breach of one rule."""

    file: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {self.text}"


class Block(NamedTuple):
    """A block of the language `console`: the first line of its content (from 0), and the
    paragraph after it.
    """

    first: int
    lines: list[str]
    behind: str

    def measured(self) -> bool:
        """Whether the paragraph after the block says where and when its output was made."""
        return MADE.match(" ".join(self.behind.split())) is not None


class Page:
    """A Markdown file, parsed."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.lines = text.splitlines()
        self.tokens = MarkdownIt("commonmark").enable("table").parse(text)

    def complaint(self, line: int, rule: str, text: str) -> Complaint:
        """A complaint about a line, counted from 0."""
        return Complaint(self.name, line + 1, rule, text)

    def blocks(self) -> Iterator[Block]:
        """All blocks of the language `console`."""
        for at, token in enumerate(self.tokens):
            if token.type == "fence" and token.info.strip() == "console":
                behind = self.tokens[at + 2].content if len(self.tokens) > at + 2 else ""
                is_paragraph = (
                    len(self.tokens) > at + 1 and self.tokens[at + 1].type == "paragraph_open"
                )
                yield Block(
                    first_line(token) + 1,
                    token.content.splitlines(),
                    behind if is_paragraph else "",
                )


def first_line(token: Token) -> int:
    """The line of the source that a block begins on, from 0."""
    return token.map[0] if token.map else 0


# ---- links


def plain_text(token: Token) -> str:
    """The text of a heading as a reader sees it."""
    return "".join(
        child.content for child in token.children or [] if child.type in ("text", "code_inline")
    )


def anchors(tokens: list[Token]) -> set[str]:
    """The anchors of all headings, as mdBook and GitHub make them."""
    found: dict[str, int] = {}
    names = set()
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            kept = re.sub(r"[^\w\s-]", "", plain_text(tokens[at + 1]).lower())
            slug = re.sub(r"\s", "-", kept.strip())
            names.add(f"{slug}-{found[slug]}" if slug in found else slug)
            found[slug] = found.get(slug, 0) + 1
    return names


def links(tokens: list[Token]) -> Iterator[tuple[int, str]]:
    """Line (from 0) and target of each link and picture that leads to no other host."""
    for token in tokens:
        for child in token.children or []:
            target = child.attrs.get("href", child.attrs.get("src"))
            if isinstance(target, str) and not re.match(r"[a-z]+:", target):
                yield first_line(token), unquote(target)


def check_links(page: Page, root: Path) -> Iterator[Complaint]:
    """Rules link and include."""
    for line, target in links(page.tokens):
        path, _, anchor = target.partition("#")
        file = (root / page.name).parent / path if path else root / page.name
        if not file.exists():
            yield page.complaint(line, "link", f"{path} does not exist")
        elif anchor and file.suffix == ".md":
            text = file.read_text(encoding="utf-8")
            if anchor not in anchors(MarkdownIt("commonmark").parse(text)):
                yield page.complaint(line, "link", f"{path or page.name} has no heading #{anchor}")
    for number, text in enumerate(page.lines):
        for target in INCLUDE.findall(text):
            if not ((root / page.name).parent / target).is_file():
                yield page.complaint(number, "include", f"{target} does not exist")


# ---- tables


def cells(row: str) -> int:
    """Number of cells in a row of a table."""
    inner = row.strip().removeprefix("|")
    inner = re.sub(r"(?<!\\)\|$", "", inner.strip())
    return len(re.findall(r"(?<!\\)\|", inner)) + 1


def check_tables(page: Page) -> Iterator[Complaint]:
    """Rule table."""
    for at, token in enumerate(page.tokens):
        if token.type == "table_open" and token.map:
            first, last = token.map
            if first > 0 and page.lines[first - 1].strip():
                yield page.complaint(first, "table", "no empty line before the table")
            columns = cells(page.lines[first])
            for number in range(first, last):
                if cells(page.lines[number]) != columns:
                    found = cells(page.lines[number])
                    yield page.complaint(
                        number, "table", f"{found} cells in a table of {columns} columns"
                    )
        elif token.type == "inline" and page.tokens[at - 1].type == "paragraph_open" and token.map:
            for number in range(*token.map):
                if page.lines[number].lstrip().startswith("|"):
                    yield page.complaint(
                        number, "table", "a row outside of a table: no header, or no empty line?"
                    )
                    break


# ---- code blocks and outputs


def check_block(page: Page, token: Token) -> Iterator[Complaint]:
    """A code block is closed, and its lines are not too long."""
    first, last = token.map or [0, 0]
    closed = last - first > 1 and page.lines[last - 1].strip().startswith(token.markup)
    if token.type == "fence" and not closed:
        yield page.complaint(first, "code", "the block is not closed")
    for number in range(first, last):
        columns = len(page.lines[number])
        if columns > CODE_COLUMNS and token.info.strip() != "sh":
            yield page.complaint(number, "code", f"{columns} characters; at most {CODE_COLUMNS}")


def check_code(page: Page) -> Iterator[Complaint]:
    """Rule code."""
    depth = 0
    for at, token in enumerate(page.tokens):
        depth += token.nesting if token.type.endswith(("list_open", "list_close")) else 0
        if token.type in ("fence", "code_block"):
            yield from check_block(page, token)
        elif (
            depth == 0
            and token.type == "inline"
            and page.tokens[at - 1].type == "paragraph_open"
            and token.map
        ):
            for number in range(token.map[0] + 1, token.map[1]):
                if page.lines[number].startswith("    "):
                    yield page.complaint(
                        number,
                        "code",
                        "a part of the paragraph above: no empty line before the block",
                    )
                    break


def check_outputs(page: Page) -> Iterator[Complaint]:
    """Rule output."""
    for token in page.tokens:
        if token.type not in ("fence", "code_block") or token.info.strip() in (
            "console",
            "markdown",
        ):
            continue
        commands = [line for line in token.content.splitlines() if line.startswith("$ ")]
        if commands or re.search(r"\d \+- \d", token.content):
            yield page.complaint(
                first_line(token), "output", "an output outside of a `console` block"
            )
    for block in page.blocks():
        commands = [line[2:] for line in block.lines if line.startswith("$ ")]
        if not block.lines or not block.lines[0].startswith("$ "):
            yield page.complaint(
                block.first, "output", "a console block begins with a command: `$ ...`"
            )
        elif not block.measured():
            for command in commands:
                if not SAME_EVERYWHERE.match(command):
                    text = (
                        'neither the same everywhere nor followed by "Measured on MACHINE, DATE": '
                        f"{command}"
                    )
                    yield page.complaint(block.first, "output", text)


def check_page(page: Page, root: Path) -> Iterator[Complaint]:
    """All complaints about one page."""
    yield from check_links(page, root)
    yield from check_tables(page)
    yield from check_code(page)
    yield from check_outputs(page)


def check_summary(files: list[str], root: Path) -> Iterator[Complaint]:
    """Rule summary."""
    name = "docs/SUMMARY.md"
    if name in files:
        page = Page(name, (root / name).read_text(encoding="utf-8"))
        listed = {f"docs/{target}" for _, target in links(page.tokens)}
        for file in files:
            if file.startswith("docs/") and file.endswith(".md") and file not in listed | {name}:
                yield page.complaint(0, "summary", f"{file} is not in the table of contents")


KIND = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \|", re.MULTILINE)


def kinds(text: str) -> set[str]:
    """The names in the first column of the tables."""
    return {name for row in KIND.findall(text) for name in re.findall(r"\w+", row)}


def check_findings(files: list[str], root: Path) -> Iterator[Complaint]:
    """Rule findings."""
    listed, explained = "spec/result.md", "docs/findings.md"
    if {listed, explained} <= set(files):
        _, _, section = (root / listed).read_text(encoding="utf-8").partition("#### findings[]\n")
        missing = kinds(section.partition("\n#")[0]) - kinds(
            (root / explained).read_text(encoding="utf-8")
        )
        for kind in sorted(missing):
            yield Complaint(explained, 1, "findings", f"`{kind}` of {listed} is not explained")


# ---- first programs

RUST = ("rust", "examples/rust/benches/first.rs")
CPP = ("cpp", "examples/cpp/first.cpp")
PYTHON = ("python", "examples/python/first.py")
# Front pages, and the language and file of each program that they begin with.
FRONT_PAGES = {
    "README.md": (RUST, CPP, PYTHON),
    "crates/hairspring/src/lib.rs": (RUST, CPP, PYTHON),
    "python/README.md": (PYTHON,),
}


def documentation(text: str) -> str:
    """The Markdown in the documentation of a Rust file, line by line."""
    return "\n".join(
        re.sub("^//! ?", "", line) if line.startswith("//!") else "" for line in text.splitlines()
    )


def programs(page: Page) -> list[tuple[int, str, str]]:
    """Line (from 0), language and text of each code block in a language of programs."""
    blocks = [token for token in page.tokens if token.type == "fence"]
    named = [(first_line(token), token.info.strip(), token.content) for token in blocks]
    return [block for block in named if block[1] in ("rust", "", "cpp", "python")]


def check_programs(files: list[str], root: Path) -> Iterator[Complaint]:
    """Rule program."""
    if not set(FRONT_PAGES) & set(files):
        return
    for name, wanted in FRONT_PAGES.items():
        text = (root / name).read_text(encoding="utf-8")
        page = Page(name, documentation(text) if name.endswith(".rs") else text)
        shown = programs(page)[: len(wanted)]
        for at, (language, file) in enumerate(wanted):
            line, found, code = shown[at] if at < len(shown) else (0, "", "")
            if (found, code) != (language, (root / file).read_text(encoding="utf-8")):
                yield page.complaint(
                    line, "program", f"program {at + 1} of the page is not {file}, as `{language}`"
                )


# ---- the built book


class Anchors(HTMLParser):
    """The links and the anchors of an HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[tuple[int, str]] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" and value:
                self.ids.add(value)
            elif key in ("href", "src") and value and tag in ("a", "img", "script", "link"):
                self.targets.append((self.getpos()[0], unquote(value)))


def check_html(folder: Path) -> Iterator[Complaint]:
    """Links of the built book, except its print page, which repeats all others, and its error
    page.
    """
    pages = {
        path.resolve(): Anchors(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if path.name not in ("print.html", "404.html", "toc.html")
    }
    if not pages:
        yield Complaint(str(folder), 1, "link", "there are no pages")
    for path, page in pages.items():
        for line, target in page.targets:
            name, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target) or name.endswith("print.html"):
                continue
            file = (path.parent / name).resolve() if name else path
            if not file.exists():
                yield Complaint(
                    str(path.relative_to(folder.resolve())),
                    line,
                    "link",
                    f"{target} does not exist",
                )
            elif anchor and file in pages and anchor not in pages[file].ids:
                yield Complaint(
                    str(path.relative_to(folder.resolve())),
                    line,
                    "link",
                    f"{target}: no such anchor",
                )


def documents(listed: list[str], root: Path) -> list[str]:
    """The Markdown files that are written by hand."""
    return [name for name in listed if name.endswith(".md") and (root / name).is_file()]


def main() -> int:
    """Prints every complaint."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--html", type=Path, help="the folder of the built book")
    html: Path | None = parser.parse_args().html
    root = Path.cwd()
    if html:
        complaints, looked_at = list(check_html(html)), "the built book"
    else:
        files = documents(sys.stdin.read().splitlines(), root)
        pages = [Page(name, (root / name).read_text(encoding="utf-8")) for name in files]
        complaints = [complaint for page in pages for complaint in check_page(page, root)]
        complaints += [
            *check_summary(files, root),
            *check_findings(files, root),
            *check_programs(files, root),
        ]
        looked_at = f"{len(files)} pages"
    print(
        "\n".join([*map(str, complaints), f"{looked_at} looked at, {len(complaints)} complaints"])
    )
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
