"""Which CPU is beside another one, and the names of machines."""

from pathlib import Path

import collect
import neighbour
import pytest


def test_the_other_hardware_thread(tmp_path: Path) -> None:
    for cpu, listed in ((0, "0,4"), (1, "1"), (4, "0,4")):
        folder = tmp_path / f"cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(listed + "\n")
    assert [neighbour.other(cpu, tmp_path) for cpu in (0, 4)] == [4, 0]
    assert neighbour.other(1, tmp_path) == 0
    assert neighbour.other(0, tmp_path / "none") == 1


@pytest.mark.parametrize(
    ("name", "short"),
    [("intel-r-xeon-r-processor-6-167", "intel-6-167"), ("amd-epyc-25-1", "amd-epyc-25-1")],
)
def test_the_folder_of_a_machine(name: str, short: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "machine_name", lambda: name)
    assert collect.machine() == short


def test_the_range_of_loops() -> None:
    middle, half = collect.range_of([(9.0, 9.0), (2.0, 2.1), (1.9, 2.0)])
    assert (round(middle, 3), round(half, 3)) == (2.0, 0.1)
    assert collect.range_of([(1, 1), (2, 2), (2, 2)]) == (2, 2 * collect.ERROR)
