"""`python -m hairspring time`, and programs with benchmarks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
import hairspring

@hairspring.bench(arguments=[10, 100], against={"nothing": lambda size: None})
def total(size: int) -> int:
    return sum(range(size))

@hairspring.bench(name="sort/size:16", init="x = data[:]", setup=lambda: None)
def sort() -> None:
    sorted([3, 1, 2])

@hairspring.bench(init=lambda: [3, 1, 2])
def in_place(values: list[int]) -> None:
    values.sort()

@hairspring.bench()
def fails() -> None:
    raise ValueError("the benchmark's own")

raise SystemExit(hairspring.main())
"""


def run(*words: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        input=input,
        timeout=600,
        check=False,
    )


def time(*words: str) -> subprocess.CompletedProcess[str]:
    return run("-m", "hairspring", "time", "--budget", "20ms", *words)


def test_a_program_that_ignores_the_status_ends_with_it(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("raise SystemExit(hairspring.main())", "hairspring.main()"))
    assert run(str(program), "--budget", "20ms", "fails").returncode == 1
    assert run(str(program), "no such benchmark").returncode == 2
    assert run(str(program), "--list").returncode == 0


def test_a_report() -> None:
    done = time("y = sum(x)", "-s", "x = list(range(10))", "-s", "z = 1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("hairspring time: y = sum(x)")
    assert "body" in done.stdout and "overhead" in done.stdout


def test_markdown_is_a_table_without_what_the_code_prints() -> None:
    done = time("print('printed')", "--markdown", "--budget", "20ms")
    assert done.stdout.startswith("### hairspring time: `print('printed')`\n")
    assert "| --- |" in done.stdout and "\nprinted" not in done.stdout
    assert time("1", "--markdown", "--json").returncode == 2


def test_several_words_are_lines() -> None:
    done = time("for i in range(3):", "    y = i", "--json")
    assert json.loads(done.stdout)["results"][0]["code"] == "for i in range(3):\n    y = i"


def test_what_the_code_prints_is_not_in_the_document() -> None:
    done = time("print('printed')", "--json", "--budget", "20ms")
    assert json.loads(done.stdout)["results"][0]["code"] == "print('printed')"
    assert "printed" in done.stderr


def test_json_with_init_and_alternatives(tmp_path: Path) -> None:
    file = tmp_path / "readings.csv"
    words = [
        "--init",
        "x = data[:]",
        "-s",
        "data = [3, 1, 2]",
        "--vs",
        "x = sorted(x)",
        "--json",
        "--save",
        str(file),
    ]
    done = time("x.sort()", *words)
    document = json.loads(done.stdout)
    assert document["schema"] == "hairspring/result/2" and document["command"] == "time"
    assert [list(series["components"]) for series in document["results"]] == [["body", "init"]] * 2
    assert document["comparisons"][0]["b"] == "x.sort()"
    assert file.read_text().startswith("# hairspring observations: 1")


def test_the_exit_status_says_what_happened() -> None:
    assert time("pass", "--precision", "0.0001%").returncode == 3
    assert run("-m", "hairspring", "time").returncode == 2
    assert run("-m", "hairspring").returncode == 2
    assert run("-m", "hairspring", "time", "--help").returncode == 0
    for words in (
        ["--budget", "never"],
        ["--clock", "sundial"],
        ["--cpu", "9999"],
        ["--cpu", "x"],
        ["--precision", "9"],
    ):
        failed = run("-m", "hairspring", "time", "pass", *words)
        assert failed.returncode == 2, words
        assert "Traceback" not in failed.stderr


def test_an_exception_has_the_codes_own_traceback() -> None:
    failed = time("x = 1", "y = x / 0")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert 'File "<statement>", line 2' in failed.stderr and "y = x / 0" in failed.stderr
    assert "ZeroDivisionError" in failed.stderr and "__main__.py" not in failed.stderr


def test_code_that_ends_the_program_is_no_success() -> None:
    ended = time("exit()", "--json")
    assert ended.returncode == 1 and not ended.stdout
    assert "SystemExit" in ended.stderr and "remove the call of exit" in ended.stderr


def test_a_syntax_error_shows_the_line() -> None:
    failed = time("x = (")
    assert failed.returncode == 1
    assert (
        "x = (" in failed.stderr
        and "SyntaxError" in failed.stderr
        and "ast.py" not in failed.stderr
    )


def test_an_empty_statement_is_an_error() -> None:
    failed = time("")
    assert failed.returncode == 2 and "nothing to time" in failed.stderr


def test_a_closed_pipe_is_not_an_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "hairspring", "time", "pass", "--budget", "20ms"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None and process.stderr.read() == ""
    assert process.wait(60) == 0


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "program.py").write_text(PROGRAM)
    return str(tmp_path / "program.py")


def test_a_program_lists_its_benchmarks(program: str) -> None:
    listed = run(program, "--list", "--format", "terse")
    names = [line.removesuffix(": benchmark") for line in listed.stdout.splitlines()]
    assert names == [
        "total/size:10",
        "nothing/size:10",
        "total/size:100",
        "nothing/size:100",
        "sort/size:16",
        "in_place",
        "fails",
    ]


def test_a_program_measures_the_chosen_benchmarks(program: str) -> None:
    done = run(
        program, "--bench", "--json", "--budget", "20ms", "--exact", "total/size:10", "in_place"
    )
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["command"] == "run"
    assert [series["name"] for series in document["results"]] == [
        "total/size:10",
        "nothing/size:10",
        "in_place",
    ]
    assert list(document["results"][2]["components"]) == ["body", "init"]


def test_a_program_reports_where_its_code_fails(program: str) -> None:
    failed = run(program, "fails", "--budget", "5ms")
    assert failed.returncode == 1
    assert "the benchmark's own" in failed.stderr and "in fails" in failed.stderr
    missing = run(program, "sort", "--test")
    assert missing.returncode == 1 and "NameError" in missing.stderr


def test_wrong_usage_of_a_program(program: str) -> None:
    assert run(program, "--nonsense").returncode == 2
    assert run(program, "no such benchmark").returncode == 2
    assert run(program, "--help").returncode == 0
