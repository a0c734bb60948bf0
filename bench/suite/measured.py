"""The last table of docs/measured.md: each run of a benchmark is a row with date, machine,
command and figures.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from statistics import median

HEADER = "| date | machine | command | figures |"
LONGEST_CELL = 1200


class NoTable(Exception):
    """The page does not end with the table of runs."""


def cell(text: str) -> str:
    """Text as the cell of a Markdown table."""
    plain = " ".join(text.split()).replace("|", "\\|")
    return plain if len(plain) <= LONGEST_CELL else plain[:LONGEST_CELL].rstrip("\\ ") + " ..."


def row(day: date, machine: str, command: str, figures: Iterable[str]) -> str:
    """A row of the table."""
    said = "; ".join(figures) or "no figures"
    return f"| {day.isoformat()} | {cell(machine)} | `{cell(command)}` | {cell(said)} |"


def spread(what: str, values: Sequence[float], unit: str = "") -> str:
    """A figure with its spread: median, least and most."""
    known = [value for value in values if value == value]
    if not known:
        return f"{what}: none"
    ends = f"{min(known):.3g} to {max(known):.3g}"
    return f"{what}: {median(known):.3g}{unit} in the median of {len(known)} ({ends})"


def append(page: Path, line: str) -> None:
    """Adds a row to the table that the page ends with."""
    text = page.read_text(encoding="utf-8").rstrip()
    table = text.rpartition("\n\n")[2]
    if not table.startswith(HEADER):
        raise NoTable(f"{page.name} must end with a table that begins with: {HEADER}")
    page.write_text(f"{text}\n{line}\n", encoding="utf-8")
