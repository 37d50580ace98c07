"""Screens as a visitor opens them, by their address."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.serving import ENTRY, PATIENCE_SECONDS

FIRST = "screens/overview.py"
"""What an address without a path shows."""


def visit(screen: str = FIRST, **query: str | list[str]) -> AppTest:
    """A screen of the store in TACHOGRAPH_DB, opened by a link: no other is drawn before it."""
    app = AppTest.from_file(str(ENTRY), default_timeout=PATIENCE_SECONDS)
    for key, value in query.items():
        app.query_params[key] = value
    if screen != FIRST:
        app.switch_page(screen)
    app.run()
    assert not app.exception
    return app
