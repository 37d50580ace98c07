"""Every grouping Tachograph knows, once: the only identifiers that reach SQL from outside."""

from __future__ import annotations

from schemas.catalogue.entry import Dimension, by_key


def _by(key: str, label: str, sql: str, meaning: str) -> Dimension:
    return Dimension(key, label, meaning=meaning, sql=sql)


def _period(key: str, label: str, pattern: str, meaning: str) -> Dimension:
    """A stretch of the calendar as text that sorts by time. A run counts where its date lies (`dated_at`)."""
    sql = f"strftime(timezone($zone, dated_at), '{pattern}')"
    return Dimension(key, label, meaning=meaning, sql=sql, in_order=True)


_CAUSE = _by("cause", "Cause of the difference", "cost_cause", "Why list cost and reported cost differ; same where they do not.")
_MAIN_MODEL = "The model that cost the most in the run; see `tachograph models` for every model's own share."
_EVIDENCE = "What the run's headline claim rests on; none where it claims no speedup."

DIMENSIONS = by_key(
    _by("agent", "Agent", "agent", "The agent that wrote the record."),
    _by("agent-version", "Agent version", "agent_version", "Its version, where known."),
    _by("model", "Main model", "model", _MAIN_MODEL),
    _by("provider", "Provider", "provider", "Who served the main model."),
    _by("region", "Region", "region", "Where the main model was served."),
    _by("outcome", "Outcome", "outcome", "How the run ended."),
    _by("repo", "Repository", "repo", "The repository worked on, where known."),
    _by("task", "Task", "task", "The task worked on, where known."),
    _by("experiment", "Experiment", "experiment", "The experiment the run belongs to, where labelled."),
    _period("day", "Day", "%Y-%m-%d", "The day the run ended in the time zone of --tz; unknown where only its file has a date."),
    _period("week", "Week", "%G-W%V", "The ISO week the run ended, which begins on a Monday; unknown where only its file has a date."),
    _period("month", "Month", "%Y-%m", "The month the run ended; unknown where only its file has a date."),
    _by("evidence", "Evidence of the claim", "claimed_evidence", _EVIDENCE),
    _CAUSE,
    _by("session", "Session", "session_id", "The agent's session; resumed runs share one."),
    _by("source", "Source", "source_name", "The file the record was read from."),
    _by("run", "Run", "run_id", "Each run by itself."),
)
"""Groupings of runs. Beside them any label is one: `label:KEY`."""

LABEL = _by("label", "Label", "labels[$key]", "The value of a label, as label:KEY.")
"""A grouping that needs the key of a label."""

LABEL_PREFIX = f"{LABEL.key}:"

MODEL_DIMENSIONS = by_key(
    _by("model", "Model", "model", "The model, whatever its id, date or region."),
    _by("provider", "Provider", "provider", "Who served it."),
    _by("region", "Region", "region", "Where it was served."),
    _by("model-id", "Model id", "model_id", "The id as logged."),
    _CAUSE,
)
"""Groupings of model rows."""
