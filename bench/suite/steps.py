"""What each step against a neighbour on the core is worth: the same tables, solved with one step taken away at a time.

Each table is measured once, beside a neighbour or not, and saved. Then a part of the saved file is removed, and `fit`
solves what is left. So all lines of a table come from the same readings.
"""

import json
import math
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cases import CHAINS
from harness import COMMAND, Record, Settings, figure, measure, median, share, worst
from neighbour import situation

# Cycles of the chains, which all processors so far have in common.
LENGTHS = {"imul": 3, "add": 1, "xor": 1, "xor+imul": 4, "xor+imul+xor": 5}
REFERENCE_CYCLES = 3
BUDGET = ("--budget", "240ms")
LONGEST_ROW = 256
NEAR_PERCENT = 0.3
SITUATIONS = ("quiet", "busy, other CPU", "bursty, other CPU", "bursty, same CPU")

Lines = list[str]


def body(lines: Lines) -> Iterator[tuple[int, list[str]]]:
    """Place and cells of every reading."""
    for at, line in enumerate(lines):
        cells = line.split(",")
        if not line.startswith("#") and len(cells) == 6 and cells[0] != "series":
            yield at, cells


def kept(lines: Lines, keep: Callable[[list[str]], bool]) -> Lines:
    """The file without some readings."""
    dropped = {at for at, cells in body(lines) if not keep(cells)}
    return [line for at, line in enumerate(lines) if at not in dropped]


def without_guards(lines: Lines) -> Lines:
    """No reading has a guard."""
    changed = list(lines)
    for at, cells in body(lines):
        changed[at] = ",".join([*cells[:4], "", cells[5]])
    return changed


def without_controls(lines: Lines) -> Lines:
    """No chain of known length but the reference."""
    return kept([line for line in lines if not line.startswith("# control")], lambda cells: "control" not in cells[0])


def without_long_rows(lines: Lines) -> Lines:
    """Rows of at most 256 copies."""
    return kept(lines, lambda cells: int(cells[1]) <= LONGEST_ROW)


def without_more_time(lines: Lines) -> Lines:
    """The first third of the rounds."""
    last = max(int(cells[2]) for _, cells in body(lines))
    return kept(lines, lambda cells: 3 * int(cells[2]) <= last)


def without_levels(lines: Lines) -> Lines:
    """No series shows the core clock, so readings are neither pooled by its levels nor chosen by their guards."""
    named = ("# reference", "# control")
    return without_guards([line for line in lines if not line.startswith(named)])


STEPS: dict[str, Callable[[Lines], Lines]] = {
    "all steps": list,
    "R1, R3, R4: no levels, guards or joint fit": without_levels,
    "R2: no rows above 256 copies": without_long_rows,
    "R3: no guards": without_guards,
    "R5: no bound by control chains": without_controls,
    "R6: a third of the time": without_more_time,
}


def solved(lines: Lines) -> dict[str, Any]:
    """The document of `fit`."""
    done = subprocess.run([COMMAND, "fit", "-", "--json"], input="\n".join(lines), capture_output=True, text=True)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"fit: exit {done.returncode}: {done.stderr.strip()[:300]}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def cycles(document: dict[str, Any]) -> tuple[tuple[float, float, float], bool]:
    """Cycles of the code with their interval, and whether they are trusted."""
    results = {result["name"]: result for result in document["results"]}
    code = next(iter(document["results"]))
    trusted = not any(finding["severity"] == "untrusted" for finding in code["findings"])
    component = next(iter(code["components"].values()))
    if component["cycles"] or "reference" not in results:
        return figure(component["cycles"]), trusted
    reference = next(iter(results["reference"]["components"].values()))
    return ratio(figure(component["time_ns"]), figure(reference["time_ns"])), trusted


def ratio(code: tuple[float, float, float], reference: tuple[float, float, float]) -> tuple[float, float, float]:
    """Cycles by the ratio to the reference chain; the two half-widths combine in quadrature."""
    value = REFERENCE_CYCLES * code[0] / reference[0]
    half = value * math.hypot((code[2] - code[1]) / 2 / code[0], (reference[2] - reference[1]) / 2 / reference[0])
    return value, value - half, value + half


def table_of(chain: str, cpu: int, folder: Path) -> Lines:
    """The saved readings of a chain, measured once."""
    path = folder / "observations.csv"
    answer = measure(*CHAINS[chain], *BUDGET, "--save", str(path), cpu=cpu)
    if answer.error:
        raise RuntimeError(f"time: {answer.error}")
    return path.read_text().splitlines()


def run(record: Record, settings: Settings) -> None:
    """Every chain several times beside every neighbour, each table solved with each step taken away."""
    raw: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in SITUATIONS:
            with situation(name, settings.cpu):
                tables = [
                    (c, table_of(c, settings.cpu, Path(folder))) for _ in range(settings.times(6)) for c in LENGTHS
                ]
            raw += [line for chain, table in tables for line in lines_of(name, chain, table)]
    record.csv(("neighbour", "step", "chain", "cycles", "low", "high", "truth", "trusted"), raw)
    for name in SITUATIONS:
        tell(record, name, [line for line in raw if line[0] == name])


def lines_of(name: str, chain: str, table: Lines) -> Iterator[tuple[object, ...]]:
    """A line of the record for each step."""
    for step, change in STEPS.items():
        values, trusted = cycles(solved(change(table)))
        yield (name, step, chain, *values, LENGTHS[chain], trusted)


def tell(record: Record, name: str, raw: list[tuple[object, ...]]) -> None:
    """The table of a neighbour."""
    header = (
        "taken away",
        "off, median",
        "off, worst",
        "within 0.3 %",
        "covered",
        "half-width",
        "trusted",
        "worst trusted",
    )
    rows = [summary(step, [line[3:] for line in raw if line[1] == step]) for step in STEPS]
    record.table(f"{name}: {len(raw) // len(STEPS)} tables", header, rows)


def summary(step: str, lines: list[tuple[Any, ...]]) -> tuple[str, ...]:
    """A row of that table: value, low, high, truth and trust of each line."""
    known = [line for line in lines if line[0] == line[0]]
    off = [100 * (value / truth - 1) for value, _, _, truth, _ in known]
    halves = [50 * (high - low) / value for value, low, high, _, _ in known]
    trusted = [100 * (value / truth - 1) for value, _, _, truth, trust in known if trust]
    return (
        step,
        f"{median(map(abs, off)):.3f} %",
        f"{worst(off):+.2f} %",
        f"{share(abs(x) <= NEAR_PERCENT for x in off):.0f} %",
        f"{share(low <= truth <= high for _, low, high, truth, _ in known):.0f} %",
        f"{median(halves):.3f} %",
        f"{len(trusted)} of {len(lines)}",
        f"{worst(trusted):+.2f} %" if trusted else "",
    )
