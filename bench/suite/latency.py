"""From command to answer: how long a user waits with default options, with an empty cache of
compiled code and with what the run before left.

With `BASE` as the path of another build, that build runs in between, and its times are compared.
Beside a busy process on the same CPU, the part of the budget that is spent is compared with the
budget.
"""

import os
import random
import resource
import tempfile
from pathlib import Path

import harness
from harness import Answer, Record, Settings, measure, median, run_json
from neighbour import neighbour

SNIPPETS: dict[str, tuple[str, ...]] = {
    "x = x * c": ("x = x * c", "--let", "uint64_t x = 3", "--let", "uint64_t c = 5"),
    "x ^= c": ("x ^= c", "--let", "uint64_t x = 3", "--let", "uint64_t c = 5"),
    "sqrt(x)": ("sqrt(x)", "--let", "double x = 2"),
    "x / y": ("x / y", "--let", "unsigned x = 1000", "--let", "unsigned y = 7"),
    "C++ std::max(x, y)": (
        "std::max(x, y)",
        "--lang",
        "c++",
        "--include",
        "algorithm",
        "--let",
        "int x = 3",
        "--let",
        "int y = 5",
    ),
    "C++ v[x & 7]": (
        "x = v[x & 7] + 3",
        "--lang",
        "c++",
        "--include",
        "vector",
        "--include",
        "algorithm",
        "--let",
        "std::vector<int> v(8)",
        "--let",
        "int x = 5",
    ),
    "asm imul": ("--lang", "asm", "imul %rcx, %rax"),
}
TARGET_S = 1.0
BASE = os.environ.get("BASE", "")
# Most share of the time of the build that is compared with.
MOST_OF_BASE = {"x = x * c": 0.4, "x ^= c": 0.4, "C++ std::max(x, y)": 0.6, "C++ v[x & 7]": 0.6}
# Budgets in milliseconds: the default one of `time`, which may grow to twice, and one that is
# given, which is kept but for this.
DEFAULT_MS = 800.0
GIVEN_MS = 500.0
MOST_BEHIND_MS = 200.0
Timed = tuple[float, float, float]


def run(record: Record, settings: Settings) -> None:
    """Each snippet ten times in each way, in a random order."""
    raw: list[tuple[object, ...]] = []
    ways = ("cold", "warm", *(("base",) if BASE else ()))
    times: dict[tuple[str, str], list[Timed]] = {
        (name, way): [] for name in SNIPPETS for way in ways
    }
    with tempfile.TemporaryDirectory() as kept:
        for name in SNIPPETS:
            timed(name, "warm", Path(kept), settings.cpu)
        for at in range(settings.times(10)):
            for name, way in random.Random(at).sample(list(times), len(times)):
                answer, cpu = timed(name, way, Path(kept), settings.cpu)
                times[name, way].append((answer.wall_s, cpu, answer.measured_ms / 1e3))
                raw.append((name, way, answer.wall_s, cpu, answer.measured_ms, answer.found()))
    record.csv(("snippet", "way", "wall_s", "cpu_s", "measured_ms", "findings"), raw)
    head = (
        "snippet",
        "cache",
        "wall, median",
        "wall, least",
        "wall, worst",
        "CPU, median",
        "measuring, median",
    )
    record.table("Seconds", head, [(*key, *summary(them)) for key, them in times.items()])
    judge(record, times)
    beside_a_busy_process(record, settings)


def beside_a_busy_process(record: Record, settings: Settings) -> None:
    """The part of its budget that each run spends while a process of the same priority has half
    of the CPU.
    """
    ways = {"default": ((), 2 * DEFAULT_MS), "given": (("--budget", f"{GIVEN_MS:.0f}ms"), GIVEN_MS)}
    spent: dict[tuple[str, str], list[float]] = {
        (name, way): [] for name in SNIPPETS for way in ways
    }
    with neighbour("busy", settings.cpu):
        for name, way in [key for _ in range(settings.times(5)) for key in spent]:
            document, _, _ = run_json(
                "time", *SNIPPETS[name], *ways[way][0], "--cpu", str(settings.cpu)
            )
            # A run without an answer has no budget to tell.
            spent[name, way].append(
                document["run"]["budget_spent_ms"] if document else float("nan")
            )
    head = ("snippet", "budget", "spent, median", "spent, worst")
    rows = [(*key, f"{median(them):.0f} ms", f"{max(them):.0f} ms") for key, them in spent.items()]
    record.table(
        "Part of the budget that is spent beside a busy process on the same CPU", head, rows
    )
    for way, (_, most) in ways.items():
        them = [one for (_, of_way), those in spent.items() if of_way == way for one in those]
        kept = sum(one <= most + MOST_BEHIND_MS for one in them)
        what = f"busy: a {way} budget is spent by {most + MOST_BEHIND_MS:.0f} ms"
        record.target(what, kept == len(them), f"{kept} of {len(them)}, worst {max(them):.0f} ms")


def timed(name: str, way: str, kept: Path, cpu: int) -> tuple[Answer, float]:
    """One answer and its processor time: without a cache, with the one that is kept, or by the
    other build.
    """
    usual = harness.COMMAND
    with tempfile.TemporaryDirectory() as empty:
        os.environ["XDG_CACHE_HOME"] = str(kept if way == "warm" else empty)
        harness.COMMAND = BASE if way == "base" else usual
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        answer = measure(*SNIPPETS[name], cpu=cpu)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    harness.COMMAND = usual
    return answer, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def judge(record: Record, times: dict[tuple[str, str], list[Timed]]) -> None:
    """The worst time of each snippet, and its share of the other build's."""
    for (name, way), them in times.items():
        walls = [wall for wall, _, _ in them]
        if way != "base":
            cpu_time = median(cpu for _, cpu, _ in them)
            detail = (
                f"median {median(walls):.2f} s, worst {max(walls):.2f} s, CPU time {cpu_time:.2f} s"
            )
            record.target(
                f"{name}, {way} cache: answer in less than {TARGET_S:.0f} s",
                max(walls) < TARGET_S,
                detail,
            )
        if BASE and way != "base":
            # Of neighbours in time, so that what disturbs both cancels.
            ratios = sorted(
                one[0] / other[0] for one, other in zip(them, times[name, "base"], strict=True)
            )
            most = MOST_OF_BASE.get(name, 1.0)
            detail = (
                f"median {median(ratios):.2f}, {ratios[0]:.2f} to {ratios[-1]:.2f} in "
                f"{len(ratios)} runs"
            )
            record.target(
                f"{name}, {way} cache: at most {most} of the other build's time",
                median(ratios) <= most,
                detail,
            )


def summary(them: list[Timed]) -> tuple[str, ...]:
    """Median, least and worst wall time; median of CPU and measuring time."""
    walls = [wall for wall, _, _ in them]
    figures = (
        median(walls),
        min(walls),
        max(walls),
        median(c for _, c, _ in them),
        median(m for _, _, m in them),
    )
    return tuple(f"{figure:.2f}" for figure in figures)
