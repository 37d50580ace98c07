"""Every filter: its words, and its condition in SQL.

The command line, the dashboard, addresses and reports take them from here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from app.queries.filters.time_words import EXAMPLES
from schemas.rows.confidence import SHOWN_FROM


class Kind(StrEnum):
    """How a filter's value is written: any of several names, key=value pairs, one time, one amount of money, one factor, one text.

    A probability is written `0.8` or `80%`. A choice is one word of a list; a flag is there or not.
    """

    NAMES = "names"
    LABELS = "labels"
    TIME = "time"
    USD = "usd"
    FACTOR = "factor"
    PROBABILITY = "probability"
    TEXT = "text"
    CHOICE = "choice"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter. `sql` is its condition; `$value` is the bound value, for NAMES the list; `$each` is one of them, any may match.

    `options` is what there is to choose from, as an expression over a run's columns; empty where there is nothing to list.
    `claim_sql` is the condition on a list of claims, where the filter is about the claim itself and not its run. `link` is its word in
    addresses, where that is not the key. `words` are all values that a CHOICE or FLAG takes, the usual one first.
    """

    key: str
    kind: Kind
    sql: str
    help: str
    options: str = ""
    label: str = ""
    claim_sql: str = ""
    link: str = ""
    words: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the filter is called on a screen."""
        return self.label or self.key.replace("-", " ").capitalize()


SEARCH = "search"
RUN = "run"
LEAST_OF_AN_ID = 4
"""Characters of a run's id that are enough, where no other run's id begins so."""
SEARCHED = ("title", "prompt", "run_id", "session_id", "repo", "task", "source_name", "result")
"""Columns of a run in which a search looks, in the order in which they are told; after them the paths of changed files."""
_SEARCH = (
    f"({' or '.join(f'contains(lower({column}), lower($value))' for column in SEARCHED)}"
    " or run_id in (select changed.run_id from file_changes as changed where contains(lower(changed.path), lower($value))))"
)
_RUN = (  # a whole id is that run, even where it begins another id
    f"(run_id = $each or starts_with(run_id, $each) and length($each) >= {LEAST_OF_AN_ID}"
    " and not exists (select 1 from runs as named where named.run_id = $each))"
)
LEAST_OF_A_COMMIT = 7
"""Characters of a commit that are enough: what git shows of one."""
_COMMITS = " or ".join(f"starts_with(lower({commit}), lower($each))" for commit in ("base_commit", "head_commit"))
_TASK = f"(task = $each or task_key = $each or length($each) >= {LEAST_OF_A_COMMIT} and ({_COMMITS}))"
MIN_CONFIDENCE = "min-confidence"
EXCLUDED = "excluded"
YES = "yes"
"""The value of a FLAG."""

COUNTED = "run_id not in (select run_id from annotations where excluded)"
"""The condition that leaves out excluded runs, on any rows that have a run's id: what holds where no filter is chosen."""

_LABEL_OPTIONS = "unnest(list_transform(map_entries(labels), lambda entry: entry.key || '=' || entry.value))"

_IS_DATED = "time_source is distinct from 'file'"
"""A run whose only time is the modification time of its file has no date: that may be when it was copied."""
TIMES = ("since", "until")

