"""Sets of filters that people gave a name, kept in the store for all who look at it."""

from __future__ import annotations

from datetime import UTC, datetime

from ingest.store.database import Store, Writer
from ingest.store.history.ingests import whoami
from schemas.rows.annotation import SavedViewRow


def save_view(store: Store, name: str, address: str, who: str = "") -> None:
    """Save filters under a name, in place of others of that name; without an address the name is forgotten. Raises StoreError."""

    def saved(writer: Writer) -> None:
        writer.connection.execute("delete from saved_views where name = $name", {"name": name})
        if address:
            row = SavedViewRow(name=name, address=address, saved_at=datetime.now(UTC), saved_by=who or whoami())
            writer.insert("saved_views", [row])

    store.write(saved, make=False)
