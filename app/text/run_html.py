"""The page of a run as HTML: heading, figures, claims, patch, and measurements.

Texts of agents and patches are escaped.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa

from app.queries import Row
from app.text import html_parts
from app.text.answers import never_reported
from app.text.claims import (
    MEASURED_ONCE,
    claim_ratio,
    cut,
    decides_words,
    evidence_words,
    failure_words,
    interval_words,
    metric_words,
    value_words,
    verdict_words,
    words,
)
from app.text.columns import NEVER_STARTED, OF_FILE, fact_label, fact_words
from app.text.formatting import (
    MINUS,
    NAMELESS,
    NOT_RECORDED,
    agent_name,
    bound_sign,
    date_words,
    duration,
    model_words,
    one_bound,
    percent,
    ratio,
    short,
    short_id,
    usd,
    with_sign,
)
from app.text.html_parts import agent_colour, text
from app.text.sentences import Said, upper_first
from app.text.table import credit_words
from schemas.catalogue.columns import RUNS
from schemas.catalogue.cost_measures import BEST, LIST, REPORTED
from schemas.catalogue.failures import ACCOUNT, AGENT, PROVIDER, REASONS, SET_UP
from schemas.catalogue.figures import MORE, listed
from schemas.catalogue.metrics import MEASURED_CLASSES
from schemas.rows.cost import CAUSES, CostCause
from schemas.text import join_known, one_line, paired, plural, quoted, visible
from schemas.units import Unit

if TYPE_CHECKING:
    from ingest.patches import Hunk


RUN_CARDS = listed(
    "cost_own_usd",
    "duration_ms",
    "active_ms",
    "duration_api_own_ms",
    "parallelism",
    "num_turns",
    "cost_per_turn_usd",
    "output_tokens",
    "cache_read_share",
    MORE,
)
RUN_COST = (
    "cost_own_usd",
    "cost_reported_usd",
    "cost_beyond_total_usd",
    "cost_list_usd",
    "cost_delta_usd",
    "cost_cause",
    "cost_uncached_usd",
    "cache_saved_usd",
)
RUN_ENDING = (
    "outcome",
    "score",
    "is_error",
    "subtype",
    "stop_reason",
    "terminal_reason",
    "api_error_status",
    "permission_denials",
    "errors",
)
RUN_ORIGIN = (
    "agent",
    "agent_version",
    "model",
    "effort",
    "asked_model",
    "repo",
    "task",
    "experiment",
    "started_at",
    "ended_at",
    "time_source",
    "logged_at",
    "host",
    "cwd",
    "branch",
    "pull_request",
    "ticket",
    "landed",
    "landed_reason",
    "permission_mode",
    "base_commit",
    "chain_position",
    "record_kind",
    "tokens_basis",
    "credits",
    "credits_unit",
    "parent_run_id",
    "source_name",
    "received_at",
    "session_id",
    "run_id",
)

MOST_FIGURES, CLAIMS_SHOWN, FILES_SHOWN, TOOLS_NAMED = 6, 6, 30, 4

LONGEST_TITLE = 70
"""Characters of a run's title among its facts."""

FOLDED_FROM, MOST_LINES, LONGEST_LINE, USUAL_LINE = 400, 4_000, 1_000, 100
"""Lines of a file in a patch from which it is folded; lines shown of a patch (a line counts once
per USUAL_LINE characters); and characters shown of a line.
"""

LONGEST_RUN_ID = 200
"""Characters of a run's id in a link. Real ids are a uuid or a hash; a longer text cannot be one.
"""

_LIMITS = ("limit_reached", "max_turns", "max_budget", "max_structured_output_retries")
_LOOKS = {"completed": ("✓", "done"), "unknown": ("", "unknown")} | dict.fromkeys(
    _LIMITS, ("◔", "limit")
)
"""Outcome → sign and colour; all other outcomes are failures."""

_SCOPES = {
    "micro": "micro-benchmark",
    "component": "one component",
    "end_to_end": "end to end",
    "unspecified": "scope not stated",
}
_PARTS = {
    "micro": "a micro-benchmark",
    "component": "one component",
    "end_to_end": "the whole program",
}
_BLAME = {
    SET_UP: "the set-up's failure, not the agent's",
    ACCOUNT: "the account's limit, not the agent's failure",
    PROVIDER: "the provider's failure, not the agent's",
    AGENT: "the agent's own failure",
}
_INNER = re.compile(r"(?P<before>\{.{0,40}?)['\"]message['\"]: *(['\"])(?P<message>.+?)(?:\2|$)")
"""The message in an error that is logged as the response of an API."""

