"""Checks rules that no compiler checks. Reads the project's file names on standard input, one per
line.

missing-path    A path that a document names exists: `code spans` that look like a path of this
                project (its first folders may be left out; NN-, NAME and PREFIX are placeholders),
                and the trees drawn in plain code blocks. The changelog is not checked: it names
                former files. Links are checked by tests/book_pages.py.
machine-path    No file names a folder of the machine that it was written on.
address         No file names a package registry or mirror: these belong in each user's own
                configuration.
long-file       A Rust file has at most 600 lines.
long-function   A Rust or Python function has at most 60 lines.
long-line       A line of a source, a script, a comment or a paragraph has at most 100 columns,
                except tables, raw strings, links and texts that cannot be parted.
impure          The core uses no operating system, no clock, no output and no front end: its sources
                and its manifest do not name anything that only one of these has.

A line of the exceptions file is `RULE FILE [SUBJECT] -- REASON`; a line that no longer excuses
anything is an error.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HISTORY = "CHANGELOG.md"
FILE_LINES = 600
FUNCTION_LINES = 60
COLUMNS = 100

MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:work|root|home)/[\w.-]*")
ADDRESS = re.compile(
    r"(?:deb|security)\.debian\.org|archive\.ubuntu\.com|security\.ubuntu\.com|(?:index|static)\.crates\.io"
    r"|pypi\.org/simple|files\.pythonhosted\.org|static\.rust-lang\.org|registry\.npmjs\.org|proxy\.golang\.org"
    r"|repo1?\.maven\.(?:apache\.)?org|https?://\d+\.\d+\.\d+\.\d+"
)
PATH_SHAPE = re.compile(r"(?:\./)?[\w.-]+(?:/[\w.-]+)*/?")
# Placeholders, built files, and bare endings.
NO_FILE = re.compile(r"NN-|NAME|PREFIX|(?:^|/)target/|^\.\w+$")
FILE_ENDING = re.compile(r"\.(?:md|rs|toml|sh|py|txt|c|h|hpp|f90|csv|json|yml|html)$")


class Finding(NamedTuple):
    """One breach of one rule; `subject` distinguishes several breaches in one file."""

    rule: str
    file: str
    line: int
    subject: str
    text: str

    def key(self) -> str:
        """The beginning of a line in the exceptions file that excuses this finding."""
        return " ".join(part for part in (self.rule, self.file, self.subject) if part)


# ---- paths named in documents


def looks_like_path(name: str, root: Path) -> bool:
    """Whether a code span is a file of this project, and not a command, a unit or the name of a
    schema.
    """
    if not PATH_SHAPE.fullmatch(name) or name.startswith("-") or NO_FILE.search(name):
        return False
    starts_here = "/" in name and (root / name.split("/")[0]).exists()
    return (
        starts_here or name.startswith("./") or name.endswith("/") or bool(FILE_ENDING.search(name))
    )


def paths_in_tree(block: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Paths in a drawn folder tree: names by their indentation, each line's remark after two
    blanks left out.
    """
    parents: list[tuple[int, str]] = []
    for line, text in block:
        plain = re.sub(r"[│├└─|`]", " ", text)
        indent = len(plain) - len(plain.lstrip())
        for name in re.split(r"\s{2,}", plain.strip())[0].split():
            while parents and parents[-1][0] >= indent:
                parents.pop()
            if PATH_SHAPE.fullmatch(name) and (name.endswith("/") or FILE_ENDING.search(name)):
                path = "".join(parent for _, parent in parents) + name
                yield line, path
                if name.endswith("/"):
                    parents.append((indent, name))


