"""What screens say of rows: cards, facts and words. Pure; the screens only place it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import simplejson

from app.queries.runs import KNOWN_SUFFIX
from app.text import file_kinds
from app.text.columns import CAUSE_COLUMNS, EVIDENCE_COLUMNS, agent_name, cause_words, untold
from app.text.formatting import human, known_of, short_id
from app.text.words.claims import evidence_words
from app.text.words.measures import bound_sign, bounds_note, one_bound
from schemas.catalogue.columns import RUNS
from schemas.catalogue.cost_measures import BEST, LIST, REPORTED
from schemas.catalogue.entry import Entry
from schemas.catalogue.figures import MORE, listed
from schemas.catalogue.metrics import RUN_METRICS
from schemas.catalogue.rules import CROSS_CHECKS, FINDING_RULES, MAY_CONTINUE, MAY_CONTINUE_MEANING
from schemas.file_kinds import NO_LOGS
from schemas.rows.cost import CAUSES, CostCause
from schemas.text import in_json, one_line, paired, plural, visible
from schemas.units import Unit

if TYPE_CHECKING:
    from ingest.pipeline import SourceReport

SHOWN_CHARACTERS = 100_000
"""The most of a text a screen shows: a browser is no place for a megabyte of one. The whole can be downloaded."""

LONGEST_RUN_ID = 200
"""A run's id is a uuid or a hash; a longer text in a link is no id of ours."""


Colour = Literal["off", "green", "orange", "red"]


@dataclass(frozen=True)
class Card:
    """One figure with its name, what it means and, in `note`, what limits it: based on some runs only. `colour` is that of the note."""

    label: str
    value: str
    help: str
    note: str = ""
    colour: Colour = "off"


@dataclass(frozen=True)
class Shown:
    """A text, cut where it is too long for a screen; `note` says so."""

    text: str
    note: str = ""


RUN_CARDS = listed(
    "cost_own_usd", "duration_ms", "active_ms", "duration_api_own_ms", "parallelism", "num_turns", "cost_per_turn_usd", "output_tokens",
    "cache_read_share", MORE,
)  # fmt: skip
RUN_COST = (
    "cost_own_usd", "cost_reported_usd", "cost_beyond_total_usd", "cost_list_usd", "cost_delta_usd", "cost_cause", "cost_uncached_usd",
    "cache_saved_usd",
)  # fmt: skip
RUN_ENDING = (
    "outcome", "score", "is_error", "subtype", "stop_reason", "terminal_reason", "api_error_status", "permission_denials", "errors",
)  # fmt: skip
RUN_ORIGIN = (
    "agent", "agent_version", "model", "repo", "task", "experiment", "started_at", "ended_at", "time_source", "cwd", "branch",
    "permission_mode", "base_commit", "chain_position", "record_kind", "tokens_basis", "credits", "credits_unit", "parent_run_id",
    "source_name", "received_at", "session_id", "run_id",
)  # fmt: skip


def cards(row: Mapping[str, Any], metrics: Sequence[str]) -> list[Card]:
    """Metrics over runs as cards, from a row of `queries.summary`."""
    return [_card(row, key, int(row["runs"])) for key in metrics]


def _card(row: Mapping[str, Any], key: str, runs: int) -> Card:
    metric = RUN_METRICS[key]
    known = known_of(int(row[f"{key}{KNOWN_SUFFIX}"]), runs)
    bounded = bounds_note(row, BEST if key == BEST.total else LIST) if key in (LIST.total, BEST.total) else ""
    value = bound_sign(row, key) + human(row[key], metric.unit)
    return Card(metric.label, value, metric.meaning, ", ".join(filter(None, (known and f"{known} runs", bounded))))


def run_cards(run: Mapping[str, Any]) -> list[Card]:
    """The figures of one run. Where it reports no cost, the list-price cost stands beside that."""
    by_list = (LIST.column,) if run[REPORTED.column] is None and run[LIST.column] is not None else ()
    first = RUN_CARDS.index(REPORTED.column)
    figures = [RUNS[key] for key in (*RUN_CARDS[:first], *by_list, *RUN_CARDS[first:])]
    return [
        Card(one.label, bound_sign(run, one.key) + human(run[one.key], one.unit), one.meaning, run_note(run, one.key)) for one in figures
    ]


