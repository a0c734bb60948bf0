"""Timing a statement or a callable."""

import gc as collector
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple

from hairspring import _native
from hairspring._result import Result
from hairspring._statement import Code, Counts, Row, Statement

#: Characters of a statement that serve as its name.
NAME = 40

Against = Code | Sequence[Code] | Mapping[str, Code]


class Declared(NamedTuple):
    """A piece of code in the form that the engine needs."""

    name: str
    code: str | None
    rows: list[Counts]
    prepare: Callable[[], object]
    place: Callable[[int], object]
    function: Callable[[int, int, bool], Row]


class Asked(NamedTuple):
    """How to measure, as texts in the form of the command line."""

    budget: str
    precision: str | None
    confidence_level: str
    clock: str | None
    cpu: int | None
    threads: bool
    pin: bool


def time(
    statement: Code,
    *,
    init: Code | None = None,
    setup: Code | None = None,
    globals: dict[str, Any] | None = None,
    against: Against | None = None,
    name: str | None = None,
    budget: float | str = "500ms",
    precision: float | str | None = None,
    confidence_level: float | str = 0.95,
    clock: str | None = None,
    cpu: int | None = None,
    threads: bool = False,
    pin: bool = True,
    gc: bool = False,
) -> Result:
    """Measures a statement, or a call of a callable, without a loop and without the reads of the
    clock.

    The statement is compiled into straight-line code, 1 to 256 copies of it between two reads of
    the clock. The slope of a line through the readings is the time of one copy; what all rows have
    in common is the overhead.

    `statement`: text of one or more lines, or a callable without parameters. For a callable its
    call is timed, as in a program: `against=lambda: None` shows what the call alone takes.

    `init`: runs before every copy and is timed separately:
    `time("x.sort()", init="x = data[:]", ...)` is the time of the sort. If both are callables, the
    statement is called with what init returned.

    `setup`: runs once; with alternatives up to 64 times for each, in 30 ms: where data lie may
    change the time.
    `globals`: the namespace of the code, such as `globals()`; without it the code sees the builtins
    and its setup.
    `against`: alternatives, measured in the same rounds with the same init and setup, and compared
    with the statement. A mapping gives them names.
    `name`: the name of the result; the default is the statement.

    `budget`: time for measuring, in seconds or as `"250ms"`; long code takes longer, as an interval
    needs repeats. The default grows to twice as much while something else uses the core.
    `precision`: required half-width of the interval, as 0.01 or `"1%"`; if it is missed, that is a
    finding.
    `clock`, `cpu`: the clock by name, and the CPU to run on, by default the best clock, and the
    last or a quieter CPU.

    `threads`: the code runs other threads, as numpy's `a @ b` does: all of them then have the CPUs
    and the priority of the process, and times are in nanoseconds alone. Threads that show up
    without this are given the same, and a finding says so. `pin=False` leaves the thread on the
    CPUs of the process, and changes nothing else.
    `gc`: whether Python's garbage collector stays on while the code is measured.

    As with timeit, names that the code assigns are local to it. Every row begins with the names as
    the setup left them; an object that the code changes stays changed. The code must be able to run
    any number of times.

    Raises `SyntaxError` with the line of the statement that is wrong, `OptionError` (a
    `ValueError`) for an unavailable option, and whatever the code raises.

    >>> result = time("x.sort()", init="x = data[:]", setup="data = [3, 1, 2] * 10", budget="50ms")
    >>> list(result.components)
    ['body', 'init']
    """
    codes = {name or name_of(statement): statement}
    add_alternatives(codes, against)
    declarations = declare_all(codes, init, setup, globals)
    asked = Asked(
        as_text(budget), optional(precision), as_text(confidence_level), clock, cpu, threads, pin
    )
    with garbage_collector(on=gc):
        return Result(_native.measure(declarations, asked))


def optional(value: float | str | None) -> str | None:
    """A number as text, if there is one."""
    return None if value is None else as_text(value)


def as_text(value: float | str) -> str:
    """A number without an exponent; text as it is."""
    return value if isinstance(value, str) else f"{float(value):.12f}"


def declare_all(
    codes: Mapping[str, Code],
    init: Code | None,
    setup: Code | None,
    namespace: dict[str, Any] | None,
    arguments: Sequence[object] = (),
) -> list[Declared]:
    """A statement and its alternatives, whose data move so that they do not differ by where
    these lie.
    """
    moves = len(codes) > 1
    return [
        declare(code, init, setup, namespace, name, at, arguments, moves=moves)
        for at, (name, code) in enumerate(codes.items())
    ]


def declare(
    code: Code,
    init: Code | None,
    setup: Code | None,
    namespace: dict[str, Any] | None,
    name: str,
    at: int,
    arguments: Sequence[object] = (),
    *,
    moves: bool = False,
) -> Declared:
    """A piece of code in the form that the engine needs; `at` is its index among the
    alternatives, whose data move.
    """
    file = "<statement>" if at == 0 else f"<statement {at + 1}>"
    statement = Statement(code, init, setup, namespace, file, arguments, moves=moves)
    rows = statement.rows()
    return Declared(
        name, statement.text, rows, statement.prepare, statement.place, statement.function
    )


def add_alternatives(codes: dict[str, Code], against: Against | None) -> None:
    """Adds alternatives by their names; a number is appended to a name that is taken."""
    if against is None:
        return
    if isinstance(against, Mapping):
        named = list(against.items())
    else:
        alternatives = [against] if isinstance(against, str) or callable(against) else list(against)
        named = [(name_of(code), code) for code in alternatives]
    for name, code in named:
        codes[free_name(name, codes)] = code


def free_name(name: str, taken_names: Container[str]) -> str:
    """The name, with a number appended if it is taken."""
    numbered = (f"{name} ({number})" for number in count(2))
    return (
        name
        if name not in taken_names
        else next(free for free in numbered if free not in taken_names)
    )


def name_of(code: Code) -> str:
    """The name of a piece of code: that of a callable, or a short statement itself."""
    if isinstance(code, str):
        line = " ".join(code.split())
        return line if len(line) <= NAME else f"{line[: NAME - 3]}..."
    return getattr(code, "__name__", None) or type(code).__name__


@contextmanager
def garbage_collector(*, on: bool) -> Iterator[None]:
    """Turns the garbage collector off during the block unless `on`; restores its state
    afterwards.
    """
    was_on = collector.isenabled()
    if not on:
        collector.disable()
    try:
        yield
    finally:
        if was_on:
            collector.enable()
        else:
            collector.disable()
