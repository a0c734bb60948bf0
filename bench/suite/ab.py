"""Two builds by `hairspring ab`: equal ones, of which no difference of more than half a percent may
be claimed at any look, and one that takes 1 % longer, which is to be found.

Every result is appended to `target/ab.csv` as it is made, so a run that was stopped goes on where
it was; `bench/run ab --pool FILE...` counts such files of several machines together, and runs
nothing.
"""

import csv
import json
import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from harness import BENCH, Record, Settings, machine_name, run_json
from neighbour import neighbour
from nulls import stamp

# Runs on each machine: the equal builds and the other one in turns.
USUAL_RUNS = 100
MOST_CLAIMED = 0.005
FOUND_SHARE = 0.9
SITUATIONS = ("quiet", "busy")
KINDS = ("equal", "one percent")
CLAIMS = ("faster", "slower")
FIGURES = ("ratio", "low", "high", "null", "pairs", "took_s")
HEADER = ("machine", "binary", "situation", "kind", "name", "verdict", *FIGURES)
KEPT = BENCH / "target" / "ab.csv"
CRATE = BENCH / "ab"


def run(record: Record, settings: Settings) -> None:
    """Runs until there are enough of this machine."""
    if settings.pool:
        tell(record, [row for file in settings.pool for row in rows_of(file)])
        return
    usual, machine, binary = settings.times(USUAL_RUNS), machine_name(), stamp()
    folder = built()

    def mine() -> list[dict[str, str]]:
        return [
            row for row in rows_of(KEPT) if row["machine"] == machine and row["binary"] == binary
        ]

    done = len(mine()) // len(("work", "same"))
    for at in range(done, usual):
        for row in one(folder, at, settings.cpu):
            keep((machine, binary, *row))
    tell(record, mine())


def built() -> Path:
    """The programs; `equal` is a copy of the base."""
    subprocess.run(["cargo", "build", "--quiet", "--release"], cwd=CRATE, check=True)
    folder = BENCH / "target" / "ab"
    folder.mkdir(parents=True, exist_ok=True)
    said = subprocess.check_output(
        ["cargo", "metadata", "--no-deps", "--format-version=1"], cwd=CRATE, text=True
    )
    target = Path(json.loads(said)["target_directory"])
    for name, program in (("base", "base"), ("equal", "base"), ("one percent", "head")):
        shutil.copy(target / "release" / program, folder / name)
    return folder


def one(folder: Path, at: int, cpu: int) -> list[tuple[object, ...]]:
    """The run of this number: both kinds in turns, in all situations."""
    kind, situation = KINDS[at % len(KINDS)], SITUATIONS[at // len(KINDS) % len(SITUATIONS)]
    with nullcontext() if situation == "quiet" else neighbour(situation, cpu):
        document, error, _ = run_json(
            "ab", str(folder / "base"), str(folder / kind), "--cpu", str(cpu)
        )
    if document is None:
        return [(situation, kind, name, error, *[""] * 6) for name in ("work", "same")]
    return [(situation, kind, *row(document, result)) for result in document["results"]]


def row(document: dict[str, Any], result: dict[str, Any]) -> tuple[object, ...]:
    """A result of a document."""
    ratio, null = result["ratio"] or {}, result["null"] or {}
    ends = (ratio.get("value"), ratio.get("low"), ratio.get("high"), null.get("value"))
    return (result["name"], result["verdict"], *ends, result["pairs"], document["took_s"])


def rows_of(file: Path) -> list[dict[str, str]]:
    """The results in a file; a line that was cut off does not count."""
    if not file.exists():
        return []
    with file.open(newline="") as stream:
        return [row for row in csv.DictReader(stream) if row["took_s"] is not None]


def keep(line: tuple[object, ...]) -> None:
    """Appends one result."""
    is_new = not KEPT.exists()
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    with KEPT.open("a", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([HEADER, line] if is_new else [line])


def is_equal(line: dict[str, str]) -> bool:
    """Whether both builds have the same code under this name."""
    return line["kind"] == "equal" or line["name"] == "same"


def is_far(line: dict[str, str]) -> bool:
    """Whether a difference of more than half a percent is claimed."""
    return line["verdict"] in CLAIMS and abs(float(line["ratio"]) - 1) > MOST_CLAIMED


def tell(record: Record, rows: list[dict[str, str]]) -> None:
    """What was claimed, and whether that is right."""
    record.csv(HEADER, [tuple(line[name] for name in HEADER) for line in rows])
    lines = []
    for situation in SITUATIONS:
        some = [line for line in rows if line["situation"] == situation]
        equal = [line for line in some if is_equal(line)]
        longer = [line for line in some if not is_equal(line)]
        claimed = sum(line["verdict"] in CLAIMS for line in equal)
        far, found = sum(map(is_far, equal)), sum(line["verdict"] == "slower" for line in longer)
        seconds = sorted(float(line["took_s"] or "nan") for line in longer)
        middle = f"{seconds[len(seconds) // 2]:.1f}" if seconds else ""
        lines.append((situation, len(equal), claimed, far, len(longer), found, middle))
        what = f"{situation}: equal builds claimed beyond half a percent in 1 of 1,000 or less"
        record.target(what, far <= len(equal) / 1_000, f"{far} of {len(equal)}")
        what = f"{situation}: 1 % found in nine of ten"
        record.target(what, found >= FOUND_SHARE * len(longer), f"{found} of {len(longer)}")
    columns = ("situation", "equal", "claimed", "beyond 0.5 %", "1 %", "found", "seconds")
    record.table("Two builds", columns, lines)
