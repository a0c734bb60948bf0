"""Context switches: 20 runs of each mechanism, their spread, and the plain idea of lat_ctx
beside them.
"""

import subprocess
from dataclasses import dataclass
from typing import Any

from harness import BENCH, Record, Settings, figure, median, run_json, share

SPREAD_PERCENT = 5.0
MECHANISMS = ("futex", "pipe", "eventfd", "signal", "yield")
PLAIN = "lat_ctx's idea"
PLAIN_PAIRS = 200_000
BUILT = BENCH / "target" / "switch"
HEADER = ("mechanism", "run", "ns", "low", "high", "cycles", "lost_ns", "agrees", "findings")


@dataclass(frozen=True)
class Switch:
    """One run: times of a switch with its calls."""

    ns: tuple[float, float, float] = (float("nan"),) * 3
    cycles: float = float("nan")
    lost_ns: float = float("nan")
    agrees: bool | None = None
    findings: tuple[tuple[str, str], ...] = ()
    error: str = ""

    def found(self) -> str:
        """The findings in one word each."""
        return " ".join(f"{kind}:{severity}" for kind, severity in self.findings) or self.error

    def doubted(self) -> bool:
        """Whether a warning says that a repeat may differ, or that the figure is not to be
        trusted.
        """
        kinds = {
            "placements_differ",
            "partners_unknown",
            "differs_from_earlier_runs",
            "wide_interval",
            "core_shared",
            "disturbed",
        }
        return bool(self.error) or any(
            kind in kinds and worth != "note" for kind, worth in self.findings
        )


def switch(mechanism: str, settings: Settings) -> Switch:
    """One `hairspring switch`."""
    document, error, _ = run_json("switch", "--by", mechanism, "--cpu", str(settings.cpu))
    if document is None:
        return Switch(error=error)
    result: dict[str, Any] = document["results"][0]
    warm, check = result["costs"][0], result["check"]
    return Switch(
        ns=figure(warm["time_ns"]),
        cycles=figure(warm["cycles"])[0],
        lost_ns=figure(check["time_ns"])[0] if check else float("nan"),
        agrees=check["agrees"] if check else None,
        findings=tuple((finding["kind"], finding["severity"]) for finding in result["findings"]),
    )


def plain(settings: Settings) -> Switch:
    """One run of the plain idea."""
    BUILT.mkdir(parents=True, exist_ok=True)
    program = BUILT / "lat_ctx"
    if not program.exists():
        source = str(BENCH / "suite/lat_ctx.c")
        subprocess.run(
            ["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", source, "-o", str(program)],
            check=True,
        )
    command = [str(program), str(settings.cpu), str(PLAIN_PAIRS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return Switch(ns=(float(done.stdout), float("nan"), float("nan")))


def spread(values: list[float]) -> float:
    """Distance of the highest from the lowest, in percent of the median."""
    known = [value for value in values if value == value]
    return 100 * (max(known) - min(known)) / median(known) if known else float("nan")


def farthest(values: list[float]) -> float:
    """Largest distance from the median, in percent of it."""
    middle = median(values)
    return max(
        (100 * abs(value / middle - 1) for value in values if value == value), default=float("nan")
    )


def run(record: Record, settings: Settings) -> None:
    """All mechanisms in turn, so that slow changes of the machine meet all of them."""
    found: dict[str, list[Switch]] = {name: [] for name in (*MECHANISMS, PLAIN)}
    for _ in range(settings.times(20)):
        for mechanism in MECHANISMS:
            found[mechanism].append(switch(mechanism, settings))
        found[PLAIN].append(plain(settings))
    raw = [
        (name, at, *one.ns, one.cycles, one.lost_ns, one.agrees, one.found())
        for name, runs in found.items()
        for at, one in enumerate(runs)
    ]
    record.csv(HEADER, raw)
    rows = [row(name, runs) for name, runs in found.items()]
    columns = (
        "mechanism",
        "runs",
        "ns, median",
        "spread",
        "cycles, median",
        "spread",
        "lost work, ns",
        "agree",
        "doubted",
    )
    record.table("A switch with its calls, warm", columns, rows)
    for mechanism in MECHANISMS:
        judge(record, mechanism, found[mechanism])


def row(name: str, runs: list[Switch]) -> tuple[object, ...]:
    """One row of the table."""
    ns, cycles = [one.ns[0] for one in runs], [one.cycles for one in runs]
    checked = [one.agrees for one in runs if one.agrees is not None]
    return (
        name,
        len(runs),
        f"{median(ns):.0f}",
        f"{spread(ns):.1f} %",
        f"{median(cycles):.0f}",
        f"{spread(cycles):.1f} %",
        f"{median(one.lost_ns for one in runs):.0f}",
        f"{sum(checked)} of {len(checked)}",
        sum(one.doubted() for one in runs),
    )


def judge(record: Record, mechanism: str, runs: list[Switch]) -> None:
    """The target: every run within 5 % of the median, or a finding in the run that is off."""
    ns = [one.ns[0] for one in runs]
    middle = median(ns)
    off = [one for one in runs if not abs(one.ns[0] / middle - 1) <= SPREAD_PERCENT / 100]
    silent = [one for one in off if not one.doubted()]
    covered = share(one.ns[1] <= middle <= one.ns[2] for one in runs)
    detail = (
        f"farthest {farthest(ns):.1f} %, {len(off)} of {len(runs)} off by more, {len(silent)} of "
        "them without a finding"
    )
    record.target(
        f"{mechanism}: within 5 % of the median, or a finding",
        not silent,
        f"{detail}; {covered:.0f} % of the intervals hold it",
    )
