"""All tables that `ablation` solves, with what is true of them: corpora, vectors, simulated and
handed tables.
"""

import csv
import gzip
import lzma
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import simulated
from compact import BadCorpus, completed, entries, truths, unpacked
from harness import COMMAND, ROOT

CORPUS = ROOT / "corpus"
# Folders of full tables, as MACHINE=FOLDER with `:` between them, and a folder of handed cases; or
# nothing.
FULL, HANDED_CASES = os.environ.get("FULL_TABLES", ""), os.environ.get("HANDED_CASES", "")
VECTORS = ROOT / "spec/vectors"
UNKNOWN = float("nan")


@dataclass(frozen=True)
class Truth:
    """What a component takes: by the names of series and component (empty: the first one), and
    half of its range.
    """

    value: float
    half: float = 0.0
    unit: str = "cycles"
    series: str = ""
    component: str = ""


@dataclass(frozen=True)
class Table:
    """A table: where it comes from, the kinds that it is counted in, its text, and its truths."""

    source: str
    kinds: tuple[str, ...]
    name: str
    text: str
    truths: tuple[Truth, ...]


def number(text: str) -> float:
    """A cell of an index."""
    return float(text) if text else UNKNOWN


def of_corpus(folder: Path, source: str, note: str = "") -> Iterator[Table]:
    """The tables of a machine."""
    known = truths([folder])
    for line in entries(folder):
        entry = completed(line, known)
        first = Truth(number(entry.cycles), number(entry.half or "0"))
        init = (Truth(number(entry.init), component="init"),) if entry.init else ()
        kinds = (f"{source}{note}: {entry.situation}", f"{source}{note}: {entry.shows}")
        yield Table(source, kinds, entry.file, unpacked(folder / entry.file), (first, *init))


def full_folders(text: str) -> list[tuple[str, Path]]:
    """Machines and folders of a list `MACHINE=FOLDER:...`."""
    pairs = [one.partition("=") for one in text.split(":") if one]
    unnamed = [machine for machine, _, folder in pairs if not folder]
    if unnamed:
        raise BadCorpus(f"FULL_TABLES has {unnamed[0]}, which is not MACHINE=FOLDER")
    return [(machine, Path(folder)) for machine, _, folder in pairs]


def corpora(corpus: Path = CORPUS, full: str = FULL) -> Iterator[Table]:
    """The corpus of this project, and full tables elsewhere."""
    machines = sorted(path for path in corpus.iterdir() if path.is_dir()) if corpus.is_dir() else []
    if not machines:
        raise BadCorpus(
            f"{corpus.name}/ has no folder of a machine: collect tables with bench/run corpus"
        )
    for folder in machines:
        yield from of_corpus(folder, folder.name)
    for machine, folder in full_folders(full):
        yield from of_corpus(folder, machine, ", full")


def of_vectors(folder: Path = VECTORS) -> Iterator[Table]:
    """The golden vectors. What is expected of them stands for the truth."""
    known: dict[str, list[Truth]] = {}
    with (folder / "expected.csv").open(newline="", encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            if line["below_resolution"] == "0":
                unit = "time_ns" if line["unit"] == "ns" else line["unit"]
                truth = Truth(float(line["value"]), 0, unit, line["series"], line["component"])
                known.setdefault(line["file"], []).append(truth)
    for name, them in known.items():
        yield Table("vectors", ("vectors",), name, (folder / name).read_text(), tuple(them))


def of_simulations() -> Iterator[Table]:
    """Made-up tables."""
    for at, (kind, text, cycles) in enumerate(simulated.tables()):
        yield Table("simulated", (f"simulated: {kind}",), f"simulated.{at}", text, (Truth(cycles),))


# Files that the handed scripts make: ticks of each series. `more.py` makes `slow.csv`, too.
HANDED: dict[str, dict[str, float]] = {
    "calm.csv": {"code": 100},
    "slow.csv of more": {"a": 100, "b": 100 + 0.006 / 9 * 3200},
    "slow.csv of slow2": {"a": 100, "b": 100 + 0.00125 * 1400},
    "short-long.csv": {"short": 100, "long": 8000},
    "long-long.csv": {"one": 8000, "other": 8000},
    "edge.csv": {"longest_2.7_apart": 3375, "longest_2.4_apart": 3000},
}
KEEPER = (
    '#!/bin/sh\nfor file; do :; done\ncp "$file" "$KEPT/$(ls "$KEPT" | wc -l).$(basename '
    '"$file")"\nexec "{}" "$@"\n'
)


def rate_of(text: str) -> float:
    """Ticks in a second, as the head of a table says."""
    return float(
        next(line for line in text.splitlines() if line.startswith("# rate_hz")).split(":")[1]
    )


def of_scripts(folder: Path) -> Iterator[Table]:
    """What handed scripts make: each calls a command with a table, and that keeps a copy first."""
    for script in sorted(folder.glob("*.py")):
        with tempfile.TemporaryDirectory() as place:
            kept, keeper = Path(place, "kept"), Path(place, "keeper")
            kept.mkdir()
            keeper.write_text(KEEPER.format(COMMAND))
            keeper.chmod(0o755)
            given = {**os.environ, "KEPT": str(kept)}
            subprocess.run(
                [sys.executable, script, keeper],
                cwd=place,
                env=given,
                capture_output=True,
                timeout=300,
            )
            for path in sorted(kept.iterdir()):
                name = path.name.partition(".")[2]
                known = HANDED.get(name) or HANDED.get(f"{name} of {script.stem}", {})
                text = path.read_text()
                them = tuple(
                    Truth(t / rate_of(text) * 1e9, 0, "time_ns", s) for s, t in known.items()
                )
                yield Table(
                    "handed", (f"handed: {script.stem}",), f"{script.stem} {path.name}", text, them
                )


# Handed tables beside a neighbour, and the cycles that their code takes on a quiet core.
BESIDE = {"c04": 1.0, "ports": 1.0, "c05": UNKNOWN}


def of_handed(folder: Path) -> Iterator[Table]:
    """Handed tables of wrong answers that were trusted."""
    for name, cycles in BESIDE.items():
        for path in sorted((folder / name).glob("*.csv.*")):
            opened = gzip.open if path.suffix == ".gz" else lzma.open
            with opened(path, "rt") as stream:
                text = str(stream.read())
            yield Table(
                "handed", (f"handed: {name}",), f"{name} {path.name}", text, (Truth(cycles),)
            )


def all_tables() -> Iterator[Table]:
    """All of them. Full and handed tables are left out where no variable names their folders."""
    yield from corpora()
    yield from of_vectors()
    yield from of_simulations()
    if HANDED_CASES:
        yield from of_scripts(Path(HANDED_CASES, "estimator"))
        yield from of_handed(Path(HANDED_CASES, "trusted-wrong"))
