"""Measurements. No absolute time is asserted, only properties that hold on any machine, even a
busy one.
"""

import gc
import json
import math
import os
import signal
import sys
import time
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hairspring

SHORT = "30ms"


def test_a_statement_has_a_time_with_its_interval() -> None:
    result = hairspring.time("y = sum(x)", setup="x = list(range(50))", budget=SHORT)
    assert result.name == "y = sum(x)"
    assert list(result.components) == ["body"]
    body = result.body.time_ns
    assert body is not None and 0 < body.low < body.value < body.high
    assert body.level == 0.95
    assert body.half_width == (body.high - body.low) / 2
    assert result.overhead is not None and result.overhead.time_ns is not None
    assert result.rounds is not None and result.rounds >= 5
    assert result.comparisons == ()


def test_an_empty_statement_is_below_resolution_or_next_to_nothing() -> None:
    result = hairspring.time(
        "pass", against="y = sum(x)", setup="x = list(range(100))", budget="100ms"
    )
    nothing, some = (series.body for series in result.series.values())
    assert nothing.time_ns is not None and some.time_ns is not None
    assert nothing.below_resolution or abs(nothing.time_ns.value) < some.time_ns.value / 20
    if nothing.below_resolution:
        assert nothing.bound_ns is not None and nothing.bound_ns > 0
        assert "below resolution" in repr(result)


def slower(measure: Callable[[], hairspring.Result]) -> tuple[hairspring.Result, float]:
    """A result whose only comparison is slower, and the ratio. A short run beside other work may
    be undecided.
    """
    for _ in range(5):
        result = measure()
        (found_comparison,) = result.comparisons
        if found_comparison.verdict == "slower":
            assert found_comparison.ratio is not None
            return result, found_comparison.ratio.value
        assert found_comparison.verdict == "undecided"
    raise AssertionError(f"five runs are undecided: {result}")


def test_work_done_twice_takes_about_twice_the_time() -> None:
    _, ratio = slower(
        lambda: hairspring.time(
            "f(x)", against="f(x); f(x)", setup="f = sum; x = list(range(300))", budget="200ms"
        )
    )
    assert 1.3 < ratio < 3


THREAD = "thread = Thread(target=work); thread.start(); thread.join()"
WORK = "from threading import Thread\ndef work():\n    return sum(range(1000))"


def test_threads_of_the_code_are_found_and_said() -> None:
    result = hairspring.time(
        THREAD, setup=WORK, budget="200ms"
    )  # others on the CPUs switch it out of most short runs
    (found_finding,) = [finding for finding in result.findings if finding.kind == "threads"]
    assert "`threads`" in found_finding.remedy
    assert result.body.cycles is None and result.body.time_ns is not None
    assert result.to_dict()["environment"]["pinned_cpu"] is None


def test_threads_can_be_declared_and_the_thread_left_where_it_is() -> None:
    for threads in (True, False):
        before = os.sched_getaffinity(0)
        seen_sets: set[frozenset[int]] = set()
        names = {"seen": seen_sets, "affinity": lambda: frozenset(os.sched_getaffinity(0))}
        result = hairspring.time(
            "seen.add(affinity())", globals=names, budget=SHORT, threads=threads, pin=threads
        )
        (found,) = [finding for finding in result.findings if finding.kind == "unbound"]
        assert ("code that runs threads" in found.message) is threads
        assert seen_sets == {frozenset(before)}


def test_a_cpu_and_none_at_the_same_time_are_refused() -> None:
    for threads in (True, False):
        with pytest.raises(hairspring.OptionError, match="cpu"):
            hairspring.time("pass", cpu=0, threads=threads, pin=threads)


def test_an_init_is_separated_from_the_body() -> None:
    init = "x = list(range(1000))"
    result = hairspring.time("y = x[0]", init=init, budget="100ms")
    assert list(result.components) == ["body", "init"]
    body, other = result.components["body"].time_ns, result.components["init"].time_ns
    assert body is not None and other is not None and body.value < other.value / 2
    assert "in place" in " ".join(result.observations.series_names)


def test_an_init_runs_before_every_copy() -> None:
    hairspring.time("assert x.pop() == 1 and not x", init="x = [1]", budget=SHORT)


def test_callables() -> None:
    def quick() -> None:
        pass

    result, ratio = slower(
        lambda: hairspring.time(quick, against={"long": lambda: sum(range(500))}, budget=SHORT)
    )
    assert list(result.series) == ["quick", "long"]
    assert ratio > 20
    code = result.first.code
    assert code is not None and code.endswith("quick()")


def test_alternatives_get_names() -> None:
    result = hairspring.time("pass", against=["pass", "pass", dict], name="first", budget=SHORT)
    assert list(result.series) == ["first", "pass", "pass (2)", "dict"]


@pytest.mark.parametrize(
    "name",
    ["", "\n", "a\x1b[31mb", "x" * 5_000, "ü 变", "a,b\"c'", "# rate_hz: 1", "reference chain"],
)
def test_odd_names_break_nothing(name: str) -> None:
    result = hairspring.time("pass", name=name, budget="5ms")
    assert "\x1b" not in str(result)
    assert json.loads(result.to_json())["schema"] == "hairspring/result/2"
    assert len(result.series) == 1


def test_globals_are_seen() -> None:
    hairspring.time("hairspring.__version__", globals=globals(), budget="5ms")
    with pytest.raises(NameError, match="hairspring"):
        hairspring.time("hairspring.__version__", budget="5ms")


class Own(Exception):
    """An exception of the test's own."""


