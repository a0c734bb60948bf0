"""`history check` beside the step detection of asv and Apache Otava, on the same simulated series:
false alarms, steps found and delay. Then wall time and memory of `add` and `check`.

The points of a series have errors of 0.5 to 1.5 % each, as their intervals say, and runs differ by
another 0.5 %. One run in fifty is disturbed by 10 to 30 %. Most series have no step.
"""

import json
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from harness import BENCH, COMMAND, Record, Settings

DATA = BENCH / "target/history"
PEERS = BENCH / "target/history-peers"
REQUIREMENTS = BENCH / "suite/history-peers.txt"
SEED = 46
SERIES = 400
#: Every so many series has a step, of one of these sizes, in front of this run.
EVERY = 8
SIZES = (0.02, 0.04, 0.08)
PLACE = 40
#: Points behind the step at which all are asked.
DELAYS = (2, 3, 5, 10, 20)
#: A step is found if it is told within so many points of its place.
NEAR = 3
OWN, BETWEEN, DISTURBED = (0.005, 0.015), 0.005, 0.02

Series = list[tuple[float, float]]
#: The places of the steps that a tool tells in the first points of each series.
Told = Callable[[list[Series]], list[list[int]]]


def step_of(number: int) -> float:
    """The step of a series, as a share; 0 for most."""
    return SIZES[number // EVERY % len(SIZES)] if number % EVERY == 0 else 0.0


def simulated(number: int, points: int) -> Series:
    """Values and half-widths at 95 %."""
    noise = random.Random(SEED * 1_000_003 + number)
    series = []
    for at in range(points):
        own = noise.uniform(*OWN)
        value = 100 * (1 + step_of(number)) if at >= PLACE else 100.0
        value *= 1 + noise.gauss(0, own) + noise.gauss(0, BETWEEN)
        if noise.random() < DISTURBED:
            value *= noise.uniform(1.1, 1.3)
        series.append((value, 1.96 * own * value))
    return series


def document(run: int, all_series: list[Series]) -> str:
    """The document of a run with a point of each series."""
    results = []
    for number, series in enumerate(all_series):
        value, half = series[run]
        estimate = {"value": value, "low": value - half, "high": value + half, "level": 0.95}
        component = {"time_ns": estimate, "below_resolution": False, "mode": None}
        results.append(
            {
                "name": f"s{number}",
                "code": None,
                "bytes_per_copy": None,
                "overhead": None,
                "components": {"body": component},
            }
        )
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_700_000_000 + 60 * run))
    identity = {"created": created, "host": "h", "version": "0", "commit": f"{run:040x}"}
    head = {"schema": "hairspring/result/2", "command": "run", "run": None}
    return json.dumps(head | {"environment": {"identity": identity}, "results": results})


def hairspring(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs `history` in the folder of the data."""
    command = [COMMAND, "history", *map(str, words)]
    done = subprocess.run(command, cwd=DATA, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{command}: {done.stderr}")
    return done


def fill(name: str, all_series: list[Series]) -> Path:
    """A history of all points of these series."""
    folder, database = DATA / name, DATA / f"{name}.db"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    database.unlink(missing_ok=True)
    for run in range(len(all_series[0])):
        (folder / f"{run:05}.json").write_text(document(run, all_series))
    hairspring("add", "--db", database, *sorted(folder.iterdir()))
    return database


def by_hairspring(all_series: list[Series]) -> list[list[int]]:
    """The steps of `check`."""
    database = fill("told", all_series)
    found = json.loads(hairspring("check", "--json", "--db", database).stdout)
    told = {one["name"]: [step["at"] for step in one["steps"]] for one in found["series"]}
    return [told[f"s{number}"] for number in range(len(all_series))]


def by_asv(all_series: list[Series]) -> list[list[int]]:
    """The steps of asv, whose weights are the inverse half-widths, as its `publish` has them."""
    from asv.step_detect import detect_steps  # type: ignore[import-not-found]

    def one(series: Series) -> list[int]:
        steps = detect_steps([value for value, _ in series], [1 / half for _, half in series])
        return [int(step[0]) for step in steps[1:]]

    return [one(series) for series in all_series]


def by_otava(all_series: list[Series]) -> list[list[int]]:
    """The change points of Otava with its defaults."""
    from otava.analysis import compute_change_points  # type: ignore[import-not-found]

    def one(series: Series) -> list[int]:
        points, _ = compute_change_points([value for value, _ in series])
        return [int(point.index) for point in points]

    return [one(series) for series in all_series]


def counted(told: list[list[int]], size: float) -> tuple[int, int, int]:
    """False alarms, steps of this size that were found, and how many there are."""
    found = of = alarms = 0
    for number, places in enumerate(told):
        step = step_of(number)
        near = [place for place in places if step and abs(place - PLACE) <= NEAR]
        alarms += len(places) - min(len(near), 1)
        if step and step == size:
            of += 1
            found += bool(near)
    return alarms, found, of


def peers() -> dict[str, Told]:
    """The tools that can be run here."""
    known: dict[str, Told] = {"hairspring": by_hairspring}
    for name, module, told in (("asv", "asv", by_asv), ("otava", "otava", by_otava)):
        try:
            __import__(module)
        except ImportError:
            print(f"bench: {name} is not installed: {REQUIREMENTS}", file=sys.stderr)
        else:
            known[name] = told
    return known


def fetch_peers() -> None:
    """Installs the peers beside the other data; without a network they are left out."""
    if not PEERS.is_dir():
        words = ["-m", "pip", "install", "--quiet", "--requirement", str(REQUIREMENTS)]
        subprocess.run([sys.executable, *words, "--target", str(PEERS)], check=False)
    sys.path.insert(0, str(PEERS))


def rows(series: int) -> Iterable[dict[str, Any]]:
    """A row for each tool and delay."""
    for name, told in peers().items():
        for delay in DELAYS:
            data = [simulated(number, PLACE + delay) for number in range(series)]
            places = told(data)
            row: dict[str, Any] = {"tool": name, "delay": delay}
            for size in SIZES:
                alarms, found, of = counted(places, size)
                row |= {"alarms": alarms, f"found {size:.0%}": f"{found}/{of}"}
            yield row


def timed(series: int, points: int) -> dict[str, Any]:
    """Wall time of `add` and `check` with this many series and points."""
    data = [simulated(number, points + 1) for number in range(series)]
    database = fill("timed", [one[:points] for one in data])
    (DATA / "one.json").write_text(document(points, data))
    begin = time.monotonic()
    hairspring("add", "one.json", "--db", database)
    added = time.monotonic() - begin
    begin = time.monotonic()
    hairspring("check", "--db", database)
    checked = time.monotonic() - begin
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {
        "points": series * points,
        "add_ms": round(1000 * added, 1),
        "check_ms": round(1000 * checked, 1),
        "most_mb": round(memory),
    }


def run(record: Record, settings: Settings) -> None:
    """Runs the benchmark."""
    del settings
    fetch_peers()
    DATA.mkdir(parents=True, exist_ok=True)
    for row in rows(SERIES):
        record.say(f"{row}")
    record.say(f"{timed(1_000, 100)}")
