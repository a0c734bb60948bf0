"""Checks what the command printed in an emulated kernel with the cycle counter.

    command.py arm64|armhf CONSOLE

The console is that of the scenario `command`. There an instruction takes one nanosecond, so the
core runs at 1 GHz, and a multiplication that waits for the one before takes one cycle: the results
are known. Exit status 1 if one is not so.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

STEADY = {"arm64": "cntvct", "armhf": "cntvct"}
REFUSED = "does not let programs read"
LOST = "the system has forbidden the cycle counter while it was in use"
HELD = "another perf event holds the cycle counter"
# An instruction takes one nanosecond.
TRUE_HZ = 1e9
# The widest interval of a rate that says anything, as a share: half of it.
WIDEST = 5e-4
# The longest span in ms that the stopwatch may measure with 32 bits.
LONGEST_MS = 2147
# What the kernel may run between a reading of the stopwatch and that of the system's clock beside
# it.
BETWEEN_NS = 100_000
# The share of the readings that interruptions alone may disturb, and the least that are flagged
# while perf has the counter, which is a quarter of the time.
CALM, TAKEN = 0.2, 0.12
# The exit status of programs that are asked for more precision than their time allows, so that they
# use all of it.
MISSED = 3


class Run(NamedTuple):
    """What a run printed, and its exit status."""

    text: str
    status: int

    def document(self) -> Any:
        """The JSON document that it printed."""
        return json.loads(self.text[self.text.index("{") :])


def runs_of(console: str) -> dict[str, Run]:
    """The runs by their names."""
    found = re.finditer(r"^run (\w+)\n(.*?)^ended \1 (\d+)$", console, re.MULTILINE | re.DOTALL)
    return {match[1]: Run(match[2], int(match[3])) for match in found}


class Checks:
    """Prints checks and counts those that fail."""

    failures = 0

    def check(self, passed: bool, name: str, found: object = "") -> None:
        """One check, with what was found if it fails."""
        print(f"    {name}" if passed else f"FAILED: {name}: {found}")
        self.failures += not passed

    def near(self, found: float, expected: float, share: float, name: str) -> None:
        """A number that must be near another one."""
        self.check(
            abs(found / expected - 1) <= share,
            f"{name} = {found:.6g}",
            f"must be {expected:g} within {share:g}",
        )


def clock_of(document: Any, name: str) -> Any:
    """A clock of the document of `clocks`."""
    return next(clock for clock in document["clocks"] if clock["name"] == name)


def check_survey(checks: Checks, run: Run, name: str, seated: str, steady: str) -> Any:
    """`clocks` ended well and chose these clocks."""
    checks.check(run.status == 0, f"{name}: clocks", run)
    document = run.document()
    chosen = document["chosen"]
    checks.check(chosen["seated"] == seated, f"{name}: the clock on one CPU is {seated}", chosen)
    checks.check(chosen["steady"] == steady, f"{name}: the clock otherwise is {steady}", chosen)
    return document


def check_benchmarks(checks: Checks, run: Run, name: str, clock: str, status: int = 0) -> None:
    """A program of the C library gives the multiplication its one cycle, with this clock."""
    checks.check(run.status == status, f"{name}: the program ends", run)
    if run.status != status:
        return
    document = run.document()
    checks.check(
        document["environment"]["clock"]["name"] == clock,
        f"{name}: its clock is {clock}",
        document["environment"]["clock"],
    )
    body = document["results"][0]["components"]["body"]
    checks.near(body["time_ns"]["value"], 1.0, 0.01, f"{name}: ns of a multiplication")
    checks.near(body["cycles"]["value"], 1.0, 0.01, f"{name}: its core cycles")


def check_reason(checks: Checks, document: Any, clock: str, reason: str) -> None:
    """`clocks` says why a clock is not available."""
    found = clock_of(document, clock)["available_reason"]
    checks.check(reason in found, f"the reason of {clock} names: {reason}", found)


def check_error(checks: Checks, run: Run, status: int, message: str) -> None:
    """The command failed with this message."""
    checks.check(run.status == status and message in run.text, f"an error says: {message}", run)


def flagged_of(console: str) -> dict[str, float]:
    """The share of the readings with the flag of a disturbed one, by the names of the runs."""
    found = re.finditer(r"^flagged (\w+) (\d+) of (\d+)$", console, re.MULTILINE)
    return {match[1]: int(match[2]) / max(int(match[3]), 1) for match in found}


def check_finding(checks: Checks, run: Run, code: str, wanted: bool) -> None:
    """A document has a finding, or does not have it."""
    checks.check(run.status == 0, "the command ends", run)
    codes = [finding["kind"] for finding in run.document()["findings"]]
    checks.check((code in codes) == wanted, f"{'a' if wanted else 'no'} finding {code}", codes)


def check_interval(checks: Checks, value: float, half_width: float, name: str) -> None:
    """A rate is right within its interval, which is narrow enough to say something."""
    off = abs(value / TRUE_HZ - 1)
    found = f"{(value / TRUE_HZ - 1) * 1e6:+.2f} ppm off, within +-{half_width * 1e6:.2f} ppm"
    checks.check(off <= half_width <= WIDEST, f"{name}: its rate is {found}", found)


def check_surveyed_rate(checks: Checks, document: Any, clock: str, name: str) -> None:
    """The rate of a clock in the document of `clocks`."""
    rate = clock_of(document, clock)["measured"]["rate_hz"]
    check_interval(checks, rate["value"], (rate["high"] - rate["low"]) / 2 / rate["value"], name)


def check_used_rate(checks: Checks, run: Run, name: str) -> None:
    """The rate of the clock that a program used, with its standard uncertainty."""
    clock = run.document()["environment"]["clock"]
    check_interval(checks, clock["rate_hz"], 1.96e-6 * clock["rate_uncertainty_ppm"], name)


def check_spans(checks: Checks, run: Run, is_32_bit: bool) -> None:
    """The stopwatch's spans hold the system's time, or are refused where the counter may have
    wrapped unseen.
    """
    checks.check(run.status == 0, "the stopwatch ends", run)
    found = re.findall(r"^span (\d+): (.*)$", run.text, re.MULTILINE)
    checks.check(
        [ms for ms, _ in found] == ["1000", "2000", "5000", "1000"], "it measures four spans", found
    )
    for ms, text in found:
        if is_32_bit and int(ms) > LONGEST_MS:
            told = "may have wrapped more than once: time at most 2.1"
            checks.check(
                text.startswith("refused") and told in text, f"a span of {ms} ms is refused", text
            )
            continue
        numbers = [float(word) for word in text.split()] if text[0].isdigit() else [0.0] * 4
        _, low, high, passed = numbers
        is_held = low - BETWEEN_NS <= passed <= high and passed > 1e6 * int(ms)
        checks.check(is_held, f"a span of {ms} ms takes {text}", text)


def check_forked(checks: Checks, run: Run) -> None:
    """A child process has no counter of perf, and is told so."""
    told = re.search(
        r"^span 50: refused: .*reads 0: .*not enabled in this thread", run.text, re.MULTILINE
    )
    checks.check(
        run.status == 0 and told is not None, "a child does not read its parent's counter", run
    )


def check_closed_module(checks: Checks, runs: dict[str, Run], steady: str) -> None:
    """The module is loaded with user=0: the advice is to load it without that."""
    closed = check_survey(checks, runs["closed"], "with user=0", steady, steady)
    for clock in ("pmccntr", "perf", "perf_read"):
        check_reason(checks, closed, clock, "load it without user=0")
    check_error(checks, runs["closed_benchmarks"], 2, "load it without user=0")


def check_perf(
    checks: Checks, runs: dict[str, Run], flagged: dict[str, float], steady: str
) -> None:
    """perf gives programs the counter, and something takes it or the permission."""
    perf = check_survey(checks, runs["perf"], "with perf", steady, steady)
    for clock in ("perf", "perf_read"):
        checks.check(
            bool(clock_of(perf, clock)["available"]), f"{clock} is available", clock_of(perf, clock)
        )
    check_reason(checks, perf, "pmccntr", "kernel.perf_user_access=1 only while perf lets them")
    held = check_survey(checks, runs["perf_held"], "while perf holds it", steady, steady)
    for clock in ("perf", "perf_read"):
        check_reason(checks, held, clock, HELD)
    check_benchmarks(checks, runs["by_perf"], "with perf", "perf")
    check_used_rate(checks, runs["by_perf"], "perf")
    check_forked(checks, runs["perf_forked"])
    check_lost(checks, runs["perf_taken"], flagged["perf_taken"], "another event of perf takes it")
    check_lost(
        checks, runs["perf_closed"], flagged["perf_closed"], "kernel.perf_user_access becomes 0"
    )


def check_taken(
    checks: Checks, runs: dict[str, Run], flagged: dict[str, float], is_withdrawn: bool
) -> None:
    """perf takes the counter during a run: permission goes with it, or the readings are flagged."""
    check_benchmarks(checks, runs["calm"], "interrupted", "pmccntr", MISSED)
    checks.check(
        flagged["calm"] < CALM, f"few readings are flagged: {flagged['calm']:.1%}", flagged
    )
    check_finding(checks, runs["period_calm"], "counter_taken", False)
    if is_withdrawn:
        # The emulator runs one core after the other, so that perf may have the counter only between
        # the readings.
        if runs["taken"].status == 1:
            check_error(checks, runs["taken"], 1, LOST)
        else:
            check_benchmarks(
                checks, runs["taken"], "while perf takes the counter", "pmccntr", MISSED
            )
        check_error(checks, runs["period_taken"], 1, LOST)
        return
    check_benchmarks(checks, runs["taken"], "while perf takes the counter", "pmccntr", MISSED)
    checks.check(
        flagged["taken"] > TAKEN, f"these readings are flagged: {flagged['taken']:.1%}", flagged
    )
    check_finding(checks, runs["period_taken"], "counter_taken", True)


def check_lost(checks: Checks, run: Run, flagged: float, name: str) -> None:
    """perf's counter is gone in the middle of a run and reads 0, or must not be read.

    The readings are flagged and do not shift the result, or a message ends the program.
    """
    if run.status == 1:
        check_error(checks, run, 1, LOST)
        return
    checks.check(flagged > TAKEN, f"{name}: these readings are flagged: {flagged:.1%}")
    if run.document()["results"][0]["trusted"]:
        check_benchmarks(checks, run, name, "perf", MISSED)
    else:
        checks.check(run.status == MISSED, f"{name}: it is not trusted", run)


def check_closed_core(checks: Checks, run: Run) -> None:
    """The core on which it measures does not let programs read the counter, but perhaps the one
    on which it begins.
    """
    checks.check(
        run.status in (1, 2) and REFUSED in run.text,
        "an error says that a core refuses the read",
        run,
    )


def check_cores(checks: Checks, runs: dict[str, Run], flagged: dict[str, float]) -> None:
    """The thread goes to another core, or its core goes: the time stays right.

    Rows run in less than a tenth of the time here, so whether a move meets one, whose round is then
    flagged, is chance.
    """
    for name in ("moved", "offline"):
        check_benchmarks(checks, runs[name], f"a thread that is {name}", "pmccntr", MISSED)
        checks.check(
            flagged[name] < CALM, f"few readings are flagged: {flagged[name]:.1%}", flagged
        )
    check_closed_core(checks, runs["other_cpu"])


def check_all(checks: Checks, console: str, steady: str) -> None:
    """All runs."""
    runs, flagged = runs_of(console), flagged_of(console)
    bare = check_survey(checks, runs["bare"], "without the module", steady, steady)
    check_reason(checks, bare, "pmccntr", "does not let programs read")
    check_error(checks, runs["refused"], 2, REFUSED)
    still = check_survey(checks, runs["still"], "with a counter that is off", steady, steady)
    check_reason(checks, still, "pmccntr", "does not count")
    check_reason(checks, still, "perf_read", "it is off")
    check_closed_module(checks, runs, steady)
    held = check_survey(checks, runs["held"], "while perf holds it", steady, steady)
    check_reason(checks, held, "perf_read", HELD)
    module = check_survey(checks, runs["module"], "with the module", "pmccntr", steady)
    check_reason(checks, module, "perf_read", "perf would take it")
    check_surveyed_rate(checks, module, "pmccntr", "pmccntr")
    check_spans(checks, runs["span"], is_32_bit="perf" not in runs)
    checks.check(
        runs["survey_taken"].status == 0,
        "a survey ends while perf takes the counter",
        runs["survey_taken"],
    )
    checks.near(
        runs["mhz"].document()["results"][0]["core_hz"]["value"], 1e9, 1e-3, "core clock of mhz"
    )
    check_benchmarks(checks, runs["alone"], "a program with the module", "pmccntr")
    check_benchmarks(checks, runs["benchmarks"], "run with the module", "pmccntr")
    verified = runs["verify"]
    checks.check(verified.status == 0 and verified.document()["passed"], "verify passes", verified)
    check_taken(checks, runs, flagged, is_withdrawn="perf" in runs)
    if "moved" in runs:
        check_cores(checks, runs, flagged)
    check_error(checks, runs["lost"], 1, LOST)
    check_benchmarks(checks, runs["by_perf_read"], "with system calls of perf", "perf_read")
    check_used_rate(checks, runs["by_perf_read"], "perf_read")
    check_forked(checks, runs["forked"])
    if "perf" in runs:
        check_reason(checks, bare, "perf", "perf_user_access=1")
        check_perf(checks, runs, flagged, steady)


def main() -> int:
    """Reads the console and checks it."""
    console = Path(sys.argv[2]).read_text(encoding="utf-8", errors="replace").replace("\r", "")
    checks = Checks()
    check_all(checks, console, STEADY[sys.argv[1]])
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
