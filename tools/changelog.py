#!/usr/bin/env python3
"""Checks the fragments of the changelog, and assembles them: changelog.py check | changelog.py
release VERSION.

A fragment is changelog/KIND-NAME.md: one or two lines that say what a user gets. `release` writes
all of them into CHANGELOG.md as a section of its own, above the last one, and removes the files.

Exit status: 0 done, 1 a fragment is refused, 2 wrong usage.
"""

import re
import sys
from datetime import date
from pathlib import Path

KINDS = {"added": "Added", "changed": "Changed", "fixed": "Fixed", "removed": "Removed"}
MOST_LINES, MOST_COLUMNS = 2, 150
VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?")


def fragments(folder: Path) -> list[Path]:
    """The fragments, in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.name != "README.md")


def complaints(path: Path) -> list[str]:
    """What is wrong with a fragment."""
    kind, _, name = path.stem.partition("-")
    if kind not in KINDS or not name or path.suffix != ".md":
        return [f"{path.name}: expected KIND-NAME.md, with a kind of {', '.join(KINDS)}"]
    try:
        lines = path.read_text(encoding="utf-8").strip().splitlines()
    except UnicodeDecodeError:
        return [f"{path.name}: is not UTF-8"]
    found = []
    if not 1 <= len(lines) <= MOST_LINES:
        found.append(
            f"{path.name}: has {len(lines)} lines, expected one or two: the story belongs into "
            "the commit"
        )
    if any(len(line) > MOST_COLUMNS for line in lines):
        found.append(f"{path.name}: has a line of more than {MOST_COLUMNS} columns")
    if lines and lines[0].lstrip().startswith(("-", "*", "#")):
        found.append(f"{path.name}: begins with a mark; the list is made by `release`")
    return found


def section(version: str, day: date, paths: list[Path]) -> str:
    """The section of a release."""
    text = f"## {version} - {day.isoformat()}\n"
    for kind, title in KINDS.items():
        own = [
            path.read_text(encoding="utf-8").strip()
            for path in paths
            if path.stem.partition("-")[0] == kind
        ]
        if own:
            text += f"\n### {title}\n\n" + "".join(
                "- " + "\n  ".join(one.splitlines()) + "\n" for one in own
            )
    return text


def released(history: str, new: str) -> str:
    """The changelog with a new section above the last one."""
    at = history.find("\n## ")
    if at < 0:
        return f"{history.rstrip()}\n\n{new}"
    return f"{history[: at + 1]}{new}\n{history[at + 1 :]}"


def main(arguments: list[str], root: Path) -> int:
    """Does what the arguments say."""
    paths = fragments(root / "changelog")
    match arguments:
        case ["check"]:
            pass
        case ["release", version] if VERSION.fullmatch(version):
            pass
        case _:
            print(
                "usage: changelog.py check | changelog.py release VERSION (as 0.2.0)",
                file=sys.stderr,
            )
            return 2
    wrong = [complaint for path in paths for complaint in complaints(path)]
    for complaint in wrong:
        print(f"changelog/{complaint}", file=sys.stderr)
    if wrong:
        return 1
    if arguments[0] == "check":
        print(f"{len(paths)} changes since the last release")
        return 0
    if not paths:
        print("changelog/ holds no change to release", file=sys.stderr)
        return 1
    history = root / "CHANGELOG.md"
    text = history.read_text(encoding="utf-8")
    prepared = f"\n## {arguments[1]} - not yet released\n"
    if prepared in text and text.count("\n## ") == 1:
        # Its section is written already: it gets the day, and the fragments behind its own lines.
        text = text.replace(prepared, f"\n## {arguments[1]} - {date.today().isoformat()}\n")
        text = text.rstrip() + "\n" + section(arguments[1], date.today(), paths).partition("\n")[2]
        history.write_text(text, encoding="utf-8")
        return removed(paths, arguments[1])
    if f"\n## {arguments[1]} " in text:
        print(f"CHANGELOG.md has a section {arguments[1]} already", file=sys.stderr)
        return 1
    history.write_text(released(text, section(arguments[1], date.today(), paths)), encoding="utf-8")
    return removed(paths, arguments[1])


def removed(paths: list[Path], version: str) -> int:
    """Removes the fragments, which are in the changelog now."""
    for path in paths:
        path.unlink()
    print(f"{len(paths)} changes are in the section {version} of CHANGELOG.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path(__file__).resolve().parent.parent))
