"""Builds the programs of `compare`, and runs one of them: every tool in its own idiom, at its
own defaults.
"""

import csv
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import nan
from pathlib import Path

from accuracy import ALIKE, failure, script
from compare_truth import Interval
from compare_words import HAIRSPRING, WORDS
from harness import BENCH, ROOT, answers
from languages import INCLUDES, SYSTEM, TARGET, Builder

SOURCES = BENCH / "compare"
BUILT = BENCH / "target/compare"
DOCUMENT = {"COMPARE_DOCUMENT": str(SOURCES / "document.json")}
TRUTH = "truth"
# What a loop of the truth lasts at least, in microseconds, and the rounds: usual, quick.
LOOPS = {False: ("50", "400"), True: ("20", "60")}
# Options that make a run short; without them every tool has its defaults.
SHORT: dict[str, tuple[str, ...]] = {
    "criterion": ("--warm-up-time", "0.1", "--measurement-time", "0.2", "--nresamples", "1000"),
    "divan": ("--max-time", "0.1"),
    "tango": ("--time", "0.1"),
    "google-benchmark": ("--benchmark_min_time=0.05",),
    "nanobench": (),
    "catch2": ("--benchmark-samples", "20", "--benchmark-resamples", "1000"),
    "timeit": ("0.02",),
    "pyperf": ("--processes=1", "--min-time=0.01"),
}
SHORT_BUDGET = "100ms"
# A result of which pyperf says that it may be unstable: the standard deviation over the mean.
UNSTABLE = 0.10


@dataclass(frozen=True)
class Told:
    """A tool's time of a call in ns, with its own interval (NaN: it has none), and whether the
    tool doubts it.
    """

    time: Interval
    doubted: bool = False


@dataclass
class Programs:
    """What was built: by language and tool, the command that starts it; notes on what could not
    be built.
    """

    commands: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def attempt(self, what: str, build: Callable[[], object]) -> bool:
        """Builds, or notes why that failed."""
        try:
            build()
        except (RuntimeError, OSError) as error:
            self.notes.append(f"{what}: {' '.join(str(error).split())[-300:]}")
            return False
        return True


def rust(programs: Programs, builder: Builder) -> None:
    """All programs in Rust, at the paths that cargo reports."""
    command = ("cargo", "bench", "--locked", "--no-run", "--message-format=json")
    told = builder.shell(
        *command, folder=SOURCES / "rust", more={"CARGO_TARGET_DIR": str(BUILT / "rust")}
    )
    for message in (json.loads(line) for line in told.splitlines() if line.startswith("{")):
        if message.get("executable"):
            programs.commands["Rust", message["target"]["name"].removeprefix("by_")] = [
                message["executable"]
            ]


def is_old(file: Path, *sources: str | Path) -> bool:
    """Whether a file is not there, or older than what it is made of, or than the header of the
    workloads.
    """
    every = [Path(source).stat().st_mtime_ns for source in (*sources, SOURCES / "cpp/work.hpp")]
    return not file.exists() or file.stat().st_mtime_ns < max(every)


def cpp(programs: Programs, builder: Builder) -> None:
    """All programs in C++: the workloads are compiled once."""
    need = f". '{BENCH / 'peers/common.sh'}'; need_header nlohmann/json.hpp nlohmann-json3-dev"
    builder.shell("bash", "-euo", "pipefail", "-c", need)
    builder.shell("cargo", "build", "--quiet", "--release", "--package", "hairspring-capi")
    gxx = ("g++", "-std=c++17", "-O2", f"-I{SOURCES / 'cpp'}")
    made = BUILT / "work.o"
    if is_old(made, SOURCES / "cpp/work.cpp"):
        builder.shell(*gxx, "-c", SOURCES / "cpp/work.cpp", "-o", made)
    library = (TARGET / "release/libhairspring_capi.a", *SYSTEM)
    more: dict[str, tuple[str | Path, ...]] = {
        TRUTH: (),
        HAIRSPRING: (*INCLUDES, *library),
        "google-benchmark": ("-lbenchmark", "-pthread"),
        "nanobench": ("-isystem", BENCH / "target/peers/nanobench"),
        "catch2": (),
    }
    for tool, options in more.items():
        source = f"{tool if tool == TRUTH else 'by_' + tool.replace('-', '_')}.cpp"
        if (
            tool not in (TRUTH, HAIRSPRING)
            and (done := script(tool, HS_BUILD_ONLY="1")).returncode != 0
        ):
            programs.notes.append(failure(tool, done))
            continue
        program = (SOURCES / "cpp" / source, made, *options, "-o", BUILT / tool)
        fresh = not is_old(
            BUILT / tool,
            SOURCES / "cpp" / source,
            made,
            *(library[:1] if tool == HAIRSPRING else ()),
        )
        if fresh or programs.attempt(f"C++, {tool}", partial(builder.shell, *gxx, *program)):
            programs.commands["C++", tool] = [str(BUILT / tool)]


