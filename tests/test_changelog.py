"""tools/changelog.py: what it refuses, and what it assembles."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


def tool() -> ModuleType:
    """The tool as a module."""
    spec = importlib.util.spec_from_file_location("changelog", ROOT / "tools/changelog.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def project(root: Path, **fragments: str) -> Path:
    """A project with a release and these fragments."""
    (root / "changelog").mkdir()
    (root / "changelog/README.md").write_text("# Changes\n")
    (root / "CHANGELOG.md").write_text(
        "# Changelog\n\nNotes.\n\n## 0.1.0 - 2026-11-29\n\n- First.\n"
    )
    for name, text in fragments.items():
        (root / "changelog" / f"{name.replace('_', '-')}.md").write_text(text)
    return root


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("added_long", "a\nb\nc\n", "3 lines"),
        ("added_empty", "\n", "0 lines"),
        ("added_wide", "x" * 151, "150 columns"),
        ("added_mark", "- a list\n", "begins with a mark"),
        ("news_thing", "text\n", "a kind of added"),
        ("added", "text\n", "KIND-NAME"),
    ],
)
def test_fragments_that_are_no_line_for_a_user_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, why: str
) -> None:
    root = project(tmp_path, **{name: text})
    assert tool().main(["check"], root) == 1
    assert why in capsys.readouterr().err
    assert tool().main(["release", "0.2.0"], root) == 1


def test_a_release_takes_all_fragments_by_kind(tmp_path: Path) -> None:
    root = project(
        tmp_path, fixed_b="Two lines\nof text.\n", added_a="A verb.", added_c="Another.\n"
    )
    assert tool().main(["check"], root) == 0
    assert tool().main(["release", "0.2.0"], root) == 0
    text = (root / "CHANGELOG.md").read_text()
    new = text[text.index("## 0.2.0 - ") : text.index("## 0.1.0")]
    assert (
        new.split("\n", 1)[1]
        == "\n### Added\n\n- A verb.\n- Another.\n\n### Fixed\n\n- Two lines\n  of text.\n\n"
    )
    assert [path.name for path in (root / "changelog").iterdir()] == ["README.md"]
    assert tool().main(["release", "0.3.0"], root) == 1


@pytest.mark.parametrize(
    "arguments", [[], ["release"], ["release", "new"], ["release", "1.2"], ["undo"]]
)
def test_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert tool().main(arguments, project(tmp_path)) == 2
    assert "usage:" in capsys.readouterr().err


def test_a_version_is_released_once(tmp_path: Path) -> None:
    assert tool().main(["release", "0.1.0"], project(tmp_path, added_a="A verb.")) == 1


def test_the_first_release_gets_its_day_and_the_fragments(tmp_path: Path) -> None:
    root = project(tmp_path, added_a="A verb.")
    (root / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 0.1.0 - not yet released\n\n### Added\n\n- A tool.\n", encoding="utf-8"
    )
    assert tool().main(["release", "0.1.0"], root) == 0
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "not yet" not in text and text.endswith("- A tool.\n\n### Added\n\n- A verb.\n")
    (root / "changelog/added-b.md").write_text("Another.\n")
    assert tool().main(["release", "0.1.0"], root) == 1
