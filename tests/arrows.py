"""Checks that no crate or module names one that it must not know, by arrows.txt, the manifests and
the sources.

    python3 tests/arrows.py ARROWS ROOT

A breach is an arrow that the table does not allow, a crate or module that the table does not name,
and a line of the table for a crate that is gone.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

# `::hairspring::` and `#[hairspring::` occur in code that a macro makes for its user.
CRATE_PATH = re.compile(r"(?<!::)(?<!#\[)\b(hairspring(?:_\w+)?)::")
# `crate::judge::...` and the names in `crate::{judge::..., error}`.
MODULE_PATH = re.compile(r"\bcrate::(?:\{([^;]*?)\}|(\w+))")
# `super::{...}` or `super::name`, and what a `mod.rs` passes on: `pub use file::{A, B};`.
WITHIN = r"\b(?:super|crate::{module})::(?:\{{([^;]*?)\}}|(\w+))"
PASSED_ON = re.compile(
    r"^pub(?:\(crate\))? use (?:self::)?(\w+)::(?:\{([^;]*?)\}|(\w+))", re.MULTILINE
)
COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
TESTS = re.compile(r"^#\[cfg\(test\)\]\s*mod \w+ \{.*", re.MULTILINE | re.DOTALL)
ANY = "*"


class Crate(NamedTuple):
    """A crate of the project."""

    name: str
    folder: Path
    manifest: dict[str, Any]


def read_table(text: str) -> dict[str, set[str]]:
    """The allowed arrows by crate, and by `CRATE/MODULE`."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    pairs = (line.split(":") for line in lines if line)
    return {name.strip(): set(allowed.split()) for name, allowed in pairs}


def find_crates(root: Path) -> Iterator[Crate]:
    """All crates below crates/."""
    for manifest in sorted((root / "crates").rglob("Cargo.toml")):
        if "target" not in manifest.parts:
            parsed = tomllib.loads(manifest.read_text())
            yield Crate(parsed["package"]["name"], manifest.parent, parsed)


def dependencies(manifest: dict[str, Any]) -> set[str]:
    """The project's own crates in a manifest, without those that only tests need."""
    tables = [manifest, *manifest.get("target", {}).values()]
    names = {name for table in tables for name in table.get("dependencies", {})}
    return {name for name in names if name == "hairspring" or name.startswith("hairspring-")}


def code(file: Path) -> str:
    """A source without comments and without its unit tests, which may have a file of their own."""
    return "" if file.name == "tests.rs" else TESTS.sub("", COMMENT.sub("", file.read_text()))


def crates_named(crate: Crate) -> Iterator[tuple[Path, str]]:
    """The project's crates that the sources of a crate name."""
    for file in sorted((crate.folder / "src").rglob("*.rs")):
        for found in CRATE_PATH.findall(code(file)):
            name = found.replace("_", "-")
            if name != crate.name:
                yield file, name


def names_of(several: str, one: str) -> Iterator[str]:
    """The outer names of `a::{b, c}, d` in braces, or the one name."""
    if one:
        yield one
    flat = several
    while "{" in flat:
        flat = re.sub(r"\{[^{}]*\}?", "", flat)
    yield from (
        name.split("::")[0].split(" as ")[0].strip() for name in flat.split(",") if name.strip()
    )


def modules_named(text: str) -> Iterator[str]:
    """The modules of its own crate that a source names."""
    for several, one in MODULE_PATH.findall(text):
        yield from names_of(several, one)


def files_known(folder: Path, left_out: set[str]) -> dict[str, set[str]]:
    """Whom each file of a module knows of the others, also by names that their `mod.rs` passes
    on.
    """
    files = {
        file.stem: file
        for file in sorted(folder.glob("*.rs"))
        if file.stem not in {"mod", *left_out}
    }
    passed = PASSED_ON.findall(code(folder / "mod.rs"))
    homes = {name: home for home, several, one in passed for name in names_of(several, one)}
    within = re.compile(WITHIN.format(module=folder.name))
    named = {
        stem: {n for found in within.findall(code(file)) for n in names_of(*found)}
        for stem, file in files.items()
    }
    return {
        stem: ({homes.get(name, name) for name in names} & files.keys()) - {stem}
        for stem, names in named.items()
    }


def circles(known: dict[str, set[str]]) -> Iterator[str]:
    """The files that know themselves by way of others."""
    for start in known:
        seen, open_ = set[str](), list(known[start])
        while open_:
            at = open_.pop()
            if at not in seen:
                seen.add(at)
                open_.extend(known[at])
        if start in seen:
            yield start


def circle_breaches(crate: Crate, table: dict[str, set[str]]) -> Iterator[str]:
    """Files in circles, in the modules that the table names as `CRATE/MODULE/`; files after the
    colon do not count.
    """
    for key in (key for key in table if key.startswith(f"{crate.name}/") and key.endswith("/")):
        folder = crate.folder / "src" / key.split("/")[1]
        for file in circles(files_known(folder, table[key])):
            yield f"{folder / file}.rs: it knows itself by way of other files of {folder.name}"


def module_of(file: Path, source: Path) -> str:
    """The outermost module that a file belongs to."""
    return file.relative_to(source).parts[0].removesuffix(".rs")


def crate_breaches(crate: Crate, table: dict[str, set[str]]) -> Iterator[str]:
    """Arrows between crates that the table does not allow."""
    allowed = table.get(crate.name)
    if allowed is None:
        yield f"{crate.name} is not in the table of arrows: add a line that says whom it may know"
        return
    if ANY in allowed:
        return
    for name in sorted(dependencies(crate.manifest) - allowed):
        yield f"{crate.folder / 'Cargo.toml'}: {crate.name} must not depend on {name}"
    for file, name in crates_named(crate):
        if name not in allowed:
            yield f"{file}: {crate.name} must not name {name}"


def module_breaches(crate: Crate, table: dict[str, set[str]]) -> Iterator[str]:
    """Arrows between modules of one crate that the table does not allow."""
    modules = {
        key.split("/")[1]
        for key in table
        if key.startswith(f"{crate.name}/") and not key.endswith("/")
    }
    source = crate.folder / "src"
    for file in sorted(source.rglob("*.rs")) if modules else []:
        module = module_of(file, source)
        if module == "lib":
            continue
        if module not in modules:
            yield f"{file}: the module {module} of {crate.name} is not in the table of arrows"
            continue
        for name in sorted(
            {*modules_named(code(file))} & modules - {module} - table[f"{crate.name}/{module}"]
        ):
            yield f"{file}: {module} must not name {name}"


def breaches(root: Path, table: dict[str, set[str]]) -> Iterator[str]:
    """All breaches."""
    crates = list(find_crates(root))
    names = {crate.name for crate in crates}
    for key in sorted({key.split("/")[0] for key in table} - names):
        yield f"the table of arrows names {key}, and there is no such crate"
    for crate in crates:
        yield from crate_breaches(crate, table)
        yield from module_breaches(crate, table)
        yield from circle_breaches(crate, table)


def main(arguments: list[str]) -> int:
    """Prints the breaches; 1 if there are any."""
    table, root = read_table(Path(arguments[0]).read_text()), Path(arguments[1])
    found = list(breaches(root, table))
    for breach in found:
        print(f"arrow: {breach}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
