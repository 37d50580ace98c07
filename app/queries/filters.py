"""Filters on runs: their values, notation and SQL.

The command line, the dashboard, addresses, reports, Python and JSON take their filters from here.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from enum import Enum
from math import inf, nan
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from schemas.catalogue.metrics import TASK_RANK, TASK_RANKS, TASK_VERDICTS
from schemas.errors import UsageError, unknown_word
from schemas.numbers import amount
from schemas.rows.confidence import SHOWN_FROM
from schemas.text import did_you_mean

DAYS = {"d": 1, "w": 7}
_AGO = re.compile(r"(\d{1,4})([dw])")
_MONTH = re.compile(r"(\d{4})-(\d{2})")

UNDATED = "without a date"
NIGHT = time(18), time(8)
"""Begin and end of a night, unless TACHOGRAPH_NIGHT has other hours."""


def night() -> tuple[time, time]:
    """Return begin and end of a night. Raises UsageError for other words in TACHOGRAPH_NIGHT."""
    hours = os.environ.get("TACHOGRAPH_NIGHT", "").replace("–", "-")
    try:
        begin, end = (time.fromisoformat(hour.strip()) for hour in hours.split("-"))
    except ValueError:
        if not hours:
            return NIGHT
        raise UsageError(
            f"TACHOGRAPH_NIGHT has no begin and end of a night: {hours!r}.",
            "Write them as 20:00-07:00, or unset it for a night from 18:00 to 08:00.",
        ) from None
    return begin, end


def midnight(time: datetime) -> datetime:
    """Return the beginning of the day in the time's own zone."""
    return time.replace(hour=0, minute=0, second=0, microsecond=0)


def _periods(
    now: datetime, hours: tuple[time, time] = NIGHT
) -> dict[str, tuple[datetime | None, datetime | None]]:
    """Return each period that has a name → its begin and its end, both None for no date.

    `hours`: begin and end of a night.
    """
    today = midnight(now)
    tomorrow, yesterday = today + timedelta(days=1), today - timedelta(days=1)
    dusk = today if hours[0] < hours[1] else yesterday
    monday, first = today - timedelta(days=today.weekday()), today.replace(day=1)
    return {
        "today": (today, tomorrow),
        "yesterday": (yesterday, today),
        "last night": (
            datetime.combine(dusk, hours[0], now.tzinfo),
            datetime.combine(today, hours[1], now.tzinfo),
        ),
        "last 24 hours": (now - timedelta(hours=24), now),
        "7 days": (today - timedelta(days=7), tomorrow),
        "30 days": (today - timedelta(days=30), tomorrow),
        "this week": (monday, monday + timedelta(days=7)),
        "last week": (monday - timedelta(days=7), monday),
        "this month": (first, (first + timedelta(days=32)).replace(day=1)),
        "last month": ((first - timedelta(days=1)).replace(day=1), first),
        UNDATED: (None, None),
    }


PERIODS = tuple(_periods(datetime(2026, 1, 1, tzinfo=UTC)))
"""Names of periods, in the order of menus. A time (`--since`) may be one, and means its begin."""

TIME_WORDS = tuple(name for name in PERIODS if name != UNDATED)
EXAMPLES = f"2026-11-20, 2026-11-20T14:00+01:00, 2026-03, 7d, {', '.join(TIME_WORDS)}"


_now: ContextVar[datetime | None] = ContextVar("now", default=None)


@contextmanager
def taken_as_now(moment: datetime | None) -> Iterator[None]:
    """Replace the current time within the block: `--since 7d` means the days before `moment`.

    None changes nothing.
    """
    token = _now.set(moment)
    try:
        yield
    finally:
        _now.reset(token)


def this_moment() -> datetime:
    """Return the current time, or that of SOURCE_DATE_EPOCH to get the same bytes from a store."""
    if moment := _now.get():
        return moment.replace(microsecond=0)
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return (
        datetime.fromtimestamp(int(epoch), UTC)
        if epoch.isdecimal()
        else datetime.now(UTC).replace(microsecond=0)
    )


def _plain(text: str) -> str:
    return " ".join(text.lower().replace("-", " ").split())


