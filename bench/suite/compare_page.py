"""The tables of `compare`, its document, and its place on the page that puts tools side by side."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from compare_counters import Counted
from compare_tools import Told
from compare_truth import Interval, agreed, middle, pooled
from compare_words import WORDS
from harness import median

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
WORKLOADS = {
    "sort_100": "sort of 100 integers, others each time",
    "hash_1k": "hash of 1 KiB",
    "parse_list": "40 numbers parsed from 200 bytes",
    "memcpy_4k": "memcpy of 4 KiB",
    "memcpy_64k": "memcpy of 64 KiB",
    "json_500": "JSON of 500 bytes parsed",
}
NO_TRUTH = "no truth"


class NoMarks(Exception):
    """The page does not have the two marks, in their order."""


@dataclass
class Run:
    """One run of a language: the methods of the truth by workload, counts, and what every tool
    told.
    """

    methods: dict[str, dict[str, Interval]] = field(default_factory=dict)
    counts: dict[str, Counted] = field(default_factory=dict)
    told: dict[str, dict[str, Told]] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A tool's times over the truth of the same run: median, least, most; the ends of its own
    interval.
    """

    ratio: Interval
    own: tuple[float, float]
    told: list[float]
    runs: int
    doubted: int


def figure(runs: Iterable[Run], tool: str, case: str) -> Figure | None:
    """The figure of a tool over all runs that have its answer and the truth."""
    pairs = [
        (run.told[tool][case], middle(run.methods[case])) for run in runs if has(run, tool, case)
    ]
    ratios = [one.time.value / truth for one, truth in pairs if one.time.value == one.time.value]
    if not ratios:
        return None
    own = (
        median(one.time.low / truth for one, truth in pairs),
        median(one.time.high / truth for one, truth in pairs),
    )
    doubted = sum(one.doubted for one, _ in pairs)
    return Figure(
        Interval(median(ratios), min(ratios), max(ratios)),
        own,
        [one.time.value for one, _ in pairs],
        len(pairs),
        doubted,
    )


def has(run: Run, tool: str, case: str) -> bool:
    """Whether a run has an answer of a tool, and something to compare it with."""
    return case in run.methods and case in run.told.get(tool, {})


def truth(runs: Iterable[Run], case: str) -> tuple[Interval | None, dict[str, Interval]]:
    """The truth of a workload over all runs, and the methods that it is made of."""
    methods = pooled(run.methods[case] for run in runs if case in run.methods)
    return agreed(methods), methods


def ns(time: Interval) -> str:
    """A time in its interval."""
    return f"{time.value:.4g} ns ({time.low:.4g} to {time.high:.4g})"


def told_truth(time: Interval | None, methods: dict[str, Interval]) -> str:
    """The cell of the truth; what the methods say, where they disagree."""
    if time:
        return ns(time)
    return f"{NO_TRUTH}: " + "; ".join(
        f"{name} {one.low:.4g} to {one.high:.4g}" for name, one in methods.items()
    )


def told_counts(runs: Iterable[Run], case: str) -> str:
    """The cell of the counters."""
    every = [run.counts[case] for run in runs if case in run.counts]
    if not every:
        return "no counters here"
    cycles, instructions = (
        median(getattr(one, what).value for one in every) for what in ("cycles", "instructions")
    )
    return f"{cycles:.4g} cycles, {instructions:.4g} instructions"


def told_figure(found: Figure | None, time: Interval | None, with_init: bool) -> str:
    """The cell of a tool."""
    if found is None:
        return "no answer"
    if time is None:
        return f"{median(found.told):.4g} ns"
    parts = [f"{found.ratio.value:.3f} ({found.ratio.low:.3f} to {found.ratio.high:.3f})"]
    if found.own[0] == found.own[0]:
        parts.append(f"own interval {found.own[0]:.3f} to {found.own[1]:.3f}")
    if found.doubted:
        parts.append(f"{found.doubted} of {found.runs} doubted by the tool")
    if with_init:
        parts.append("with the init")
    return ", ".join(parts)


def rows(language: str, runs: list[Run]) -> list[list[str]]:
    """The table of a language."""
    tools, table = WORDS[language], []
    for case, what in WORKLOADS.items():
        time, methods = truth(runs, case)
        cells = [
            told_figure(figure(runs, tool, case), time, words.with_init and case == "sort_100")
            for tool, words in tools.items()
        ]
        table.append([what, told_truth(time, methods), told_counts(runs, case), *cells])
    return table


def header(language: str) -> list[str]:
    """The names of the columns."""
    return ["code", "truth", "counters", *(words.name for words in WORDS[language].values())]


def idioms(language: str, versions: dict[str, str]) -> list[list[str]]:
    """What every tool says that it measures."""
    return [
        [words.name, versions.get(tool, "?"), words.idiom, words.anew, words.says]
        for tool, words in WORDS[language].items()
    ]


IDIOMS = ("tool", "version", "idiom", "data made anew", "what it says that its figure is")


def document(
    about: dict[str, Any], languages: dict[str, list[Run]], notes: list[str]
) -> dict[str, Any]:
    """All figures as JSON."""
    return {
        **about,
        "languages": {name: of_language(name, runs) for name, runs in languages.items()},
        "notes": notes,
    }


def of_language(language: str, runs: list[Run]) -> dict[str, Any]:
    """The workloads of a language."""
    found = {}
    for case in WORKLOADS:
        time, methods = truth(runs, case)
        tools = {tool: figure(runs, tool, case) for tool in WORDS[language]}
        found[case] = {
            "truth_ns": time and asdict(time),
            "methods_ns": {name: asdict(one) for name, one in methods.items()},
            "counters": [asdict(run.counts[case]) for run in runs if case in run.counts],
            "over_truth": {tool: one and of_figure(one) for tool, one in tools.items()}
            if time
            else None,
            "told_ns": {
                tool: [run.told[tool][case].time.value for run in runs if has(run, tool, case)]
                for tool in tools
            },
        }
    return found


def of_figure(one: Figure) -> dict[str, Any]:
    """A figure; null for an interval that the tool does not have."""
    own = list(one.own) if one.own[0] == one.own[0] else None
    return {
        "ratio": asdict(one.ratio),
        "own_interval": own,
        "runs": one.runs,
        "doubted": one.doubted,
    }


def put(page: Path, lines: list[str]) -> None:
    """Puts lines between the marks of a page."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise NoMarks(f"{page.name} must have {BEGIN} and, below it, {END}")
    body = "\n".join(lines).strip("\n")
    page.write_text(f"{before}{BEGIN}\n\n{body}\n\n{END}{after}", encoding="utf-8")
