"""Regenerates the vectors: tables of observations with fixed seeds, and the engine's results for
them.

    python3 spec/vectors/make.py path/to/hairspring

The engine's results are first compared with a naive solution, least squares through the means of
the rows: the two must agree to within the engine's interval. Only then are they written.
"""

import csv
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent
Row = tuple[str, tuple[int, ...], int, float, str]


def noisy(seed: int) -> random.Random:
    return random.Random(seed)


def rounds(
    seed: int, rows: list[tuple[str, tuple[int, ...], float]], count: int, noise: float
) -> Iterator[Row]:
    source = noisy(seed)
    for number in range(count):
        for series, counts, ticks in source.sample(rows, len(rows)):
            yield series, counts, number, ticks + source.gauss(0.0, noise), ""


def line(
    series: str, body: float, overhead: float, copies: list[int]
) -> list[tuple[str, tuple[int, ...], float]]:
    return [(series, (k,), overhead + body * k) for k in copies]


def plane(series: str, body: float, init: float) -> list[tuple[str, tuple[int, ...], float]]:
    pairs = [(1, 1), (1, 2), (2, 2), (2, 4), (4, 4), (4, 8), (8, 8), (8, 16)]
    return [(series, (n, m), 90.0 + body * n + init * m) for n, m in pairs]


def unrepeated() -> Iterator[Row]:
    source = noisy(6)
    for number in range(200):
        counts = tuple(source.randint(0, 40) for _ in range(3))
        ticks = 50.0 + 3.0 * counts[0] + 7.5 * counts[1] + 0.25 * counts[2] + source.gauss(0.0, 0.5)
        yield "main", counts, 0, ticks + (400.0 if number % 50 == 7 else 0.0), ""


def disturbed() -> Iterator[Row]:
    for number, row in enumerate(rounds(8, line("main", 12.0, 30.0, [1, 2, 4, 8, 16]), 40, 0.5)):
        series, counts, at, ticks, _ = row
        yield (series, counts, at, ticks + 5000.0, "s") if number % 23 == 0 else row


COPIES = [16, 32, 64, 96, 128, 192, 256]
TABLES: dict[str, tuple[list[str], list[str], list[Row]]] = {
    "line": (
        ["rate_hz: 1000000000"],
        ["body"],
        list(rounds(1, line("main", 40.4, 18.8, list(range(1, 11))), 40, 1.135)),
    ),
    "ticks": ([], ["body"], list(rounds(2, line("main", 2.108, 55.0, COPIES), 40, 2.0))),
    "plane": (
        ["rate_hz: 2596000000"],
        ["body", "init"],
        list(rounds(3, plane("main", 30.0, 120.0), 40, 1.0)),
    ),
    "cycles": (
        ["rate_hz: 2596000000", "reference: ruler 3"],
        ["body"],
        list(
            rounds(
                4, line("code", 2.811, 60.0, COPIES) + line("ruler", 2.1084, 59.0, COPIES), 40, 1.5
            )
        ),
    ),
    "two": (
        ["rate_hz: 1000000000"],
        ["body"],
        list(rounds(5, line("old", 5.0, 20.0, COPIES) + line("new", 4.0, 20.0, COPIES), 40, 1.0)),
    ),
    "regression": (["rate_hz: 1000000000"], ["a", "b", "c"], list(unrepeated())),
    "dependent": (
        ["rate_hz: 1000000000"],
        ["a", "b", "c"],
        list(
            rounds(
                7,
                [
                    ("main", (n, n, m), 10.0 + 7.0 * n + 2.0 * m)
                    for n in (1, 2, 4, 8)
                    for m in (0, 5)
                ],
                40,
                0.5,
            )
        ),
    ),
    "disturbed": (["rate_hz: 1000000000"], ["body"], list(disturbed())),
    "nothing": (
        ["rate_hz: 1000000000"],
        ["body"],
        list(rounds(9, line("main", 0.0, 25.0, COPIES), 40, 1.0)),
    ),
}


def write_table(name: str, comments: list[str], components: list[str], rows: list[Row]) -> None:
    with (FOLDER / f"{name}.csv").open("w", newline="") as file:
        file.write(
            "# hairspring observations: 1\n" + "".join(f"# {comment}\n" for comment in comments)
        )
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["series", *components, "round", "flags", "ticks"])
        for series, counts, number, ticks, flags in rows:
            writer.writerow([series, *counts, number, flags, f"{ticks:.3f}"])


def naive(name: str, series: str, components: list[str], rows: list[Row]) -> dict[str, float]:
    """Least squares through the means of the rows, by the normal equations and elimination; 0
    for what has no pivot.
    """
    sums: dict[tuple[int, ...], list[float]] = {}
    for at, (of, counts, _, ticks, flags) in enumerate(rows):
        if of == series and not flags and (name != "regression" or at % 50 != 7):
            sums.setdefault(counts, []).append(ticks)
    design = [[*map(float, counts), 1.0] for counts in sums]
    means = [sum(ticks) / len(ticks) for ticks in sums.values()]
    width = len(components) + 1
    system = [
        [sum(row[i] * row[j] for row in design) for j in range(width)]
        + [sum(r[i] * m for r, m in zip(design, means, strict=True))]
        for i in range(width)
    ]
    for at in range(width):
        pivot = system[at][at]
        if abs(pivot) < 1e-6:
            continue
        for other in range(width):
            if other != at:
                factor = system[other][at] / pivot
                system[other] = [
                    x - factor * y for x, y in zip(system[other], system[at], strict=True)
                ]
    solved = [row[-1] / row[at] if abs(row[at]) > 1e-6 else 0.0 for at, row in enumerate(system)]
    return dict(zip(components, solved, strict=False))


def expected(command: str, name: str) -> Iterator[list[object]]:
    comments, components, rows = TABLES[name]
    text = subprocess.run(
        [command, "fit", FOLDER / f"{name}.csv", "--json"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    ns = 1e9 / float(comments[0].split()[1]) if comments else 1.0
    for result in json.loads(text)["results"]:
        plain = naive(name, result["name"], components, rows)
        for component, figure in result["components"].items():
            unit = "ns" if "time_ns" in figure else "ticks"
            time = figure["time_ns" if unit == "ns" else "ticks"]
            oracle = sum(plain[part.strip()] for part in component.split("+")) * ns
            slack = 2.0 * (time["high"] - time["low"]) + 1e-3
            assert abs(oracle - time["value"]) < slack, (
                f"{name}: {component} is {time['value']}, naively {oracle}"
            )
            for of, e in ((unit, time), ("cycles", figure.get("cycles"))):
                if e is not None:
                    below = int(figure["below_resolution"])
                    yield [
                        f"{name}.csv",
                        e["level"],
                        result["name"],
                        component,
                        of,
                        e["value"],
                        e["low"],
                        e["high"],
                        below,
                    ]


def main(command: str) -> None:
    lines: list[list[object]] = []
    for name, (comments, components, rows) in TABLES.items():
        write_table(name, comments, components, rows)
        lines.extend(expected(command, name))
    with (FOLDER / "expected.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            [
                "file",
                "level",
                "series",
                "component",
                "unit",
                "value",
                "low",
                "high",
                "below_resolution",
            ]
        )
        writer.writerows(lines)


if __name__ == "__main__":
    main(sys.argv[1])