def run_note(run: Mapping[str, Any], key: str) -> str:
    """What an agent does not tell, and where a record continues earlier ones: then its cost is a part of what it logs."""
    if run[key] is None and key in untold(run["agent"]):
        return f"not reported by {agent_name(run['agent'])}"
    if key == LIST.column:
        return one_bound(run["tokens_basis"])
    if key != "cost_own_usd" or run["cost_own_usd"] == run["cost_reported_usd"]:
        return ""
    if run["cost_beyond_total_usd"]:
        return f"Sum of its models; total as logged: {human(run['cost_reported_usd'], Unit.USD)}"
    if run["cost_reported_usd"] is None:
        return "Sum of its models; no total is logged"
    return f"Session total as logged: {human(run['cost_reported_usd'], Unit.USD)}"


def cause_sentence(run: Mapping[str, Any]) -> str:
    """Why list-price cost and reported cost differ, in a sentence; empty where that is unknown."""
    return CAUSES[CostCause(run["cost_cause"])].meaning if run["cost_cause"] else ""


def origin_facts(run: Mapping[str, Any]) -> tuple[str, ...]:
    """RUN_ORIGIN for this run: where only the date of a file is known, the start or end that repeats it is left out."""
    if run["time_source"] != OF_FILE:
        return RUN_ORIGIN
    left_out = "started_at" if run["ended_at"] is not None else "ended_at"
    return tuple(key for key in RUN_ORIGIN if key not in (left_out, "time_source"))


def record_rows(records: pa.Table) -> pa.Table:
    """The records of a run, with what each gives in words: the kept one gives all that no other does."""
    rows = records.to_pylist()
    gives = ["all other figures" if row["is_kept"] else ", ".join(sorted(map(_given, row["gives"]))) for row in rows]
    return records.set_column(records.column_names.index("gives"), "gives", pa.array(gives, pa.string()))


_GIVEN = {"times": "times", "tool_calls": "tool calls", "patch_changes": "files of the patch", "patch": "patch", "models": "model"}
"""What a record gives that is no column of a list of runs, or several → its words."""


def _given(figure: str) -> str:
    return _GIVEN.get(figure) or RUNS[figure].label.lower()


def facts_html(run: Mapping[str, Any], facts: Sequence[str], labels: Mapping[str, str] | None = None) -> str:
    """What is known of one run, columns of RUNS, as a description list. Values are strangers' text: escaped, never read as Markdown.

    `labels` are those given at ingest; one that repeats a fact is left out.
    """
    known = [
        (fact_label(RUNS[key], run), RUNS[key].meaning, bound_sign(run, key) + fact_words(run[key], key))
        for key in facts
        if run[key] is not None
    ]
    given = [(key, RUNS["labels"].meaning, value) for key, value in (labels or {}).items() if key not in facts]
    return f'<dl style="{_LIST}">{"".join(_fact(*fact) for fact in known + given)}</dl>'


def fact_label(entry: Entry, run: Mapping[str, Any]) -> str:
    """What a fact is called; times say of which zone, and the date of a file that it is one."""
    label = "File modified at" if entry.key in ("started_at", "ended_at") and run.get("time_source") == OF_FILE else entry.label
    return f"{label} (UTC)" if entry.unit is Unit.TIME else label


_LIST = "display:grid;grid-template-columns:minmax(6rem,max-content) minmax(0,1fr);gap:0.4rem 1.25rem;margin:0;padding:0"
_VALUE = "margin:0;overflow-wrap:anywhere;white-space:pre-line"


def _fact(label: str, meaning: str, value: str) -> str:
    name = f'<dt title="{html.escape(meaning)}" style="margin:0;font-weight:400;opacity:0.75">{html.escape(visible(label))}</dt>'
    return f'{name}<dd style="{_VALUE}">{html.escape(visible(value))}</dd>'


OF_FILE = "file"
"""The source of a time that is the modification time of a file."""

_TIME_SOURCES = {
    "stream": "event stream",
    "record": "the log itself (zone unknown)",
    "sidecar": "sidecar file",
    "path": "file path",
    "file": "file modification time",
    "trusted_file": "file modification time (trusted)",
}


