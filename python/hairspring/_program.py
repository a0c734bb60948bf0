"""Benchmarks in a file that is a program, with the same command line as in every language."""

import inspect
import os
import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

from hairspring import _native
from hairspring._measure import Against, Declared, add_alternatives, declare_all, garbage_collector
from hairspring._statement import Code

Function = TypeVar("Function", bound=Callable[..., object])

#: The groups that `bench` declared, in the order of the file; a group is measured in the same
#: rounds.
_groups: list[list[Declared]] = []


def bench(
    *,
    name: str | None = None,
    init: Code | None = None,
    setup: Code | None = None,
    arguments: Iterable[object] | None = None,
    against: Against | None = None,
) -> Callable[[Function], Function]:
    """Declares a function as a benchmark of this program, for `main`.

    A call of the function is timed. `init` and `setup` are as in `hairspring.time`: if the init is
    a callable, the function is called with its result. `against`: alternatives, measured in the
    same rounds and compared with the function. `arguments`: a benchmark for each of them, named
    `function/parameter:argument`; the function and its alternatives are called with it, or the init
    if that is a callable.

    >>> @bench()
    ... def nothing() -> None:
    ...     pass
    """

    def declared(function: Function) -> Function:
        codes: dict[str, Code] = {name or str(getattr(function, "__name__", "unnamed")): function}
        add_alternatives(codes, against)
        parameter = parameter_of(init if callable(init) else function)
        for handed in [()] if arguments is None else [(argument,) for argument in arguments]:
            suffix = "".join(f"/{parameter}:{argument}" for argument in handed)
            named = {f"{name}{suffix}": code for name, code in codes.items()}
            _groups.append(declare_all(named, init, setup, None, handed))
        return function

    return declared


def parameter_of(function: Callable[..., object]) -> str:
    """Name of the first parameter."""
    try:
        return next(iter(inspect.signature(function).parameters))
    except (StopIteration, ValueError, TypeError):
        return "argument"


def main(arguments: Iterable[str] | None = None) -> int:
    """Runs the benchmarks that the program declared, by its command line (`--help` shows it);
    returns the exit status.

    Call it at the end of the file. Without `arguments` it ends the program if the status is not 0,
    so that a benchmark that fails is not taken for a success.
    """
    words = sys.argv if arguments is None else [sys.argv[0], *arguments]
    sys.stdout.flush()
    try:
        with garbage_collector(on=False):
            status = _native.run_program([os.fspath(word) for word in words], _groups)
    except (Exception, SystemExit):
        show_exception()
        status = 1
    if arguments is None and status != 0:
        raise SystemExit(status)
    return status


def show_exception() -> None:
    """Prints the exception of the code, without the frames of this package."""
    import traceback

    _, error, trace = sys.exc_info()
    own_folder = os.path.dirname(os.path.abspath(__file__))
    while (
        trace is not None
        and os.path.dirname(os.path.abspath(trace.tb_frame.f_code.co_filename)) == own_folder
    ):
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        trace = None  # a syntax error states its own place
    if error is not None:
        traceback.print_exception(type(error), error, trace)
    if isinstance(error, SystemExit):
        print(
            "hairspring: the code ended the program instead of returning: remove the call of exit",
            file=sys.stderr,
        )
