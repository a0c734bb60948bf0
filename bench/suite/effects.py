"""What a stage of the estimator is worth on one kind of tables: pairs of results, with it and
without it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

# A kind of tables becomes wrong where this share of its intervals, and so many of them, no longer
# hold ...
WRONG_SHARE, WRONG_NUMBER = 0.05, 2
# ... wider by this factor, and less trusted by this share.
WIDER, LESS_TRUSTED = 1.1, 0.1
# Kinds of fewer results are too few to judge by.
FEWEST = 4


@dataclass(frozen=True)
class Judged:
    """A result: its distance from the truth and its half-width, as shares of it, and whether it
    holds.

    The distance is NaN and the last one None if the truth is not known.
    """

    off: float
    half: float
    holds: bool | None
    trusted: bool

    def is_wrong(self) -> bool:
        """Whether a trusted interval is beside the truth."""
        return self.trusted and self.holds is False


Pair = tuple[Judged, Judged | None]


def middle(values: Iterable[float]) -> float:
    """Median of the values that are not NaN; NaN without any."""
    known = [value for value in values if value == value]
    return median(known) if known else float("nan")


@dataclass(frozen=True)
class Effect:
    """Pairs of results, summed up."""

    number: int
    refused: int
    off: tuple[float, float]
    begin: int
    cease: int
    width: float
    trusted: tuple[float, float]
    wrong: tuple[int, int]
    changed: int
    time: float

    def reasons(self) -> list[str]:
        """Why the stage pays on these tables; empty if it does not."""
        if self.number < FEWEST:
            return []
        enough = max(WRONG_NUMBER, WRONG_SHARE * self.number)
        found = []
        if self.refused:
            found.append(f"no result of {self.refused} of {self.number}")
        if self.cease - self.begin >= enough:
            found.append(f"{self.cease} of {self.number} intervals cease to hold")
        if self.wrong[1] - self.wrong[0] >= enough:
            found.append(f"{self.wrong[1]} of {self.number} trusted and wrong, for {self.wrong[0]}")
        if self.width > WIDER:
            found.append(f"intervals {self.width:.2f} times as wide")
        if self.trusted[0] - self.trusted[1] > LESS_TRUSTED:
            found.append(f"{self.trusted[1]:.0%} trusted, for {self.trusted[0]:.0%}")
        return found


def effect(pairs: Sequence[Pair], seconds: tuple[float, float]) -> Effect:
    """The effect of a stage on these tables; the seconds are those of all their results."""
    both = [(old, new) for old, new in pairs if new]
    counted = max(len(pairs), 1)
    return Effect(
        number=len(pairs),
        refused=len(pairs) - len(both),
        off=(middle(old.off for old, _ in both), middle(new.off for _, new in both)),
        begin=sum(old.holds is False and new.holds is True for old, new in both),
        cease=sum(old.holds is True and new.holds is False for old, new in both),
        width=middle(new.half / old.half for old, new in both if old.half > 0),
        trusted=(
            sum(old.trusted for old, _ in both) / counted,
            sum(new.trusted for _, new in both) / counted,
        ),
        wrong=(sum(old.is_wrong() for old, _ in both), sum(new.is_wrong() for _, new in both)),
        changed=sum(
            str(old) != str(new) for old, new in pairs
        ),  # unlike a NaN, its text equals itself
        time=seconds[1] / seconds[0] if seconds[0] > 0 else float("nan"),
    )