_SPELLED = ("outcome", "tokens_basis", "scope")
"""Columns whose keys are words."""


def fact_words(value: Any, key: str) -> str:
    """A column's value for a reader: `yes`, `limit reached`, `regional endpoint`, `2026-11-20 14:00`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key in CAUSE_COLUMNS:
        return cause_words(str(value))
    if key == "agent":
        return agent_name(str(value))
    if key == "time_source":
        return _TIME_SOURCES.get(str(value), str(value))
    if key in EVIDENCE_COLUMNS:
        return evidence_words(str(value))
    return str(value).replace("_", " ") if key in _SPELLED else human(value, RUNS[key].unit if key in RUNS else Unit.TEXT)


def upload_words(report: SourceReport) -> str:
    """What became of a file, in a few words."""
    if report.known:
        return "already ingested"
    if report.kind in NO_LOGS:
        return f"not a log, ignored: {file_kinds.WORDS[report.kind]}"
    if report.measurements:
        return f"benchmark result, {plural(report.measurements, 'measured value')}"
    said = (
        _counted(report.accepted, "new run", "new runs"),
        _counted(report.duplicates, "duplicate", "duplicates"),
        _counted(report.rejected, "record rejected", "records rejected"),
        file_kinds.no_results(report.ignored) if report.ignored else "",
    )
    return ", ".join(filter(None, said)) or "archive, see entries below"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}" if count else ""


def shown(text: str) -> Shown:
    """The text as far as a screen shows it, without what deceives."""
    if len(text) <= SHOWN_CHARACTERS:
        return Shown(visible(text))
    return Shown(visible(text[:SHOWN_CHARACTERS]), f"Showing the first {SHOWN_CHARACTERS:,} of {len(text):,} characters.")


def shown_record(raw: str) -> Shown:
    """A raw record, laid out for reading with every number as written; as it is where it is too long to lay out."""
    if len(raw) > SHOWN_CHARACTERS:
        return shown(raw)
    try:
        record = simplejson.JSONDecoder(parse_float=Decimal, strict=False, allow_nan=True).decode(raw)
        return shown(in_json(simplejson.dumps(record, indent=2, use_decimal=True, allow_nan=True, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return shown(raw)


def plain(text: str) -> str:
    """A stranger's text for a place that reads Markdown, so that it stays text."""
    return _NOTHING.join(_MARKS.sub(r"\\\g<0>", part) for part in _IN_LINKS.split(visible(text)))


_MARKS = re.compile(r"[\\`*_{}\[\]<>#!|~$:&()]|(?<![^\n])[-+=.]|(?<=\d)[.)](?=\s)")
"""What starts anything in Markdown or in Streamlit's additions to it; list marks count at the beginning of a line only."""


_NOTHING = ":small[]"
"""An element without text. Addresses become links also where their signs are escaped, but not across elements."""

_IN_LINKS = re.compile(r"(?<=[\w.+-]@)(?=[-\w])|(?<=http)(?=s?://)|(?<=www)(?=\.)", re.IGNORECASE)
"""A place within anything that becomes a link by itself: an address of mail, `https://…`, `www.…`."""


def code_span(text: str) -> str:
    """A stranger's text as code in a line of Markdown. Its lines become one, since a blank line would end the code."""
    line = one_line(text)
    fence = "`" * (1 + max((len(ticks) for ticks in re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if line.strip() else ""


def rule_meaning(rule: str) -> str:
    """What a rule looks for, in a sentence; empty for one that is not known here."""
    causes = {f"cost_{cause}": words.meaning for cause, words in CAUSES.items()} | {MAY_CONTINUE: MAY_CONTINUE_MEANING} | CROSS_CHECKS
    return FINDING_RULES[rule].meaning if rule in FINDING_RULES else causes.get(rule, "")


def file_name_of(run_id: str) -> str:
    """What the record of a run is called where it is downloaded: of an id, which may be any text, letters and digits stay."""
    return f"{re.sub(r'[^A-Za-z0-9-]+', '-', short_id(run_id))}.json"


def run_id_of(parameter: str | None) -> str | None:
    """The run a link asks for, None where the parameter can be no run's id."""
    text = (parameter or "").strip()
    return text if 0 < len(text) <= LONGEST_RUN_ID and paired(text) == text else None