_STAND_IN = re.compile(r"(\[\w+\] ?)+")
"""What stands for an error text that is left out: it has no more than the reason."""

_UNCOMPARED = {
    "breaks": "breaks",
    "failed_unknown": "failed",
    "no_baseline": "no baseline",
    "other_setup": "not comparable",
    "machine": "not run",
}
_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|specs?|__tests__|testdata)/|(?:^|/)(?:test_|conftest\.)[^/]*$|[._-](?:test|spec)\.\w+$",
    re.IGNORECASE,
)
_GIVEN = {
    "times": "times",
    "tool_calls": "tool calls",
    "patch_changes": "files of the patch",
    "patch": "patch",
    "models": "model",
}
"""Parts of a run that a record can supply besides columns → label."""


MEASURE_IT = "In a checkout of the repository, with a command that runs the benchmark"
"""What to do with the command that measures a run."""


def only_run(run: Row, verdict: Row | None) -> Said:
    """Return the heading of the page of an only run.

    `One run: $1.21, 4m 14s, and …`, with what it claims or was measured to gain.
    """
    if not run["is_started"]:
        return Said("One run, and it never started.")
    parts = [usd(run["cost_best_usd"], run["cost_best_bounds"], f"cost {NOT_RECORDED}")]
    parts += [] if run["duration_ms"] is None else [duration(run["duration_ms"])]
    claimed, measured = run["claimed_speedup"], verdict["measured_speedup"] if verdict else None
    if run["reason"]:
        parts.append("and it did not complete")
    elif measured is not None:
        parts.append(
            f"{'and ' if claimed is None else f'claimed {ratio(claimed)}, '}measured "
            f"**{ratio(measured)}**"
        )
    elif claimed is not None:
        kind = "speedup" if claimed > 1 else "factor"
        tried = "could not be compared with a baseline" if verdict else "nobody has measured"
        parts.append(f"and a claimed {kind} of **{ratio(claimed)}** that {tried}")
    else:
        parts.append("and no claimed speedup")
    return Said(f"One run: {', '.join(parts)}.")


def run_figures(run: Row) -> list[tuple[str, str, str]]:
    """Return the figures of one run as (label, value, note).

    A list-price cost appears if no cost is reported, and is then the cost per turn.
    """
    keys = [*RUN_CARDS]
    if run[REPORTED.column] is None and run[LIST.column] is not None:
        keys.insert(keys.index(REPORTED.column), LIST.column)
        keys[keys.index("cost_per_turn_usd")] = LIST.of("cost_per_turn_usd")
    figures = [RUNS[key] for key in keys]
    return [
        (
            one.label,
            with_sign(bound_sign(run, one.key), short(run[one.key], one.unit)),
            run_note(run, one.key),
        )
        for one in figures
    ]


def run_note(run: Row, key: str) -> str:
    """Return a note on a figure.

    That the agent never logs it, that it is a bound, or how the cost differs from the logged total.
    """
    if key == "cost_own_usd" and run[key] is None and run["credits"]:
        return f"paid with {credit_words([(run['credits_unit'] or 'credits', run['credits'])])}"
    if run[key] is None and key in never_reported(run["agent"]):
        return f"not reported by {agent_name(run['agent'])}"
    if key == LIST.column:
        return one_bound(run["tokens_basis"])
    if key != "cost_own_usd" or run["cost_own_usd"] == run["cost_reported_usd"]:
        return ""
    if run["cost_beyond_total_usd"]:
        return f"Sum of its models; total as logged: {usd(run['cost_reported_usd'])}"
    if run["cost_reported_usd"] is None:
        return "Sum of its models; no total is logged"
    return f"Session total as logged: {usd(run['cost_reported_usd'])}"


def cause_sentence(run: Row) -> str:
    """Return why list-price and reported cost differ, or "" if the cause is unknown."""
    return CAUSES[CostCause(run["cost_cause"])].meaning if run["cost_cause"] else ""


def run_facts(run: Row, keys: Iterable[str]) -> list[tuple[str, str]]:
    """Return the known columns of a run as (label, value)."""
    return [
        (fact_label(RUNS[key], run), bound_sign(run, key) + fact_words(run[key], key))
        for key in keys
        if run[key] is not None
    ]


