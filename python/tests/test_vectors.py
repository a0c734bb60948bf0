"""The vectors that every language must pass: spec/vectors."""

import csv
from pathlib import Path

import pytest

import hairspring

FOLDER = Path(__file__).parents[2] / "spec/vectors"
with (FOLDER / "expected.csv").open(newline="") as file:
    EXPECTED = list(csv.DictReader(file))


def test_there_are_vectors() -> None:
    assert len(EXPECTED) > 12


@pytest.mark.parametrize(
    "line", EXPECTED, ids=lambda line: f"{line['file']}-{line['component']}-{line['unit']}"
)
def test_every_expected_estimate_is_found(line: dict[str, str]) -> None:
    component = (
        hairspring.fit(FOLDER / line["file"]).series[line["series"]].components[line["component"]]
    )
    estimates = {"ns": component.time_ns, "ticks": component.ticks, "cycles": component.cycles}
    estimate = estimates[line["unit"]]
    assert estimate is not None
    for name in ("level", "value", "low", "high"):
        assert getattr(estimate, name) == pytest.approx(float(line[name]), rel=1e-9, abs=1e-12), (
            name
        )
    assert component.below_resolution == (line["below_resolution"] == "1")
