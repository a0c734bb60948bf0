"""Chains of integer length and the init pair: quiet, and beside neighbours."""

import random
import time
from contextlib import nullcontext

from cases import BODY_CYCLES, CHAINS, INIT_PAIRS
from harness import BENCH, Answer, Record, Settings, measure, median, run_json, share, worst
from neighbour import cpu_seconds, neighbour, raise_priority

BUDGET = ("--budget", "80ms")
NEAR_PERCENT, TRUSTED_PERCENT, TYPICAL_PERCENT, CALM_PERCENT, INIT_PERCENT = (
    0.5,
    0.3,
    0.1,
    0.05,
    1.0,
)
OFF = BENCH / "target/off"  # observations of results that are far from their integer
HEADER = ("case", "cycles", "low", "high", "truth", "measured_ms", "wall_s", "covers", "findings")


def repeat(
    cases: dict[str, tuple[str, ...]],
    settings: Settings,
    times: int,
    budget: tuple[str, ...] = BUDGET,
) -> dict[str, list[Answer]]:
    """Runs every case `times` times, in a new random order each time. Observations of results
    that are off are kept.
    """
    answers: dict[str, list[Answer]] = {name: [] for name in cases}
    OFF.mkdir(parents=True, exist_ok=True)
    for at in range(times):
        for name in random.Random(at).sample(list(cases), len(cases)):
            raw = OFF / f"{name}-{time.time_ns()}.csv"
            answers[name].append(
                measure(*cases[name], *budget, "--save", str(raw), cpu=settings.cpu)
            )
            cycles = answers[name][-1].cycles
            if cycles == cycles and abs(cycles - round(cycles)) <= cycles * NEAR_PERCENT / 100:
                raw.unlink(missing_ok=True)
    return answers


def truth(name: str, answers: list[Answer]) -> float:
    """The integer that the chain is closest to; the length of the body after an init is known."""
    typical = median(answer.cycles for answer in answers)
    return (
        BODY_CYCLES
        if name in INIT_PAIRS
        else float(max(1, round(typical)) if typical == typical else 1)
    )


def keep(record: Record, all_answers: dict[str, list[Answer]], ending: str = "csv") -> None:
    """Keeps the raw figures."""
    rows = []
    for name, answers in all_answers.items():
        length = truth(name, answers)
        for a in answers:
            rows.append(
                (
                    name,
                    a.cycles,
                    a.low,
                    a.high,
                    length,
                    a.measured_ms,
                    a.wall_s,
                    a.covers(length),
                    a.found(),
                )
            )
    record.csv(HEADER, rows, ending)


def rows_of(all_answers: dict[str, list[Answer]]) -> list[tuple[object, ...]]:
    """One row of the table for each case."""
    rows: list[tuple[object, ...]] = []
    for name, answers in all_answers.items():
        length = truth(name, answers)
        off = [answer.off_percent(length) for answer in answers]
        rows.append(
            (
                name,
                f"{length:.0f}",
                f"{median(answer.cycles for answer in answers):.4f}",
                f"{median(map(abs, off)):.3f} %",
                f"{worst(off):+.3f} %",
                f"{share(abs(x) <= NEAR_PERCENT for x in off):.0f} %",
                f"{share(abs(x) <= TYPICAL_PERCENT for x in off):.0f} %",
                f"{share(answer.covers(length) for answer in answers):.0f} %",
                f"{share(answer.untrusted() for answer in answers):.0f} %",
                f"{median(answer.measured_ms for answer in answers):.0f}",
                f"{max(answer.measured_ms for answer in answers):.0f}",
            )
        )
    return rows


COLUMNS = (
    "case",
    "truth",
    "median",
    "off, median",
    "off, worst",
    "within 0.5 %",
    "within 0.1 %",
    "covered",
    "untrusted",
)
COLUMNS_TIMED = (*COLUMNS, "measured ms", "most ms")


def offs(all_answers: dict[str, list[Answer]]) -> list[float]:
    """All distances from the truth, in percent."""
    return [
        answer.off_percent(truth(name, answers))
        for name, answers in all_answers.items()
        for answer in answers
    ]


def run_chains(record: Record, settings: Settings) -> None:
    """The chains without neighbours of our own."""
    answers = repeat(CHAINS, settings, settings.times(20))
    keep(record, answers)
    record.table("Chains", COLUMNS_TIMED, rows_of(answers))
    off = offs(answers)
    near, typical = (
        share(abs(x) <= limit for x in off) for limit in (NEAR_PERCENT, TYPICAL_PERCENT)
    )
    record.target(
        "every answer within 0.5 % of its integer",
        near == 100,
        f"{near:.1f} %, worst {worst(off):+.2f} %",
    )
    record.target(
        "typically within 0.1 %",
        median(map(abs, off)) <= TYPICAL_PERCENT,
        f"{typical:.0f} % of the answers",
    )
    covered = share(a.covers(truth(name, them)) for name, them in answers.items() for a in them)
    record.target(
        "intervals contain the integer in 90 % or more", covered >= 90, f"{covered:.1f} %"
    )
    quick = share(a.measured_ms <= 100 for them in answers.values() for a in them)
    record.target("measured for 100 ms or less", quick == 100, f"{quick:.0f} % of the runs")
    trusted(record, answers)
    patient = repeat(CHAINS, settings, settings.times(6), budget=())
    keep(record, patient, "default.csv")
    record.table(
        "With the default budget, which grows while the core is shared",
        COLUMNS_TIMED,
        rows_of(patient),
    )
    trusted(record, patient)
    off = offs(patient)
    close = share(abs(x) <= CALM_PERCENT for x in off)
    target = f"within {CALM_PERCENT} %, if nobody else uses the core"
    record.target(target, close == 100, f"{close:.1f} %, worst {worst(off):+.3f} %")


