"""Sentences and tables of the screen Runs: outcomes, reasons of failures, and the pane of a run.

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.queries import Row
from app.queries.agents import AgentFigures
from app.queries.filters import Filters
from app.queries.measured import Range
from app.text import html_parts
from app.text.agents import median_or_range
from app.text.claims import words
from app.text.formatting import (
    NAMELESS,
    NOT_MEASURED,
    NOT_RECORDED,
    UNKNOWN,
    UNKNOWN_NAME,
    agent_name,
    date_words,
    duration,
    model_words,
    short,
    usd,
)
from app.text.grids import measured_cell
from app.text.html_parts import Segment, anchor, link, mark
from app.text.overview import agents_of, coverage
from app.text.sentences import Said, joined, spelled
from app.text.summary import summary_html
from app.text.table import (
    Col,
    TextCell,
    TextTable,
    agent_and_model_cell,
    card,
    count,
    run_cell,
)
from schemas.catalogue.cost_measures import BEST, CostMeasure
from schemas.catalogue.failures import ACCOUNT, AGENT, PERSON, PROVIDER, REASONS, SET_UP, WHOSE
from schemas.catalogue.metrics import HIGH, LOW
from schemas.text import join_known, plural
from schemas.units import Unit

BARS = {
    SET_UP: "never_started",
    ACCOUNT: "never_started",
    AGENT: "failed",
    PERSON: "limited",
    PROVIDER: "limited",
}
LONGEST_BAR, MOST_COLUMNS = 160, 8
"""Pixels of a bar, and columns of a table; the rest share the last column."""

SUMMARY = 900


def listed(rows: Sequence[AgentFigures], measure: CostMeasure = BEST) -> Said:
    """Return how the listed runs ended. `rows`: those of `app.queries.agents.agents`."""
    total, agents = rows[0], agents_of(rows)
    ends = [
        f"**{total.completed:,} completed**" if total.completed or not total.unknown_ends else "",
        f"{total.failed + total.limited:,} failed or were cut short"
        if total.failed + total.limited
        else "",
        f"{total.never_started:,} never started" if total.never_started else "",
        f"{plural(total.unknown_ends, 'end')} not recorded" if total.unknown_ends else "",
    ]
    whose = agent_name(agents[0].agent) if len(agents) == 1 else f"{spelled(len(agents))} agents"
    return Said(
        f"{plural(total.runs, 'run')} of {whose}: {joined([*filter(None, ends)])}.",
        "",
        coverage(total, agents, measure),
    )


def failures(facts: Row, reasons: Sequence[Row], agents: Sequence[AgentFigures]) -> Said:
    """Return how many runs failed, who caused it, and the cost.

    `facts` and `reasons`: those of `app.queries.failures`.
    """
    silent = [row for row in agents_of(agents) if row.unknown_ends]
    ends = [
        (
            f"{agent_name(row.agent)}: {row.unknown_ends:,} of {row.started:,} logs do not say "
            "how the run ended"
        )
        for row in silent[:2]
    ]
    covers = "Reasons are read from the error texts by rules; what no rule knows stays unknown."
    covers += f" {'; '.join(ends)}: not counted." if ends else ""
    if not facts["failed"]:
        return Said(
            (
                f"**None of the {plural(facts['runs'], 'run')} "
                f"failed**{', as far as is known' if silent else ''}."
            ),
            "",
            covers,
        )
    parts = [
        (facts[SET_UP] + facts[ACCOUNT], "through set-up or account"),
        (facts[AGENT], "by the agent itself"),
        (facts[PROVIDER], "through network or provider"),
        (facts[PERSON], "by a person"),
    ]
    most = [
        (number, through) for number, through in sorted(parts, key=lambda part: -part[0]) if number
    ][:2]
    failed = f"{facts['failed']:,} of {plural(facts['runs'], 'run')} did not complete"
    if most:
        number, through = most[0]
        failed += f", **{'all' if number == facts['failed'] else f'{number:,}'} of them {through}**"
        failed += f" and {most[1][0]:,} {most[1][1]}" if len(most) > 1 else ""
    second = f"{facts['never_started']:,} never started. " if facts["never_started"] else ""
    if costed := [row for row in reasons if row["cost_best_usd"]]:
        row = max(costed, key=lambda one: one["cost_best_usd"])
        amount, label = (
            usd(row["cost_best_usd"], row["cost_best_bounds"]),
            REASONS[row["reason"]].label,
        )
        second += (
            f"{spelled(row['runs'], 'run').capitalize()} cost {amount} and ended with: {label}."
        )
    return Said(f"{failed}.", second.strip(), covers)


def found(texts: Sequence[Row]) -> str:
    """Return `5 texts in 384 runs; a click on one lists its runs.`."""
    return (
        f"{plural(len(texts), 'text')} in {plural(sum(row['runs'] for row in texts), 'run')}; a "
        "click on one lists its runs."
    )


def reason_table(reasons: Sequence[Row], total: Row, facts: Row, by: str, filters: Filters) -> str:
    """Return a row per reason with who caused it, counts by agent (or by `by`), a bar and the loss.

    The total comes last.
    """
    groups = [name for name, _ in total["columns"]]
    most, of = max(row["runs"] for row in reasons), f"of {facts['runs']:,}"

    def is_all(row: Row) -> bool:
        return row["reason"] is None

    def reason(row: Row) -> TextCell | str:
        if is_all(row):
            return "All"
        address = link("", filters, view="Failures", reason=row["reason"])
        return TextCell(REASONS[row["reason"]].label, address=address, kind="t-link")

    def group(names: Sequence[str | None], title: str) -> Col:
        def runs(row: Row) -> str:
            counts = dict(row["columns"])
            return count(sum(counts.get(name, 0) for name in names))

        is_agent = by == "agent" and len(names) == 1 and names[0]
        return Col(title, runs, "r w", mark=mark(names[0]) if is_agent else "")

    def title(name: str | None) -> str:
        return agent_name(name) if by == "agent" else name or NAMELESS.get(by, UNKNOWN_NAME)

    def runs(row: Row) -> TextCell:
        if is_all(row):
            return TextCell(strong=f"{row['runs']:,}", note=of)
        width = max(3, round(LONGEST_BAR * row["runs"] / most))
        kind = BARS.get(row["whose"], "unknown_ends")
        bar = html_parts.bar([Segment(kind, row["runs"], "runs")], width=width)
        return TextCell(f"{row['runs']:,}", mark=bar)

    def lost(row: Row) -> Range:
        ends = (row[f"lost_ms{end}"] for end in ("", LOW, HIGH))
        return Range(row["lost_ms_known"], *ends)

    def cost(row: Row) -> str:
        lacks = UNKNOWN if row["never_started_runs"] == row["runs"] else NOT_RECORDED
        return usd(row["cost_best_usd"], row["cost_best_bounds"], lacks)

    shown = [
        Col("Reason", reason),
        Col("Whose", lambda row: "" if is_all(row) else WHOSE[row["whose"]], "w"),
        *(group([name], title(name)) for name in groups[:MOST_COLUMNS]),
        *([group(groups[MOST_COLUMNS:], "others")] if groups[MOST_COLUMNS:] else []),
        Col("Runs", runs),
        Col(
            "Before it\nbegan",
            lambda row: count(row["never_started_runs"]),
            "r w",
        ),
        Col(
            "Lost wall time\n(median)",
            lambda row: median_or_range(lost(row), duration)[0],
            "r w",
        ),
        Col("Cost", cost, "r"),
    ]
    table = TextTable(shown, (*reasons, total), lambda row: "sum" if is_all(row) else "")
    return table.html(kind="t-grid t-reasons")


def text_table(reason: str, texts: Sequence[Row], filters: Filters) -> str:
    """Return error texts of a reason with their numbers masked; a click on one lists its runs."""
    places = {id(row): str(place) for place, row in enumerate(texts, 1)}

    def code(row: Row) -> TextCell:
        address = link("", filters, view="Failures", reason=reason, text=places[id(row)])
        kind = "t-link t-wrap t-wide-text t-code"
        return TextCell(row["text"] or "no error text", address=address, kind=kind)

    shown = (
        Col("Text (numbers and ids masked)", code),
        Col("Runs", lambda row: f"{row['runs']:,}", "r"),
    )
    return TextTable(shown, texts).html(kind="t-grid", frame="")


def run_list(runs: Sequence[Row], filters: Filters) -> str:
    """Return runs with one error text, each with a link to its page."""

    def wall(row: Row) -> str:
        return (
            duration(row["duration_ms"])
            if row["duration_ms"] is not None and row["is_started"]
            else UNKNOWN
        )

    shown = (
        Col("Run", lambda row: run_cell(row, filters)),
        Col("Agent, model", lambda row: agent_and_model_cell(row["agent"], row["model"], filters)),
        Col("Wall time", wall, "r w"),
        Col(
            "Cost",
            lambda row: usd(row["cost_best_usd"], row["cost_best_bounds"], UNKNOWN),
            "r",
        ),
        Col(
            "Date",
            lambda row: date_words(row["dated_at"]),
            "r w",
        ),
    )
    return TextTable(shown, runs).html()


def pane(run: Row, measured: tuple[str, float | None] | None, filters: Filters) -> str:
    """Return a run for the pane next to the list.

    Title, figures, error, and the beginning of its summary.
    """
    about = [
        model_words(run) or NAMELESS["model"],
        run["task_key"] or run["task"],
        date_words(run["dated_at"]),
        words(str(run["outcome"] or "unknown")),
    ]
    named = f'<span class="t-agent">{html_parts.marked_name(run["agent"])}</span>'
    title = f'<h2 class="t-h3">{html_parts.text(run["title"])}</h2>'
    title += f'<p class="t-cap">{named} {html_parts.text(join_known(" · ", *about))}</p>'
    figures = {
        "Cost": usd(run["cost_best_usd"], run["cost_best_bounds"], NOT_RECORDED),
        "Wall time": short(run["duration_ms"], Unit.MILLISECONDS, lacks=NOT_RECORDED),
        "Turns": short(run["num_turns"], Unit.COUNT, lacks=NOT_RECORDED),
        "Claimed": short(run["claimed_speedup"], Unit.RATIO, lacks="no speedup"),
        "Measured": (measured and measured_cell(*measured)) or NOT_MEASURED,
    }
    below, summary = "", run["result"] or ""
    if run["reason"]:
        label, message = REASONS[run["reason"]].label, run["failure_message"] or ""
        below = (
            '<p class="t-bad '
            f't-pane-text"><b>{html_parts.text(label)}</b><br>{html_parts.text(message)}</p>'
        )
    elif summary:
        begin = summary[:SUMMARY] + ("…" if len(summary) > SUMMARY else "")
        below = f'<div class="t-pane-text">{summary_html(begin)}</div>'
    open_ = anchor(
        link("run", filters, run=run["run_id"]),
        "Open the run: claims, patch, record",
        kind="t-link",
    )
    return f"{title}{card(figures)}{below}<p>{open_}</p>"
