"""Saved views: a name for a set of filters, kept in the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.queries import runs as queries
from ingest.store.annotations import save_view
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from tests.conftest import said

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest


def test_a_view_is_saved_opened_and_forgotten(
    sample_store: Store, screens: Callable[..., AppTest]
) -> None:
    """The filters return by their name; on another screen too, and after a rebuild of the store."""
    app = screens(sample_store.location, search="no such text")
    assert "No runs match" in said(app)
    app.text_input[-1].set_value("Nothing")
    next(button for button in app.button if button.label == "Save view").click().run()
    assert queries.saved_views(sample_store) == {"Nothing": "search=no+such+text"}
    rebuild(sample_store)
    app = screens(sample_store.location, "screens/reports.py")
    app.button(key="view-Nothing").click().run()
    assert app.query_params["search"] == "no such text"
    assert "No runs match" in said(app)
    app.button(key="forget-Nothing").click().run()
    assert not queries.saved_views(sample_store)


def test_a_name_has_one_view(sample_store: Store) -> None:
    for address in ("agent=codex", "agent=claude-code"):
        save_view(sample_store, "mine", address)
    assert queries.saved_views(sample_store) == {"mine": "agent=claude-code"}