def blocks(text: str) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Splits a document into ("prose", lines) and (language of the code block, lines)."""
    kind = "prose"
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            yield kind, lines
            kind, lines = ("prose" if kind != "prose" else line.strip().strip("`") or "text"), []
        else:
            lines.append((number, line))
    yield kind, lines


def named_paths(text: str, root: Path) -> Iterator[tuple[int, str]]:
    """All paths that a document names, with their lines."""
    for kind, lines in blocks(text):
        if kind == "text" and lines and lines[0][1].split(" ")[0].endswith("/"):
            yield from paths_in_tree(lines)
        if kind != "prose":
            continue
        for number, line in lines:
            for span in re.findall(r"`([^`]+)`", line):
                if looks_like_path(span, root):
                    yield number, span


def is_there(path: str, root: Path, files: list[str]) -> bool:
    """Whether a path exists, or is the last part of the path of some file or folder of the
    project.
    """
    folder = f"/{path.strip('/')}/"
    return (root / path).exists() or any(folder in f"/{file}/" for file in files)


def check_named_paths(file: str, text: str, root: Path, files: list[str]) -> Iterator[Finding]:
    """Rule missing-path."""
    if not file.endswith(".md") or file == HISTORY:
        return
    for line, path in named_paths(text, root):
        beside = (root / file).parent / path
        written = re.search(rf">\s*{re.escape(path)}", text)  # by a command that the document shows
        if not written and not beside.exists() and not is_there(path, root, files):
            yield Finding("missing-path", file, line, path, f"{path} does not exist")


# ---- forbidden names


def check_patterns(file: str, text: str) -> Iterator[Finding]:
    """Rules machine-path and address."""
    for rule, pattern in (("machine-path", MACHINE_PATH), ("address", ADDRESS)):
        for number, line in enumerate(text.splitlines(), 1):
            for match in pattern.finditer(line):
                yield Finding(rule, file, number, match.group(), f"names {match.group()}")


# ---- lengths

RUST_NOT_CODE = re.compile(
    r"//[^\n]*"
    r"|/\*.*?\*/"
    r'|\bb?r(#*)".*?"\1'
    r'|"(?:\\.|[^"\\])*"'
    r"|'(?:\\(?:u\{\w+\}|x\w\w|.)|[^'\\\n])'",
    re.DOTALL,
)


def without_comments(source: str) -> str:
    """Rust source with the same lines, without comments and string literals."""
    return RUST_NOT_CODE.sub(lambda match: "\n" * match.group().count("\n"), source)


def rust_functions(source: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and number of lines of each Rust function with a body, by matching its
    braces.
    """
    code = without_comments(source)
    for match in re.finditer(r"\bfn\s+(\w+)", code):
        depth = 0
        for position in range(match.end(), len(code)):
            char = code[position]
            depth += (char in "([{") - (char in ")]}")
            if depth == 0 and char == ";":
                break  # declared only
            if depth == 0 and char == "}":
                lines = code.count("\n", match.start(), position) + 1
                yield match.group(1), code.count("\n", 0, match.start()) + 1, lines
                break


