"""Solving observations: the tables are made up, with a known answer."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import hairspring


def line(slope: float = 40.5, overhead: float = 18.0, rounds: int = 16) -> npt.NDArray[np.float64]:
    """Copies and ticks: a line with a wobble that differs from row to row."""
    rows = [
        (k, slope * k + overhead + (7 * r + 13 * k) % 5 - 2)
        for r in range(rounds)
        for k in (1, 2, 4, 8, 16)
    ]
    return np.array(rows, dtype=np.float64)


def test_a_line() -> None:
    result = hairspring.fit(line())
    body = result.components["body"]
    assert body.time_ns is None
    assert body.ticks is not None and body.ticks.low < 40.5 < body.ticks.high
    assert result.overhead is not None and result.overhead.ticks is not None
    assert abs(result.overhead.ticks.value - 18) < 2
    assert result.rounds is None
    assert len(result.observations) == 80


def test_a_rate_makes_nanoseconds() -> None:
    body = hairspring.fit(line(), rate_hz=2e9, components=["copy"]).components["copy"]
    assert body.time_ns is not None and abs(body.time_ns.value - 20.25) < 0.2
    assert body.time_ns.level == 0.95


def test_nanoseconds_as_readings() -> None:
    body = hairspring.fit(line(), ticks="time_ns").body
    assert body.time_ns is not None and abs(body.time_ns.value - 40.5) < 0.4


def test_two_components_of_a_list() -> None:
    rows = [
        (n, m, 10 * n + 3 * m + 7 + (r + n) % 2)
        for r in range(8)
        for n, m in ((1, 1), (2, 2), (1, 3), (4, 2), (8, 8))
    ]
    result = hairspring.fit(rows)
    assert list(result.components) == ["c1", "c2"]
    assert result.body.ticks is not None and abs(result.body.ticks.value - 10) < 0.5


def test_a_frame_with_series_rounds_and_flags() -> None:
    table = line()
    frame = pd.DataFrame(
        {
            "copy": table[:, 0],
            "ticks": table[:, 1],
            "round": np.arange(80) // 5,
            "flags": "",
            "series": "a",
        }
    )
    slower = frame.assign(series="b", ticks=frame["ticks"] + 20 * frame["copy"])
    both_series = pd.concat([frame, slower], ignore_index=True)
    both_series.loc[0, "flags"] = "gx"
    both_series.loc[0, "ticks"] = 1e9
    result = hairspring.fit(both_series)
    assert list(result.series) == ["a", "b"]
    assert result.comparisons[0].verdict == "slower"
    assert result.observations.flags[0] == 2 + 8
    assert result.observations.ticks[0] == 1e9
    assert result.body.ticks is not None and abs(result.body.ticks.value - 40.5) < 0.5


def test_a_frame_of_observations_and_a_file_give_the_same_result(tmp_path: Path) -> None:
    result = hairspring.fit(line())
    assert hairspring.fit(result.observations.to_pandas()).body == result.body
    result.observations.to_csv(tmp_path / "table.csv")
    assert hairspring.fit(tmp_path / "table.csv").body == result.body
    assert hairspring.fit(str(tmp_path / "table.csv")).body == result.body


def test_columns_of_a_frame_are_chosen() -> None:
    table = line()
    frame = pd.DataFrame({"copy": table[:, 0], "remark": 7.0, "reading": table[:, 1]})
    assert list(hairspring.fit(frame, components=["copy"], ticks="reading").components) == ["copy"]


def test_whole_numbers_of_every_width_are_numbers() -> None:
    for kind in ("int16", "uint64", "float32"):
        assert hairspring.fit(line().round().astype(kind)).body.ticks is not None


def test_strided_and_transposed_arrays_are_read_correctly() -> None:
    table = line()
    wide = np.zeros((80, 4))
    wide[:, ::2] = table
    assert hairspring.fit(wide[:, ::2]).body == hairspring.fit(table).body
    assert hairspring.fit(np.asfortranarray(table)).body == hairspring.fit(table).body


@pytest.mark.parametrize(
    ("observations", "reason"),
    [
        ([], "expected rows"),
        (np.zeros((0, 2)), "expected rows"),
        (np.zeros(5), "expected rows"),
        (np.zeros((5, 1)), "expected rows"),
        (np.zeros((2, 2, 2)), "2 x 2 x 2"),
        (7, "a single number"),
        ([(1, 2), (3,)], "not of one length"),
        ([(1, 10.0), (2, float("nan"))], "not a finite number"),
        ([(1, 10.0), (2, float("inf"))], "not a finite number"),
        ([(1, 10.0), (float("nan"), 20.0)], "`body` ran NaN times"),
        ([(1, 10.0), (-1, 20.0)], "`body` ran -1 times"),
        ([(1, 10.0)], "rows"),
        (pd.DataFrame(), "no column"),
        (pd.DataFrame({"ticks": [1.0]}), "of counts"),
        (pd.DataFrame({"a": [1.0], "time": [1.0]}), "no column `ticks`"),
        (pd.DataFrame({"a": [], "ticks": []}), "no rows"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "a", "ticks"]), "the same name"),
        (pd.DataFrame({"a": [1.0], "ticks": [1.0], "round": [-1]}), "whole number"),
        (pd.DataFrame({"a": [1.0], "ticks": [1.0], "round": [0.5]}), "whole number"),
        (pd.DataFrame({"a": [1.0], "ticks": [1.0], "flags": ["z"]}), "`z` is not one of the flags"),
        (pd.DataFrame({"a": [1.0], "ticks": [1.0], "flags": [200]}), "whole number"),
    ],
)
def test_bad_observations_are_refused_with_the_reason(observations: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        hairspring.fit(observations)


@pytest.mark.parametrize(
    "observations",
    [
        None,
        [("a", "b")],
        np.array([[1, None]], dtype=object),
        [(1 + 2j, 3)],
        pd.DataFrame({"a": ["x"], "ticks": [1]}),
    ],
)
def test_values_that_are_not_numbers_are_refused(observations: Any) -> None:
    with pytest.raises(TypeError, match="expected numbers"):
        hairspring.fit(observations)


def test_huge_counts_are_refused() -> None:
    table = line()
    table[:, 0] *= 1e300
    with pytest.raises(ValueError, match="between 1e-30 and 1e30"):
        hairspring.fit(table)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"components": ["a", "b"]}, "2 names"),
        ({"components": [""]}, "'' cannot be the name of a component"),
        ({"components": ["a", "a"]}, "'a' appears twice"),
        ({"ticks": "seconds"}, "time_ns"),
        ({"rate_hz": 0.0}, "rate_hz 0"),
        ({"rate_hz": float("nan")}, "rate_hz"),
        ({"confidence_level": 0.2}, "confidence_level"),
        ({"confidence_level": "x"}, "confidence_level"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        hairspring.fit(line(), **options)


def test_bad_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        hairspring.fit(tmp_path / "none.csv")
    (tmp_path / "bad.csv").write_text("body,ticks\n1,x\n")
    with pytest.raises(ValueError, match="bad.csv"):
        hairspring.fit(tmp_path / "bad.csv")
    with pytest.raises(TypeError, match="leave out"):
        hairspring.fit(tmp_path / "bad.csv", rate_hz=1.0)


def test_an_init_that_serves_has_a_verdict_of_its_own(tmp_path: Path) -> None:
    counts = [(n, m) for n in (1, 2, 4, 8, 16) for m in (n, 2 * n)]
    off = (1, -1, -1, 1, 0.5, -0.5, -1, 1, 1, -1)
    rows = [
        f"{n},{m},{r},{500 * n + 6 * m + 90 + 12 * off[at] + (7 * r + 13 * at) % 11 / 10}"
        for r in range(64)
        for at, (n, m) in enumerate(counts)
    ]
    file = tmp_path / "sort.csv"
    for head, trusted in (("# serves: init\n", True), ("", False)):
        file.write_text(head + "body,init,round,ticks\n" + "\n".join(rows) + "\n")
        series = hairspring.fit(file).first
        assert (series.trusted, series.untrusted) == (trusted, not trusted)
        assert series.body.trusted and not series.components["init"].trusted
        assert series.components["init"].serves == trusted and not series.body.serves
        untrusted = [finding for finding in series.findings if finding.severity == "untrusted"]
        assert {finding.component for finding in untrusted} == {"init"}
