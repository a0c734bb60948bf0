"""`python -m hairspring time STATEMENT`: the time of a statement, with a command line like that
of timeit.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

from hairspring import __version__
from hairspring._measure import time
from hairspring._native import OptionError
from hairspring._program import show_exception
from hairspring._result import Result

DONE_STATUS, FAILED_STATUS, USAGE_STATUS, MISSED_STATUS = 0, 1, 2, 3
STDOUT, STDERR = 1, 2

EXAMPLES = """\
examples:
  python -m hairspring time 'sum(x)' -s 'x = list(range(100))'
  python -m hairspring time 'x.sort()' --init 'x = data[:]' \\
         -s 'from random import random' -s 'data = [random() for _ in range(100)]'
  python -m hairspring time '"-".join(words)' --vs 'f"{words[0]}-{words[1]}"' \\
         -s 'words = ["a", "b"]'

exit status: 0 success, 1 failure, 2 wrong usage, 3 the requested precision was missed
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="python -m hairspring", description="A precision timing instrument for software."
    )
    top.add_argument("--version", action="version", version=f"hairspring {__version__}")
    verb = top.add_subparsers(dest="verb", required=True, metavar="VERB").add_parser(
        "time",
        help="the time of a statement",
        description="The time of a statement. It is compiled straight-line, so that the result "
        "includes no loop.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_code(verb)
    add_measuring(verb)
    return top


def add_code(verb: argparse.ArgumentParser) -> None:
    """The code, and where its result goes."""
    verb.add_argument(
        "statement", nargs="+", help="the statement; several are its lines, as with timeit"
    )
    verb.add_argument(
        "-s",
        "--setup",
        action="append",
        default=[],
        metavar="CODE",
        help="runs once, with --vs several times; a line (repeatable)",
    )
    verb.add_argument(
        "-i",
        "--init",
        action="append",
        metavar="CODE",
        help="runs before every copy, and is not part of its time; a line (repeatable)",
    )
    verb.add_argument(
        "--vs",
        action="append",
        default=[],
        metavar="CODE",
        help="an alternative, measured in the same rounds (repeatable)",
    )
    form = verb.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_true",
        help="print one JSON document instead of text; what the code prints goes to stderr",
    )
    form.add_argument(
        "--markdown",
        action="store_true",
        help="print Markdown for a comment on a pull request instead of text, likewise",
    )
    verb.add_argument(
        "--save", metavar="FILE", help="write the raw observations, for `hairspring fit`"
    )


def add_measuring(verb: argparse.ArgumentParser) -> None:
    """How the code is measured."""
    verb.add_argument(
        "--budget", default="500ms", metavar="TIME", help="time for measuring (default: 500ms)"
    )
    verb.add_argument(
        "--precision",
        metavar="SHARE",
        help="half-width of the interval to reach, such as 1%%; exit with 3 if it is missed",
    )
    verb.add_argument(
        "--confidence-level",
        default="95%",
        metavar="LEVEL",
        help="of all intervals (default: 95%%)",
    )
    verb.add_argument("--clock", metavar="NAME", help="the clock, for instance tsc, monotonic")
    verb.add_argument(
        "--cpu",
        type=int,
        metavar="N",
        help="the CPU to run on (default: the last one, or a quieter one)",
    )
    verb.add_argument(
        "--threads", action="store_true", help="the code runs other threads (default: find out)"
    )
    verb.add_argument("--no-pin", action="store_true", help="do not bind the thread to a CPU")
    verb.add_argument("--gc", action="store_true", help="leave Python's garbage collector on")


def measure(options: argparse.Namespace) -> Result:
    """Measures what the command line requests."""
    return time(
        "\n".join(options.statement),
        init=None if options.init is None else "\n".join(options.init),
        setup="\n".join(options.setup),
        against=options.vs,
        budget=options.budget,
        precision=options.precision,
        confidence_level=options.confidence_level,
        clock=options.clock,
        cpu=options.cpu,
        threads=options.threads,
        pin=not options.no_pin,
        gc=options.gc,
    )


@contextmanager
def prints_to_stderr() -> Iterator[None]:
    """Keeps what the code prints out of the document."""
    sys.stdout.flush()
    kept_descriptor = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept_descriptor, STDOUT)
        os.close(kept_descriptor)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    if "" not in sys.path:
        sys.path.insert(0, "")  # as timeit: the code may import modules of the current folder
    options = parser().parse_args(arguments)
    try:
        with prints_to_stderr() if options.json or options.markdown else nullcontext():
            result = measure(options)
        if options.save:
            result.observations.to_csv(options.save)
        print(shown(result, options), end="", flush=True)
    except BrokenPipeError:
        # The reader has closed the pipe: discard the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE_STATUS
    except (Exception, SystemExit) as error:
        return failed(error)
    return MISSED_STATUS if options.precision is not None and not result.precise else DONE_STATUS


def shown(result: Result, options: argparse.Namespace) -> str:
    """The result in the form that the command line requests."""
    if options.markdown:
        return result.to_markdown()
    return result.to_json() if options.json else result._report.text(True)


def failed(error: Exception | SystemExit) -> int:
    """Reports a failure: a wrong option in one line, an exception of the code with its own
    traceback.
    """
    if isinstance(error, OptionError):
        print(f"hairspring: {error}", file=sys.stderr)
        return USAGE_STATUS
    show_exception()
    return FAILED_STATUS


if __name__ == "__main__":
    raise SystemExit(main())
