"""Loops of each statement, timed by two clocks: the truth is made of their differences
(bench/suite/compare_truth.py).

`truth.py MICROSECONDS ROUNDS` prints one line for each loop: case, round, form, passes, ns by the
wall clock, ns by the clock of the thread. `truth.py count CASE FORM PASSES` runs one loop, for
counters of the hardware.
"""

import itertools
import random
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Any

from work import CASES, Work

#: Statements of one pass: `body2` has two bodies, `base` and `base2` have none.
FORMS = {"body": (1, True), "body2": (2, True), "base": (1, False), "base2": (2, False)}
#: Passes of a loop as multiples of the shortest one's.
LENGTHS = {"body": (1, 2, 4, 8), "body2": (1,), "base": (1, 2, 4, 8), "base2": (1,)}
Loop = Callable[[int], tuple[int, int]]


def loop(case: Work, form: str) -> Loop:
    """A function that runs so many passes and returns their time by both clocks; the names of
    the setup are local.
    """
    namespace: dict[str, Any] = {}
    exec(case.setup, namespace)
    names = [name for name in namespace if not name.startswith("__")]
    times, has_body = FORMS[form]
    once = [case.init] * bool(case.init) + [case.statement] * has_body
    body = textwrap.indent("\n".join(once * times) or "pass", " " * 8)
    source = f"""\
def run(passes, {", ".join(f"{name}={name}" for name in names)}):
    wall, thread = clock(), thread_clock()
    for _ in repeat(None, passes):
{body}
    thread = thread_clock() - thread
    return clock() - wall, thread
"""
    clocks = {
        "clock": time.perf_counter_ns,
        "thread_clock": time.thread_time_ns,
        "repeat": itertools.repeat,
    }
    exec(source, namespace | clocks, made := dict[str, Any]())
    run: Loop = made["run"]
    return run


def enough(run: Loop, micros: int) -> int:
    """Passes that take about so long."""
    passes = 1
    while run(passes)[0] < micros * 1000:
        passes *= 2
    return max(1, passes * micros * 1000 // min(run(passes)[0] for _ in range(5)))


def measure(name: str, case: Work, micros: int, rounds: int) -> None:
    """All loops of a case, in another order in each round."""
    runs = {form: loop(case, form) for form in FORMS}
    shortest = enough(runs["body"], micros)
    loops = [(form, times * shortest) for form in FORMS for times in LENGTHS[form]]
    order = random.Random(1)
    for at in range(rounds):
        order.shuffle(loops)
        for form, passes in loops:
            wall, thread = runs[form](passes)
            print(f"{name},{at},{form},{passes},{wall},{thread}")


def main(words: list[str]) -> None:
    """As the command line says."""
    if words[0] == "count":
        loop(CASES[words[1]], words[2])(int(words[3]))
        return
    print("case,round,form,passes,wall_ns,thread_ns")
    for name, case in CASES.items():
        measure(name, case, int(words[0]), int(words[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
