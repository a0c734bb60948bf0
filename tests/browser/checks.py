"""What every page must do. Each check takes any HTML file and gives its faults as sentences."""

import hashlib
import io
import os
import re
import unicodedata
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from colours import MARK_CONTRAST, TEXT_CONTRAST, contrast, parse, too_close
from playwright.sync_api import Browser, Page
from pypdf import PdfReader
from visit import CANARY, PAPER, PHONE, WIDTHS, visit

HERE = Path(__file__).parent
LAYOUT = (HERE / "layout.js").read_text()
KEYBOARD = (HERE / "keyboard.js").read_text()
PAINT = (HERE / "paint.js").read_text()
# axe-core: 4.14.1 of npm, which HAIRSPRING_AXE names, or 4.12.1 as axe-playwright-python brings it.
AXE_SHA256 = {
    True: "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c",
    False: "84494fec757e4710dc751c8d7a636e457f4532f08f85c86dc9070133fbff53bc",
}
WCAG_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
TABS = 300  # the most that one page is asked for
STOPS = 5  # buttons, summaries and boxes of one page that are pressed
# A colour nearer to the background than this is a shade, not a mark.
FAINT = 1.2

Check = Callable[[Browser, Path], list[str]]


def axe_source() -> str:
    """The program of axe-core, after its checksum."""
    newer = os.environ.get("HAIRSPRING_AXE")
    package = files("axe_playwright_python").joinpath("axe.min.js")
    source = Path(newer).read_bytes() if newer else package.read_bytes()
    found, expected = hashlib.sha256(source).hexdigest(), AXE_SHA256[bool(newer)]
    assert found == expected, f"axe-core has the checksum {found}, expected {expected}"
    return source.decode()


def fits(browser: Browser, file: Path) -> list[str]:
    """Nothing is cut, overlaps, or needs the page to be scrolled sideways."""
    faults = []
    for width in WIDTHS:
        with visit(browser, file, width=width) as opened:
            said: list[str] = opened.page.evaluate(LAYOUT)
            faults += [f"at {width} px: {one}" for one in said]
    return faults


def quiet(browser: Browser, file: Path) -> list[str]:
    """No warning, no error, no request, no script of a document."""
    faults = []
    for script in (True, False):
        with visit(browser, file, script=script) as opened:
            opened.page.wait_for_timeout(100)
            if not opened.page.evaluate(CANARY):
                faults.append("a script of the document ran")
            faults += [f"it asked for {one}" for one in opened.asked]
            faults += [f"the console says {one}" for one in opened.said]
    return faults


# What a page would do for somebody who could write into it.
INTRUDE = """
async () => {
  const refused = [];
  document.addEventListener("securitypolicyviolation", (e) => refused.push(e.effectiveDirective));
  const script = document.createElement("script");
  script.textContent = "window.pwned = 'script'";
  const image = new Image();
  image.src = "https://host.invalid/pixel.png";
  const button = document.createElement("button");
  button.setAttribute("onclick", "window.pwned = 'attribute'");
  document.body.append(script, image, button);
  button.click();
  await fetch("https://host.invalid/").catch(() => {});
  await new Promise((done) => setTimeout(done, 50));
  return [window.pwned ?? null, refused.map((one) => one.split("-")[0]).sort()];
}
"""


def walled(browser: Browser, file: Path) -> list[str]:
    """A content security policy that refuses scripts, pictures and requests of others."""
    faults = []
    with visit(browser, file) as opened:
        policies = opened.page.locator("meta[http-equiv='Content-Security-Policy' i]")
        if policies.count() != 1:
            return [f"it has {policies.count()} content security policies"]
        ran, refused = opened.page.evaluate(INTRUDE)
        if ran is not None:
            faults.append(f"a script that was put into the page ran ({ran})")
        for kind, least in (("script", 2), ("img", 1), ("connect", 1)):
            if refused.count(kind) < least:
                faults.append(f"its policy does not refuse a foreign {kind}")
    return faults


