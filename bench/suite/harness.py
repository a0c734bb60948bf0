"""Shared by all benchmarks: running the command, keeping the raw figures, tables, and targets
reached or missed.
"""

import csv
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from shutil import which
from typing import Any

import measured

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
RAW = BENCH / "target/runs"
PAGE = ROOT / "docs/measured.md"
COMMAND = os.environ.get("HAIRSPRING", str(ROOT / "target/release/hairspring"))


@dataclass(frozen=True)
class Settings:
    """The user's options."""

    cpu: int
    repeats: int | None
    pool: tuple[Path, ...] = ()
    #: Of `compare`: a short run, and its figures as JSON on standard output.
    quick: bool = False
    json: bool = False

    def times(self, usual: int) -> int:
        """Number of repetitions: the user's, or the usual one."""
        return usual if self.repeats is None else self.repeats


@dataclass(frozen=True)
class Answer:
    """One run of `hairspring time`: the first result, or the error."""

    cycles: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    time_ns: tuple[float, float, float] = (float("nan"),) * 3
    core_hz: float = float("nan")
    measured_ms: float = float("nan")
    wall_s: float = float("nan")
    findings: tuple[tuple[str, str], ...] = ()
    verdict: str = ""
    ratio: tuple[float, float, float] = (float("nan"),) * 3
    error: str = ""

    def covers(self, truth: float) -> bool:
        """Whether the interval contains the truth."""
        return self.low <= truth <= self.high

    def off_percent(self, truth: float) -> float:
        """Distance from the truth in percent of it."""
        return 100 * (self.cycles / truth - 1)

    def untrusted(self) -> bool:
        """Whether the command marked the figure as untrusted, or gave none."""
        return bool(self.error) or any(severity == "untrusted" for _, severity in self.findings)

    def found(self) -> str:
        """The findings in one word each."""
        return " ".join(f"{kind}:{severity}" for kind, severity in self.findings) or self.error


def refusal(code: int, said: str) -> str:
    """A failed command in a cell of a table."""
    return f"exit {code}: {' '.join(said.split())[:200]}"


def installed(program: str) -> str | None:
    """The file of a program of Debian; None if it is not installed."""
    found = which(program, path="/usr/bin")
    return found and str(Path(found).resolve())


def run_json(*arguments: str, timeout: float = 600) -> tuple[dict[str, Any] | None, str, float]:
    """Runs the command with `--json`: document, error, wall time in seconds."""
    begin = time.monotonic()
    done = subprocess.run(
        [COMMAND, *arguments, "--json"], capture_output=True, text=True, timeout=timeout
    )
    wall = time.monotonic() - begin
    if done.returncode not in (0, 3) or not done.stdout:
        return None, refusal(done.returncode, done.stderr), wall
    return json.loads(done.stdout), "", wall


def figure(estimate: dict[str, float] | None) -> tuple[float, float, float]:
    """Value, low, high; NaN without an estimate."""
    if estimate is None:
        return (float("nan"),) * 3
    return estimate["value"], estimate["low"], estimate["high"]


def measure(*arguments: str, cpu: int) -> Answer:
    """One `hairspring time`."""
    document, error, wall = run_json("time", *arguments, "--cpu", str(cpu))
    if document is None:
        return Answer(error=error, wall_s=wall)
    return answer(document, wall)


def answer(document: dict[str, Any], wall: float = float("nan"), at: int = 0) -> Answer:
    """One result of a document, by its place."""
    result = document["results"][at]
    # What is said of another component, such as an init, is no doubt about this figure.
    body_name, body = next(iter(result["components"].items()))
    cycles, ns = body.get("cycles"), body.get("time_ns")
    core = document["environment"]["core_clock_hz"]
    value, low, high = figure(cycles)
    none: dict[str, Any] = {"verdict": "", "ratio": None}
    comparison = document["comparisons"][0] if document["comparisons"] else none
    return Answer(
        cycles=value,
        low=low,
        high=high,
        time_ns=figure(ns),
        core_hz=core["value"] if core else float("nan"),
        measured_ms=document["run"]["measured_ms"],
        wall_s=wall,
        findings=tuple(
            (one["kind"], one["severity"])
            for one in result["findings"]
            if one.get("component", body_name) == body_name
        ),
        verdict=comparison["verdict"],
        ratio=figure(comparison["ratio"]),
    )


def answers(document: dict[str, Any]) -> dict[str, Answer]:
    """Every result of a document, by its name."""
    return {
        result["name"]: answer(document, at=at) for at, result in enumerate(document["results"])
    }


