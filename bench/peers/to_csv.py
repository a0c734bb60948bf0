"""The raw output of one tool as CSV: to_csv.py [--any] TOOL RAW, RAW being the file or folder that
the tool wrote.

Without `--any` the cases of the truth table must be there. `tango-times` are the times of tango's
second build.
"""

import csv
import json
import re
import statistics
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

Value = float | str | None
# Case, value, low and high end, note.
Case = tuple[str, Value, Value, Value, str]

BODY = "body_30_init_120"


def google_benchmark(raw: Path) -> Iterator[Case]:
    notes = {BODY: "PauseTiming and ResumeTiming around the init in every iteration"}
    for run in json.loads(raw.read_text())["benchmarks"]:
        assert run["time_unit"] == "ns", run
        yield run["name"], run["real_time"], None, None, notes.get(run["name"], "mean")


def catch2(raw: Path) -> Iterator[Case]:
    notes = {BODY: "mean; states prepared ahead of the sample so that bodies may overlap"}
    for run in ElementTree.parse(raw).iter("BenchmarkResults"):
        name, mean = run.get("name", ""), run.find("mean")
        assert mean is not None, name
        yield (
            name,
            mean.get("value"),
            mean.get("lowerBound"),
            mean.get("upperBound"),
            notes.get(name, "mean"),
        )


def criterion(raw: Path) -> Iterator[Case]:
    notes = {
        BODY: "; iter_batched PerIteration",
        BODY
        + "_small": "; iter_batched SmallInput; inputs prepared ahead so that bodies may overlap",
    }
    # criterion keeps no order: sort by when each case was written
    for path in sorted(raw.glob("*/new/estimates.json"), key=lambda path: path.stat().st_mtime_ns):
        name, estimates = path.parts[-3], json.loads(path.read_text())
        statistic = "slope" if estimates.get("slope") else "mean"
        estimate = estimates[statistic]
        interval = estimate["confidence_interval"]
        note = statistic + notes.get(name, "")
        yield (
            name,
            estimate["point_estimate"],
            interval["lower_bound"],
            interval["upper_bound"],
            note,
        )


def divan(raw: Path) -> Iterator[Case]:
    notes = {
        BODY: "; with_inputs and bench_values; inputs prepared ahead so that bodies may overlap"
    }
    units = {"ps": 1e-3, "ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}
    # name, then fastest | slowest | median | mean | samples | iters
    row = re.compile(r"^[├╰]─ (\w+) +.+? │ .+? │ ([\d.]+) (\w+) +│ .+? │ \d+ +│ \d+", re.MULTILINE)
    for name, value, unit in row.findall(raw.read_text()):
        yield (
            name,
            float(value) * units[unit],
            None,
            None,
            "median of a printed table" + notes.get(name, ""),
        )


def nanobench(raw: Path) -> Iterator[Case]:
    notes = {BODY: "; the time of init and body"}
    for run in json.loads(raw.read_text())["results"]:
        # In its own table it marks such a result as unstable.
        unstable = "; unstable" if run["medianAbsolutePercentError(elapsed)"] >= 0.05 else ""
        note = f"median of {run['epochs']} epochs{unstable}{notes.get(run['name'], '')}"
        yield run["name"], 1e9 * run["median(elapsed)"], None, None, note


def tango(raw: Path) -> Iterator[Case]:
    """The mean of the differences of all samples, as in its report, which rounds it to 0.1 ns."""
    for path in sorted(raw.glob("*.csv"), key=lambda path: path.stat().st_mtime_ns):
        with path.open() as stream:
            samples = [tuple(map(int, line)) for line in csv.reader(stream)]
        differences = [(candidate - baseline) / times for baseline, candidate, times in samples]
        note = f"mean difference of {len(samples)} pairs of samples"
        yield path.stem, statistics.mean(differences), None, None, note


def tango_times(raw: Path) -> Iterator[Case]:
    """The mean of the samples of the second build, which the report has beside the difference."""
    for path in sorted(raw.glob("*.csv"), key=lambda path: path.stat().st_mtime_ns):
        with path.open() as stream:
            samples = [tuple(map(int, line)) for line in csv.reader(stream)]
        mean = statistics.mean(candidate / times for _, candidate, times in samples)
        yield path.stem, mean, None, None, f"mean of {len(samples)} samples"


READERS = {
    "google-benchmark": google_benchmark,
    "catch2": catch2,
    "criterion": criterion,
    "divan": divan,
    "nanobench": nanobench,
    "tango": tango,
    "tango-times": tango_times,
}


def figure(value: Value) -> str:
    return "" if value is None else f"{float(value):.6g}"


def main() -> None:
    every = "--any" not in sys.argv
    tool, raw = sys.argv[-2], Path(sys.argv[-1])
    cases = READERS[tool](raw)
    lines = [
        [tool, name, figure(value), figure(low), figure(high), note]
        for name, value, low, high, note in cases
    ]
    if every and not {"anchor_first", "anchor_last", BODY} <= {line[1] for line in lines}:
        sys.exit(f"{tool}: cases are missing in {raw.name}")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["tool", "case", "time_ns", "low_ns", "high_ns", "note"])
    out.writerows(lines)


main()
