"""Runs the commands that the book shows, and compares their output. Reads file names on standard
input, one a line.

A block of the language `console` holds commands (`$ ...`) with their output. Its commands run in
bash, in a new folder that contains the project's folders. All blocks of a page share this folder,
so that one can use files that an earlier one wrote. A block that is followed by "Measured on
MACHINE, DATE" is not run: its figures are those of that machine and day.

With UPDATE_EXPECT=1 in the environment the pages are rewritten with the output of the commands.

Also checks that each verb of the command has its page, and that the page shows the options of the
verb.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from book_pages import Block, Page, documents

SECONDS = 60
LINKED = ("bench", "docs", "examples", "probe", "spec")


class Shell:
    """A folder for the commands of one page."""

    def __init__(self, root: Path, folder: Path, binary: Path) -> None:
        self.folder = folder
        for name in LINKED:
            (folder / name).symlink_to(root / name)
        tools = Path(tempfile.mkdtemp(dir=folder, prefix=".bin"))
        (tools / "hairspring").symlink_to(binary.resolve())
        path = f"{tools}:{os.environ.get('PATH', '')}"
        self.environment = {"PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}

    def run(self, command: str) -> list[str]:
        """The output of a command, including errors."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            text=True,
            check=False,
        )
        return [line.rstrip() for line in done.stdout.splitlines()]


def commands(lines: list[str]) -> Iterator[list[str]]:
    """The lines of each command: a line that ends with a backslash continues in the next one."""
    rest = iter(lines)
    for line in rest:
        if line.startswith("$ "):
            command = [line]
            while command[-1].endswith("\\"):
                command.append(next(rest, ""))
            yield command


def outputs(block: Block, shell: Shell) -> list[str]:
    """The expected lines of a block."""
    whole: list[str] = []
    for command in commands(block.lines):
        whole += command + shell.run("\n".join(command)[2:])
    return whole


def as_printed(page: Page, root: Path, binary: Path) -> list[str]:
    """The page with the output of its commands."""
    blocks = [block for block in page.blocks() if not block.measured()]
    lines = list(page.lines)
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(root, Path(folder), binary) if blocks else None
        printed = [outputs(block, shell) for block in blocks if shell]
    for block, new in reversed(list(zip(blocks, printed, strict=True))):
        lines[block.first : block.first + len(block.lines)] = new
    return lines


def verbs(binary: Path) -> list[str]:
    """The verbs of the command."""
    text = subprocess.run([binary, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    listed = text.partition("Commands:\n")[2].partition("\n\n")[0]
    return [verb for verb in re.findall(r"^  (\w+)", listed, re.MULTILINE) if verb != "help"]


def without_page(binary: Path, root: Path) -> Iterator[str]:
    """Messages about verbs without a page or without their options."""
    for verb in verbs(binary):
        page = root / "docs" / "commands" / f"{verb}.md"
        if not page.is_file():
            yield f"{page.relative_to(root)}: `hairspring {verb}` has no page"
        elif f"\n$ hairspring {verb} --help\n" not in page.read_text(encoding="utf-8"):
            command = f"$ hairspring {verb} --help"
            yield f"{page.relative_to(root)}: does not show the options: `{command}`"


def without_last_digits(lines: list[str]) -> list[str]:
    """Numbers of more than nine digits, rounded to nine: the last ones depend on the processor's
    arithmetic.
    """
    long = re.compile(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?")
    return [
        long.sub(lambda found: f"{float(found[0]):.9g}" if len(found[0]) > 10 else found[0], line)
        for line in lines
    ]


def check_page(name: str, root: Path, binary: Path, bless: bool) -> list[str]:
    """The differences between a page and the output of its commands; none after blessing."""
    page = Page(name, (root / name).read_text(encoding="utf-8"))
    lines = as_printed(page, root, binary)
    if without_last_digits(lines) == without_last_digits(page.lines):
        return []
    if bless:
        (root / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: rewritten")
        return []
    return list(
        difflib.unified_diff(page.lines, lines, name, "what the commands print", lineterm="")
    )


def main() -> int:
    """Prints every difference."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("binary", type=Path, help="the command `hairspring`")
    binary: Path = parser.parse_args().binary
    root, bless = Path.cwd(), os.environ.get("UPDATE_EXPECT") == "1"
    names = documents(sys.stdin.read().splitlines(), root)
    wrong = list(without_page(binary, root))
    for name in names:
        wrong += check_page(name, root, binary, bless)
    print("\n".join(wrong) if wrong else f"{len(names)} pages show what their commands print")
    if wrong and not bless:
        print(
            "UPDATE_EXPECT=1 ./test book rewrites the outputs; read the difference before you "
            "commit it"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
