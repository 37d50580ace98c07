"""Annotations of runs (kept by run id, also while the run is gone), saved views and budgets."""

from __future__ import annotations

from schemas.rows.row import Flag, Labels, LongText, Row, Text, Usd, UtcTime, column, optional


class AnnotationRow(Row):
    """What people say of one run."""

    run_id: Text = column(description="Id of the run.")
    labels: Labels = column(
        default={},
        description=(
            "Labels that take the place of ingested ones. An empty value hides an ingested label."
        ),
    )
    note: LongText | None = optional("Note", "Note that somebody made on the run.")
    starred: Flag = column(
        default=False, title="Starred", description="Whether somebody starred the run."
    )
    excluded: Flag = column(
        default=False,
        title="Excluded",
        description="Whether the run is left out of every number and list.",
    )
    excluded_reason: Text | None = optional("Reason for exclusion", "Why the run is excluded.")
    given_at: UtcTime | None = optional(
        "Date given",
        (
            "Moment of the label `date`. A day is its noon in UTC, which is the same day in all "
            "zones from -12 to +11."
        ),
    )
    changed_at: UtcTime = column(description="When any of it was changed last (UTC).")
    changed_by: Text = column(
        description="Who changed it: user@host, or the signed-in visitor of a dashboard."
    )


class SavedViewRow(Row):
    """A set of filters with a name, which is unique."""

    name: Text = column(description="What the view is called.")
    address: Text = column(
        description="The filters as they stand in addresses: `agent=codex&outcome=completed`."
    )
    saved_at: UtcTime = column(description="When it was saved (UTC).")
    saved_by: Text = column(
        description="Who saved it: user@host, or the signed-in visitor of a dashboard."
    )


class BudgetRow(Row):
    """What a project, a person or the runs of another label may cost in a month."""

    dimension: Text = column(
        description="What is limited: `project`, or `label:KEY`, such as `label:person`."
    )
    name: Text = column(description="The project, or the value of the label.")
    month: Text | None = column(
        default=None, description="The month (`2026-03`); empty: every month without its own."
    )
    usd: Usd = column(description="The budget in US dollars.")
    set_at: UtcTime = column(description="When it was set (UTC).")
    set_by: Text = column(
        description="Who set it: user@host, or the signed-in visitor of a dashboard."
    )
