"""`tachograph new`: what is new since the last look."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from app.cli import terminal
from app.cli.answering import Asked, answering
from app.cli.options import format_option, with_examples
from app.cli.output import width
from app.queries.daily import daily
from app.queries.filters import has_period, this_moment
from app.queries.landed import landed_money
from app.queries.months import PROJECT, budgets_of_month
from app.queries.reading import left_out
from app.reports.exports.text import json_text
from app.reports.new import New, as_dict, markdown, plain
from ingest.store.database import Store
from ingest.system.defects import state_folder

_LOOKS = "looks.json"
_MOST_STORES = 200


@with_examples(
    "new",
    "new --since 'last night' --format md >> $GITHUB_STEP_SUMMARY",
    "new --since 7d --project vllm",
)
@format_option("md: for a chat or the summary of a CI job.", "md", "json")
@answering(output=False)
def new(format_: str, asked: Asked) -> None:
    """Show what is new since the last look: runs, money, failures, measurements, budgets.

    The last look is that of this user at this store by this command, else a day ago; --since takes
    another time. Money stands against the usual cost of the same weekdays; a run that cost twice
    its usual run says for what; a failure says whether its reason is new.
    """
    now = this_moment()
    looked = _last_look(asked.store) or now - timedelta(days=1)
    filters = asked.filters
    if not has_period(filters):
        filters = filters.with_values("since", [looked.isoformat()])
    found = New(
        daily(asked.store, filters, now),
        budgets_of_month(asked.store, "", PROJECT),
        landed_money(asked.store, filters, now),
        left_out(asked.store, filters),
        filters,
    )
    if format_ == "json":
        body = f"{json_text(as_dict(found))}\n".encode()
    elif format_ == "md":
        body = markdown(found).encode()
    else:
        body = plain(found, width(), sys.stdout.encoding or "utf-8")
    terminal.put(body)
    if not has_period(asked.filters):
        _keep_look(asked.store, now)


def _looks() -> dict[str, str]:
    with suppress(OSError, ValueError):
        found = json.loads((state_folder() / _LOOKS).read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return {str(key): str(value) for key, value in found.items()}
    return {}


def _name(store: Store) -> str:
    return store.location if ":" in store.location else str(Path(store.location).absolute())


def _last_look(store: Store) -> datetime | None:
    with suppress(KeyError, ValueError):
        return datetime.fromisoformat(_looks()[_name(store)])
    return None


def _keep_look(store: Store, now: datetime) -> None:
    """Keep the time of this look; without a folder for state the next one shows a day."""
    looks = _looks()
    looks.pop(_name(store), None)
    kept = [*looks.items()][-_MOST_STORES:]
    with suppress(OSError):
        state_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        file = state_folder() / _LOOKS
        file.write_text(json.dumps(dict([*kept, (_name(store), now.isoformat())])), "utf-8")
