"""Blocks of a function: chains of known length, the speed of following, and a thousand inputs by
two hundred blocks.
"""

import json
import random
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness import BENCH, COMMAND, ROOT, Record, Settings, median, run_json

DATA = BENCH / "target/blocks"
CYCLES = 3  # one copy of the chain
SHARE, CYCLE = 0.02, 1.0  # a block is right within 2 % or a cycle
SPEED, LONG_SPEED, SOLVE_S = (
    200_000,
    20_000_000,
    2.0,
)  # of short calls, which cost a few stops each, and of a long one


def compiled(source: Path, *flags: str) -> str:
    """The program of a C file."""
    DATA.mkdir(parents=True, exist_ok=True)
    program = DATA / source.stem
    subprocess.run(["gcc", "-g", *flags, source, "-o", program], check=True)
    return str(program)


def codes(number: int, seed: int) -> str:
    """Inputs of the chains: codes that choose a case of the switch and the arms of the branches."""
    dice = random.Random(seed)
    lines = (
        " ".join(str(dice.randrange(64)) for _ in range(dice.randint(1, 24))) for _ in range(number)
    )
    path = DATA / f"codes-{seed}.txt"
    path.write_text("--\n" + "\n".join(lines) + "\n")
    return str(path)


def copies(program: str) -> list[tuple[int, int]]:
    """Addresses and cycles of the multiplications."""
    listing = subprocess.run(
        ["objdump", "-d", program], capture_output=True, text=True, check=True
    ).stdout
    return [
        (int(line.split(":")[0], 16), CYCLES)
        for line in listing.splitlines()
        if re.search(r"\bimul\b", line)
    ]


def truths(copies: Sequence[tuple[int, int]], document: dict[str, Any]) -> dict[str, float]:
    """Cycles of every block: those of its copies of chains, which are given by their addresses."""

    def cycles(block: dict[str, Any]) -> float:
        start, end = int(block["address"], 16), int(block["end"], 16)
        return float(sum(cycles for address, cycles in copies if start <= address < end))

    return {block["name"]: cycles(block) for block in document["blocks"]}


def fast(record: Record, speeds: list[float]) -> None:
    """The target of following."""
    slowest = min(speeds, default=0.0)
    record.target(
        f"at least {SPEED:,} instructions a second", slowest >= SPEED, f"slowest {slowest:,.0f}"
    )


def chains(record: Record, settings: Settings, until: bool) -> None:
    """Every time that the counts can tell apart, against the truth."""
    program = compiled(Path(__file__).parent.parent / "programs/blocks.c", "-O2")
    off, judged, untrusted = 0, 0, 0
    speeds: list[float] = []
    lines: list[tuple[object, ...]] = []
    raw: list[tuple[object, ...]] = []
    for run in range(settings.times(5)):
        extra = ["--until", "each"] if until else []
        given = ["--function", "work", "--inputs", codes(60, run), "--cpu", str(settings.cpu)]
        document, error, wall = run_json("blocks", program, *given, *extra)
        if document is None:
            record.say(f"- **missed**: run {run} failed: {error}")
            continue
        known = truths(copies(program), document)
        worst = 0.0
        for component in document["components"]:
            parts = {part["name"]: part["coefficient"] for part in component["parts"]}
            if "overhead" in parts or component["time"] is None:
                continue
            truth = sum(coefficient * known[name] for name, coefficient in parts.items())
            value = component["time"]["cycles"]["value"]
            allowed = max(SHARE * abs(truth), CYCLE)
            judged, off = judged + 1, off + (abs(value - truth) > allowed)
            worst = max(worst, abs(value - truth) / allowed)
            raw.append((run, component["name"], truth, value))
        doubted = [
            finding["kind"]
            for finding in document["findings"]
            if finding["severity"] == "untrusted"
        ]
        untrusted += bool(doubted)
        speed = document["trace"]["instructions"] / document["trace"]["seconds"]
        speeds.append(speed)
        told = len(document["components"])
        lines.append((run, told, f"{worst:.2f}", f"{speed:,.0f}", f"{wall:.1f}", " ".join(doubted)))
    kind = "whole calls and calls ended before each block" if until else "whole calls"
    header = ("run", "times", "worst error / allowed", "instructions/s", "wall s", "untrusted")
    record.table(kind, header, lines)
    record.csv(("run", "component", "truth", "cycles"), raw, ending="until.csv" if until else "csv")
    found = f"{off} of {judged} off; {untrusted} runs untrusted"
    record.target("every time within 2 % or 1 cycle", off == 0 and judged > 0, found)
    fast(record, speeds)


