"""The pytest fixture `hairspring_time`: a measurement in a test, and a table of all of them at the
end.

def test_sort(hairspring_time):
    code = {"init": "x = data[:]", "setup": "data = [3, 1, 2] * 30"}
    result = hairspring_time("x.sort()", **code, against="x = sorted(x)")
    assert result.comparisons[0].verdict != "faster"
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hairspring import Result

#: The results of a session, in the order in which they were measured.
RESULTS = pytest.StashKey[list[Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--hairspring-json FILE`."""
    group = parser.getgroup("hairspring", "precision timing")
    group.addoption(
        "--hairspring-json",
        metavar="FILE",
        help="write the results of hairspring_time into this file",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Starts without results."""
    config.stash[RESULTS] = []


@pytest.fixture
def hairspring_time(request: pytest.FixtureRequest) -> Callable[..., "Result"]:
    """`hairspring.time`, with a table of the results at the end of the run; they have the test's
    name by default.
    """
    import hairspring
    from hairspring._measure import free_name

    results = request.config.stash[RESULTS]

    def time(
        statement: "str | Callable[..., object]", *, name: str | None = None, **options: Any
    ) -> "Result":
        taken_names = {result.name for result in results}
        result = hairspring.time(
            statement, name=free_name(name or request.node.name, taken_names), **options
        )
        results.append(result)
        return result

    return time


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Prints the table, and writes the requested file."""
    results = config.stash.get(RESULTS, [])
    file: str | None = config.getoption("--hairspring-json")
    if not results:
        return
    from hairspring import _native

    document = _native.joined([result._report for result in results])
    terminalreporter.section("hairspring")
    terminalreporter.write(_native.as_table(document, False))
    if file is not None:
        Path(file).write_text(document, encoding="utf-8")
        terminalreporter.write_line(f"written to {file}")
