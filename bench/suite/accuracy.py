"""The truth table by Hairspring and its peers side by side, quiet and beside a busy neighbour on
either CPU.

Each tool gets the same CPU, the same priority and the same chains, in its own idiom and by its own
statistics. Every repetition has all pairs of a tool and a neighbour, in a random order.
"""

import csv
import io
import os
import random
import subprocess
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from cases import TRUTH
from harness import BENCH, Record, Settings, measure, median, worst
from neighbour import neighbour, raise_priority

ANCHOR_CYCLES = 30_000
HAIRSPRING = "hairspring"
PEERS = {
    "google-benchmark": "Google Benchmark",
    "nanobench": "nanobench",
    "catch2": "Catch2",
    "criterion": "Criterion",
    "divan": "Divan",
    "tango": "tango",
}
NAMES = {HAIRSPRING: "Hairspring", **PEERS}
# hairspring raises its own priority if allowed, so the peers get the same priority.
ALIKE = ("nice", "-n", "-20") if os.geteuid() == 0 else ()
BODY = "body_30_init_120"
TRUTHS = {case: float(true) for case, (true, _) in TRUTH.items()}
CHAINS = tuple(case for case in TRUTHS if case != BODY)
# What a tool measures where its idiom has no place for an init that is not timed.
MARKS = {
    ("google-benchmark", BODY): "c",
    ("criterion", BODY): "c",
    ("nanobench", BODY): "i",
    ("catch2", BODY): "o",
    ("divan", BODY): "o",
}
LEGEND = (
    "(c): the time includes the reads of the clock. (i): the tool has no init, so the time "
    "includes the init. (o): the",
    "inputs are prepared ahead, so the bodies overlap: the time is their throughput, not 30 "
    "cycles of latency. tango",
    "reports only differences between two builds: its figures are the difference between a chain "
    "of 30 cycles and the",
    "same chain followed by the case (for the last case, between the init and the init with the "
    "body). Peers report",
    "nanoseconds. Their cycles come from an anchor of 30,000 cycles in the same run: a neighbour "
    "that slows the anchor",
    "as much as the case leaves the cycles right and the nanoseconds wrong.",
)
QUIET = "quiet"
SITUATIONS = (QUIET, "busy, other CPU", "busy, same CPU")
TARGET_PERCENT = 0.5


@dataclass(frozen=True)
class Told:
    """One answer of a tool: cycles (NaN: none), its interval if it has one, and whether the tool
    doubts it.
    """

    cycles: float
    low: float = float("nan")
    high: float = float("nan")
    doubted: bool = False
    note: str = ""


@dataclass
class Answers:
    """All answers by situation, tool and case; notes about runs."""

    told: dict[tuple[str, str, str], list[Told]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, situation: str, tool: str, column: dict[str, Told]) -> None:
        """The answers of one run."""
        for case, one in column.items():
            self.told.setdefault((situation, tool, case), []).append(one)

    def of(self, situation: str, tool: str, *cases: str) -> list[tuple[Told, float]]:
        """Answers to these cases, with the error in percent."""
        return [
            (one, 100 * (one.cycles / TRUTHS[case] - 1))
            for case in cases
            for one in self.told.get((situation, tool, case), [])
        ]


