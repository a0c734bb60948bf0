"""Equal pieces of code as alternatives, in runs of the default length: how often a difference is
claimed.

`bench/run nulls` first runs 10,000 simulated nulls with a look whenever the readings have doubled,
then real ones, in turns and in three surroundings. Every real result is appended to
`target/nulls.csv` as it is made, so a run that was stopped goes on where it was; `--pool FILE...`
counts such files of several machines together, and runs nothing.
"""

import csv
import os
import subprocess
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

from harness import BENCH, Record, Settings, machine_name, measure
from neighbour import neighbour
from same import APART_IN_MEMORY, PAIRS

# Real nulls on each machine.
USUAL_RUNS = 300
MOST_PERCENT = 1.0
SITUATIONS = ("quiet", "busy", "bursty")
HEADER = (
    "machine",
    "binary",
    "situation",
    "pair",
    "verdict",
    "ratio",
    "low",
    "high",
    "wall_s",
    "findings",
)
KEPT = BENCH / "target" / "nulls.csv"
ALIKE = tuple(name for name in PAIRS if name not in APART_IN_MEMORY)
CLAIMS = ("faster", "slower")


def run(record: Record, settings: Settings) -> None:
    """The simulated nulls, then real ones until there are enough of this machine."""
    if settings.pool:
        tell(record, [row for file in settings.pool for row in rows_of(file)])
        return
    simulated(record)
    usual, machine, binary = settings.times(USUAL_RUNS), machine_name(), stamp()
    mine = [row for row in rows_of(KEPT) if row["machine"] == machine and row["binary"] == binary]
    for at in range(len(mine), usual):
        keep((machine, binary, *null(at, settings.cpu)))
    tell(
        record,
        [row for row in rows_of(KEPT) if row["machine"] == machine and row["binary"] == binary],
    )


def null(at: int, cpu: int) -> tuple[object, ...]:
    """The null of this number: the pairs in turns, and each in all situations."""
    name, kind = ALIKE[at % len(ALIKE)], SITUATIONS[at // len(ALIKE) % len(SITUATIONS)]
    with nullcontext() if kind == "quiet" else neighbour(kind, cpu):
        one = measure(*PAIRS[name], cpu=cpu)
    return (kind, name, one.verdict or "error", *one.ratio, one.wall_s, one.found())


def stamp() -> str:
    """What tells one build of the command from another."""
    state = Path(os.environ["HAIRSPRING"]).stat()
    return f"{state.st_size}-{int(state.st_mtime)}"


def rows_of(file: Path) -> list[dict[str, str]]:
    """The results in a file; none if there is no file yet. A line that was cut off does not
    count.
    """
    if not file.exists():
        return []
    with file.open(newline="") as stream:
        return [row for row in csv.DictReader(stream) if row["findings"] is not None]


def keep(row: tuple[object, ...]) -> None:
    """Appends one result."""
    is_new = not KEPT.exists()
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    with KEPT.open("a", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([HEADER, row] if is_new else [row])


def tell(record: Record, rows: list[dict[str, str]]) -> None:
    """The verdicts of each situation and pair, and whether claims are rare enough."""
    record.csv(HEADER, [tuple(row[name] for name in HEADER) for row in rows])
    keys = sorted({(row["situation"], row["pair"]) for row in rows})
    words = ("no_difference", *CLAIMS, "undecided", "error")
    lines = []
    for key in keys:
        count = Counter(row["verdict"] for row in rows if (row["situation"], row["pair"]) == key)
        lines.append((*key, *(count[word] for word in words)))
    record.table("Real nulls", ("situation", "pair", *words), lines)
    for situation in SITUATIONS:
        some = [row for row in rows if row["situation"] == situation and row["verdict"] != "error"]
        claims = sum(row["verdict"] in CLAIMS for row in some)
        what = f"{situation}: a difference in {MOST_PERCENT:.0f} % or less"
        record.target(what, claims <= len(some) * MOST_PERCENT / 100, f"{claims} of {len(some)}")


def simulated(record: Record) -> None:
    """10,000 nulls of each noise, by the real loop on a simulated clock."""
    command = [
        "cargo",
        "test",
        "--quiet",
        "--release",
        "-p",
        "hairspring-measure",
        "--test",
        "nulls",
        "--",
    ]
    done = subprocess.run(
        [*command, "--ignored", "--nocapture"], cwd=BENCH.parent, capture_output=True, text=True
    )
    said = [line for line in done.stdout.splitlines() if "nulls" in line and "%" in line]
    record.say(*(f"- {line}" for line in said))
    record.target(
        "simulated: a difference in 1 % or less",
        done.returncode == 0,
        f"{len(said)} kinds of noise",
    )
