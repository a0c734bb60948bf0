"""The version of the project: one place, and every copy of it is checked."""

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("version", ROOT / "tools" / "version.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VERSION = load()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name, _ in VERSION.PLACES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_all_copies_agree() -> None:
    assert list(VERSION.complaints(ROOT, VERSION.version(ROOT))) == []


def test_set_writes_every_copy(copy: Path) -> None:
    VERSION.write(copy, "12.3.45")
    assert VERSION.version(copy) == "12.3.45"
    assert list(VERSION.complaints(copy, "12.3.45")) == []


@pytest.mark.parametrize("place", range(len(VERSION.PLACES)))
def test_a_copy_that_differs_or_is_missing_is_named(copy: Path, place: int) -> None:
    name, _ = VERSION.PLACES[place]
    path = copy / name
    right = VERSION.version(ROOT)
    VERSION.write(copy, "9.9.9")
    others = {other for other, _ in VERSION.PLACES}
    path.with_suffix(".kept").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    VERSION.write(copy, right)
    path.write_text(path.with_suffix(".kept").read_text(encoding="utf-8"), encoding="utf-8")
    found = list(VERSION.complaints(copy, right))
    assert found and {line.split(":")[0] for line in found} == {name} <= others
    path.write_text("", encoding="utf-8")
    assert any(
        line.startswith(f"{name}: no line matches") for line in VERSION.complaints(copy, right)
    )


@pytest.mark.parametrize(
    "arguments", [[], ["set"], ["set", "1.2"], ["set", "v1.2.3"], ["set", "1.2.3\n"], ["other"]]
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert VERSION.main(arguments) == 2
    assert "version.py show | check | set VERSION" in capsys.readouterr().err