def moment(text: str, now: datetime | None = None, zone: tzinfo = UTC) -> datetime | None:
    """Return the moment that a text means, or None.

    `zone` applies to days and to times without a zone.
    """
    words = _plain(text) if text[:1].isalpha() or _plain(text) in PERIODS else text.strip()
    here = (now or this_moment()).astimezone(zone)
    today = midnight(here)
    try:
        if ago := _AGO.fullmatch(words.lower()):
            return today - timedelta(days=int(ago[1]) * DAYS[ago[2]])
        if month := _MONTH.fullmatch(words):
            return datetime(int(month[1]), int(month[2]), 1, tzinfo=zone)
        named = _periods(here, night()) if words in TIME_WORDS else {}
        found = named[words][0] if named else datetime.fromisoformat(words)
    except (ValueError, OverflowError):
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=zone)


def period(
    text: str, now: datetime | None = None, zone: tzinfo = UTC
) -> tuple[datetime | None, datetime | None] | None:
    """Return begin and end of the period that a text names, or None.

    One of PERIODS, in the zone or in one that the text names: `last night in Europe/Berlin`. Both
    are None for what has no date.
    """
    words, _, name = text.strip().partition(" in ")
    try:
        there = ZoneInfo(name.strip()) if name else zone
        return _periods((now or this_moment()).astimezone(there), night()).get(_plain(words))
    except (ValueError, OSError, OverflowError, ZoneInfoNotFoundError):
        return None


def parse_label(text: str) -> tuple[str, str]:
    """Parse `key=value` into key and value. Raises UsageError."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise UsageError(
            f"a label is written key=value, not {text!r}.", "For example: --label branch=main."
        )
    return key.strip(), value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return nan


def _factor(text: str) -> float | None:
    factor = _number(text.strip().rstrip("x×"))
    return factor if 0 < factor < inf else None


def _probability(text: str) -> float | None:
    number = _number(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    return number if 0 <= number <= 1 else None


NUMBER = int | float | str


class FilterKind(Enum):
    """How a filter's value is written.

    In order: its word in help texts, its JSON, what Python takes, what a text holds, and a function
    that reads the text, or returns None.

    A probability is written `0.8` or `80%`. A choice is one word of a list; a flag is set or not.
    """

    NAMES = "NAME", str | list[str], "a name or a list of names"
    LABELS = (
        "KEY=VALUE",
        dict[str, str] | str | list[str],
        "labels such as {'branch': 'main'}",
        "",
        parse_label,
    )
    TIME = (
        "TIME",
        str,
        "a date, a datetime, or a text such as '2026-11-20' or '7d'",
        "a date or time",
        moment,
    )
    PERIOD = (
        "PERIOD",
        str,
        "a text such as 'last night'",
        "one of: " + ", ".join(PERIODS) + "; with a zone: last night in Europe/Berlin",
        period,
    )
    USD = (
        "USD",
        NUMBER,
        "a number",
        "an amount in US dollars such as 0.50, with nine decimals at most",
        amount,
    )
    FACTOR = "FACTOR", NUMBER, "a number", "a factor such as 1.5", _factor
    PROBABILITY = (
        "P",
        NUMBER,
        "a number",
        "a probability from 0 to 1 such as 0.8, or a percentage such as 80%",
        _probability,
    )
    TEXT = "TEXT", str, "a text"
    CHOICE = "", str, "a word"
    FLAG = "", bool, "True or False"

    def __init__(
        self,
        metavar: str,
        json: Any,
        expected: str,
        holds: str = "",
        read: Callable[[str], Any] = str,
    ) -> None:
        self.metavar, self.json, self.expected = metavar, json, expected
        self.holds, self.read = holds, read

    @property
    def is_many(self) -> bool:
        """Whether a filter takes several values."""
        return self in (FilterKind.NAMES, FilterKind.LABELS)


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter.

    In its condition `sql`, `$value` is a bound value: any of several names matches, of labels all
    must.

    `options` is an expression over a run's columns for the values to choose from, or "".
    `claim_sql` is the condition on a list of claims, if the filter is about claims and not runs.
    `link` is its name in addresses if that is not the key. `words` are all values of a CHOICE or
    FLAG, the usual one first.
    """

    key: str
    kind: FilterKind
    sql: str
    help: str
    options: str = ""
    label: str = ""
    claim_sql: str = ""
    link: str = ""
    words: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The label of the filter on a screen."""
        return self.label or self.key.replace("-", " ").capitalize()

    def read(self, text: str) -> Any:
        """Return the value to bind. Raises UsageError."""
        found = None if self.words and text not in self.words else self.kind.read(text)
        if found is None:
            holds = self.kind.holds or " or ".join(self.words)
            raise UsageError(
                f"--{self.key} takes {holds}, not {text!r}.",
                f"For example: {EXAMPLES}."
                if self.kind is FilterKind.TIME
                else did_you_mean(text, self.words).strip(),
            )
        return found


SEARCH = "search"
RUN = "run"
SESSION = "session"
LEAST_OF_AN_ID = 4
"""Fewest characters of a run's id that are accepted, if they are unique."""
SEARCHED = ("title", "prompt", "run_id", "session_id", "repo", "task", "source_name", "result")
"""Columns that a search looks in, in the order of its results; paths of changed files come last."""
_SEARCH = (
    f"({' or '.join(f'contains(lower({column}), lower($value))' for column in SEARCHED)} or "
    "run_id in (select changed.run_id from file_changes as changed where "
    "contains(lower(changed.path), lower($value))))"
)
_RUN = (  # a whole id is that run, even where it begins another id
    f"(run_id = $value or starts_with(run_id, $value) and length($value) >= {LEAST_OF_AN_ID}"
    " and not exists (select 1 from runs as named where named.run_id = $value))"
)
LEAST_OF_A_COMMIT = 7
"""Fewest characters of a commit that are accepted, as many as git shows."""
_COMMITS = " or ".join(
    f"starts_with(lower({commit}), lower($value))" for commit in ("base_commit", "head_commit")
)
_TASK = f"($value in (task, task_key) or length($value) >= {LEAST_OF_A_COMMIT} and ({_COMMITS}))"
MIN_CONFIDENCE = "min-confidence"
EXCLUDED = "excluded"
COPIES = "copies"
UNCOUNTED = {
    EXCLUDED: ("excluded", "run_id not in (select run_id from annotations where excluded)"),
    COPIES: ("is_copy", "run_id not in (select run_id from runs where is_copy)"),
}
"""Filter of runs that are not counted unless it chooses them → their column, and the condition on
any rows with a run's id without them.
"""
YES = "yes"

