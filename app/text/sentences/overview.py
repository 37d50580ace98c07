"""Which agent was worth it, in words: what verified speedups were bought at which price, and what cannot be said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.queries.agents import ENOUGH, AgentFigures
from app.text import brief
from app.text.html_parts import agent_name
from app.text.sentences import Said
from app.text.words.measures import BOUNDS
from schemas.catalogue.cost_measures import BEST, LIST, CostMeasure
from schemas.text import plural

TWO_LINES = 175
"""The most characters of a heading that two lines hold on a wide page."""

MOST_BUYERS = 3
"""The most agents that the heading names one by one."""

ENOUGH_PAIRS = 3
"""The fewest checked claims that are drawn beside their measurement."""


def overview(rows: Sequence[AgentFigures], measure: CostMeasure = BEST) -> Said:
    """What a screen or report about these runs says first. `rows` are those of `app.queries.agents.agents`: all runs in the first."""
    total, agents = rows[0], [row for row in rows if not row.is_all and not row.is_model]
    if total.faster:
        heading = f"{_bought(agents)} {_of_others(agents)}".strip()
    elif total.comparable:
        heading = _none_faster(total, agents)
    elif total.claimed.known:
        heading, claims = _spent(total, agents), _claimed(total)
        if len(heading) + len(claims) > TWO_LINES:
            return Said(heading, claims, coverage(total, measure))
        heading = f"{heading} {claims}"
    else:
        heading = _spent(total, agents)
    return Said(heading, checked(total, agents), coverage(total, measure))


def _bought(agents: Sequence[AgentFigures]) -> str:
    """`Claude Code bought **12 verified speedups at $12.85 each**.`, the cheapest first; bounded and unknown costs behind them."""
    buyers = [row for row in agents if row.faster]
    buyers.sort(key=lambda row: (row.cost_per_faster_usd is None, bool(row.bounds), row.cost_per_faster_usd or 0, -row.faster))
    phrases = []
    for row in buyers[:MOST_BUYERS]:
        what = f"{brief.number(row.faster)} verified {'speedup' if row.faster == 1 else 'speedups'}"
        if row.cost_per_faster_usd is None:
            phrases.append(f"{agent_name(row.agent)} brought **{what}** at a cost that is not known")
        elif row.faster == 1:
            phrases.append(f"{agent_name(row.agent)} bought **{what} for {brief.usd(row.cost_per_faster_usd, row.bounds)}**")
        else:
            phrases.append(f"{agent_name(row.agent)} bought **{what} at {brief.usd(row.cost_per_faster_usd, row.bounds)} each**")
    if len(buyers) > MOST_BUYERS:
        rest = buyers[MOST_BUYERS:]
        phrases.append(f"{plural(len(rest), 'other agent')} brought {sum(row.faster for row in rest):,} more")
    return f"{brief.joined(phrases)}."


def _of_others(agents: Sequence[AgentFigures]) -> str:
    """What can be said of agents without a verified speedup; of a single agent, what became of its claims."""
    others = [row for row in agents if not row.faster]
    if not others:
        return _held(agents[0]) if len(agents) == 1 and agents[0].checked else ""
    whom = agent_name(others[0].agent) if len(others) == 1 else "the other agents"
    their = "its" if len(others) == 1 else "their"
    comparable, measured = sum(row.comparable for row in others), sum(row.runs_measured for row in others)
    if comparable:
        return f"None of the {plural(comparable, 'comparable run')} of {whom} became faster."
    if measured:
        none = f"none of {their} {measured:,} measured runs" if measured > 1 else f"{their} one measured run cannot"
        return f"What {whom} achieved is unknown: {none}{' can' if measured > 1 else ''} be compared."
    return f"No run of {whom} was measured."


def _held(row: AgentFigures) -> str:
    if row.checked == 1:
        return f"Its one checked claim {'held' if row.held else 'did not hold'}."
    return f"{'None' if not row.held else f'{row.held:,}'} of its {brief.number(row.checked)} checked claims held."


def _none_faster(total: AgentFigures, agents: Sequence[AgentFigures]) -> str:
    whose = f" of {agent_name(agents[0].agent)}" if len(agents) == 1 else ""
    if total.comparable == 1:
        return f"The one run{whose} that can be compared with a baseline **did not become faster**."
    return f"**None of the {total.comparable:,} runs**{whose} that can be compared with a baseline became faster."


def _spent(total: AgentFigures, agents: Sequence[AgentFigures]) -> str:
    """`Three runs of Claude Code cost **$2.83** and took 10m 09s in all.`: cost, share completed and time."""
    whose = f" of {agent_name(agents[0].agent)}" if len(agents) == 1 else f" of {brief.number(len(agents))} agents"
    subject = f"{brief.runs(total.runs)}{whose}"
    subject = subject[0].upper() + subject[1:]
    if not total.started:
        return f"{subject}: **none of them started**." if total.runs > 1 else f"{subject}: **it never started**."
    if total.cost_usd is None:
        cost = "cost **an amount that is not recorded**"
    else:
        part = "" if total.is_cost_known else f" as far as is known ({total.cost.known:,} of {total.started:,} that started)"
        cost = f"cost **{brief.usd(total.cost_usd, total.bounds)}**{part}"
    if total.wall_ms is not None and total.runs <= 12 and total.claimed.known:
        return f"{subject} {cost} and took {brief.duration(total.wall_ms)} in all."
    return f"{subject} {cost}{_ended(total)}."


def _ended(total: AgentFigures) -> str:
    if not total.known_ends:
        return "; how they ended is unknown"
    of = f"{total.known_ends:,}" if not total.unknown_ends else f"{total.known_ends:,} with a known end"
    wall = f", in a median of {brief.duration(total.wall.median or 0)}" if total.wall.known >= ENOUGH else ""
    return f"; {total.completed:,} of {of} completed{wall}"


def _claimed(total: AgentFigures) -> str:
    """What runs claim: `One claims a speedup, 3.17×; none was measured.`."""
    known, spread = total.claimed.known, total.claimed
    value, few = brief.median(spread, brief.ratio)
    if known == 1:
        one = "It claims" if total.runs == 1 else "One claims"
        claim = f"{one} a speedup, {brief.ratio(spread.median or 0)}"
    else:
        number = brief.number(known)
        claim = f"{number[0].upper()}{number[1:]} claim a speedup, {value if few else f'a median of {value}'}"
    if total.runs_measured:
        return f"{claim}; none of the {total.runs_measured:,} measured can be compared."
    return f"{claim}; {'nobody measured it' if total.runs == 1 else 'none was measured'}."


def checked(total: AgentFigures, agents: Sequence[AgentFigures]) -> str:
    """What became of the claims that have a comparable measurement; empty without any."""
    if not total.checked:
        return ""
    with_checks = [row for row in agents if row.checked]
    whose = f"{agent_name(with_checks[0].agent)}'s" if len(with_checks) == 1 else "the"
    kinds = [(total.more, "promised more than was measured"), (total.less, "promised less"), (total.wrong, "became slower")]
    told = brief.joined(
        [f"{total.held:,} held" if total.held else "none held", *(f"{number:,} {what}" for number, what in kinds if number)]
    )
    if total.checked == 1:
        told = next(what for number, what in ((total.held, "held"), *kinds) if number)
        return f"Of {whose} claims, one has a comparable measurement: it {told}."
    part = f"; {total.other_part:,} cover another part than the benchmark" if total.other_part else ""
    return f"Of {whose} {total.checked:,} checked claims, {told}{part}."


def coverage(total: AgentFigures, measure: CostMeasure = BEST) -> str:
    """`**1,487 runs** of 179 tasks · 986 started · cost known for **714** (178 reported, …) · measured **356**, comparable **71**`."""
    parts = [f"**{plural(total.runs, 'run')}**" + (f" of {plural(total.tasks, 'task')}" if total.tasks else "")]
    if total.never_started:
        parts.append(f"{total.started:,} started")
    if total.started:
        name = "cost" if measure is BEST else measure.name
        parts.append(f"{name} known for **{total.cost.known:,}**{_kinds_of_cost(total, measure)}")
    if total.runs_measured:
        parts.append(f"measured **{total.runs_measured:,}**, comparable **{total.comparable:,}**")
    if total.undated:
        parts.append(f"{total.undated:,} without a date")
    return " · ".join(parts)


def _kinds_of_cost(total: AgentFigures, measure: CostMeasure) -> str:
    listed = total.cost.known - total.reported if measure is BEST else total.cost.known if measure is LIST else 0
    of = [f"{total.reported:,} reported", f"{listed:,} at list prices"] if measure is BEST and total.reported and listed else []
    if not of and measure is BEST and total.cost.known:
        of = ["all reported" if total.reported else "all at list prices"]
    if total.bounded:
        kind = BOUNDS.get(total.bounds, "bounds or estimates")
        of.append(f"{total.bounded:,} of these {kind}" if total.bounded > 1 else f"one of these {kind[:-1]}")
    return f" ({', '.join(of)})" if of else ""


def few_runs(rows: Sequence[AgentFigures], measure: CostMeasure = BEST) -> Said:
    """The same for a handful of runs of one agent, with its model and what these logs lack in the line below."""
    total, said = rows[0], overview(rows, measure)
    models = [row.model for row in rows if row.is_model and row.model]
    cost = "" if total.cost_usd is None else "cost reported by the agent" if total.reported == total.cost.known else "cost at list prices"
    cost = measure.name if measure is not BEST and cost else cost
    lacks = brief.joined([what for what, is_lacking in (("dates", total.undated == total.runs), ("tasks", not total.tasks)) if is_lacking])
    ends = f"{total.completed} completed" if total.completed else ""
    parts = [*models[:3], ends, cost, f"no {lacks} in these records" if lacks else ""]
    return Said(said.heading, said.second, " · ".join(filter(None, parts)))


def panel_titles(rows: Sequence[AgentFigures]) -> list[str]:
    """`$0.76 to $1.21 a run`, `2m 45s to 4m 14s`, `One claims 3.17×`: above the bars of a few runs."""
    total = rows[0]
    cost = [brief.usd(value, total.bounds) for value in (total.cost.low, total.cost.high) if value is not None]
    wall = [brief.duration(value) for value in (total.wall.low, total.wall.high) if value is not None]
    known = total.claimed.known
    claims = (
        f"One claims {brief.ratio(total.claimed.median or 0)}"
        if known == 1
        else f"{known} claim a speedup"
        if known
        else "None claims a speedup"
    )
    titles = [" to ".join(dict.fromkeys(cost)) or "Cost not recorded", " to ".join(dict.fromkeys(wall)) or "None completed"]
    return [f"{titles[0]} a run" if cost else titles[0], titles[1], claims]


def cost_title(rows: Sequence[AgentFigures]) -> str:
    """`A run of Claude Code costs $0.84; of TRAE on gpt-5, $0.44`: two agents with enough exact costs, or one of their models."""
    known = [row for row in rows if not row.is_all and row.cost.known >= ENOUGH and not row.median_bounds and row.cost.median]
    said = [(_on(row, rows), brief.usd(row.cost.median)) for row in _first_of_agents(known)]
    if not said:
        return "What a run costs"
    return f"A run of {said[0][0]} costs {said[0][1]}" + "".join(f"; of {name}, {cost}" for name, cost in said[1:])


def time_title(rows: Sequence[AgentFigures]) -> str:
    """`Claude Code finishes in 3m 04s, TRAE in 19m 26s`, of agents with enough completed runs."""
    known = [row for row in rows if not row.is_all and row.wall.known >= ENOUGH and row.wall.median]
    said = [(_on(row, rows), brief.duration(row.wall.median or 0)) for row in _first_of_agents(known)]
    if not said:
        return "How long a run takes"
    return f"{said[0][0]} finishes in {said[0][1]}" + "".join(f", {name} in {wall}" for name, wall in said[1:])


def _first_of_agents(rows: Sequence[AgentFigures]) -> list[AgentFigures]:
    """The first row of each of the first two agents."""
    return list({row.agent: row for row in reversed(rows)}.values())[::-1][:2]


def _on(row: AgentFigures, rows: Sequence[AgentFigures]) -> str:
    """An agent; of one of its several models with that, or the model alone if there is no other agent."""
    is_one_of_many = row.is_model and sum(other.is_model and other.agent == row.agent for other in rows) > 1
    if not is_one_of_many or not row.model:
        return agent_name(row.agent)
    is_only = len({other.agent for other in rows if not other.is_all}) == 1
    return row.model if is_only else f"{agent_name(row.agent)} on {row.model}"


def held_title(total: AgentFigures) -> str:
    """`2 of the 34 claims that can be checked held`."""
    return f"{f'{total.held:,}' if total.held else 'None'} of the {total.checked:,} claims that can be checked held"


def claims_title(total: AgentFigures) -> str:
    """`13 runs claim a speedup; none was measured`."""
    subject = "One run claims a speedup" if total.claimed.known == 1 else f"{total.claimed.known:,} runs claim a speedup"
    checked = (
        f"{total.checked:,} can be checked" if total.checked else "none can be checked" if total.runs_measured else "none was measured"
    )
    return f"{subject}; {checked}"


@dataclass(frozen=True, slots=True)
class Caution:
    """Something to know before a figure is quoted; `page`, `words_of_page`, `agent` and `run_id` say where more is told."""

    words: str
    label: str
    page: str
    more: tuple[tuple[str, str], ...] = ()
    agent: str | None = None


def cautions(rows: Sequence[AgentFigures], reasons: Sequence[tuple[str, int]], largest: Sequence[tuple[str, str, float]]) -> list[Caution]:
    """At most four, the gravest first. `reasons`: why runs never started, with numbers; `largest`: id, title, ratio of the fastest runs."""
    total, agents = rows[0], [row for row in rows if not row.is_all and not row.is_model]
    found: list[Caution] = []
    if total.never_started:
        most = max(agents, key=lambda row: row.never_started)
        whose = f"; {most.never_started:,} are of {agent_name(most.agent)}" if len(agents) > 1 and total.never_started > 1 else ""
        why = ", ".join(f"{words[0].lower()}{words[1:]} ({number:,})" for words, number in reasons[:3])
        words = f"{plural(total.never_started, 'run')} never started{f': {why}' if why else ''}{whose}"
        found.append(Caution(words, "Failures", "runs", (("view", "Failures"),)))
    for row in agents:
        if row.bounded and row.cost_usd is not None and row.bounded_usd is not None:
            name, kind = agent_name(row.agent), BOUNDS.get(row.bounds, "bounds or estimates")
            if row.bounded < row.cost.known:
                words = f"{brief.usd(row.bounded_usd)} of {name}'s {brief.usd(row.cost_usd)} are {kind}: the logs tell no exact tokens"
            else:
                words = (
                    f"All {row.bounded:,} costs of {name} are {kind}" if row.bounded > 1 else f"The only cost of {name} is one of {kind}"
                )
            found.append(Caution(words, "Cost & time", "cost", (), row.agent))
    for row in agents:
        if row.unknown_ends:
            cost = ", and none says what it cost" if row.cost_usd is None and row.unknown_ends > 1 else ""
            words = f"{agent_name(row.agent)}: {row.unknown_ends:,} of {plural(row.started, 'log')} do not say how the run ended{cost}"
            found.append(Caution(words, "Data", "data", (), row.agent))
    if total.undated:
        words = f"{plural(total.undated, 'run')} without a date {'is' if total.undated == 1 else 'are'} in no month"
        found.append(Caution(words, "Data", "data"))
    if len(largest) > 1 and largest[0][2] > 1.5 * largest[1][2]:
        run_id, title, ratio = largest[0]
        following = brief.ratio(largest[1][2])
        words = f"The largest measured speedup, {brief.ratio(ratio)}, is that of one run; the next is {following}: look at it first"
        found.append(Caution(words, title, "run", (("run", run_id),)))
    return found[:4]
