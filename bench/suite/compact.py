"""Cuts collected tables to the first rounds of each placement, so that a repository can keep them.

usage: compact.py TO FROM...    folders of tables, each with an index.csv; TO is a folder for each
                                machine
"""

import csv
import lzma
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path

from corpus_cases import CASES, LENGTH, LOOP
from harness import COMMAND

INDEX = "index.csv"
TRUTHS = "truths.csv"
PLACEMENT = "# placement:"
# Most bytes of a table, of one with `PLACED` placements or more, and of all tables of a machine.
# The most placements.
TABLE_BYTES, PLACED_BYTES, MACHINE_BYTES = 6_000, 12_000, 1_900_000
PLACED, MOST_PLACED = 3, 4
# A table that fills its limit by this share is large enough.
FILLED = 0.97
# The best compression, with a small dictionary: a large one takes longer to prepare than these
# tables to pack.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 20}]


class BadCorpus(Exception):
    """A folder of tables that cannot be used; the text says why."""


@dataclass(frozen=True)
class Entry:
    """A line of an index. A table of unknown truth has no cycles."""

    file: str
    case: str
    cycles: str = ""
    init: str = ""
    situation: str = "idle"
    shows: str = ""
    truth_from: str = ""
    half: str = ""
    rounds: str = ""
    cpu_model: str = ""