def origin_keys(run: Row) -> tuple[str, ...]:
    """Return RUN_ORIGIN for this run.

    If only a file's date is known, the start or end that repeats it is left out.
    """
    if run["time_source"] != OF_FILE:
        return RUN_ORIGIN
    repeated = "started_at" if run["ended_at"] is not None else "ended_at"
    return tuple(key for key in RUN_ORIGIN if key not in (repeated, "time_source"))


def record_rows(records: pa.Table) -> pa.Table:
    """Return the records of a run with the facts each one supplied, in words."""
    gives = []
    for row in records.to_pylist():
        given = ", ".join(
            sorted(_GIVEN.get(figure) or RUNS[figure].label.lower() for figure in row["gives"])
        )
        gives.append("all other figures" if row["is_kept"] else given)
    return records.set_column(
        records.column_names.index("gives"), "gives", pa.array(gives, pa.string())
    )


def facts_html(run: Row, keys: Sequence[str], labels: Mapping[str, str] | None = None) -> str:
    """Return the known RUNS columns of a run as a list.

    `labels` given at ingest follow unless they repeat a fact.
    """
    known = [(*fact, RUNS[key].meaning) for key in keys for fact in run_facts(run, [key])]
    known += [
        (key, value, RUNS["labels"].meaning)
        for key, value in (labels or {}).items()
        if key not in keys
    ]
    drawn = "".join(
        f'<dt title="{html.escape(meaning)}" '
        f'style="margin:0;font-weight:400;opacity:0.75">{html.escape(visible(label))}</dt><dd '
        f'style="margin:0;overflow-wrap:anywhere;white-space:pre-line">{html.escape(visible(value))}</dd>'
        for label, value, meaning in known
    )
    style = (
        "display:grid;grid-template-columns:minmax(6rem,max-content) minmax(0,1fr);gap:0.4rem "
        "1.25rem;margin:0;padding:0"
    )
    return f'<dl style="{style}">{drawn}</dl>'


def file_name_of(run_id: str) -> str:
    """Return a file name for a downloaded record, from the id's letters and digits.

    The id may be any text.
    """
    return f"{re.sub(r'[^A-Za-z0-9-]+', '-', short_id(run_id))}.json"


def run_id_of(parameter: str | None) -> str | None:
    """Return the run's id in a link, or None if the parameter cannot be one."""
    asked = (parameter or "").strip()
    return asked if 0 < len(asked) <= LONGEST_RUN_ID and paired(asked) == asked else None


def part(title: str, about: str = "") -> str:
    """Return the heading of a section and the data behind it."""
    return f'<h2 class="t-h3">{title}{f" <small>{text(about)}</small>" if about else ""}</h2>'


def ending_words(run: Row, outcome: str) -> str:
    """Return how a run ended, with the exit code that says so.

    `completed by exit code 0`, `execution error, never started`.
    """
    by = (
        f" by {run['terminal_reason']}"
        if (run["terminal_reason"] or "").startswith("exit code") and run["outcome"] != "unknown"
        else ""
    )
    return f"{outcome}{by}{'' if run['is_started'] else f', {NEVER_STARTED}'}"


def header_html(run: Row, responses: int = 0, *, has_title: bool = True) -> str:
    """Return agent, model, repository, task, date and outcome of a run, and its record's gaps.

    Without a title above: also the title, how many responses it has, and where its cost is from.
    """
    task = run["task_key"] or ""
    link = (
        (
            "<a "
            f'href="tasks?task={quote(task, safe="")}"><code>{text(task.rpartition("@")[2])}</code></a>'  # noqa: E501
        )
        if task
        else ""
    )
    date = date_words(run["dated_at"], clock=True, lacks="")
    date = date and f"{date} UTC"
    lacks = [
        name
        for name, value in (("date", date), ("task", task), ("project", run["repo"]))
        if not value
    ]
    sign, look = _LOOKS.get(run["outcome"], ("✕", "failed"))
    ended = ending_words(
        run,
        fact_words(run["outcome"], "outcome")
        if run["outcome"] != "unknown"
        else "end not recorded",
    )
    parts = [
        (
            f"{html_parts.mark(run['agent'])} <b>{text(agent_name(run['agent']))}</b> "
            f"{text(model_words(run) or NAMELESS['model'])}"
        ),
        join_known(" ", text(run["repo"] or ""), link),
        date,
        f'<b class="t-run-{look}">{sign} {text(ended)}</b>',
    ]
    if has_title and lacks:
        listed = join_known(" or ", ", ".join(lacks[:-1]), lacks[-1])
        parts.append(f"<small>the record has no {listed}</small>")
    elif not has_title:
        about = (plural(responses, "response") if responses else "", cost_basis(run))
        parts += [f"<small>{text(one)}</small>" for one in about if one]
        parts.append(f"<small>{text(quoted(run['title'], LONGEST_TITLE))}</small>")
    drawn = "<i>·</i>".join(f"<span>{part}</span>" for part in parts if part)
    return f'<p class="t-run-sub{"" if has_title else " t-cap"}">{drawn}</p>'