def python_functions(source: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and number of lines of each Python function."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1


def check_lengths(file: str, text: str) -> Iterator[Finding]:
    """Rules long-file and long-function."""
    lines = text.count("\n")
    if file.endswith(".rs") and lines > FILE_LINES:
        yield Finding("long-file", file, 1, "", f"{lines} lines; at most {FILE_LINES}")
    functions = rust_functions if file.endswith(".rs") else python_functions
    for name, line, length in functions(text) if file.endswith((".rs", ".py")) else ():
        if length > FUNCTION_LINES:
            yield Finding(
                "long-function",
                file,
                line,
                name,
                f"{name} has {length} lines; at most {FUNCTION_LINES}",
            )


# Kinds of files whose lines are measured; of data only comments are, as a value may be one long
# text.
MEASURED = (".rs", ".c", ".h", ".hpp", ".cpp", ".f90", ".py", ".pyi", ".sh", ".cmake", ".md")
DATA = (".toml", ".yml")
# Former names, and what others recorded.
NOT_MEASURED = (HISTORY, "changelog/", "corpus/", "fuzz/corpus/")
# Text of several lines that is data: raw strings of Rust, and of Python what documents nothing.
RAW_TEXT = {
    ".rs": re.compile(r'\bb?r(#*)".*?"\1', re.DOTALL),
    ".py": re.compile(r'(?<=[=(,\[])[ \n]*[rbf]*"{3}.*?"{3}', re.DOTALL),
}
TABLE = re.compile(r"\s*(?:///?!?|\*|#)?\s*\|")
LITERAL = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
UNPARTABLE = re.compile(r"https?://|# type: ignore|# noqa")
MARKUP = re.compile(r"\s*(?:[|#<]|\[[^\]]+\]:)|    |.*\]\(")


def is_one_text(line: str) -> bool:
    """Whether a text in quotes makes a line too long, where a language has no way to part it."""
    if line.lstrip().startswith('"' * 3):
        return False
    longest = max((len(match.group()) for match in LITERAL.finditer(line)), default=0)
    return longest >= 30 and len(line) - longest + 30 <= COLUMNS


def measured_lines(file: str, text: str) -> Iterator[tuple[int, str]]:
    """The lines of a file that the limit is for, with their numbers."""
    ending = Path(file).suffix
    if ending in RAW_TEXT:
        text = RAW_TEXT[ending].sub(lambda match: "\n" * match.group().count("\n"), text)
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= ending == ".md" and line.lstrip().startswith("```")
        if UNPARTABLE.search(line) or TABLE.match(line):
            continue
        if ending == ".md" and (fenced or MARKUP.match(line)):
            continue
        if ending in DATA and not line.lstrip().startswith("#"):
            continue
        if ending != ".rs" and is_one_text(line):
            continue
        yield number, line


def check_columns(file: str, text: str) -> Iterator[Finding]:
    """Rule long-line, for the first such line."""
    first = text.partition("\n")[0]
    is_script = first.startswith("#!") and first.endswith(("bash", "sh"))
    is_measured = (
        is_script or file.endswith((*MEASURED, *DATA)) or Path(file).name == "CMakeLists.txt"
    )
    if not is_measured or file.startswith(NOT_MEASURED):
        return
    for number, line in measured_lines(file, text):
        if len(line) > COLUMNS:
            yield Finding("long-line", file, number, "", f"{len(line)} columns; at most {COLUMNS}")
            return


# ---- the pure core

CORE = "crates/hairspring-core/"
OF_SYSTEM = r"(?:env|fs|net|os|process|thread)"
IMPURE = re.compile(
    r"\bunsafe\b|\b(?:asm|global_asm|naked_asm|println|eprintln|print|eprint|dbg)!"
    rf"|\bstd::{OF_SYSTEM}\b|\bstd::\{{[^;]*\b{OF_SYSTEM}\b[^;]*\}}"
    r"|\bio::(?:stdin|stdout|stderr)\b|\b(?:Instant|SystemTime)\b|\b(?:libc|nix|rustix|winapi|windows_sys)\b"
)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def check_purity(file: str, text: str) -> Iterator[Finding]:
    """Rule impure. Names of options are also forbidden in comments; the word `unsafe` is not."""
    if not file.startswith((f"{CORE}src/", f"{CORE}Cargo.toml")):
        return
    code = without_comments(text) if file.endswith(".rs") else text
    for pattern, where in ((IMPURE, code), (OPTION, text)):
        for match in pattern.finditer(where):
            name = " ".join(match.group().split())
            yield Finding(
                "impure",
                file,
                where.count("\n", 0, match.start()) + 1,
                name,
                f"the pure core names {name}",
            )


# ---- all rules


def check_file(file: str, root: Path, files: list[str]) -> Iterator[Finding]:
    """All findings in one file; files that are not text are skipped."""
    try:
        text = (root / file).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    yield from check_named_paths(file, text, root, files)
    yield from check_patterns(file, text)
    yield from check_lengths(file, text)
    yield from check_columns(file, text)
    yield from check_purity(file, text)


def read_exceptions(path: Path) -> tuple[set[str], list[str]]:
    """The excused keys, and complaints about lines without a reason."""
    keys, complaints = set(), []
    for line in path.read_text(encoding="utf-8").splitlines():
        key, _, reason = line.partition(" -- ")
        if line.startswith("#") or not line.strip():
            continue
        if not reason.strip():
            complaints.append(f"{path.name}: no reason given: {line}")
        keys.add(" ".join(key.split()))
    return keys, complaints


def main() -> int:
    """Prints every finding that is not excused, and every exception that excuses nothing."""
    root = Path.cwd()
    exceptions, complaints = read_exceptions(Path(sys.argv[1]))
    own = Path(sys.argv[1]).resolve()
    listed = [name for name in sys.stdin.read().splitlines() if (root / name).resolve() != own]
    files = [name for name in listed if (root / name).is_file()]
    findings = [finding for file in files for finding in check_file(file, root, files)]
    for finding in findings:
        if finding.key() not in exceptions:
            complaints.append(f"{finding.file}:{finding.line}: {finding.rule}: {finding.text}")
    for key in sorted(exceptions - {finding.key() for finding in findings}):
        complaints.append(f"{own.name}: no longer excuses anything: {key}")
    print("\n".join([*complaints, f"{len(files)} files looked at, {len(complaints)} complaints"]))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