def coder(record: Record, settings: Settings) -> None:
    """The speed of following short blocks."""
    program = compiled(ROOT / "examples/blocks/adpcm.c", "-Os")
    dice = random.Random(1)
    speeds: list[float] = []
    lines: list[tuple[object, ...]] = []
    path = DATA / "samples.txt"
    path.write_text(
        "".join(f"{dice.randint(1, 64)} {dice.choice([10, 300, 9000])} {i}\n" for i in range(200))
    )
    for run in range(settings.times(5)):
        given = ["--function", "encode", "--inputs", str(path), "--cpu", str(settings.cpu)]
        document, error, _ = run_json("blocks", program, *given)
        if document is None:
            record.say(f"- **missed**: run {run} failed: {error}")
            continue
        model, speed = (
            document["model"],
            document["trace"]["instructions"] / document["trace"]["seconds"],
        )
        speeds.append(speed)
        lines.append(
            (
                run,
                f"{speed:,.0f}",
                f"{100 * model['explained']:.2f} %",
                f"{100 * model['departure']:.2f} %",
            )
        )
    record.table(
        "the coder of examples/blocks", ("run", "instructions/s", "explained", "departure"), lines
    )
    fast(record, speeds)


def long_call(record: Record, settings: Settings) -> None:
    """The speed of following a long call, where the instrumented copy of the function runs
    nearly all of it.
    """
    program = compiled(Path(__file__).parent.parent / "programs/branches.c", "-O2")
    path = DATA / "trips.txt"
    path.write_text("300000\n")
    speeds: list[float] = []
    lines: list[tuple[object, ...]] = []
    for run in range(settings.times(5)):
        given = [
            "--function",
            "work",
            "--inputs",
            str(path),
            "--cpu",
            str(settings.cpu),
            "--budget",
            "1s",
        ]
        document, error, _ = run_json("blocks", program, *given)
        if document is None:
            record.say(f"- **missed**: run {run} failed: {error}")
            continue
        trace = document["trace"]
        speeds.append(trace["instructions"] / trace["seconds"])
        lines.append((run, f"{trace['instructions']:,}", trace["stops"], f"{speeds[-1]:,.0f}"))
    record.table(
        "a call of 300,000 trips", ("run", "instructions", "stops", "instructions/s"), lines
    )
    slowest = min(speeds, default=0.0)
    record.target(
        f"at least {LONG_SPEED:,} instructions a second",
        slowest >= LONG_SPEED,
        f"slowest {slowest:,.0f}",
    )


def solving(record: Record, settings: Settings) -> None:
    """A thousand inputs by two hundred blocks; a third of the blocks' counts follow from others."""
    dice = random.Random(5)
    times = [dice.uniform(1, 50) for _ in range(200)]
    path = DATA / "thousand.csv"
    with path.open("w") as file:
        file.write(",".join(f"B{i + 1}" for i in range(200)) + ",round,ticks\n")
        for _ in range(1000):
            counts = [dice.randrange(30) for _ in range(134)]
            counts += [counts[i] + counts[i + 1] for i in range(66)]
            total = sum(n * t for n, t in zip(counts, times, strict=True)) + 90
            for number in range(8):
                file.write(
                    ",".join(map(str, counts)) + f",{number},{total + dice.gauss(0, 5):.2f}\n"
                )
    walls = []
    for _ in range(settings.times(5)):
        begin = time.monotonic()
        done = subprocess.run(
            [COMMAND, "fit", str(path), "--json"], capture_output=True, text=True, check=True
        )
        walls.append(time.monotonic() - begin)
    rank = len(json.loads(done.stdout)["results"][0]["components"])
    found = (
        f"{rank} of 200 told apart, 8 readings of each row; median {median(walls):.2f} s, longest "
        f"{max(walls):.2f} s"
    )
    record.target(
        f"1,000 inputs by 200 blocks solved in less than {SOLVE_S:.0f} s",
        max(walls) < SOLVE_S,
        found,
    )


def run(record: Record, settings: Settings) -> None:
    """Runs all parts."""
    chains(record, settings, until=False)
    chains(record, settings, until=True)
    coder(record, settings)
    long_call(record, settings)
    solving(record, settings)
