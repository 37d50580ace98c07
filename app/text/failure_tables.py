"""The tables of the view Failures as HTML: reasons, the error texts of one, and their runs; and a run beside the list. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.queries.filters import Filters
from app.text import brief, html_parts
from app.text.formatting import UNKNOWN_NAME
from app.text.html_parts import MEASURED, Segment, agent_link, agent_name, anchor, link, mark, muted
from app.text.summary_html import summary_html
from schemas.catalogue.failures import ACCOUNT, AGENT, PERSON, PROVIDER, REASONS, SET_UP, WHOSE
from schemas.text import plural

BARS = {SET_UP: "never_started", ACCOUNT: "never_started", AGENT: "failed", PERSON: "limited", PROVIDER: "limited"}
LONGEST, MOST_COLUMNS = 160, 8
"""Pixels of the longest bar; columns beyond these are one."""

SUMMARY = 900
"""Characters of a summary beside the list."""

Row = Mapping[str, Any]


def reason_table(reasons: Sequence[Row], total: Row, facts: Row, by: str, filters: Filters) -> str:
    """A row per reason: whose it is, runs by agent (or what `by` says), a bar of the runs, and what was lost; all of them last."""
    groups = [name for name, _ in total["columns"]]
    shown, rest = groups[:MOST_COLUMNS], groups[MOST_COLUMNS:]
    head = [("", "Reason"), ("w", "Whose"), *(("r w", _group(name, by)) for name in shown), *([("r w", "others")] if rest else [])]
    head += [("", "Runs"), ("r", "Before it<br>began"), ("r w", "Lost wall time<br>(median)"), ("r", "Cost")]
    most, of = max(row["runs"] for row in reasons), f"of {facts['runs']:,}"
    made = []
    for row in (*reasons, total):
        counts = dict(row["columns"])
        cells = [counts.get(name, 0) for name in shown] + ([sum(counts.get(name, 0) for name in rest)] if rest else [])
        is_all = row["reason"] is None
        reason = "All" if is_all else REASONS[row["reason"]].label
        name = (
            reason if is_all else anchor(link("", filters, view="Failures", reason=row["reason"]), html_parts.text(reason), kind="t-link")
        )
        bar = html_parts.bar(
            [Segment(BARS.get(row["whose"], "unknown_ends"), row["runs"], "runs")], width=max(3, round(LONGEST * row["runs"] / most))
        )
        runs = f"<b>{row['runs']:,}</b> {muted(of)}" if is_all else f'<span class="t-agent">{bar}{row["runs"]:,}</span>'
        made.append(
            (
                "sum" if is_all else "",
                [
                    name, "" if is_all else WHOSE[row["whose"]], *(f"{cell:,}" if cell else brief.NO_VALUE for cell in cells), runs,
                    f"{row['never_started_runs']:,}" if row["never_started_runs"] else brief.NO_VALUE,
                    brief.NO_VALUE if row["lost_ms"] is None else brief.duration(row["lost_ms"]), _cost(row),
                ],
            )
        )  # fmt: skip
    return f'<div class="t-scroll">{html_parts.table(head, made, kind="t-grid t-reasons")}</div>'


def _group(name: str, by: str) -> str:
    if by == "agent" and name:
        return f'<span class="t-agent">{mark(name)}{html_parts.text(agent_name(name))}</span>'
    return f"<b>{html_parts.text(name or UNKNOWN_NAME)}</b>"


def _cost(row: Row) -> str:
    if row["cost_best_usd"] is not None:
        return brief.usd(row["cost_best_usd"], row["cost_best_bounds"])
    return brief.NO_VALUE if row["never_started_runs"] == row["runs"] else muted(brief.NOT_RECORDED)


def text_table(reason: str, texts: Sequence[Row], filters: Filters) -> str:
    """The error texts of a reason with their numbers masked; a click on one lists its runs."""

    def code(words: str | None) -> str:
        return f"<code>{html_parts.text(words or 'no error text')}</code>"

    rows = [
        (
            "",
            [
                anchor(
                    link("", filters, view="Failures", reason=reason, text=str(place)), code(row["text"]),
                    kind="t-link t-wrap t-wide-text",
                ),
                f"{row['runs']:,}",
            ],
        )
        for place, row in enumerate(texts, 1)
    ]  # fmt: skip
    return html_parts.table([("", "Text (numbers and ids masked)"), ("r", "Runs")], rows, kind="t-grid")


def run_list(runs: Sequence[Row], filters: Filters) -> str:
    """Runs with one error text, each with a link to its page."""
    head = [("", "Run"), ("", "Agent, model"), ("r w", "Wall time"), ("r", "Cost"), ("r w", "Date")]
    rows = [
        (
            "",
            [
                anchor(link("run", filters, run=row["run_id"]), html_parts.text(row["title"]), kind="t-link"),
                agent_link(row["agent"], row["model"], filters),
                brief.duration(row["duration_ms"]) if row["duration_ms"] is not None and row["is_started"] else brief.NO_VALUE,
                brief.NO_VALUE if row["cost_best_usd"] is None else brief.usd(row["cost_best_usd"], row["cost_best_bounds"]),
                f"{row['dated_at']:%Y-%m-%d}" if row["dated_at"] else muted("no date"),
            ],
        )
        for row in runs
    ]
    return f'<div class="t-scroll">{html_parts.table(head, rows)}</div>'


def pane(run: Row, measured: tuple[str, float | None] | None, filters: Filters) -> str:
    """A run beside the list: what it is, its figures, its error, and the beginning of its summary."""
    about = [
        run["model"] or "model not recorded",
        run["task_key"] or run["task"],
        f"{run['dated_at']:%Y-%m-%d}" if run["dated_at"] else "no date",
    ]
    figures = {
        "Cost": brief.NOT_RECORDED if run["cost_best_usd"] is None else brief.usd(run["cost_best_usd"], run["cost_best_bounds"]),
        "Wall time": brief.NOT_RECORDED if run["duration_ms"] is None else brief.duration(run["duration_ms"]),
        "Turns": brief.NOT_RECORDED if run["num_turns"] is None else f"{run['num_turns']:,}",
        "Claimed": "no speedup" if run["claimed_speedup"] is None else brief.ratio(run["claimed_speedup"]),
        "Measured": brief.NOT_MEASURED,
    }
    if measured:
        kind, speedup = measured
        figures["Measured"] = brief.ratio(speedup) if speedup is not None else MEASURED.get(kind, kind.replace("_", " "))
    lines = "".join(f'<div class="row"><span>{name}</span><span>{html_parts.text(value)}</span></div>' for name, value in figures.items())
    error = ""
    if run["reason"]:
        label, message = REASONS[run["reason"]].label, run["failure_message"] or ""
        error = f'<p class="t-bad t-pane-text"><b>{html_parts.text(label)}</b><br>{html_parts.text(message)}</p>'
    summary, told = run["result"] or "", ""
    if summary and not run["reason"]:
        cut = "…" if len(summary) > SUMMARY else ""
        told = f'<div class="t-pane-text">{summary_html(summary[:SUMMARY] + cut)}</div>'
    open_ = anchor(link("run", filters, run=run["run_id"]), "Open the run: claims, patch, record", kind="t-link")
    named = f'<span class="t-agent">{mark(run["agent"])}{html_parts.text(agent_name(run["agent"]))}</span>'
    said = html_parts.text(" · ".join([*filter(None, about), str(run["outcome"] or "unknown").replace("_", " ")]))
    title = f'<h2 class="t-h3">{html_parts.text(run["title"])}</h2><p class="t-cap">{named} {said}</p>'
    return f'{title}<div class="t-card">{lines}</div>{error}{told}<p>{open_}</p>'


def found(texts: Sequence[Row]) -> str:
    """`5 texts in 384 runs; a click on one lists its runs.`."""
    return f"{plural(len(texts), 'text')} in {plural(sum(row['runs'] for row in texts), 'run')}; a click on one lists its runs."