def failure_html(run: Row) -> str:
    """Return why the run did not complete, or "" if it did."""
    if not run["reason"]:
        return ""
    said = one_line(run["failure_message"] or "")
    said = "" if _STAND_IN.fullmatch(said) else said
    if inner := _INNER.search(said):
        said = f"{said[: inner.start('before')].rstrip(' -:{[')}: {inner['message']}".lstrip(": ")
    said = re.split(r"(?<=[.!?])\s", said, maxsplit=1)[0]
    blame = _BLAME.get(run["whose"] or "", "")
    why = f"{REASONS[run['reason']].label}{f': {blame}' if blame else ''}."
    return (
        "<p "
        f'class="t-run-error">{f"<b>{text(said)}</b> " if said else ""}<span>{text(why)}</span></p>'
    )


def result_of(row: Row) -> str:
    """Return the verdict of a run or of one of its values in words."""
    return verdict_words(row["verdict"], is_beyond_noise=row["is_beyond_noise"])


def reference_result(row: Row) -> str:
    """Return the verdict of a run against the reference in words."""
    return verdict_words(row["reference_verdict"], is_beyond_noise=row["is_reference_beyond_noise"])


def strip_html(run: Row, verdict: Row | None) -> str:
    """Return up to six known figures, each with its limits or explanation."""
    boxes = list(_boxes(run, verdict))
    if len(boxes) > MOST_FIGURES:
        boxes = [box for box in boxes if box[0] != "Output"]
    return html_parts.strip(boxes)


def _boxes(run: Row, verdict: Row | None) -> Iterator[tuple[str, ...]]:
    """Yield the known figures of a run for `html_parts.strip`."""
    reported, listed_usd, bounds = run[REPORTED.column], run[LIST.column], run["cost_best_bounds"]
    if run[BEST.column] is not None:
        if reported is None:
            note = f"list price; {run_note(run, LIST.column) or 'none is reported'}"
        else:
            beside = "the list price" if listed_usd is not None else ""
            if listed_usd is not None and usd(listed_usd) != usd(reported):
                least = with_sign(bound_sign(run, LIST.column), usd(listed_usd))
                beside = f"list price {least}"
            note = run_note(run, REPORTED.column) or join_known(" · ", "reported", beside)
        yield "Cost", usd(run[BEST.column], bounds), note
    if run["duration_ms"] is not None:
        note = ""
        if run["duration_api_own_ms"] is not None:
            parallel = "" if run["parallelism"] is None else f", {ratio(run['parallelism'])}"
            note = f"API {duration(run['duration_api_own_ms'])}{parallel}"
        elif run["active_ms"] is not None and run["active_ms"] != run["duration_ms"]:
            note = f"active {duration(run['active_ms'])}"
        yield "Wall time", duration(run["duration_ms"]), note
    if run["num_turns"] is not None:
        each = run["cost_best_per_turn_usd"]
        yield (
            "Turns",
            f"{run['num_turns']:,}",
            f"{with_sign(bound_sign(run, BEST.column, bounds), usd(each))} each"
            if each is not None
            else "",
        )
    if run["output_tokens"] is not None:
        cached = run["cache_read_share"]
        note = "tokens" if cached is None else f"tokens; cache read {percent(cached)}"
        yield "Output", short(run["output_tokens"], Unit.TOKENS, run["tokens_basis"]), note
    if run["claimed_speedup"] is not None:
        scope = _SCOPES.get(run["claimed_scope"], words(run["claimed_scope"]))
        yield (
            "Claimed",
            ratio(run["claimed_speedup"]),
            f"{scope}, {evidence_words(run['claimed_evidence'])}",
        )
    if verdict and verdict["measured_speedup"] is None:
        kind = verdict["measured_class"]
        yield (
            "Measured",
            _UNCOMPARED.get(kind, "not measured"),
            MEASURED_CLASSES.get(kind, ""),
            f"t-run-{kind}",
        )
    elif verdict:
        about = (
            result_of(verdict),
            _SCOPES.get(verdict["measured_scope"], ""),
            verdict["benchmark"] or "",
            metric_words(verdict["metric"]),
        )
        yield (
            "Measured",
            ratio(verdict["measured_speedup"]),
            join_known(", ", *about),
            f"t-run-{verdict['verdict']}",
        )
    if verdict and verdict["judged"]:
        judged = "a hack" if verdict["judged"] == "hack" else verdict["judged"]
        yield "Judged", judged, f"by {verdict['judged_by']}"
    files, more, less = (run[f"patch_{name}"] for name in ("files", "insertions", "deletions"))
    if files == 0:
        yield "Patch", "empty", "nothing was changed"
    elif files and more is None:
        yield "Patch", plural(files, "file"), ""
    elif files:
        yield "Patch", f"+{more:,} {MINUS}{less or 0:,}", plural(files, "file")


