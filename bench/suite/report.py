"""The page about the worth of each stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from effects import Effect

if TYPE_CHECKING:
    from ablation import Ablation

PREFACE = """# What each stage is worth

The estimator is a list of stages (`crates/hairspring-core/src/pipeline.rs`). This page says what is
lost without each of them: the same tables are solved with all stages, and again with one of them
off. The first table has the verdicts. The section *One machine left out* says whether a verdict of
all other tables holds on a machine that had no part in it.

A stage pays if one kind of tables loses by its absence:

- two intervals or more, and 5 % of them, cease to hold, or as many more answers are wrong and
  trusted,
- or intervals are more than 10 % wider in the median,
- or the share of trusted answers falls by more than 10 points,
- or a table has no answer.

Kinds of fewer than four results are not judged.

The tables are those of `corpus/`, the golden vectors of `spec/vectors/`, simulated ones
(`bench/suite/simulated.py`), and, where `FULL_TABLES` and `HANDED_CASES` name folders, full tables
of the same machines and tables that users sent. A table of the corpus counts in two kinds: by its
situation, and by what it shows. A stage that pays on none of these may be one for tables that are
not among them. This makes the page again:

```sh
bench/run ablation
```
"""
COLUMNS = (
    "stage",
    "kind",
    "results",
    "off_with",
    "off_without",
    "begin",
    "cease",
    "width",
    "trusted_with",
    "trusted_without",
    "wrong_with",
    "wrong_without",
    "time",
)
SHOWN = 2  # kinds of tables that the first table names for a stage


def rows(found: Ablation) -> Iterator[Sequence[object]]:
    """All figures."""
    for stage, kinds in found.effects.items():
        for kind, one in kinds.items():
            yield (
                stage,
                kind,
                one.number,
                *one.off,
                one.begin,
                one.cease,
                one.width,
                *one.trusted,
                *one.wrong,
                one.time,
            )


def table(header: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown, with an empty line behind it."""
    return ["| " + " | ".join(row) + " |" for row in (header, ["---"] * len(header), *cells)] + [""]


def percent(share: float) -> str:
    """A share in percent; empty if it is not known."""
    return "" if share != share else f"{100 * share:.3g} %"


def severity(one: Effect) -> tuple[int, int, float]:
    """How much is lost: results, intervals that hold, width."""
    wrong = max(one.cease - one.begin, one.wrong[1] - one.wrong[0])
    return one.refused, wrong, one.width if one.width == one.width else 0.0


def verdicts(found: Ablation) -> list[str]:
    """The first table."""
    cells = []
    for stage, effects in found.effects.items():
        paying = found.paying(stage, found.sources)
        worst = sorted(paying, key=lambda kind: severity(effects[kind]), reverse=True)[:SHOWN]
        said = "; ".join(f"{kind}: {', '.join(paying[kind])}" for kind in worst)
        cells.append(
            [f"`{stage}`", str(len(paying)), said, f"{found.acted[stage]} of {found.tables}"]
        )
    return table(
        ("stage", "kinds on which it pays", "without it", "tables in which it acted"), cells
    )


def word(paying: dict[str, list[str]]) -> str:
    """Whether a stage pays."""
    return "pays" if paying else "no"


def left_out(found: Ablation) -> list[str]:
    """The second table: a verdict of all others, and what the machine left out says of it."""
    machines = found.machines()
    header = ["stage", *(f"{what} {machine}" for machine in machines for what in ("all but", "on"))]
    cells = [
        [
            f"`{stage}`",
            *(
                word(found.paying(stage, kinds))
                for machine in machines
                for kinds in (found.but(machine), found.of(machine))
            ),
        ]
        for stage in found.effects
    ]
    return table(header, cells)


