"""Instruction tables against published figures, quiet and beside a busy neighbour; separate runs
of some forms.
"""

import json
import statistics
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

from harness import Record, Settings, cpu_info, run_json, share
from neighbour import neighbour, raise_priority
from repeat import ends_apart

# Figures that two published sources give alike, by family of cores; the file names its sources.
PUBLISHED = Path(__file__).resolve().parent / "published.json"
LATENCY, THROUGHPUT = 0.01, 0.02
PER_FORM_S = 60 / 150
# Forms whose separate runs are compared, and how many of the pairs may have intervals that do not
# overlap, in percent.
REPEATED = (
    "imul r64, r64",
    "imul r64, r64, imm8",
    "popcnt r64, r64",
    "lzcnt r64, r64",
    "add r64, r64",
    "addps xmm, xmm",
    "mulps xmm, xmm",
)
MOST_APART = 1.0
OFF_LATTICE = "latency_off_lattice"
HEADER = ("neighbour", "form", "quantity", "here", "half", "published", "doubtful", "agrees")


def family(known: dict[str, Any]) -> str | None:
    """The published family of this CPU, by its model number; by its flags if none has that, as
    behind a hypervisor.
    """
    cpu = cpu_info()
    key, flags = (
        f"{cpu.get('vendor_id')} {cpu.get('cpu family')}",
        set(cpu.get("flags", "").split()),
    )
    families = {
        name: one
        for name, one in known.items()
        if isinstance(one, dict) and one["vendor_and_family"] == key
    }
    by_number = [
        name for name, one in families.items() if int(cpu.get("model", -1)) in one["models"]
    ]
    by_flags = [
        name
        for name, one in families.items()
        if one.get("flags") and flags.issuperset(one["flags"])
    ]
    return next(iter(by_number + by_flags), None)


def slowest(form: dict[str, Any]) -> tuple[float, float, bool] | None:
    """The latency of the slowest pair that is known alone, its half-width, and whether it is in
    doubt.

    A chain that takes no whole number of cycles, and of which a finding says so, has no single
    latency: a doubt, too. Latencies through memory depend on how the store and the load meet, and
    no source publishes them alike.
    """
    others = {"flags", "m"}
    pairs = [
        one
        for one in form["latencies"]
        if one["cycles"] and others.isdisjoint((one["from"], one["to"]))
    ]
    if not pairs:
        return None
    pair = max(pairs, key=lambda one: one["cycles"]["value"])
    chain = f"({pair['from']} to {pair['to']})"
    said = any(
        one["kind"] == OFF_LATTICE and one["pair"].endswith(chain) for one in form["findings"]
    )
    return (
        pair["cycles"]["value"],
        (pair["cycles"]["high"] - pair["cycles"]["low"]) / 2,
        pair["doubtful"] or said,
    )


def copy(form: dict[str, Any]) -> tuple[float, float, bool] | None:
    """The throughput, its half-width, and whether it is in doubt; none if a copy needs other
    instructions, too.

    Published copies of a store write to one line of the cache.
    """
    found = form.get("throughput_one_line") or form["throughput"]
    if not found or form["throughput_with"]:
        return None
    return found["value"], (found["high"] - found["low"]) / 2, form["throughput_doubtful"]


def compare(
    kind: str, document: dict[str, Any], published: dict[str, list[float | None]]
) -> list[tuple[Any, ...]]:
    """Every published figure with that of the document."""
    rows: list[tuple[Any, ...]] = []
    for form in document["forms"]:
        figures = published.get(form["name"])
        if figures is None:
            continue
        for quantity, truth, found, limit in (
            ("latency", figures[0], slowest(form), LATENCY),
            ("throughput", figures[1], copy(form), THROUGHPUT),
        ):
            if truth is None or found is None:
                continue
            value, half, doubtful = found
            rows.append(
                (
                    kind,
                    form["name"],
                    quantity,
                    value,
                    half,
                    truth,
                    doubtful,
                    abs(value / truth - 1) <= limit,
                )
            )
    return rows