def cost_basis(run: Row) -> str:
    """Return where the cost is from: `cost reported, list price $2.13: regional endpoint`."""
    listed_usd = with_sign(bound_sign(run, LIST.column), usd(run[LIST.column], lacks=""))
    if run[REPORTED.column] is None:
        return "cost at list prices" if listed_usd else ""
    if not listed_usd or not run["cost_cause"]:
        return "cost reported"
    if run["cost_cause"] == CostCause.SAME:
        return "cost reported, equal to list prices"
    cause = CAUSES[CostCause(run["cost_cause"])].label
    return f"cost reported, list price {listed_usd}: {cause}"


def calls_words(calls: Sequence[Row]) -> str:
    """Return `bash 192 (19 failed), edit 128, read 50 and 4 more tools`."""
    named = [
        f"{one_line(call['tool'])} {call['calls']:,}"
        + (f" ({call['errors']:,} failed)" if call["errors"] else "")
        for call in calls[:TOOLS_NAMED]
    ]
    rest = len(calls) - len(named)
    return ", ".join(named) + (f" and {plural(rest, 'more tool')}" if rest else "")


def warning_html(run: Row, verdict: Row | None) -> str:
    """Return a warning on doubtful figures, or ""."""
    said = []
    if verdict and verdict["scope_differs"] and verdict["measured_speedup"] is not None:
        claimed, measured = (
            _PARTS.get(verdict[name], words(verdict[name]))
            for name in ("claimed_scope", "measured_scope")
        )
        benchmark = f" ({verdict['benchmark']})" if verdict["benchmark"] else ""
        said.append(
            f"Claim and benchmark cover different parts: the claim is about {claimed}, the "
            f"benchmark about {measured}{benchmark}."
        )
        if verdict["measured_vs_reference"]:
            gained = ratio(verdict["measured_speedup"] / verdict["measured_vs_reference"])
            said.append(
                f"The reference patch gains {gained}. Against it: {reference_result(verdict)}."
            )
    if run["is_carried_over"]:
        api, wall = (duration(run[name]) for name in ("duration_api_own_ms", "duration_ms"))
        said.append(
            f"{api} of API calls do not fit into a run of {wall}: cost and API time seem to "
            "include an earlier process."
        )
    if run["cost_best_bounds"]:
        kind = {"upper_bound": "an upper bound", "lower_bound": "a lower bound"}.get(
            run["cost_best_bounds"], "an estimate"
        )
        said.append(f"The cost is {kind}: the log does not record all tokens exactly.")
    return html_parts.warning(text(" ".join(said))) if said else ""


