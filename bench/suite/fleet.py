"""`merge` on fleets: documents of simulated machines, made by sampling a real document with an
effect of each machine; wall time and memory."""

import json
import os
import random
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from harness import BENCH, COMMAND, ROOT, Record, Settings

DATA = BENCH / "target/fleet"
SEED = 45
#: Standard deviations of the effects of a machine: of its core, and of its clock.
CORE, CLOCK = 0.01, 0.02
MILLION = 1 << 20
#: Fleets: machines, documents of each machine, seconds and MiB that they may take.
FLEETS = ((1_000, 1, 3.0, 150), (10_000, 10, 300.0, 150))
ESTIMATES = {"value", "low", "high", "level"}


def scaled(value: Any, factor: float) -> Any:
    """All intervals in a part of a document times a factor."""
    if isinstance(value, list):
        return [scaled(one, factor) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == ESTIMATES:
        return {key: number if key == "level" else number * factor for key, number in value.items()}
    return {key: scaled(one, factor) for key, one in value.items()}


def sampled(component: dict[str, Any], core: float, clock: float) -> dict[str, Any]:
    """A component of a machine with these effects."""
    return {
        key: scaled(value, core * clock if key == "time_ns" else core)
        for key, value in component.items()
    }


def document(real: dict[str, Any], machine: int, repeat: int) -> dict[str, Any]:
    """A document of a machine, sampled from a real one."""
    of_machine = random.Random(SEED * 1_000_003 + machine)
    core, clock = (1 + of_machine.gauss(0, sd) for sd in (CORE, CLOCK))
    noise = random.Random((machine + 1) * 1_000 + repeat)
    results = [
        {
            **series,
            "components": {
                name: sampled(one, core * (1 + noise.gauss(0, 0.002)), clock)
                for name, one in series["components"].items()
            },
        }
        for series in real["results"]
    ]
    seconds = machine % 3600
    identity = {
        **(real["environment"]["identity"] or {}),
        "host": f"{machine:016x}",
        "created": f"2026-11-30T12:{seconds // 60:02}:{seconds % 60:02}Z",
        "version": "0.1.0",
    }
    cpu = {**real["environment"]["cpu"], "family": "6-207"}
    environment = {**real["environment"], "identity": identity, "cpu": cpu}
    return {**real, "environment": environment, "results": results}


def real_document() -> dict[str, Any]:
    """A document of three series, which are that of the example of the format."""
    one = json.loads((ROOT / "spec/result.example.json").read_text(encoding="utf-8"))
    series = one["results"][0]
    one["results"] = [{**series, "name": f"series {number}"} for number in range(3)]
    return dict(one)


def write(folder: Path, machines: int, repeats: int) -> int:
    """Writes the documents of a fleet; gives their bytes."""
    real, size = real_document(), 0
    for machine in range(machines):
        below = folder / f"{machine // 1000:03}"
        below.mkdir(parents=True, exist_ok=True)
        for repeat in range(repeats):
            text = json.dumps(document(real, machine, repeat), separators=(",", ":"))
            (below / f"{machine}-{repeat}.json").write_text(text, encoding="utf-8")
            size += len(text)
    return size


def merged(folder: Path) -> tuple[dict[str, Any], float, float]:
    """The document of a merge, its wall time in seconds and its largest memory in MiB."""
    begin = time.monotonic()
    child = subprocess.Popen([COMMAND, "merge", str(folder), "--json"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"merge ended with {child.returncode}")
    document: dict[str, Any] = json.loads(text)
    return document, time.monotonic() - begin, usage.ru_maxrss * 1024 / MILLION


def measured(machines: int, repeats: int) -> tuple[int, float, float]:
    """Bytes of a fleet, wall time and memory of its merge."""
    folder = DATA / f"{machines}x{repeats}"
    shutil.rmtree(folder, ignore_errors=True)
    size = write(folder, machines, repeats)
    found, seconds, memory = merged(folder)
    shutil.rmtree(folder)
    if found["machines"] != machines or found["documents"]["merged"] != machines * repeats:
        raise RuntimeError(f"{found['machines']} machines, {found['documents']}")
    return size, seconds, memory


def run(record: Record, settings: Settings) -> None:
    """The benchmark. With `--repeats 1` the small fleet alone."""
    fleets = FLEETS[:1] if settings.repeats == 1 else FLEETS
    all_figures = [measured(machines, repeats) for machines, repeats, _, _ in fleets]
    rows = [
        (f"{machines:,}", f"{machines * repeats:,}", f"{size / 1e6:.0f}", f"{s:.2f}", f"{mib:.0f}")
        for (machines, repeats, _, _), (size, s, mib) in zip(fleets, all_figures, strict=True)
    ]
    record.table("merge", ("machines", "documents", "MB", "s", "MiB"), rows)
    for (machines, repeats, most_s, most_mib), (_, s, mib) in zip(fleets, all_figures, strict=True):
        what = f"{machines * repeats:,} documents in {most_s:g} s and {most_mib} MiB"
        record.target(what, s <= most_s and mib <= most_mib, f"{s:.2f} s, {mib:.0f} MiB")
