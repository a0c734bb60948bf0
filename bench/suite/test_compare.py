"""The arithmetic of `compare` on made-up readings: differences, agreement, counters, tables, the
page.
"""

import json
from pathlib import Path

import compare_counters as counters
import compare_page as page
import compare_tools as tools
import compare_truth as truth
import pytest
from compare_truth import Interval
from compare_words import HAIRSPRING, WORDS

CALL, ANEW, LOOP, CLOCK = 200.0, 30.0, 0.5, 45.0
LENGTHS = {"body": (1, 2, 4, 8), "body2": (1,), "base": (1, 2, 4, 8), "base2": (1,)}
SHORTEST = 100


def took(form: str, passes: int, twice_more: float = 0.0) -> float:
    """Time of a loop of a machine without noise: `twice_more` is what the second call of a pass
    takes more.
    """
    calls = 2 if form.endswith("2") else 1
    each = ANEW + (CALL if form.startswith("body") else 0)
    return CLOCK + passes * (LOOP + calls * each + (twice_more if form == "body2" else 0))


def printed(rounds: int, twice_more: float = 0.0, thread: float = 1.0) -> str:
    """What a program prints: noise of a round is in all its loops, and one round was
    interrupted.
    """
    lines = ["case,round,form,passes,wall_ns,thread_ns"]
    for at in range(rounds):
        for form, lengths in LENGTHS.items():
            for times in lengths:
                time = took(form, times * SHORTEST, twice_more) + (
                    1e6 if at == 3 and form == "body" and times > 1 else 0
                )
                jitter = 10.0 * (at % 5)
                both = f"{time + jitter},{thread * time + jitter}"
                lines.append(f"sort_100,{at},{form},{times * SHORTEST},{both}")
    return "\n".join(lines)


def methods(text: str) -> dict[str, Interval]:
    """The methods of the only case."""
    return truth.by_methods(truth.readings(text)["sort_100"])


def test_every_method_finds_the_call_without_loop_init_and_clock() -> None:
    found = methods(printed(21))
    assert set(found) == set(truth.METHODS)
    for one in found.values():
        assert one.value == pytest.approx(CALL)
        assert one.low == pytest.approx(CALL) == one.high
    agreed = truth.agreed(found)
    assert agreed is not None and agreed.value == pytest.approx(CALL)


def test_methods_that_disagree_are_no_truth() -> None:
    assert truth.agreed(methods(printed(21, twice_more=4.0))) is None
    assert truth.agreed(methods(printed(21, thread=1.05))) is None
    assert truth.agreed({}) is None


def test_the_share_of_the_cpu() -> None:
    quiet, half = (
        truth.cpu_share(truth.readings(printed(3, thread=thread))) for thread in (1.0, 0.5)
    )
    assert quiet == pytest.approx(1)
    assert half == pytest.approx(0.5, abs=0.001)


def test_intervals_that_touch_agree_and_the_whole_range_is_told() -> None:
    agreed = truth.agreed({"a": Interval(10, 9, 11), "b": Interval(12, 11, 13)})
    assert agreed == Interval(11, 9, 13)
    assert (
        truth.agreed(
            {"a": Interval(10, 9, 11), "b": Interval(12, 11.1, 13), "c": Interval(11, 8, 14)}
        )
        is None
    )


def test_counters_are_the_truth_only_where_the_loops_agree_with_them() -> None:
    loops = {"a": Interval(10, 9, 11)}
    assert truth.agreed({**loops, truth.COUNTERS: Interval(10.5, 10.4, 10.6)}) == Interval(
        10.5, 10.4, 10.6
    )
    assert truth.agreed({**loops, truth.COUNTERS: Interval(12, 11.5, 12.5)}) is None
    assert truth.middle({**loops, truth.COUNTERS: Interval(10.5, 10.4, 10.6)}) == 10.5


@pytest.mark.parametrize(("count", "place"), [(1, 0), (5, 0), (9, 1), (20, 5), (40, 13), (100, 39)])
def test_the_ends_of_the_median_are_those_of_the_tables_of_the_sign_test(
    count: int, place: int
) -> None:
    assert truth.rank(count) == place
    found = truth.of_median([float(at) for at in range(count)])
    assert (found.low, found.high) == (place, count - 1 - place)


def test_runs_are_pooled_from_the_least_to_the_highest_end() -> None:
    runs = [{"a": Interval(value, value - 1, value + 1)} for value in (10.0, 14.0, 11.0)]
    assert truth.pooled(runs) == {"a": Interval(11, 9, 15)}


PERF = """\
{cycles},,cycles:u,100,100.00,,
{instructions},,instructions:u,100,100.00,,
{ms},msec,task-clock:u,100,100.00,,
"""


def test_the_output_of_perf() -> None:
    text = PERF.format(cycles=3000, instructions=7000, ms=1.5)
    assert counters.parsed(text) == counters.Count(3000, 7000, 1.5e6)
    assert counters.parsed(text.replace("3000", "<not supported>")) is None
    assert counters.parsed("\n".join(text.splitlines()[:2])) is None