def claims_html(claims: Sequence[Row], run: Row) -> str:
    """Return each claim with a figure: subject, scope and evidence.

    The one that counts comes first.
    """
    counting, others = list[str](), list[str]()
    for claim in claims:
        if claim["kind"] != "quantified":
            continue
        counts = claim["ratio"] == run["claimed_speedup"] and claim["quote"] == run["claimed_quote"]
        about = [
            (
                f"{_SCOPES.get(claim['scope'], words(claim['scope']))}, "
                f"{evidence_words(claim['evidence'], claim['kind'])}"
            )
        ]
        about += ["quoted from others"] if claim["origin"] == "cited" else []
        about += [claim["metric"]] if claim["metric"] not in ("time", "speed") else []
        about += ["this figure counts"] if counts else []
        subject = (claim["subject"] or "").replace("`", "")
        subject = (
            subject if len(subject) > 2 else quoted(claim["quote"])
        )  # two characters say nothing
        figure = claim_ratio(claim) if claim["ratio"] is not None else words(claim["direction"])
        row = f"<tr><th>{text(figure)}</th><td>{text(one_line(subject))}<small>{text(' · '.join(about))}</small></td></tr>"  # noqa: E501
        (counting if counts else others).append(row)
    drawn = [*counting, *others]
    table = '<table class="t-run-claims">{}</table>'
    shown, folded = drawn[:CLAIMS_SHOWN], drawn[CLAIMS_SHOWN:]
    more = (
        f"<details><summary>{len(folded):,} more</summary>{table.format(''.join(folded))}</details>"
        if folded
        else ""
    )
    return table.format("".join(shown)) + more if shown else ""


def changed_html(run: Row, files: Sequence[Row]) -> str:
    """Return the known changes without the patch: why it is missing, and the files."""
    if run["patch_files"] == 0:
        why = "Its patch is empty: nothing was changed."
    elif run["patch_sha256"]:
        why = (
            "The text of its patch is not in the store: it was left out, or read by a version "
            "that did not keep it."
        )
    else:
        why = "No patch in its folder."
    items = ""
    for row in files[:FILES_SHOWN]:
        more, less = (
            f"{sign}{row[key]:,}" if row[key] is not None else ""
            for sign, key in (("+", "insertions"), (MINUS, "deletions"))
        )
        counts = f'<span class="t-diff-plus">{more}</span> <span class="t-diff-minus">{less}</span>'
        items += f"<li><code>{text(row['path'])}</code> {counts}</li>"
    items += f"<li>{len(files) - FILES_SHOWN:,} more</li>" if len(files) > FILES_SHOWN else ""
    return f'<p class="t-cap">{why}</p>' + (
        f'<ul class="t-run-files">{items}</ul>' if files else ""
    )


def measured_html(run: Row, verdict: Row, values: Sequence[Row]) -> str:
    """Return bars of the value that counts, and the results of the other values.

    The bars include baseline and reference.
    """
    gained, reached, unit = (
        verdict["measured_speedup"],
        verdict["measured_vs_reference"],
        verdict["unit"],
    )
    if gained is None:
        why = failure_words(verdict["failure"], verdict["why"]) or MEASURED_CLASSES.get(
            verdict["measured_class"], ""
        )
        mine = (
            ""
            if verdict["measured_candidate"] is None
            else f"{_quantity(verdict['measured_candidate'], unit)}. "
        )
        return f'<p class="t-cap">{text(f"{mine}Not compared with a baseline: {cut(why)}")}</p>'
    ends = interval_words(verdict, "measured_low", "measured_high")
    colour = agent_colour(run["agent"])
    of_reference = (
        f"{ratio(reached)} against it: {reference_result(verdict)}" if reached is not None else ""
    )
    bars = [
        ("baseline", verdict["measured_baseline"], "", ""),
        (
            "this run",
            verdict["measured_candidate"],
            f"{ratio(gained)}{ends} against the baseline: {result_of(verdict)}",
            colour,
        ),
        ("reference", verdict["measured_reference"], of_reference, ""),
    ]
    most = max((value for _, value, _, _ in bars if value is not None), default=0) or 1
    drawn = "".join(
        f"<dt>{name}</dt><dd><i "
        f'style="width:{max(0.5, 62 * value / most):.1f}%{f";background:{colour}" if colour else ""}"></i>'  # noqa: E501
        f"<span>{text(_quantity(value, unit))}{f'<small>{text(note)}</small>' if note else ''}</span></dd>"  # noqa: E501
        for name, value, note, colour in bars
        if value is not None and value >= 0
    )
    turned_out: dict[str, Counter[str]] = {}
    for value in values:
        if (
            value["base"] == "baseline"
            and value["ratio"] is not None
            and not _is_of(value, verdict)
        ):
            turned_out.setdefault(value["metric"], Counter())[result_of(value)] += 1
    parts = []
    for metric, found in sorted(
        turned_out.items(), key=lambda item: (item[0] != verdict["metric"], -item[1].total())
    )[:4]:
        first, *rest = [f"{kind} in {count:,}" for kind, count in found.most_common()]
        parts.append(
            f"{metric_words(metric)} {first} of "
            f"{found.total():,}{''.join(f', {one}' for one in rest)}"
        )
    more = f"; and {plural(len(turned_out) - 4, 'other metric')}" if len(turned_out) > 4 else ""
    others = (
        (
            '<p class="t-cap">Other comparable values of this run: '
            f"{text('; '.join(parts) + more)}.</p>"
        )
        if parts
        else ""
    )
    single = (
        f'<p class="t-cap">{text(upper_first(MEASURED_ONCE))}.</p>'
        if verdict["is_beyond_noise"] is False
        else ""
    )
    decides = (
        f'<p class="t-cap">Decides: {text(why)}</p>' if (why := decides_words(verdict)) else ""
    )
    return f'<dl class="t-run-bars">{drawn}</dl>{decides}{others}{single}'


