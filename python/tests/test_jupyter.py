"""The magics in a real IPython, and a notebook that a kernel executes."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient

import hairspring

SHORT = "-b 30ms"
NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "python" / "notebook.ipynb"
needs_command = pytest.mark.skipif(
    shutil.which("hairspring", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") is None,
    reason="the command is not installed",
)


@pytest.fixture
def shell() -> Iterator[Any]:
    """An IPython with the extension."""
    InteractiveShell.clear_instance()
    made: Any = InteractiveShell.instance()
    made.run_line_magic("load_ext", "hairspring")
    yield made
    InteractiveShell.clear_instance()


def test_a_line_sees_the_names_of_the_notebook(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["data"] = list(range(50))
    result = shell.run_line_magic("hairspring", f"-o {SHORT} sum(data)")
    assert isinstance(result, hairspring.Result)
    assert result.body.time_ns is not None and result.body.time_ns.value > 0
    assert result.name == "sum(data)"
    assert capsys.readouterr().out.startswith("Result(sum(data): ")


def test_without_o_the_result_is_shown_and_not_returned(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run_line_magic("hairspring", f"{SHORT} 1 + 1") is None
    assert "hairspring time: 1 + 1" in capsys.readouterr().out
    assert shell.run_line_magic("hairspring", f"-q {SHORT} 1 + 1") is None
    assert capsys.readouterr().out == ""


def test_a_cell_has_its_setup_in_its_line(shell: Any) -> None:
    result = shell.run_cell_magic("hairspring", f"-o {SHORT} x = [3, 1, 2]", "y = sorted(x)\ny")
    assert result.components.keys() == {"body"}


def test_options_are_read_as_a_shell_does(shell: Any) -> None:
    line = f"-o {SHORT} --init 'x = data[:]' -s \"data = [3, 1, 2] * 9\" --name=sort x.sort()"
    result = shell.run_line_magic("hairspring", line)
    assert list(result.components) == ["body", "init"] and result.name == "sort"
    both_results = shell.run_line_magic(
        "hairspring", f"-o {SHORT} --vs 'sum([1])' --vs max(1,2) -- len('a')"
    )
    assert list(both_results.series) == ["len('a')", "sum([1])", "max(1,2)"]


def test_names_of_a_function_are_seen(shell: Any) -> None:
    shell.run_cell(
        "def inner():\n    own = 'abc'\n    return get_ipython().run_line_magic("
        f"'hairspring', '-o {SHORT} len(own)')\nfound = inner()"
    )
    assert shell.user_ns["found"].name == "len(own)"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "there is no code to measure"),
        ("-n 100 f()", "there are no loops"),
        ("--budget", "--budget needs a value"),
        ("--cpu two f()", "--cpu two: expected a whole number"),
        ("-s 'open f()", "No closing quotation"),
        ("--budget soon f()", "budget soon"),
        ("-o --c x", "--c is the first word of the line"),
    ],
)
def test_a_wrong_line_says_what_to_do(shell: Any, line: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        shell.run_line_magic("hairspring", line)


def test_an_exception_of_the_code_is_passed_on(shell: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        shell.run_line_magic("hairspring", "-q 1 / 0")


@needs_command
def test_c_and_cpp_are_measured_by_the_command(shell: Any) -> None:
    line = "--c -o --budget 50ms --let 'int x = 3'"
    result = shell.run_cell_magic("hairspring", line, "x * x\n")
    assert result.first.code == "x * x" and len(result.observations) > 0
    line = "--cpp -o --budget 50ms --include string --let 'int x = 3' 'std::to_string(x).size()'"
    result = shell.run_line_magic("hairspring", line)
    assert result.first.code == "std::to_string(x).size()"


@needs_command
def test_an_error_of_the_compiler_is_shown(shell: Any) -> None:
    with pytest.raises(UsageError, match="(?s)hairspring time: .*undeclared_name"):
        shell.run_cell_magic("hairspring", "--c", "undeclared_name")


def test_a_missing_command_is_named(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(UsageError, match="is not installed"):
        shell.run_line_magic("hairspring", "--c 1")


@needs_command
def test_a_kernel_executes_the_notebook() -> None:
    read: Any = nbformat.read
    notebook = read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert {"text/html", "text/markdown", "text/plain", "image/png"} <= kinds
    assert not [output for output in outputs if output.output_type == "error"]
