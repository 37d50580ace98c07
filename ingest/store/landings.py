"""What runs record of their changes, and what became of these (`ingest.landings`), in the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingest.store.database import Store, Writer, arrow
from schemas.catalogue.figures import PULL_REQUEST
from schemas.rows.landing import Landed, LandingRow
from schemas.wire.launch import COMMIT_AFTER

_CHANGES = """
with made as (
    select
        run_id, flatten(list(commits order by responses.at)) as commits,
        flatten(list(pull_requests order by responses.at)) as pull_requests
    from responses
    where commits is not null or pull_requests is not null
    group by run_id
)
select
    run_id, session_id, title, repo as project, cwd, branch, started_at, ended_at,
    array_append(made.commits, labels[$after]) as commits,
    array_append(made.pull_requests, labels[$pull_request]) as pull_requests, text as patch
from v_runs
left join made using (run_id)
left join (select run_id, text from patches where not is_cut) using (run_id)
order by ended_at, run_id
"""


def recorded_changes(store: Store) -> list[dict[str, Any]]:
    """Return what each run records of its changes (`ingest.landings.RunChanges`), the oldest first.

    Patches and titles are read also if the answer leaves out texts: what is kept must not depend on
    its format. Raises StoreError.
    """
    labels = {"after": COMMIT_AFTER, "pull_request": PULL_REQUEST}
    with Store.reading(store) as connection:
        rows: list[dict[str, Any]] = arrow(connection, _CHANGES, labels).to_pylist()
    for row in rows:
        for key in ("commits", "pull_requests"):
            row[key] = [*dict.fromkeys(filter(None, row[key] or ()))]
    return rows


def keep_landings(store: Store, repository: str, rows: Sequence[LandingRow]) -> int:
    """Keep what a checkout shows, in place of what the repository showed before.

    Of a run that worked in several repositories the best is kept. Returns how many runs are kept.
    Raises StoreError.
    """
    states = list(Landed)

    def kept(writer: Writer) -> int:
        connection = writer.connection
        connection.execute("delete from landings where repository = $name", {"name": repository})
        other = dict(connection.execute("select run_id, state from landings").fetchall())
        better = [
            row
            for row in rows
            if row.run_id not in other
            or states.index(Landed(row.state)) < states.index(Landed(other[row.run_id]))
        ]
        connection.execute(
            "delete from landings where run_id in (select unnest($ids::varchar[]))",
            {"ids": [row.run_id for row in better]},
        )
        writer.insert("landings", better)
        return len(better)

    return store.write(kept, make=False)