_LABEL_OPTIONS = (
    "unnest(list_transform(map_entries(labels), lambda entry: entry.key || '=' || entry.value))"
)

TIMES = ("since", "until")
TIME = "time"
_OF_TIME = """if(($value)[1] is null, dated_at is null,
    dated_at >= ($value)[1]::timestamptz and dated_at < ($value)[2]::timestamptz)"""

VERDICT = "verdict"

_RANKS = " ".join(
    f"when '{word}' then {[TASK_RANKS.index(one) for one in verdicts]}"
    for word, verdicts in TASK_VERDICTS.items()
)
_VERDICT = f"""($value = 'any' or task_key in (
    select task_key from v_runs join (select run_id, measured_class from v_verdicts) using (run_id)
    where task_key is not null group by task_key
    having list_contains(case $value {_RANKS} end, min({TASK_RANK}))))"""

_JUDGED = (
    "($value = 'any' or run_id in (select judged_runs.run_id from v_judged as judged_runs where "
    "judged_runs.judged = $value))"
)

FILTERS = {
    filter_.key: filter_
    for filter_ in (
        Filter(
            "project",
            FilterKind.NAMES,
            "repo = $value",
            "Filter by project.",
            "repo",
        ),
        Filter(
            "task",
            FilterKind.NAMES,
            _TASK,
            (
                f"Filter by task: its name, its commit (the first {LEAST_OF_A_COMMIT} or more "
                "characters), or what --by task shows."
            ),
            "unnest(list_distinct([task, task_key]))",
        ),
        Filter(
            "agent",
            FilterKind.NAMES,
            "agent = $value",
            "Filter by agent, e.g. claude-code.",
            "agent",
        ),
        Filter(
            "model",
            FilterKind.NAMES,
            "(list_contains(models, $value) or coalesce(asked_model = $value, false))",
            "Filter by model: main or helper, else what was asked for.",
            "unnest(list_append(models, asked_model))",
        ),
        Filter(
            "main-model",
            FilterKind.NAMES,
            "(model_group = $value or model = $value)",
            (
                "Filter by main model, the one that cost most, else that asked for or the only "
                "one of the agent; with or without its date."
            ),
            "model_group",
        ),
        Filter(
            "effort",
            FilterKind.NAMES,
            "effort = $value",
            "Filter by reasoning effort of the model, e.g. high.",
            "effort",
        ),
        Filter(
            "outcome",
            FilterKind.NAMES,
            "outcome = $value",
            "Filter by outcome, e.g. completed, limit_reached.",
            "outcome",
        ),
        Filter(
            "failure",
            FilterKind.NAMES,
            "reason = $value",
            "Filter by reason of failure, e.g. quota.",
            "reason",
            "Reason",
        ),
        Filter(
            VERDICT,
            FilterKind.CHOICE,
            _VERDICT,
            (
                "Runs of tasks that nobody made faster, that were made faster, or of which this is "
                "known (checked: measured and not faster)."
            ),
            words=("any", *TASK_VERDICTS),
        ),
        Filter(
            "judged",
            FilterKind.CHOICE,
            _JUDGED,
            "Runs that others judged a hack, or clean: judgements that benchmarks publish.",
            words=("any", "hack", "clean"),
        ),
        Filter(
            "experiment",
            FilterKind.NAMES,
            "experiment = $value",
            "Filter by experiment.",
            "experiment",
        ),
        Filter(
            "branch",
            FilterKind.NAMES,
            "branch = $value",
            "Filter by branch that the agent worked on.",
            "branch",
        ),
        Filter(
            "pull-request",
            FilterKind.NAMES,
            "list_contains(string_split(pull_request, ', '), $value)",
            "Filter by pull request, owner/name#12.",
            "unnest(string_split(pull_request, ', '))",
            "Pull request",
        ),
        Filter(
            "ticket", FilterKind.NAMES, "ticket = $value", "Filter by ticket, ABC-12.", "ticket"
        ),
        Filter(
            "landed",
            FilterKind.CHOICE,
            "($value = 'any' or coalesce(landed = $value, false))",
            "Filter by what became of the run's changes, as `tachograph landed` read it.",
            label="Change",
            words=("any", "landed", "open", "abandoned", "unknown"),
        ),
        Filter(
            "ingested-by",
            FilterKind.NAMES,
            "ingested_by = $value",
            "Filter by who ingested the run, user@host.",
            "ingested_by",
        ),
        Filter(
            "label",
            FilterKind.LABELS,
            "labels[$value[1]] = $value[2]",
            "Filter by label, key=value.",
            _LABEL_OPTIONS,
        ),
        Filter(
            TIME,
            FilterKind.PERIOD,
            _OF_TIME,
            (
                f"What was spent in a period and the runs that ended in it: {', '.join(PERIODS)}. "
                "A night is from 18:00 to 08:00, or as $TACHOGRAPH_NIGHT has it (20:00-07:00), in "
                "UTC or in a zone: last night in Europe/Berlin."
            ),
        ),
        Filter(
            "since",
            FilterKind.TIME,
            "dated_at >= $value",
            f"Runs that ended at this time or later (UTC unless it says otherwise): {EXAMPLES}.",
        ),
        Filter(
            "until",
            FilterKind.TIME,
            "dated_at < $value",
            "Runs that ended before this time; a day or month means its beginning.",
            label="Before",
        ),
        Filter(
            "min-cost",
            FilterKind.USD,
            "cost_own_usd >= $value",
            "Minimum reported cost, in USD.",
            label="Min cost",
        ),
        Filter(
            "max-cost",
            FilterKind.USD,
            "cost_own_usd <= $value",
            "Maximum reported cost, in USD.",
            label="Max cost",
        ),
        Filter(
            "evidence",
            FilterKind.NAMES,
            "claimed_evidence = $value",
            "Filter by evidence of the top claim: benchmarked, figures, stated, estimated.",
            "claimed_evidence",
            claim_sql="evidence = $value",
        ),
        Filter(
            "min-claim",
            FilterKind.FACTOR,
            "claimed_speedup >= $value",
            "Minimum claimed speedup, as a factor.",
            label="Min claimed speedup",
            claim_sql="ratio >= $value",
        ),
        Filter(
            MIN_CONFIDENCE,
            FilterKind.PROBABILITY,
            # 0 asks for nothing: also runs all of whose claims are hidden
            "($value = 0 or claimed_confidence >= $value)",
            (
                "Minimum confidence of the top claim, 0 to 1 or a percentage. Lists of claims "
                f"hide those below {SHOWN_FROM:.0%}; 0 lists all."
            ),
            claim_sql="(confidence is null or confidence >= $value)",
        ),
        Filter("session", FilterKind.NAMES, "session_id = $value", "Filter by session."),
        Filter(
            RUN,
            FilterKind.NAMES,
            _RUN,
            f"Filter by run: its id, or the first {LEAST_OF_AN_ID} or more characters of it.",
            link="run-id",
        ),
        Filter(
            "starred",
            FilterKind.FLAG,
            "starred = ($value = 'yes')",
            "Starred runs only.",
            words=(YES,),
        ),
        Filter(
            EXCLUDED,
            FilterKind.CHOICE,
            "($value = 'all' or excluded = ($value = 'only'))",
            "Excluded runs: leave them out (no), count them too (all), or show them alone (only).",
            label="Excluded runs",
            words=("no", "only", "all"),
        ),
        Filter(
            COPIES,
            FilterKind.CHOICE,
            "($value = 'all' or is_copy = ($value = 'only'))",
            (
                "Probable copies of runs: leave them out (once), count them too (all), or show "
                "them alone (only)."
            ),
            words=("once", "only", "all"),
        ),
        Filter(
            SEARCH,
            FilterKind.TEXT,
            _SEARCH,
            "Title, prompt, id, session, project, task, file or summary contains TEXT.",
        ),
    )
}

