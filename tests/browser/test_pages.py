"""Every page of the command goes through every check; screenshots are left for people."""

from pathlib import Path

import pytest
from checks import CHECKS
from made import PAGES, make
from playwright.sync_api import Browser
from shots import paint, shots

LARGEST = 300_000
LARGEST_INTERACTIVE = 3 * 2**20


@pytest.fixture(scope="session")
def made(folder: Path) -> dict[str, Path]:
    """The pages that are made already."""
    return {}


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest, folder: Path, made: dict[str, Path]) -> Path:
    """A page of the command, made once."""
    name: str = request.param
    if name not in made:
        made[name] = make(name, folder)
    return made[name]


@pytest.mark.parametrize("check", CHECKS)
def test_page_passes(browser: Browser, page: Path, check: str) -> None:
    assert CHECKS[check](browser, page) == []


def test_page_is_small(page: Path) -> None:
    limit = LARGEST_INTERACTIVE if page.stem.endswith("interactive") else LARGEST
    assert page.stat().st_size < limit, f"{page.stat().st_size} bytes"


def test_page_is_painted_and_photographed(browser: Browser, page: Path, folder: Path) -> None:
    milliseconds = paint(browser, page)
    with (folder / "paint.txt").open("a") as times:
        times.write(f"{page.stem}: {milliseconds:.0f} ms, {page.stat().st_size} bytes\n")
    assert all(shot.stat().st_size > 1000 for shot in shots(browser, page, folder / "shots"))