def python(programs: Programs, builder: Builder) -> None:
    """The package of this project, and the scripts."""
    builder.python()
    for tool in (TRUTH, *WORDS["Python"]):
        source = SOURCES / "python" / f"{tool if tool == TRUTH else 'by_' + tool}.py"
        programs.commands["Python", tool] = [sys.executable, str(source)]


def built() -> Programs:
    """Everything that this machine can build."""
    BUILT.mkdir(parents=True, exist_ok=True)
    programs, builder = Programs(), Builder()
    for language, build in (("Rust", rust), ("C++", cpp), ("Python", python)):
        programs.attempt(language, partial(build, programs, builder))
    return programs


def arguments(language: str, tool: str, cpu: int, quick: bool, folder: Path) -> list[str]:
    """What a tool is asked for."""
    short = SHORT.get(tool, ()) if quick else ()
    if tool == HAIRSPRING and language == "Python":
        return [str(cpu), *([SHORT_BUDGET] * quick)]
    own: dict[str, tuple[str, ...]] = {
        TRUTH: LOOPS[quick],
        HAIRSPRING: ("--json", "--cpu", str(cpu), *(("--budget", SHORT_BUDGET) if quick else ())),
        "criterion": ("--bench", "--noplot"),
        "divan": ("--bench", "--color", "never"),
        "tango": ("compare", "--dump", str(folder)),
        "google-benchmark": ("--benchmark_format=json",),
        "catch2": ("--reporter", "xml", "--out", str(folder / "raw")),
        "pyperf": ("--quiet", "-o", str(folder / "raw")),
    }
    cargo = ("--bench",) if language == "Rust" and tool == HAIRSPRING else ()
    return [*cargo, *own.get(tool, ()), *short]


def run(
    command: Sequence[str], language: str, tool: str, cpu: int, quick: bool
) -> dict[str, Told] | str:
    """One run of a tool pinned to a CPU: its times by workload, or the raw output of the loops
    of the truth.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = [
            *ALIKE,
            "taskset",
            "-c",
            str(cpu),
            *command,
            *arguments(language, tool, cpu, quick, folder),
        ]
        more = {**DOCUMENT, "CRITERION_HOME": str(folder)}
        done = subprocess.run(
            words, capture_output=True, text=True, env={**os.environ, **more}, timeout=1800
        )
        if done.returncode != 0:
            last = " ".join(done.stderr.strip().splitlines()[-1:])
            raise RuntimeError(f"{language}, {tool}: exit {done.returncode}: {last[:300]}")
        return done.stdout if tool == TRUTH else told(language, tool, done.stdout, folder)


def told(language: str, tool: str, output: str, folder: Path) -> dict[str, Told]:
    """The times that a tool printed or wrote."""
    if tool == HAIRSPRING and language != "Python":
        document = answers(json.loads(output))
        return {
            case: Told(Interval(*one.time_ns), one.untrusted()) for case, one in document.items()
        }
    if language != "Python":
        output = peer(tool, output, folder)
    elif tool == "pyperf":
        output = by_pyperf(json.loads((folder / "raw").read_text()))
    ends = ("time_ns", "low_ns", "high_ns")
    return {
        line["case"]: Told(
            Interval(*(float(line[end] or nan) for end in ends)),
            "unstable" in line["note"] or "untrusted" in line["note"],
        )
        for line in csv.DictReader(io.StringIO(output))
    }


def peer(tool: str, output: str, folder: Path) -> str:
    """The output of a compiled peer as CSV, by the script that all benchmarks use."""
    raw = folder if tool in ("criterion", "tango") else folder / "raw"
    if tool not in ("criterion", "tango", "catch2"):
        raw.write_text(output)
    reader = "tango-times" if tool == "tango" else tool
    command = [sys.executable, str(BENCH / "peers/to_csv.py"), "--any", reader, str(raw)]
    return Builder().shell(*command, folder=ROOT)


def by_pyperf(document: dict[str, list[dict[str, object]]]) -> str:
    """The means of pyperf's file as CSV, `unstable` where pyperf says so."""
    lines = ["case,time_ns,low_ns,high_ns,note"]
    for one in document["benchmarks"]:
        runs, meta = one["runs"], one.get("metadata", {})
        assert isinstance(runs, list) and isinstance(meta, dict)
        values = [value for each in runs for value in each.get("values", [])]
        mean = statistics.fmean(values)
        unstable = len(values) > 1 and statistics.stdev(values) >= UNSTABLE * mean
        lines.append(f"{meta.get('name', '')},{1e9 * mean:.6g},,,{'unstable' if unstable else ''}")
    return "\n".join(lines)
