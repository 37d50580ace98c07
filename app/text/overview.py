"""Sentences, titles, cautions and the table of a few runs of the screen Overview. Pure.

Rows are those of `app.queries.agents.agents`: all runs in the first, then agents, then models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.queries.agents import ENOUGH, AgentFigures
from app.queries.filters import Filters
from app.text import html_parts
from app.text.agents import doubts, range_words
from app.text.answers import undated_cost
from app.text.claims import words
from app.text.formatting import (
    BOUND_NAMES,
    NOT_RECORDED,
    agent_name,
    duration,
    model_name,
    ratio,
    short,
    usd,
)
from app.text.sentences import Said, joined, none_or, spelled, upper_first
from app.text.table import Col, TextCell, TextTable, run_cell
from schemas.catalogue.cost_measures import BEST, LIST, CostMeasure
from schemas.text import agreeing, plural
from schemas.units import Unit

if TYPE_CHECKING:
    from app.queries.reading import Undated

TWO_LINES = 175
"""Characters of a heading that fit into two lines on a wide page."""

MOST_NAMED = 3

ENOUGH_PAIRS = 3

NONE_CHECKED = "No checked claim is about the part that was measured"


def agents_of(rows: Sequence[AgentFigures]) -> list[AgentFigures]:
    """Return only the rows of single agents, not of all runs or models."""
    return [row for row in rows if not row.is_all and not row.is_model]


def overview(rows: Sequence[AgentFigures], measure: CostMeasure = BEST) -> Said:
    """Return the first lines of a screen or report about these runs."""
    total, agents = rows[0], agents_of(rows)
    covers = coverage(total, measure)
    if not total.runs and total.cost_usd is not None:
        return Said(only_spent(total), "", covers)
    if total.faster:
        heading = f"{_faster(agents)} {_without_speedup(agents)}".strip()
    elif total.comparable:
        whose = f" of {agent_name(agents[0].agent)}" if len(agents) == 1 else ""
        if total.comparable == 1:
            heading = (
                f"The one run{whose} that can be compared with a baseline **did not become "
                "faster**."
            )
        else:
            heading = (
                f"**None of the {total.comparable:,} runs**{whose} that can be compared with a "
                "baseline became faster."
            )
    else:
        heading = _spent(total, agents)
        if total.claimed.known:
            claims = _claimed(total)
            if len(heading) + len(claims) > TWO_LINES:
                return Said(heading, claims, covers)
            heading = f"{heading} {claims}"
    sure = doubts(total.faster, total.beyond_noise, total.disputed, total.not_by_median)
    return Said(heading, " ".join(filter(None, (sure, _checked(total, agents)))), covers)


def only_spent(total: AgentFigures) -> str:
    """Return what was spent in a period in which no run ended."""
    return f"**{usd(total.cost_usd, total.bounds)}** was spent by runs that ended at another time."


def _faster(agents: Sequence[AgentFigures]) -> str:
    """Return how often agents were measured faster, of one agent also for how much.

    `Claude Code was measured faster in 12 of 71 comparable runs, **beyond noise in 1**, for
    $154.15.`
    """
    found = sorted((row for row in agents if row.faster), key=lambda row: -row.faster)
    first = found[0]
    said = (
        f"{agent_name(first.agent)} was measured faster in "
        f"{first.faster:,} of {plural(first.comparable, 'comparable run')}"
    )
    if len(found) == 1:
        cost = "at a cost that is not known"
        if first.cost_usd is not None and first.is_cost_known:
            cost = f"for {usd(first.cost_usd, first.bounds)}"
        return f"{said}, **beyond noise in {first.beyond_noise or 'none'}**, {cost}."
    others = [
        f"{agent_name(row.agent)} in {row.faster:,} of {row.comparable:,}"
        for row in found[1:MOST_NAMED]
    ]
    if rest := found[MOST_NAMED:]:
        others.append(
            f"{plural(len(rest), 'other agent')} in {sum(row.faster for row in rest):,} of "
            f"{sum(row.comparable for row in rest):,}"
        )
    beyond = sum(row.beyond_noise for row in found)
    return f"{joined([said, *others])}, **beyond noise in {beyond or 'none'}**."


def _without_speedup(agents: Sequence[AgentFigures]) -> str:
    """Return a sentence on agents without a run measured faster.

    For a single agent, the results of its claims.
    """
    others = [row for row in agents if not row.faster]
    if not others:
        return "" if len(agents) > 1 else held_words(agents[0])
    whom, their = (
        (agent_name(others[0].agent), "its") if len(others) == 1 else ("the other agents", "their")
    )
    comparable, measured = (
        sum(row.comparable for row in others),
        sum(row.runs_measured for row in others),
    )
    if comparable:
        return f"None of the {plural(comparable, 'comparable run')} of {whom} became faster."
    if measured:
        none = (
            f"none of {their} {measured:,} measured runs can"
            if measured > 1
            else f"{their} one measured run cannot"
        )
        return f"What {whom} achieved is unknown: {none} be compared."
    return f"No run of {whom} was measured."


def _spent(total: AgentFigures, agents: Sequence[AgentFigures]) -> str:
    """Return a sentence with cost, share completed and time.

    Example: `Three runs of Claude Code cost **$2.83** and took 10m 09s in all.`
    """
    whose = agent_name(agents[0].agent) if len(agents) == 1 else f"{spelled(len(agents))} agents"
    subject = upper_first(f"{spelled(total.runs, 'run')} of {whose}")
    if not total.started:
        return (
            f"{subject}: **none of them started**."
            if total.runs > 1
            else f"{subject}: **it never started**."
        )
    cost = "cost **an amount that is not recorded**"
    if total.cost_usd is not None:
        partly = (
            ""
            if total.is_cost_known
            else f" as far as is known ({total.cost.known:,} of {total.started:,} that started)"
        )
        cost = f"cost **{usd(total.cost_usd, total.bounds)}**{partly}"
    if total.wall_ms is not None and total.runs <= 12 and total.claimed.known:
        return f"{subject} {cost} and took {duration(total.wall_ms)} in all."
    if not total.known_ends:
        return f"{subject} {cost}; how they ended is unknown."
    of = (
        f"{total.known_ends:,}"
        if not total.unknown_ends
        else f"{total.known_ends:,} with a known end"
    )
    wall = (
        f", in a median of {duration(total.wall.median or 0)}" if total.wall.known >= ENOUGH else ""
    )
    return f"{subject} {cost}; {total.completed:,} of {of} completed{wall}."


def _claimed(total: AgentFigures) -> str:
    """Return `One claims a speedup, 3.17×; none was measured.`."""
    known = total.claimed.known
    if known == 1:
        claim = (
            f"{'It claims' if total.runs == 1 else 'One claims'} a speedup, "
            f"{ratio(total.claimed.median or 0)}"
        )
    else:
        claim = (
            f"{upper_first(spelled(known))} claim a speedup, {range_words(total.claimed, ratio)}"
        )
    if total.runs_measured:
        return f"{claim}; none of the {total.runs_measured:,} measured can be compared."
    return f"{claim}; {'nobody measured it' if total.runs == 1 else 'none was measured'}."


def held_words(row: AgentFigures) -> str:
    """Return how many of the claims about the measured part held.

    `None of 13 checked claims held.`; "" without such a claim.
    """
    if row.same_part == 1:
        return f"The one checked claim {'held' if row.held else 'did not hold'}."
    return f"{none_or(row.held)} of {row.same_part:,} checked claims held." if row.same_part else ""


def other_part_words(row: AgentFigures) -> str:
    """Return a sentence on checked claims about another part than was measured; "" without any.

    Such claims prove nothing.
    """
    if not row.other_part:
        return ""
    many, more = row.other_part > 1, " more" if row.same_part else ""
    held = (
        f"{spelled(row.other_held) if row.other_held else 'none'} of them"
        if many
        else "it"
        if row.other_held
        else "it has not"
    )
    subject = f"{upper_first(spelled(row.other_part))}{more} {'are' if many else 'is'}"
    return f"{subject} about another part than the benchmark: {held} held."


def _checked(total: AgentFigures, agents: Sequence[AgentFigures]) -> str:
    """Return the results of claims with a comparable measurement, or "" without any."""
    if not total.checked:
        return ""
    claimants = [row for row in agents if row.same_part]
    whose = f"{agent_name(claimants[0].agent)}'s" if len(claimants) == 1 else "the"
    kinds = [
        (total.more, "promised more than was measured"),
        (total.less, "promised less"),
        (total.wrong, "became slower"),
    ]
    if not total.same_part:
        return f"{NONE_CHECKED}. {other_part_words(total)}"
    if total.same_part == 1:
        became = next(what for number, what in ((total.held, "held"), *kinds) if number)
        has = (
            "is about the part that was measured"
            if total.other_part
            else "has a comparable measurement"
        )
        return f"Of {whose} claims, one {has}: it {became}. {other_part_words(total)}".rstrip()
    became = joined(
        [
            f"{none_or(total.held).lower()} held",
            *(f"{number:,} {what}" for number, what in kinds if number),
        ]
    )
    return (
        f"Of {whose} {total.same_part:,} checked claims, {became}. {other_part_words(total)}"
    ).rstrip()


def coverage(total: AgentFigures, measure: CostMeasure = BEST) -> str:
    """Return the numbers of runs, tasks, started runs, known costs and measured runs.

    Example: `**1,487 runs** of 179 tasks · 986 started · cost known for **714** (…) · measured
    **356**, comparable **71**`.
    """
    parts = [
        f"**{plural(total.runs, 'run')}**"
        + (f" of {plural(total.tasks, 'task')}" if total.tasks else "")
    ]
    if total.never_started:
        parts.append(f"{total.started:,} started")
    if total.started:
        kinds = []
        if measure is BEST and total.cost.known:
            listed = total.cost.known - total.reported
            kinds = [f"{total.reported:,} reported", f"{listed:,} at list prices"]
            if not (total.reported and listed):
                kinds = ["all reported" if total.reported else "all at list prices"]
        if total.bounded:
            bound = BOUND_NAMES.get(total.bounds, "bounds or estimates")
            kinds.append(
                f"{total.bounded:,} of these {bound}"
                if total.bounded > 1
                else f"one of these {bound[:-1]}"
            )
        name = "cost" if measure is BEST else measure.name
        parts.append(
            f"{name} known for **{total.cost.known:,}**"
            + (f" ({', '.join(kinds)})" if kinds else "")
        )
    if total.at_end is not None:
        whole = f", of {plural(total.at_end, 'run')} without responses at the end"
        parts.append(f"money when it was spent{whole if total.at_end else ''}")
    if total.runs_measured:
        by_rule = (
            " (others by ISO-Bench's own rule: Speedups, verdicts --rule iso)"
            if total.rated > total.comparable
            else ""
        )
        parts.append(
            f"measured **{total.runs_measured:,}**, comparable **{total.comparable:,}**{by_rule}"
        )
    if total.asked:
        parts.append(f"model of {total.asked:,} only as asked for")
    if total.undated:
        parts.append(f"{total.undated:,} without a date")
    return " · ".join(parts)


def few_runs(rows: Sequence[AgentFigures], measure: CostMeasure = BEST) -> Said:
    """Return the same for a few runs of one agent.

    The second line has its model and the facts that these logs lack.
    """
    total, said = rows[0], overview(rows, measure)
    models = [row.model for row in rows if row.is_model and row.model]
    cost = (
        ""
        if total.cost_usd is None
        else "cost reported by the agent"
        if total.reported == total.cost.known
        else "cost at list prices"
    )
    cost = measure.name if measure is not BEST and cost else cost
    lacks = joined(
        [
            what
            for what, is_lacking in (
                ("dates", total.undated == total.runs),
                ("tasks", not total.tasks),
            )
            if is_lacking
        ]
    )
    ends = f"{total.completed} completed" if total.completed else ""
    parts = [*models[:3], ends, cost, f"no {lacks} in these records" if lacks else ""]
    return Said(said.heading, said.second, " · ".join(filter(None, parts)))


def panel_titles(rows: Sequence[AgentFigures]) -> list[str]:
    """Return the titles above the bars of a few runs.

    `$0.76 to $1.21 a run`, `2m 45s to 4m 14s`, `One claims 3.17×`.
    """
    total = rows[0]
    cost = dict.fromkeys(
        usd(value, total.bounds) for value in (total.cost.low, total.cost.high) if value is not None
    )
    wall = dict.fromkeys(
        duration(value) for value in (total.wall.low, total.wall.high) if value is not None
    )
    claims = (
        f"{total.claimed.known or 'None'} {'claim' if total.claimed.known else 'claims'} a speedup"
    )
    if total.claimed.known == 1:
        claims = f"One claims {ratio(total.claimed.median or 0)}"
    return [
        f"{' to '.join(cost)} a run" if cost else "Cost not recorded",
        " to ".join(wall) or "None completed",
        claims,
    ]


def cost_title(named: Sequence[AgentFigures], rows: Sequence[AgentFigures]) -> str:
    """Return `A run of Claude Code costs $0.84; of TRAE on gpt-5, $0.44`.

    Two agents with enough exact costs, or one of their models.

    `named`: the rows to speak of, some of all `rows`.
    """
    known = [
        row
        for row in named
        if not row.is_all and row.cost.known >= ENOUGH and not row.median_bounds and row.cost.median
    ]
    said = [(_on(row, rows), usd(row.cost.median)) for row in _first_of_agents(known)]
    if not said:
        return "What a run costs"
    return f"A run of {said[0][0]} costs {said[0][1]}" + "".join(
        f"; of {name}, {cost}" for name, cost in said[1:]
    )


def time_title(named: Sequence[AgentFigures], rows: Sequence[AgentFigures]) -> str:
    """Return `Claude Code finishes in 3m 04s, TRAE in 19m 26s`.

    It names agents with enough completed runs.
    """
    known = [
        row for row in named if not row.is_all and row.wall.known >= ENOUGH and row.wall.median
    ]
    said = [(_on(row, rows), duration(row.wall.median or 0)) for row in _first_of_agents(known)]
    if not said:
        return "How long a run takes"
    return f"{said[0][0]} finishes in {said[0][1]}" + "".join(
        f", {name} in {wall}" for name, wall in said[1:]
    )


def _first_of_agents(rows: Sequence[AgentFigures]) -> list[AgentFigures]:
    return list({row.agent: row for row in reversed(rows)}.values())[::-1][:2]


def _on(row: AgentFigures, rows: Sequence[AgentFigures]) -> str:
    """Return an agent, with its model if it has several.

    The model alone if there is only one agent.
    """
    is_one_of_many = (
        row.is_model and sum(other.is_model and other.agent == row.agent for other in rows) > 1
    )
    if not is_one_of_many or not row.model:
        return agent_name(row.agent)
    is_only = len({other.agent for other in rows if not other.is_all}) == 1
    name = model_name(row.model)
    return name if is_only else f"{agent_name(row.agent)} on {name}"


def claims_title(total: AgentFigures) -> str:
    """Return `13 runs claim a speedup; none was measured`."""
    subject = (
        "One run claims a speedup"
        if total.claimed.known == 1
        else f"{total.claimed.known:,} runs claim a speedup"
    )
    checked = (
        f"{total.checked:,} can be checked"
        if total.checked
        else f"none {'can be checked' if total.runs_measured else 'was measured'}"
    )
    return f"{subject}; {checked}"


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning for readers who quote a figure.

    `label`, `page`, `more` and `agent` make the link to the details.
    """

    words: str
    label: str
    page: str
    more: tuple[tuple[str, str], ...] = ()
    agent: str | None = None


