"""Figures of a single row that are not stored.

The views derive them from stored columns, in this order.

`make schema` writes the views of one row per run and one row per model of a run from here. A figure
of a run that has a `word` is drawn as a distribution and compared; one that is `listed` is in the
lists of runs and on a run's page; its `aggregates` are figures of groups.
"""

from __future__ import annotations

from schemas.catalogue.entry import Figure, by_key
from schemas.catalogue.failures import MESSAGE_SQL, REASON_SQL, WHOSE, WHOSE_SQL
from schemas.units import Unit

DATE, LABEL = "date", "label"
"""Label of an annotation that dates a run whose log, sidecar files and path tell no date:
`2026-11-01`, or a time with its zone; and the `time_source` of that run.
"""

IS_DATED_BY_LABEL = "annotations.given_at is not null"
"""SQL of whether that label counts, over `runs` joined with `annotations`."""

_SCOPES = {
    "micro": "micro-benchmark only",
    "component": "one component only",
    "unspecified": "scope not stated",
}
"""Scopes that limit a claim; one about the whole program has no limit."""


def caveat_sql(prefix: str = "") -> str:
    """Return SQL of a claim's caveat: `micro-benchmark only, approximate`, or NULL.

    Its columns are `{prefix}scope` and so on.
    """
    scopes = " ".join(f"when '{scope}' then '{words}'" for scope, words in _SCOPES.items())
    return (
        f"nullif(concat_ws(', ', case {prefix}scope {scopes} end, case {prefix}evidence when "
        f"'estimated' then 'projected' end, case when {prefix}hedged then 'approximate' end), '')"
    )


_TOKENS = "All tokens: input, output, cache reads and cache writes."
_API_TIMES_WALL = 10
"""API time above this multiple of the wall time includes other calls. In 425 real records the ratio
is either below 4, or above 15 in runs of one or two turns that carry on an earlier process. No
agent keeps ten calls going from start to end.
"""

_STARTED = (
    "Whether the run got to work. One without cost, turns and model usage, or whose first "
    "request failed, did not, and is left out of medians and means per run. What is not known "
    "of a run says nothing."
)
_DATED = (
    "When the run ended, else began, by its log or path, else by its label `date`. The "
    "modification time of a file may be that of a copy and is no date."
)
_CARRIED = (
    f"Whether API time is over {_API_TIMES_WALL} times the wall time: cost and API time then "
    "include calls of an earlier process, turns and wall time do not."
)
_CAVEAT = (
    "What limits the top claim: a micro-benchmark or one component only, no stated scope, "
    "projected or approximate."
)
_SAVED = "Uncached list-price cost minus list-price cost. Negative: caching cost more."

_BEST = "What the run cost: as its agent reports it, else its tokens at list prices."
_BEST_BOUNDS = (
    "upper_bound, lower_bound or estimate, where the best-known cost is a list-price cost of "
    "tokens that are no exact count."
)
BOUND_KINDS = ("upper_bound", "lower_bound", "estimate")
IS_BOUNDED = f"tokens_basis in {BOUND_KINDS}"
"""The condition on a run with only a bound or an estimate of its tokens: its list-price cost is
then one, too.
"""


def kinds_in(bounds: str, which: str = "true") -> str:
    """Return SQL of the kinds of bounds in a column of a group, such as `estimate, upper_bound`.

    NULL without any. A distinct aggregate takes DuckDB 10 ms to plan.
    """
    kinds = (
        f"if(bool_or({bounds} = '{kind}' and {which}), '{kind}', null)"
        for kind in sorted(BOUND_KINDS)
    )
    return f"nullif(concat_ws(', ', {', '.join(kinds)}), '')"


_REASON = (
    "Why the run did not complete, by its outcome, whether it got to work, and the words of its "
    "error. Empty where it completed, or nothing is known of its end."
)
_WHOSE = f"Who or what can change that: {', '.join(WHOSE)}."

_TITLE = (
    "What the run is called: its task, else the first line of its prompt, the first sentence of "
    "its summary, or its file."
)
_FILE = (
    "substr(sources.name, (select depth from shared) + 1) || case when sources.accepted > 1 then "
    "' #' || (ordinal + 1) else '' end"
)
"""Its file without the folders that all files share, and with the number of the record in a file
with several runs.
"""
_ENDING = "regexp_replace({}, '(?s)^.{{2,}}(.{{79}})$', '…\\1')"
"""SQL that cuts the beginning of a text longer than 80 characters."""


