"""Counters of the hardware by `perf stat`, where the system has them: cycles and instructions of
a call.
"""

import csv
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from shutil import which

from compare_truth import Interval, of_median

EVENTS = ("cycles:u", "instructions:u", "task-clock:u")
FORMS = ("body", "base")


@dataclass(frozen=True)
class Count:
    """What one run of a program counted; the time in nanoseconds."""

    cycles: float
    instructions: float
    ns: float


@dataclass(frozen=True)
class Counted:
    """Cycles, instructions and nanoseconds of a call."""

    cycles: Interval
    instructions: Interval
    ns: Interval


def parsed(text: str) -> Count | None:
    """The output of `perf stat -x,`; None if a counter is not there."""
    found: dict[str, float] = {}
    for line in csv.reader(text.splitlines()):
        if len(line) > 2 and line[2] in EVENTS:
            try:
                # perf gives the time of the task in milliseconds.
                found[line[2]] = float(line[0]) * (1e6 if line[2].startswith("task-clock") else 1)
            except ValueError:
                return None  # <not supported>, <not counted>
    return Count(*(found[event] for event in EVENTS)) if found.keys() == set(EVENTS) else None


def count(*command: str) -> Count | None:
    """Counts a program."""
    if which("perf") is None:
        return None
    perf = ("perf", "stat", "-x,", "-e", ",".join(EVENTS), "--", *command)
    done = subprocess.run(perf, capture_output=True, text=True, timeout=600)
    return parsed(done.stderr) if done.returncode == 0 else None


def available() -> bool:
    """Whether this machine shows its counters."""
    return count("true") is not None


def of_call(rounds: Sequence[dict[tuple[str, int], Count]], passes: int) -> Counted:
    """The counts of a call, by loops of `passes` and of twice as many, with the body and without
    it.

    The cycles become nanoseconds by the clock of the core in the longest loop of the same round.
    """

    def added(one: dict[tuple[str, int], Count], what: str) -> float:
        body, base = (
            getattr(one[form, 2 * passes], what) - getattr(one[form, passes], what)
            for form in FORMS
        )
        return float((body - base) / passes)

    cycles = [added(one, "cycles") for one in rounds]
    longest = [one["body", 2 * passes] for one in rounds]
    ns = [each * one.ns / one.cycles for each, one in zip(cycles, longest, strict=True)]
    return Counted(
        of_median(cycles), of_median([added(one, "instructions") for one in rounds]), of_median(ns)
    )


def counted(command: Sequence[str], case: str, passes: int, times: int) -> Counted | None:
    """Counts the loops of a case `times` times; None if a counter is not there."""
    rounds = []
    for _ in range(times):
        one = {}
        for form in FORMS:
            for many in (passes, 2 * passes):
                found = count(*command, "count", case, form, str(many))
                if found is None:
                    return None
                one[form, many] = found
        rounds.append(one)
    return of_call(rounds, passes)
