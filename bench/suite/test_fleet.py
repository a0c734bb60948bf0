"""Simulated machines: the same seed gives the same documents."""

from pathlib import Path

import fleet


def test_a_machine_has_its_own_effect_and_a_repeat_its_own_noise() -> None:
    real = fleet.real_document()

    def ns(machine: int, repeat: int) -> float:
        results = fleet.document(real, machine, repeat)["results"]
        value = results[0]["components"]["body"]["time_ns"]["value"]
        assert isinstance(value, float)
        return value

    assert ns(1, 0) == ns(1, 0) and ns(1, 0) != ns(2, 0)
    assert 0 < abs(ns(1, 1) / ns(1, 0) - 1) < 0.02
    hosts = {fleet.document(real, at, 0)["environment"]["identity"]["host"] for at in range(9)}
    assert len(hosts) == 9


def test_intervals_are_scaled_and_their_level_is_not() -> None:
    interval = {"value": 2.0, "low": 1.0, "high": 3.0, "level": 0.95}
    assert fleet.scaled({"a": [interval]}, 2.0)["a"][0] == {
        "value": 4.0,
        "low": 2.0,
        "high": 6.0,
        "level": 0.95,
    }


def test_a_fleet_is_written_in_folders(tmp_path: Path) -> None:
    assert fleet.write(tmp_path, 2, 3) > 0
    assert len(list(tmp_path.rglob("*.json"))) == 6