_TASK = (
    "What runs are grouped and paired by as a task: repository and base commit "
    "(`vllm@88f6ba32`) where a benchmark names the commit, else repository and name "
    "(`vllm/sort`), else repository and the commit that the work started from. A name that "
    "somebody gave the run wins."
)
_GIVEN = "coalesce(annotations.labels['project'], annotations.labels['repo'])"
PROJECT_SQL = f"case when {_GIVEN} is null then runs.project else nullif({_GIVEN}, '') end"
PROJECT_SOURCE_SQL = (
    f"case when {_GIVEN} is null then runs.repo_source when {_GIVEN} <> '' then 'label' end"
)
"""SQL of a run's project and of its origin: a label given later precedes, an empty one hides it."""

_REPO = (  # two agents may work on one task in two folders
    f"nullif(coalesce({_GIVEN}, case when runs.repo_source not in ('folder', 'archive') then "
    "runs.project end), '')"
)
_NAME = "nullif(coalesce(annotations.labels['task'], runs.task), '')"
_AT_COMMIT = f"concat_ws('@', {_REPO}, left(lower(coalesce(base_commit, head_commit)), 8))"
"""Eight characters, since some logs have no more. A label given by hand says more about the task
than the commit the run started at; benchmark items have names that differ between plans, and unlike
sessions a status or a reference commit.
"""


_MODEL = (
    "The main model without a date at its end (`gpt-5-2025-08-07` is `gpt-5`). A run without a "
    "model counts into the one that was asked for, else into the only one that its agent has in "
    "the store; empty where the agent has several, or none."
)
_ASKED = (
    "The model that was asked for, without provider, region and date, where the record names "
    "none that answered: by the log, the harness or the folder."
)
_MONTH, _DAY = "(0[1-9]|1[0-2])", "(0[1-9]|[12][0-9]|3[01])"
_A_DATE = (
    f"20[0-9]{{2}}-?{_MONTH}(-?{_DAY})?|{_MONTH}-20[0-9]{{2}}|{_MONTH}-?{_DAY}"
    f"|2[3-9]{_MONTH}({_DAY})?"
)
"""Matches `-20250929`, `-2025-08`, `-09-2025`, `-0613`, `-05-06`, `-2507`, `-250615`."""


def undated(model: str) -> str:
    """Return SQL of a model's name without a date at its end.

    Prices use the full name: models of two dates may differ in price.
    """
    return f"regexp_replace({model}, '(.)[-@]({_A_DATE})$', '\\1')"


EFFORT_IN_MODEL = r"(?:-(x?high)| \((minimal|low|medium|high|xhigh|max)\))$"
"""The effort in a model's name: `gpt-5.4-xhigh` in GSO, `gpt-5-pro (medium)` in AlgoTune. Names of
models end in `-medium` and `-max`, too: `mistral-medium`.
"""

_PLAIN = (
    r"^(?:.*/)?(?:(?:us-gov|us|eu|apac|jp|au|ca|sa|global)[.-])?(?:(?:anthropic|openai)[.-]|[a-z0-9]+\.)?([A-Za-z].*?)"
    r"(?:-v\d+[:-]\d+(?::\d+k)?)?(?:\[[^\]]*\])?$"
)
"""Matches an id as `ingest.prices.model_ids` parses it, also with `-` for the characters that a
path cannot have.
"""
_UNVERSIONED = (
    f"regexp_replace(regexp_extract(requested_model, '{_PLAIN}', 1), '^(claude.*)-v\\d+$', '\\1')"
)
_DASHED = f"regexp_replace({_UNVERSIONED}, '^(claude.*\\d)\\.(\\d)', '\\1-\\2')"
_NAMED = (
    f"regexp_replace(regexp_replace({_DASHED}, '{EFFORT_IN_MODEL}', ''), "
    "'^claude-([4-9](?:-[0-9]{1,2})?)-([a-z]+)', 'claude-\\2-\\1')"
)
_ASKED_SQL = (
    "case when runs.model is null and requested_model not ilike 'auto%' then "
    f"nullif({undated(_NAMED)}, '') end"
)


def _all_tokens(prefix: str = "") -> str:
    """Return SQL of the sum of all tokens.

    If they are inexact, input includes cache reads or writes that the log does not separate.
    """
    cached = (
        f"coalesce({prefix}{name}, case when tokens_basis <> 'exact' then 0 end)"
        for name in ("cache_read_tokens", "cache_write_tokens")
    )
    return " + ".join((f"{prefix}input_tokens", f"{prefix}output_tokens", *cached))