def measured_about(verdict: Row, values: Sequence[Row]) -> str:
    """Return `serving, mean time to first token in ms, lower is better; one run each`."""
    mine = next(
        (value for value in values if value["base"] == "baseline" and _is_of(value, verdict)), None
    )
    # its bars have their units: a time in ms may be drawn in s
    parts = [verdict["benchmark"] or "", value_words(verdict)]
    parts += (
        [f"{mine['better']} is better"] if mine and mine["better"] in ("lower", "higher") else []
    )
    counts = (mine["n"], mine["base_n"]) if mine else (None, None)
    samples = f"{counts[0]:,} and {counts[1]:,} samples" if all(counts) and counts != (1, 1) else ""
    samples = "one run each" if not samples and verdict["is_single_run"] else samples
    return join_known("; ", join_known(", ", *parts), samples)


def _is_of(value: Row, verdict: Row) -> bool:
    is_same = all(value[key] == verdict[key] for key in ("metric", "statistic", "benchmark"))
    return is_same and bool(value["candidate_value"] == verdict["measured_candidate"])


def _quantity(value: float, unit: str | None) -> str:
    if unit == "ms":
        if value >= 60_000:
            return duration(value)
        value, unit = (value / 1000, "s") if value >= 1000 else (value, unit)
    return f"{short(value, Unit.QUANTITY)} {unit or ''}".strip()


def more_html(
    commands: Mapping[str, str], *, has_claim: bool, has_patch: bool, is_measured: bool
) -> str:
    """Return how to add more data if the store has only one run.

    `commands`: how to ingest `results` and `runs`.
    """
    items = [
        (
            "A benchmark’s result",
            f"puts a measured speedup {'beside the claim' if has_claim else 'on this page'}.",
            commands["results"],
            not is_measured,
        ),
        (
            "The patch",
            "in the run’s folder, as model_patch.diff, shows what was changed.",
            "",
            not has_patch,
        ),
        (
            "More runs",
            "bring the table by agent and the charts (from two runs on).",
            commands["runs"],
            True,
        ),
    ]
    drawn = (
        f"<li><b>{what}</b> {why}{f'<br><code>{text(how)}</code>' if how else ''}</li>"
        for what, why, how, is_so in items
        if is_so
    )
    return f'{part("What to add")}<ul class="t-run-more">{"".join(drawn)}</ul>'


@dataclass
class _File:
    path: str
    notes: list[str] = field(default_factory=list)
    hunks: list[Hunk] = field(default_factory=list)


def patch_name(run: Row) -> str:
    """Return `Codex gpt-5, 12ab34cd, measured 1.20×` for a run in a choice of patches."""
    measured = run.get("measured_speedup")
    about = (
        join_known(" ", agent_name(run["agent"]), model_words(run)),
        short_id(run["run_id"]),
    )
    return ", ".join((*about, *((f"measured {ratio(measured)}",) if measured else ())))