def entries(folder: Path) -> list[Entry]:
    """The lines of a folder's index that name a table. Columns that this version does not know
    are not read.
    """
    path = folder / INDEX
    if not path.is_file():
        raise BadCorpus(
            f"{folder.name}/{INDEX} does not exist: collect tables with bench/run corpus"
        )
    names = {field.name for field in fields(Entry)}
    with path.open(newline="", encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    if lines and not {"file", "case"} <= set(lines[0]):
        raise BadCorpus(f"{folder.name}/{INDEX} has no columns `file` and `case`")
    return [
        Entry(**{name: line[name] or "" for name in line if name in names})
        for line in lines
        if line["file"]
    ]


def write_index(folder: Path, lines: Iterable[Entry]) -> None:
    """Writes the index of a folder."""
    names = [field.name for field in fields(Entry)]
    with (folder / INDEX).open("w", newline="", encoding="utf-8") as stream:
        out = csv.writer(stream, lineterminator="\n")
        out.writerows([names, *([getattr(line, name) for name in names] for line in lines)])


def unpacked(path: Path) -> str:
    """The text of a table."""
    try:
        return lzma.decompress(path.read_bytes()).decode()
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as problem:
        raise BadCorpus(f"{path.parent.name}/{path.name} cannot be read: {problem}") from problem


def packed(text: str) -> bytes:
    """A table as it is kept."""
    return lzma.compress(text.encode(), filters=FILTERS)


@dataclass(frozen=True)
class Rounds:
    """The lines of a table: keys and header, and the readings of each round."""

    head: list[str]
    column: int
    readings: dict[int, list[list[str]]]

    def placements(self) -> list[int]:
        """The first rounds of the placements, in their order, and the end of the last one."""
        starts = {int(line.split(":")[1]) for line in self.head if line.startswith(PLACEMENT)}
        return sorted({0, *starts, max(self.readings) + 1})

    def kept(self, rounds: int) -> dict[int, int]:
        """So many first rounds of each placement, and their numbers without the others."""
        places = list(pairwise(self.placements()))[:MOST_PLACED]
        kept = (one for begin, end in places for one in range(begin, min(begin + rounds, end)))
        return {old: new for new, old in enumerate(kept)}

    def start(self, rounds: int) -> bytes:
        """These rounds as a table, packed."""
        numbers, column = self.kept(rounds), self.column
        lines = [line for line in self.head if not line.startswith(PLACEMENT)]
        lines[1:1] = [f"{PLACEMENT} {numbers[at]}" for at in self.placements() if numbers.get(at)]
        for old, new in numbers.items():
            lines += [
                ",".join([*cells[:column], str(new), *cells[column + 1 :]])
                for cells in self.readings.get(old, [])
            ]
        return packed("\n".join(lines) + "\n")


def parsed(text: str) -> Rounds:
    """The rounds of a table."""
    lines = text.splitlines()
    header, *rows = [line.split(",") for line in lines if line and not line.startswith("#")] or [[]]
    if "round" not in header or not rows:
        raise BadCorpus("the table has no readings with a column `round`")
    column, readings = header.index("round"), dict[int, list[list[str]]]()
    for cells in rows:
        readings.setdefault(int(cells[column]), []).append(cells)
    return Rounds(
        [*(line for line in lines if line.startswith("#")), ",".join(header)], column, readings
    )


def cut(text: str) -> tuple[bytes, int]:
    """As many first rounds of each placement as the table's limit holds, packed, and the number
    of all.
    """
    table = parsed(text)
    limit = PLACED_BYTES if len(table.placements()) > PLACED else TABLE_BYTES
    low, high, guess, size = 1, max(table.readings) + 2, 16, 0
    while high - low > 1 and not FILLED * limit <= size <= limit:
        middle = min(max(guess, low + 1), high - 1)
        size = len(table.start(middle))
        low, high = (middle, high) if size <= limit else (low, middle)
        guess = middle * limit // size
    return table.start(low), len(table.kept(low))


def is_solved(table: bytes) -> bool:
    """Whether `fit` takes the table."""
    done = subprocess.run(
        [COMMAND, "fit", "--json", "-"], input=lzma.decompress(table), capture_output=True
    )
    return done.returncode in (0, 3)


def truths(folders: Iterable[Path]) -> dict[str, tuple[str, str]]:
    """Cycles of the cases that loops showed, and half of their range."""
    known: dict[str, tuple[str, str]] = {}
    for folder in folders:
        if (folder / TRUTHS).is_file():
            with (folder / TRUTHS).open(newline="", encoding="utf-8") as stream:
                known |= {
                    line["case"]: (line["cycles"], line["half"]) for line in csv.DictReader(stream)
                }
    return known


def completed(line: Entry, known: dict[str, tuple[str, str]]) -> Entry:
    """A line with what this version knows of its case."""
    case = CASES.get(line.case)
    line = replace(line, shows=line.shows or (case.shows if case else "chain"))
    if case and case.cycles is not None:
        return replace(line, cycles=f"{case.cycles:g}", truth_from=LENGTH)
    if line.case in known:
        cycles, half = known[line.case]
        return replace(line, cycles=cycles, half=half, truth_from=LOOP)
    source = line.truth_from or (LOOP if case else LENGTH)
    return replace(line, truth_from=source if line.cycles else "")


def in_turns(folders: Iterable[Path]) -> list[tuple[Path, Entry]]:
    """All tables: the first one of each case and situation, then the second ones, and so on."""
    seen: dict[tuple[str, str], int] = {}
    ranked: list[tuple[int, int, Path, Entry]] = []
    for folder in folders:
        for line in sorted(entries(folder), key=lambda line: line.file):
            rank = seen[line.case, line.situation] = seen.get((line.case, line.situation), 0) + 1
            ranked.append((rank, len(ranked), folder, line))
    return [(folder, line) for _, _, folder, line in sorted(ranked, key=lambda one: one[:2])]


def compact(to: Path, folders: Sequence[Path]) -> list[Entry]:
    """Fills a folder with cut tables until its limit is reached."""
    to.mkdir(parents=True, exist_ok=True)
    for old in to.glob("*.csv.xz"):
        old.unlink()
    known, used, kept = truths(folders), 0, list[Entry]()
    for folder, line in in_turns(folders):
        table, rounds = cut(unpacked(folder / line.file))
        alike = sum((k.case, k.situation) == (line.case, line.situation) for k in kept)
        name = f"{line.case}.{line.situation}.{alike}"
        if used + len(table) > MACHINE_BYTES:
            break
        if not is_solved(table):
            continue
        used += len(table)
        (to / f"{name}.csv.xz").write_bytes(table)
        kept.append(replace(completed(line, known), file=f"{name}.csv.xz", rounds=str(rounds)))
    write_index(to, sorted(kept, key=lambda line: line.file))
    return kept


if __name__ == "__main__":
    destination, *sources = map(Path, sys.argv[1:])
    print(f"{len(compact(destination, sources))} tables")
