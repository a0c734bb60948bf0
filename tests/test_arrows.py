"""The check of the arrows finds arrows that run back in a small made-up project."""

from pathlib import Path

import arrows
import pytest

TABLE = """one:
hairspring-core:
hairspring-view: hairspring-core  # and nobody else
hairspring-core/low:
hairspring-core/high: low
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of two crates without breaches."""
    for name, dependencies in (("core", ""), ("view", "hairspring-core.workspace = true\n")):
        source = tmp_path / "crates" / f"hairspring-{name}" / "src"
        source.mkdir(parents=True)
        manifest = f'[package]\nname = "hairspring-{name}"\n[dependencies]\n{dependencies}'
        (source.parent / "Cargo.toml").write_text(manifest)
        (source / "lib.rs").write_text("//! See hairspring_cli::main.\npub mod low;\n")
    source = tmp_path / "crates/hairspring-core/src"
    (source / "low.rs").write_text(
        "use crate::low::Own;\n#[cfg(test)]\nmod tests {\n    use crate::high::Up;\n}\n"
    )
    (source / "high.rs").write_text("use crate::{\n    low::{A, B},\n    other,\n};\n")
    (tmp_path / "crates/hairspring-view/src/lib.rs").write_text("use hairspring_core::low;\n")
    return tmp_path


def found(project: Path, table: str = TABLE.removeprefix("one:\n")) -> list[str]:
    """The breaches, without the path of the test's folder."""
    return [
        breach.replace(str(project) + "/", "")
        for breach in arrows.breaches(project, arrows.read_table(table))
    ]


def test_a_correct_project_has_no_breach(project: Path) -> None:
    assert found(project) == []


def test_a_manifest_that_points_back_is_found(project: Path) -> None:
    manifest = project / "crates/hairspring-core/Cargo.toml"
    manifest.write_text(
        manifest.read_text()
        + "[target.'cfg(unix)'.dependencies]\nhairspring-view = { path = '../x' }\n"
    )
    assert found(project) == [
        "crates/hairspring-core/Cargo.toml: hairspring-core must not depend on hairspring-view"
    ]


def test_a_path_that_points_back_is_found(project: Path) -> None:
    (project / "crates/hairspring-core/src/lib.rs").write_text(
        "fn f() -> hairspring_view::Page { todo!() }\n"
    )
    assert found(project) == [
        "crates/hairspring-core/src/lib.rs: hairspring-core must not name hairspring-view"
    ]


@pytest.mark.parametrize(
    "line", ["use crate::high::Up;", "use crate::{high, other};", "fn f() { crate::high::g() }"]
)
def test_a_module_that_points_back_is_found(project: Path, line: str) -> None:
    (project / "crates/hairspring-core/src/low.rs").write_text(line + "\n")
    assert found(project) == ["crates/hairspring-core/src/low.rs: low must not name high"]


def test_the_table_and_the_project_have_the_same_crates(project: Path) -> None:
    assert found(project, TABLE) == ["the table of arrows names one, and there is no such crate"]
    assert found(project, "hairspring-core:\n") == [
        "hairspring-view is not in the table of arrows: add a line that says whom it may know"
    ]


def with_files(project: Path, **files: str) -> None:
    """Adds a module `high/` with these files."""
    (project / "crates/hairspring-core/src/high.rs").unlink()
    folder = project / "crates/hairspring-core/src/high"
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.rs").write_text(text)


CIRCLES = TABLE.removeprefix("one:\n") + "hairspring-core/high/: left\n"


def test_files_that_know_each_other_in_one_direction_are_no_circle(project: Path) -> None:
    with_files(
        project,
        mod="pub use one::Own;\n",
        one="use crate::low::A;\n",
        two="use super::Own;\nuse crate::high::one;\n",
    )
    assert found(project, CIRCLES) == []


@pytest.mark.parametrize(
    "line", ["use super::two::Other;", "use super::{Other, x};", "use crate::high::{two, Own};"]
)
def test_a_circle_of_files_is_found_also_by_names_that_are_passed_on(
    project: Path, line: str
) -> None:
    mod = "pub use one::Own;\npub(crate) use two::{Other, x};\n"
    with_files(
        project, mod=mod, one=line + "\n", two="use super::Own;\n", left="use super::one::Own;\n"
    )
    files = [f"crates/hairspring-core/src/high/{name}.rs" for name in ("one", "two")]
    assert found(project, CIRCLES) == [
        f"{file}: it knows itself by way of other files of high" for file in files
    ]


def test_files_that_do_not_count_close_no_circle(project: Path) -> None:
    with_files(project, mod="\n", left="use super::one;\n", one="use super::left;\n")
    assert found(project, CIRCLES) == []
