"""Every grouping Tachograph knows: the only identifiers from outside that reach SQL."""

from __future__ import annotations

from schemas.catalogue.entry import Dimension, by_key


def _by(key: str, label: str, sql: str, meaning: str) -> Dimension:
    return Dimension(key, label, meaning=meaning, sql=sql)


def _period(key: str, label: str, pattern: str, meaning: str) -> Dimension:
    """Return a calendar grouping, as text that sorts by time, by a run's date (`dated_at`)."""
    sql = f"strftime(timezone($zone, dated_at), '{pattern}')"
    return Dimension(key, label, meaning=meaning, sql=sql, in_order=True)


_CAUSE = _by(
    "cause",
    "Cause of the difference",
    "cost_cause",
    "Why list-price cost and reported cost differ.",
)
_MAIN_MODEL = (
    "The run's main model, the most expensive one, without its date; a run without a model "
    "counts into the one that was asked for, else into the only one of its agent. `tachograph "
    "models` shows each model's own cost."
)
_EVIDENCE = "Evidence of the run's top claim; unknown where it claims no speedup."

_PROJECT = (
    "What the run worked on: its label, git remote, working directory or archive, the first that "
    "names it."
)

DIMENSIONS = by_key(
    _by("agent", "Agent", "agent", "The agent that wrote the record."),
    _by("agent-version", "Agent version", "agent_version", "Version of the agent."),
    _by("model", "Model", "model_group", _MAIN_MODEL),
    _by("effort", "Effort", "effort", "Reasoning effort of the model, as logged: high, xhigh, …"),
    _by("provider", "Provider", "provider", "Provider of the main model."),
    _by("region", "Region", "region", "Region of the main model's endpoint."),
    _by("outcome", "Outcome", "outcome", "How the run ended."),
    _by("failure", "Reason", "reason", "Why the run did not complete; unknown where it did."),
    _by(
        "whose",
        "Whose",
        "whose",
        "Who or what can change the reason: set-up, account, agent, provider, person, unknown.",
    ),
    _by("project", "Project", "repo", _PROJECT),
    _by(
        "task",
        "Task",
        "task_key",
        (
            "Task the run worked on: repository and base commit where a benchmark names it, else "
            "its name."
        ),
    ),
    _by("branch", "Branch", "branch", "Branch that the agent worked on."),
    _by("pull-request", "Pull request", "pull_request", "Pull request of the run's changes."),
    _by("ticket", "Ticket", "ticket", "Ticket that the run worked on."),
    _by(
        "landed",
        "Landed",
        "landed",
        "What became of the run's changes: landed, open, abandoned or unknown; see `tachograph "
        "landed`.",
    ),
    _by(
        "experiment", "Experiment", "experiment", "Experiment the run belongs to, from its labels."
    ),
    _period(
        "day",
        "Day",
        "%Y-%m-%d",
        "The day the run ended, in the time zone of --tz. Unknown where only its file has a date.",
    ),
    _period(
        "week",
        "Week",
        "%G-W%V",
        "The ISO week the run ended (starts on Monday). Unknown where only its file has a date.",
    ),
    _period(
        "month",
        "Month",
        "%Y-%m",
        "The month the run ended. Unknown where only its file has a date.",
    ),
    _by("evidence", "Evidence", "claimed_evidence", _EVIDENCE),
    _by(
        "scope",
        "Claim scope",
        "claimed_scope",
        "How much of the software the run's top claim covers.",
    ),
    _CAUSE,
    _by("session", "Session", "session_id", "Session of the agent. Resumed runs share a session."),
    _by("source", "Source", "source_name", "File the run was read from."),
    _by("run", "Run", "run_id", "One group per run."),
)
"""Groupings of runs; any label is one too: `label:KEY`."""

SYNONYMS = by_key(_by("repo", "Project", "repo", _PROJECT))
"""Other words for groupings; a column is named by the word that was given."""

LABEL = _by("label", "Label", "labels[$key]", "The value of a label, as label:KEY.")

LABEL_PREFIX = f"{LABEL.key}:"

MODEL_DIMENSIONS = by_key(
    _by("model", "Model", "model", "The model, without date, region or context suffix of its id."),
    _by("provider", "Provider", "provider", "Provider of the model."),
    _by("region", "Region", "region", "Region of the endpoint."),
    _by("model-id", "Model id", "model_id", "Model id as logged."),
    _CAUSE,
)