def _axe(page: Page) -> list[str]:
    page.evaluate(axe_source())
    found: dict[str, Any] = page.evaluate(
        "tags => axe.run(document, {runOnly: tags, resultTypes: ['violations']})", WCAG_AA
    )
    return [
        f"axe {rule['id']} ({rule['impact']}): {rule['help']}: {len(rule['nodes'])} x "
        f"{rule['nodes'][0]['html'][:120]}"
        for rule in found["violations"]
    ]


def accessible(browser: Browser, file: Path) -> list[str]:
    """axe-core finds no violation of WCAG 2 A or AA, light, dark and on a phone."""
    faults = []
    for dark in (False, True):
        with visit(browser, file, dark=dark) as opened:
            faults += [f"{'dark' if dark else 'light'}: {one}" for one in _axe(opened.page)]
    with visit(browser, file, width=PHONE) as opened:
        faults += [f"at {PHONE} px: {one}" for one in _axe(opened.page)]
    return faults


def _plot_colours(plot: dict[str, Any]) -> list[str]:
    ground = parse(plot["ground"])
    faults = []
    for colour, text in plot["texts"].items():
        ratio = contrast(parse(colour), ground)
        if ratio < TEXT_CONTRAST:
            faults.append(f"text '{text}' {colour} on {plot['ground']}: contrast {ratio:.2f}")
    marks = {
        colour: mark
        for colour, mark in plot["marks"].items()
        if contrast(parse(colour), ground) >= FAINT
    }
    for colour, mark in marks.items():
        ratio = contrast(parse(colour), ground)
        if ratio < MARK_CONTRAST:
            faults.append(f"mark '{mark}' {colour} on {plot['ground']}: contrast {ratio:.2f}")
    return faults + too_close(parse(colour) for colour in marks)


def coloured(browser: Browser, file: Path) -> list[str]:
    """Plots: contrast of WCAG AA, and colours that people with a deficiency tell apart."""
    faults = []
    for dark in (False, True):
        with visit(browser, file, dark=dark) as opened:
            plots: list[dict[str, Any]] = opened.page.evaluate(PAINT)
        for plot in plots:
            faults += [f"{'dark' if dark else 'light'}: {one}" for one in _plot_colours(plot)]
    return sorted(set(faults))


def _press(page: Page, number: int, kind: str) -> list[str]:
    page.evaluate("number => window.keyboard.focus(number)", number)
    if kind == "summary":
        states = [page.evaluate("window.keyboard.open()")]
        for key in ("Enter", "Space"):
            page.keyboard.press(key)
            states.append(page.evaluate("window.keyboard.open()"))
        return [] if states[0] != states[1] != states[2] else ["Enter or Space does not open it"]
    before = page.evaluate("window.keyboard.clicks")
    for key in ("Enter", "Space") if kind == "button" else ("Space",):
        page.keyboard.press(key)
    wanted = 2 if kind == "button" else 1
    pressed = page.evaluate("window.keyboard.clicks") - before
    return [] if pressed >= wanted else [f"keys press it {pressed} times of {wanted}"]


def _walk(page: Page, names: list[str]) -> tuple[list[int], list[str]]:
    """Presses Tab through the page: the numbers of what had the focus, and faults."""
    order: list[int] = []
    faults = []
    for _ in range(min(TABS, len(names) + 50)):
        page.keyboard.press("Tab")
        at = page.evaluate("window.keyboard.at()")
        if at == -2 or at in order:
            break
        if at >= 0:
            order.append(at)
            if not page.evaluate("window.keyboard.shows()"):
                faults.append(f"nobody sees that {names[at]} has the focus")
    return order, faults


def typed(browser: Browser, file: Path) -> list[str]:
    """With the keyboard alone: everything is reached in order, seen and pressed."""
    with visit(browser, file) as opened:
        page = opened.page
        there = page.evaluate(KEYBOARD)
        names, kinds = there["names"], there["kinds"]
        order, faults = _walk(page, names)
        if there["positive"]:
            faults.append("a positive tabindex changes the order")
        if order != sorted(order):
            faults.append(f"Tab leaves the order of the page: {order}")
        if len(names) <= TABS:
            left = [i for i in range(len(names)) if i not in order and kinds[i] != "radio"]
            faults += [f"Tab does not reach {names[i]}" for i in left]
        for kind in ("summary", "button", "checkbox"):
            for number in [i for i, one in enumerate(kinds) if one == kind][:STOPS]:
                faults += [f"{names[number]}: {one}" for one in _press(page, number, kind)]
    return faults


