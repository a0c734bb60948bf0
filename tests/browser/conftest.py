"""One Chromium for all tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from visit import start

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    with sync_playwright() as playwright:
        started = start(playwright)
        yield started
        started.close()


@pytest.fixture(scope="session")
def folder() -> Path:
    """Where pages and screenshots are left for people: .cache/browser-pages."""
    kept = Path(os.environ.get("HAIRSPRING_PAGES", ROOT / ".cache/browser-pages"))
    kept.mkdir(parents=True, exist_ok=True)
    return kept
