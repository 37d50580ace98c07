"""Sentences, titles, cautions and the table of a few runs of the screen Overview. Pure.

Rows are those of `app.queries.agents.agents`: all runs in the first, then agents, then models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from app.queries import Row
from app.queries.agents import ENOUGH, AgentFigures
from app.queries.filters import Filters, this_moment
from app.queries.rules import OwnRule
from app.text.agents import disputed_words, median_cost
from app.text.answers import only_spent, undated_cost, whole_runs_words
from app.text.claims import words
from app.text.formatting import (
    BOUND_NAMES,
    NOT_MEASURED,
    NOT_RECORDED,
    UNKNOWN,
    agent_name,
    duration,
    model_name,
    percent,
    ratio,
    short,
    usd,
)
from app.text.html_parts import MEASURED, code, link, look_list, text
from app.text.sentences import Doubt, Said, joined, lower_first, spelled, upper_first
from app.text.table import Col, TextCell, TextTable, run_cell
from schemas.agents import AGENTS
from schemas.catalogue.cost_measures import BEST, LIST, CostMeasure
from schemas.rows.cost import CAUSES, CostCause
from schemas.text import agreeing, join_known, plural
from schemas.units import Unit

if TYPE_CHECKING:
    from app.queries.reading import Undated

MOST_NAMED = 3
"""Agents that a heading names."""


def agents_of(rows: Sequence[AgentFigures]) -> list[AgentFigures]:
    """Return only the rows of single agents, not of all runs or models."""
    return [row for row in rows if not row.is_all and not row.is_model]


def overview(
    rows: Sequence[AgentFigures], measure: CostMeasure = BEST, own: OwnRule | None = None
) -> Said:
    """Return the first lines of a screen or report about these runs.

    `own`: judged by this rule of a benchmark.
    """
    total, agents = rows[0], agents_of(rows)
    if own and own.scores:
        judged = sum(one.tasks for one in own.scores)
        parts = [*_runs_and_costs(total, measure), f"**{judged:,}** results judged"]
        return Said(_by_own_rule(own), own.lets_in, " · ".join(parts))
    covers = coverage(total, agents, measure)
    if not total.runs and total.cost_usd is not None:
        return Said(only_spent(total.cost_usd, total.bounds), "", covers)
    return Said(_answer(total, agents), _qualifier(total, agents), covers)


def _answer(total: AgentFigures, agents: Sequence[AgentFigures]) -> str:
    """Return which agents were measured faster; else how many runs they complete."""
    winners = [row for row in agents if row.faster]
    winners.sort(key=lambda row: (-row.faster_tasks / row.comparable_tasks, agent_name(row.agent)))
    if len(winners) == 1:
        best = winners[0]
        cost = f", for {usd(best.cost_usd, best.bounds)}" if best.is_cost_known else ""
        tasks = plural(best.comparable_tasks, "task")
        name, k = agent_name(best.agent), best.faster_tasks
        if not best.beyond_tasks:
            return f"{name} was measured faster on **{k:,} of {tasks}**, none beyond noise{cost}."
        beyond = f"**beyond noise on {best.beyond_tasks:,}**"
        return f"{name} was measured faster on {k:,} of {tasks}, {beyond}{cost}."
    if winners:
        faster = [_measured_faster(row, is_first=row is winners[0]) for row in winners]
        return f"{_named(faster, MOST_NAMED)}."
    if total.comparable:
        tasks = f"{total.comparable_tasks:,} checked tasks"
        if total.comparable_tasks == 1:
            tasks = "the one checked task"
        whose = agent_name(agents[0].agent) if len(agents) == 1 else "the agents"
        cost = f"; {whose} spent {usd(total.cost_usd, total.bounds)}" if total.cost_usd else ""
        return f"**None** of {tasks} became faster{cost}."
    if not total.runs:
        return "**Nothing ran** that the filters choose."
    if not total.started:
        return f"None of {plural(total.runs, 'run')} **ever started**."
    unmeasured = "; no result can be compared" if total.runs_measured else "; no result is measured"
    known = [row for row in agents if row.known_ends]
    known.sort(key=lambda row: (row.agent not in AGENTS, -row.known_ends, agent_name(row.agent)))
    if not known:
        return f"How {plural(total.started, 'run')} ended is **not recorded**{unmeasured}."
    completed = [_completes(row, is_first=row is known[0]) for row in known]
    return f"{_named(completed, 2)}{unmeasured}."


def _named(phrases: Sequence[str], most: int) -> str:
    """Return the first `most` phrases about agents, and how many others there are."""
    others = len(phrases) - most
    return ", ".join(phrases[:most]) + (
        f", beside {plural(others, 'other agent')}" if others > 0 else ""
    )


def _measured_faster(row: AgentFigures, *, is_first: bool) -> str:
    verb = "was measured faster on" if is_first else "on"
    of = f"{row.faster_tasks:,} of {row.comparable_tasks:,}{' tasks' if is_first else ''}"
    return f"{agent_name(row.agent)} {verb} {f'**{of}**' if is_first else of}"


def _completes(row: AgentFigures, *, is_first: bool) -> str:
    of = f"{row.completed:,} of {row.known_ends:,}{' runs' if is_first else ''}"
    cost = median_cost(row).text
    money = "" if cost == UNKNOWN else f" at a median of {cost}"
    verb = "completes " if is_first else ""
    return f"{agent_name(row.agent)} {verb}{f'**{of}**' if is_first else of}{money}"


def _qualifier(total: AgentFigures, agents: Sequence[AgentFigures]) -> str:
    """Return the one fact that would change the mind of a reader of the answer."""
    once = total.faster_tasks - total.beyond_tasks
    if once and sum(row.faster > 0 for row in agents) > 1:
        beyond = f"{total.beyond_noise or 'None'} {agreeing(total.beyond_noise or 1, 'is')}"
        others = "the others" if total.beyond_noise else "all"
        return f"{beyond} beyond noise; {others} were measured once."
    if once == total.faster_tasks == 1:
        return "It was measured once, so nobody knows its noise."
    if once == total.faster_tasks > 1:
        return "Each was measured once, so nobody knows their noise."
    if once == 1:
        return "The other one was measured once, so nobody knows its noise."
    if once:
        return f"The other {once:,} were measured once each, so nobody knows their noise."
    if total.disputed:
        return disputed_words(total.faster, total.disputed, total.not_by_median)
    if total.claimed.known and not total.checked:
        return f"{claims_title(total)}."
    return ""


def _by_own_rule(own: OwnRule) -> str:
    """Return `By ISO-Bench's own rule Claude Code succeeds on 47% of 78 tasks; …`."""
    several = {
        one.agent for one in own.scores if sum(one.agent == two.agent for two in own.scores) > 1
    }
    phrases = []
    for number, one in enumerate(own.scores[:4]):
        name = agent_name(one.agent)
        name += f" {model_name(one.model)}" if one.agent in several else ""
        tasks = plural(one.tasks, "task") if not number else f"{one.tasks:,}"
        verb, value = ("reaches", ratio(one.score))
        if own.is_share:
            verb, value = "succeeds on", percent(one.score)
        score = f"{value} {'of' if own.is_share else 'on'} {tasks}"
        phrases.append(f"{name} {verb} **{score}**" if not number else f"{name} on {score}")
    rest = f"; {', '.join(phrases[1:])}" if phrases[1:] else ""
    return f"By {own.study}'s own rule {phrases[0]}{rest}."


def _runs_and_costs(total: AgentFigures, measure: CostMeasure) -> list[str]:
    tasks = f" of {plural(total.tasks, 'task')}" if total.tasks else ""
    parts = [f"**{plural(total.runs, 'run')}**{tasks}"]
    if total.started:
        name = "cost" if measure is BEST else measure.name
        money = f" {usd(total.cost_usd, total.bounds)}," if total.cost_usd is not None else ""
        parts.append(
            f"{name}{money} known for **{total.cost.known:,}** of {total.started:,} started"
        )
    if total.at_end is not None:
        whole = whole_runs_words(total.at_end)
        parts.append(f"money when it was spent{whole and f' ({whole})'}")
    return parts


def coverage(
    total: AgentFigures, agents: Sequence[AgentFigures], measure: CostMeasure = BEST
) -> str:
    """Return the numbers of runs, tasks, known costs and comparable results.

    Example: `**1,487 runs** of 179 tasks · cost ≤ $2,051, known for **714** of 942 started ·
    **71** of 356 results comparable, all of Claude Code`.
    """
    return join_known(" · ", *_runs_and_costs(total, measure), compared(total, agents))


def compared(total: AgentFigures, agents: Sequence[AgentFigures]) -> str:
    """Return `**71** of 356 results comparable, all of Claude Code`, "" without measurements."""
    if not total.runs_measured:
        return ""
    whose = [agent_name(row.agent) for row in agents if row.comparable]
    all_of = f", all of {whose[0]}" if len(whose) == 1 < len(agents) else ""
    return f"**{total.comparable:,}** of {plural(total.runs_measured, 'result')} comparable{all_of}"


def few_runs(
    rows: Sequence[AgentFigures], runs: Sequence[Row], measure: CostMeasure = BEST
) -> Said:
    """Return the same for a few runs of one agent, and which facts their logs lack.

    Example: `Three runs of Claude Code cost **$2.83** and took 2m 45s to 4m 14s.`
    """
    total, said = rows[0], overview(rows, measure)
    covers = [*(row.model for row in rows if row.is_model and row.model)][:3]
    if total.started:
        ends = f"{total.completed:,} of {total.started:,}"
        covers.append(f"{'all' if total.completed == total.started else ends} completed")
        covers.append(f"cost known for **{total.cost.known:,}** of {total.started:,}")
    covers += filter(None, (_against_list(runs, measure),))
    covers += ["no date in their logs"] if total.undated == total.runs else []
    if total.comparable or not total.started:
        return Said(said.heading, said.second, " · ".join(covers))
    whose = agent_name(next(row.agent for row in rows if not row.is_all))
    subject = upper_first(f"{spelled(total.started, 'run')} of {whose}")
    times = [run["duration_ms"] for run in runs if run["is_started"] and run["duration_ms"]]
    took = " to ".join(dict.fromkeys(map(duration, (min(times), max(times))))) if times else ""
    if total.cost_usd is None:
        cost = f"{subject} took {took}; what they" if took else f"What {lower_first(subject)}"
        heading = f"{cost} cost is **not recorded**."
    elif _is_part(total, runs):
        ended = f"{subject} ended in the period{took and f' after {took}'}"
        heading = f"{ended}; **{usd(total.cost_usd, total.bounds)}** was spent in it."
    else:
        cost = f"{subject} cost **{usd(total.cost_usd, total.bounds)}**"
        heading = f"{cost}{took and f' and took {took}'}."
    return Said(heading, _unchecked(total), " · ".join(covers))


def _is_part(total: AgentFigures, runs: Sequence[Row]) -> bool:
    """Return whether the money of a period is not that of the runs that ended in it."""
    whole = sum(run["cost_usd"] or 0 for run in runs if run["is_started"])
    return total.at_end is not None and total.cost_usd != whole


def _unchecked(total: AgentFigures) -> str:
    """Return `One claims 3.17×; nobody measured it.`, "" without a claim."""
    known = total.claimed.known
    if not known or total.runs_measured:
        return f"{claims_title(total)}." if known else ""
    values = dict.fromkeys(ratio(one) for one in (total.claimed.low, total.claimed.high) if one)
    verb, them = ("claims", "it") if known == 1 else ("claim", "them")
    subject = upper_first(spelled(known))
    return f"{subject} {verb} {' to '.join(values)}; nobody measured {them}."


def _against_list(runs: Sequence[Row], measure: CostMeasure) -> str:
    """Return `9% below list prices: regional endpoint` of costs that agents report."""
    both = [run for run in runs if run["cost_usd"] and run["cost_list_usd"]]
    cost, listed = (sum(run[key] for run in both) for key in ("cost_usd", "cost_list_usd"))
    if measure is LIST or not both or usd(cost) == usd(listed):
        return ""
    causes = dict.fromkeys(
        CAUSES[run["cost_cause"]].label
        for run in both
        if run["cost_cause"] in CAUSES and run["cost_cause"] != CostCause.SAME
    )
    way = f"{percent(abs(cost / listed - 1))} {'below' if cost < listed else 'above'} list prices"
    return f"{way}{': ' if causes else ''}{joined(list(causes))}"


def more_of_few(total: AgentFigures, command: Callable[[str], str]) -> str:
    """Return what a few runs lack, each with the command that adds it."""
    found = []
    if total.claimed.known and not total.runs_measured:
        claim = total.claimed
        which = f"the claim of {ratio(claim.median or 0)}" if claim.known == 1 else "the claims"
        found.append((f"Measure {which}", "measure RUN -- COMMAND"))
    if total.undated:
        day = f"{this_moment():%Y-%m}-01"
        dated = "Give the runs a date, so that days and months count them"
        found.append((dated, f"label RUN date={day}"))
    if total.started < ENOUGH:
        count = upper_first(spelled(ENOUGH - total.started, "more run"))
        found.append((f"{count}, and “usual” has a meaning: it needs five", "watch ~/.claude"))
    lines = (f"<span>{text(why)}</span>{code(command(how))}" for why, how in found)
    return look_list(lines, "What to add")


def cost_title(named: Sequence[AgentFigures], rows: Sequence[AgentFigures]) -> str:
    """Return `A run costs $0.84 with Claude Code, $0.44 with TRAE gpt-5`.

    Two agents with enough exact costs, or one of their models.

    `named`: the rows to speak of, some of all `rows`.
    """
    known = [
        row
        for row in named
        if not row.is_all and row.cost.known >= ENOUGH and not row.median_bounds and row.cost.median
    ]
    known = _first_of_agents(known)
    figures = [f"{usd(row.cost.median)} with {_on(row, rows)}" for row in known]
    return f"A run costs {', '.join(figures)}" if figures else "What a run costs"


def front_title(
    what: str, ahead: Sequence[tuple[AgentFigures, str, str]], rows: Sequence[AgentFigures]
) -> str:
    """Return `Completed runs: gpt-5 84% for $0.44 a run, opus-4-6 97% for $2.10`.

    `ahead`: the rows that none beats, the cheapest first, with value and cost in words.
    """
    named = (*ahead[:1], *ahead[1:][-1:])
    figures = [
        f"{_on(row, rows)} {value} for {cost}{'' if place else ' a run'}"
        for place, (row, value, cost) in enumerate(named)
    ]
    figures += ["the cheapest and best"] if len(named) == 1 else []
    return f"{upper_first(what)}: {', '.join(figures)}" if figures else f"Cost, and {what}"


def time_title(named: Sequence[AgentFigures], rows: Sequence[AgentFigures]) -> str:
    """Return `A run takes 3m 04s with Claude Code, 3m 10s with Codex`.

    It names agents with enough completed runs.
    """
    known = [
        row for row in named if not row.is_all and row.wall.known >= ENOUGH and row.wall.median
    ]
    known = _first_of_agents(known)
    figures = [f"{duration(row.wall.median or 0)} with {_on(row, rows)}" for row in known]
    return f"A run takes {', '.join(figures)}" if figures else "How long a run takes"


def share_drawn(every: Sequence[AgentFigures], drawn: Sequence[AgentFigures]) -> str:
    """Return `All 714 known costs`, or `93 of 197 known costs, $241.00 of $285.14`."""
    known, of = (sum(row.cost.known for row in rows) for rows in (drawn, every))
    if known == of:
        return f"All {plural(known, 'known cost')}" if known > 1 else "The one known cost"
    money = [usd(sum(row.cost_usd or 0 for row in rows)) for rows in (drawn, every)]
    return f"{known:,} of {of:,} known costs, {' of '.join(money)}"


def lacking_words(rows: Sequence[AgentFigures], what: str) -> str:
    """Return `; Codex logs no cost` of agents without any such value, "" without one."""
    names = list(dict.fromkeys(agent_name(row.agent) for row in rows))
    if not what or not names:
        return ""
    if len(names) > MOST_NAMED:
        return f"; {len(names)} agents log no {what}"
    return f"; {joined(names)} {agreeing(len(names), 'logs')} no {what}"


def ranks_title(total: AgentFigures) -> str:
    """Return `1 of 71 results is beyond noise`, or how many are faster if none is."""
    if total.beyond_noise:
        are = agreeing(total.beyond_noise, "is")
        return f"{total.beyond_noise:,} of {total.comparable:,} results {are} beyond noise"
    faster = f"{total.faster:,}" if total.faster else "None"
    once = ", each measured once" if total.faster > 1 else ""
    return f"{faster} of {total.comparable:,} results {agreeing(total.faster, 'is')} faster{once}"


def rank_groups(runs: Sequence[Row]) -> list[tuple[int, int, str]]:
    """Return (first place, last place, words) of the results that are slower, the same, faster.

    `runs`: comparable results, the smallest speedup first.
    """
    found = []
    for kind, name in (("slower", "slower"), ("same", "the same (±5%)"), ("faster", "faster")):
        for is_beyond in (False, True):
            places = [
                place
                for place, run in enumerate(runs, 1)
                if run["measured_class"] == kind and run["is_beyond_noise"] is is_beyond
            ]
            if not places:
                continue
            label = f"{len(places):,} {name}"
            if kind == "faster" and is_beyond:
                label = f"{len(places):,} beyond noise"
                if len(places) == 1:
                    label = f"{ratio(runs[places[0] - 1]['measured_speedup'])}, beyond noise"
            elif kind == "faster":
                label += ", measured once"
            found.append((places[0], places[-1], label))
    return found


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
    name = model_name(row.model, effort=row.shown_effort)
    return name if is_only else f"{agent_name(row.agent)} {name}"


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


def another_price(found: Row, measure: CostMeasure = BEST) -> str:
    """Return a sentence on costs at the price of another model, or "" if no such cost counts.

    The costs are those of `app.queries.cost.at_another_price`.
    """
    if measure is LIST or not found["another_runs"]:
        return ""
    return (
        f"{usd(found['another_usd'])} reported for {plural(found['another_runs'], 'run')} is at "
        f"the price of another model: {usd(found['another_list_usd'])} at list prices"
    )


def doubts_about(
    rows: Sequence[AgentFigures],
    reasons: Sequence[tuple[str, int]],
    undated: Undated,
    another: str,
    filters: Filters,
) -> list[Doubt]:
    """Return the reservations about these figures, the gravest first.

    `reasons`: why runs never started; `undated`: the runs without a date; `another`: of
    `another_price`.
    """
    total, agents = rows[0], agents_of(rows)
    speedups, data = link("speedups", filters), link("data", filters)
    once, found = total.faster - total.beyond_noise, list[Doubt]()
    if another:
        found.append(Doubt(another, "Cost & time", link("cost", filters)))
    if total.hacks:
        was = (
            f"{total.hacks:,} of the {total.faster:,} faster results {agreeing(total.hacks, 'was')}"
        )
        hacks = link("runs", filters.with_values("judged", ["hack"]))
        found.append(Doubt(f"{was} judged a hack by others", "Runs", hacks))
    if once:
        rests = f"{once:,} of the {total.faster:,} faster results {agreeing(once, 'rests')}"
        found.append(Doubt(f"{rests} on one measurement", "Measure again first", speedups))
    if total.disputed:
        median = f"; {total.not_by_median:,} not by the median" if total.not_by_median else ""
        are = f"{total.disputed:,} of the {total.faster:,} {agreeing(total.disputed, 'is')} not"
        found.append(Doubt(f"{are} faster by every value{median}", "Speedups", speedups))
    if lost := total.runs_measured - total.comparable:
        whose = [agent_name(row.agent) for row in agents if row.runs_measured > row.comparable]
        have = f"{lost:,} of {plural(total.runs_measured, 'result')} {agreeing(lost, 'has')}"
        of = f": {joined(whose)}" if len(whose) <= MOST_NAMED and len(agents) > 1 else ""
        kinds = (("machine", "failed by the machine"), ("breaks", "broke the software"))
        why = "".join(f"; {n:,} {what}" for key, what in kinds if (n := total.measured[key]))
        found.append(Doubt(f"{have} no comparable baseline{of}{why}", "What is missing", data))
    bounded = [row for row in agents if row.bounded_usd and row.cost_usd]
    if bounded:
        row = bounded[0] if len(bounded) == 1 else total
        of = f"{agent_name(row.agent)}'s " if row.agent else ""
        kind = BOUND_NAMES.get(row.bounds, "bounds or estimates")
        money = f"{usd(row.bounded_usd)} of {of}{usd(row.cost_usd)} are {kind}"
        chosen = filters.with_values("agent", [row.agent]) if row.agent else filters
        words = f"{money}: logs without exact tokens"
        found.append(Doubt(words, "Cost & time", link("cost", chosen)))
    if total.never_started:
        named = [f"{label} {number:,}" for label, number in reasons[:MOST_NAMED]]
        others = sum(number for _, number in reasons[MOST_NAMED:])
        why = ", ".join([*named, *([f"other {others:,}"] if others else [])])
        never = f"{plural(total.never_started, 'run')} never started{f': {why}' if why else ''}"
        failures = link("runs", filters, view="Failures")
        found.append(Doubt(never, "Failures", failures))
    if open_ends := [row for row in agents if row.unknown_ends]:
        row = open_ends[0] if len(open_ends) == 1 else total
        of = f"{agent_name(row.agent)}: " if row.agent else ""
        logs = f"{row.unknown_ends:,} of {plural(row.started, 'log')}"
        found.append(Doubt(f"{of}{logs} do not record how the run ended", "Data", data))
    if undated.runs:
        are = f"{plural(undated.runs, 'run')} without a date{undated_cost(undated)}"
        found.append(Doubt(f"{are} {agreeing(undated.runs, 'is')} in no month", "Data", data))
    return found


def never_started_words(hidden: Sequence[AgentFigures]) -> str:
    """Return `Not shown: 1 run of o4-mini, never started` of rows that the table leaves out."""
    if not hidden:
        return ""
    names = [
        model_name(row.model, effort=row.shown_effort) if row.is_model else agent_name(row.agent)
        for row in hidden
    ]
    whose = joined(names) if len(names) <= MOST_NAMED else f"{len(names)} agents and models"
    return f"Not shown: {plural(sum(row.runs for row in hidden), 'run')} of {whose}, never started"


def runs_table(total: AgentFigures, runs: Sequence[Row], filters: Filters) -> TextTable:
    """Return a few runs with cost, list price, time, turns, claim, measurement, and their sum."""
    is_part = _is_part(total, runs)
    cost = None if is_part else sum(run["cost_list_usd"] or 0 for run in runs)
    together = {"cost_usd": total.cost_usd, "bound": total.bounds, "cost_list_usd": cost}
    differs = any(
        usd(run["cost_usd"]) != usd(run["cost_list_usd"] or run["cost_usd"]) for run in runs
    )

    def of_run(write: Callable[[Row], TextCell | str]) -> Callable[[Any], Any]:
        return lambda run: "" if run is together else write(run)

    def title(run: Row) -> TextCell:
        all_of = "Spent in the period" if is_part else f"All {spelled(len(runs))}"
        return TextCell(all_of) if run is together else run_cell(run, filters)

    def money(run: Row) -> str:
        whole = usd(run["cost_usd"], run["bound"], NOT_RECORDED)
        then = run.get("spent_usd")
        return whole if then in (None, run["cost_usd"]) else f"{usd(then, run['bound'])} of {whole}"

    def time(run: Row) -> str:
        return short(run["duration_ms"], Unit.MILLISECONDS, lacks=NOT_RECORDED)

    def claim(run: Row) -> TextCell:
        speedup = run["claimed_speedup"]
        return TextCell(ratio(speedup)) if speedup else TextCell(note="no claim")

    def measured(run: Row) -> TextCell:
        value, what = run["measured_speedup"], MEASURED.get(run["measured_class"], NOT_MEASURED)
        return TextCell(ratio(value)) if value else TextCell(note=what)

    shown = [
        Col("Run", title),
        Col("Outcome", of_run(lambda run: words(run["outcome"] or "unknown"))),
        Col("Cost", money, "r"),
        Col("List price", lambda run: TextCell(note=usd(run["cost_list_usd"])), "r"),
        Col("Wall time", of_run(time), "r"),
        Col("Turns", of_run(lambda run: short(run["num_turns"], Unit.COUNT)), "r"),
        Col("Claimed", of_run(claim), "r"),
        Col("Measured", of_run(measured)),
    ]
    if total.completed == total.runs:
        shown = [one for one in shown if one.label != "Outcome"]
    if not differs:
        shown = [one for one in shown if one.label != "List price"]
    has_others = is_part and total.cost_usd != sum(run.get("spent_usd") or 0 for run in runs)
    has_sum = (len(runs) > 1 or has_others) and total.cost_usd is not None
    rows = [*runs, *([together] if has_sum else [])]
    return TextTable(shown, rows, lambda run: "sum" if run is together else "")