# Without what is said only where scripts run, or do not run: the parts of the solver, <noscript>.
WORDS = """
() => [...document.querySelectorAll("h1, h2, h3, th, td, p, li, text, title")]
  .filter((node) => !node.closest("#hairspring-interactive, #answer, #status, noscript"))
  .map((node) => node.textContent.trim().replace(/\\s+/g, " ")).filter(Boolean)
"""


def plain(browser: Browser, file: Path) -> list[str]:
    """Without JavaScript all headings, tables, sentences and texts of plots are there."""
    with visit(browser, file) as opened:
        with_script: list[str] = opened.page.evaluate(WORDS)
    with visit(browser, file, script=False) as opened:
        without = set(opened.page.evaluate(WORDS))
        shown = opened.page.inner_text("body").strip()
    lost = [text for text in with_script if text not in without]
    faults = [f"without JavaScript '{text[:80]}' is not there" for text in lost[:10]]
    return faults if shown else ["without JavaScript the page is empty"]


def _pdf_text(data: bytes) -> str:
    pages = PdfReader(io.BytesIO(data)).pages
    text = "".join(page.extract_text() for page in pages)
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))  # a ligature is its letters


def _printed_words(page: Page) -> list[str]:
    faults = []
    printed = _pdf_text(page.pdf(format="A4", print_background=False))
    words = set(re.findall(r"[A-Za-z0-9.]{4,}", page.inner_text("body")))
    # CSS may write in capitals what the text has in small letters
    lost = sorted(word for word in words if word.lower() not in printed.lower())
    if lost:
        faults.append(f"{len(lost)} words of {len(words)} are not in the PDF: {lost[:8]}")
    return faults


def printable(browser: Browser, file: Path) -> list[str]:
    """On paper: black on white also from a dark screen, nothing cut, all words in the PDF."""
    faults = []
    with visit(browser, file, width=PAPER, dark=True, paper=True) as opened:
        page = opened.page
        faults += page.evaluate(LAYOUT)
        cut: list[str] = page.evaluate(SCROLLED)
        faults += [f"{one} is cut on paper" for one in cut]
        ground, ink = page.evaluate(INK)
        if contrast(parse(ground), (255, 255, 255)) > 1.1:
            faults.append(f"the paper is {ground}")
        if contrast(parse(ink), (255, 255, 255)) < TEXT_CONTRAST:
            faults.append(f"the text is {ink} on white paper")
        for plot in page.evaluate(PAINT):
            faults += _plot_colours({**plot, "ground": "#ffffff"})
        faults += _printed_words(page)
    return [f"in print: {one}" for one in sorted(set(faults))]


# Parts that have a scroll bar, which paper has not.
SCROLLED = """
() => [...document.body.querySelectorAll("*")].filter((node) => node.checkVisibility() &&
    getComputedStyle(node).overflowX !== "visible" && node.clientWidth > 2 &&
    (node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1))
  .map((node) => `<${node.tagName.toLowerCase()} class="${node.getAttribute("class") ?? ""}">`)
"""
INK = """
() => {
  const hex = (css) => {
    const parts = css.match(/[\\d.]+/g).map(Number);
    if (parts.length === 4 && parts[3] === 0) return "#ffffff";
    return "#" + parts.slice(0, 3).map((v) => Math.round(v).toString(16).padStart(2, "0")).join("");
  };
  const style = getComputedStyle(document.body);
  return [hex(style.backgroundColor), hex(style.color)];
}
"""

CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        fits,
        quiet,
        walled,
        accessible,
        coloured,
        typed,
        plain,
        printable,
    )
}