def script(tool: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a peer's own script."""
    command = [*ALIKE, str(BENCH / "peers" / tool / "measure")]
    variables = {**os.environ, "HS_CASES": "chains", **environment}
    return subprocess.run(command, capture_output=True, text=True, env=variables)


def failure(tool: str, done: subprocess.CompletedProcess[str]) -> str:
    """Why a script ended with an error, in one line."""
    return (
        f"{NAMES[tool]}: exit {done.returncode}: {' '.join(done.stderr.strip().splitlines()[-1:])}"
    )


def peer(tool: str, cpu: int) -> tuple[dict[str, Told], str]:
    """Cycles of every case by the tool's own anchor, and a note about the anchor."""
    done = script(tool, HS_CPU=str(cpu))
    if done.returncode != 0:
        return {}, failure(tool, done)
    lines = {line["case"]: line for line in csv.DictReader(io.StringIO(done.stdout))}
    first, last = (
        float(lines.pop(anchor)["time_ns"]) for anchor in ("anchor_first", "anchor_last")
    )
    ns_per_cycle = (first + last) / 2 / ANCHOR_CYCLES
    off = 100 * abs(last / first - 1)
    note = f"{NAMES[tool]}: anchors differ by {off:.1f} %" if off > 1 else ""
    return {
        case: peer_told(line, ns_per_cycle) for case, line in lines.items() if case in TRUTHS
    }, note


def peer_told(line: dict[str, str], ns_per_cycle: float) -> Told:
    """A line of a peer's CSV in cycles."""
    value, low, high = (
        float(line[name] or "nan") / ns_per_cycle for name in ("time_ns", "low_ns", "high_ns")
    )
    return Told(value, low, high, "unstable" in line["note"], line["note"])


def hairspring(cpu: int) -> dict[str, Told]:
    """Cycles of every case with the command's default options."""
    answers = {case: measure(*arguments, cpu=cpu) for case, (_, arguments) in TRUTH.items()}
    return {
        case: Told(one.cycles, one.low, one.high, one.untrusted(), one.found())
        for case, one in answers.items()
    }


def beside(situation: str, cpu: int) -> AbstractContextManager[object]:
    """The neighbour of a situation."""
    if situation == QUIET:
        return nullcontext()
    others = sorted(os.sched_getaffinity(0) - {cpu})
    return neighbour("busy", cpu if situation == "busy, same CPU" else others[0])


def built(answers: Answers) -> list[str]:
    """Builds the peers' programs before anything is measured; returns those that can be measured
    here.
    """
    usable = []
    for tool in PEERS:
        done = script(tool, HS_BUILD_ONLY="1")
        if done.returncode == 0:
            usable.append(tool)
        else:
            answers.notes.append(failure(tool, done))
    return usable


def measured(settings: Settings) -> Answers:
    """Everything three times."""
    answers = Answers()
    tools = [HAIRSPRING, *built(answers)]
    alone = len(os.sched_getaffinity(0)) < 2
    situations = [name for name in SITUATIONS if not (alone and name == "busy, other CPU")]
    pairs = [(situation, tool) for situation in situations for tool in tools]
    for at in range(settings.times(3)):
        for situation, tool in random.Random(at).sample(pairs, len(pairs)):
            with beside(situation, settings.cpu):
                column, note = (
                    (hairspring(settings.cpu), "")
                    if tool == HAIRSPRING
                    else peer(tool, settings.cpu)
                )
            answers.add(situation, tool, column)
            answers.notes += [f"repetition {at + 1}, {situation}: {note}"] if note else []
    return answers


def run(record: Record, settings: Settings) -> None:
    """Tables, targets, notes."""
    raise_priority()  # so that the compiler does not starve beside a neighbour of high priority
    answers = measured(settings)
    raw = [
        (
            situation,
            tool,
            case,
            TRUTHS[case],
            at,
            one.cycles,
            one.low,
            one.high,
            int(one.doubted),
            one.note,
        )
        for (situation, tool, case), them in answers.told.items()
        for at, one in enumerate(them)
    ]
    header = (
        "neighbour",
        "tool",
        "case",
        "true_cycles",
        "repetition",
        "cycles",
        "low",
        "high",
        "doubted",
        "note",
    )
    record.csv(header, raw)
    in_cycles(record, answers)
    side_by_side(record, answers)
    targets(record, answers)
    record.say("", *(f"- {note}" for note in answers.notes))


def in_cycles(record: Record, answers: Answers) -> None:
    """The long table: every case by every tool beside every neighbour."""
    rows = [
        [case, f"{true:.0f}", situation, *(cell(answers, situation, tool, case) for tool in NAMES)]
        for case, true in TRUTHS.items()
        for situation in SITUATIONS
    ]
    title = "Cycles: median (worst error)"
    record.table(title, ("case", "truth", "neighbour", *NAMES.values()), rows)
    record.say(*LEGEND)


def cell(answers: Answers, situation: str, tool: str, case: str) -> str:
    """One cell of the long table."""
    them = answers.of(situation, tool, case)
    if not them:
        return ""
    errors = [error for _, error in them if error == error]
    figures = f"{middle(them):.3f} ({worst(errors):+.2f} %)" if errors else ""
    return ", ".join(filter(None, (figures + mark(tool, case), *unusable(them))))


def side_by_side(record: Record, answers: Answers) -> None:
    """The short table: the worst error of every tool."""
    rows = [
        [
            name,
            *(extent(answers.of(situation, tool, *CHAINS)) for situation in SITUATIONS),
            cell(answers, QUIET, tool, BODY),
        ]
        for tool, name in NAMES.items()
    ]
    title = (
        "Error on the five chains: worst (median), without the answers that the tool itself doubts"
    )
    record.table(title, ("tool", *SITUATIONS, "body of 30 after an init of 120, quiet"), rows)


def middle(them: list[tuple[Told, float]]) -> float:
    """Median of the answers in cycles."""
    return median(one.cycles for one, _ in them)


def mark(tool: str, case: str) -> str:
    """The mark that the legend explains."""
    return f" ({MARKS[tool, case]})" if (tool, case) in MARKS else ""


def unusable(them: list[tuple[Told, float]]) -> list[str]:
    """How many answers the tool doubts, and how many runs gave no cycles."""
    absent = sum(error != error for _, error in them)
    doubted = sum(one.doubted and error == error for one, error in them)
    counts = ((doubted, "doubted"), (absent, "without cycles"))
    return [f"{count} of {len(them)} {what}" for count, what in counts if count]


def undoubted(them: Iterable[tuple[Told, float]]) -> list[float]:
    """Errors of the answers that the tool gives without a doubt."""
    return [error for one, error in them if not one.doubted and error == error]


def extent(them: list[tuple[Told, float]]) -> str:
    """Worst and median error, and how many answers are doubted or absent."""
    errors = undoubted(them)
    figures = f"{worst(errors):+.2f} % ({median(map(abs, errors)):.2f} %)" if errors else ""
    return ", ".join(filter(None, (figures, *unusable(them))))


def targets(record: Record, answers: Answers) -> None:
    """For every tool: the chains beside every neighbour, and the body after an init."""
    for tool, name in NAMES.items():
        for situation in SITUATIONS:
            judged(
                record, f"{name}, {situation}: every chain", answers.of(situation, tool, *CHAINS)
            )
        judged(record, f"{name}, {QUIET}: the body after an init", answers.of(QUIET, tool, BODY))


def judged(record: Record, what: str, them: list[tuple[Told, float]]) -> None:
    """One target; nothing without answers. It is missed if the tool doubts all of them."""
    if them:
        errors = undoubted(them)
        reached = bool(errors) and all(abs(error) <= TARGET_PERCENT for error in errors)
        record.target(
            f"{what} that it does not doubt within {TARGET_PERCENT} %", reached, extent(them)
        )
