"""Prints Tables 1 and 2 of Kwon and Choi beside what emulated kernels measured.

    report.py FLAVOUR=FILE...

A file is the console of a kernel that ran the scenario `tables`. Exit status 1 where a call of the
system does not take ten times the instructions of a read of the counter.
"""

import sys
from pathlib import Path
from typing import NamedTuple

LABEL = "emulated, one instruction is one nanosecond: code path, not timing"
LEAST_RATIO = 10
PUBLISHED_LATENCY = {"consecutive": (288, 6), "every_1s": (485, 26), "every_1s_5s": (666, 40)}
PUBLISHED_ERROR = {"period_100us": (383, 39), "period_1ms": (72, 6)}
TITLES = {
    "consecutive": "consecutive",
    "every_1s": "every 1 s",
    "every_1s_5s": "every 1 and 5 s",
    "period_100us": "100 us",
    "period_1ms": "1 ms",
}
PERIODS_NS = {"period_100us": 100_000, "period_1ms": 1_000_000}
METHODS = [
    ("kernel", "ktime", "ktime_get_real_ts64"),
    ("kernel", "cycles", "cycle counter, kernel"),
    ("user", "syscall", "clock_gettime, system call"),
    ("user", "vdso", "clock_gettime, vDSO"),
    ("user", "cycles", "cycle counter, program"),
    ("user", "now", "hairspring_now()"),
]


class Spread(NamedTuple):
    """Values of one experiment by one method."""

    values: int
    total: int
    least: int
    most: int

    def mean(self) -> float:
        """Arithmetic mean."""
        return self.total / self.values


# Place, experiment and method -> values.
Results = dict[tuple[str, str, str], Spread]


def read(path: Path) -> Results:
    """The results in a kernel's console."""
    results: Results = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        words = line.split()
        if len(words) == 7 and words[0] in ("kernel", "user"):
            results[words[0], words[1], words[2]] = Spread(*map(int, words[3:]))
    return results


def cell(results: Results, experiment: str, place: str, method: str) -> str:
    """The mean of a latency, or how far the mean of a period is off."""
    spread = results[place, experiment, method]
    period = PERIODS_NS.get(experiment)
    return f"{spread.mean():.0f}" if period is None else f"{abs(spread.mean() - period):.0f}"


def print_table(
    title: str, published: dict[str, tuple[int, int]], runs: dict[str, Results]
) -> None:
    """One table: the published row of each method, then the measured ones of each kernel."""
    print(f"{title}, in ns ({LABEL})\n")
    print(f"  {'':42}" + "".join(f"{TITLES[name]:>17}" for name in published))
    for at, name in enumerate(("getnstimeofday", "CCNT register")):
        cells = "".join(f"{numbers[at]:>17}" for numbers in published.values())
        print(f"  {'published, AM3358 at 1 GHz: ' + name:42}{cells}")
    for flavour, results in runs.items():
        for place, method, words in METHODS:
            cells = "".join(f"{cell(results, name, place, method):>17}" for name in published)
            print(f"  {flavour + ': ' + words:42}{cells}")
    print()


def print_calls(runs: dict[str, Results]) -> bool:
    """Instructions for one call of each method; whether all ratios are large enough."""
    enough = True
    print("Instructions for one call, and how many reads of the counter that is\n")
    for flavour, results in runs.items():
        for place, method, words in METHODS:
            raw = max(results[place, "call", "cycles"].mean(), 1.0)
            mean = results[place, "call", method].mean()
            ratio = mean / raw
            print(f"  {flavour + ': ' + words:42}{mean:>10.1f}{ratio:>10.1f}")
            enough = enough and (method not in ("ktime", "syscall") or ratio >= LEAST_RATIO)
    claim = (
        f"every call of the system takes at least {LEAST_RATIO} times the instructions of the "
        "counter"
    )
    print(f"\n{'' if enough else 'NOT '}{claim}")
    return enough


def main() -> int:
    """Reads the files and prints the tables."""
    runs = {
        name: read(Path(path))
        for name, _, path in (argument.partition("=") for argument in sys.argv[1:])
    }
    for name, results in runs.items():
        if not results:
            print(f"{name}: its console has no results", file=sys.stderr)
            return 1
    print_table("Table 1: mean latency of reading the time", PUBLISHED_LATENCY, runs)
    print_table("Table 2: mean error of a period", PUBLISHED_ERROR, runs)
    return 0 if print_calls(runs) and runs else 1


if __name__ == "__main__":
    sys.exit(main())