MACHINE_RATE = "machine-rate"
"""Label of a run: USD per hour of its machine."""

_RATE_MEANING = (
    f"USD per hour of the run's machine: its label `{MACHINE_RATE}`, else the highest of the price "
    "file's rates that its labels or host fit, else the price file's rate of any run."
)


def rate_written(text: str) -> str:
    """Return SQL of the rate in a text, null for anything but a number."""
    return f"try_cast(regexp_extract({text}, '^[0-9]+([.][0-9]+)?$') as decimal(18, 9))"


_OWN_RATE = rate_written(
    f"coalesce(annotations.labels['{MACHINE_RATE}'], runs.labels['{MACHINE_RATE}'])"
)
_KNOWN_BY = (
    "list_append(map_entries(map_concat(runs.labels, annotations.labels)), "
    "{'key': 'host', 'value': host})"
)
_RATES = f"list_transform({_KNOWN_BY}, lambda one: machine_rates[one.key || '=' || one.value])"
_LISTED_RATE = (  # the labels of a run are read only where rates are given
    "case when cardinality(machine_rates) > 0 then "
    f"list_max(list_transform({_RATES}, lambda listed: {rate_written('listed')})) end"
)
_ANY_RATE = rate_written("machine_rates['']")
_RATE_SQL = f"coalesce({_OWN_RATE}, {_LISTED_RATE}, {_ANY_RATE})"

TICKET, PULL_REQUEST, BRANCH = "ticket", "pull-request", "branch"
"""Labels that take the place of what log and checkout have."""


def _labelled(label: str, *others: str) -> str:
    """Return SQL of a label given later, else at ingest, else of other columns.

    An empty label hides them.
    """
    given = f"annotations.labels['{label}'], runs.labels['{label}']"
    return f"nullif(coalesce({', '.join((given, *others))}), '')"


BRANCH_SQL = _labelled(BRANCH, "runs.branch")

