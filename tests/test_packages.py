"""Tests of the checks of manifests."""

from pathlib import Path
from typing import Any

import packages


def package(**changes: Any) -> dict[str, Any]:
    whole = {
        "id": "a 0.1.0",
        "name": "a",
        "version": "0.1.0",
        "source": None,
        "publish": None,
        "description": "text",
        "license": "MIT",
        "readme": "README.md",
        "rust_version": "1.85",
        "keywords": ["one"],
        "categories": ["one"],
        "dependencies": [],
        "manifest_path": "/nowhere/a/Cargo.toml",
    }
    return whole | changes


def dependency(**changes: Any) -> dict[str, Any]:
    return {"name": "b", "path": "/nowhere/b", "kind": None, "req": "^0.1.0"} | changes


def faults(*crates: dict[str, Any]) -> list[str]:
    return packages.faults({"packages": list(crates)})


def test_a_newer_rust_is_found_and_the_same_one_is_not() -> None:
    new = package(id="b 2.0.0", name="b", version="2.0.0", source="registry", rust_version="1.100")
    same = package(id="c 1.0.0", name="c", source="registry", rust_version="1.85.0")
    unknown = package(id="d 1.0.0", name="d", source="registry", rust_version=None)
    assert packages.too_new({"packages": [package(), new, same, unknown]}) == [
        "b 2.0.0 needs Rust 1.100, and rust-version is 1.85"
    ]


def test_a_complete_crate_has_no_fault_and_private_crates_are_not_checked() -> None:
    assert faults(package(), package(name="private", publish=[], description=None)) == []


def test_missing_fields_are_found() -> None:
    assert faults(package(description=None, keywords=[])) == [
        "a: has no `description`",
        "a: has no `keywords`",
    ]


def test_dependencies_without_version_or_unpublished_are_found() -> None:
    found = faults(
        package(dependencies=[dependency(req="*"), dependency(kind="dev", req="*")]),
        package(name="b"),
    )
    assert found == ["a: takes b by its path alone: give the version too"]
    assert faults(package(dependencies=[dependency()])) == [
        "a: builds on b, which is not published"
    ]


def test_files_outside_of_the_crate_are_found(tmp_path: Path) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    source = tmp_path / "src" / "deep" / "mod.rs"
    source.write_text(
        'const A: &str = include_str!("../../a.txt");\nconst B: &[u8] = '
        'include_bytes!("../../../b");\n'
    )
    found = faults(package(manifest_path=str(tmp_path / "Cargo.toml")))
    assert found == ["a: src/deep/mod.rs includes ../../../b, which is not in the package"]
