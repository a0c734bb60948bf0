"""The truth of `compare`: the time of a call by methods that are independent of each other and of
all tools.

A program runs loops of a workload in a random order, many rounds, and prints the time of each by
two clocks. A method is a difference of two loops in the same round: what both have in common, such
as the reads of the clock, is not in it.
"""

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from harness import median

#: Times of the loops of one round by form (`body`, `body2`, `base`, `base2`) and passes.
Round = dict[tuple[str, int], float]
LEVEL = 0.95
CLOCKS = ("thread_ns", "wall_ns")
#: Method: the clock's column, and what is taken from each other: (form, times of the shortest
#: loop), minuend first.
METHODS: dict[str, tuple[str, tuple[str, int], tuple[str, int]]] = {
    "short loops": ("wall_ns", ("", 2), ("", 1)),
    "long loops": ("wall_ns", ("", 8), ("", 4)),
    "long loops, clock of the thread": ("thread_ns", ("", 8), ("", 4)),
    "two calls in a pass": ("wall_ns", ("2", 1), ("", 1)),
}
COUNTERS = "counters"


@dataclass(frozen=True)
class Interval:
    """A time with the interval in which it lies."""

    value: float
    low: float
    high: float

    def meets(self, other: "Interval") -> bool:
        """Whether the two intervals have a point in common."""
        return self.low <= other.high and other.low <= self.high


def rank(count: int, level: float = LEVEL) -> int:
    """The place of the reading at either end of an interval that contains the median at this
    level; 0 is the least.
    """
    below, place = 0.0, 0
    for at in range(count):
        below += math.comb(count, at) / 2**count
        if 2 * below > 1 - level:
            break
        place = at + 1
    return max(0, place - 1)


def of_median(values: Sequence[float], level: float = LEVEL) -> Interval:
    """The median of values and its interval by order: no assumption on how the values are
    distributed.
    """
    ordered = sorted(values)
    if not ordered:
        return Interval(math.nan, math.nan, math.nan)
    place = rank(len(ordered), level)
    return Interval(median(ordered), ordered[place], ordered[-1 - place])


def difference(times: Round, shortest: int, more: tuple[str, int], less: tuple[str, int]) -> float:
    """The time of one call by one method: without the loop, and without what is made anew before
    every call.
    """

    def per_call(form: str) -> float:
        (end, many), (other, few) = more, less
        added = times[form + end, many * shortest] - times[form + other, few * shortest]
        # The loop with two calls in a pass has as many passes as the other: it adds one call in
        # each.
        return added / ((many - few) * shortest if many != few else shortest)

    return per_call("body") - per_call("base")


def readings(text: str) -> dict[str, dict[str, list[Round]]]:
    """What a program printed: case, clock, rounds."""
    found: dict[str, dict[str, dict[str, Round]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    for line in csv.DictReader(text.splitlines()):
        for clock in CLOCKS:
            found[line["case"]][clock][line["round"]][line["form"], int(line["passes"])] = float(
                line[clock]
            )
    return {
        case: {clock: list(one.values()) for clock, one in clocks.items()}
        for case, clocks in found.items()
    }


def cpu_share(cases: dict[str, dict[str, list[Round]]]) -> float:
    """The share of the CPU that all loops together had, by what was printed."""
    rounds = cases.values()
    thread, wall = (
        sum(sum(one.values()) for each in rounds for one in each[clock]) for clock in CLOCKS
    )
    return thread / wall


def by_methods(rounds: dict[str, list[Round]]) -> dict[str, Interval]:
    """The time of a call by each method."""
    shortest = min(passes for _, passes in rounds["wall_ns"][0])
    return {
        name: of_median([difference(one, shortest, more, less) for one in rounds[clock]])
        for name, (clock, more, less) in METHODS.items()
    }


def agreed(methods: dict[str, Interval]) -> Interval | None:
    """The counters where there are some, else the middle of all methods in an interval of all;
    None if two disagree.
    """
    if not methods or any(not a.meets(b) for a, b in combinations(methods.values(), 2)):
        return None
    if COUNTERS in methods:
        return methods[COUNTERS]
    every = methods.values()
    return Interval(
        median(one.value for one in every),
        min(one.low for one in every),
        max(one.high for one in every),
    )


def middle(methods: dict[str, Interval]) -> float:
    """The time that a run's other figures are compared with: by counters, else the middle of the
    methods.
    """
    return (
        methods[COUNTERS].value
        if COUNTERS in methods
        else median(one.value for one in methods.values())
    )


def pooled(runs: Iterable[dict[str, Interval]]) -> dict[str, Interval]:
    """Every method over several runs: the median of its times, from the least end to the
    highest.
    """
    every: dict[str, list[Interval]] = defaultdict(list)
    for run in runs:
        for name, one in run.items():
            every[name].append(one)
    return {
        name: Interval(
            median(one.value for one in them),
            min(one.low for one in them),
            max(one.high for one in them),
        )
        for name, them in every.items()
    }