RUN_FIGURES = by_key(
    Figure(
        "pull_request",
        "Pull request",
        Unit.TEXT,
        "neither",
        f"Pull request of the run (`owner/name#12`, several by commas): its label `{PULL_REQUEST}`,"
        " else as the checkout has it (`tachograph landed`), else those that its log opened.",
        sql=_labelled(PULL_REQUEST, "landings.pull_request", "opened.pull_requests"),
    ),
    Figure(
        "ticket",
        "Ticket",
        Unit.TEXT,
        "neither",
        f"Ticket of the run: its label `{TICKET}`, else as `tachograph landed --ticket` found it.",
        sql=_labelled(TICKET, "landings.ticket"),
    ),
    Figure(
        "landed",
        "Landed",
        Unit.TEXT,
        "neither",
        "What became of the run's changes, as `tachograph landed` read it from a checkout: landed, "
        "open, abandoned or unknown. Empty where nobody looked.",
        sql="landings.state",
    ),
    Figure(
        "landed_reason",
        "Landed: why",
        Unit.TEXT,
        "neither",
        "What in the checkout decides it, such as `1a2b3c4 is on main`.",
        sql="landings.why",
    ),
    Figure(
        "landed_changes",
        "Landed changes",
        Unit.TEXT,
        "neither",
        "Pull requests and commits of the main branch that the run's changes became.",
        sql="landings.changes",
    ),
    Figure(
        "title",
        "Title",
        Unit.TEXT,
        "neither",
        _TITLE,
        sql=(
            "coalesce(nullif(coalesce(annotations.labels['task'], runs.task), ''), runs.title, "
            f"{_ENDING.format(_FILE)}, runs.run_id)"
        ),
    ),
    Figure(
        "task_key",
        "Task identity",
        Unit.TEXT,
        "neither",
        _TASK,
        sql="case when coalesce(base_commit, head_commit) is not null and "
        "nullif(annotations.labels['task'], '') is null and coalesce(head_commit, "
        f"task_status, case when {_NAME} is null then base_commit end) is not null then "
        f"{_AT_COMMIT} when {_NAME} is not null then concat_ws('/', {_REPO}, {_NAME}) end",
    ),
    Figure(
        "asked_model",
        "Model asked for",
        Unit.TEXT,
        "neither",
        _ASKED,
        sql=_ASKED_SQL,
    ),
    Figure(
        "model_group",
        "Model",
        Unit.TEXT,
        "neither",
        _MODEL,
        sql=(
            f"coalesce({undated('runs.model')}, {_ASKED_SQL}, (select of_agent from "
            "only_models)[runs.agent])"
        ),
    ),
    Figure(
        "total_tokens",
        "Tokens",
        Unit.TOKENS,
        "lower",
        _TOKENS,
        sql=_all_tokens(),
    ),
    Figure(
        "cache_read_share",
        "Cache hit rate",
        Unit.SHARE,
        "higher",
        "Share of input tokens read from the cache.",
        word="cached",
        sql="cache_read_tokens / nullif(input_tokens + cache_read_tokens + cache_write_tokens, 0)",
        listed=True,
    ),
    Figure(
        "cache_saved_usd",
        "Cache savings",
        Unit.USD,
        "higher",
        _SAVED,
        sql="cost_uncached_usd - cost_list_usd",
    ),
    Figure(
        "parallelism",
        "API time / wall time",
        Unit.RATIO,
        "neither",
        "API time divided by wall time. Above 1: calls ran in parallel.",
        short="API / wall",
        sql="duration_api_own_ms / nullif(duration_ms, 0)",
        word="parallelism",
        listed=True,
    ),
    Figure(  # divided as floats: ten times the longest wall time is no bigint
        "is_carried_over",
        "Carried over",
        Unit.TEXT,
        "neither",
        _CARRIED,
        sql=f"coalesce(duration_api_own_ms / {_API_TIMES_WALL} > duration_ms, false)",
    ),
    Figure(  # a quotient is a float: one turn costs what the run costs, to the last digit
        "cost_per_turn_usd",
        "Cost per turn",
        Unit.USD,
        "lower",
        "Reported cost divided by turns. Unknown for a run carried over from an earlier process.",
        sql="case when is_carried_over then null when num_turns = 1 then cost_own_usd"
        " else cast(cost_own_usd / nullif(num_turns, 0) as decimal(18, 9)) end",
        word="turn-cost",
        listed=True,
    ),
    Figure(
        "cost_list_per_turn_usd",
        "List-price cost per turn",
        Unit.USD,
        "lower",
        "List-price cost divided by turns. Unknown for a run carried over from an earlier process.",
        sql="case when is_carried_over then null when num_turns = 1 then cost_list_usd"
        " else cast(cost_list_usd / nullif(num_turns, 0) as decimal(18, 9)) end",
        word="list-turn-cost",
    ),
    Figure(
        "cost_best_usd",
        "Best-known cost",
        Unit.USD,
        "lower",
        _BEST,
        sql="coalesce(cost_own_usd, cost_list_usd)",
        word="best-cost",
    ),
    Figure(
        "cost_best_bounds",
        "Bounds of the best-known cost",
        Unit.TEXT,
        "neither",
        _BEST_BOUNDS,
        sql=(
            f"case when cost_own_usd is null and cost_list_usd is not null and {IS_BOUNDED} then "
            "tokens_basis end"
        ),
    ),
    Figure(
        "cost_best_per_turn_usd",
        "Best-known cost per turn",
        Unit.USD,
        "lower",
        "Best-known cost divided by turns. Unknown for a run carried over from an earlier process.",
        sql=(
            "coalesce(cost_per_turn_usd, case when cost_own_usd is null then "
            "cost_list_per_turn_usd end)"
        ),
    ),
    Figure(
        "machine_rate_usd",
        "Machine rate",
        Unit.USD,
        "lower",
        _RATE_MEANING,
        sql=_RATE_SQL,
    ),
    Figure(
        "cost_machine_usd",
        "Machine cost",
        Unit.USD,
        "lower",
        "Wall time of the run times the rate of its machine. Unknown where one of them is.",
        sql="try_cast(machine_rate_usd * duration_ms / 3600000 as decimal(18, 9))",
        word="machine-cost",
    ),
    Figure(
        "cost_all_usd",
        "All-in cost",
        Unit.USD,
        "lower",
        "Best-known cost and machine cost. Unknown where one of them is.",
        sql="try_cast(cost_best_usd + cost_machine_usd as decimal(18, 9))",
        word="all-in-cost",
    ),
    Figure(
        "cost_all_bounds",
        "Bounds of the all-in cost",
        Unit.TEXT,
        "neither",
        "The bounds of its best-known cost.",
        sql="case when cost_machine_usd is not null then cost_best_bounds end",
    ),
    Figure(
        "cost_all_per_turn_usd",
        "All-in cost per turn",
        Unit.USD,
        "lower",
        "All-in cost divided by turns. Unknown for a run carried over from an earlier process.",
        sql="case when not is_carried_over then cast(cost_all_usd / nullif(num_turns, 0) as "
        "decimal(18, 9)) end",
    ),
    Figure(
        "duration_per_turn_ms",
        "Wall time per turn",
        Unit.MILLISECONDS,
        "lower",
        "Wall time divided by turns.",
        word="turn-time",
        sql="duration_ms / nullif(num_turns, 0)",
    ),
    Figure(
        "is_completed",
        "Completed",
        Unit.TEXT,
        "higher",
        "Whether the run completed. Unknown where the outcome is.",
        sql="nullif(outcome, 'unknown') = 'completed'",
    ),
    Figure(  # the first condition is that of nearly all runs: it saves two thirds of the time
        # without a record: only where a harness says that the task failed; a process that was
        # merely started may have worked
        "is_started",
        "Started",
        Unit.TEXT,
        "neither",
        _STARTED,
        sql="case when not is_answered then false when cost_reported_usd = 0 or num_turns = 0 "
        "or record_kind = 'sidecar' then not coalesce(cost_reported_usd = 0 and "
        "duration_api_ms = 0 and len(models) = 0 and coalesce(total_tokens, 0) = 0, false) "
        "and not coalesce(cost_reported_usd is null and num_turns = 0 and "
        "coalesce(total_tokens, 0) = 0, false) and not (record_kind = 'sidecar' and "
        "num_turns is null and first_edit_ms is null and outcome = 'execution_error' and "
        "coalesce(task_status = 'error', false)) else true end",
    ),
    Figure("reason", "Reason", Unit.TEXT, "neither", _REASON, sql=REASON_SQL),
    Figure("whose", "Whose", Unit.TEXT, "neither", _WHOSE, sql=WHOSE_SQL),
    Figure(
        "failure_message",
        "Failure",
        Unit.TEXT,
        "neither",
        "The error in one line: of a traceback its end.",
        sql=MESSAGE_SQL,
    ),
    Figure(
        "dated_at",
        "Date",
        Unit.TIME,
        "neither",
        _DATED,
        sql=f"case when {IS_DATED_BY_LABEL} then annotations.given_at"
        " when time_source is distinct from 'file' then coalesce(ended_at, started_at) end",
    ),
    Figure(
        "logged_at",
        "Date in the log",
        Unit.TIME,
        "neither",
        "Moment that log, sidecar files or path have for a run that was dated by hand.",
        sql=f"case when {IS_DATED_BY_LABEL} and coalesce(runs.time_source not in ('file', "
        "'trusted_file'), false) then coalesce(runs.ended_at, runs.started_at) end",
    ),
    Figure(
        "claimed_caveat",
        "Caveat",
        Unit.TEXT,
        "neither",
        _CAVEAT,
        sql=f"case when claimed_speedup is not null then {caveat_sql('claimed_')} end",
    ),
)
"""Derived columns of `v_runs`."""

