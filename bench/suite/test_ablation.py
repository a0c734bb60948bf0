"""What stages are worth: effects of pairs, tables and their truths, commands that refuse, and
the page.
"""

import json
import lzma
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import ablation
import pytest
import report
import simulated
import tables
from compact import INDEX, BadCorpus
from effects import Judged, effect
from tables import Table, Truth

GOOD = Judged(off=0.001, half=0.01, holds=True, trusted=True)
TABLE = Table("lab", ("lab: idle",), "x", "", (Truth(3.0),))


def document(value: float = 3.0, half: float = 0.1, *, acted: bool = True) -> dict[str, Any]:
    """What `fit` says."""
    cycles = {"value": value, "low": value - half, "high": value + half}
    stages = [{"stage": "spikes", "acted": acted}]
    return {
        "results": [
            {
                "name": "code",
                "components": {"body": {"cycles": cycles}},
                "findings": [],
                "stages": stages,
            }
        ]
    }


def command(folder: Path, program: str) -> str:
    """A command that is a Python program."""
    path = folder / "command"
    path.write_text(f"#!{sys.executable}\nimport sys\ntext = sys.stdin.read()\n{program}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (None, "no result of 20 of 20"),
        (replace(GOOD, holds=False), "20 of 20 intervals cease to hold"),
        (replace(GOOD, half=0.012), "1.20 times as wide"),
        (replace(GOOD, trusted=False), "0% trusted, for 100%"),
    ],
)
def test_a_stage_pays_where_a_kind_loses(other: Judged | None, reason: str) -> None:
    assert any(reason in said for said in effect([(GOOD, other)] * 20, (1, 1)).reasons())


def test_a_stage_does_not_pay_where_nothing_is_lost() -> None:
    narrower = replace(GOOD, half=0.005)
    assert effect([(GOOD, GOOD)] * 10 + [(GOOD, narrower)] * 10, (1, 1)).reasons() == []
    assert effect([], (0, 0)).reasons() == []


def test_a_kind_of_few_results_is_not_judged() -> None:
    assert effect([(GOOD, None)] * 3, (1, 1)).reasons() == []


def test_a_result_of_unknown_truth_is_not_changed_by_itself() -> None:
    unknown = [replace(GOOD, off=float(text), holds=None) for text in ("nan", "nan")]
    assert effect([(unknown[0], unknown[1])], (0, 0)).changed == 0


def test_intervals_that_begin_to_hold_are_set_against_those_that_cease() -> None:
    bad = replace(GOOD, holds=False)
    one = effect([(GOOD, bad)] * 3 + [(bad, GOOD)] * 3, (1, 2))
    assert (one.begin, one.cease, one.time, one.reasons()) == (3, 3, 2, [])


def test_a_truth_with_a_range_holds_at_its_end() -> None:
    found = ablation.judged(document(3.0), Truth(3.2, half=0.15))
    assert found and found.holds and found.off == pytest.approx(0.05 / 3.2)
    apart = ablation.judged(document(3.0), Truth(3.2, half=0.05))
    assert apart and apart.holds is False


def test_a_result_of_unknown_truth_has_only_its_width() -> None:
    found = ablation.judged(document(), Truth(float("nan")))
    assert found and found.holds is None and found.half == pytest.approx(0.1 / 3)


@pytest.mark.parametrize(
    "truth", [Truth(3, series="other"), Truth(3, component="init"), Truth(3, unit="time_ns")]
)
def test_what_a_document_lacks_is_no_result(truth: Truth) -> None:
    assert ablation.judged(document(), truth) is None


def test_a_table_is_solved_without_a_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = f"print({json.dumps(json.dumps(document()))} if '--without' in sys.argv else '{{}}')"
    monkeypatch.setattr(ablation, "COMMAND", command(tmp_path, program))
    assert ablation.solved(TABLE, "spikes").stages == {"spikes": True}


def test_a_refused_table_has_no_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablation, "COMMAND", command(tmp_path, "sys.exit(1)"))
    assert ablation.solved(TABLE).judged == [None]


