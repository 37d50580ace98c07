"""The table of agents as HTML: outcome, cost, time, claims and measurements side by side, on a phone as one card per agent. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.queries.agents import AgentFigures
from app.queries.filters import Filters
from app.text import brief, html_parts
from app.text.html_parts import Segment, anchor, muted

SCOPES = {"micro": "micro-benchmark", "component": "one component", "end_to_end": "end to end"}
EVIDENCE = {"benchmarked": "method stated", "figures": "figures given", "estimated": "estimated"}

HEAD = (
    ("", "Agent, model"),
    ("r", "Runs"),
    ("", "Outcome"),
    ("r", "Never<br>started"),
    ("r", "Cost"),
    ("r", "per run<br>(median)"),
    ("r", "Wall time<br>(completed, median)"),
    ("r", "Claimed<br>(median)"),
    ("", "Measured"),
    ("r", "Cost per verified<br>speedup"),
)


_UNMEASURED = muted(brief.NOT_MEASURED)


def agent_table(rows: Sequence[AgentFigures], filters: Filters) -> str:
    """Rows of agents and models (`app.queries.agents.shown_rows`), for a wide page and for a phone, with the legend of their bars.

    Columns that no row has a value for are left out.
    """
    cells = [_cells(row, rows, filters) for row in rows]
    used = [place for place in range(len(HEAD)) if any(row[place] not in (brief.NO_VALUE, _UNMEASURED) for row in cells)]
    body = [("m" if row.is_model else "", [own[place] for place in used]) for row, own in zip(rows, cells, strict=True)]
    cards = "".join(_card(row, rows, filters) for row in rows if not row.is_model)
    agents = [row for row in rows if not row.is_model]
    outcomes = [(kind, label) for kind, label in html_parts.OUTCOMES.items() if any(getattr(row, kind) for row in agents)]
    counts = [_measured_counts(row) for row in agents]
    classes = [(kind, label) for kind, label in html_parts.MEASURED.items() if any(of[kind] for of in counts)]
    legend = html_parts.legend(("Outcome", outcomes), ("Measured", classes))
    table = html_parts.table([HEAD[place] for place in used], body)
    return f'<div class="t-wide">{table}{legend}</div><div class="t-phone">{cards}{legend}</div>'


def _cells(row: AgentFigures, rows: Sequence[AgentFigures], filters: Filters) -> list[str]:
    cost, known = brief.cost_cell(row)
    wall, few = brief.median(row.wall, brief.duration)
    claimed, few_claims = brief.median(row.claimed, brief.ratio)
    claims_n = few_claims or (f"n {row.claimed.known:,}" if row.claimed.known else "")
    completed, ended = brief.completed_words(row)
    faster, found = brief.measured_words(row)
    per_faster = row.cost_per_faster_usd
    mine = filters.with_values("agent", [row.agent]) if row.agent else filters
    measured_bar = _bar(row) if row.runs_measured else ""
    return [
        _name(row, rows, mine),
        f"{row.runs:,}",
        f'{html_parts.bar(_outcome(row), width=150)}<div class="t-bt"><b>{completed}</b>{html_parts.text(ended)}</div>',
        f"{row.never_started:,}" if row.never_started else brief.NO_VALUE,
        _or_muted(cost, known),
        brief.median_cost(row),
        _or_muted(wall, few),
        _or_muted(claimed, claims_n),
        f'{measured_bar}<div class="t-bt"><b>{faster}</b>{html_parts.text(found)}</div>' if measured_bar else muted(found),
        f"<b>{brief.usd(per_faster, row.bounds)}</b>" if per_faster is not None else brief.NO_VALUE,
    ]


def _or_muted(value: str, more: str) -> str:
    shown = muted(value) if value == brief.NOT_RECORDED else html_parts.text(value)
    return f"{shown} {muted(more)}" if more else shown


def _name(row: AgentFigures, rows: Sequence[AgentFigures], filters: Filters) -> str:
    if row.is_model:
        if row.model is None:
            return muted("model not recorded")
        return anchor(html_parts.link("", filters.with_values("main-model", [row.model])), html_parts.text(row.model), kind="t-plain")
    named = f"{html_parts.mark(row.agent)}{html_parts.text(html_parts.agent_name(row.agent))}"
    agent = f'<span class="t-agent">{anchor(html_parts.link("", filters), named, kind="t-plain t-agent") if row.agent else named}</span>'
    return f"{agent} {muted(_models(row, rows))}"


def _models(row: AgentFigures, rows: Sequence[AgentFigures]) -> str:
    """The model of an agent; how many where each has a row of its own, or where several have few runs."""
    if any(other.is_model and other.agent == row.agent for other in rows):
        named = sum(other.is_model and other.agent == row.agent and other.model is not None for other in rows)
        return f"{named} models"
    return "model not recorded" if row.model is None else row.model if row.models == 1 else f"{row.model}, +{row.models - 1}"


def _outcome(row: AgentFigures) -> list[Segment]:
    return [Segment(kind, getattr(row, kind), label) for kind, label in html_parts.OUTCOMES.items()]


def _measured_counts(row: AgentFigures) -> dict[str, int]:
    own = ("faster", "same", "slower", "breaks", "machine")
    return {key: row.measured[key] for key in own} | {"uncompared": row.runs_measured - sum(row.measured[key] for key in own)}


def _bar(row: AgentFigures) -> str:
    counts = _measured_counts(row)
    return html_parts.bar([Segment(kind, counts[kind], label) for kind, label in html_parts.MEASURED.items()], width=170)


def _card(row: AgentFigures, rows: Sequence[AgentFigures], filters: Filters) -> str:
    """The same figures of an agent as a card, both bars as wide as it is."""
    mine = filters.with_values("agent", [row.agent]) if row.agent else filters
    cells = dict(
        zip(("name", "runs", "", "never", "cost", "median", "wall", "claimed", "", "per"), _cells(row, rows, filters), strict=True)
    )
    completed, ended = brief.completed_words(row)
    faster, found = brief.measured_words(row)
    per_run = f" · {cells['median']} a run" if cells["median"] != brief.NO_VALUE else ""
    lines = {
        "Never started": cells["never"],
        "Cost": f"{cells['cost']}{per_run}",
        "Wall time, completed": cells["wall"],
        "Claimed, median": cells["claimed"],
        "Cost per verified speedup": cells["per"],
    }
    told = "".join(
        f'<div class="row"><span>{name}</span><span>{value}</span></div>' for name, value in lines.items() if value != brief.NO_VALUE
    )
    measured = f'{_bar(row)}<div class="t-bt"><b>{faster}</b>{html_parts.text(found)}</div>' if row.runs_measured else muted(found)
    return (
        f'<div class="t-card"><div class="row"><span>{_name(row, rows, mine)}</span>{muted(f"{row.runs:,} runs")}</div>'
        f'{html_parts.bar(_outcome(row))}<div class="t-bt"><b>{completed}</b>{html_parts.text(ended)}</div>{told}{measured}</div>'
    )


def runs_table(runs: Sequence[Mapping[str, Any]], filters: Filters) -> str:
    """A few runs with turns, tokens, cost per turn and claim; on a phone a card for each, which has its cost and time too."""
    head = (("", "Run"), ("", "Outcome"), ("r", "Turns"), ("r", "Output tokens"), ("r", "Cost per turn"), ("", "Claims in its summary"))
    rows, cards = [], []
    for run in runs:
        claim = "no number"
        if run["claimed_speedup"] is not None:
            about = [SCOPES.get(run["claimed_scope"] or ""), EVIDENCE.get(run["claimed_evidence"] or "")]
            claim = ", ".join([brief.ratio(run["claimed_speedup"]), *filter(None, about)])
        title = anchor(html_parts.link("run", filters, run=run["run_id"]), html_parts.text(run["title"]), kind="t-link")
        outcome = html_parts.text((run["outcome"] or "unknown").replace("_", " "))
        turns, tokens = (brief.NO_VALUE if run[key] is None else f"{run[key]:,}" for key in ("num_turns", "output_tokens"))
        per_turn = brief.NO_VALUE if run["per_turn_usd"] is None else brief.usd(run["per_turn_usd"], run["bound"])
        rows.append(("", [title, outcome, turns, tokens, per_turn, muted(claim)]))
        cost = muted(brief.NOT_RECORDED) if run["cost_usd"] is None else brief.usd(run["cost_usd"], run["bound"])
        wall = muted(brief.NOT_RECORDED) if run["duration_ms"] is None else brief.duration(run["duration_ms"])
        lines = {"Outcome": outcome, "Cost": cost, "Wall time": wall, "Turns": turns, "Claim": muted(claim)}
        told = "".join(f'<div class="row"><span>{name}</span><span>{value}</span></div>' for name, value in lines.items())
        cards.append(f'<div class="t-card">{title}{told}</div>')
    return f'<div class="t-wide">{html_parts.table(head, rows, kind="t-grid")}</div><div class="t-phone">{"".join(cards)}</div>'
