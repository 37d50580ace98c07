"""Which runs these are and why some failed, in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.queries.agents import AgentFigures
from app.text import brief
from app.text.html_parts import agent_name
from app.text.sentences import Said
from app.text.sentences.overview import coverage
from schemas.catalogue.cost_measures import BEST, CostMeasure
from schemas.catalogue.failures import ACCOUNT, AGENT, PERSON, PROVIDER, REASONS, SET_UP
from schemas.text import plural

CHANGED_BY = {AGENT: "by the agent itself", PROVIDER: "through network or provider", PERSON: "by a person"}

Row = Mapping[str, Any]


def listed(rows: Sequence[AgentFigures], measure: CostMeasure = BEST) -> Said:
    """How the runs of a list ended. `rows` are those of `app.queries.agents.agents`."""
    total = rows[0]
    ends = [
        f"**{total.completed:,} completed**" if total.completed or not total.unknown_ends else "",
        f"{total.failed + total.limited:,} failed or were cut short" if total.failed + total.limited else "",
        f"{total.never_started:,} never started" if total.never_started else "",
        f"of {total.unknown_ends:,} the end is unknown" if total.unknown_ends else "",
    ]
    agents = [row for row in rows if not row.is_all and not row.is_model]
    whose = agent_name(agents[0].agent) if len(agents) == 1 else f"{brief.number(len(agents))} agents"
    return Said(f"{plural(total.runs, 'run')} of {whose}: {brief.joined([part for part in ends if part])}.", "", coverage(total, measure))


def failures(facts: Row, reasons: Sequence[Row], agents: Sequence[AgentFigures]) -> Said:
    """How many runs failed, through whom, and what that cost. `facts` and `reasons` are those of `app.queries.failures`."""
    silent = [row for row in agents if not row.is_all and not row.is_model and row.unknown_ends]
    ends = [f"{agent_name(row.agent)}: {row.unknown_ends:,} of {row.started:,} logs do not say how the run ended" for row in silent[:2]]
    covers = "Reasons are read from the error texts by rules; what no rule knows stays unknown."
    covers += f" {'; '.join(ends)}: not counted." if ends else ""
    if not facts["failed"]:
        return Said(f"**None of the {plural(facts['runs'], 'run')} failed**{', as far as is known' if silent else ''}.", "", covers)
    outside = facts[SET_UP] + facts[ACCOUNT]
    parts = [(outside, "through set-up or account"), *((facts[key], words) for key, words in CHANGED_BY.items())]
    told = [(number, words) for number, words in sorted(parts, key=lambda part: -part[0]) if number][:2]
    failed = f"{facts['failed']:,} of {plural(facts['runs'], 'run')} did not complete"
    if told:
        number, words = told[0]
        failed += f", **{'all' if number == facts['failed'] else f'{number:,}'} of them {words}**"
        failed += f" and {told[1][0]:,} {told[1][1]}" if len(told) > 1 else ""
    costed = [row for row in reasons if row["cost_best_usd"]]
    second = f"{facts['never_started']:,} never started. " if facts["never_started"] else ""
    if costed:
        row = max(costed, key=lambda one: one["cost_best_usd"])
        amount = brief.usd(row["cost_best_usd"], row["cost_best_bounds"])
        second += f"{brief.runs(row['runs']).capitalize()} cost {amount} and ended with: {REASONS[row['reason']].label}."
    return Said(f"{failed}.", second.strip(), covers)
