"""Made-up tables of known truth: each has one disturbance that a stage of the estimator is for.

A body takes 100 ticks a copy, chains of 3 cycles and of 1 cycle take 3 ticks and 1 tick a copy, and
a read of the clock 40.
"""

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

BODY, READ, GUARD = 100.0, 40.0, 60.0
ROWS: dict[str, tuple[float, tuple[int, ...]]] = {
    "code": (BODY, (4, 6, 8, 12, 16)),
    "ruler": (3.0, (32, 64, 96, 128)),
    "control": (1.0, (64, 128, 256)),
}
KEYS = ("rate_hz: 3e9", "reference: ruler 3", "control: control 1")
HEADER = "series,body,round,flags,guard,ticks"
SEEDS = range(6)
UNSTATED = "unstated"

Dice = random.Random


class Moment(NamedTuple):
    """The round of a reading, and the seed of its table."""

    round: int
    seed: int

    def stretch(self, rounds: int) -> Dice:
        """Chance that is the same for so many rounds."""
        return Dice(self.seed * 100_003 + self.round // rounds)


# Ticks of a reading, and of its guard: by series, copies and moment.
Reading = Callable[[Dice, str, int, Moment], tuple[float, float]]


def calm(dice: Dice, series: str, copies: int, _: Moment) -> tuple[float, float]:
    """A reading that nothing disturbs."""
    return READ + ROWS[series][0] * copies + dice.gauss(0, 1), GUARD + dice.gauss(0, 1)


def text(
    seed: int, reading: Reading, keys: tuple[str, ...] = (), rounds: int = 200, quantum: int = 1
) -> str:
    """A table of such readings. `UNSTATED` among the keys leaves the step of the clock out."""
    dice = Dice(seed)
    lines = [f"# {key}" for key in (*KEYS, f"granularity: {quantum}", *keys)]
    if UNSTATED in keys:
        lines = [line for line in lines if not line.startswith(("# granularity", f"# {UNSTATED}"))]
    lines.append(HEADER)
    for at in range(rounds):
        for series, (_, rows) in ROWS.items():
            for copies in rows:
                ticks, guard = (
                    int((value + dice.random() * quantum) // quantum) * quantum
                    for value in reading(dice, series, copies, Moment(at, seed))
                )
                lines.append(f"{series},{copies},{at},,{max(guard, 1)},{ticks}")
    return "\n".join(lines) + "\n"


def spiked(dice: Dice, series: str, copies: int, at: Moment) -> tuple[float, float]:
    """One reading in fifty is interrupted."""
    ticks, guard = calm(dice, series, copies, at)
    return ticks + (dice.uniform(300, 3000) if dice.random() < 0.02 else 0), guard


def beside(dice: Dice, series: str, copies: int, at: Moment) -> tuple[float, float]:
    """A neighbour is there in three of ten stretches of ten rounds: code takes 1.5 times as
    long, chains do not.
    """
    ticks, guard = calm(dice, series, copies, at)
    if at.stretch(10).random() >= 0.3:
        return ticks, guard
    return ticks + (0.5 * BODY * copies if series == "code" else 0), guard + 30


def slow(dice: Dice, series: str, copies: int, at: Moment) -> tuple[float, float]:
    """One evaluation of the code in a hundred takes 2,000 ticks more."""
    ticks, guard = calm(dice, series, copies, at)
    often = sum(dice.random() < 0.01 for _ in range(copies)) if series == "code" else 0
    return ticks + 2000 * often, guard


def stepping(dice: Dice, series: str, copies: int, at: Moment) -> tuple[float, float]:
    """The core clock has another level every 25 rounds."""
    ticks, guard = calm(dice, series, copies, at)
    return READ + (ticks - READ) * at.stretch(25).choice((0.95, 1.0, 1.08)), guard


def settling(dice: Dice, series: str, copies: int, at: Moment) -> tuple[float, float]:
    """In the first rounds of each placement the code takes up to three times as long."""
    ticks, guard = calm(dice, series, copies, at)
    return ticks + (2 * BODY * copies * 0.5 ** (at.round % 25) if series == "code" else 0), guard


def placed(dice: Dice, series: str, copies: int, at: Moment) -> tuple[float, float]:
    """Placements differ by 1 % of the code."""
    ticks, guard = calm(dice, series, copies, at)
    return ticks + (BODY * copies * at.stretch(25).gauss(0, 0.01) if series == "code" else 0), guard


def bent(dice: Dice, series: str, copies: int, at: Moment) -> tuple[float, float]:
    """The rows of the code do not lie on a line: some are longer by 1 % of the longest."""
    ticks, guard = calm(dice, series, copies, at)
    return ticks + (BODY * 0.16 * (copies % 4 == 0) if series == "code" else 0), guard


def paused(dice: Dice, series: str, copies: int, at: Moment) -> tuple[float, float]:
    """The CPU pauses every 10,000 ticks for 400."""
    ticks, guard = calm(dice, series, copies, at)
    ticks, begin = ticks * (20 if series == "code" else 1), dice.expovariate(1e-4)
    lost = 0.0
    while begin < ticks:
        lost, begin = lost + dice.expovariate(1 / 400), begin + dice.expovariate(1e-4)
    return ticks + lost, guard


def misread(dice: Dice, series: str, copies: int, at: Moment) -> tuple[float, float]:
    """Readings of the code are longer by up to four ticks, the more the more copies they have."""
    ticks, guard = calm(dice, series, copies, at)
    return ticks + (4 * copies / max(ROWS["code"][1]) if series == "code" else 0), guard


# A body and its init: counts of both in the rows, and ticks of the init, of fences, of what a fence
# hides, and of a chain after fences.
PAIRS = ((1, 1), (1, 2), (2, 2), (2, 4), (4, 4), (4, 8))
INIT, FENCES, SHADOW, CHAIN = 15.0, 35.0, 2.0, 48.0
# Bodies and inits of the rows of a series, and the ticks of a row by these.
Pairs = dict[str, tuple[tuple[tuple[int, int], ...], Callable[[int, int], float]]]
RULER: Pairs = {"ruler": (((32, 0), (64, 0), (96, 0), (128, 0)), lambda copies, _: 3.0 * copies)}
OVERLAP: Pairs = {
    "code": (PAIRS, lambda bodies, inits: bodies * (BODY - 2.5) + inits * INIT),
    "in_place": (PAIRS, lambda bodies, inits: bodies * BODY + inits * (INIT - 2.5)),
    **RULER,
}
FENCED: Pairs = {
    "code": (PAIRS, lambda bodies, inits: bodies * (BODY - SHADOW) + inits * (INIT + FENCES)),
    "shadow": (PAIRS, lambda bodies, inits: bodies * (CHAIN - SHADOW) + inits * FENCES),
    **RULER,
}


def text_of_pairs(seed: int, series: Pairs, keys: tuple[str, ...], rounds: int = 100) -> str:
    """A table of a body and its init."""
    dice = Dice(seed)
    lines = [
        "# rate_hz: 3e9",
        "# granularity: 1",
        "# reference: ruler 3",
        *(f"# {key}" for key in keys),
    ]
    lines.append("series,body,init,round,flags,ticks")
    for at in range(rounds):
        for name, (rows, ticks) in series.items():
            for bodies, inits in rows:
                reading = READ + ticks(bodies, inits) + dice.gauss(0, 1) + dice.random()
                lines.append(f"{name},{bodies},{inits},{at},,{int(reading)}")
    return "\n".join(lines) + "\n"


PLACED = tuple(f"placement: {at}" for at in range(25, 200, 25))
PAUSES = ("pauses: 4160000 160000 400 0",)
COARSE = 26
# Of each kind: its readings, its keys, its quantum, and the ticks of its body.
KINDS: dict[str, tuple[Reading, tuple[str, ...], int, float]] = {
    "calm": (calm, (), 1, BODY),
    "coarse clock": (calm, (), COARSE, BODY),
    "coarse clock of a step that nobody states": (calm, (UNSTATED,), COARSE, BODY),
    "interrupts": (spiked, (), 1, BODY),
    "neighbour": (beside, (), 1, BODY),
    "neighbour, coarse clock": (beside, (), COARSE, BODY),
    "slow evaluations": (slow, (), 1, BODY + 0.01 * 2000),
    "steps of the core clock": (stepping, (), 1, BODY),
    "settling": (settling, PLACED, 1, BODY),
    "placements": (placed, PLACED, 1, BODY),
    "layouts": (placed, (*PLACED, "layouts: 4"), 1, BODY),
    "bent": (bent, (), 1, BODY),
    "pauses": (paused, PAUSES, 1, 20 * BODY),
    "readings that are off": (misread, ("reading_bound: 4",), 1, BODY),
}
KINDS_OF_PAIRS: dict[str, tuple[Pairs, tuple[str, ...]]] = {
    "body that overlaps with its init": (OVERLAP, ("variant: in_place = in_place of code",)),
    "body between fences": (
        FENCED,
        (f"shadow: shadow {CHAIN:g}", "variant: code = fenced of code"),
    ),
}


def tables() -> Iterator[tuple[str, str, float]]:
    """Kind, text and core cycles of the body of all tables."""
    for kind, (reading, keys, quantum, body) in KINDS.items():
        for seed in SEEDS:
            yield kind, text(seed, reading, keys, quantum=quantum), body
    for kind, (series, keys) in KINDS_OF_PAIRS.items():
        for seed in SEEDS:
            yield kind, text_of_pairs(seed, series, keys), BODY