@pytest.mark.parametrize("where", ["statement", "init", "setup"])
def test_exceptions_keep_their_traceback_and_leave_no_references(where: str) -> None:
    affinity = os.sched_getaffinity(0)
    codes = {"statement": "pass", "init": "pass", "setup": "pass"} | {
        where: "a = 1\nraise Own('mine')"
    }
    gc.enable()
    with pytest.raises(Own, match="mine") as caught:
        hairspring.time(
            codes["statement"],
            init=codes["init"],
            setup=codes["setup"],
            globals={"Own": Own},
            budget=SHORT,
        )
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert frame.line == "raise Own('mine')"
    assert os.sched_getaffinity(0) == affinity
    assert gc.isenabled()


def test_an_exception_in_a_late_copy_ends_the_measurement() -> None:
    runs = iter(range(1_000))

    def fails() -> int:
        return next(runs)

    with pytest.raises(StopIteration):
        hairspring.time(fails, budget="2s")


def test_nothing_keeps_the_code_alive() -> None:
    class Callable:
        def __call__(self) -> None:
            pass

    code = Callable()
    watched = weakref.ref(code)
    hairspring.time(code, budget="5ms")
    del code
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_exceptions_that_end_programs_end_the_measurement(error: type[BaseException]) -> None:
    def stop() -> None:
        raise error

    with pytest.raises(error):
        hairspring.time(stop, budget=SHORT)


def test_a_signal_interrupts() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            hairspring.time("pass", budget="60s", precision=1e-9)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - begin < 30


def test_the_garbage_collector_is_off_during_measurements_unless_requested() -> None:
    seen_states: list[bool] = []
    for wanted in (False, True):
        hairspring.time(lambda: seen_states.append(gc.isenabled()), budget="5ms", gc=wanted)
        assert set(seen_states) == {wanted}
        assert gc.isenabled()
        seen_states.clear()
    hairspring.time("assert gc.isenabled()", setup="import gc; gc.enable()", budget="5ms")
    gc.disable()
    try:
        hairspring.time("pass", budget="5ms")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_long_code_ends_in_a_few_runs() -> None:
    runs: list[int] = []

    def long() -> None:
        runs.append(1)
        time.sleep(0.02)

    result = hairspring.time(long, budget=SHORT)
    assert len(runs) < 150
    assert result.body.time_ns is not None and result.body.time_ns.value > 0


def test_a_measurement_within_a_measurement() -> None:
    hairspring.time(lambda: hairspring.time("pass", budget="1ms"), budget="1ms")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"budget": 0}, "budget"),
        ({"budget": -1.0}, "budget"),
        ({"budget": math.nan}, "budget"),
        ({"budget": math.inf}, "budget"),
        ({"budget": "soon"}, "budget soon"),
        ({"precision": 0}, "precision"),
        ({"precision": "200%"}, "precision"),
        ({"confidence_level": 1}, "confidence_level"),
        ({"clock": "sundial"}, "sundial"),
        ({"cpu": 100_000}, "100000"),
    ],
)
def test_unavailable_options_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(hairspring.OptionError, match=reason):
        hairspring.time("pass", **options)


@pytest.mark.parametrize(
    "options", [{"cpu": "one"}, {"clock": 3}, {"globals": 3}, {"against": 3}, {"budget": [1]}]
)
def test_options_of_the_wrong_type(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        hairspring.time("pass", **options)


def test_another_clock() -> None:
    result = hairspring.time("y = sum(x)", setup="x = range(100)", clock="monotonic", budget=SHORT)
    assert result.to_dict()["environment"]["clock"]["name"] == "monotonic"


def test_the_raw_readings_are_arrays() -> None:
    result = hairspring.time("x = 1", budget=SHORT)
    raw = result.observations
    assert raw.counts.shape == (len(raw), 1)
    assert raw.ticks.dtype == np.float64 and raw.round.dtype == np.uint32
    assert set(raw.counts[raw.series == 0, 0]) <= {1, 2, 3, 4, 8, 16, 32, 64, 96, 128, 192, 256}
    assert raw.series_names[0] == "x = 1"
    assert raw.rate_hz is not None and raw.rate_hz > 0
    for column in (raw.counts, raw.ticks, raw.round, raw.flags, raw.series):
        assert len(column) == len(raw)
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


def test_saved_readings_are_fitted_to_the_same_result(tmp_path: Any) -> None:
    result = hairspring.time("y = sum(x)", setup="x = range(100)", budget=SHORT)
    result.observations.to_csv(tmp_path / "readings.csv")
    again = hairspring.fit(tmp_path / "readings.csv")
    first, second = result.body.time_ns, again.body.time_ns
    assert first is not None and second is not None
    assert second.value == pytest.approx(first.value, rel=1e-6)


def test_texts_and_frames() -> None:
    result = hairspring.time("pass", against="x = sum(y)", setup="y = range(100)", budget=SHORT)
    assert str(result).startswith("hairspring time: 2 alternatives")
    assert repr(result).startswith("Result(pass: ")
    frame = result.to_pandas()
    assert list(frame["component"]) == ["body", "overhead"] * 2
    assert {"name", "time_ns", "time_ns_low", "time_ns_high", "below_resolution"} <= set(
        frame.columns
    )
    assert result.to_dict() == json.loads(result.to_json())
    with pytest.raises(AttributeError):
        result.body.time_ns = None  # type: ignore[misc]
    with pytest.raises(TypeError):
        result.components["body"] = result.body  # type: ignore[index]


def test_only_frames_need_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    result = hairspring.fit([(1, 10), (2, 20), (3, 31), (4, 40)])
    with pytest.raises(ImportError, match="pip install pandas"):
        result.to_pandas()
    with pytest.raises(ImportError, match="pip install pandas"):
        result.observations.to_pandas()