SYNONYMS = {"repo": "project"}
"""Other words for filters, which are accepted wherever filters are written."""

FOUND = Filter(
    "found",
    FilterKind.TEXT,
    "place in (select place from found where text = $value)",
    "Runs that a search found (`app.queries.reading`).",
)
"""Replaces `search` once its text was looked up. Nobody writes this filter."""

CLAIM_FILTERS = {
    key: replace(filter_, sql=filter_.claim_sql)
    for key, filter_ in FILTERS.items()
    if filter_.claim_sql
}
"""Filters that choose claims, not runs, in a list of claims."""


@dataclass(frozen=True)
class Filters:
    """Chosen filters, key → values; any of several values matches (labels: all must). Hashable."""

    chosen: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.chosen)

    def values(self, key: str) -> tuple[str, ...]:
        """Return the chosen values of a filter, possibly none."""
        return dict(self.chosen).get(key, ())

    def with_values(self, key: str, values: Sequence[str]) -> Filters:
        """Return the filters with other values for one key, in the order of FILTERS.

        So equal choices are equal values.
        """
        chosen = dict(self.chosen) | {key: tuple(dict.fromkeys(values))}
        names = (*FILTERS, FOUND.key)  # what a search found stays chosen
        return Filters(tuple((name, chosen[name]) for name in names if chosen.get(name)))

    def as_words(self) -> str:
        """Return the filters as command line options, or ""."""
        words = []
        for key, values in self.chosen:
            option = SEARCH if key == FOUND.key else key  # people know the one
            is_flag = option in FILTERS and FILTERS[option].kind is FilterKind.FLAG
            words += [
                f"--{option}" if is_flag else f"--{option} {shlex.quote(value)}" for value in values
            ]
        return " ".join(words)