def another_price(found: Mapping[str, Any], measure: CostMeasure = BEST) -> str:
    """Return a sentence on costs at the price of another model, or "" if no such cost counts.

    The costs are those of `app.queries.cost.at_another_price`.
    """
    if measure is LIST or not found["another_runs"]:
        return ""
    return (
        f"{usd(found['another_usd'])} reported for {plural(found['another_runs'], 'run')} is at "
        f"the price of another model: {usd(found['another_list_usd'])} at list prices"
    )


def cautions(
    rows: Sequence[AgentFigures],
    reasons: Sequence[tuple[str, int]],
    largest: Sequence[tuple[str, str, float]],
    undated: Undated,
    another: str,
) -> list[Caution]:
    """Return up to four cautions, the gravest first.

    `reasons`: why runs never started; `largest`: id, title, ratio of the fastest runs; `undated`:
    the runs without a date; `another`: of `another_price`.
    """
    total, agents = rows[0], agents_of(rows)
    found: list[Caution] = [Caution(another, "Cost & time", "cost")] if another else []
    if total.never_started:
        most = max(agents, key=lambda row: row.never_started)
        whose = (
            f"; {most.never_started:,} are of {agent_name(most.agent)}"
            if len(agents) > 1 and total.never_started > 1
            else ""
        )
        why = ", ".join(
            f"{label[0].lower()}{label[1:]} ({number:,})" for label, number in reasons[:3]
        )
        never = (
            f"{plural(total.never_started, 'run')} never started{f': {why}' if why else ''}{whose}"
        )
        found.append(Caution(never, "Failures", "runs", (("view", "Failures"),)))
    for row in agents:
        if row.bounded and row.cost_usd is not None and row.bounded_usd is not None:
            name, kind = agent_name(row.agent), BOUND_NAMES.get(row.bounds, "bounds or estimates")
            bounded = (
                f"All {row.bounded:,} costs of {name} are {kind}"
                if row.bounded > 1
                else f"The only cost of {name} is one of {kind}"
            )
            if row.bounded < row.cost.known:
                bounded = (
                    f"{usd(row.bounded_usd)} of {name}'s {usd(row.cost_usd)} are "
                    f"{kind}: the logs tell no exact tokens"
                )
            found.append(Caution(bounded, "Cost & time", "cost", (), row.agent))
    for row in agents:
        if row.unknown_ends:
            cost = (
                ", and none says what it cost"
                if row.cost_usd is None and row.unknown_ends > 1
                else ""
            )
            ends = (
                f"{agent_name(row.agent)}: {row.unknown_ends:,} of {plural(row.started, 'log')} "
                f"do not say how the run ended{cost}"
            )
            found.append(Caution(ends, "Data", "data", (), row.agent))
    if undated.runs:
        are = agreeing(undated.runs, "is")
        found.append(
            Caution(
                (
                    f"{plural(undated.runs, 'run')} without a date{undated_cost(undated)} {are} "
                    "in no month"
                ),
                "Data",
                "data",
            )
        )
    if len(largest) > 1 and largest[0][2] > 1.5 * largest[1][2]:
        run_id, title, fastest = largest[0]
        alone = (
            f"The largest measured speedup, {ratio(fastest)}, is that of one run; the next "
            f"is {ratio(largest[1][2])}"
        )
        found.append(Caution(f"{alone}: look at it first", title, "run", (("run", run_id),)))
    return found[:4]


