"""Hostile records and hostile links, in a real browser.

Nothing runs, nothing is asked, nothing fails (D5, D13).
"""

from __future__ import annotations

from contextlib import closing

import pytest
from playwright.sync_api import Browser, Page

from tests.attack import hostile_links, hostile_pages
from tests.attack.browsing import Tab
from tests.attack.lab import Lab

pytestmark = pytest.mark.xdist_group("browser")


@pytest.mark.thorough
def test_d5_d13_hostile_records_and_links_do_nothing_on_any_screen_and_in_any_format(
    lab: Lab, page: Page, browser: Browser
) -> None:
    """One dashboard for all: to serve one takes longer than to open several screens."""
    with hostile_pages.dashboard(lab) as shown:
        with closing(Tab(page, shown.address)) as tab:
            hostile_pages.attack_screens(lab, tab, shown, runs=1)
            hostile_links.attack(lab, tab, shown, links=2)
        hostile_pages.attack_exports(lab, browser, shown, ["report"])
    assert [str(failure) for tally in lab.tallies for failure in tally.failures] == []


@pytest.mark.parametrize(
    ("cell", "is_one"),
    [
        ("=1+1", True),
        ("\n=1", True),
        ("\t@x", True),
        ("-2+3", True),
        ("-2.5", False),
        ("1e-3", False),
        ("'=1", False),
        ("-", False),
        ("", False),
    ],
)
def test_what_a_spreadsheet_would_compute(cell: str, is_one: bool) -> None:
    assert hostile_pages.is_formula(cell) is is_one