FILTERS = {
    filter_.key: filter_
    for filter_ in (
        Filter("repo", Kind.NAMES, "list_contains($value, repo)", "Filter by repository.", "repo", "Repository"),
        Filter(
            "task",
            Kind.NAMES,
            _TASK,
            f"Filter by task: its name, its commit (the first {LEAST_OF_A_COMMIT} or more characters), or what --by task shows.",
            "unnest(list_distinct([task, task_key]))",
        ),
        Filter("agent", Kind.NAMES, "list_contains($value, agent)", "Filter by agent, e.g. claude-code.", "agent"),
        Filter("model", Kind.NAMES, "list_contains(models, $each)", "Filter by model (main or helper).", "unnest(models)"),
        Filter(
            "main-model",
            Kind.NAMES,
            "(list_contains($value, model_group) or list_contains($value, model))",
            "Filter by main model, the one that cost most; with or without its date.",
            "model_group",
        ),
        Filter("outcome", Kind.NAMES, "list_contains($value, outcome)", "Filter by outcome, e.g. completed, limit_reached.", "outcome"),
        Filter("failure", Kind.NAMES, "list_contains($value, reason)", "Filter by reason of failure, e.g. quota.", "reason", "Reason"),
        Filter("experiment", Kind.NAMES, "list_contains($value, experiment)", "Filter by experiment.", "experiment"),
        Filter(
            "ingested-by", Kind.NAMES, "list_contains($value, ingested_by)", "Filter by who ingested the run, user@host.", "ingested_by"
        ),
        Filter("label", Kind.LABELS, "labels[$key] = $value", "Filter by label, key=value.", _LABEL_OPTIONS),
        Filter(
            "since",
            Kind.TIME,
            f"{_IS_DATED} and coalesce(ended_at, started_at) >= $value",
            f"Runs that ended at this time or later (UTC unless it says otherwise): {EXAMPLES}.",
        ),
        Filter(
            "until",
            Kind.TIME,
            f"{_IS_DATED} and coalesce(started_at, ended_at) < $value",
            "Runs that started before this time; a day or month means its beginning.",
            label="Before",
        ),
        Filter("min-cost", Kind.USD, "cost_own_usd >= $value", "Minimum reported cost, in USD.", label="Min cost"),
        Filter("max-cost", Kind.USD, "cost_own_usd <= $value", "Maximum reported cost, in USD.", label="Max cost"),
        Filter(
            "evidence",
            Kind.NAMES,
            "list_contains($value, claimed_evidence)",
            "Filter by evidence of the top claim: benchmarked, figures, stated, estimated.",
            "claimed_evidence",
            claim_sql="list_contains($value, evidence)",
        ),
        Filter(
            "min-claim",
            Kind.FACTOR,
            "claimed_speedup >= $value",
            "Minimum claimed speedup, as a factor.",
            label="Min claimed speedup",
            claim_sql="ratio >= $value",
        ),
        Filter(
            MIN_CONFIDENCE,
            Kind.PROBABILITY,
            "($value = 0 or claimed_confidence >= $value)",  # 0 asks for nothing: also runs all of whose claims are hidden
            f"Minimum confidence of the top claim, 0 to 1 or a percentage. Lists of claims hide those below {SHOWN_FROM:.0%}; 0 lists all.",
            claim_sql="(confidence is null or confidence >= $value)",
        ),
        Filter("session", Kind.NAMES, "list_contains($value, session_id)", "Filter by session."),
        Filter(RUN, Kind.NAMES, _RUN, f"Filter by run: its id, or the first {LEAST_OF_AN_ID} or more characters of it.", link="run-id"),
        Filter("starred", Kind.FLAG, "starred = ($value = 'yes')", "Starred runs only.", words=(YES,)),
        Filter(
            EXCLUDED,
            Kind.CHOICE,
            "($value = 'all' or excluded = ($value = 'only'))",
            "Excluded runs: leave them out (no), count them too (all), or show them alone (only).",
            label="Excluded runs",
            words=("no", "only", "all"),
        ),
        Filter(SEARCH, Kind.TEXT, _SEARCH, "Title, prompt, id, session, repository, task, file or summary contains TEXT."),
    )
}

FOUND = Filter(
    "found",
    Kind.TEXT,
    "place in (select place from found where text = $value)",
    "Runs that a search found (`app.queries.read_transaction`).",
)
"""What `search` becomes where its text was looked for already: not a word that anybody writes."""

CLAIM_FILTERS = {key: replace(filter_, sql=filter_.claim_sql) for key, filter_ in FILTERS.items() if filter_.claim_sql}
"""The filters that choose among claims where claims are listed, and not among runs."""
