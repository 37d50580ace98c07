"""What became of a run's changes in a repository, as `tachograph landed` read it."""

from __future__ import annotations

from enum import StrEnum

from schemas.rows.row import Names, Row, Text, UtcTime, column, optional


class Landed(StrEnum):
    """What became of a run's changes, best first: a run has the best state of its commits."""

    LANDED = "landed"
    OPEN = "open"
    ABANDONED = "abandoned"
    UNKNOWN = "unknown"


class LandingRow(Row):
    """What became of the changes of one run, which is there once."""

    run_id: Text = column(description="Id of the run.")
    state: Text = optional(
        "Landed",
        "landed: on the main branch. open: on another branch. abandoned: reverted, or on no branch "
        "any more. unknown: the run records no change, or the checkout does not have it.",
    )
    reason: Text = optional("Landed: why", "What decides the state, such as `1a2b3c4 is on main`.")
    commits: Names = column(
        default=(), title="Commits", description="Hashes of the run's commits, as its log has them."
    )
    changes: Names = column(
        default=(),
        title="Landed changes",
        description=(
            "What landed of the run: pull requests (`owner/name#12`), and commits of the main "
            "branch that came with none."
        ),
    )
    landed_at: UtcTime | None = optional("Landed on", "When the last of them landed (UTC).")
    pull_request: Text | None = optional(
        "Pull request", "Pull request of the run's changes: `owner/name#12`, several by commas."
    )
    ticket: Text | None = optional(
        "Ticket", "Ticket named by the branch, the title or the landed commits of the run."
    )
    repository: Text = column(description="Name of the repository that was read.")
    branch: Text = column(description="Its main branch.")
    read_at: UtcTime = column(description="When it was read (UTC).")
    read_by: Text = column(description="Who read it: user@host.")