def test_counts_of_a_call() -> None:
    def loop(form: str, passes: int) -> counters.Count:
        cycles = 5e5 + passes * (600 if form == "body" else 90)
        return counters.Count(cycles, 9e5 + passes * (1100 if form == "body" else 100), cycles / 3)

    rounds = [
        {(form, many): loop(form, many) for form in counters.FORMS for many in (1000, 2000)}
        for _ in range(9)
    ]
    found = counters.of_call(rounds, 1000)
    assert (found.cycles.value, found.instructions.value) == (510, 1000)
    assert found.ns.value == pytest.approx(170)


def a_run(at: int, twice_more: float = 0.0) -> page.Run:
    """A run in which Hairspring is 1 % off, and divan 10 % and has no interval."""
    run = page.Run(methods={"sort_100": methods(printed(21, twice_more))})
    ours = CALL * (1.01 + 0.01 * at)
    run.told[HAIRSPRING] = {
        "sort_100": tools.Told(Interval(ours, ours - 4, ours + 4), doubted=at == 1)
    }
    run.told["divan"] = {"sort_100": tools.Told(Interval(1.1 * CALL, float("nan"), float("nan")))}
    run.told["tango"] = {
        "sort_100": tools.Told(Interval(1.15 * (CALL + ANEW), float("nan"), float("nan")))
    }
    return run


def cells(runs: list[page.Run]) -> dict[str, str]:
    """The row of the sort in Rust."""
    return dict(zip(page.header("Rust"), page.rows("Rust", runs)[0], strict=True))


def test_a_row_has_ratios_own_intervals_doubts_and_no_answer() -> None:
    row = cells([a_run(at) for at in range(3)])
    assert row["truth"] == "200 ns (200 to 200)"
    assert row["counters"] == "no counters here"
    assert (
        row["Hairspring"]
        == "1.020 (1.010 to 1.030), own interval 1.000 to 1.040, 1 of 3 doubted by the tool"
    )
    assert row["Divan"] == "1.100 (1.100 to 1.100)"
    assert row["tango"] == "1.323 (1.323 to 1.323), with the init"
    assert row["Criterion"] == "no answer"


def test_without_a_truth_no_tool_has_a_ratio() -> None:
    row = cells([a_run(0, twice_more=4.0)])
    assert row["truth"].startswith("no truth: short loops 200 to 200; ")
    assert (row["Hairspring"], row["Divan"], row["Criterion"]) == ("202 ns", "220 ns", "no answer")
    found = page.document({}, {"Rust": [a_run(0, twice_more=4.0)]}, [])["languages"]["Rust"][
        "sort_100"
    ]
    assert (
        found["truth_ns"] is None
        and found["over_truth"] is None
        and found["told_ns"]["divan"] == [1.1 * CALL]
    )


def test_the_document_is_json_without_nan() -> None:
    document = page.document(
        {"benchmark": "compare"}, {"Rust": [a_run(at) for at in range(3)]}, ["a note"]
    )
    read = json.loads(json.dumps(document, allow_nan=False))["languages"]["Rust"]["sort_100"]
    assert read["over_truth"]["divan"] == {
        "ratio": {
            "value": pytest.approx(1.1),
            "low": pytest.approx(1.1),
            "high": pytest.approx(1.1),
        },
        "own_interval": None,
        "runs": 3,
        "doubted": 0,
    }
    assert read["over_truth"]["criterion"] is None


def test_every_tool_has_its_words_and_its_version() -> None:
    for language, words in WORDS.items():
        rows = page.idioms(language, dict.fromkeys(words, "1.2"))
        assert all(len(row) == len(page.IDIOMS) and all(row) for row in rows)


def test_the_figures_go_between_the_marks_of_the_page(tmp_path: Path) -> None:
    file = tmp_path / "COMPARE.md"
    file.write_text(f"# Above\n\n{page.BEGIN}\nold\n{page.END}\n\nBelow\n")
    for _ in range(2):
        page.put(file, ["", "new", ""])
        assert file.read_text() == f"# Above\n\n{page.BEGIN}\n\nnew\n\n{page.END}\n\nBelow\n"
    for text in ("no marks", f"{page.END}\n{page.BEGIN}\n"):
        file.write_text(text)
        with pytest.raises(page.NoMarks):
            page.put(file, ["new"])
        assert file.read_text() == text


def test_a_quick_run_has_the_loops_and_options_of_a_usual_one_but_shorter(tmp_path: Path) -> None:
    for language, words in WORDS.items():
        for tool in (tools.TRUTH, *words):
            usual, quick = (
                tools.arguments(language, tool, 1, short, tmp_path) for short in (False, True)
            )
            assert tool == "nanobench" or usual != quick
            assert tool == tools.TRUTH or quick[: len(usual)] == usual
    assert all(
        int(long) > int(short)
        for long, short in zip(tools.LOOPS[False], tools.LOOPS[True], strict=True)
    )


def test_means_of_pyperf() -> None:
    def bench(name: str, *values: float) -> dict[str, object]:
        return {
            "metadata": {"name": name},
            "runs": [{"warmups": [[1, 9.0]]}, {"values": list(values)}],
        }

    lines = tools.by_pyperf(
        {"benchmarks": [bench("a", 1e-6, 1.1e-6), bench("b", 1e-6, 2e-6)]}
    ).splitlines()
    assert lines[1:] == ["a,1050,,,", "b,1500,,,unstable"]
