"""Stopwatches of C programs: the bias of empty spans minus the overhead, and the cost of an
inline read.
"""

import os
import random
import statistics
import subprocess
from pathlib import Path

from harness import BENCH, ROOT, Record, Settings

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))) / "release"
BUILT = BENCH / "target" / "stopwatch"
SYSTEM = ("-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl")
INCLUDES = (f"-I{ROOT / 'probe'}", f"-I{ROOT / 'crates/hairspring-capi/include'}")
BIAS_TICKS = 1.0
RATIO = 1.01


def build(compiler: str, kind: str) -> Path:
    """Builds the program with one compiler and the library, shared or static."""
    program = BUILT / f"{compiler}-{kind}"
    library = BUILT / "libhairspring.so.0" if kind == "shared" else TARGET / "libhairspring_capi.a"
    source = BENCH / "suite/stopwatch.c"
    flags = (*INCLUDES, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")
    subprocess.run(
        [compiler, *flags, str(source), str(library), *SYSTEM, "-o", str(program)], check=True
    )
    return program


def build_all() -> dict[tuple[str, str], Path]:
    """Both compilers, both kinds of library."""
    BUILT.mkdir(parents=True, exist_ok=True)
    cargo = ["cargo", "build", "--quiet", "--release", "--package", "hairspring-capi"]
    subprocess.run(cargo, check=True, cwd=ROOT)
    (BUILT / "libhairspring.so.0").write_bytes((TARGET / "libhairspring_capi.so").read_bytes())
    return {
        (compiler, kind): build(compiler, kind)
        for compiler in ("gcc", "clang")
        for kind in ("shared", "static")
    }


def figures(program: Path, cpu: int) -> dict[str, float]:
    """The output of one run of a program."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(BUILT)}
    command = ["taskset", "-c", str(cpu), str(program)]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment, timeout=120
    )
    pairs = (line.rsplit(",", 1) for line in done.stdout.splitlines())
    return {what: float(value) for what, value in pairs}


def interval(values: list[float]) -> tuple[float, float]:
    """Mean and half-width of its 95 % interval; each run is a separate process."""
    spread = statistics.stdev(values) if len(values) > 1 else float("nan")
    dof = max(len(values) - 1, 1)
    # Student's quantile, by its expansion around the normal one.
    quantile = 1.96 + 2.37 / dof + 2.82 / dof**2 + 2.56 / dof**3
    return statistics.fmean(values), quantile * spread / len(values) ** 0.5


def median(values: list[float]) -> float:
    """Median of the values."""
    return statistics.median(values)


def row(name: str, values: list[float]) -> list[str]:
    """One line of the tables."""
    mean, half = interval(values)
    return [
        name,
        f"{mean:+.3f} +- {half:.3f}",
        f"{median(values):+.3f}",
        f"{min(values):+.3f} to {max(values):+.3f}",
    ]


def run(record: Record, settings: Settings) -> None:
    """Every program twenty times, in a random order."""
    programs = build_all()
    found: dict[tuple[str, str], list[dict[str, float]]] = {name: [] for name in programs}
    raw: list[tuple[object, ...]] = []
    for at in range(settings.times(20)):
        for name in random.Random(at).sample(list(programs), len(programs)):
            values = figures(programs[name], settings.cpu)
            found[name].append(values)
            raw.extend((*name, at, what, value) for what, value in values.items())
    record.csv(("compiler", "library", "run", "what", "value"), raw)

    biases = {
        f"{watch}, {compiler}, {kind}": [values[f"{watch} bias"] for values in them]
        for watch in ("header", "library")
        for (compiler, kind), them in found.items()
    }
    columns = ("mean over the runs", "median", "runs")
    record.table(
        "Empty spans, ticks", ("stopwatch", *columns), [row(*one) for one in biases.items()]
    )
    ratios = {
        f"{compiler}, {what}": [
            values[key] for (c, _), them in found.items() if c == compiler for values in them
        ]
        for compiler in ("gcc", "clang")
        for what, key in (
            ("with value", "read ratio"),
            ("without value", "read ratio without value"),
        )
    }
    record.table(
        "An inline read over a bare ordered one",
        ("read", *columns),
        [row(*one) for one in ratios.items()],
    )
    for watch, spans in biases.items():
        mean, half = interval(spans)
        record.target(
            f"{watch}: mean bias below {BIAS_TICKS:.0f} tick",
            abs(mean) < BIAS_TICKS,
            f"{mean:+.3f} +- {half:.3f}, median {median(spans):+.3f}",
        )
    # Without the value the halves of the counter are not combined. This is not a reading, so it is
    # only shown.
    for read, costs in ratios.items():
        if "without" not in read:
            detail = f"{median(costs):.4f} times"
            record.target(f"{read}: an inline read costs no more", median(costs) <= RATIO, detail)
