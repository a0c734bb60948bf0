"""How a statement is compiled: copies, names, scopes, refused code. No real time is measured
here.
"""

import json
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest

from hairspring import _statement
from hairspring._statement import Code, Counts, Statement


class Count:
    """A clock that steps by one at each read."""

    def __init__(self) -> None:
        self.reads = 0

    def __call__(self) -> int:
        self.reads += 1
        return self.reads


@pytest.fixture(autouse=True)
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns the warm-up off, so that every row runs once when it is called."""
    monkeypatch.setattr(_statement, "WARMING_RUNS", 1)


def run(
    code: Code, counts: Counts, setup: Code | None = None, init: Code | None = None, **names: Any
) -> dict[str, Any]:
    """Runs a row; returns the namespace, which contains `names`."""
    statement = Statement(code, init, setup, names)
    statement.prepare()
    clock = Count()
    assert statement.function(*counts)(clock) == 1
    assert clock.reads == 2
    return names


def copies(number: int) -> Counts:
    return Counts(number, 0, False)


def test_the_statement_is_copied_straight_line() -> None:
    for number in (1, 3, 256):
        log: list[str] = []
        run("log.append('b')", copies(number), log=log)
        assert log == ["b"] * number


@pytest.mark.parametrize(
    ("counts", "order"),
    [
        (Counts(1, 1, False), "ib"),
        (Counts(2, 2, False), "ibib"),
        (Counts(2, 4, False), "ibibii"),
        (Counts(2, 4, True), "iibiib"),
        (Counts(3, 3, True), "ibibib"),
    ],
)
def test_inits_come_before_the_bodies_or_at_the_end(counts: Counts, order: str) -> None:
    log: list[str] = []
    run("log.append('b')", counts, init="log.append('i')", log=log)
    assert "".join(log) == order


def rows_of_the_table(kind: str) -> list[Counts]:
    """The engine's rows, without those that need fences."""
    table = json.loads(
        (Path(__file__).parents[2] / "spec" / "rows.json").read_text(encoding="utf-8")
    )
    at_end, in_place = table["orders"].index("at_end"), table["orders"].index("in_place")
    rows = [row for row in table[kind] if row[2] in (at_end, in_place)]
    return [Counts(bodies, inits, order == in_place) for bodies, inits, order in rows]


def test_rows_are_those_of_the_table() -> None:
    line, plane = rows_of_the_table("line"), rows_of_the_table("init")
    assert len(line) == 12 and any(row.in_place for row in plane)
    assert Statement("x = 1", None, None, None).rows() == line
    assert Statement("x = 1", "y = 2", None, None).rows() == plane


def test_a_huge_statement_has_fewer_copies() -> None:
    huge = "\n".join(f"x{at} = {at}" for at in range(2_000))
    rows = Statement(huge, None, None, None).rows()
    assert 4 <= len(rows) < len(rows_of_the_table("line"))
    run(huge, copies(rows[-1].bodies))


def test_names_of_the_setup_are_locals_with_the_same_values_in_every_row() -> None:
    log: list[int] = []
    statement = Statement("x += 1; log.append(x)", None, "x = 5", {"log": log})
    statement.prepare()
    statement.function(2, 0, False)(Count())
    statement.function(1, 0, False)(Count())
    assert log == [6, 7, 6]


def test_an_object_that_the_code_changes_stays_changed() -> None:
    log: list[int] = []
    run("x.append(1); log.append(len(x))", copies(3), setup="x = []", log=log)
    assert log == [1, 2, 3]


def test_functions_of_the_setup_see_its_names() -> None:
    log: list[int] = []
    run(
        "log.append(f())",
        copies(1),
        setup="import math\ny = 2\ndef f(): return math.floor(y + 0.5)",
        log=log,
    )
    assert log == [2]


def test_assigned_names_do_not_leak_into_the_namespace() -> None:
    assert "x" not in run("x = 1", copies(2))


def test_global_declarations_work_in_any_number_of_copies() -> None:
    assert run("global x\nx = 1", copies(4), setup="x = 7")["x"] == 1
    assert run("if True:\n    global x\n    x = 3", copies(4))["x"] == 3
    assert run("f()", copies(2), setup="def f():\n    global z\n    z = 4")["z"] == 4
    assert run("pass", copies(1), setup="global w\nw = 5")["w"] == 5


