"""The bench in the browser: it gives what the command gives, and does no harm."""

import base64
import csv
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from checks import CHECKS
from made import ROOT, command
from playwright.sync_api import Browser, Page
from shots import paint, shots
from visit import CANARY, FIRST, Visit, visit

LAB = Path(os.environ.get("HAIRSPRING_LAB", ROOT / "target/lab/index.html"))
FILES = {
    "observations": ("fit", "spec/vectors/line.csv"),
    "alternatives": ("fit", "spec/vectors/two.csv"),
    "recording": ("capture", "examples/files/pin.vcd"),
}
HYPERFINE = "crates/sources/import/tests/cases/hyperfine.json"
# The same as a file that is dropped onto the page.
DROP = """
([name, contents]) => {
  const bytes = Uint8Array.from(atob(contents), (letter) => letter.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], name));
  const drop = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
  document.getElementById("drop").dispatchEvent(drop);
}
"""
CATCH = """
Object.defineProperty(navigator, "clipboard", {
  value: { writeText: async (text) => { window.copied = text; } },
});
"""

pytestmark = pytest.mark.skipif(not LAB.exists(), reason="tools/wasm.sh has not built the bench")


def _until(page: Page, said: str = r"\) is solved") -> None:
    """Waits until the page says what matches this pattern."""
    page.wait_for_function(
        "said => new RegExp(said).test(document.getElementById('status').textContent)", arg=said
    )


def _drop(page: Page, file: Path) -> None:
    page.evaluate(DROP, [file.name, base64.b64encode(file.read_bytes()).decode()])


@contextmanager
def _dropped(browser: Browser, file: Path) -> Iterator[Visit]:
    with visit(browser, LAB, before=CATCH) as opened:
        _drop(opened.page, file)
        _until(opened.page)
        yield opened
        assert opened.said == [] and opened.asked == []


def _document(page: Page) -> dict[str, Any]:
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the document").click()
    loaded: dict[str, Any] = json.loads(download.value.path().read_text())
    return loaded


def _by_command(verb: str, file: Path) -> dict[str, Any]:
    done = command([verb, str(file), "--json"], ROOT)
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def _times(document: dict[str, Any]) -> list[Any]:
    """All times with their intervals, digit for digit."""
    return [(one["name"], one["components"], one["overhead"]) for one in document["results"]]


@pytest.mark.parametrize("kind", FILES)
def test_a_dropped_file_gives_the_numbers_of_the_command(browser: Browser, kind: str) -> None:
    verb, name = FILES[kind]
    expected = _by_command(verb, ROOT / name)
    with _dropped(browser, ROOT / name) as opened:
        assert _document(opened.page)["results"] == expected["results"]
        shown = opened.page.text_content("#explain") or ""
        said = command([verb, str(ROOT / name)], ROOT).stdout.replace("+-", "±")
        numbers = [line.strip() for line in said.splitlines() if "±" in line]
        assert numbers and all(number in shown.replace("+-", "±") for number in numbers)


def test_a_row_that_is_switched_off_is_left_out(browser: Browser, tmp_path: Path) -> None:
    lines = (ROOT / "spec/vectors/line.csv").read_text().splitlines()
    head = next(line for line in lines if not line.startswith("#"))
    body = head.split(",").index("body")
    table = tmp_path / "without.csv"
    kept = [line for line in lines if line.split(",")[body : body + 1] != ["3"]]
    table.write_text("\n".join(kept) + "\n")
    expected = _by_command("fit", table)
    with _dropped(browser, ROOT / "spec/vectors/line.csv") as opened:
        page = opened.page
        before = _times(_document(page))
        page.get_by_label("3 body").uncheck()
        _until(page, r"Switched off: 1 row\.")
        assert len(kept) < len(lines)
        assert _times(_document(page)) == _times(expected) != before
        page.get_by_role("button", name="Copy the observations").click()
        page.wait_for_function("() => window.copied")
        table.write_text(page.evaluate("window.copied"))
        assert _times(_by_command("fit", table)) == _times(expected)
        page.get_by_role("button", name="Switch all on again").click()
        _until(page, r"\) is solved\.$")
        assert _times(_document(page)) == before


@pytest.mark.parametrize("name", ["spec/vectors/two.csv", HYPERFINE])
def test_the_times_are_copied_as_csv(browser: Browser, tmp_path: Path, name: str) -> None:
    file = document = ROOT / name
    if file.suffix == ".csv":
        document = tmp_path / "two.json"
        document.write_text(command(["fit", str(file), "--json"], ROOT).stdout)
    expected = command(["report", str(document), "--format", "csv"], ROOT).stdout
    with _dropped(browser, file) as opened:
        opened.page.get_by_role("button", name="Copy the times as CSV").click()
        opened.page.wait_for_function("() => window.copied")
        copied = opened.page.evaluate("window.copied")
    assert expected.count("\n") > 1
    assert list(csv.reader(copied.splitlines())) == list(csv.reader(expected.splitlines()))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cut.json", '{"schema": "hairspring/result/2", "results": ['),
        ("empty.csv", ""),
        ("zeros.bin", "\0" * 100_000),
        ("deep.json", "[" * 100_000),
        ("wild.csv", "body,time_ns\n1,1e999\n2,nan\n"),
        ("<img src=x onerror='window.pwned=1'>.csv", "body,time_ns\n"),
    ],
)
def test_a_broken_file_is_named_in_a_sentence(browser: Browser, name: str, text: str) -> None:
    with visit(browser, LAB) as opened:
        page = opened.page
        page.evaluate(DROP, [name, base64.b64encode(text.encode()).decode()])
        page.wait_for_function("() => document.getElementById('status').matches('.bad')")
        said = page.text_content("#status") or ""
        assert said.startswith(f"{name}: ") and "panicked" not in said, said
        assert page.evaluate(CANARY) and opened.said == [] and opened.asked == []
        _drop(page, ROOT / "spec/vectors/line.csv")
        _until(page)


def test_names_of_a_dropped_table_are_text(browser: Browser, tmp_path: Path) -> None:
    names = ["<script>window.pwned=1</script>", "<img src=x onerror='window.pwned=1'>", "x" * 500]
    rows = [f"{name},{n % 5 + 1},{40 * (n % 5 + 1) + n % 3}" for name in names for n in range(60)]
    table = tmp_path / "named.csv"
    table.write_text("\n".join(["series,body,time_ns", *rows]) + "\n")
    with _dropped(browser, table) as opened:
        assert opened.page.evaluate(CANARY)
        assert names[1] in (opened.page.text_content("#result") or "")


def _example(page: Page) -> None:
    page.get_by_role("button", name="Try an example").click()
    _until(page)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("is_open", [False, True])
def test_the_bench_passes(browser: Browser, check: str, is_open: bool) -> None:
    if is_open:
        FIRST[LAB] = _example
    try:
        assert CHECKS[check](browser, LAB) == []
    finally:
        FIRST.pop(LAB, None)


def test_the_bench_is_photographed(browser: Browser, folder: Path) -> None:
    with (folder / "paint.txt").open("a") as times:
        times.write(f"lab: {paint(browser, LAB):.0f} ms, {LAB.stat().st_size} bytes\n")
    FIRST[LAB] = _example
    try:
        assert all(shot.stat().st_size > 1000 for shot in shots(browser, LAB, folder / "shots"))
    finally:
        FIRST.pop(LAB, None)
