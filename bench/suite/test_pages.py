"""The tables of `pages`: as large as asked for, the same each time, with readings to leave out."""

from pathlib import Path

from pages import COUNTS, write_table


def test_a_table_has_the_readings_that_were_asked_for(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.csv", "two.csv")]
    found = [write_table(file, lambda readings, _: readings >= 1000) for file in files]
    lines = files[0].read_text().splitlines()
    assert found == [1000, 1000]
    assert lines[:2] == ["# rate_hz: 1e9", "round,body,ticks"] and len(lines) == 1002
    assert lines[-1].startswith(f"{1000 // COUNTS - 1},{COUNTS},")
    assert files[0].read_bytes() == files[1].read_bytes()
    assert max(int(line.split(",")[2]) for line in lines[2:]) > 2000


def test_a_table_has_the_bytes_that_were_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    write_table(file, lambda _, size: size >= 50_000)
    assert 50_000 <= file.stat().st_size < 51_000
