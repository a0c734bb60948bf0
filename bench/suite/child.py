"""What the things cost that the measuring process of `hairspring time` has, and a program has
not.
"""

import subprocess
import tempfile
from pathlib import Path

from harness import BENCH, Record, Settings, median

# What the process has, and what it had: a limit on processor time, whose place the timer has taken.
THINGS = (
    "timer",
    "other limits",
    "handlers",
    "priority",
    "locked memory",
    "environment",
    "output file",
    "heap block",
)
ONLY_PILOT, FORMER = "filters", "RLIMIT_CPU"
# A ratio of the medians that is nearer to 1 is the spread of the runs.
SAME = 0.05
ROUNDS = 7


def built(folder: Path) -> str:
    """The program."""
    path = str(folder / "child")
    subprocess.run(("gcc", "-O2", "-w", str(BENCH / "programs/child.c"), "-o", path), check=True)
    return path


def times(program: str, thing: str, cpu: int) -> dict[str, float]:
    """Nanoseconds of each call in a process that has this."""
    command = ("taskset", "-c", str(cpu), program, *((thing,) if thing else ()))
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: float(ns) for name, ns in (line.split("\t") for line in lines)}


def run(record: Record, settings: Settings) -> None:
    """All things in turns."""
    found: dict[str, list[dict[str, float]]] = {
        thing: [] for thing in ("", *THINGS, ONLY_PILOT, FORMER)
    }
    with tempfile.TemporaryDirectory() as folder:
        program = built(Path(folder))
        for _ in range(settings.times(ROUNDS)):
            for thing, runs in found.items():
                runs.append(times(program, thing, settings.cpu))
    middle = {
        thing: {name: median(one[name] for one in runs) for name in runs[0]}
        for thing, runs in found.items()
    }
    columns = (*THINGS, ONLY_PILOT, FORMER)
    rows = [
        (name, f"{ns:.1f}", *(f"{middle[thing][name] / ns:.2f}" for thing in columns))
        for name, ns in middle[""].items()
    ]
    record.csv(("call", "ns", *columns), rows)
    record.table(
        "Nanoseconds, and the ratio in a process that has more", ("call", "ns", *columns), rows
    )
    off = [
        (thing, name, middle[thing][name] / ns)
        for thing in THINGS
        for name, ns in middle[""].items()
    ]
    worst = max(off, key=lambda one: abs(one[2] - 1))
    what = (
        f"every call within {100 * SAME:.0f} % of its time in a program, whatever the measuring "
        "process has"
    )
    record.target(
        what,
        abs(worst[2] - 1) <= SAME,
        f"{len(off)} pairs, worst {worst[1]} with {worst[0]}: {worst[2]:.2f}",
    )
