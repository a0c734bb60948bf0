"""Tables for the corpus: how they are cut, their index, and what is refused."""

import lzma
from collections.abc import Callable
from pathlib import Path

import compact
import pytest
from compact import INDEX, BadCorpus, Entry, entries, unpacked, write_index
from corpus_cases import CASES, LENGTH, LOOP
from tables import CORPUS

ENTRY = Entry("mul3.idle.0.csv.xz", "mul3", situation="idle")


def table(rounds: int, *placements: int) -> str:
    """A table of one row, whose readings are hard to pack."""
    keys = [
        "# hairspring observations: 1",
        "# rate_hz: 1e9",
        *(f"# placement: {at}" for at in placements),
    ]
    rows = [f"code,1,{at},,{pow(5, at, 1_000_003)}" for at in range(rounds)]
    return "\n".join([*keys, "series,body,round,flags,ticks", *rows]) + "\n"


def folder_of(place: Path, *lines: Entry, text: str = "") -> Path:
    """A folder of tables with their index."""
    place.mkdir(exist_ok=True)
    write_index(place, lines)
    for line in lines:
        (place / line.file).write_bytes(lzma.compress((text or table(10)).encode()))
    return place


@pytest.fixture
def any_table_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact, "is_solved", lambda _: True)


def test_a_short_table_is_kept_whole() -> None:
    packed, rounds = compact.cut(table(20, 10))
    assert rounds == 20
    assert sorted(lzma.decompress(packed).decode().splitlines()) == sorted(
        table(20, 10).splitlines()
    )


def test_a_long_table_is_cut_to_its_limit() -> None:
    packed, rounds = compact.cut(table(20_000))
    assert 0.95 * compact.TABLE_BYTES < len(packed) <= compact.TABLE_BYTES
    assert lzma.decompress(packed).decode().splitlines()[-1].split(",")[2] == str(rounds - 1)


def test_each_placement_keeps_its_first_rounds() -> None:
    lines = lzma.decompress(compact.parsed(table(30, 10, 20)).start(2)).decode().splitlines()
    assert [line for line in lines if line.startswith(compact.PLACEMENT)] == [
        "# placement: 2",
        "# placement: 4",
    ]
    kept = [int(line.split(",")[-1]) for line in lines if line.startswith("code")]
    assert kept == [pow(5, at, 1_000_003) for at in (0, 1, 10, 11, 20, 21)]
    assert [line.split(",")[2] for line in lines if line.startswith("code")] == list("012345")


def test_a_table_has_few_placements() -> None:
    kept = compact.parsed(table(60, 10, 20, 30, 40, 50)).kept(1)
    assert kept == {0: 0, 10: 1, 20: 2, 30: 3}


@pytest.mark.parametrize(
    "text", ["", "# rate_hz: 1e9\n", "series,body,ticks\ncode,1,5\n", "series,body,round,ticks\n"]
)
def test_a_table_without_rounds_is_refused(text: str) -> None:
    with pytest.raises(BadCorpus, match="round"):
        compact.cut(text)


def test_a_missing_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match=f"{INDEX} does not exist"):
        entries(tmp_path)


def test_an_index_without_its_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text("name,cycles\nx,3\n")
    with pytest.raises(BadCorpus, match="`file` and `case`"):
        entries(tmp_path)


def test_an_index_with_other_columns_is_read(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text("file,case,worst\nx.csv.xz,mul3,note\n,mul3,\n")
    assert entries(tmp_path) == [Entry("x.csv.xz", "mul3")]


@pytest.mark.parametrize(
    "damage",
    [lambda packed: packed[:100], lambda _: b"not packed", lambda _: lzma.compress(b"\xff")],
)
def test_a_damaged_table_is_named(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "x.csv.xz"
    path.write_bytes(damage(lzma.compress(table(100).encode())))
    with pytest.raises(BadCorpus, match="x.csv.xz cannot be read"):
        unpacked(path)


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match="x.csv.xz cannot be read"):
        unpacked(tmp_path / "x.csv.xz")


@pytest.mark.usefixtures("any_table_is_solved")
def test_several_folders_become_one_in_turns(tmp_path: Path) -> None:
    first = folder_of(tmp_path / "a", ENTRY, Entry("add4.idle.0.csv.xz", "add4", situation="idle"))
    second = folder_of(tmp_path / "b", ENTRY)
    (first / compact.TRUTHS).write_text("case,cycles,half\nadd4,1.1,0.01\n")
    kept = compact.compact(tmp_path / "to", [first, second])
    assert {one.file for one in kept} == {
        f"{name}.csv.xz" for name in ("add4.idle.0", "mul3.idle.0", "mul3.idle.1")
    }
    assert {(one.case, one.cycles, one.half, one.truth_from) for one in kept} == {
        ("mul3", "3", "", LENGTH),
        ("add4", "1.1", "0.01", LOOP),
    }
    assert entries(tmp_path / "to") == sorted(kept, key=lambda one: one.file)


@pytest.mark.usefixtures("any_table_is_solved")
def test_a_folder_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact, "MACHINE_BYTES", 1)
    assert compact.compact(tmp_path / "to", [folder_of(tmp_path / "a", ENTRY)]) == []


def test_a_case_has_a_length_or_loops() -> None:
    assert [
        name for name, case in CASES.items() if (case.cycles is None) != (case.loop is not None)
    ] == []


@pytest.mark.parametrize(
    "folder",
    [path for path in sorted(CORPUS.iterdir()) if path.is_dir()],
    ids=lambda path: path.name,
)
def test_the_corpus_of_this_project_has_what_its_index_says(folder: Path) -> None:
    lines = {line.file: line for line in entries(folder)}
    assert sorted(lines) == sorted(path.name for path in folder.glob("*.csv.xz"))
    assert sum((folder / name).stat().st_size for name in lines) <= 2_000_000
    for name, line in lines.items():
        assert len(set(compact.parsed(unpacked(folder / name)).readings)) == int(line.rounds)
        assert bool(line.cycles) == bool(line.truth_from)
