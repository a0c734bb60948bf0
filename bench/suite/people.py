"""A hundred pieces of code that people asked about in public, by `hairspring time` and by
independent loops.
"""

import os
import tempfile
from pathlib import Path

import people_core
import people_memory
from harness import Answer, Record, Settings, measure, median
from loops import off_percent
from neighbour import neighbour
from people_case import Person, Truth, arguments, truth

PERSONS: tuple[Person, ...] = (*people_memory.CASES, *people_core.CASES)
# An answer is right if it is trusted and so near to what the loops take, or has it in its interval.
NEAR_PERCENT = 5.0
WANTED, WANTED_BUSY = 85, 60
RIGHT, TOLD, WRONG, DOUBTED, ERROR = "right", "off, told why", "wrong", "doubted", "error"
# Findings that say why a loop may take another time.
REASONS = (
    "work_changed optimised_away through_memory contended walk_restarts branch_restarts "
    "values_restart layouts_differ "
    "other_placements other_code one_thread settles slow_evaluations non_linear depends_on_values "
    "denormals "
    "wide_interval"
).split()


def near(value: float, loops: Truth) -> bool:
    """Whether a value lies between what the loops take, or beside it."""
    least, most = min(low for low, _ in loops), max(high for _, high in loops)
    return least * (1 - NEAR_PERCENT / 100) <= value <= most * (1 + NEAR_PERCENT / 100)


def kind(answer: Answer, loops: Truth) -> str:
    """What an answer is worth."""
    if answer.error:
        return ERROR
    if answer.untrusted():
        return DOUBTED
    if near(answer.cycles, loops) or off_percent(answer, loops) == 0:
        return RIGHT
    warned = {code for code, severity in answer.findings if severity != "note"}
    return TOLD if warned & set(REASONS) else WRONG


def shown(answer: Answer) -> str:
    """The cycles of an answer."""
    return (
        answer.error[:40]
        if answer.error
        else f"{answer.cycles:.4g} +- {(answer.high - answer.low) / 2:.2g}"
    )


def range_of(loops: Truth) -> str:
    """What the loops with few and with many places take."""
    return ", ".join(
        f"{low:.4g}" if high <= 1.01 * low else f"{low:.4g} to {high:.4g}" for low, high in loops
    )


def run(record: Record, settings: Settings) -> None:
    """Each piece by loops, by itself, and beside a busy process on the same CPU."""
    if os.uname().machine != "x86_64":
        record.say("The loops read the time stamp counter: not here.")
        return
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder, cpu = Path(name), settings.cpu
        words = {person.name: arguments(person, folder) for person in PERSONS}
        loops = {person.name: truth(folder, cpu, person) for person in PERSONS}
        idle = {person.name: measure(*words[person.name], cpu=cpu) for person in PERSONS}
        with neighbour("busy", cpu):
            busy = {person.name: measure(*words[person.name], cpu=cpu) for person in PERSONS}
    for person in PERSONS:
        quiet, loaded, by_loop = idle[person.name], busy[person.name], loops[person.name]
        kinds = kind(quiet, by_loop), kind(loaded, by_loop)
        rows.append(
            (
                person.name,
                person.report,
                range_of(by_loop),
                shown(quiet),
                *kinds,
                f"{quiet.wall_s:.1f}",
            )
        )
    header = ("code", "asked in", "cycles of the loops", "idle", "idle is", "busy is", "seconds")
    record.csv((*header, "findings"), [(*row, idle[row[0]].found()) for row in rows])
    record.table("Cycles", header, rows)
    tell(
        record,
        [row[4] for row in rows],
        [row[5] for row in rows],
        [answer.wall_s for answer in idle.values()],
    )


def tell(record: Record, idle: list[str], busy: list[str], seconds: list[float]) -> None:
    """The targets."""
    kinds = (RIGHT, TOLD, WRONG, DOUBTED, ERROR)
    counts = [
        (when, *(found.count(one) for one in kinds))
        for when, found in (("idle", idle), ("busy", busy))
    ]
    record.table(f"{len(idle)} pieces of code", ("when", *kinds), counts)
    record.target(
        f"{WANTED} of 100 right, idle",
        idle.count(RIGHT) >= WANTED,
        f"{idle.count(RIGHT)} of {len(idle)}",
    )
    wrong = idle.count(WRONG) + busy.count(WRONG)
    record.target(
        "none wrong and trusted without a word", wrong == 0, f"{wrong} of {2 * len(idle)}"
    )
    record.target(
        f"{WANTED_BUSY} right, busy",
        busy.count(RIGHT) >= WANTED_BUSY,
        f"{busy.count(RIGHT)} of {len(busy)}",
    )
    record.figures.append(f"an answer takes {median(seconds):.1f} s, worst {max(seconds):.1f} s")