def confirmed(found: Ablation) -> list[str]:
    """How many verdicts of the others a machine confirms."""
    said = []
    for machine in found.machines():
        same = sum(
            bool(found.paying(stage, found.but(machine)))
            == bool(found.paying(stage, found.of(machine)))
            for stage in found.effects
        )
        said.append(
            f"- {machine}: {same} of {len(found.effects)} verdicts of all other tables are the "
            "same on it."
        )
    return [*said, ""]


def listed(stages: Sequence[str]) -> str:
    """Names of stages."""
    return ", ".join(f"`{stage}`" for stage in stages) or "none"


def idle(found: Ablation) -> list[str]:
    """The stages that did not pay."""
    without = [stage for stage in found.effects if not found.paying(stage, found.sources)]
    acted = [stage for stage in without if found.acted[stage]]
    never = listed([stage for stage in without if not found.acted[stage]])
    changing = [
        stage for stage in acted if any(one.changed for one in found.effects[stage].values())
    ]
    return [
        f"- Results change without them, but no kind loses: {listed(changing)}.",
        "- They acted, and no time, interval or trust changes without them (they only tell "
        "findings, or are not taken "
        f"away everywhere): {listed([stage for stage in acted if stage not in changing])}.",
        f"- They had nothing to do in any of these tables, which say nothing of them: {never}.",
        "- Stages that only judge change no time. They stay for what they say: `denormals`, "
        "`origin`, `widths`.",
        "- `ends`, `visits` and `negative` act on tables of `blocks` alone, by options that `fit` "
        "does not have:",
        "  `bench/run parts` and `bench/run blocks` show what these are worth.",
        f"- Not counted, as no table is solved without them: {listed(found.needed)}.",
        "",
    ]


def cells_of(kind: str, one: Effect) -> list[str]:
    """The figures of a kind of tables."""
    return [
        kind,
        str(one.number),
        f"{percent(one.off[0])}, {percent(one.off[1])}",
        f"{one.begin}, {one.cease}",
        f"{one.width:.2f}",
        f"{one.trusted[0]:.0%}, {one.trusted[1]:.0%}",
        f"{one.wrong[0]}, {one.wrong[1]}",
        "" if one.time != one.time else f"{one.time:.2f}",
    ]


def figures(found: Ablation) -> Iterator[str]:
    """A table for each stage, with the kinds on which it pays or whose intervals begin or cease
    to hold.
    """
    header = (
        "kind",
        "results",
        "off",
        "begin, cease to hold",
        "width",
        "trusted",
        "trusted and wrong",
        "CPU time",
    )
    for stage, effects in found.effects.items():
        shown = {
            kind: one for kind, one in effects.items() if one.begin or one.cease or one.reasons()
        }
        yield from (f"### {stage}", "")
        if shown and all(one.refused == one.number for one in shown.values()):
            yield from ("No table has a result without it.", "")
        elif shown:
            yield from table(header, [cells_of(kind, one) for kind, one in shown.items()])
        else:
            changed = sum(one.changed for one in effects.values())
            yield from (
                f"No interval begins or ceases to hold; {changed} results change, some counted "
                "twice.",
                "",
            )


def page(found: Ablation, where: str) -> str:
    """The whole page."""
    lines = [
        *PREFACE.splitlines(),
        "",
        f"{found.tables} tables, {len(found.effects)} stages; solved on {where}.",
        "",
        "## Verdicts",
        "",
        *verdicts(found),
        "## Stages that did not pay",
        "",
        *idle(found),
        "## One machine left out",
        "",
        "Each machine is left out once. *All but* it is the verdict of all other tables; *on* it "
        "is that of its own.",
        "",
        *confirmed(found),
        *left_out(found),
        "## Figures",
        "",
        "Only kinds of tables are shown on which a stage pays, or whose intervals begin or cease "
        "to hold. *Off* is the",
        "median distance from the truth. *Width* is the median ratio of half-widths. *CPU time* "
        "is that without the",
        "stage, as a multiple of that with it. Pairs are *with, without*.",
        "",
        *figures(found),
    ]
    return "\n".join(lines).rstrip() + "\n"
