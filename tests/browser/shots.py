"""Screenshots for people, and the time until a page is painted."""

from pathlib import Path

from playwright.sync_api import Browser, FloatRect, Page
from visit import PAPER, WIDTHS, visit

TALLEST = 16_000  # pixels that one screenshot shows
BLIND = ("protanopia", "deuteranopia", "tritanopia")
# The first paint with content, in milliseconds since the page was opened.
PAINTED = """
() => new Promise((done) => new PerformanceObserver((list) => {
  const paint = list.getEntriesByName("first-contentful-paint")[0];
  if (paint) done(paint.startTime);
}).observe({ type: "paint", buffered: true }))
"""


def paint(browser: Browser, file: Path) -> float:
    """Milliseconds until the page was painted: to be told, never asserted."""
    with visit(browser, file) as opened:
        found: float = opened.page.evaluate(PAINTED)
        return found


def shots(browser: Browser, file: Path, folder: Path) -> list[Path]:
    """The page in all widths, light, dark, on paper, and with three deficiencies."""
    folder.mkdir(exist_ok=True)
    ways = [(str(width), width, False, False) for width in WIDTHS]
    ways += [("dark", WIDTHS[0], True, False), ("dark-phone", WIDTHS[-1], True, False)]
    ways += [("paper", PAPER, False, True)]
    taken = []
    for way, width, dark, paper in ways:
        with visit(browser, file, width=width, dark=dark, paper=paper) as opened:
            taken.append(_shot(opened.page, folder / f"{file.stem}.{way}.png"))
    with visit(browser, file) as opened:
        session = opened.page.context.new_cdp_session(opened.page)
        for deficiency in BLIND:
            session.send("Emulation.setEmulatedVisionDeficiency", {"type": deficiency})
            taken.append(_shot(opened.page, folder / f"{file.stem}.{deficiency}.png"))
    return taken


def _shot(page: Page, target: Path) -> Path:
    size = page.viewport_size or {"width": 0, "height": 0}
    tall = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
    clip: FloatRect = {"x": 0, "y": 0, "width": size["width"], "height": tall}
    page.screenshot(path=target, full_page=True, clip=clip)
    return target
