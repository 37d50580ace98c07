"""Logs of a benchmark harness's trial: the harness's result, trajectories in a common format and the agent's own log are one run.

The record that tells tokens is kept; of several the one nearest to the API: the agent's own log before a trajectory, and that before the
harness's result, which repeats their sums.
"""

from __future__ import annotations

from ingest.agents.base import Rows
from schemas.rows.run import RecordKind

_NEARNESS = {RecordKind.TRIAL: 0, RecordKind.SIDECAR: 0, RecordKind.TRAJECTORY: 1}
"""By kind of the record; any other kind is a log of the agent itself."""

_OWN_LOG = 2
_NEAR = 11 * 10**14
_TELLS_TOKENS = 35 * 10**14
"""What nearness and tokens add to `record_rank`, which is below 11 × 10**14 otherwise and has at most 53 bits."""


def rank_in_trial(kind: RecordKind, rank: int, *, tells_tokens: bool) -> int:
    """The `record_rank` of a record of a trial, by that of the record alone."""
    return _TELLS_TOKENS * tells_tokens + _NEAR * _NEARNESS.get(kind, _OWN_LOG) + rank


def of_trial(rows: Rows) -> Rows:
    """The rows of a log that lies in the folder of a trial, `runs.trial_id`: a record of the trial's run. Others as they are.

    A sub-agent with a log of its own stays a run of its own.
    """
    run = rows.run
    trial = run.trial_id
    if not isinstance(trial, str):  # a wrong value is refused with its column
        return rows
    if run.parent_run_id not in (None, run.run_id):
        return alone(rows)
    tells_tokens = run.input_tokens is not None or run.output_tokens is not None
    rank = rank_in_trial(RecordKind(run.record_kind), run.record_rank, tells_tokens=tells_tokens)
    its = {"run_id": trial}
    return rows._replace(
        run=run.completed(its | {"chain_id": trial, "record_rank": rank}),
        model_usage=tuple(row.completed(its) for row in rows.model_usage),
        tool_calls=tuple(row.completed(its) for row in rows.tool_calls),
        patch_files=tuple(row.completed(its) for row in rows.patch_files),
        patches=tuple(row.completed(its) for row in rows.patches),
    )


def alone(rows: Rows) -> Rows:
    """The rows as of a log without a trial."""
    return rows._replace(run=rows.run.completed({"trial_id": None}))
