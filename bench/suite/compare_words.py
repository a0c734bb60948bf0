"""What each tool of `compare` says that it measures, in its own terms, and the idiom that it
recommends.
"""

import json
import platform
import re
import subprocess
import tomllib
from dataclasses import dataclass
from importlib import metadata

from harness import BENCH, ROOT

HAIRSPRING = "hairspring"


@dataclass(frozen=True)
class Words:
    """A tool: its name, its idiom, that for data that must be made anew before every call, and
    what its figure is.
    """

    name: str
    idiom: str
    anew: str
    says: str
    #: Whether the figure of `sort_100` includes what makes the numbers.
    with_init: bool = False


OURS = (
    "slope of a line through rows of 1 to 256 copies of the code between two reads of the clock; "
    "neither loop nor reads"
)
WORDS: dict[str, dict[str, Words]] = {
    "Rust": {
        HAIRSPRING: Words(
            "Hairspring", "`#[hairspring::bench]`", "`init =`", f"{OURS}; 95 % interval"
        ),
        "criterion": Words(
            "Criterion",
            "`iter`",
            "`iter_batched_ref`, `SmallInput`",
            "time of one iteration: slope of a linear regression of the samples, or the mean "
            "where samples have equal "
            "length; 95 % bootstrap interval; the time includes the drop of what `iter` returns",
        ),
        "divan": Words(
            "Divan",
            "`bench_local`",
            "`with_inputs`, `bench_local_refs`",
            "median of the samples, each divided by its iterations, after the overhead of an "
            "empty loop is taken off; "
            "the inputs of a sample are made before it; drops are outside the time",
        ),
        "tango": Words(
            "tango",
            "`iter`, `compare` of the build with itself",
            "in the time: `iter` has no setup for each call",
            "difference of two builds whose samples alternate; the figure here is the mean time "
            "of the second build, "
            "which its report prints beside the difference",
            True,
        ),
    },
    "C++": {
        HAIRSPRING: Words("Hairspring", "`HAIRSPRING_BENCH`", "`.init`", f"{OURS}; 95 % interval"),
        "google-benchmark": Words(
            "Google Benchmark",
            "range-for over `State`, `DoNotOptimize`, `ClobberMemory`",
            "`PauseTiming`, `ResumeTiming`; its guide: not recommended, since it has high overhead",
            "average wall time of an iteration of the work loop, which is measured in its entire "
            "duration",
        ),
        "nanobench": Words(
            "nanobench",
            "`Bench().run`, `doNotOptimizeAway`",
            "in the time: it has no setup for each call",
            "median over 11 epochs of the time of an evaluation; an epoch lasts 1000 times the "
            "clock's resolution",
            True,
        ),
        "catch2": Words(
            "Catch2",
            "`BENCHMARK` with a returned value",
            "`BENCHMARK_ADVANCED`: a state for each run, made ahead",
            "mean of 100 samples, each the time of a number of runs divided by that; 95 % "
            "bootstrap interval of the "
            "mean",
        ),
    },
    "Python": {
        HAIRSPRING: Words(
            "Hairspring", "`hairspring.time`", "`init=`", f"{OURS}; collector off; 95 % interval"
        ),
        "timeit": Words(
            "timeit",
            "its command: best of 5",
            "in the time: its setup runs once",
            "the best of five runs of a loop, divided by its number of executions, collector off; "
            "baseline overhead is "
            "not hidden",
            True,
        ),
        "pyperf": Words(
            "pyperf",
            "`Runner().timeit`",
            "in the time: its setup runs once",
            "mean and standard deviation of the values of 20 processes, three each after one that "
            "is left out; a "
            "value is a loop of 100 ms or more, divided by its number of executions",
            True,
        ),
    },
}


def of_package(package: str) -> str:
    """The version of an installed package of Debian."""
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True
    )
    return done.stdout.strip() or "?"


def first_line(*command: str) -> str:
    """What a compiler says of its version."""
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.splitlines()[0] if done.stdout else "?"


def of_nanobench() -> str:
    """The version in the header."""
    header = BENCH / "target/peers/nanobench/nanobench.h"
    text = header.read_text() if header.exists() else ""
    found = re.findall(r"#define ANKERL_NANOBENCH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
    return ".".join(found) or "?"


def of_pyperf() -> str:
    """The version of the installed package."""
    try:
        return metadata.version("pyperf")
    except metadata.PackageNotFoundError:
        return "?"


def versions() -> dict[str, str]:
    """The versions of all tools and compilers."""
    lock = tomllib.loads((BENCH / "compare/rust/Cargo.lock").read_text())
    crates = {one["name"]: one["version"] for one in lock["package"]}
    ours: str = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    return {
        HAIRSPRING: ours,
        "criterion": crates["criterion"],
        "divan": crates["divan"],
        "tango": crates["tango-bench"],
        "serde_json": crates["serde_json"],
        "rustc": first_line("rustc", "--version"),
        "google-benchmark": of_package("libbenchmark-dev"),
        "nanobench": of_nanobench(),
        "catch2": of_package("catch2"),
        "nlohmann-json": of_package("nlohmann-json3-dev"),
        "g++": first_line("g++", "--version"),
        "timeit": platform.python_version(),
        "pyperf": of_pyperf(),
    }


if __name__ == "__main__":
    print(json.dumps(versions(), indent=1))
