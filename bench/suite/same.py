"""Two identical snippets: a difference is claimed at most as often as the level allows."""

from collections import Counter

from cases import IMUL
from harness import Record, Settings, measure

# Without this the compiler merges the two into one function, at one place in memory.
APART = ("--cflags", "-O2 -fno-ipa-icf")
LETS = ("--let", "uint64_t x = 1000", "--let", "uint64_t c = 7")
PAIRS: dict[str, tuple[str, ...]] = {
    "asm imul, latency": (IMUL, "--vs", IMUL, "--lang", "asm"),
    "C x * c + 1, throughput": ("x * c + 1", "--vs", "x * c + 1", *LETS),
    "C x / c, throughput": ("x / c", "--vs", "x / c", *LETS),
}
LEVEL = 95.0
# 100 runs at a true rate of 5 % exceed 9 % in less than 3 % of the benchmarks.
CHANCE = 9.0


def run(record: Record, settings: Settings) -> None:
    """A hundred runs of each pair."""
    runs = settings.times(100)
    verdicts: dict[str, Counter[str]] = {}
    raw: list[tuple[object, ...]] = []
    for name, arguments in PAIRS.items():
        verdicts[name] = Counter()
        for _ in range(runs):
            answer = measure(*arguments, *APART, "--budget", "100ms", cpu=settings.cpu)
            verdicts[name][answer.verdict or "error"] += 1
            raw.append((name, answer.verdict, answer.measured_ms, answer.found()))
    record.csv(("pair", "verdict", "measured_ms", "findings"), raw)
    kinds = ("no_difference", "faster", "slower", "undecided", "error")
    rows = [[name, *(f"{100 * count[kind] / runs:.0f} %" for kind in kinds)] for name, count in verdicts.items()]
    record.table(f"Verdicts on identical code, {runs} runs", ("pair", *kinds), rows)
    for name, count in verdicts.items():
        wrong, right = (100 * sum(count[k] for k in them) / runs for them in (("faster", "slower"), ("no_difference",)))
        record.target(f"{name}: no difference in {LEVEL:.0f} % or more", right >= LEVEL, f"{right:.0f} %")
        record.target(
            f"{name}: a difference in 5 % (by chance {CHANCE:.0f} %) or less", wrong <= CHANCE, f"{wrong:.0f} %"
        )
