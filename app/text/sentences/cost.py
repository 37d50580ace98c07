"""Where money and hours went, in words: sums of agents and models with their bounds, and what is not recorded. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa

from app.queries.agents import ENOUGH, AgentFigures
from app.queries.cost import ListPrice, Times
from app.queries.usage import Usage
from app.text import brief
from app.text.columns import columns
from app.text.html_parts import agent_and_model
from app.text.sentences import Said
from app.text.sentences.overview import coverage
from schemas.catalogue.cost_measures import BEST, REPORTED, CostMeasure
from schemas.catalogue.usage import USAGE, WHOLE_RUNS
from schemas.text import plural

NAMED = 3
"""The most agents and models that a sentence names."""


def cost(rows: Sequence[AgentFigures], measure: CostMeasure = BEST) -> Said:
    """What the runs cost and which agent and model that went to. `rows` are those of `app.queries.agents.agents`."""
    total, parts = rows[0], [row for row in rows if row.is_model and row.started]
    told = sorted((row for row in parts if row.cost_usd is not None), key=lambda row: -(row.cost_usd or 0))
    silent = [(row.agent, row.model, row.started - row.cost.known) for row in parts if row.cost.known < row.started]
    why = "is not recorded" if measure is BEST else "is not reported" if measure is REPORTED else "at list prices is not known"
    if not total.started:
        subject = "The run never started" if total.runs == 1 else f"None of the {total.runs:,} runs started"
        return Said(f"{subject}, so **nothing was spent**.", "", coverage(total, measure))
    if not told or total.cost_usd is None:
        return Said(f"What {brief.runs(total.started)} cost **{why}**.", "", coverage(total, measure))
    whole, first = brief.usd(total.cost_usd, total.bounds), told[0]
    name, amount = agent_and_model(first.agent, first.model), brief.usd(first.cost_usd, first.bounds)
    is_first = len(told) == 1 or (first.cost_usd or 0) > (told[1].cost_usd or 0)
    if len(told) == 1:
        median = f", a median of {brief.median_cost(first)} each" if first.cost.known >= ENOUGH else ""
        heading = f"{brief.runs(first.cost.known).capitalize()} of {name} cost **{amount}**{median}."
    elif is_first and not total.bounds and not silent:
        part = brief.share(int((first.cost_usd or 0) * 10_000), int(total.cost_usd * 10_000)) if total.cost_usd * 10_000 >= 1 else ""
        heading = f"{name} cost **{amount}{f', {part}' if part else ''}** of the {whole} that all runs cost."
    else:
        parts_told = [f"{brief.usd(row.cost_usd, row.bounds)} by {agent_and_model(row.agent, row.model)}" for row in told[:NAMED]]
        if rest := told[NAMED:]:
            bounds = ", ".join(sorted({kind for row in rest for kind in row.bounds.split(", ") if kind}))
            together = brief.usd(sum((row.cost_usd or Decimal(0) for row in rest), Decimal(0)), bounds)
            parts_told.append(f"{together} by {'one other' if len(rest) == 1 else f'{brief.number(len(rest))} others'}")
        known = "" if not silent else " as far as is known"
        heading = f"{brief.runs(total.cost.known).capitalize()} cost **{whole}**{known}: {brief.joined(parts_told)}."
    return Said(heading, _silent(silent, f"cost {why}"), coverage(total, measure))


def _silent(rows: Sequence[tuple[str | None, str | None, int]], what: str) -> str:
    """`What 263 runs of Codex with gpt-5 and 7 of OpenHands cost is not recorded.`; empty where all is known."""
    if not rows:
        return ""
    rows = sorted(rows, key=lambda row: -row[2])
    named = [f"{number:,} of {agent_and_model(agent, model)}" for agent, model, number in rows[:NAMED]]
    named[0] = f"{plural(rows[0][2], 'run')} of {agent_and_model(*rows[0][:2])}"
    if rest := rows[NAMED:]:
        named.append(f"{sum(number for *_, number in rest):,} of others")
    return f"What {brief.joined(named)} {what}."


def time(rows: Sequence[Times], tasks: int = 0) -> Said:
    """How long the runs took and where the time went. `rows` are those of `app.queries.cost.times`."""
    total, parts = rows[0], [row for row in rows[1:] if row.known]
    of_tasks = f" of {plural(tasks, 'task')}" if tasks else ""
    covers = [f"**{plural(total.runs, 'run')}**{of_tasks}", f"{total.started:,} started", f"wall time known for **{total.known:,}**"]
    covered = " · ".join([*covers, f"completed **{total.completed:,}**"])
    if not total.started:
        return Said(
            "None of these runs started, so **none took any time**." if total.runs > 1 else "The run **never started**.", "", covered
        )
    if not parts or total.wall_ms is None:
        return Said(f"How long {brief.runs(total.started)} took is **not recorded**.", "", covered)
    first = parts[0]
    whole, name = brief.duration(total.wall_ms), agent_and_model(first.agent, first.model)
    if len(parts) == 1:
        usual = f"; a completed one takes {brief.duration(first.median or 0)} in the median" if first.timed >= ENOUGH else ""
        heading = f"{brief.runs(first.known).capitalize()} of {name} took **{whole}**{usual}."
    elif total.known == total.started and (first.wall_ms or 0) > (parts[1].wall_ms or 0):
        part = brief.share(first.wall_ms or 0, total.wall_ms)
        heading = f"{name} took **{brief.duration(first.wall_ms or 0)}, {part}** of the {whole} that all runs took."
    else:
        told = [f"{brief.duration(row.wall_ms or 0)} by {agent_and_model(row.agent, row.model)}" for row in parts[:NAMED]]
        if rest := parts[NAMED:]:
            others = brief.duration(sum(row.wall_ms or 0 for row in rest))
            told.append(f"{others} by {'one other' if len(rest) == 1 else f'{brief.number(len(rest))} others'}")
        known = "" if total.known == total.started else " as far as is known"
        heading = f"{brief.runs(total.known).capitalize()} took **{whole}**{known}: {brief.joined(told)}."
    lost = f"{brief.duration(total.lost_ms)} of it went into {plural(total.lost, 'run')} that did not complete." if total.lost_ms else ""
    return Said(heading, lost, covered)


def time_title(rows: Sequence[Times]) -> str:
    """`Half of the completed runs of Claude Code take up to 3m 04s, nine in ten up to 4m 15s`, of the agent with the most of them."""
    known = [row for row in rows if not row.is_all and row.timed >= 2 * ENOUGH]
    if not known:
        return "How long a run takes"
    most = max(known, key=lambda row: row.timed)
    half, nine = brief.duration(most.median or 0), brief.duration(most.p90 or 0)
    return f"Half of the completed runs of {agent_and_model(most.agent, most.model)} take up to {half}, nine in ten up to {nine}"


def list_title(rows: Sequence[ListPrice]) -> str:
    """`At list prices, 179 runs cost $169.23, $15.08 more than reported`."""
    listed, delta, runs = sum(row.list_usd for row in rows), sum(row.delta_usd for row in rows), sum(row.runs for row in rows)
    way = f"{brief.usd(abs(delta))} {'more' if delta > 0 else 'less'} than reported" if delta else "as reported"
    return f"At list prices, {brief.runs(runs)} cost {brief.usd(listed)}, {way}"


def sessions(used: Usage) -> Said:
    """`12 sessions made 4,321 billed responses: **≥ $176.20** at list prices, for ≥ 310M tokens.`."""
    [total] = used.total.to_pylist()
    told = {one.name: one.cell(total) for one in columns(pa.Table.from_pylist([dict(total)]), USAGE)}
    made = f"{plural(total['sessions'], 'session')} made {plural(total['responses'], 'billed response')}"
    cost = (
        f"**{told['cost_list_usd']}** at list prices, for " if total["cost_list_usd"] is not None else "at prices that are not known, for "
    )
    alone = f" · {plural(total[WHOLE_RUNS], 'run')} without responses" if total[WHOLE_RUNS] else ""
    return Said(
        f"{made}: {cost}{told['total_tokens']} tokens.",
        "",
        f"**{plural(total['sessions'], 'session')}**{alone} · each response at its own time (UTC)",
    )
