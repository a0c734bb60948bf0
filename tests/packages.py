"""Checks the manifests of the workspace, as `cargo metadata` reports them. The test group makes the
packages.

packages.py rust-version   no dependency in Cargo.lock declares a newer Rust than the workspace does
packages.py published      every crate to be published can be: texts, licence, versions, files
                           within its folder
packages.py names          prints the names of these crates, one a line
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

Package = dict[str, Any]
Metadata = dict[str, Any]

# Fields that registries or their readers need.
NEEDED = ("description", "license", "readme", "rust_version", "keywords", "categories")
INCLUDED = re.compile(r'include(?:_str|_bytes)?!\(\s*"([^"]+)"')


def version(text: str) -> tuple[int, ...]:
    """A version as numbers; `1.85` and `1.85.0` are equal."""
    numbers = [int(part) for part in text.split(".")]
    return tuple(numbers + [0] * (3 - len(numbers)))


def too_new(metadata: Metadata) -> list[str]:
    """Dependencies that declare a newer Rust than the oldest one that a member declares."""
    members = {package["id"] for package in metadata["packages"] if package["source"] is None}
    declared = [
        package["rust_version"] for package in metadata["packages"] if package["id"] in members
    ]
    oldest = min((text for text in declared if text), key=version)
    return [
        f"{package['name']} {package['version']} needs Rust {package['rust_version']}, and "
        f"rust-version is {oldest}"
        for package in metadata["packages"]
        if package["rust_version"] and version(package["rust_version"]) > version(oldest)
    ]


def published(metadata: Metadata) -> list[Package]:
    """Crates of the workspace that are not `publish = false`."""
    return [
        package
        for package in metadata["packages"]
        if package["source"] is None and package["publish"] != []
    ]


def faults(metadata: Metadata) -> list[str]:
    """Reasons why crates cannot be published."""
    crates = published(metadata)
    names = {package["name"] for package in crates}
    return [
        f"{package['name']}: {fault}" for package in crates for fault in faults_of(package, names)
    ]


def faults_of(package: Package, names: set[str]) -> list[str]:
    """Reasons why a crate cannot be published, if only crates with these names are."""
    found = [f"has no `{field}`" for field in NEEDED if not package[field]]
    for dependency in package["dependencies"]:
        # Development dependencies without a version are left out of a package.
        if dependency.get("path") and dependency["kind"] != "dev":
            if dependency["req"] == "*":
                found.append(f"takes {dependency['name']} by its path alone: give the version too")
            if dependency["name"] not in names:
                found.append(f"builds on {dependency['name']}, which is not published")
    return found + files_outside(Path(package["manifest_path"]).parent)


def files_outside(folder: Path) -> list[str]:
    """Files that the source of a crate includes from outside its folder, which a package does
    not contain.
    """
    return [
        f"{source.relative_to(folder)} includes {name}, which is not in the package"
        for source in sorted((folder / "src").rglob("*.rs"))
        for name in INCLUDED.findall(source.read_text(encoding="utf-8"))
        if not is_within(source.parent, name, folder)
    ]


def is_within(start: Path, name: str, folder: Path) -> bool:
    """Whether a relative path stays in a folder; a link in it counts as the file that it leads
    to.
    """
    depth = len(start.relative_to(folder).parts)
    for part in Path(name).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return False
    return True


def read_metadata() -> Metadata:
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    metadata: Metadata = json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    )
    return metadata


def main(arguments: list[str]) -> int:
    if arguments == ["names"]:
        print("\n".join(package["name"] for package in published(read_metadata())))
        return 0
    checks = {"rust-version": too_new, "published": faults}
    if len(arguments) != 1 or arguments[0] not in checks:
        print(__doc__, file=sys.stderr)
        return 2
    found = checks[arguments[0]](read_metadata())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