@pytest.mark.parametrize(
    "code",
    [
        "clock = begin = end = statement = value = 3",
        "_t0 = 3; _timer = 4; time = 5; now = 6",
        "if (n := 10) > 5: pass",
        "x = 1  # a comment",
        "x = 1 + \\\n    2",
        "\n\n    x = 1\n    y = x\n",
        "\tx = 1",
        "x = '''\n  text\n'''",
        "for i in range(3):\n    x = i\n    continue",
        "try:\n    raise ValueError\nexcept ValueError as error:\n    pass",
        "def f(n: int) -> int:\n    return n\nf(3)",
        "class C:\n    x = 1",
        "x = [a for a in range(3) if (lambda: a)() or True]",
        "x: int = 3",
        "import os.path as p",
        "with open('/dev/null') as file: pass",
        "async def f(): await g()",
        "def g(): yield 1",
        "x = 1; del x",
        "é = 'ü'; 変数 = é",
        "assert True",
        "lambda: (yield)",
        "pass",
    ],
)
def test_statements_of_every_kind_compile_and_run(code: str) -> None:
    run(code, copies(16))
    run("pass", Counts(4, 8, False), init=code)
    run("pass", copies(2), setup=code)


def test_text_over_several_lines_is_not_changed() -> None:
    log: list[str] = []
    run("x = '''\n  a\n'''\nlog.append(x)", copies(1), log=log)
    assert log == ["\n  a\n"]


@pytest.mark.parametrize(
    ("code", "reason", "line"),
    [
        ("x = 1\nx = (", "was never closed", 2),
        ("return 1", "outside function", 1),
        ("x = 1\nyield x", "outside function", 2),
        ("await x", "outside function", 1),
        ("async with x: pass", "outside", 1),
        ("break", "outside loop", 1),
        ("nonlocal x", "nonlocal", 1),
        ("pass\nfrom math import *", "import \\*", 2),
        ("x = 1 \\", "unexpected EOF", 1),
        ("  x = 1\n y = 2", "unexpected indent", 1),
        ("x =! 2", "invalid syntax", 1),
    ],
)
def test_invalid_code_is_refused_with_its_line(code: str, reason: str, line: int) -> None:
    with pytest.raises(SyntaxError, match=reason) as caught:
        Statement(code, None, None, None)
    assert caught.value.filename == "<statement>"
    assert caught.value.lineno == line
    assert "line" in "".join(traceback.format_exception_only(caught.value))
    with pytest.raises(SyntaxError, match=reason):
        Statement("pass", code, None, None)


@pytest.mark.parametrize("code", ["", "  \n", "# nothing", "\n\n"])
def test_an_empty_statement_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="nothing to time"):
        Statement(code, None, None, None)


def test_null_characters_are_refused() -> None:
    with pytest.raises(ValueError, match="null character at 5"):
        Statement("x = 1\0", None, None, None)


@pytest.mark.parametrize("code", [None, 3, b"pass", ["pass"]])
def test_code_that_is_neither_text_nor_callable_is_refused(code: Any) -> None:
    with pytest.raises(TypeError, match="text or a callable"):
        Statement(code, None, None, None)


def test_a_callable_is_called_straight_line() -> None:
    log: list[int] = []
    run(lambda: log.append(1), copies(5))
    assert log == [1] * 5


def test_a_callable_is_called_with_the_result_of_its_init() -> None:
    log: list[object] = []
    made = iter(range(100))
    run(log.append, Counts(2, 4, False), init=lambda: next(made))
    assert log == [0, 1]


def test_arguments_are_passed_to_a_callable_or_to_its_init() -> None:
    log: list[object] = []
    called = Statement(log.append, None, None, None, arguments=(7,))
    assert called.text.endswith("append(7)")
    called.function(2, 0, False)(Count())
    Statement(log.append, lambda size: size * 2, None, None, arguments=(7,)).function(1, 1, False)(
        Count()
    )
    assert log == [7, 7, 14]


