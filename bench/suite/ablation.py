"""What each stage of the estimator is worth: all tables, solved with one stage taken away at a
time.
"""

import json
import resource
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import report
from effects import Effect, Judged, Pair, effect
from harness import COMMAND, ROOT, Record, Settings, figure, machine_name, refusal
from tables import Table, Truth, all_tables

PAGE = ROOT / "docs/ablation.md"
WRONG_USAGE = 2


class RefusedStage(Exception):
    """The command does not solve a table without this stage: there is no result without it, or
    no such stage.
    """


@dataclass
class Solved:
    """The results of one table, a stage taken away or not: one for each truth, and the CPU time
    of the command.
    """

    judged: list[Judged | None]
    seconds: float
    stages: dict[str, bool] = field(default_factory=dict)


def cpu_seconds() -> float:
    """CPU time of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def document(text: str, stage: str | None) -> dict[str, Any] | None:
    """What `fit` says of a table; None if it refuses it."""
    without = ("--without", stage) if stage else ()
    command = (COMMAND, "fit", "--json", *without, "-")
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)
    if done.returncode == WRONG_USAGE and stage:
        raise RefusedStage(f"{stage}: {refusal(done.returncode, done.stderr)}")
    if done.returncode not in (0, 3):
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def judged(found: dict[str, Any], truth: Truth) -> Judged | None:
    """One result beside its truth; None if there is none."""
    results = found["results"]
    result = next((one for one in results if truth.series in ("", one["name"])), None)
    if result is None or not result["components"]:
        return None
    parts = result["components"]
    part = parts.get(truth.component) if truth.component else next(iter(parts.values()))
    value, low, high = figure(part.get(truth.unit)) if part else figure(None)
    if value != value:
        return None
    known = truth.value == truth.value
    size = abs(truth.value if known else value)
    holds = low <= truth.value + truth.half and high >= truth.value - truth.half if known else None
    trusted = not any(one["severity"] == "untrusted" for one in result["findings"])
    off = max(0.0, abs(value - truth.value) - truth.half) / size if known else float("nan")
    return Judged(off, (high - low) / 2 / size, holds, trusted)


def solved(table: Table, stage: str | None = None) -> Solved:
    """A table, solved without a stage or with all of them."""
    begin = cpu_seconds()
    found = document(table.text, stage)
    seconds = cpu_seconds() - begin
    if found is None:
        return Solved([None] * len(table.truths), seconds)
    acted: dict[str, bool] = {}
    for one in (one for result in found["results"] for one in result.get("stages", [])):
        acted[one["stage"]] = acted.get(one["stage"], False) or one["acted"]
    return Solved([judged(found, truth) for truth in table.truths], seconds, acted)


@dataclass
class Counted:
    """All pairs of a stage and a kind of tables."""

    pairs: list[Pair] = field(default_factory=list)
    with_s: float = 0.0
    without_s: float = 0.0

    def add(self, old: Solved, new: Solved) -> None:
        """Adds a table. A result that is missing with all stages compares with nothing."""
        self.pairs += [
            (one, other) for one, other in zip(old.judged, new.judged, strict=True) if one
        ]
        self.with_s += old.seconds
        self.without_s += new.seconds

    def effect(self) -> Effect:
        """All of them, summed up."""
        return effect(self.pairs, (self.with_s, self.without_s))


@dataclass
class Ablation:
    """The effects of all stages on all kinds of tables, and the source of each kind."""

    effects: dict[str, dict[str, Effect]]
    sources: dict[str, str]
    acted: dict[str, int]
    needed: list[str]
    tables: int

    def machines(self) -> list[str]:
        """The machines whose tables were collected."""
        return sorted(set(self.sources.values()) - {"vectors", "simulated", "handed"})

    def paying(self, stage: str, kinds: Iterable[str]) -> dict[str, list[str]]:
        """The kinds of tables on which a stage pays, with the reasons."""
        found = {kind: self.effects[stage][kind].reasons() for kind in kinds}
        return {kind: reasons for kind, reasons in found.items() if reasons}

    def of(self, machine: str) -> list[str]:
        """The kinds of tables of a machine."""
        return [kind for kind, source in self.sources.items() if source == machine]

    def but(self, machine: str) -> list[str]:
        """All other kinds."""
        return [kind for kind, source in self.sources.items() if source != machine]


def optional(table: Table, stages: Iterable[str]) -> tuple[list[str], list[str]]:
    """The stages that can be taken away, and those that cannot. None of the first kind is an
    error of the command.
    """
    can, needed, refused = list[str](), list[str](), RefusedStage("the table has no stages")
    for stage in stages:
        try:
            solved(table, stage)
            can.append(stage)
        except RefusedStage as problem:
            refused = problem
            needed.append(stage)
    if not can:
        raise refused
    return can, needed


def ablate(tables: Iterable[Table]) -> Ablation:
    """Solves all tables with all stages, and without each that can be taken away."""
    counted: dict[str, dict[str, Counted]] = {}
    found = Ablation({}, {}, {}, [], 0)
    for table in tables:
        old = solved(table)
        found.tables += 1
        found.sources |= dict.fromkeys(table.kinds, table.source)
        if not counted and old.stages:
            can, found.needed = optional(table, old.stages)
            counted = {stage: {} for stage in can}
        for stage, kinds in counted.items():
            found.acted[stage] = found.acted.get(stage, 0) + old.stages.get(stage, False)
            new = solved(table, stage)
            for kind in table.kinds:
                kinds.setdefault(kind, Counted()).add(old, new)
    for stage, kinds in counted.items():
        found.effects[stage] = {kind: kinds.get(kind, Counted()).effect() for kind in found.sources}
    return found


def run(record: Record, _: Settings) -> None:
    """Writes the page, and keeps the figures."""
    found = ablate(all_tables())
    page = report.page(found, f"{machine_name()}, {date.today().isoformat()}")
    PAGE.write_text(page, encoding="utf-8")
    record.say(*page.splitlines())
    record.csv(report.COLUMNS, report.rows(found))
    pays = [stage for stage in found.effects if found.paying(stage, found.sources)]
    record.figures.append(f"{found.tables} tables, {len(found.effects)} stages, {len(pays)} pay")
