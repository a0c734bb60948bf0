"""Two identical pieces of code: how often they are told to be equal, quiet and beside neighbours.

Every run compares them by the interval of their ratio, as the command does by default. The tables
also show how far the ratios of the runs spread, relative to their intervals: what differs between
two placements of one code is the same for all rounds of a run.
"""

import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from contextlib import nullcontext

from cases import IMUL
from harness import BENCH, Answer, Record, Settings, answer, measure
from languages import Builder
from neighbour import neighbour

# Without this the compiler merges the two into one function, at one place in memory.
APART = ("--cflags", "-O2 -fno-ipa-icf")
LETS = ("--let", "uint64_t x = 1000", "--let", "uint64_t c = 7")
HASH = "h ^= h >> 33; h *= 0xff51afd7ed558ccdu; h ^= h >> 29"
COPY = "memcpy(to, from, 512)"
SORT = (
    "for (int i = 1; i < 16; i++) { int x = v[i], j = i; "
    "while (j > 0 && v[j - 1] > x) { v[j] = v[j - 1]; j--; } v[j] = x; }"
)
MIX = "for (int i = 0; i < 16; i++) v[i] = i * 7 % 16"
SORTS = str(BENCH / "programs" / "sorts.c")
PAIRS: dict[str, tuple[str, ...]] = {
    "asm imul, latency": (IMUL, "--vs", IMUL, "--lang", "asm"),
    "C x * c + 1, throughput": ("x * c + 1", "--vs", "x * c + 1", *LETS, *APART),
    "C x / c, throughput": ("x / c", "--vs", "x / c", *LETS, *APART),
    "C hash, latency": (HASH, "--vs", HASH, "--let", "uint64_t h = 12345", *APART),
    "C memcpy of 512 bytes": (
        COPY,
        "--vs",
        COPY,
        "--let",
        "char to[512]",
        "--let",
        "char from[512]",
        *APART,
    ),
    "C sort, two functions": (
        "sort(v)",
        "--vs",
        "sort_again(v)",
        "--init",
        MIX,
        "--let",
        "int v[16]",
        "--file",
        SORTS,
    ),
    "C sort behind an init": (SORT, "--vs", SORT, "--init", MIX, "--let", "int v[16]", *APART),
}
# Equal functions at other places in a line of the cache may take another time: only a claimed
# difference is wrong.
APART_IN_MEMORY = ("C sort, two functions",)
# Alternatives of the Python package: the statement and its setup.
PYTHON: dict[str, tuple[str, str]] = {
    "Python sum of 100": ("sum(values)", "values = list(range(100))"),
    "numpy x + x of 1,000": ("x + x", "import numpy; x = numpy.random.rand(1000)"),
}
NEIGHBOURS = ("quiet", "busy", "bursty")
LEVEL = 95.0
# Most runs that may claim a difference, of all pairs together.
MOST_PERCENT = 1.0
KINDS = ("no_difference", "faster", "slower", "undecided", "error")


def run(record: Record, settings: Settings) -> None:
    """A hundred runs of each pair when it is quiet, and a quarter of that beside each neighbour
    on the same CPU.
    """
    Builder().python()  # of this checkout, not the one that an earlier run has installed
    pairs = [*PAIRS, *PYTHON]
    raw: list[tuple[object, ...]] = []
    for kind in NEIGHBOURS:
        runs = settings.times(100 if kind == "quiet" else 25)
        with nullcontext() if kind == "quiet" else neighbour(kind, settings.cpu):
            answers = {name: [compared(name, settings.cpu) for _ in range(runs)] for name in pairs}
        raw += [line(kind, name, one) for name, of_pair in answers.items() for one in of_pair]
        tell(record, kind, answers, runs)
    header = ("neighbour", "pair", "verdict", "ratio", "low", "high", "measured_ms", "findings")
    record.csv(header, raw)


def compared(name: str, cpu: int) -> Answer:
    """One run of a pair."""
    if name in PAIRS:
        return measure(*PAIRS[name], cpu=cpu)
    statement, setup = PYTHON[name]
    command = [
        sys.executable,
        "-m",
        "hairspring",
        "time",
        statement,
        "--vs",
        statement,
        "-s",
        setup,
    ]
    begin = time.monotonic()
    done = subprocess.run([*command, "--cpu", str(cpu), "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        return Answer(error=" ".join(done.stderr.split())[-200:])
    return answer(json.loads(done.stdout), time.monotonic() - begin)


def line(kind: str, name: str, one: Answer) -> tuple[object, ...]:
    """A run for the raw figures."""
    return (kind, name, one.verdict or "error", *one.ratio, one.measured_ms, one.found())


def tell(record: Record, kind: str, answers: dict[str, list[Answer]], runs: int) -> None:
    """The verdicts, and the ratios relative to their intervals."""
    verdicts = {
        name: Counter(one.verdict or "error" for one in of_pair)
        for name, of_pair in answers.items()
    }
    rows = [
        [name, *(f"{100 * verdicts[name][word] / runs:.0f} %" for word in KINDS), *spread(of_pair)]
        for name, of_pair in answers.items()
    ]
    header = (
        "pair",
        *KINDS,
        "median ratio",
        "spread of the ratios",
        "median half-width",
        "untrusted",
    )
    record.table(f"Verdicts on identical code, {kind}, {runs} runs", header, rows)
    for name, count in verdicts.items():
        right = 100 * count["no_difference"] / runs
        if name not in APART_IN_MEMORY:
            record.target(
                f"{kind}: {name}: no difference in {LEVEL:.0f} % or more",
                right >= LEVEL,
                f"{right:.0f} %",
            )
    wrong, all_runs = (
        sum(count["faster"] + count["slower"] for count in verdicts.values()),
        runs * len(verdicts),
    )
    limit = f"{kind}: a difference in {MOST_PERCENT:.0f} % of all runs or less"
    record.target(limit, 100 * wrong <= MOST_PERCENT * all_runs, f"{wrong} of {all_runs}")


def spread(answers: list[Answer]) -> tuple[str, ...]:
    """Median ratio, standard deviation of the ratios, median half-width, share of runs that are
    not to be trusted.
    """
    ratios = [one.ratio for one in answers if one.ratio[0] == one.ratio[0]]
    untrusted = f"{100 * sum(one.untrusted() for one in answers) / len(answers):.0f} %"
    if len(ratios) < 2:
        return "", "", "", untrusted
    values = [value for value, _, _ in ratios]
    half = statistics.median((high - low) / 2 for _, low, high in ratios)
    middle, deviation = statistics.median(values), 100 * statistics.stdev(values)
    return f"{middle:.4f}", f"{deviation:.2f} %", f"{100 * half:.2f} %", untrusted
