"""Separate runs of real code: whether their intervals overlap, and how wide they are beside the
spread of the runs.

C and C++ by `hairspring time`, Rust and Python by programs that `hairspring run` starts anew.
"""

import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness import COMMAND, Answer, Record, Settings, answers, refusal, run_json, share
from languages import SOURCES, Builder

LETS: dict[str, tuple[str, ...]] = {
    "words": ("uint64_t x = 1000003", "uint64_t y = 17"),
    "real": ("double x = 2.5",),
    "copied": ("char from[4096] = {1}", "char to[4096]"),
    "text": (
        'char text[] = "the quick brown fox jumps over the lazy dog 3.14159"',
        "char out[128]",
    ),
    "list": ("int numbers[64]", "unsigned seed = 1"),
}
SHUFFLE = (
    "for (int i = 0; i < 64; i++) { seed = seed * 1664525u + 1013904223u; numbers[i] = (int)(seed "
    ">> 8); }"
)
SORT = (
    "for (int i = 1; i < 64; i++) { int v = numbers[i], j = i; "
    "while (j > 0 && numbers[j - 1] > v) { numbers[j] = numbers[j - 1]; j--; } numbers[j] = v; }"
)
C = (
    "--include",
    "string.h",
    "--include",
    "stdlib.h",
    "--include",
    "stdio.h",
    "--include",
    "math.h",
    "--link",
    "-lm",
)
CPP = ("--lang", "c++")


def with_lets(code: str, lets: str, *options: str) -> tuple[str, ...]:
    """Arguments for code with one of the sets of variables."""
    return (code, *(word for let in LETS[lets] for word in ("--let", let)), *options)


CASES: dict[str, tuple[str, ...]] = {
    "multiply and add": with_lets("x = x * 5 + y", "words"),
    "division": with_lets("x = x / y + 1000003", "words"),
    "xorshift": with_lets("x ^= x << 13; x ^= x >> 7; x ^= x << 17", "words"),
    "FNV of 48 bytes": with_lets(
        "for (int i = 0; i < 48; i++) { x = (x ^ (unsigned char)text[i]) * 1099511628211u; }",
        "text",
        "--let",
        "uint64_t x = 14695981039346656037u",
    ),
    "memcpy 64": with_lets("memcpy(to, from, 64)", "copied", *C),
    "memcpy 4096": with_lets("memcpy(to, from, 4096)", "copied", *C),
    "memset 1024": with_lets("memset(to, 7, 1024)", "copied", *C),
    "memcmp 1024": with_lets("memcmp(to, from, 1024)", "copied", *C),
    "strlen": with_lets("strlen(text)", "text", *C),
    "strchr": with_lets("strchr(text, '3')", "text", *C),
    "strtod": with_lets("strtod(text + 44, NULL)", "text", *C),
    "snprintf": with_lets('snprintf(out, sizeof out, "%d %s", 12345, text)', "text", *C),
    "malloc and free": with_lets(
        "char *p = malloc(x % 64 + 64); *(volatile char *)p = 1; free(p)", "words", *C
    ),
    "sqrt": with_lets("x = sqrt(x) + 2", "real", *C),
    "sin": with_lets("x = sin(x)", "real", *C),
    "exp": with_lets("x = exp(x) * 0.125", "real", *C),
    "pow": with_lets("x = pow(x, 1.0009)", "real", *C),
    "insertion sort, 64": with_lets(SORT, "list", "--init", SHUFFLE),
    "std::sort, 64": with_lets(
        "std::sort(numbers, numbers + 64)",
        "list",
        "--init",
        SHUFFLE,
        *CPP,
        "--include",
        "algorithm",
    ),
    "std::string, built": with_lets(
        "std::string s(text); s += s", "text", *CPP, "--include", "string"
    ),
    "std::vector, 32 pushed": with_lets(
        "std::vector<uint64_t> v; for (int i = 0; i < 32; i++) v.push_back(x)",
        "words",
        *CPP,
        "--include",
        "vector",
    ),
    "std::accumulate, 64": with_lets(
        "seed += std::accumulate(numbers, numbers + 64, 0)", "list", *CPP, "--include", "numeric"
    ),
}
UNITS = ("cycles", "ns")
TARGET_PERCENT = 1.0
THRESHOLD = "2%"
# Verdicts about unchanged code that may be false, in percent.
MOST_FALSE = 0.1
# A 95 % interval needs 1.96 standard deviations to either side; it may be half as wide again.
MOST_WIDTH = 1.5 * 1.96


