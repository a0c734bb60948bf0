"""The rows of the page of what was measured, and the files of a run."""

from datetime import date
from pathlib import Path

import measured
import pytest
from harness import PAGE, Record

DAY = date(2026, 11, 28)
TABLE = f"# Page\n\nWords.\n\n{measured.HEADER}\n|---|---|---|---|\n"


def test_a_row_has_four_cells_on_one_line() -> None:
    line = measured.row(DAY, "cpu 1", "bench/run fit", ["a | b: 3 ms\n(2 to 4)", "c: 4"])
    assert line == "| 2026-11-28 | cpu 1 | `bench/run fit` | a \\| b: 3 ms (2 to 4); c: 4 |"


def test_a_long_cell_is_cut() -> None:
    assert len(measured.cell("word " * 1000)) <= measured.LONGEST_CELL + 4
    assert measured.row(DAY, "cpu", "x", []).endswith("| no figures |")


def test_a_figure_has_its_spread() -> None:
    assert measured.spread("wall", [3.0, 1.0, 2.0], " s") == "wall: 2 s in the median of 3 (1 to 3)"
    assert measured.spread("wall", [float("nan")]) == "wall: none"


def test_rows_are_added_to_the_last_table(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(TABLE)
    for day in (27, 28):
        measured.append(page, measured.row(date(2026, 11, day), "cpu", "x", ["y"]))
    assert page.read_text().splitlines()[-2:] == [
        f"| 2026-11-{day} | cpu | `x` | y |" for day in (27, 28)
    ]


def test_a_page_without_the_table_is_refused_and_kept(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(TABLE + "\nWords behind it.\n")
    with pytest.raises(measured.NoTable):
        measured.append(page, "| x |")
    assert page.read_text().endswith("Words behind it.\n")


def test_the_page_of_this_project_takes_a_row(tmp_path: Path) -> None:
    copy = tmp_path / "measured.md"
    copy.write_text(PAGE.read_text())
    measured.append(copy, measured.row(DAY, "cpu", "x", ["y"]))


def test_a_run_keeps_its_files_and_ends_with_its_targets(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(TABLE)
    for number in (1, 2):
        record = Record("chains", raw=tmp_path / "raw")
        record.csv(("a",), [(1.0,)])
        record.target("quick", number == 1, f"{number} s")
        record.end("bench/run chains", page)
    names = sorted(file.name for file in (tmp_path / "raw").glob("*/*"))
    assert names == ["chains.1.csv", "chains.1.md", "chains.2.csv", "chains.2.md"]
    assert page.read_text().endswith("| quick: 2 s, missed |\n")
