"""The checks: a good page passes all, and each fault is found by its check."""

from pathlib import Path

import pytest
from checks import CHECKS
from playwright.sync_api import Browser
from samples import FAULTS, GOOD


@pytest.mark.parametrize("check", CHECKS)
def test_a_good_page_passes(browser: Browser, tmp_path: Path, check: str) -> None:
    page = tmp_path / "good.html"
    page.write_text(GOOD)
    assert CHECKS[check](browser, page) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(browser: Browser, tmp_path: Path, name: str) -> None:
    fault = FAULTS[name]
    page = tmp_path / f"{name}.html"
    page.write_text(fault.page())
    said = CHECKS[fault.check](browser, page)
    assert any(fault.says in one for one in said), said