NO_FILTERS = Filters()
EVERY_RUN = Filters(((EXCLUDED, ("all",)), (COPIES, ("all",))))
"""Chooses all runs, also those that are not counted."""


def has_period(filters: Filters) -> bool:
    """Return whether the filters choose a period."""
    return any(map(filters.values, (TIME, *TIMES)))


def without_period(filters: Filters) -> Filters:
    """Return the filters without their period."""
    for key in (TIME, *TIMES):
        filters = filters.with_values(key, ())
    return filters


def of_period(filters: Filters) -> Where:
    """Return SQL that keeps the rows whose `dated_at` is in the period of the filters, if any."""
    chosen = Filters(tuple(one for one in filters.chosen if one[0] in (TIME, *TIMES)))
    return _where(chosen, FILTERS, "time")


def in_zone(filters: Filters, zone: tzinfo) -> Filters:
    """Return the filters with their times as moments in the zone.

    `2026-03` begins on March 1 there.
    """
    if (words := filters.values(TIME)) and " in " not in words[0] and words[0] != UNDATED:
        filters = filters.with_values(TIME, [f"{words[0]} in {zone}"])
    for key in TIMES:
        moments = []
        for text in filters.values(key):
            try:
                time = moment(text, zone=zone)
                moments.append(time.astimezone(UTC).astimezone(zone).isoformat() if time else text)
            except OverflowError:  # beyond the years 1 to 9999 there
                moments.append(text)
        filters = filters.with_values(key, moments)
    return filters


@dataclass(frozen=True)
class Where:
    """A condition and its bound values. `sql` is never empty."""

    sql: str
    parameters: dict[str, Any]