def interval(answer: Answer, unit: str) -> tuple[float, float, float]:
    """Value and ends."""
    return (answer.cycles, answer.low, answer.high) if unit == "cycles" else answer.time_ns


def apart(answers: Sequence[Answer], unit: str) -> list[bool]:
    """For every pair of runs, whether their intervals do not overlap."""
    return ends_apart([interval(answer, unit)[1:] for answer in answers])


def ends_apart(ends: Iterable[tuple[float, float]]) -> list[bool]:
    """The same for intervals by their ends."""
    return [a[1] < b[0] or b[1] < a[0] for a, b in itertools.combinations(ends, 2)]


def width(answers: Sequence[Answer], unit: str) -> float:
    """Median half-width over the standard deviation of the runs."""
    intervals = [interval(answer, unit) for answer in answers]
    spread = (
        statistics.stdev(value for value, _, _ in intervals) if len(intervals) > 1 else float("nan")
    )
    return (
        statistics.median((high - low) / 2 for _, low, high in intervals) / spread
        if spread > 0
        else float("nan")
    )


def usable(answers: Iterable[Answer], unit: str) -> list[Answer]:
    """Trusted answers in this unit."""
    return [
        answer for answer in answers if not answer.untrusted() and interval(answer, unit)[0] > 0
    ]


def program_in_rust(builder: Builder) -> list[str]:
    """Arguments of `hairspring run` for the codes in Rust."""
    builder.functions()
    return [str(builder.rust("real"))]


def program_in_python(builder: Builder) -> list[str]:
    """The same for those in Python."""
    builder.python()
    return [str(SOURCES / "real.py")]


# A run that is started anew: its document, and the error if there is none.
Started = tuple[dict[str, Any] | None, str]


def asked(cpu: int) -> dict[str, Callable[[], Started]]:
    """What is started anew for every run: a case of `time`, or a program with several codes."""
    # The programs of Python are found by their interpreter, which is that of the package.
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    builder = Builder()
    commands = {name: ("time", *case) for name, case in CASES.items()}
    commands |= {
        "Rust": ("run", *program_in_rust(builder)),
        "Python": ("run", *program_in_python(builder)),
    }
    return {name: partial(started, *command, cpu=cpu) for name, command in commands.items()}


def started(*command: str, cpu: int) -> Started:
    """One run of the command."""
    document, error, _ = run_json(*command, "--cpu", str(cpu))
    return document, error


def answers_of(case: str, document: dict[str, Any] | None, error: str) -> dict[str, Answer]:
    """Every code of a run by its name; that of `time` has the name of the case."""
    if document is None:
        return {case: Answer(error=error)}
    found = answers(document)
    return {case: next(iter(found.values()))} if case in CASES else found


def run(record: Record, settings: Settings) -> None:
    """Every case twelve times, in a random order."""
    runs = settings.times(12)
    found: dict[str, list[Answer]] = {}
    raw: list[tuple[object, ...]] = []
    cases = asked(settings.cpu)
    with tempfile.TemporaryDirectory() as folder:
        saved: dict[str, list[Path]] = {case: [] for case in cases}
        for at in range(runs):
            for case in random.Random(at).sample(list(cases), len(cases)):
                document, error = cases[case]()
                if document is not None:
                    saved[case].append(
                        Path(folder) / f"{len(saved[case])} {case}.json".replace("/", " ")
                    )
                    saved[case][-1].write_text(json.dumps(document))
                for name, one in answers_of(case, document, error).items():
                    found.setdefault(name, []).append(one)
                    values = (one.cycles, one.low, one.high, *one.time_ns, one.core_hz / 1e9)
                    raw.append((name, at, *values, one.found()))
        header = (
            "case",
            "run",
            "cycles",
            "low",
            "high",
            "ns",
            "ns_low",
            "ns_high",
            "core_ghz",
            "findings",
        )
        record.csv(header, raw)
        report(record, found, runs)
        report_compared(record, {case: compared(paths) for case, paths in saved.items()})


