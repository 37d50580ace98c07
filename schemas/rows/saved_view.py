"""Rows of `saved_views`: sets of filters that somebody gave a name."""

from __future__ import annotations

from pydantic import Field

from schemas.rows.row import Row
from schemas.rows.units import Text, UtcTime


class SavedViewRow(Row):
    """A set of filters with a name, which is unique."""

    name: Text = Field(description="What the view is called.")
    address: Text = Field(description="The filters as they stand in addresses: `agent=codex&outcome=completed`.")
    saved_at: UtcTime = Field(description="When it was saved (UTC).")
    saved_by: Text = Field(description="Who saved it: user@host, or the signed-in visitor of a dashboard.")