def choose(values: Mapping[str, str | Sequence[str] | None]) -> Filters:
    """Return filters from words. Raises UsageError for an unknown filter or an unreadable value."""
    filters = NO_FILTERS
    for word, value in values.items():
        key = SYNONYMS.get(word, word)
        if key not in FILTERS:
            raise unknown_word("filter", key, FILTERS)
        texts = (value,) if isinstance(value, str) else value or ()
        for text in texts:
            FILTERS[key].read(text)
        filters = filters.with_values(key, (*filters.values(key), *texts))
    return filters


def parse(text: str) -> Filters:
    """Parse filters in one text, as `compare` takes them.

    `model=glm-5.1 project=vllm` or `--model glm-5.1 --project vllm`.

    Quotes hold a value with blanks together. Raises UsageError.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"cannot read the filters {text!r}: {error}.", "Close each quote."
        ) from None
    given: dict[str, list[str]] = {}
    while words:
        key, sign, value = words.pop(0).removeprefix("--").partition("=")
        if not sign and key in FILTERS and FILTERS[key].kind is FilterKind.FLAG:
            sign, value = "=", YES
        if not sign and not words:
            raise UsageError(
                f"the filter {key!r} of {text!r} has no value.",
                "Filters are written key=value, e.g. 'model=glm-5.1 project=vllm'.",
            )
        given.setdefault(key, []).append(value if sign else words.pop(0))
    return choose(given)


def where(filters: Filters, name: str = "f") -> Where:
    """Return the filters as one condition on rows with a run's columns.

    Bound values are called `name` plus a number.

    Excluded runs and probable copies are left out unless the filters choose them.
    """
    found = _where(filters, FILTERS | {FOUND.key: FOUND}, name)
    left_out = (
        f" and not {column}" for key, (column, _) in UNCOUNTED.items() if not filters.values(key)
    )
    return Where(found.sql + "".join(left_out), found.parameters)


def counted(filters: Filters = NO_FILTERS) -> str:
    """Return the condition that leaves out runs that do not count, for any rows with a run id."""
    return (
        " and ".join(
            condition for key, (_, condition) in UNCOUNTED.items() if not filters.values(key)
        )
        or "true"
    )


def with_found(filters: Filters) -> Filters:
    """Return the filters with lookups in `found` for searches, for a store that has run them."""
    return Filters(
        tuple((FOUND.key if key == SEARCH else key, values) for key, values in filters.chosen)
    )


OWN = "(kind <> 'quantified' or origin = 'own')"
"""Condition on claims that count: a figure that the summary cites from others is not the agent's
claim.
"""


def where_claims(filters: Filters, *, hidden: bool = False) -> tuple[Where | None, Where]:
    """Return the filters as a condition on runs (None: any run) and one on their claims.

    Without a condition on runs, that on claims leaves out the runs that are not counted. `hidden`
    chooses the claims that are hidden only for their low confidence.
    """
    of_claims = Filters(
        tuple(one for one in filters.chosen if one[0] in CLAIM_FILTERS and one[0] != MIN_CONFIDENCE)
    )
    of_runs = Filters(tuple(one for one in filters.chosen if one[0] not in CLAIM_FILTERS))
    claims, sure = _where(of_claims, CLAIM_FILTERS, "c"), where_shown(filters, hidden=hidden)
    conditions = (claims.sql, sure.sql, OWN) if of_runs else (claims.sql, sure.sql, OWN, counted())
    return where(of_runs) if of_runs else None, Where(
        " and ".join(conditions), claims.parameters | sure.parameters
    )


def where_shown(filters: Filters, *, hidden: bool = False) -> Where:
    """Return the condition on the confidence of claims: that of the filters, else SHOWN_FROM.

    `hidden` negates it.
    """
    least = filters.values(MIN_CONFIDENCE) or (str(SHOWN_FROM),)
    shown = _where(Filters(((MIN_CONFIDENCE, least),)), CLAIM_FILTERS, "shown")
    return Where(f"not ({shown.sql})", shown.parameters) if hidden else shown


def _where(filters: Filters, registry: Mapping[str, Filter], name: str) -> Where:
    conditions, bound = ["true"], dict[str, Any]()
    for place, (key, values) in enumerate(filters.chosen):
        one, names = registry[key], [f"{name}{place}_{number}" for number in range(len(values))]
        bound |= zip(names, map(one.read, values), strict=True)
        found = (one.sql.replace("$value", f"${each}") for each in names)
        conditions.append(f"({(' or ' if one.kind is FilterKind.NAMES else ' and ').join(found)})")
    return Where(" and ".join(conditions), bound)
