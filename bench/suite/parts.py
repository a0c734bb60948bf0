"""Parts of known length: small programs whose blocks are chains of multiplications and additions,
and what `blocks` says of them."""

import random
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from blocks import compiled, truths
from harness import BENCH, Record, Settings, run_json

DATA = BENCH / "target/parts"
SOURCES = BENCH / "programs/parts"
SHARE, CYCLE = 0.03, 1.5  # a time is right within 3 % or 1.5 cycles
WRONG = 2  # ... and wrong if it is off by more than this many half-widths
RIGHT_PERCENT = 99.0
SAYS_LITTLE = 0.5  # an interval as wide as this share of the value doubts it
CYCLES = {"imul": 3, "add": 1}
FIXED = {"ladder": 12, "early": 7}  # programs that read this many codes
IN_PARTS = (
    "interpreter",
    "states",
    "switch",
)  # programs of which parts of a long call are timed, too
LONG = 3000  # codes of a long call
STEADY = 20_000  # codes of a long call that repeats few of them

Instruction = tuple[int, str, str]


@dataclass
class Count:
    """How many of the times are what."""

    told: int = 0
    right: int = 0
    doubted: int = 0
    off: int = 0
    outside: int = 0
    wrong: int = 0
    hidden: int = 0

    def add(self, other: "Count") -> None:
        """Adds another count."""
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def cells(self) -> tuple[int, ...]:
        """The cells of a table."""
        return (
            self.told,
            self.right,
            self.doubted,
            self.off,
            self.outside,
            self.wrong,
            self.hidden,
        )


def line(name: str, dice: random.Random) -> str:
    """One input: the codes that choose the arms."""
    codes = [dice.randrange(256) for _ in range(FIXED.get(name, dice.randint(1, 24)))]
    if name == "early":
        codes = [int(dice.randrange(4) == 0) for _ in range(6)] + [dice.randrange(8)]
    if name == "search":
        codes = [code if code != 7 else 8 for code in codes]
        codes[dice.randrange(len(codes))] = dice.choice([7, 8])
    return " ".join(map(str, codes))