def test_callables_and_text_can_be_mixed() -> None:
    log: list[str] = []
    run(
        "log.append('b')",
        Counts(1, 2, False),
        setup=lambda: log.append("s"),
        init=lambda: log.append("i"),
        log=log,
    )
    assert log == ["s", "i", "b", "i"]
    run(lambda: log.append("c"), Counts(1, 1, False), init="log.append('j')", log=log)
    assert log[4:] == ["j", "c"]


def test_tracebacks_show_the_line_of_the_statement() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run("x = 1\ny = x / 0", copies(64))
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (frame.filename, frame.lineno, frame.line) == ("<statement>", 2, "y = x / 0")


def test_a_row_warms_up_at_its_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_statement, "WARMING_RUNS", 10)
    monkeypatch.setattr(_statement, "WARMING_SECONDS", 60)
    log: list[int] = []
    statement = Statement(lambda: log.append(1), None, None, None)
    row = statement.function(1, 0, False)
    row(Count())
    row(Count())
    assert len(log) == 11


def test_long_code_is_not_warmed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_statement, "WARMING_RUNS", 10)
    monkeypatch.setattr(_statement, "WARMING_SECONDS", 0)
    log: list[int] = []
    Statement(lambda: log.append(1), None, None, None).function(1, 0, False)(Count())
    assert log == [1]


def test_data_of_alternatives_lie_elsewhere_in_other_placements() -> None:
    seen_data: list[list[int]] = []
    statement = Statement("seen.append(data)", None, "data = [1]", {"seen": seen_data}, moves=True)
    statement.prepare()
    row = statement.function(1, 0, False)
    for placement in (0, 1, 0):
        statement.place(placement)
        row(Count())
    assert seen_data[0] is not seen_data[-2] and seen_data[0] is seen_data[-1]


@pytest.mark.parametrize(("seconds", "codes"), [(60.0, 3), (0.0, 1)])
def test_code_lies_elsewhere_from_placement_to_placement(
    monkeypatch: pytest.MonkeyPatch, seconds: float, codes: int
) -> None:
    monkeypatch.setattr(_statement, "CODES_SECONDS", seconds)
    taken_code: list[object] = []
    statement = Statement(
        "taken.append(sys._getframe().f_code)", None, None, {"taken": taken_code, "sys": sys}
    )
    statement.prepare()
    row = statement.function(1, 0, False)
    for placement in (0, 1, 1, 2):
        statement.place(placement)
        assert row(Count()) == 1
    assert taken_code[1] is taken_code[2] and len({id(code) for code in taken_code}) == codes


@pytest.mark.parametrize(
    ("setup", "moves"),
    [
        ("runs.append(1); data = [1]", False),
        ("runs.append(1)", True),
        ("runs.append(1); data = 7", True),
        ("runs.append(1); data = [1]; threading.Thread(target=stop.wait).start()", True),
        ("runs.append(1)\nclass One: pass\ndata = One()", True),
        ("runs.append(1)\ndef data(): pass", True),
        ("runs.append(1); data = bytes(65 << 20)", True),
    ],
)
def test_setup_runs_again_only_for_data_that_can_move(setup: str, moves: bool) -> None:
    stop = threading.Event()
    runs: list[int] = []
    names = {"runs": runs, "stop": stop, "threading": threading, "data": None}
    statement = Statement("data", None, setup, names, moves=moves)
    statement.prepare()
    stop.set()
    assert len(runs) <= 2


def test_data_have_about_as_many_places_as_a_run_has_placements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_statement, "SETS_SECONDS", 60)
    runs: list[int] = []
    Statement("data", None, "runs.append(1); data = [1]", {"runs": runs}, moves=True).prepare()
    assert len(runs) == _statement.MOST_SETS


def test_setup_with_other_names_each_time_is_not_mixed() -> None:
    names: dict[str, object] = {"turn": []}
    setup = "turn.append(1); data = [1]\nif len(turn) % 2: more = 1"
    statement = Statement("data", None, setup, names, moves=True)
    statement.prepare()
    statement.place(1)
    assert statement.function(1, 0, False)(Count()) == 1
