"""Every grouping Tachograph knows, once: the only identifiers that reach SQL from outside."""

from __future__ import annotations

from schemas.catalogue.metric import Dimension


def _period(key: str, label: str, pattern: str, meaning: str) -> Dimension:
    """A stretch of the calendar as text that sorts by time. A run counts where it ended, else where it started."""
    return Dimension(key, label, f"strftime(timezone($zone, coalesce(ended_at, started_at)), '{pattern}')", meaning, in_order=True)


DIMENSIONS = {
    dimension.key: dimension
    for dimension in (
        Dimension("agent", "Agent", "agent", "The agent that wrote the record."),
        Dimension("agent-version", "Agent version", "agent_version", "Its version, where known."),
        Dimension(
            "model", "Main model", "model", "The model that cost the most in the run; see `tachograph models` for every model's own share."
        ),
        Dimension("provider", "Provider", "provider", "Who served the main model."),
        Dimension("region", "Region", "region", "Where the main model was served."),
        Dimension("outcome", "Outcome", "outcome", "How the run ended."),
        Dimension("repo", "Repository", "repo", "The repository worked on, where known."),
        Dimension("task", "Task", "task", "The task worked on, where known."),
        Dimension("experiment", "Experiment", "experiment", "The experiment the run belongs to, where labelled."),
        _period("day", "Day", "%Y-%m-%d", "The day the run ended in the time zone of --tz, where its time is known."),
        _period("week", "Week", "%G-W%V", "The ISO week the run ended, which begins on a Monday."),
        _period("month", "Month", "%Y-%m", "The month the run ended."),
        Dimension(
            "evidence",
            "Evidence of the claim",
            "claimed_evidence",
            "What the run's headline claim rests on; none where it claims no speedup.",
        ),
        Dimension("cause", "Cause of the difference", "cost_cause", "Why list cost and reported cost differ; same where they do not."),
        Dimension("session", "Session", "session_id", "The agent's session; resumed runs share one."),
        Dimension("source", "Source", "source_name", "The file the record was read from."),
        Dimension("run", "Run", "run_id", "Each run by itself."),
    )
}
"""Groupings of runs. Beside them any label is one: `label:KEY`."""

LABEL = Dimension("label", "Label", "labels[$key]", "The value of a label, as label:KEY.")
"""A grouping that needs the key of a label."""

MODEL_DIMENSIONS = {
    dimension.key: dimension
    for dimension in (
        Dimension("model", "Model", "model", "The model, whatever its id, date or region."),
        Dimension("provider", "Provider", "provider", "Who served it."),
        Dimension("region", "Region", "region", "Where it was served."),
        Dimension("model-id", "Model id", "model_id", "The id as logged."),
        Dimension("cause", "Cause of the difference", "cost_cause", "Why list cost and reported cost differ; same where they do not."),
    )
}
"""Groupings of model rows."""
