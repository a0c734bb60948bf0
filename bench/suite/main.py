"""Runs benchmarks by name: main.py [--list] [--cpu N] [--repeats N] [NAME...]; without a name all
of them.

`main.py compare --quick --json` is a short run of that benchmark, its figures as JSON.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import ab
import ablation
import accuracy
import blocks
import budget
import capture
import chains
import child
import clocks
import collect
import compare
import counts
import dumps
import fit
import fleet
import history
import instructions
import languages
import latency
import loops
import mhz
import nulls
import pages
import parts
import people
import recordings
import repeat
import same
import stopwatch
import switch
import trust
import useful
from harness import Record, Settings, circumstances

BENCHMARKS: dict[str, tuple[Callable[[Record, Settings], None], str]] = {
    "accuracy": (
        accuracy.run,
        "the truth table: hairspring and six peers side by side, quiet and beside a neighbour",
    ),
    "chains": (chains.run_chains, "nine chains of integer length, measured for at most 100 ms"),
    "init": (chains.run_init, "a body of 30 cycles after an init of 120"),
    "child": (
        child.run,
        "what the things cost that the measuring process has, and a program has not",
    ),
    "coverage": (
        chains.run_coverage,
        "how often the intervals contain the truth, quiet and with a busy neighbour",
    ),
    "loaded": (
        chains.run_loaded,
        "chains and init pair beside busy, bursty and memory-thrashing neighbours",
    ),
    "compare": (
        compare.run,
        "sort, hash, parse, memcpy and JSON by the tools of Rust, C++ and Python, over a truth "
        "that is no tool's",
    ),
    "corpus": (
        collect.run,
        "collects raw tables of known truth on this machine, and cuts them for corpus/",
    ),
    "ablation": (
        ablation.run,
        "what each stage of the estimator is worth, by tables that are solved without it",
    ),
    "history": (
        history.run,
        "`history check` beside asv and Otava on the same simulated series; wall time and memory",
    ),
    "loops": (loops.run, "real code by `hairspring time` against loops written by hand"),
    "people": (people.run, "100 pieces of code that people asked about in public, against loops"),
    "latency": (latency.run, "from command to answer, default options"),
    "same": (
        same.run,
        "identical pieces of code, quiet and beside neighbours: how often a difference is claimed",
    ),
    "ab": (
        ab.run,
        "equal builds and one that takes 1 % longer by `hairspring ab`: what is claimed",
    ),
    "nulls": (
        nulls.run,
        "equal code, simulated and real, resumed and pooled over machines: how often a difference "
        "is claimed",
    ),
    "repeat": (
        repeat.run,
        "separate runs of real code in C, C++, Rust and Python: whether their intervals overlap",
    ),
    "trust": (
        trust.run,
        "one table of what is right, doubted and wrong, quiet and beside neighbours on either CPU",
    ),
    "fit": (fit.run, "a million rows, and 200 components against numpy.linalg.lstsq"),
    "fleet": (
        fleet.run,
        "`merge` of 1,000 simulated machines and of 100,000 documents: time and memory",
    ),
    "pages": (
        pages.run,
        "pages: made, painted and solved again in Chromium; the module beside the command",
    ),
    "capture": (
        capture.run,
        "edges and intervals of simulated captures; an hour of sound; dumps beside other readers",
    ),
    "recordings": (
        recordings.run,
        "500 recordings of each kind of device: how often the intervals hold",
    ),
    "dumps": (
        dumps.run,
        "real recordings of logic analysers and oscilloscopes, against readers written anew",
    ),
    "blocks": (
        blocks.run,
        "blocks of known length, the speed of following, 1,000 inputs by 200 blocks",
    ),
    "counts": (counts.run, "how often blocks of real programs run, against callgrind"),
    "useful": (useful.run, "whether answers about real programs are useful, their time and memory"),
    "parts": (
        parts.run,
        "eleven small programs of known blocks: how many times are right, doubted or wrong",
    ),
    "mhz": (
        mhz.run,
        "the core clock in 100 runs, and by the method of the paper, quiet and beside a busy "
        "neighbour",
    ),
    "instructions": (
        instructions.run,
        "latencies and throughputs against published figures, quiet and beside a neighbour",
    ),
    "switch": (
        switch.run,
        "context switches by five mechanisms, 20 times, beside the plain idea of lat_ctx",
    ),
    "budget": (
        budget.run,
        "how often the total of an experiment's error budget covers the spread of 100 repeat runs",
    ),
    "stopwatch": (
        stopwatch.run,
        "C stopwatches: the bias of empty spans, and the cost of an inline read",
    ),
    "languages": (languages.run, "every language against `hairspring time`, and its usual tools"),
    "clock_gettime": (
        clocks.run,
        "a body of 40 ns by clock_gettime and by gettimeofday against the TSC",
    ),
}


def asked(name: str, repeats: int | None) -> str:
    """The command that runs one benchmark."""
    return f"bench/run {name}" + ("" if repeats is None else f" --repeats {repeats}")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="bench/run", description="Accuracy and speed of hairspring."
    )
    parser.add_argument("--list", action="store_true", help="the names, and what each shows")
    parser.add_argument(
        "--cpu", type=int, default=max(os.sched_getaffinity(0)), help="the CPU to measure on"
    )
    parser.add_argument(
        "--repeats", type=int, help="number of repetitions instead of the usual one"
    )
    parser.add_argument(
        "--pool",
        type=Path,
        nargs="+",
        default=(),
        help="files of `nulls` of several machines, to count",
    )
    parser.add_argument(
        "--quick", action="store_true", help="`compare` alone: a run of a minute, which adds no row"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="`compare` alone: figures as JSON, tables on standard error",
    )
    parser.add_argument("name", nargs="*", help="benchmarks (default: all)")
    chosen = parser.parse_args()
    if chosen.list:
        print("\n".join(f"{name:14} {what}" for name, (_, what) in BENCHMARKS.items()))
        return 0
    unknown = [name for name in chosen.name if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; see --list")
    if (chosen.quick or chosen.json) and chosen.name != ["compare"]:
        parser.error("--quick and --json are for `compare` alone")
    status = 0
    for name in chosen.name or BENCHMARKS:
        run, what = BENCHMARKS[name]
        record = Record(name, aside=chosen.json)
        record.say(f"## {name}: {what}", "", circumstances())
        try:
            run(
                record,
                Settings(chosen.cpu, chosen.repeats, tuple(chosen.pool), chosen.quick, chosen.json),
            )
        except Exception:
            traceback.print_exc()
            record.say(
                "- **missed**: it failed: " + traceback.format_exc().strip().splitlines()[-1]
            )
            status = 1
            continue
        record.say("")
        if chosen.quick:
            continue
        record.end(asked(name, chosen.repeats))
    return status


if __name__ == "__main__":
    sys.exit(main())