def cautions_html(found: Sequence[Caution], filters: Filters) -> str:
    """Return cautions as a list, each with a link to its details; "" without any."""
    items = ""
    for one in found:
        of = filters.with_values("agent", [one.agent]) if one.agent else filters
        to = html_parts.anchor(
            html_parts.link(one.page, of, **dict(one.more)), html_parts.text(one.label)
        )
        items += f"<li><span>{html_parts.text(one.words)}</span>{to}</li>"
    return (
        f'<h2 class="t-h3">Before you quote these figures</h2><ul class="t-look">{items}</ul>'
        if items
        else ""
    )


def runs_table(runs: Sequence[Mapping[str, Any]], filters: Filters) -> TextTable:
    """Return a few runs with cost, time, turns, tokens, cost per turn and claim."""
    scopes = {"micro": "micro-benchmark", "component": "one component", "end_to_end": "end to end"}
    evidence = {
        "benchmarked": "method stated",
        "figures": "figures given",
        "estimated": "estimated",
    }

    def claim(run: Mapping[str, Any]) -> TextCell:
        if run["claimed_speedup"] is None:
            return TextCell(note="no number")
        about = [
            scopes.get(run["claimed_scope"] or ""),
            evidence.get(run["claimed_evidence"] or ""),
        ]
        return TextCell(note=", ".join([ratio(run["claimed_speedup"]), *filter(None, about)]))

    shown = (
        Col("Run", lambda run: run_cell(run, filters)),
        Col("Outcome", lambda run: words(run["outcome"] or "unknown")),
        Col("Cost", lambda run: usd(run["cost_usd"], run["bound"], NOT_RECORDED), "r"),
        Col(
            "Wall time",
            lambda run: short(run["duration_ms"], Unit.MILLISECONDS, lacks=NOT_RECORDED),
            "r",
        ),
        Col("Turns", lambda run: short(run["num_turns"], Unit.COUNT), "r"),
        Col("Output tokens", lambda run: short(run["output_tokens"], Unit.TOKENS), "r"),
        Col("Cost per turn", lambda run: usd(run["per_turn_usd"], run["bound"]), "r"),
        Col("Claims in its summary", claim),
    )
    return TextTable(shown, runs)