def diff_html(diff: str) -> str:
    """Return a unified diff with line numbers and marked words, source files before tests.

    "" if the text is not a diff.
    """
    from ingest.patches import (
        Hunk,
        parts_of,
    )  # with the readers of agents, which a page in a terminal does without

    files: dict[str, _File] = {}
    for path, found in parts_of(diff.split("\n")):
        file = files.setdefault(path, _File(path))
        if isinstance(found, Hunk):
            file.hunks.append(found)
        elif found:
            file.notes.append(found)
    left, drawn = MOST_LINES, ""
    for file in sorted(files.values(), key=lambda file: _TEST.search(file.path) is not None):
        lines, shown = [line for hunk in file.hunks for line in hunk.lines], 0
        for line in lines:
            left -= 1 + min(len(line), LONGEST_LINE) // USUAL_LINE
            if left < 0:
                break
            shown += 1
        plus, minus = (sum(line.startswith(mark) for line in lines) for mark in "+-")
        counts = (
            f'<span class="t-diff-plus">+{plus:,}</span> <span '
            f'class="t-diff-minus">{MINUS}{minus:,}</span>'
        )
        is_folded = len(lines) >= FOLDED_FROM
        size = f" · {plural(len(lines), 'line')}" if is_folded else ""
        body = "".join(
            f'<div class="t-diff-h">{_code(note)}</div>' for note in file.notes
        ) + "".join(_diff_rows(file.hunks, shown))
        body += (
            f'<div class="t-diff-h">{len(lines) - shown:,} more lines are not shown.</div>'
            if shown < len(lines)
            else ""
        )
        head = (
            f"<summary><b>{_code(file.path)}</b><span>{size}</span><span>{counts}</span></summary>"
        )
        drawn += (
            f"<details{'' if is_folded else ' open'}>{head}<div "
            f'class="t-diff-code" tabindex="0"><div>{body}</div></div></details>'
        )
    return f'<div class="t-diff">{drawn}</div>' if drawn else ""


def _diff_rows(hunks: Sequence[Hunk], most: int) -> Iterator[str]:
    for hunk in hunks:
        if most <= 0:
            return
        yield f'<div class="t-diff-h"><i></i><i></i>{_code(hunk.heading) or "…"}</div>'
        old, new = hunk.old_start, hunk.new_start
        lines = hunk.lines[:most]
        most -= len(lines)
        for line, changed in zip(lines, _marked_lines(lines), strict=True):
            mark = line[:1] or " "
            look = {"+": " t-diff-a", "-": " t-diff-d"}.get(mark, "")
            left, right = ("" if mark in "+\\" else f"{old}"), ("" if mark in "-\\" else f"{new}")
            yield (
                f'<div class="t-diff-l{look}"><i>{left}</i><i>{right}</i>{html.escape(mark)} '
                f"{changed}</div>"
            )
            old, new = old + (mark in "- "), new + (mark in "+ ")


def _marked_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines without their signs as HTML, with changes to replaced lines marked.

    The marks are the differences between a deleted line and its replacement.
    """
    shown = [_code(line[1:]) for line in lines]
    place = 0
    while place < len(lines):
        removed = place
        while removed < len(lines) and lines[removed].startswith("-"):
            removed += 1
        added = removed
        while added < len(lines) and lines[added].startswith("+"):
            added += 1
        for old, new in zip(range(place, removed), range(removed, added), strict=False):
            shown[old], shown[new] = _marked_words(lines[old][1:], lines[new][1:])
        place = max(added, place + 1)
    return shown


def _marked_words(old: str, new: str) -> tuple[str, str]:
    """Return two lines with their difference marked.

    Everything between the common words at both ends.
    """
    ours, theirs = (re.findall(r"\w+|\s+|.", line[:LONGEST_LINE]) for line in (old, new))
    most = min(len(ours), len(theirs))
    first = next((number for number in range(most) if ours[number] != theirs[number]), most)
    last = next(
        (number for number in range(most - first) if ours[-1 - number] != theirs[-1 - number]),
        most - first,
    )
    same = "".join((*ours[:first], *ours[len(ours) - last :])).strip()
    if len(same) < 0.4 * max(
        len(old.strip()), len(new.strip())
    ):  # lines that share less differ as a whole
        return _code(old), _code(new)
    found = []
    for tokens in (ours, theirs):
        ends = (tokens[:first], tokens[first : len(tokens) - last], tokens[len(tokens) - last :])
        before, changed, behind = (html.escape(visible("".join(part))) for part in ends)
        found.append(f"{before}<s>{changed}</s>{behind}" if changed else before + behind)
    return found[0], found[1]


def _code(line: str) -> str:
    return html.escape(visible(line[:LONGEST_LINE])) + ("…" if len(line) > LONGEST_LINE else "")
