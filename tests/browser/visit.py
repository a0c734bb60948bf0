"""A page in headless Chromium, with what it said and what it asked for."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Request, Route

CHROMIUM = os.environ.get("HAIRSPRING_CHROMIUM", "/usr/bin/chromium")
DESK, TABLET, PHONE = 1280, 800, 360
WIDTHS = (DESK, TABLET, PHONE)
PAPER = 718  # A4 in CSS pixels less a margin of 1 cm on each side
# What a page brings along itself.
OWN = ("data:", "blob:", "about:")
# A page with a solver says here when it is ready, or has solved the file.
READY = r"""
() => {
  const status = document.getElementById("status");
  return !status || /\) is solved|Ready|does not/.test(status.textContent);
}
"""
# What a visitor does first with a page, for pages that show little until then.
FIRST: dict[Path, Callable[[Page], None]] = {}
# Set by a script of a document, if one ever ran.
CANARY = "window.pwned === undefined"


@dataclass
class Visit:
    """An open page."""

    page: Page
    file: Path
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def hears(self, message: ConsoleMessage) -> None:
        """Keeps warnings and errors."""
        if message.type in ("warning", "error", "assert"):
            self.said.append(f"{message.type}: {message.text}")

    def sees(self, request: Request) -> None:
        """Keeps requests for anything but the page itself."""
        if request.url != self.file.as_uri() and not request.url.startswith(OWN):
            self.asked.append(request.url)


def start(playwright: Playwright) -> Browser:
    """Debian's Chromium. Its sandbox needs what root and containers do not have."""
    return playwright.chromium.launch(
        executable_path=CHROMIUM, args=["--no-sandbox", "--force-color-profile=srgb"]
    )


def _only_files(route: Route) -> None:
    if route.request.url.startswith(("file:", *OWN)):
        route.continue_()
    else:
        route.abort()


@contextmanager
def visit(
    browser: Browser,
    file: Path,
    *,
    width: int = DESK,
    dark: bool = False,
    script: bool = True,
    paper: bool = False,
    before: str = "",
) -> Iterator[Visit]:
    """Opens a file; `before` is a script that runs before those of the page."""
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if dark else "light",
        java_script_enabled=script,
    )
    try:
        context.route("**/*", _only_files)
        if before:
            context.add_init_script(before)
        page = context.new_page()
        opened = Visit(page, file)
        page.on("console", opened.hears)
        page.on("pageerror", lambda error: opened.said.append(f"exception: {error}"))
        page.on("request", opened.sees)
        page.goto(file.as_uri())
        if script:
            page.wait_for_function(READY)
            if file in FIRST:
                FIRST[file](page)
        if paper:
            page.emulate_media(media="print")
        yield opened
    finally:
        context.close()
