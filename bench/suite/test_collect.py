"""A collection of tables with a command that only writes them."""

from pathlib import Path

import collect
import compact
import loops
import pytest
from compact import entries
from corpus_cases import CASES
from harness import Answer, Record, Settings

ROWS = "# rate_hz: 1e9\nseries,body,round,ticks\n" + "".join(f"code,1,{at},5\n" for at in range(9))


def answered(*arguments: str, cpu: int) -> Answer:
    """What the command says; it fails on one of the cases."""
    Path(arguments[arguments.index("--save") + 1]).write_text(ROWS)
    if CASES["asm300"].arguments[-1] in arguments:
        return Answer(error="exit 1")
    return Answer(cycles=3.0, low=2.9, high=3.1)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three cases on an idle machine."""
    for name, value in {
        "FULL": tmp_path / "full",
        "KEPT": tmp_path / "kept",
        "SITUATIONS": {"idle": ()},
    }.items():
        monkeypatch.setattr(collect, name, value)
    monkeypatch.setattr(
        collect, "CASES", {name: CASES[name] for name in ("mul3", "asm300", "add4")}
    )
    monkeypatch.setattr(collect, "machine", lambda: "lab")
    monkeypatch.setattr(collect, "measure", answered)
    monkeypatch.setattr(loops, "loops", lambda *_: [[(9.0, 9.0), (1.0, 1.1), (1.0, 1.1)]])
    monkeypatch.setattr(compact, "is_solved", lambda _: True)
    return tmp_path


def test_a_collection_is_kept_whole_and_cut(rig: Path) -> None:
    record = Record("corpus", raw=rig / "raw")
    collect.run(record, Settings(cpu=0, repeats=2))
    kept = entries(rig / "kept/lab")
    assert [line.file for line in kept] == [
        f"{case}.idle.{at}.csv.xz" for case in ("add4", "mul3") for at in (0, 1)
    ]
    assert len(entries(rig / "full/lab")) == 4 and not list((rig / "full/lab").glob("*.idle.*.csv"))
    assert {(line.case, line.cycles, line.half, line.truth_from, line.rounds) for line in kept} == {
        ("mul3", "3", "", "length", "9"),
        ("add4", "1.05", "0.05", "loop", "9"),
    }
    assert "| idle | 2 | 100 % | 2 | 100 % |" in record.lines
    assert record.figures[0].startswith("4 tables, 4 kept")


def test_loops_that_disagree_are_no_truth(rig: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "loops", lambda *_: [[(1.0, 1.0), (1.0, 2.0), (1.0, 1.1)]])
    collect.run(Record("corpus", raw=rig / "raw"), Settings(cpu=0, repeats=1))
    assert {line.case: line.cycles for line in entries(rig / "kept/lab")} == {
        "mul3": "3",
        "add4": "",
    }
