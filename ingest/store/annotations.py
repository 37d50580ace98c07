"""What people say of runs: labels, notes, stars, exclusions; the views and budgets they keep.

Nothing of a record changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal

from ingest.sources.times import plausible
from ingest.store.database import Store, Writer, arrow, made
from ingest.store.ingests import whoami
from ingest.store.pricing import price
from schemas.catalogue.figures import DATE
from schemas.errors import UsageError
from schemas.rows.annotation import AnnotationRow, BudgetRow, SavedViewRow

LABEL_COLUMNS = ("repo", "task", "experiment", "effort")
"""Labels that are columns of a run too, which may come from its path or a sidecar file."""

_ANNOTATED = """
select distinct
    runs.run_id, runs.labels as ingested, repo, task, experiment, effort, time_source,
    annotations.* exclude (run_id, changed_at, changed_by)
from runs
left join annotations on annotations.run_id = runs.run_id
where runs.run_id in (select unnest($run_ids))
"""


@dataclass(frozen=True)
class Change:
    """What to change; None leaves a property unchanged.

    `labels`: to set; `removed`: keys to remove; an empty `note` removes the note.

    `reason`: why the run is excluded.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    removed: Sequence[str] = ()
    note: str | None = None
    starred: bool | None = None
    excluded: bool | None = None
    reason: str | None = None


def annotate(store: Store, run_ids: Sequence[str], change: Change, who: str = "") -> int:
    """Change the annotations of runs, in one transaction. Returns how many annotations changed.

    `who` is the author, by default the user of this process. A removed label that was ingested is
    hidden by an empty value. Runs with the label `date` are priced again, as of that day. Raises
    StoreError, UsageError for a `date` that is none.
    """
    given = dict(change.labels)
    given_at = None
    if given.get(DATE):
        given[DATE], given_at = _date(given[DATE])

    def annotated(writer: Writer) -> int:
        changed: list[AnnotationRow] = []
        runs = arrow(writer.connection, _ANNOTATED, {"run_ids": list(run_ids)}).to_pylist()
        for run in runs:
            before = {
                "labels": dict(run["labels"] or ()),
                "note": run["note"],
                "starred": bool(run["starred"]),
                "excluded": bool(run["excluded"]),
                "excluded_reason": run["excluded_reason"],
                "given_at": run["given_at"],
            }
            ingested = dict(run["ingested"] or ()).keys() | {
                key for key in LABEL_COLUMNS if run[key] is not None
            }
            wanted = dict(given)
            removed = {*change.removed, *(key for key, value in wanted.items() if not value)}
            labels = {
                key: value
                for key, value in (before["labels"] | wanted).items()
                if key not in removed
            }
            labels |= dict.fromkeys(removed & ingested, "")
            after = before | {"labels": dict(sorted(labels.items()))}
            if wanted.get(DATE) or DATE in removed:
                after["given_at"] = given_at if wanted.get(DATE) else None
            if change.note is not None:
                after["note"] = change.note or None
            if change.starred is not None:
                after["starred"] = change.starred
            if change.excluded is not None:
                after |= {
                    "excluded": change.excluded,
                    "excluded_reason": change.reason or None if change.excluded else None,
                }
            if after != before:
                changed.append(
                    AnnotationRow(
                        run_id=run["run_id"],
                        **after,
                        changed_at=datetime.now(UTC),
                        changed_by=who or whoami(),
                    )
                )
        ids = [row.run_id for row in changed]
        writer.connection.execute(
            "delete from annotations where run_id in (select unnest($run_ids::varchar[]))",
            {"run_ids": ids},
        )
        writer.insert(
            "annotations",
            [row for row in changed if row.labels or row.note or row.starred or row.excluded],
        )
        made(
            writer.connection, "annotated", "select unnest($ids::varchar[]) as run_id", {"ids": ids}
        )
        if DATE in given or DATE in change.removed:
            price(writer, "select run_id from annotated")
        if change.excluded is not None:  # of probable copies one that is not excluded is counted
            from ingest.store.cross_checks import note_cross_checks  # noqa: PLC0415  with what reads patches, which no screen needs

            note_cross_checks(writer.connection, "select run_id from annotated")
        return len(changed)

    return store.write(annotated, make=False)


def _date(text: str) -> tuple[str, datetime]:
    """Return a day (`2026-11-01`) or a time with its zone, and its moment. Raises UsageError.

    The zone is UTC if the text has none.
    """
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            found = read(text.strip())
            moment = found if isinstance(found, datetime) else datetime.combine(found, time(12))
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            if plausible(moment):
                return (
                    moment if isinstance(found, datetime) else found
                ).isoformat(), moment.astimezone(UTC)
        except (ValueError, OverflowError):
            continue
    why = f"the label date takes a day or a time between 2000 and 2100, not {text!r}."
    raise UsageError(
        why, "For example: date=2026-11-01 or date=2026-11-01T14:00+01:00; date= removes it."
    )


def save_view(store: Store, name: str, address: str, who: str = "") -> None:
    """Save filters under a name, replacing those of the same name.

    An empty address deletes the view. Raises StoreError.
    """

    def saved(writer: Writer) -> None:
        writer.connection.execute("delete from saved_views where name = $name", {"name": name})
        if address:
            row = SavedViewRow(
                name=name, address=address, saved_at=datetime.now(UTC), saved_by=who or whoami()
            )
            writer.insert("saved_views", [row])

    store.write(saved, make=False)


@dataclass(frozen=True, slots=True)
class Budgeted:
    """What a budget limits: runs with this `name` of a `dimension`, in a month (None: in each)."""

    dimension: str
    name: str
    month: str | None = None

    @property
    def written(self) -> str:
        """The name as commands take it: `codeharness`, `person=anna`."""
        _, _, key = self.dimension.partition(":")
        is_plain = not key and "=" not in self.name
        return self.name if is_plain else f"{key or self.dimension}={self.name}"


def set_budget(store: Store, budgeted: Budgeted, usd: Decimal | None, who: str = "") -> bool:
    """Keep a budget in place of an earlier one, or forget it (None); return whether there was one.

    Raises StoreError.
    """
    sql = (
        "delete from budgets where dimension = $dimension and name = $name "
        "and month is not distinct from $month returning name"
    )
    of = {"dimension": budgeted.dimension, "name": budgeted.name, "month": budgeted.month}

    def kept(writer: Writer) -> bool:
        before = writer.connection.execute(sql, of).fetchall()
        if usd is not None:
            row = BudgetRow(**of, usd=usd, set_at=datetime.now(UTC), set_by=who or whoami())
            writer.insert("budgets", [row])
        return bool(before)

    return store.write(kept, make=False)