def trusted(record: Record, answers: dict[str, list[Answer]]) -> None:
    """How many answers are trusted, and how far these are off."""
    pairs = [(answer, truth(name, them)) for name, them in answers.items() for answer in them]
    sure = [(answer, length) for answer, length in pairs if not answer.untrusted()]
    off = [answer.off_percent(length) for answer, length in sure]
    near = share(abs(x) <= TRUSTED_PERCENT for x in off)
    record.target(
        "98 % are trusted", len(sure) >= 0.98 * len(pairs), f"{100 * len(sure) / len(pairs):.1f} %"
    )
    record.target(
        "trusted answers within 0.3 %", near == 100, f"{near:.1f} %, worst {worst(off):+.3f} %"
    )
    covered = share(answer.covers(length) for answer, length in sure)
    record.target(
        "93 % or more of their intervals contain the integer", covered >= 93, f"{covered:.1f} %"
    )


def run_init(record: Record, settings: Settings) -> None:
    """The body after an init."""
    answers = repeat(INIT_PAIRS, settings, settings.times(20))
    keep(record, answers)
    record.table("A body of 30 cycles after an init of 120", COLUMNS_TIMED, rows_of(answers))
    off = offs(answers)
    near = share(abs(x) <= INIT_PERCENT for x in off)
    record.target("every body within 1 %", near == 100, f"{near:.0f} %, worst {worst(off):+.2f} %")


def run_coverage(record: Record, settings: Settings) -> None:
    """The coverage that `hairspring verify` finds."""
    runs = str(settings.times(200))
    columns: dict[str, dict[str, float]] = {}
    raw: list[tuple[object, ...]] = []
    for kind in ("quiet", "busy"):
        with nullcontext() if kind == "quiet" else neighbour(kind, settings.cpu):
            document, error, _ = run_json("verify", "--runs", runs, "--cpu", str(settings.cpu))
        if document is None:
            record.say(f"- **missed**: verify beside {kind}: {error}")
            continue
        for chain in document["chains"]:
            raw.append(
                (
                    kind,
                    chain["name"],
                    chain["integer"],
                    chain["distance_percent"],
                    chain["coverage"],
                )
            )
        columns[kind] = {
            c["name"]: c["coverage"] for c in document["chains"] if c["coverage"] is not None
        }
    record.csv(("neighbour", "chain", "integer", "distance_percent", "coverage"), raw)
    distance = {(str(row[0]), str(row[1])): row[3] for row in raw}
    names = sorted({name for column in columns.values() for name in column})
    header = ["chain", *(f"{kind}: {what}" for kind in columns for what in ("covered", "off"))]
    cells = [
        [
            f"{100 * columns[k][n]:.1f} %" if w else f"{distance[k, n]:+.3f} %"
            for k in columns
            for w in (True, False)
        ]
        for n in names
    ]
    record.table(
        f"Coverage of 95 % intervals, {runs} short runs",
        header,
        [[n, *c] for n, c in zip(names, cells, strict=True)],
    )
    for kind, column in columns.items():
        low = min(column, key=lambda name: column[name])
        mean = 100 * sum(column.values()) / len(column)
        detail = f"mean {mean:.1f} %, least {100 * column[low]:.1f} % ({low})"
        record.target(
            f"coverage of 90 % or more for each chain, {kind}", column[low] >= 0.9, detail
        )


def half(settings: Settings) -> float:
    """Share of the CPU that a busy neighbour keeps beside one more process of the same priority."""
    with neighbour("busy", settings.cpu) as pid, neighbour("busy", settings.cpu):
        begin, used = time.monotonic(), cpu_seconds(pid)
        time.sleep(3)
        return 100 * (cpu_seconds(pid) - used) / (time.monotonic() - begin)


def run_loaded(record: Record, settings: Settings) -> None:
    """The chains and the init pair beside neighbours."""
    raise_priority()  # so that the compiler does not starve beside a neighbour of high priority
    record.say(
        "",
        f"A busy neighbour keeps {half(settings):.0f} % of the CPU beside a process of the same "
        "priority.",
    )
    cases = {**CHAINS, **INIT_PAIRS}
    for kind in ("busy", "bursty", "thrash"):
        cpu = settings.cpu if kind != "thrash" else (settings.cpu or 2) - 1
        with neighbour(kind, cpu):
            answers = repeat(cases, settings, settings.times(20))
        keep(record, answers, f"{kind}.csv")
        where = "the same CPU" if cpu == settings.cpu else f"CPU {cpu}"
        record.table(f"Beside a neighbour on {where}: {kind}", COLUMNS_TIMED, rows_of(answers))
        pairs = [(a, truth(name, them)) for name, them in answers.items() for a in them]
        off = [(a, length) for a, length in pairs if not abs(a.off_percent(length)) <= NEAR_PERCENT]
        silent = [(a, length) for a, length in off if not a.untrusted()]
        uncovered = [(a, length) for a, length in silent if not a.covers(length)]
        detail = (
            f"{len(off)} of {len(pairs)} off by more than 0.5 %, {len(off) - len(silent)} of them "
            "untrusted"
        )
        detail += (
            f", {len(silent)} without a finding, {len(uncovered)} of these with an interval beside "
            "the truth"
        )
        record.target(f"no wrong figure without a finding, {kind}", not uncovered, detail)
