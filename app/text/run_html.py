"""The page of a run as HTML: what it is, its figures, its claims, and what was measured. Texts of agents are escaped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from typing import Any
from urllib.parse import quote

from app.text import brief, html_parts
from app.text.columns import NEVER_STARTED
from app.text.formatting import MINUS, human
from app.text.html_parts import agent_name, text
from app.text.presentation import fact_words, run_note
from app.text.words.claims import evidence_words, ratio, words
from app.text.words.measured import SINGLE_RUNS, cut, failure_words
from app.text.words.measures import bound_sign, sign_of
from schemas.agents import AGENTS
from schemas.catalogue.cost_measures import BEST, LIST, REPORTED
from schemas.catalogue.failures import ACCOUNT, AGENT, PROVIDER, REASONS, SET_UP
from schemas.catalogue.metrics import MEASURED_CLASSES
from schemas.rows.cost import CAUSES as COST_CAUSES
from schemas.rows.cost import CostCause
from schemas.text import one_line, plural, quoted
from schemas.units import Unit

Row = Mapping[str, Any]

MOST_FIGURES = 6
"""In the strip below the title."""

CLAIMS_SHOWN = 6
"""Claims that are listed; the others are folded."""

FILES_SHOWN = 30
LEAST_SUBJECT = 2
"""Characters of a subject that says nothing; the claim is quoted instead."""

_LIMITS = ("limit_reached", "max_turns", "max_budget", "max_structured_output_retries")
_LOOKS = {"completed": ("✓", "done"), "unknown": ("", "unknown")} | dict.fromkeys(_LIMITS, ("◔", "limit"))
"""Outcome → the sign before it, and its colour; any other is a failure."""

_SCOPES = {"micro": "micro-benchmark", "component": "one component", "end_to_end": "end to end", "unspecified": "scope not stated"}
_PARTS = {"micro": "a micro-benchmark", "component": "one component", "end_to_end": "the whole program"}
_METRICS = {
    "ttft": "time to first token",
    "tpot": "time per output token",
    "itl": "time between tokens",
    "e2el": "end-to-end latency",
}
_BLAME = {
    SET_UP: "the set-up's failure, not the agent's", ACCOUNT: "the account's limit, not the agent's failure",
    PROVIDER: "the provider's failure, not the agent's", AGENT: "the agent's own failure",
}  # fmt: skip
_INNER = re.compile(r"(?P<before>\{.{0,40}?)['\"]message['\"]: *(['\"])(?P<message>.+?)(?:\2|$)")
"""The message in an error that is logged as the response of an API."""
_SENTENCE = re.compile(r"(?<=[.!?])\s")
_UNCOMPARED = {
    "breaks": "breaks",
    "failed_unknown": "failed",
    "no_baseline": "no baseline",
    "other_setup": "not comparable",
    "machine": "not run",
}
_VALUE = ("metric", "statistic", "benchmark")


def best_cost(run: Row) -> str:
    """The best-known cost with the sign of a bound."""
    return brief.usd(run[BEST.column], run["cost_best_bounds"])


def part(title: str, about: str = "") -> str:
    """The heading of a part of the page, and what it rests on."""
    return f'<h3 class="t-h3">{title}{f" <small>{text(about)}</small>" if about else ""}</h3>'


def header_html(run: Row) -> str:
    """Who did what, when, and how it ended."""
    task = run["task_key"]
    shown = (task or "").rpartition("@")[2] if "@" in (task or "") else task or ""
    link = f'<a href="tasks?task={quote(task, safe="")}"><code>{text(shown)}</code></a>' if task else ""
    date = f"{run['dated_at'].astimezone(UTC):%-d %b %Y, %H:%M} UTC" if run["dated_at"] else ""
    lacks = [name for name, value in (("date", date), ("task", task), ("repository", run["repo"])) if not value]
    sign, look = _LOOKS.get(run["outcome"], ("✕", "failed"))
    ended = fact_words(run["outcome"], "outcome") if run["outcome"] != "unknown" else "end not recorded"
    ended += "" if run["is_started"] else f", {NEVER_STARTED}"
    where = " ".join(filter(None, (text(run["repo"] or ""), link)))
    parts = [
        f"{html_parts.mark(run['agent'])} <b>{text(agent_name(run['agent']))}</b> {text(run['model'] or 'model not recorded')}",
        where,
        date,
        f'<b class="t-run-{look}">{sign} {text(ended)}</b>',
        f"<small>the record has no {_listed(lacks)}</small>" if lacks else "",
    ]
    return f'<p class="t-run-sub">{"<i>·</i>".join(f"<span>{part}</span>" for part in parts if part)}</p>'


def failure_html(run: Row) -> str:
    """Why the run did not complete, before all else; empty where it did."""
    if not run["reason"]:
        return ""
    said = one_line(run["failure_message"] or "")
    if inner := _INNER.search(said):
        said = f"{said[: inner.start('before')].rstrip(' -:{[')}: {inner['message']}".lstrip(": ")
    said = _SENTENCE.split(said, maxsplit=1)[0]
    blame = _BLAME.get(run["whose"] or "", "")
    why = f"{REASONS[run['reason']].label}{f': {blame}' if blame else ''}."
    return f'<p class="t-run-error">{f"<b>{text(said)}</b> " if said else ""}<span>{text(why)}</span></p>'


def strip_html(run: Row, verdict: Row | None) -> str:
    """At most six figures, each with what limits or explains it; one that is not known is left out."""
    boxes = [*filter(None, (_cost(run), _wall(run), _turns(run), _output(run), _claimed(run), _measured(verdict), _patch(run)))]
    if len(boxes) > MOST_FIGURES:
        boxes = [box for box in boxes if box[0] != "Output"]
    drawn = (
        f"<div><small>{label}</small><b{f' class={look}' if look else ''}>{text(value)}</b><span>{text(note)}</span></div>"
        for label, value, note, look in boxes
    )
    return f'<div class="t-run-strip">{"".join(drawn)}</div>' if boxes else ""


Box = tuple[str, str, str, str]
"""(label, value, note, class of the value)"""


def _cost(run: Row) -> Box | None:
    if run[BEST.column] is None:
        return None
    listed = run[LIST.column]
    if run[REPORTED.column] is None:
        return "Cost", best_cost(run), f"list price; {run_note(run, LIST.column) or 'none is reported'}", ""
    differs = listed is not None and brief.usd(listed) != brief.usd(run[REPORTED.column])
    beside = f"list price {bound_sign(run, LIST.column)}{brief.usd(listed)}" if differs else "the list price" if listed is not None else ""
    return "Cost", best_cost(run), run_note(run, REPORTED.column) or " · ".join(filter(None, ("reported", beside))), ""


def _wall(run: Row) -> Box | None:
    if run["duration_ms"] is None:
        return None
    note = ""
    if run["duration_api_own_ms"] is not None:
        api = f"API {brief.duration(run['duration_api_own_ms'])}"
        note = api if run["parallelism"] is None else f"{api}, {brief.ratio(run['parallelism'])}"
    elif run["active_ms"] is not None and run["active_ms"] != run["duration_ms"]:
        note = f"active {brief.duration(run['active_ms'])}"
    return "Wall time", brief.duration(run["duration_ms"]), note, ""


def _turns(run: Row) -> Box | None:
    each = run["cost_best_per_turn_usd"]
    note = f"{bound_sign(run, BEST.column, run['cost_best_bounds'])}{brief.usd(each)} each" if each is not None else ""
    return None if run["num_turns"] is None else ("Turns", f"{run['num_turns']:,}", note, "")


def _output(run: Row) -> Box | None:
    cached = f"; cache read {human(run['cache_read_share'], Unit.SHARE)}" if run["cache_read_share"] is not None else ""
    return (
        None
        if run["output_tokens"] is None
        else ("Output", f"{sign_of(run['tokens_basis'])}{run['output_tokens']:,}", f"tokens{cached}", "")
    )


def _claimed(run: Row) -> Box | None:
    if run["claimed_speedup"] is None:
        return None
    note = f"{_SCOPES.get(run['claimed_scope'], words(run['claimed_scope']))}, {evidence_words(run['claimed_evidence'])}"
    return "Claimed", brief.ratio(run["claimed_speedup"]), note, ""


def _measured(verdict: Row | None) -> Box | None:
    if not verdict:
        return None
    if verdict["measured_speedup"] is None:
        kind = verdict["measured_class"]
        return "Measured", _UNCOMPARED.get(kind, "not measured"), MEASURED_CLASSES.get(kind, ""), f"t-run-{kind}"
    about = (_SCOPES.get(verdict["measured_scope"], ""), verdict["benchmark"] or "", metric_words(verdict["metric"]))
    return "Measured", brief.ratio(verdict["measured_speedup"]), ", ".join(filter(None, about)), f"t-run-{verdict['verdict']}"


def _patch(run: Row) -> Box | None:
    files, more, less = (run[f"patch_{name}"] for name in ("files", "insertions", "deletions"))
    if files is None:
        return None
    if not files:
        return "Patch", "empty", "nothing was changed", ""
    return (
        "Patch",
        plural(files, "file") if more is None else f"+{more:,} {MINUS}{less or 0:,}",
        "" if more is None else plural(files, "file"),
        "",
    )


def cost_words(run: Row) -> str:
    """Why two costs of a run differ, in a line: `why $1.94 and not $2.13: regional endpoint`."""
    listed = "" if run[LIST.column] is None else f"{bound_sign(run, LIST.column)}{brief.usd(run[LIST.column])}"
    if run[REPORTED.column] is None:
        return f"{listed} at list prices, none reported"
    reported = brief.usd(run[REPORTED.column])
    if not listed or not run["cost_cause"]:
        return f"{reported} reported, {f'{listed} at list prices' if listed else 'no list price'}"
    cause = COST_CAUSES[CostCause(run["cost_cause"])].label
    return f"{reported}, as at list prices" if reported == listed else f"why {reported} and not {listed}: {cause}"


def token_words(run: Row) -> str:
    """`4.10M, 96.9% of the input read from the cache; the cache saved $11.68`."""
    total, cached, saved = run["total_tokens"], run["cache_read_share"], run["cache_saved_usd"]
    parts = [f"{sign_of(run['tokens_basis'])}{human(total, Unit.TOKENS)}" if total is not None else "not all known"]
    parts += [f"{human(cached, Unit.SHARE)} of the input read from the cache"] if cached is not None else []
    return ", ".join(parts) + (f"; the cache saved {brief.usd(saved)}" if saved is not None and saved > 0 else "")


def warning_html(run: Row, verdict: Row | None) -> str:
    """What keeps the figures above from being taken at their word; empty where nothing does."""
    said = []
    if verdict and verdict["scope_differs"] and verdict["measured_speedup"] is not None:
        claimed, measured = (_PARTS.get(verdict[name], words(verdict[name])) for name in ("claimed_scope", "measured_scope"))
        benchmark = f" ({verdict['benchmark']})" if verdict["benchmark"] else ""
        said.append(f"Claim and benchmark cover different parts: the claim is about {claimed}, the benchmark about {measured}{benchmark}.")
        if verdict["measured_vs_reference"]:
            gained = brief.ratio(verdict["measured_speedup"] / verdict["measured_vs_reference"])
            much = {"same": "the same", "faster": "less"}.get(verdict["reference_verdict"], "more")
            said.append(f"The reference patch gains {much} ({gained}).")
    if run["is_carried_over"]:
        api, wall = (brief.duration(run[name]) for name in ("duration_api_own_ms", "duration_ms"))
        said.append(f"{api} of API calls do not fit into a run of {wall}: cost and API time seem to include an earlier process.")
    if run["cost_best_bounds"]:
        kind = {"upper_bound": "an upper bound", "lower_bound": "a lower bound"}.get(run["cost_best_bounds"], "an estimate")
        said.append(f"The cost is {kind}: the log does not tell all tokens exactly.")
    return html_parts.warning(text(" ".join(said))) if said else ""


def claims_html(claims: Sequence[Row], run: Row) -> str:
    """Each claim with a figure: what it is about, its scope and evidence, and which one counts."""
    rows = []
    for claim in claims:
        if claim["kind"] != "quantified":
            continue
        counts = claim["ratio"] == run["claimed_speedup"] and claim["quote"] == run["claimed_quote"] and "this figure counts"
        about = [", ".join((_SCOPES.get(claim["scope"], words(claim["scope"])), evidence_words(claim["evidence"], claim["kind"])))]
        about += ["quoted from others"] if claim["origin"] == "cited" else []
        about += [claim["metric"]] if claim["metric"] not in ("time", "speed") else []
        subject = (claim["subject"] or "").replace("`", "")
        subject = subject if len(subject) > LEAST_SUBJECT else quoted(claim["quote"])
        figure = ratio(claim) if claim["ratio"] is not None else words(claim["direction"])
        told = " · ".join(filter(None, (*about, counts)))
        rows.append((not counts, f"<tr><th>{text(figure)}</th><td>{text(one_line(subject))}<small>{text(told)}</small></td></tr>"))
    drawn = [row for _, row in sorted(rows, key=lambda one: one[0])]
    table = '<table class="t-run-claims">{}</table>'
    shown, folded = drawn[:CLAIMS_SHOWN], drawn[CLAIMS_SHOWN:]
    more = f"<details><summary>{len(folded):,} more</summary>{table.format(''.join(folded))}</details>" if folded else ""
    return table.format("".join(shown)) + more if shown else ""


def changed_html(run: Row, files: Iterable[Row], *, has_text: bool) -> str:
    """What is known of the changes where the patch itself is not there: why, and the files."""
    if has_text:
        return ""
    if run["patch_files"] == 0:
        why = "Its patch is empty: nothing was changed."
    elif run["patch_sha256"]:
        why = "The text of its patch is not in the store: it was left out, or read by a version that did not keep it."
    else:
        why = "No patch in its folder."
    rows = list(files)
    listed = "".join(_changed(row) for row in rows[:FILES_SHOWN])
    rest = f"<li>{len(rows) - FILES_SHOWN:,} more</li>" if len(rows) > FILES_SHOWN else ""
    return f'<p class="t-cap">{why}</p>' + (f'<ul class="t-run-files">{listed}{rest}</ul>' if rows else "")


def _changed(row: Row) -> str:
    more, less = (f"{sign}{row[name]:,}" if row[name] is not None else "" for sign, name in (("+", "insertions"), (MINUS, "deletions")))
    return f'<li><code>{text(row["path"])}</code> <span class="t-diff-plus">{more}</span> <span class="t-diff-minus">{less}</span></li>'


def measured_html(run: Row, verdict: Row, values: Sequence[Row]) -> str:
    """The value that counts beside the baseline's and the reference's, as bars, and how the others turned out."""
    if verdict["measured_speedup"] is None:
        why = failure_words(verdict["failure"], verdict["why"]) or MEASURED_CLASSES.get(verdict["measured_class"], "")
        mine = "" if verdict["measured_candidate"] is None else f"{_quantity(verdict['measured_candidate'], verdict['unit'])}. "
        return f'<p class="t-cap">{text(f"{mine}Not compared with a baseline: {cut(why)}")}</p>'
    single = f'<p class="t-cap">{text(f"{SINGLE_RUNS[0].upper()}{SINGLE_RUNS[1:]}")}.</p>' if verdict["is_single_run"] else ""
    return _bars(run, verdict) + _others(values, verdict) + single


def measured_about(verdict: Row, values: Sequence[Row]) -> str:
    """`serving, mean time to first token in ms, lower is better; one run each`."""
    mine = next((value for value in values if value["base"] == "baseline" and _is_of(value, verdict)), None)
    named = " ".join(filter(None, (words(verdict["statistic"] or ""), metric_words(verdict["metric"]))))
    parts = [verdict["benchmark"] or "", f"{named} in {verdict['unit']}" if verdict["unit"] else named]
    parts += [f"{mine['better']} is better"] if mine and mine["better"] in ("lower", "higher") else []
    counts = (mine["n"], mine["base_n"]) if mine else (None, None)
    samples = f"{counts[0]:,} and {counts[1]:,} samples" if all(counts) and counts != (1, 1) else ""
    samples = "one run each" if not samples and verdict["is_single_run"] else samples
    return "; ".join(filter(None, (", ".join(filter(None, parts)), samples)))


def _is_of(value: Row, verdict: Row) -> bool:
    return value["candidate_value"] == verdict["measured_candidate"] and all(value[key] == verdict[key] for key in _VALUE)


def _bars(run: Row, verdict: Row) -> str:
    reached, gained = verdict["measured_vs_reference"], verdict["measured_speedup"]
    ends = [brief.ratio(verdict[key]) for key in ("measured_low", "measured_high") if verdict[key] is not None]
    interval = f" ({' to '.join(ends)})" if len(ends) == 2 else ""
    named = f"{brief.ratio(gained)}{interval} {_than(gained)} the baseline" if gained is not None else ""
    bars = [
        ("baseline", verdict["measured_baseline"], "", ""),
        ("this run", verdict["measured_candidate"], named, AGENTS[run["agent"]].colour if run["agent"] in AGENTS else "#7A7A7A"),
        (
            "reference",
            verdict["measured_reference"],
            f"this run reaches {brief.ratio(reached)} of it" if reached is not None else "",
            "",
        ),
    ]
    most = max((value for _, value, _, _ in bars if value is not None), default=0) or 1
    drawn = "".join(
        f'<dt>{name}</dt><dd><i style="width:{max(0.5, 62 * value / most):.1f}%{f";background:{colour}" if colour else ""}"></i>'
        f"<span>{text(_quantity(value, verdict['unit']))}{f'<small>{text(note)}</small>' if note else ''}</span></dd>"
        for name, value, note, colour in bars
        if value is not None and value >= 0
    )
    return f'<dl class="t-run-bars">{drawn}</dl>'


def _than(gained: float) -> str:
    return "of" if abs(gained - 1) < 0.005 else "faster than" if gained > 1 else "as good as"


def _quantity(value: float, unit: str | None) -> str:
    if unit == "ms":
        return brief.duration(value) if value >= 60_000 else f"{value / 1000:.2f} s" if value >= 1000 else f"{value:.4g} ms"
    return f"{value:,.0f} {unit or ''}".strip() if value >= 1000 else f"{value:.4g} {unit or ''}".strip()


def _others(values: Sequence[Row], verdict: Row) -> str:
    """How the other values with a comparable baseline turned out, by metric."""
    told: dict[str, Counter[str]] = {}
    for value in values:
        if value["base"] == "baseline" and value["ratio"] is not None and not _is_of(value, verdict):
            told.setdefault(value["metric"], Counter())[value["verdict"]] += 1
    parts = []
    for metric, found in sorted(told.items(), key=lambda item: (item[0] != verdict["metric"], -item[1].total()))[:4]:
        first, *rest = [f"{kind} in {count:,}" for kind, count in found.most_common()]
        parts.append(f"{metric_words(metric)} {first} of {found.total():,}{''.join(f', {one}' for one in rest)}")
    more = f"; and {plural(len(told) - 4, 'other metric')}" if len(told) > 4 else ""
    return f'<p class="t-cap">Other comparable values of this run: {text("; ".join(parts) + more)}.</p>' if parts else ""


def metric_words(metric: str | None) -> str:
    """`time to first token` for `ttft`."""
    return _METRICS.get(metric or "", words(metric or ""))


def more_html(commands: Mapping[str, str], *, has_patch: bool, is_measured: bool) -> str:
    """What would tell more of an only run. `commands`: how to ingest `results` and `runs`."""
    told = [
        ("A benchmark’s result", "puts a measured speedup beside the claim.", commands["results"], not is_measured),
        ("The patch", "in the run’s folder, as model_patch.diff, shows what was changed.", "", not has_patch),
        ("More runs", "bring the table by agent and the charts (from two runs on).", commands["runs"], True),
    ]
    drawn = (f"<li><b>{what}</b> {why}{f'<br><code>{text(how)}</code>' if how else ''}</li>" for what, why, how, is_so in told if is_so)
    return f'{part("What would tell more")}<ul class="t-run-more">{"".join(drawn)}</ul>'


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
