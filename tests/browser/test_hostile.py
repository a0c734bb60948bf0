"""Documents that mean harm, or are broken: no script runs, and the command says what is wrong."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from checks import fits, plain, quiet, walled
from made import COMMAND, ROOT, command, report
from playwright.sync_api import Browser

MEBI = 2**20
# What the command may use for a file that is no document; a small document takes about 10 MiB.
MEMORY = 512 * MEBI
NAMES = (
    "<script>window.pwned = 1</script>",
    "</title></style></svg><img src=x onerror='window.pwned=1'>",
    '"><svg onload="window.pwned=1">',
    "javascript:window.pwned=1",
    "{{ 7 * 7 }} {% raw %} ${window.pwned=1}",
    "&lt;b&gt; \u202e right to left \u0000 \x1b[31m",
    "x" * 5000,
    "]]></style><!-- --!> -->",
)


def _document(folder: Path) -> dict[str, Any]:
    done = command(["fit", str(ROOT / "spec/vectors/line.csv"), "--json"], folder)
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def _renamed(value: Any, name: str) -> Any:
    """The document with `name` put into every string but the name of its format."""
    if isinstance(value, dict):
        kept = ("format", "schema", "$schema", "version", "unit")
        return {k: v if k in kept else _renamed(v, name) for k, v in value.items()}
    if isinstance(value, list):
        return [_renamed(one, name) for one in value]
    return f"{value}{name}" if isinstance(value, str) else value


def _with_numbers(value: Any, number: float) -> Any:
    if isinstance(value, dict):
        return {k: _with_numbers(v, number) for k, v in value.items()}
    if isinstance(value, list):
        return [_with_numbers(one, number) for one in value]
    return number if isinstance(value, float) else value


def _write(folder: Path, name: str, text: str) -> str:
    (folder / f"{name}.json").write_text(text)
    return f"{name}.json"


def _page_or_sentence(folder: Path, document: str) -> Path | None:
    """The page; or none, where the command says in a sentence what is wrong."""
    done, _ = _bounded(folder, document)
    page = folder / Path(document).with_suffix(".html").name
    if done.returncode == 0:
        return page
    assert done.returncode == 1, done.stderr
    assert not page.exists(), "a half page was left"
    assert document in done.stderr and "panicked" not in done.stderr, done.stderr
    return None


def _bounded(folder: Path, document: str) -> tuple[subprocess.CompletedProcess[str], int]:
    """Runs `report --html` and gives the most memory that it used, in bytes."""
    page = Path(document).with_suffix(".html").name
    with (folder / "said").open("w+") as said:
        child = subprocess.Popen(
            [COMMAND, "report", document, "--html", page], cwd=folder, stdout=said, stderr=said
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    done = subprocess.CompletedProcess([document], child.returncode, "", text)
    return done, usage.ru_maxrss * 1024


def _csv(name: str) -> str:
    quoted = name.replace('"', '""').replace("\0", "").replace("\x1b", "")
    rows = "".join(f'"{quoted}",{n % 5 + 1},{40 * (n % 5 + 1) + n % 3}\n' for n in range(60))
    return "series,body,time_ns\n" + rows


def _harmless(browser: Browser, page: Path) -> None:
    assert quiet(browser, page) == []
    assert walled(browser, page) == []


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_names_of_a_document_are_text(browser: Browser, tmp_path: Path, number: int) -> None:
    document = json.dumps(_renamed(_document(tmp_path), NAMES[number]))
    page = _page_or_sentence(tmp_path, _write(tmp_path, "named", document))
    if page is not None:
        _harmless(browser, page)
        assert fits(browser, page) == []


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_names_of_a_table_are_text(browser: Browser, tmp_path: Path, number: int) -> None:
    table = tmp_path / "table.csv"
    table.write_text(_csv(NAMES[number]))
    done = command(["fit", "table.csv", "--json"], tmp_path)
    assert done.returncode == 0, done.stderr
    page = report(_write(tmp_path, "table", done.stdout), tmp_path, "table.csv")
    _harmless(browser, page)
    assert fits(browser, page) == []


@pytest.mark.parametrize("number", [1e30, -1e30, 1e-30, 0.0, 1e308, float("nan"), float("inf")])
def test_wild_numbers_are_drawn_or_refused(browser: Browser, tmp_path: Path, number: float) -> None:
    document = json.dumps(_with_numbers(_document(tmp_path), number))
    page = _page_or_sentence(tmp_path, _write(tmp_path, "wild", document))
    if page is not None:
        _harmless(browser, page)
        assert fits(browser, page) == [] and plain(browser, page) == []


def test_wild_readings_are_drawn(browser: Browser, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    readings = [40 * (n % 5 + 1) + n % 3 for n in range(60)]
    readings[7], readings[8] = 10**30, 1
    rows = "".join(f"{n % 5 + 1},{reading}\n" for n, reading in enumerate(readings))
    table.write_text("body,time_ns\n" + rows)
    done = command(["fit", "table.csv", "--json"], tmp_path)
    assert done.returncode == 0, done.stderr
    page = report(_write(tmp_path, "wild", done.stdout), tmp_path, "table.csv")
    _harmless(browser, page)
    assert fits(browser, page) == []


def test_ten_thousand_series_stay_a_page(browser: Browser, tmp_path: Path) -> None:
    document = _document(tmp_path)
    one = document["results"][0]
    document["results"] = [{**one, "name": f"s{number}"} for number in range(10_000)]
    page = report(_write(tmp_path, "many", json.dumps(document)), tmp_path)
    assert page.stat().st_size < 8 * MEBI
    text = page.read_text()
    assert "s0" in text and "s9999" in text
    assert quiet(browser, page) == []
    assert fits(browser, page) == []


def test_a_table_of_ten_thousand_series_is_refused(tmp_path: Path) -> None:
    rows = "".join(f"s{series},{copies},1\n" for series in range(10_000) for copies in (1, 2))
    (tmp_path / "table.csv").write_text("series,body,time_ns\n" + rows)
    done = command(["fit", "table.csv", "--html", "page.html"], tmp_path)
    assert done.returncode == 1 and "the limit is 1000" in done.stderr
    assert not (tmp_path / "page.html").exists()


def test_a_truncated_document_is_refused(tmp_path: Path) -> None:
    text = json.dumps(_document(tmp_path))
    for length in (1, 10, len(text) // 2, len(text) - 2):
        document = _write(tmp_path, "cut", text[:length])
        assert _page_or_sentence(tmp_path, document) is None


@pytest.mark.parametrize("text", ["", "\0", "null", "[]", "{}", "<html>", "[" * 100_000])
def test_what_is_no_document_is_refused(tmp_path: Path, text: str) -> None:
    assert _page_or_sentence(tmp_path, _write(tmp_path, "odd", text)) is None


def test_files_of_the_fuzzers_become_pages_or_sentences(browser: Browser, tmp_path: Path) -> None:
    files = [*(ROOT / "fuzz/corpus/documents").iterdir(), *(ROOT / "fuzz/corpus/saved").iterdir()]
    assert len(files) > 3
    for file in files:
        document = f"{file.parent.name}-{file.stem}.json"
        (tmp_path / document).write_bytes(file.read_bytes())
        page = _page_or_sentence(tmp_path, document)
        if page is not None:
            _harmless(browser, page)


def test_four_gigabytes_are_refused_in_bounded_memory(tmp_path: Path) -> None:
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(4 * 2**30)
    done, memory = _bounded(tmp_path, "large.json")
    assert done.returncode == 1, done.stderr
    assert "large.json" in done.stderr
    assert memory < MEMORY, f"{memory / MEBI:.0f} MiB"


def test_a_page_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    _write(tmp_path, "line", json.dumps(_document(tmp_path)))
    done = command(["report", "line.json", "--html", "no/such/folder.html"], tmp_path)
    assert done.returncode == 1 and "no/such" in done.stderr, done.stderr
