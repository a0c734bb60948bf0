"""From command to answer: how long a user waits with default options."""

import random
import resource

from harness import Record, Settings, measure, median

SNIPPETS: dict[str, tuple[str, ...]] = {
    "x = x * c": ("x = x * c", "--let", "uint64_t x = 3", "--let", "uint64_t c = 5"),
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
    "asm imul": ("--lang", "asm", "imul %rcx, %rax"),
}
TARGET_S = 1.0


def run(record: Record, settings: Settings) -> None:
    """Each snippet ten times, in a random order."""
    raw: list[tuple[object, ...]] = []
    walls: dict[str, list[tuple[float, float, float]]] = {name: [] for name in SNIPPETS}
    for at in range(settings.times(10)):
        for name in random.Random(at).sample(list(SNIPPETS), len(SNIPPETS)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            answer = measure(*SNIPPETS[name], cpu=settings.cpu)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            walls[name].append((answer.wall_s, cpu, answer.measured_ms / 1e3))
            raw.append((name, answer.wall_s, cpu, answer.measured_ms, answer.found()))
    record.csv(("snippet", "wall_s", "cpu_s", "measured_ms", "findings"), raw)
    rows = [
        (name, f"{median(w for w, _, _ in them):.2f}", f"{max(w for w, _, _ in them):.2f}", *middle(them))
        for name, them in walls.items()
    ]
    record.table("Seconds", ("snippet", "wall, median", "wall, worst", "CPU, median", "measuring, median"), rows)
    for name, them in walls.items():
        seconds = [wall for wall, _, _ in them]
        detail = f"median {median(seconds):.2f} s, worst {max(seconds):.2f} s, CPU time {middle(them)[0]} s"
        record.target(f"{name}: answer in less than 1 s", max(seconds) < TARGET_S, detail)


def middle(them: list[tuple[float, float, float]]) -> tuple[str, str]:
    """Median of CPU and measuring time."""
    return f"{median(c for _, c, _ in them):.2f}", f"{median(m for _, _, m in them):.2f}"
