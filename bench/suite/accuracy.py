"""The truth table: hairspring and the peers in one run, in a random order each time."""

import csv
import io
import os
import random
import subprocess

from cases import TRUTH
from harness import BENCH, Record, Settings, measure, median, worst

ANCHOR_CYCLES = 30_000
PEERS = ("google-benchmark", "catch2", "criterion", "divan")
# hairspring raises its own priority if allowed, so the peers get the same priority.
ALIKE = ("nice", "-n", "-20") if os.geteuid() == 0 else ()
SMALL = "body_30_init_120_small"
# The bodies of these cases overlap: the tool prepares the inputs ahead, so no body waits for the one before.
OVERLAPPING = {("catch2", "body_30_init_120"), ("divan", "body_30_init_120"), ("criterion", SMALL)}
TARGET_PERCENT = 0.5


def peer(tool: str, cpu: int) -> tuple[dict[str, float], str]:
    """Cycles of every case by the tool's own anchor, and a note about the anchor."""
    script = BENCH / "peers" / tool / "measure"
    environment = {**os.environ, "HS_CPU": str(cpu)}
    done = subprocess.run([*ALIKE, script], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        return {}, f"{tool}: exit {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"
    ns = {row["case"]: float(row["time_ns"]) for row in csv.DictReader(io.StringIO(done.stdout))}
    first, last = ns.pop("anchor_first"), ns.pop("anchor_last")
    ns_per_cycle = (first + last) / 2 / ANCHOR_CYCLES
    note = f"{tool}: anchors differ by {100 * abs(last / first - 1):.1f} %" if abs(last / first - 1) > 0.01 else ""
    known = {*TRUTH, SMALL}
    return {case: time / ns_per_cycle for case, time in ns.items() if case in known}, note


def hairspring(cpu: int) -> tuple[dict[str, float], dict[str, float]]:
    """Cycles of every case as reported, and by its nanoseconds and core clock."""
    answers = {case: measure(*arguments, cpu=cpu) for case, (_, arguments) in TRUTH.items()}
    by_ns = {case: answer.time_ns[0] * answer.core_hz / 1e9 for case, answer in answers.items()}
    return {case: answer.cycles for case, answer in answers.items()}, by_ns


def run(record: Record, settings: Settings) -> None:
    """Everything at least three times."""
    tools = ("hairspring", "hairspring, ns", *PEERS)
    cycles: dict[tuple[str, str], list[float]] = {}
    notes: list[str] = []
    for at in range(settings.times(3)):
        order = random.Random(at).sample(["hairspring", *PEERS], 1 + len(PEERS))
        for tool in order:
            if tool == "hairspring":
                direct, by_ns = hairspring(settings.cpu)
                answers = {"hairspring": direct, "hairspring, ns": by_ns}
            else:
                found, note = peer(tool, settings.cpu)
                answers = {tool: found}
                notes += [f"repetition {at + 1}, {note}"] if note else []
            for name, column in answers.items():
                for case, value in column.items():
                    cycles.setdefault((name, case), []).append(value)
    truths = {**{case: true for case, (true, _) in TRUTH.items()}, SMALL: 30.0}
    raw = [(tool, case, truths[case], at, v) for (tool, case), them in cycles.items() for at, v in enumerate(them)]
    record.csv(("tool", "case", "true_cycles", "repetition", "cycles"), raw)
    rows = [[case, f"{true:.0f}", *(cell(cycles, tool, case, true) for tool in tools)] for case, true in truths.items()]
    record.table("Cycles: median (error of the median; worst error)", ("case", "truth", *tools), rows)
    record.say("(o): bodies overlap in the tool's idiom: this is their throughput, not 30 cycles of latency.", *notes)
    for tool in tools:
        mine = {case: them for (name, case), them in cycles.items() if name == tool and (tool, case) not in OVERLAPPING}
        errors = [100 * (value / truths[case] - 1) for case, them in mine.items() for value in them]
        if errors:
            detail = f"worst {worst(errors):+.2f} %, median {median(map(abs, errors)):.2f} %"
            record.target(f"{tool}: every answer within 0.5 %", max(map(abs, errors)) <= TARGET_PERCENT, detail)


def cell(cycles: dict[tuple[str, str], list[float]], tool: str, case: str, true: float) -> str:
    """One cell of the table."""
    values = cycles.get((tool, case))
    if not values:
        return ""
    middle, far = median(values), worst(100 * (value / true - 1) for value in values)
    mark = " (o)" if (tool, case) in OVERLAPPING else ""
    return f"{middle:.3f} ({100 * (middle / true - 1):+.2f} %; {far:+.2f} %){mark}"
