"""Interactive reports: the digits of the command, the keyboard alone, copies, and zooming."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from made import PAGES, ROOT, SOLVER, command, report
from playwright.sync_api import Browser, Page
from visit import Visit, visit

CATCH = """
Object.defineProperty(navigator, "clipboard", {
  value: { writeText: async (text) => { window.copied = text; } },
});
"""
TABLE = "spec/vectors/two.csv"
TABS = 400  # the most that are pressed on the way to an element

pytestmark = pytest.mark.skipif(not SOLVER.exists(), reason="tools/wasm.sh has not built a solver")


def _interactive(folder: Path, table: str, *arguments: str) -> Path:
    done = command(["fit", table, "--json", *arguments], folder)
    assert done.returncode == 0, done.stderr
    (folder / "page.json").write_text(done.stdout)
    return report("page.json", folder, table, ["--interactive"])


@contextmanager
def _opened(browser: Browser, file: Path, *, dark: bool = False) -> Iterator[Visit]:
    with visit(browser, file, before=CATCH, dark=dark) as opened:
        yield opened
        assert opened.said == [] and opened.asked == []


def _says(page: Page, pattern: str) -> None:
    page.wait_for_function(
        "said => new RegExp(said).test(document.getElementById('status').textContent)", arg=pattern
    )


def _tab_to(page: Page, selector: str) -> None:
    """Presses Tab until an element has the focus."""
    for _ in range(TABS):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement?.matches(s) ?? false", selector):
            return
    raise AssertionError(f"Tab does not reach {selector}")


def _times(text: str) -> list[list[str]]:
    return list(csv.reader(text.splitlines()))


def _csv_by_command(folder: Path, table: Path) -> str:
    (folder / "of.json").write_text(command(["fit", str(table), "--json"], folder).stdout)
    return command(["report", "of.json", "--format", "csv"], folder).stdout


def test_the_keyboard_alone_switches_a_row_off_and_copies(browser: Browser, tmp_path: Path) -> None:
    page_file = _interactive(tmp_path, str(ROOT / TABLE))
    with _opened(browser, page_file) as opened:
        page = opened.page
        assert page.inner_text("#result") == "", "the page above has the result"
        _tab_to(page, "#row-1")
        page.keyboard.press("Space")
        _says(page, r"Switched off: 1 row\.$")
        assert "ns" in page.inner_text("#result")
        page.keyboard.press("Home")
        page.evaluate("document.activeElement.blur()")
        _tab_to(page, "[data-copy=observations]")
        page.keyboard.press("Enter")
        page.wait_for_function("() => window.copied")
        observations = page.evaluate("window.copied")
        page.evaluate("window.copied = ''")
        page.evaluate("document.activeElement.blur()")
        _tab_to(page, "[data-copy=times]")
        page.keyboard.press("Enter")
        page.wait_for_function("() => window.copied")
        times = page.evaluate("window.copied")
    table = tmp_path / "without.csv"
    table.write_text(observations)
    assert _times(times) == _times(_csv_by_command(tmp_path, table))
    assert _times(times) != _times(_csv_by_command(tmp_path, ROOT / TABLE))


def test_the_times_of_a_report_are_those_of_the_command(browser: Browser, tmp_path: Path) -> None:
    with _opened(browser, _interactive(tmp_path, str(ROOT / TABLE))) as opened:
        opened.page.get_by_role("button", name="Copy the times as CSV").click()
        opened.page.wait_for_function("() => window.copied")
        copied = opened.page.evaluate("window.copied")
    assert _times(copied) == _times(_csv_by_command(tmp_path, ROOT / TABLE))


def _bent(folder: Path) -> str:
    """A table with a row that is far off the line."""
    rows = [
        f"{k},{400 + n % 3 if k == 1 else 100 * k + n % 3}" for n in range(60) for k in range(1, 10)
    ]
    (folder / "bent.csv").write_text("# rate_hz: 1e9\nbody,ticks\n" + "\n".join(rows) + "\n")
    return "bent.csv"


@pytest.mark.parametrize("keeps", [False, True])
def test_a_report_begins_as_its_document(browser: Browser, tmp_path: Path, keeps: bool) -> None:
    more = ["--keep-all"] if keeps else []
    with _opened(browser, _interactive(tmp_path, _bent(tmp_path), *more)) as opened:
        page = opened.page
        assert page.is_checked("#keep_all") == keeps
        for _ in range(2):
            page.evaluate("window.copied = ''")
            page.get_by_role("button", name="Copy the times as CSV").click()
            page.wait_for_function("() => window.copied")
            expected = command(["report", "page.json", "--format", "csv"], tmp_path).stdout
            assert _times(page.evaluate("window.copied")) == _times(expected)
            page.uncheck("#row-3")
            _says(page, r"Switched off: 1 row\.$")
            page.get_by_role("button", name="Switch all on again").click()
            _says(page, r"is solved\.$")
            assert page.is_checked("#keep_all") == keeps


RANGE = "document.getElementById('plot-range').textContent"


def test_the_plot_is_zoomed_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    with _opened(browser, _interactive(tmp_path, str(ROOT / TABLE))) as opened:
        page = opened.page
        page.wait_for_function(f"() => /^Readings 0 to/.test({RANGE})")
        whole = page.evaluate(RANGE)
        ranges = [whole]
        for name in ("larger", "later", "earlier", "smaller"):
            page.evaluate("document.activeElement.blur()")
            _tab_to(page, f"[data-zoom={name}]")
            page.keyboard.press("Enter")
            page.wait_for_function(f"said => {RANGE} !== said", arg=ranges[-1])
            ranges.append(page.evaluate(RANGE))
        assert ranges[1] == ranges[3] != whole and ranges[-1] == whole, ranges
        for _ in range(30):
            page.keyboard.press("Enter")
        assert page.evaluate(RANGE) == whole


def test_the_plot_is_dark_where_the_page_is(browser: Browser, tmp_path: Path) -> None:
    file = _interactive(tmp_path, str(ROOT / TABLE))
    ground = "getComputedStyle(document.getElementById('plot')).backgroundColor"
    colours = f"[{ground}, drawn.series[1].stroke()]"
    with _opened(browser, file, dark=True) as opened:
        page = opened.page
        assert page.evaluate(colours) == ["rgb(20, 24, 29)", "#56b4e9"]
        page.emulate_media(color_scheme="light")
        page.wait_for_function("() => drawn.series[1].stroke() === '#0072b2'")
        assert page.evaluate(colours) == ["rgb(255, 255, 255)", "#0072b2"]


def test_interactive_pages_are_among_those_that_are_checked() -> None:
    assert any(name.endswith("-interactive") for name in PAGES)