def repeated(record: Record, settings: Settings) -> None:
    """Separate runs of a few forms: whether the intervals of their trusted figures overlap."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _ in range(settings.times(12)):
        document, error, _ = run_json("instructions", "--cpu", str(settings.cpu), *REPEATED)
        if document is None:
            record.say(error)
            continue
        for form in document["forms"]:
            for quantity, figure in (("latency", slowest(form)), ("throughput", copy(form))):
                if figure and not figure[2]:
                    found.setdefault((form["name"], quantity), []).append((figure[0], figure[1]))
    table: list[tuple[object, ...]] = []
    for quantity in ("latency", "throughput"):
        pairs: list[bool] = []
        for (form, kind), figures in found.items():
            if kind == quantity:
                apart = ends_apart((value - half, value + half) for value, half in figures)
                pairs += apart
                values, halves = zip(*figures, strict=True)
                seen = (min(values), max(values), statistics.median(halves))
                table.append(
                    (form, kind, len(figures), *(f"{one:.4f}" for one in seen), sum(apart))
                )
        target = (
            f"{quantity}: intervals of {MOST_APART:.0f} % of the pairs of separate runs or fewer "
            "do not overlap"
        )
        record.target(
            target,
            bool(pairs) and share(pairs) <= MOST_APART,
            f"{share(pairs):.1f} % of {len(pairs)}",
        )
    record.table(
        "Separate runs",
        ("form", "quantity", "trusted", "least", "most", "half-width", "pairs apart"),
        table,
    )


def tell(
    record: Record, kind: str, name: str, rows: list[tuple[Any, ...]]
) -> list[tuple[object, ...]]:
    """The targets of one table against the published family, and its lines of the summary."""
    lines: list[tuple[object, ...]] = []
    for quantity, limit in (("latency", LATENCY), ("throughput", THROUGHPUT)):
        own = [row for row in rows if row[2] == quantity]
        good = [row for row in own if row[7]]
        doubted = [row for row in own if not row[7] and row[6]]
        lines.append(
            (kind, quantity, len(own), len(good), len(doubted), len(own) - len(good) - len(doubted))
        )
        wrong = [
            f"{row[1]} {row[3]:.2f} for {row[5]:g}" for row in own if not row[7] and not row[6]
        ]
        target = f"{kind}: every {quantity} within {100 * limit:.0f} % of {name}, or doubted"
        agree = f"{share(row[7] for row in own):.0f} % of {len(own)} agree"
        record.target(target, bool(own) and not wrong, "; ".join(wrong) or agree)
    return lines


def run(record: Record, settings: Settings) -> None:
    """The default sets and AVX-512, then the same beside a busy neighbour, and a few forms again
    and again.
    """
    raise_priority()
    known = json.loads(PUBLISHED.read_text())
    name = family(known)
    if name is None:
        record.say(
            "No figures are published for this CPU by its model number or its flags: nothing is "
            "compared."
        )
    raw: list[tuple[Any, ...]] = []
    table: list[tuple[object, ...]] = []
    sets = {"default sets": (), "AVX-512": ("--set", "avx512")}
    if "avx512f" not in cpu_info().get("flags", "").split():
        record.say("This CPU has no AVX-512: its forms are not measured.")
        del sets["AVX-512"]
    for neighbours, (label, options) in product(("quiet", "busy"), sets.items()):
        kind = f"{neighbours}, {label}"
        with nullcontext() if neighbours == "quiet" else neighbour(neighbours, settings.cpu):
            document, error, wall = run_json(
                "instructions", "--cpu", str(settings.cpu), *options, timeout=1_800
            )
        if document is None:
            record.target(f"{kind}: the table is measured", False, error)
            continue
        if name:
            rows = compare(kind, document, known[name]["forms"])
            raw += rows
            table += tell(record, kind, name, rows)
        forms = len(document["forms"])
        in_time = wall <= max(forms * PER_FORM_S, 5)
        record.target(
            f"{kind}: 150 forms in 60 s, at the rate of all",
            in_time,
            f"{forms} forms in {wall:.1f} s",
        )
    record.csv(HEADER, raw)
    record.table(
        "Against published figures",
        ("neighbour", "quantity", "compared", "agree", "doubted", "wrong"),
        table,
    )
    repeated(record, settings)