def asm(*instructions: str) -> tuple[str, ...]:
    """Arguments that time these instructions."""
    return ("--lang", "asm", "; ".join(instructions))


@dataclass
class Record:
    """A run: its tables and raw figures in FOLDER/DATE/NAME.RUN.*, and its row on the page of
    what was measured.
    """

    name: str
    raw: Path = RAW
    #: Where the tables are printed: standard output, if that is not for something else.
    aside: bool = False
    lines: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    stem: Path = field(init=False)

    def __post_init__(self) -> None:
        folder = self.raw / date.today().isoformat()
        folder.mkdir(parents=True, exist_ok=True)
        # The last part before the ending is the number of the run; a run may be missing.
        run = 1 + max(
            (int(file.stem.split(".")[-1]) for file in folder.glob(f"{self.name}.*.md")), default=0
        )
        self.stem = folder / f"{self.name}.{run}"

    def path(self, ending: str) -> Path:
        """A file of this run, such as `raw.csv`."""
        return self.stem.with_name(f"{self.stem.name}.{ending}")

    def csv(
        self, header: Sequence[str], rows: Iterable[Sequence[object]], ending: str = "csv"
    ) -> None:
        """Keeps raw figures."""
        with self.path(ending).open("w", newline="") as stream:
            out = csv.writer(stream, lineterminator="\n")
            out.writerow(header)
            out.writerows(
                [f"{cell:.8g}" if isinstance(cell, float) else cell for cell in row] for row in rows
            )

    def say(self, *lines: str) -> None:
        """Prints lines and keeps them."""
        for line in lines:
            print(line, flush=True, file=sys.stderr if self.aside else sys.stdout)
            self.lines.append(line)
        self.path("md").write_text("\n".join(self.lines) + "\n")

    def table(self, title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Prints a Markdown table and keeps it."""
        cells = [
            list(header),
            ["---"] * len(header),
            *([str(cell) for cell in row] for row in rows),
        ]
        self.say("", f"### {title}", "", *("| " + " | ".join(row) + " |" for row in cells), "")

    def target(self, what: str, reached: bool, detail: str) -> None:
        """One line that says whether a target was reached."""
        self.figures.append(f"{what}: {detail}{'' if reached else ', missed'}")
        self.say(f"- **{'reached' if reached else 'missed'}**: {what} ({detail})")

    def end(self, command: str, page: Path = PAGE) -> None:
        """Adds the row of this run to the page of what was measured."""
        measured.append(page, measured.row(date.today(), machine_name(), command, self.figures))


def built(name: str) -> str:
    """Builds a program of the benchmarks from the crate of its name."""
    manifest = BENCH / name / "Cargo.toml"
    target = os.environ.get("CARGO_TARGET_DIR", str(BENCH / "target"))
    subprocess.run(
        [
            "cargo",
            "build",
            "--quiet",
            "--release",
            "--manifest-path",
            manifest,
            "--target-dir",
            target,
        ],
        check=True,
    )
    return f"{target}/release/{name}"


def cpu_info() -> dict[str, str]:
    """What the system tells of the first CPU; nothing if it does not."""
    info, cpu = Path("/proc/cpuinfo"), dict[str, str]()
    for line in info.read_text().splitlines() if info.exists() else ():
        name, _, value = line.partition(":")
        cpu.setdefault(name.strip(), value.strip())
    return cpu


def machine_name() -> str:
    """The CPU's model as a folder name."""
    cpu = cpu_info()
    words = [
        cpu.get("model name", os.uname().machine),
        *(cpu[key] for key in ("cpu family", "model") if key in cpu),
    ]
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")


def circumstances() -> str:
    """One line: machine, load, what was measured, when."""
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    )
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    binary = Path(COMMAND)
    digest = (
        f", binary {hashlib.sha256(binary.read_bytes()).hexdigest()[:8]}" if binary.exists() else ""
    )
    tree = f"commit {commit.stdout.strip() or '?'}{digest}"
    return (
        f"{machine_name()}, {os.cpu_count()} CPUs, load {load}, {tree}, {datetime.now():%F %H:%M}"
    )


def median(values: Iterable[float]) -> float:
    """Median of the values that are not NaN."""
    numbers = [value for value in values if value == value]
    return statistics.median(numbers) if numbers else float("nan")


def worst(values: Iterable[float]) -> float:
    """The value farthest from 0."""
    return max((value for value in values if value == value), key=abs, default=float("nan"))


def share(flags: Iterable[bool]) -> float:
    """Share of true flags, in percent."""
    flags = list(flags)
    return 100 * sum(flags) / len(flags) if flags else float("nan")