def compared(paths: Sequence[Path]) -> Counter[str]:
    """What `compare` says of every pair of these runs: verdicts, and where the ratio lies
    relative to the threshold.
    """
    said: Counter[str] = Counter()
    for old, new in itertools.combinations(paths, 2):
        command = [COMMAND, "compare", str(old), str(new), "--threshold", THRESHOLD, "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 3):
            raise RuntimeError(f"hairspring compare: {refusal(done.returncode, done.stderr)}")
        for one in json.loads(done.stdout)["comparisons"]:
            said.update((one["verdict"], f"threshold {one['limit']}"))
    return said


def report_compared(record: Record, said: dict[str, Counter[str]]) -> None:
    """What `compare` claims about code that has not changed."""
    columns = (
        "no_difference",
        "undecided",
        "faster",
        "slower",
        "threshold within",
        "threshold undecided",
        "threshold past",
    )
    rows = [(case, *(counts[column] for column in columns)) for case, counts in said.items()]
    record.table(f"Pairs of runs by `compare --threshold {THRESHOLD}`", ("case", *columns), rows)
    total = sum(said.values(), Counter[str]())
    all_pairs = sum(total[column] for column in columns[:4])
    past = 100 * total["threshold past"] / all_pairs if all_pairs else float("nan")
    record.target(
        f"verdicts beyond a threshold of {THRESHOLD} in unchanged code: {MOST_FALSE} % or fewer",
        past <= MOST_FALSE,
        f"{total['threshold past']} of {all_pairs}",
    )


def report(record: Record, found: dict[str, list[Answer]], runs: int) -> None:
    """The table and the targets."""
    pairs: dict[str, list[bool]] = {unit: [] for unit in UNITS}
    widths: dict[str, list[float]] = {unit: [] for unit in UNITS}
    rows = []
    for name, runs_of in found.items():
        cells: list[str] = []
        for unit in UNITS:
            good = usable(runs_of, unit)
            mine, wide = apart(good, unit), width(good, unit) if len(good) > 1 else float("nan")
            pairs[unit] += mine
            widths[unit].append(wide)
            cells += [f"{share(mine):.0f} %", f"{wide:.1f}"]
        values = [answer.cycles for answer in usable(runs_of, "cycles")]
        spread = (
            100 * statistics.stdev(values) / statistics.mean(values)
            if len(values) > 1
            else float("nan")
        )
        middle = statistics.median(values) if values else float("nan")
        rows.append(
            (
                name,
                f"{middle:.5g}",
                f"{spread:.2f} %",
                *cells,
                f"{len(usable(runs_of, 'ns'))} of {runs}",
            )
        )
    columns = (
        "case",
        "cycles",
        "sd of runs",
        "apart, cycles",
        "width, cycles",
        "apart, ns",
        "width, ns",
        "trusted",
    )
    record.table(
        f"{runs} separate runs of each case; width: half of the interval over the sd of the runs",
        columns,
        rows,
    )
    for unit in UNITS:
        detail = f"{share(pairs[unit]):.1f} % of {len(pairs[unit])}"
        record.target(
            f"pairs of runs whose intervals do not overlap, in {unit}: {TARGET_PERCENT:.0f} % or "
            "fewer",
            share(pairs[unit]) <= TARGET_PERCENT,
            detail,
        )
        known = [wide for wide in widths[unit] if wide == wide]
        middle = statistics.median(known) if known else float("nan")
        record.target(
            f"half-widths in {unit}: at most {MOST_WIDTH:.1f} standard deviations of the runs",
            middle <= MOST_WIDTH,
            f"median {middle:.1f}",
        )
