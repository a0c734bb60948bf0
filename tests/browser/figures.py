"""Figures of pages in Chromium, as JSON, for `bench/run pages`; nothing is judged here.

    python figures.py LAB STATIC INTERACTIVE TABLE [REPEATS]

LAB is the bench, STATIC and INTERACTIVE are pages of one table with at least two rows, and TABLE is
a table that the bench opens.
"""

import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from shots import paint
from visit import start, visit

# A page says this when it has solved what was asked last.
SOLVED = "() => / is solved\\./.test(document.getElementById('status').textContent)"
WITHOUT = "() => /Switched off: 1 row\\./.test(document.getElementById('status').textContent)"
SLOWEST_MS = 300_000
MEGA = 1e6


def painted(browser: Browser, file: Path, repeats: int) -> float:
    """Seconds until the first paint, the median of some visits."""
    return statistics.median(paint(browser, file) for _ in range(repeats)) / 1000


def _again(page: Page, at: int) -> float:
    """Seconds from switching a row off until the page says that the rest is solved."""
    box = page.locator(f"#row-{at}")
    begin = time.monotonic()
    box.uncheck()
    page.wait_for_function(WITHOUT, polling=10)
    took = time.monotonic() - begin
    page.locator("#all-on").click()
    page.wait_for_function(f"() => !({WITHOUT})()")
    page.wait_for_function(SOLVED)
    return took


def solved_again(browser: Browser, file: Path, repeats: int) -> float:
    """Seconds until an interactive page has solved its table without a row, the median."""
    with visit(browser, file) as opened:
        opened.page.wait_for_function(SOLVED, timeout=SLOWEST_MS)
        rows = opened.page.locator("[data-row]").count()
        return statistics.median(_again(opened.page, n % rows) for n in range(repeats))


class Memory:
    """The most memory that a process of a page takes while this runs, in MB: pages that several
    processes share, such as those of the program, count once.
    """

    def __init__(self) -> None:
        self.most_mb = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.1):
            self.most_mb = max([self.most_mb, *_renderers_mb()])


def _renderers_mb() -> Iterator[float]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"--type=renderer" in (process / "cmdline").read_bytes() and _is_own(process):
                lines = (process / "smaps_rollup").read_text().splitlines()
                yield from (int(one.split()[1]) * 1024 / MEGA for one in lines if one[:4] == "Pss:")
        except OSError:
            continue  # it has ended


def _is_own(process: Path) -> bool:
    """Whether a process was started by this one, at any distance."""
    own = Path(f"/proc/{os.getpid()}")
    while process.name not in ("0", "1"):
        if process == own:
            return True
        # The name of the command, in brackets, may have blanks.
        parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
        process = Path(f"/proc/{parent}")
    return False


def large(browser: Browser, lab: Path, table: Path) -> dict[str, float]:
    """A large table on the bench: seconds until it is solved, memory of the module and of all."""
    with visit(browser, lab) as opened, Memory() as memory:
        page = opened.page
        begin = time.monotonic()
        page.set_input_files("#file", table)
        page.wait_for_function(SOLVED, timeout=SLOWEST_MS)
        took = time.monotonic() - begin
        module = page.evaluate("engine.ask('memory')")
        return {"seconds": took, "module_mb": module / MEGA, "renderer_mb": memory.most_mb}


def main() -> None:
    """Prints the figures."""
    lab, static, interactive, table = (Path(name).resolve() for name in sys.argv[1:5])
    repeats = int(sys.argv[5]) if len(sys.argv) > 5 else 5
    with sync_playwright() as playwright:
        browser = start(playwright)
        found = {
            "chromium": browser.version,
            "paint_s": {
                name: painted(browser, file, repeats)
                for name, file in (("static", static), ("interactive", interactive), ("lab", lab))
            },
            "again_s": solved_again(browser, interactive, repeats),
        }
        browser.close()
        browser = start(playwright)
        found["large"] = large(browser, lab, table)
        browser.close()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