MODEL_FIGURES = by_key(
    Figure(
        "total_tokens",
        "Tokens",
        Unit.TOKENS,
        "lower",
        _TOKENS,
        sql=_all_tokens("own_"),
    ),
    Figure(
        "cache_saved_usd",
        "Cache savings",
        Unit.USD,
        "higher",
        _SAVED,
        sql="cost_uncached_usd - cost_list_usd",
    ),
    Figure(
        "assumed_5m_tokens",
        "Cache writes assumed to be 5-minute",
        Unit.TOKENS,
        "lower",
        (
            "Cache writes of unknown lifetime. They are priced as 5-minute writes; 1-hour writes "
            "cost more."
        ),
        sql=(
            "case when own_cache_write_tokens > 0 and own_cache_write_1h_tokens is null then "
            "own_cache_write_tokens else 0 end"
        ),
    ),
)
"""Derived columns of `v_model_rows`."""

MORE = "*"
"""Placeholder in a list of columns for all listed figures that it does not name."""


def listed(*columns: str) -> tuple[str, ...]:
    """Return the columns of a list of runs, with MORE replaced by the remaining listed figures."""
    place = columns.index(MORE)
    more = [key for key, figure in RUN_FIGURES.items() if figure.listed and key not in columns]
    return (*columns[:place], *more, *columns[place + 1 :])
