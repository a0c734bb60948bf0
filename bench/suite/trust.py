"""How far to trust the instrument on this machine: what is right, doubted and wrong, quiet and
beside neighbours.

The truth comes from outside: chains whose length is an integer, code compared with itself, separate
runs of one code.
"""

import itertools
import json
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cases import CHAINS
from chains import truth
from harness import (
    COMMAND,
    Answer,
    Record,
    Settings,
    answer,
    measure,
    median,
    run_json,
    share,
    worst,
)
from neighbour import SITUATIONS, raise_priority, situation
from repeat import CASES, apart, usable
from same import PAIRS, compared

SEPARATE = ("multiply and add", "memcpy 64", "strchr", "insertion sort, 64")
IDENTICAL = ("asm imul, latency", "C x * c + 1, throughput", "C hash, latency")
NEAR_PERCENT, FAR_PERCENT = 0.3, 0.5
THRESHOLD = "2%"
SHORT = ("--budget", "80ms")
LIMIT_MISSED = 3


def run(record: Record, settings: Settings) -> None:
    """Every figure in every situation."""
    raise_priority()  # so that the compiler does not starve beside a neighbour of high priority
    columns: dict[str, dict[str, str]] = {}
    raw: list[tuple[object, ...]] = []
    for name in SITUATIONS:
        with situation(name, settings.cpu):
            columns[name] = figures(record, name, settings, raw)
    record.csv(("neighbour", "figure", "case", "value", "low", "high", "truth", "findings"), raw)
    names = list(next(iter(columns.values())))
    rows = [[figure, *(columns[name][figure] for name in columns)] for figure in names]
    record.table("How far to trust it here", ("", *columns), rows)


def figures(
    record: Record, name: str, settings: Settings, raw: list[tuple[object, ...]]
) -> dict[str, str]:
    """All figures beside one neighbour."""
    found = verified(settings.cpu)
    for part in (of_chains, of_separate_runs, of_identical_code):
        found |= part(record, name, settings, raw)
    return found


def verified(cpu: int) -> dict[str, str]:
    """What `verify` says."""
    done = subprocess.run(
        [COMMAND, "verify", "--cpu", str(cpu), "--json"], capture_output=True, text=True
    )
    if (
        not done.stdout
    ):  # a status other than 0 says that it failed; the figures are there all the same
        error = " ".join(done.stderr.split())[:60]
        return dict.fromkeys(
            ("verify: coverage of short runs", "verify: chains off, worst"), error or "no answer"
        )
    document = json.loads(done.stdout)
    coverage = [chain["coverage"] for chain in document["chains"] if chain["coverage"] is not None]
    off = worst(
        chain["distance_percent"]
        for chain in document["chains"]
        if chain["distance_percent"] is not None
    )
    mean = 100 * sum(coverage) / len(coverage) if coverage else float("nan")
    return {
        "verify: coverage of short runs": f"{mean:.0f} %",
        "verify: chains off, worst": f"{off:+.2f} %",
    }


def measured(code: Iterable[str], cpu: int) -> tuple[Answer, dict[str, Any] | None]:
    """One run, with its document."""
    document, error, wall = run_json("time", *code, "--cpu", str(cpu))
    return (Answer(error=error), None) if document is None else (answer(document, wall), document)


def line(
    name: str, figure: str, case: str, one: Answer, length: float = float("nan")
) -> tuple[object, ...]:
    """A run for the raw figures."""
    return (name, figure, case, one.cycles, one.low, one.high, length, one.found())


