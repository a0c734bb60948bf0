"""Checks the functions of the cam design problem in a program (check.c, check.f90) against what is
known of them.

check.py PROGRAM
"""

import math
import random
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction

Point = tuple[float, float]

PREVIOUS: Point = (0.75, 0.75)
CURRENT: Point = (0.9, 0.2)
STEP = 1e-5


def ask(
    program: str, points: Sequence[Point], previous: Point = PREVIOUS, current: Point = CURRENT
) -> list[list[float]]:
    """Value, gradient, GCA and TANA-3 at each point."""
    words = [repr(number) for number in (*previous, *current)]
    lines = "".join(f"{x!r} {y!r}\n" for x, y in points)
    output = subprocess.run(
        [program, *words], input=lines, capture_output=True, text=True, check=True
    ).stdout
    found = [[float(word) for word in line.split()] for line in output.splitlines()]
    assert len(found) == len(points), output
    return found


def near(found: float, expected: float, relative: float, what: str) -> None:
    assert abs(found - expected) <= relative * abs(expected), (
        f"{what}: {found!r}, expected {expected!r}"
    )


def closed_form(x1: float, x2: float) -> tuple[float, float, float]:
    """The sum of the squares is (log t + x2)^2 + x1^2, so neither sine nor cosine is left.
    Summed exactly.
    """
    angles = [math.pi * (1 / 3 + (number - 1) / 180) for number in range(1, 101)]
    total = sum(
        (Fraction(math.log(angle)) + Fraction(x2)) ** 2 + Fraction(x1) ** 2 for angle in angles
    )
    slope = sum(Fraction(math.log(angle)) + Fraction(x2) for angle in angles)
    return float(total) * math.pi / 3.6, 200 * x1 * math.pi / 3.6, float(2 * slope) * math.pi / 3.6


def cost_is_the_published_one(program: str) -> None:
    """Schittkowski's minimum to all digits; the paper's figures within the rounding of its
    points.
    """
    minimum, *_ = ask(program, [(0.91139872, 0.029280207)])
    assert round(minimum[0], 5) == 114.95015, minimum
    for (x, y), published in [((0.911, 0.029), 114.95), ((0.909, 0.033), 115.028)]:
        corners = [found[0] for found in ask(program, [(x - 5e-4, y - 5e-4), (x + 5e-4, y + 5e-4)])]
        assert corners[0] < published < corners[1], (corners, published)


def cost_is_the_closed_form(program: str) -> None:
    chance = random.Random(1)
    points = [(chance.uniform(0, 1.5), chance.uniform(0, 1.5)) for _ in range(50)]
    for point, found_values in zip(points, ask(program, points), strict=True):
        for own, expected, what in zip(
            found_values[:3],
            closed_form(*point),
            ("cost", "slope by x1", "slope by x2"),
            strict=True,
        ):
            near(own, expected, 1e-12, f"{what} at {point}")


def slopes(program: str, point: Point, column: int, previous: Point, current: Point) -> Point:
    """Central differences of a column at a point."""
    x, y = point
    around = [(x + STEP, y), (x - STEP, y), (x, y + STEP), (x, y - STEP)]
    right, left, above, below = (found[column] for found in ask(program, around, previous, current))
    return (right - left) / (2 * STEP), (above - below) / (2 * STEP)


def approximations_meet_the_function(program: str) -> None:
    """GCA: value and gradient at the current point, gradient at the previous one; TANA-3: both
    at both.
    """
    gca, tana3 = 3, 4
    for previous, current in [
        (PREVIOUS, CURRENT),
        ((0.9, 0.2), (0.911, 0.03)),
        ((0.3, 1.2), (1.4, 0.1)),
    ]:
        known_values = dict(
            zip(
                (previous, current),
                ask(program, [previous, current], previous, current),
                strict=True,
            )
        )
        for column, point in [(gca, current), (tana3, current), (tana3, previous)]:
            near(
                known_values[point][column],
                known_values[point][0],
                1e-12,
                f"column {column} at {point}",
            )
        for column, point in [(gca, previous), (gca, current), (tana3, previous), (tana3, current)]:
            for own, expected in zip(
                slopes(program, point, column, previous, current),
                known_values[point][1:3],
                strict=True,
            ):
                near(own, expected, 1e-6, f"slope of column {column} at {point}")
    # They are approximations: elsewhere they are near the function, and not the function itself.
    found = ask(program, [(0.88, 0.25)])[0]
    assert all(1e-9 < abs(found[column] / found[0] - 1) < 0.02 for column in (gca, tana3)), found


def same_points_and_signs_are_no_division_by_zero(program: str) -> None:
    """Without a power that fits, the approximations are straight lines."""
    for previous in [CURRENT, (0.9, 0.75), (0.75, 0.2)]:
        found = ask(program, [(0.88, 0.25)], previous=previous)[0]
        assert all(math.isfinite(number) for number in found), (previous, found)


def main() -> None:
    (program,) = sys.argv[1:]
    for check in (
        cost_is_the_published_one,
        cost_is_the_closed_form,
        approximations_meet_the_function,
        same_points_and_signs_are_no_division_by_zero,
    ):
        check(program)


if __name__ == "__main__":
    main()