def test_an_unknown_stage_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ablation,
        "COMMAND",
        command(tmp_path, "print('no such stage', file=sys.stderr); sys.exit(2)"),
    )
    with pytest.raises(ablation.RefusedStage, match="spikes: exit 2: no such stage"):
        ablation.solved(TABLE, "spikes")
    with pytest.raises(ablation.RefusedStage, match="spikes"):
        ablation.optional(TABLE, ["line", "spikes"])


def test_stages_that_cannot_be_taken_away_are_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = f"sys.exit(2) if 'line' in sys.argv else print({json.dumps(json.dumps(document()))})"
    monkeypatch.setattr(ablation, "COMMAND", command(tmp_path, program))
    assert ablation.optional(TABLE, ["line", "spikes"]) == (["spikes"], ["line"])


def test_kinds_in_which_a_stage_is_needed_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(text: str, stage: str | None) -> dict[str, Any]:
        return document(4.0 if stage and text == "disturbed" else 3.0, acted=text == "disturbed")

    monkeypatch.setattr(ablation, "document", answer)
    rig = replace(TABLE, source="rig", kinds=("rig: busy",), text="disturbed")
    found = ablation.ablate([TABLE] * 4 + [rig] * 4)
    assert list(found.paying("spikes", found.sources)) == ["rig: busy"]
    assert (found.machines(), found.acted, found.tables) == (["lab", "rig"], {"spikes": 4}, 8)
    page = report.page(found, "here")
    assert "| `spikes` | 1 | rig: busy: 4 of 4 intervals cease to hold" in page
    assert "| `spikes` | pays | no | no | pays |" in page
    assert len(list(report.rows(found))) == 2 and len(next(iter(report.rows(found)))) == len(
        report.COLUMNS
    )


def test_a_corpus_without_machines_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(BadCorpus, match="no folder of a machine"):
            next(tables.corpora(folder))


def test_a_machine_without_an_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    with pytest.raises(BadCorpus, match=f"lab/{INDEX} does not exist"):
        next(tables.corpora(tmp_path))


def test_full_tables_are_named_with_their_machine(tmp_path: Path) -> None:
    for name in ("lab", "full"):
        (tmp_path / name).mkdir()
        (tmp_path / name / INDEX).write_text(
            "file,case,cycles,init,situation\nx.csv.xz,body30_init120,30,120,idle\n"
        )
        (tmp_path / name / "x.csv.xz").write_bytes(lzma.compress(b"a table"))
    lone = tmp_path / "corpus"
    lone.mkdir()
    (tmp_path / "lab").rename(lone / "lab")
    short, full = tables.corpora(lone, f"lab={tmp_path}/full:")
    assert (short.kinds, full.kinds) == (
        ("lab: idle", "lab: init"),
        ("lab, full: idle", "lab, full: init"),
    )
    assert full.source == "lab" and [truth.value for truth in full.truths] == [30, 120]
    with pytest.raises(BadCorpus, match="MACHINE=FOLDER"):
        list(tables.corpora(lone, str(tmp_path)))


def test_vectors_have_truths() -> None:
    found = {table.name: table.truths for table in tables.of_vectors()}
    assert len(found) > 5 and all(found.values())
    assert {truth.unit for truths in found.values() for truth in truths} == {
        "time_ns",
        "cycles",
        "ticks",
    }


def test_scripts_that_make_tables_are_followed(tmp_path: Path) -> None:
    rows = "# rate_hz: 1e9\\nseries,body,round,ticks\\ncode,1,0,5\\n"
    made = f"import subprocess, sys\nopen('calm.csv', 'w').write('{rows}')\n"
    (tmp_path / "own.py").write_text(made + "subprocess.run([sys.argv[1], 'fit', 'calm.csv'])\n")
    (found,) = tables.of_scripts(tmp_path)
    assert found.name == "own 0.calm.csv" and found.truths == (Truth(100.0, 0, "time_ns", "code"),)


def test_simulated_tables_are_the_same_each_time() -> None:
    first, again = (next(simulated.tables()) for _ in range(2))
    assert first == again and first[1].count("\n") > 1000
