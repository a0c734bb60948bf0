"""A body of 40 ns by the clocks of the operating system, against the TSC (the report's Figure
2).
"""

import random

from cases import IMUL
from harness import Answer, Record, Settings, asm, measure, median, share, worst

BODY = asm(*[IMUL] * 50)
BODY_CYCLES = 150.0
CLOCKS = ("tsc", "monotonic", "gettimeofday")


def run(record: Record, settings: Settings) -> None:
    """Every clock twenty times, in a random order; the coarse one also with a second of
    measuring time.
    """
    cases = {clock: ("--clock", clock) for clock in CLOCKS} | {
        "gettimeofday, 3 s": ("--clock", CLOCKS[2], "--budget", "3s")
    }
    answers: dict[str, list[Answer]] = {name: [] for name in cases}
    for at in range(settings.times(20)):
        for name in random.Random(at).sample(list(cases), len(cases)):
            answers[name].append(measure(*BODY, *cases[name], cpu=settings.cpu))
    tsc_ns = median(answer.time_ns[0] for answer in answers["tsc"])
    header = ("clock", "time_ns", "low", "high", "cycles", "cycles_low", "cycles_high", "findings")
    raw = [
        (name, *a.time_ns, a.cycles, a.low, a.high, a.found())
        for name, them in answers.items()
        for a in them
    ]
    record.csv(header, raw)
    rows = []
    for name, them in answers.items():
        ratios = [100 * (answer.time_ns[0] / tsc_ns - 1) for answer in them]
        widths = [100 * (a.time_ns[2] - a.time_ns[1]) / 2 / a.time_ns[0] for a in them]
        inside = share(a.time_ns[1] <= tsc_ns <= a.time_ns[2] for a in them)
        rows.append(
            [
                name,
                f"{median(a.time_ns[0] for a in them):.3f}",
                f"{median(ratios):+.3f} %",
                f"{worst(ratios):+.3f} %",
                f"{median(widths):.3f} %",
                f"{inside:.0f} %",
                f"{median(a.cycles for a in them):.2f}",
                f"{worst(a.off_percent(BODY_CYCLES) for a in them):+.3f} %",
                f"{share(a.covers(BODY_CYCLES) for a in them):.0f} %",
                f"{share(a.untrusted() for a in them):.0f} %",
            ]
        )
    columns = (
        "clock",
        "ns",
        "against TSC, median",
        "worst",
        "half-width",
        "interval contains TSC's median",
    )
    more = ("cycles (150)", "worst off 150", "interval contains 150", "untrusted")
    record.table("A body of 150 cycles", (*columns, *more), rows)
    for name, limit in zip(cases, (0.5, 0.5, 2.0, 1.0), strict=True):
        off = median(100 * (a.time_ns[0] / tsc_ns - 1) for a in answers[name])
        covered = share(a.covers(BODY_CYCLES) for a in answers[name])
        record.target(
            f"{name}: median within {limit} % of the TSC's", abs(off) <= limit, f"{off:+.3f} %"
        )
        record.target(
            f"{name}: 90 % of the intervals contain 150 cycles", covered >= 90, f"{covered:.0f} %"
        )