def of_chains(
    record: Record, name: str, settings: Settings, raw: list[tuple[object, ...]]
) -> dict[str, str]:
    """Chains of integer length, measured for 80 ms."""
    answers = {
        case: [measure(*code, *SHORT, cpu=settings.cpu) for _ in range(settings.times(4))]
        for case, code in CHAINS.items()
    }
    pairs = [(one, truth(case, them)) for case, them in answers.items() for one in them]
    raw += [
        line(name, "chain", case, one, truth(case, them))
        for case, them in answers.items()
        for one in them
    ]
    trusted = [(one, length) for one, length in pairs if not one.untrusted()]
    off = [one.off_percent(length) for one, length in trusted]
    wrong = [
        one
        for one, length in trusted
        if abs(one.off_percent(length)) > FAR_PERCENT and not one.covers(length)
    ]
    detail = f"{len(wrong)} of {len(pairs)}"
    record.target(
        f"{name}: no trusted chain off by more than {FAR_PERCENT} % and its interval",
        not wrong,
        detail,
    )
    within = share(abs(x) <= NEAR_PERCENT for x in off)
    return {
        "chains: trusted": f"{share(not one.untrusted() for one, _ in pairs):.0f} %",
        f"chains, trusted: within {NEAR_PERCENT} %": f"{within:.0f} %",
        "chains, trusted: off, median": f"{median(map(abs, off)):.3f} %",
        "chains, trusted: off, worst": f"{worst(off):+.2f} %",
        "chains, trusted: covered": f"{share(one.covers(length) for one, length in trusted):.0f} %",
        "chains: no core cycles": f"{share(one.cycles != one.cycles for one, _ in pairs):.0f} %",
    }


def of_separate_runs(
    record: Record, name: str, settings: Settings, raw: list[tuple[object, ...]]
) -> dict[str, str]:
    """Separate runs of real code: whether their intervals overlap, and whether `compare` finds a
    change.
    """
    away: dict[str, list[bool]] = {"cycles": [], "ns": []}
    changed: list[bool] = []
    for case in SEPARATE:
        runs = [measured(CASES[case], settings.cpu) for _ in range(settings.times(4))]
        raw += [line(name, "separate run", case, one) for one, _ in runs]
        for unit, pairs in away.items():
            pairs += apart(usable((one for one, _ in runs), unit), unit)
        documents = [document for _, document in runs if document is not None]
        changed += [is_changed(old, new) for old, new in itertools.pairwise(documents)]
    detail = f"{sum(changed)} of {len(changed)}"
    record.target(
        f"{name}: compare finds no change of {THRESHOLD} in the same code", not any(changed), detail
    )
    return {
        "separate runs, trusted: apart in cycles": f"{share(away['cycles']):.0f} %",
        "separate runs, trusted: apart in ns": f"{share(away['ns']):.0f} %",
        f"compare --threshold {THRESHOLD}: false": f"{share(changed):.0f} %",
    }


def is_changed(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether `compare` says that a threshold is passed."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("old.json", "new.json")]
        for path, document in zip(paths, (old, new), strict=True):
            path.write_text(json.dumps(document))
        command = [COMMAND, "compare", *map(str, paths), "--threshold", THRESHOLD]
        status = subprocess.run(command, capture_output=True).returncode
    if status not in (0, LIMIT_MISSED):
        raise RuntimeError(f"hairspring compare ended with {status}")
    return status == LIMIT_MISSED


def of_identical_code(
    record: Record, name: str, settings: Settings, raw: list[tuple[object, ...]]
) -> dict[str, str]:
    """Code compared with itself in one run."""
    answers = [
        (case, compared(case, settings.cpu)) for case in IDENTICAL for _ in range(settings.times(4))
    ]
    raw += [line(name, "identical code", case, one) for case, one in answers]
    claimed = [one.verdict in ("faster", "slower") for _, one in answers]
    record.target(
        f"{name}: no difference is found between code and itself",
        not any(claimed),
        f"{sum(claimed)} of {len(claimed)}",
    )
    equal = share(one.verdict == "no_difference" for _, one in answers)
    return {
        "identical code: no difference": f"{equal:.0f} %",
        "identical code: a difference": f"{share(claimed):.0f} %",
    }


assert set(SEPARATE) <= set(CASES) and set(IDENTICAL) <= set(PAIRS)
