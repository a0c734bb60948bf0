"""Tests of the fixture, in a pytest run within the test."""

import json

import pytest

pytest_plugins = ["pytester"]

TESTS = """
def test_sort(hairspring_time):
    code = {"init": "x = data[:]", "setup": "data = [3, 1, 2]"}
    result = hairspring_time("x.sort()", **code, budget="20ms")
    assert list(result.components) == ["body", "init"]
    assert hairspring_time("pass", budget="5ms").name == "test_sort (2)"
    assert hairspring_time("pass", budget="5ms", name="own").name == "own"

def test_fails(hairspring_time):
    hairspring_time("1 / 0")
"""


def test_results_are_in_a_table_and_in_a_file(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    outcome = pytester.runpytest_subprocess("--hairspring-json", "results.json")
    outcome.assert_outcomes(passed=1, failed=1)
    outcome.stdout.fnmatch_lines(
        ["*= hairspring =*", "*test_sort*ns*", "*own*", "written to results.json"]
    )
    outcome.stdout.fnmatch_lines(["*ZeroDivisionError*"])
    document = json.loads((pytester.path / "results.json").read_text())
    assert [series["name"] for series in document["results"]] == [
        "test_sort",
        "test_sort (2)",
        "own",
    ]


def test_a_run_without_measurements_prints_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    outcome = pytester.runpytest_subprocess("--hairspring-json", "results.json")
    outcome.assert_outcomes(passed=1)
    assert "hairspring =" not in outcome.stdout.str()
    assert not (pytester.path / "results.json").exists()
