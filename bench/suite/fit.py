"""Big tables: a million rows with three components, and 200 components side by side with numpy."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import BENCH, COMMAND, Record, Settings, built, median

DATA = BENCH / "target/fit"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
TABLES = {"1,000,000 x 3": (1_000_000, 3), "100,000 x 200": (100_000, 200)}
TARGET_S, AGREE = 1.0, 1e-6


def data(rows: int, components: int) -> str:
    """Stem of the files with a table of this size, which are made once."""
    stem = DATA / f"{rows}-{components}"
    if not stem.with_suffix(".npy").exists():
        DATA.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                sys.executable,
                Path(__file__).with_name("lstsq.py"),
                "make",
                str(rows),
                str(components),
                stem,
            ],
            check=True,
        )
    return str(stem)


def output(
    command: Sequence[str | Path], environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The JSON output of a program."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **(environment or {})},
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def lines_only(path: str) -> float:
    """Seconds to read the file and count its commas: a lower bound of the cost of reading."""
    begin = time.perf_counter()
    Path(path).read_bytes().count(b",")
    return time.perf_counter() - begin


def run(record: Record, settings: Settings) -> None:
    """Everything five times, interleaved."""
    program = built("fit-solve")
    single = dict.fromkeys(THREADS, "1")
    for name, (rows, components) in TABLES.items():
        stem = data(rows, components)
        times: dict[str, list[float]] = {}
        solutions: dict[str, list[float]] = {}
        used = 0
        for _ in range(settings.times(5)):
            begin = time.monotonic()
            subprocess.run(
                [COMMAND, "fit", stem + ".csv", "--json"], stdout=subprocess.DEVNULL, check=True
            )
            times.setdefault("hairspring fit, total", []).append(time.monotonic() - begin)
            parts = output([program, stem + ".csv"])
            times.setdefault("engine: read the file", []).append(parts["read_s"])
            times.setdefault("engine: solve", []).append(parts["solve_s"])
            solutions["engine"], used = [*parts["unknowns"], parts["overhead"]], parts["used"]
            times.setdefault("bytes of the file", []).append(lines_only(stem + ".csv"))
            for threads, environment in (("1 thread", single), ("default threads", {})):
                numpy = output(
                    [sys.executable, Path(__file__).with_name("lstsq.py"), "solve", stem],
                    environment,
                )
                times.setdefault(f"numpy lstsq, {threads}", []).append(numpy["lstsq_s"])
                times.setdefault(f"numpy normal equations, {threads}", []).append(numpy["normal_s"])
                solutions["numpy"] = numpy["unknowns"]
        record.csv(
            ("step", "seconds"),
            [(step, s) for step, them in times.items() for s in them],
            f"{components}.csv",
        )
        table = [
            (step, f"{median(them):.3f}", f"{min(them):.3f}", f"{max(them):.3f}")
            for step, them in times.items()
        ]
        record.table(
            f"{name}: seconds ({used} rows used)", ("step", "median", "least", "most"), table
        )
        judge(record, name, times, solutions)


def judge(
    record: Record, name: str, times: dict[str, list[float]], solutions: dict[str, list[float]]
) -> None:
    """Targets of one table."""
    pairs = zip(solutions["engine"], solutions["numpy"], strict=True)
    apart = max(abs(a / b - 1) for a, b in pairs)
    record.target(
        f"{name}: the same solution as numpy to {AGREE}", apart <= AGREE, f"{apart:.1e} apart"
    )
    if name.startswith("1,000,000"):
        seconds = median(times["hairspring fit, total"])
        record.target(
            f"{name}: read and solved in less than {TARGET_S:.0f} s",
            seconds < TARGET_S,
            f"{seconds:.2f} s",
        )
        return
    solve = median(times["engine: solve"])
    for threads in ("1 thread", "default threads"):
        peer = median(times[f"numpy lstsq, {threads}"])
        detail = f"{solve:.2f} s against {peer:.2f} s, {peer / solve:.2f} times as fast"
        record.target(f"{name}: solved faster than by numpy lstsq, {threads}", solve < peer, detail)
