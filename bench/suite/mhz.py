"""The core clock: 100 runs of `hairspring mhz` and of the paper's method, quiet and beside a
busy neighbour.
"""

from contextlib import nullcontext
from dataclasses import dataclass

from harness import Record, Settings, median, run_json, share, worst
from neighbour import neighbour, raise_priority

SAME_PERCENT, LOADED_PERCENT, MOST_S = 0.1, 0.5, 0.1
STEP_MHZ = 100  # distance of the levels between which processors step
HEADER = ("method", "neighbour", "mhz", "low", "high", "wall_s", "ended")


@dataclass(frozen=True)
class Speed:
    """One run: no speed means that it was too busy, or out of time."""

    mhz: float
    low: float
    high: float
    wall_s: float
    ended: str


NO_SPEED = (float("nan"),) * 3


def modern(settings: Settings) -> Speed:
    """One `hairspring mhz`."""
    document, error, wall = run_json("mhz", "--cpu", str(settings.cpu))
    if document is None:
        return Speed(*NO_SPEED, wall, error or "too busy")
    hz = document["results"][0]["core_hz"]
    return Speed(hz["value"] / 1e6, hz["low"] / 1e6, hz["high"] / 1e6, wall, "accepted")


def classic(settings: Settings) -> Speed:
    """One `hairspring mhz --classic`; its spread is that of its own subsets."""
    document, error, wall = run_json("mhz", "--classic", "--cpu", str(settings.cpu))
    if document is None:
        return Speed(*NO_SPEED, wall, error or "too busy")
    found = document["classic"]
    mhz = found["mhz"]
    if mhz is None:
        return Speed(*NO_SPEED, found["seconds"], found["outcome"])
    low, high = mhz["middle_half"]
    return Speed(float(mhz["value"]), float(low), float(high), found["seconds"], found["outcome"])


def off_level(mhz: float, speeds: list[Speed]) -> float:
    """Distance in percent from the median of the runs at the same level."""
    level = [speed.mhz for speed in speeds if round(speed.mhz / STEP_MHZ) == round(mhz / STEP_MHZ)]
    return 100 * (mhz / median(level) - 1)


def run(record: Record, settings: Settings) -> None:
    """Both methods, interleaved, on a quiet machine and beside a busy neighbour on the same CPU."""
    raise_priority()
    raw: list[tuple[object, ...]] = []
    rows: list[tuple[object, ...]] = []
    truth = float("nan")
    all_known: list[Speed] = []
    for kind in ("quiet", "busy"):
        found: dict[str, list[Speed]] = {"lattice": [], "classic": []}
        with nullcontext() if kind == "quiet" else neighbour(kind, settings.cpu):
            for _ in range(settings.times(100)):
                found["lattice"].append(modern(settings))
                found["classic"].append(classic(settings))
        for method, speeds in found.items():
            raw += [(method, kind, s.mhz, s.low, s.high, s.wall_s, s.ended) for s in speeds]
        known = [speed for speed in found["lattice"] if speed.mhz == speed.mhz]
        truth = median(speed.mhz for speed in known) if kind == "quiet" else truth
        rows += [row(method, kind, speeds, truth) for method, speeds in found.items()]
        all_known += known
        judge(record, kind, found["lattice"], known, all_known)
    record.csv(HEADER, raw)
    columns = ("method", "neighbour", "runs", "no answer", "median MHz", "least", "most")
    record.table(
        "Both methods", (*columns, "within 0.1 %", "within 0.5 %", "seconds, median", "most"), rows
    )


def row(method: str, kind: str, speeds: list[Speed], truth: float) -> tuple[object, ...]:
    """One row of the table; distances are from the median of the lattice method on the quiet
    machine.
    """
    known = [speed.mhz for speed in speeds if speed.mhz == speed.mhz]
    within = [
        share(abs(mhz / truth - 1) <= limit / 100 for mhz in known)
        for limit in (SAME_PERCENT, LOADED_PERCENT)
    ]
    return (
        method,
        kind,
        len(speeds),
        len(speeds) - len(known),
        f"{median(known):.1f}",
        f"{min(known, default=float('nan')):.1f}",
        f"{max(known, default=float('nan')):.1f}",
        f"{within[0]:.0f} %",
        f"{within[1]:.0f} %",
        f"{median(speed.wall_s for speed in speeds):.2f}",
        f"{max(speed.wall_s for speed in speeds):.2f}",
    )


def judge(
    record: Record, kind: str, all_speeds: list[Speed], known: list[Speed], all_known: list[Speed]
) -> None:
    """The targets of the lattice method.

    A neighbour may move the core to another level, so that the truth beside it is not the speed of
    the quiet core, but the level at which other runs were, quiet or not: a speed that is wrong lies
    between levels.
    """
    silent = len(all_speeds) - len(known)
    if kind == "quiet":
        off = [off_level(speed.mhz, known) for speed in known]
        near = sum(abs(x) <= SAME_PERCENT for x in off)
        detail = (
            f"{near} of {len(all_speeds)}, worst {worst(off):+.3f} %, {silent} without an answer"
        )
        record.target(
            "within 0.1 % of the same level in 99 of 100 runs",
            near >= 0.99 * len(all_speeds),
            detail,
        )
        quick = share(speed.wall_s < MOST_S for speed in all_speeds)
        walls = (
            f"median {1e3 * median(s.wall_s for s in all_speeds):.0f} ms, {quick:.0f} % of the runs"
        )
        record.target("under 100 ms, including the start of the program", quick == 100, walls)
        return
    off = [off_level(speed.mhz, all_known) for speed in known]
    wrong = [x for x in off if abs(x) > LOADED_PERCENT]
    detail = (
        f"{len(wrong)} of {len(all_speeds)} off by more, worst {worst(off):+.3f} %, {silent} too "
        "busy"
    )
    record.target(
        "beside a busy neighbour within 0.5 % of the same level, or too busy", not wrong, detail
    )
