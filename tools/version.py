#!/usr/bin/env python3
"""The version of the project, which Cargo.toml states: version.py show | check | set VERSION.

`set` writes it everywhere, `check` says where another one stands. Other files read it from one of
these.

Exit status: 0 done, 1 another version stands somewhere, 2 wrong usage.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.compile(r"\d+\.\d+\.\d+")
# Crates of the project in a lock file; that of the folder fuzz has a version of its own.
LOCKED = r'(?m)^(name = "hairspring(?!-fuzz")[a-z-]*"\nversion = ")[^"]*(")'
# Each file, with the pattern of a line around the version. Every one of them must be there.
PLACES = [
    ("Cargo.toml", r'(?m)^(version = ")[^"]*(")'),
    ("Cargo.toml", r'(?m)^(hairspring-[a-z]+ = \{ path = "[^"]*", version = ")[^"]*(")'),
    ("probe/hairspring.h", r'(?m)^(#define HAIRSPRING_VERSION ")[^"]*(")'),
    ("probe/hairspring.h", r"(?m)^(#define HAIRSPRING_VERSION_NUMBER )\d*()$"),
    ("crates/hairspring-capi/Cargo.toml", r'(?m)^(depends = "libhairspring0 \(= )[^)-]*(-1\))'),
    ("examples/rust/Cargo.toml", r'(?m)^(version = ")[^"]*(")'),
    ("Cargo.lock", LOCKED),
    ("fuzz/Cargo.lock", LOCKED),
    ("bench/compare/rust/Cargo.lock", LOCKED),
    ("bench/languages/rust/Cargo.lock", LOCKED),
    ("bench/capture-figures/Cargo.lock", LOCKED),
    ("bench/fit-solve/Cargo.lock", LOCKED),
    ("packaging/vcpkg/vcpkg.json", r'(?m)^(  "version": ")[^"]*(")'),
    ("fpm.toml", r'(?m)^(version = ")[^"]*(")'),
]


def version(root: Path) -> str:
    """The version that Cargo.toml states."""
    found = re.search(
        r'(?m)^version = "([^"]*)"', (root / "Cargo.toml").read_text(encoding="utf-8")
    )
    if not found:
        raise SystemExit('Cargo.toml has no line `version = "..."`')
    return found[1]


def as_written(wanted: str, match: re.Match[str]) -> str:
    """A match with the wanted version: as text, or behind the name of a number as one that #if
    can compare.
    """
    major, minor, patch = map(int, wanted.split("."))
    inner = wanted if not match[1].endswith("NUMBER ") else str(10000 * major + 100 * minor + patch)
    return f"{match[1]}{inner}{match[2]}"


def complaints(root: Path, wanted: str) -> Iterator[str]:
    """Places where another version stands, or none."""
    for name, pattern in PLACES:
        text = (root / name).read_text(encoding="utf-8")
        matches = list(re.finditer(pattern, text))
        if not matches:
            yield f"{name}: no line matches {pattern}"
        for match in matches:
            line = text.count("\n", 0, match.start()) + 1
            if match[0] != as_written(wanted, match):
                yield (
                    f"{name}:{line}: {match[0]}: expected version {wanted} (tools/version.py set "
                    f"{wanted})"
                )


def write(root: Path, wanted: str) -> None:
    """Writes the version everywhere."""
    for name, pattern in PLACES:
        path = root / name
        text = path.read_text(encoding="utf-8")
        path.write_text(
            re.sub(pattern, lambda match: as_written(wanted, match), text), encoding="utf-8"
        )


def main(arguments: list[str]) -> int:
    """Runs the command."""
    match arguments:
        case ["show"]:
            print(version(ROOT))
        case ["check"]:
            found = list(complaints(ROOT, version(ROOT)))
            print("\n".join(found), end="\n" if found else "")
            return 1 if found else 0
        case ["set", wanted] if VERSION.fullmatch(wanted):
            write(ROOT, wanted)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