def long_call(name: str, seed: int) -> str:
    """One input whose call runs a program of twelve codes again and again, with another code
    here and there.
    """
    dice = random.Random(seed)
    loop = [dice.randrange(256) for _ in range(12)]
    codes = [
        code if dice.randrange(8) else dice.randrange(256)
        for _ in range(LONG // len(loop))
        for code in loop
    ]
    return written(f"{name}-long-{seed}", [" ".join(map(str, codes))])


def steady_call(name: str, seed: int) -> str:
    """One input whose call runs one to three codes in turns, so that the rows differ by whole
    trips alone.
    """
    codes = random.Random(seed).sample(range(256), 1 + seed % 3)
    return written(
        f"{name}-steady-{seed}", [" ".join(str(codes[at % len(codes)]) for at in range(STEADY))]
    )


def written(name: str, lines: list[str]) -> str:
    """A file of inputs."""
    DATA.mkdir(parents=True, exist_ok=True)
    path = DATA / f"{name}.txt"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def inputs(name: str, seed: int) -> str:
    """Sixty inputs, and an empty one where the program takes any number of codes."""
    dice = random.Random(seed)
    lines = [line(name, dice) for _ in range(60)]
    return written(f"{name}-{seed}", lines if name in FIXED else ["--", *lines])


def instructions(program: str) -> list[Instruction]:
    """Address, name and operands of the function's instructions."""
    given = ["objdump", "-d", program, "--disassemble=work"]
    listing = subprocess.run(given, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^\s+([0-9a-f]+):\t[^\t\n]+\t(\w+)[ ]*([^\n]*)$", listing, re.MULTILINE)
    return [(int(address, 16), name, operands.strip()) for address, name, operands in found]


def copies(program: str) -> list[tuple[int, int]]:
    """Addresses and cycles of the copies of the chains. Two equal instructions in a row show a
    chain's operands.
    """
    every = instructions(program)
    chain = {a[2] for a, b in pairwise(every) if a[1:] == b[1:] and a[1] in CYCLES}
    return [
        (address, CYCLES[name])
        for address, name, operands in every
        if name in CYCLES and operands in chain
    ]


def judged(
    component: dict[str, Any], known: dict[str, float], doubted: bool
) -> tuple[Count, tuple[object, ...]]:
    """One time against the truth."""
    parts = [(part["name"].split("->")[0], part["coefficient"]) for part in component["parts"]]
    truth = sum(coefficient * known[name] for name, coefficient in parts)
    time = component["time"]
    if time is None or time["cycles"] is None:
        return Count(told=1, hidden=1, doubted=1), (component["name"], truth, "", "", "")
    value, low, high = (time["cycles"][key] for key in ("value", "low", "high"))
    half, error = (high - low) / 2, abs(value - truth)
    right = error <= max(SHARE * abs(truth), CYCLE)
    wide = (
        time["below_resolution"]
        or half > SAYS_LITTLE * abs(value)
        or half > max(SHARE * abs(truth), CYCLE)
    )
    off = not (right or doubted or wide)
    count = Count(
        1,
        int(right),
        int(not right and not off),
        int(off),
        int(error > half),
        int(error > WRONG * half),
    )
    return count, (component["name"], truth, value, low, high)


# What is asked of a program: how the table names it, the options, and what makes the inputs.
Asked = tuple[str, tuple[str, ...], Callable[[str, int], str]]
ASKED: tuple[Asked, ...] = (("", (), inputs), ("--until each", ("--until", "each"), inputs))
ASKED_IN_PARTS: tuple[Asked, ...] = (
    ("--parts 40", ("--parts", "40"), long_call),
    ("--parts 40, few codes in turns", ("--parts", "40"), steady_call),
)


def one(
    name: str, seed: int, asked: Asked, settings: Settings
) -> tuple[Count, str, list[tuple[object, ...]]]:
    """One run: the count, how the run went, and the figures."""
    program = compiled(SOURCES / f"{name}.c", "-O2")
    label, extra, made = asked
    lines = made(name, seed)
    given = ["--function", "work", "--inputs", lines, "--cpu", str(settings.cpu)]
    document, error, _ = run_json("blocks", program, *given, *extra)
    if document is None:
        return Count(), error, []
    known = truths(copies(program), document)
    doubts = [
        finding["kind"] for finding in document["findings"] if finding["severity"] == "untrusted"
    ]
    count, rows = Count(), []
    for component in document["components"]:
        if all(part["name"] != "overhead" for part in component["parts"]):
            found, row = judged(component, known, bool(doubts))
            count.add(found)
            rows.append((name, seed, label, *row))
    return count, f"{document['rounds']} rounds {' '.join(doubts)}", rows


def run(record: Record, settings: Settings) -> None:
    """All programs, whole calls and calls ended early, with several sets of inputs."""
    lines: list[tuple[object, ...]] = []
    raw: list[tuple[object, ...]] = []
    total = Count()
    for name in sorted(path.stem for path in SOURCES.glob("*.c")):
        for asked in (*ASKED, *(ASKED_IN_PARTS if name in IN_PARTS else ())):
            count, states = Count(), []
            for seed in range(settings.times(3)):
                found, state, rows = one(name, seed, asked, settings)
                count.add(found)
                states.append(state)
                raw += rows
            total.add(count)
            lines.append((name, asked[0], *count.cells(), "; ".join(states)))
    header = (
        "program",
        "",
        "times",
        "right",
        "doubted",
        "off",
        "outside",
        "wrong",
        "hidden",
        "runs",
    )
    record.table(
        "times of parts against the truth", header, [*lines, ("all", "", *total.cells(), "")]
    )
    record.csv(("program", "inputs", "options", "part", "truth", "cycles", "low", "high"), raw)
    share = 100 * (total.right + total.doubted) / max(total.told, 1)
    record.target(
        f"{RIGHT_PERCENT:.0f} % within 3 % or 1.5 cycles, or doubted",
        share >= RIGHT_PERCENT,
        f"{share:.1f} %",
    )
    record.target(
        "none off by more than twice its interval",
        total.wrong == 0,
        f"{total.wrong} of {total.told}",
    )
