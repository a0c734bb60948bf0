"""Ordinary code by the tools of three languages, each in its own idiom, over a truth that is no
tool's.

Every repetition runs the loops of the truth and all tools of all languages in a random order, on
one CPU.
"""

import json
import os
import random
import sys
from collections.abc import Mapping
from datetime import date
from textwrap import wrap
from typing import Any

from compare_counters import available, counted
from compare_page import IDIOMS, WORKLOADS, Run, document, figure, header, idioms, put, rows, truth
from compare_tools import Programs, built
from compare_tools import run as run_tool
from compare_truth import COUNTERS, Round, by_methods, cpu_share, readings
from compare_words import WORDS, versions
from harness import ROOT, Record, Settings, circumstances, cpu_info
from measured import spread

PAGE = ROOT / "COMPARE.md"
# Loops that counters count are so much longer than the shortest one, and run so often.
LONGER, COUNTS = 40, 9
REPEATS, QUICK_REPEATS = 5, 1
READING = (
    "A cell has a tool's time over the truth of the same run: median (least to most of all runs), "
    "then the median of the tool's own interval over the truth, where it has one. The truth is a "
    "call's time by differences of loops: of one and two, and of four and eight times as many "
    "passes, by the wall clock and by the clock of the thread, and of one and two calls in a pass. "
    "Its interval goes over all methods and runs. Where the intervals of two methods have nothing "
    "in common, there is no truth, and the cells have the tools' median times. Each program has "
    "its own copy of the code, and its place may change the time."
)
COLUMNS = 100  # of a page
# Loops that had less of the CPU than this are named in a note: tools that report means then report
# the wait, too.
SHARE = 0.95


def by_loops(
    into: Run, cases: dict[str, dict[str, list[Round]]], command: list[str], has_counters: bool
) -> None:
    """The methods of the truth, and the counts where there are some."""
    for case, rounds in cases.items():
        methods = by_methods(rounds)
        if has_counters:
            shortest = min(passes for _, passes in rounds["wall_ns"][0])
            found = counted(command, case, LONGER * shortest, COUNTS)
            if found:
                into.counts[case] = found
                methods[COUNTERS] = found.ns
        into.methods[case] = methods


def repetition(
    programs: Programs, settings: Settings, at: int, has_counters: bool
) -> dict[str, Run]:
    """Everything once, in a random order."""
    runs = {language: Run() for language in WORDS}
    for (language, tool), command in random.Random(at).sample(
        list(programs.commands.items()), len(programs.commands)
    ):
        try:
            found = run_tool(command, language, tool, settings.cpu, settings.quick)
        except (RuntimeError, OSError, ValueError, KeyError) as error:
            programs.notes.append(f"repetition {at + 1}: {language}, {tool}: {error}")
            continue
        if isinstance(found, str):
            cases = readings(found)
            by_loops(
                runs[language], cases, ["taskset", "-c", str(settings.cpu), *command], has_counters
            )
            if (had := cpu_share(cases)) < SHARE:
                programs.notes.append(
                    f"repetition {at + 1}: {language}: loops had {100 * had:.0f} % of the CPU: busy"
                )
        else:
            runs[language].told[tool] = found
    return runs


def about(settings: Settings, repeats: int) -> dict[str, Any]:
    """Machine, date and versions."""
    cpu = cpu_info().get("model name", os.uname().machine)
    return {
        "benchmark": "compare",
        "date": date.today().isoformat(),
        "cpu": cpu,
        "system": f"{os.uname().sysname} {os.uname().release}",
        "quick": settings.quick,
        "repeats": repeats,
        "versions": versions(),
    }


def tables(record: Record, known: Mapping[str, Any], languages: dict[str, list[Run]]) -> None:
    """All tables."""
    told = "; ".join(f"{name} {version}" for name, version in known["versions"].items())
    machine = (
        f"{known['date']}, {known['cpu']}, {known['system']}, {known['repeats']} runs. Versions: "
        f"{told}."
    )
    record.say(*wrap(machine, COLUMNS), "", *wrap(READING, COLUMNS))
    for language, runs in languages.items():
        record.table(f"{language}: time over truth", header(language), rows(language, runs))
        record.table(f"{language}: what is measured", IDIOMS, idioms(language, known["versions"]))


def figures(record: Record, languages: dict[str, list[Run]]) -> None:
    """The figures for the page of what was measured: of each tool the median of every workload."""
    for language, runs in languages.items():
        known = [case for case in WORKLOADS if truth(runs, case)[0]]
        record.figures.append(
            f"{language}: {len(known)} of {len(WORKLOADS)} workloads have a truth"
        )
        for tool, words in WORDS[language].items():
            found = [figure(runs, tool, case) for case in known]
            ratios = [one.ratio.value for one in found if one]
            record.figures.append(spread(f"{words.name} in {language} over the truth", ratios))


def run(record: Record, settings: Settings) -> None:
    """Builds, repeats, reports."""
    programs, has_counters = built(), available()
    repeats = settings.times(QUICK_REPEATS if settings.quick else REPEATS)
    every = [repetition(programs, settings, at, has_counters) for at in range(repeats)]
    languages = {language: [one[language] for one in every] for language in WORDS}
    known, first = about(settings, repeats), len(record.lines)
    tables(record, known, languages)
    figures(record, languages)
    if programs.notes:
        record.say("", *(f"- {note}" for note in programs.notes))
    told = json.dumps(
        document({**known, "circumstances": circumstances()}, languages, programs.notes), indent=1
    )
    record.path("json").write_text(told + "\n")
    if settings.json:
        sys.stdout.write(told + "\n")
    # A quick run shows that everything works: its figures are for no page.
    if PAGE.exists() and not settings.quick:
        put(PAGE, record.lines[first:])
