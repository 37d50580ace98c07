"""The charts there are, by name.

What each asks the store, its finding, and its figure, for screens, pictures and shared pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from app.charts import agents, comparison, loops, speedups, spending, usage
from app.charts.base import is_sparse, looks
from app.charts.images import Drawn
from app.queries import Rows
from app.queries import agents as agent_queries
from app.queries import comparison as comparison_queries
from app.queries import cost as cost_queries
from app.queries import daily as daily_queries
from app.queries import loops as loop_queries
from app.queries import measured as measured_queries
from app.queries import months as month_queries
from app.queries import runs as run_queries
from app.queries import sessions as session_queries
from app.queries import usage as usage_queries
from app.queries.agents import AgentFigures
from app.queries.filters import NO_FILTERS, Filters, this_moment
from app.queries.grouping import SIDES
from app.queries.loops import LoopAnswer
from app.queries.months import Months
from app.text import compare as compare_words
from app.text import costs, loop_html, overview
from app.text import daily as daily_words
from app.text import months as month_words
from app.text import speedups as speedup_words
from app.text import usage as usage_words
from app.text.claims import metric_words
from app.text.formatting import short, usd
from schemas.catalogue.columns import METRICS_COMPARED
from schemas.catalogue.cost_measures import BEST, CostMeasure
from schemas.errors import UsageError
from schemas.text import choices_for, plural

Ask = Callable[..., Any]
"""Function that answers a question of `app.queries` from the store: `ask(question, *arguments)`."""

MOST_ROWS, MOST_LOOPS, POINTS, FEW, LARGE = 10, 12, 2_000, 12, 330
"""Rows of a chart by agent, and of loops; points of a session; runs of one agent up to which each
has bars of its own; and pixels of a chart alone in its row.
"""


@dataclass
class Question:
    """What charts are about.

    The store behind `ask`, filters, the measure of cost, and whether the page is light or dark.

    `of` is the id of a run or the name of a loop, for the charts of one. `groups` are compared, the
    first is the baseline. `choices` are those of the screen (`app.reports.shared.CHOICES`).
    """

    ask: Ask
    filters: Filters = NO_FILTERS
    measure: CostMeasure = BEST
    page: str | None = "light"
    of: str = ""
    groups: Sequence[Filters] = field(default_factory=tuple)
    choices: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def rows(self) -> Sequence[AgentFigures]:
        """Figures of all runs, of each agent and of each of its models."""
        how = self.filters, self.measure, self.by
        found: Sequence[AgentFigures] = self.ask(agent_queries.agents, *how)
        return found

    def _rows(self, question: Ask, *arguments: Any) -> Rows:
        """Return the answer to a question about the chosen runs."""
        found: Rows = self.ask(question, self.filters, *arguments).to_pylist()
        return found

    @property
    def by(self) -> str:
        """The one of SIDES by which runs are grouped."""
        by = self.choices.get("by", "agent")
        return by if by in SIDES else "agent"

    @cached_property
    def leaves(self) -> Sequence[AgentFigures]:
        """The agents and models that charts may draw."""
        return agents.leaves(self.rows)

    @cached_property
    def points(self) -> Rows:
        """The runs if they are few enough to draw one by one, else none."""
        if self.rows[0].runs > agents.MOST_POINTS:
            return []
        return self._rows(agent_queries.points, agents.MOST_POINTS, self.measure)

    @cached_property
    def valued(self) -> Sequence[agent_queries.Valued]:
        """Measured values that no baseline makes a speedup, by agent and model."""
        if not self.rows[0].runs_measured:
            return ()
        found: Sequence[agent_queries.Valued] = self.ask(
            agent_queries.values, self.filters, self.by
        )
        return found

    @cached_property
    def claiming(self) -> Rows:
        """The runs with a claimed speedup."""
        how = agents.MOST_POINTS, self.measure, "claimed_speedup"
        return self._rows(agent_queries.points, *how)

    @cached_property
    def few(self) -> Rows:
        """The same, dearest first, each with its `spent_usd` in the period (None: all its cost)."""
        spent = self.ask(agent_queries.spent_by_run, self.filters, self.measure)
        ranked = sorted(self.points, key=lambda run: -float(run["cost_usd"] or 0))
        return [run | {"spent_usd": spent.get(run["run_id"])} for run in ranked]

    @cached_property
    def pairs(self) -> Rows:
        """The runs with a claimed and a measured speedup."""
        return self._rows(measured_queries.pairs, speedups.MOST_PAIRS)

    @cached_property
    def session(self) -> Any:
        """The responses of the session of a run."""
        return self.ask(session_queries.points, self.of, POINTS)

    def drawn(
        self, name: str, title: str, caption: str, figure: Any, n: int, what: str = "run"
    ) -> Drawn:
        """Return a chart of the runs that the filters choose."""
        return Drawn(name, title, caption, figure, n, what, self.filters)


LEAST_SHARE = 0.6
"""Least part of the known money that a chart of costs draws; below it there is no chart."""


def _strips(
    asked: Question,
    what: str,
    name: str,
    title: Callable[[Sequence[AgentFigures], Sequence[AgentFigures]], str] | str,
    about: str,
) -> Drawn | None:
    """Return a chart with a row per agent and model: each run, or quantiles for too many runs.

    `title` may be a function of the drawn and all rows.
    """
    content = agents.CONTENTS[what]
    every = agents.largest(asked.leaves, content.known, len(asked.leaves))
    rows = every[:MOST_ROWS]
    if not rows:
        return None
    boxes: dict[agent_queries.Side, Sequence[float]] = {}
    if asked.rows[0].runs > agents.MOST_POINTS and what in ("cost", "time"):
        column, which = (
            (asked.measure.column, "is_started")
            if what == "cost"
            else ("duration_ms", "is_completed")
        )
        boxes = asked.ask(agent_queries.quantiles, asked.filters, column, which, asked.by)
    points = asked.claiming if what == "claims" else asked.points
    strips = agents.strips_of(what, rows, points, boxes)
    n = sum(len(strip.runs) for strip in strips)
    if boxes:
        n = sum((row.cost if what == "cost" else row.wall).known for row in rows)
    if what == "cost":
        money, drawn = (sum(float(row.cost_usd or 0) for row in some) for some in (every, rows))
        if drawn < LEAST_SHARE * money:
            return None
        about = f"{overview.share_drawn(every, rows)}; {about}"
    lacking = [row for row in asked.leaves if row.started and not content.known(row)]
    about += overview.lacking_words(lacking, content.lacks)
    about += agents.bounds_legend(run[1] for strip in strips for run in strip.runs)
    heading = title if isinstance(title, str) else title(rows, asked.rows)
    return asked.drawn(name, heading, about, agents.strips(strips, content.unit, asked.page), n)


def cost_per_run(asked: Question, title: str = "") -> Drawn | None:
    """Return what runs cost, by agent and model."""
    return _strips(asked, "cost", "cost-per-run", title or overview.cost_title, "bar: median")


def time_per_run(asked: Question, title: str = "") -> Drawn | None:
    """Return how long runs took, by agent and model."""
    about = "Wall time; filled: completed, bar: their median"
    return _strips(asked, "time", "time-per-run", title or overview.time_title, about)


def claims(asked: Question, title: str = "") -> Drawn | None:
    """Return claimed speedups by agent and model."""
    title = title or overview.claims_title(asked.rows[0])
    return _strips(asked, "claims", "claims", title, "Claimed speedup per run; bar: median")


def measured_ranks(asked: Question) -> Drawn | None:
    """Return all comparable results in the order of their speedup; None for fewer than five."""
    runs = asked.ask(agent_queries.comparable, asked.filters, agents.MOST_POINTS).to_pylist()
    if len(runs) < agent_queries.ENOUGH:
        return None
    title = overview.ranks_title(asked.rows[0])
    about = "Measured speedup, smallest first; log scale; ring: measured once"
    figure = agents.ranks(runs, overview.rank_groups(runs), asked.page)
    return asked.drawn("measured-ranks", title, about, figure, len(runs))


def measured(asked: Question) -> Drawn | None:
    """Return the chart of measured results: ranks, else values beside cost, else claims."""
    if asked.rows[0].comparable:
        return measured_ranks(asked)
    return (cost_and_success(asked) if asked.valued else None) or claims(asked)


def cost_and_success(asked: Question) -> Drawn | None:
    """Return cost of a run against what it is worth, with a point per agent and model.

    The value is that of the choice `value`, else the first of `pareto_of` that is known.
    """
    every = agents.largest(asked.leaves, lambda row: row.cost.known, len(asked.leaves))
    rows = every[:MOST_ROWS]
    valued, value = asked.valued, asked.choices.get("value", "")
    names = (agents.FASTER, *(one.metric for one in valued), agents.COMPLETED)
    if value and value not in names:
        raise UsageError(f"no {value!r} is known of these runs.", choices_for(value, names))
    drawn = agents.pareto_of(rows, valued, value)
    if len(drawn.points) < 3:
        return None
    shown = [one.row for one in drawn.points]
    money, of = (sum(float(row.cost_usd or 0) for row in some) for some in (shown, every))
    if money < LEAST_SHARE * of:
        return None
    about = f"{overview.share_drawn(every, shown)}; medians; bar: {drawn.ends}"
    about += "; dotted: none is cheaper and better" if len(drawn.ahead) > 1 else ""
    bounds = [kind for one in drawn.points for kind in one.bounds.split(", ")]
    about += f"{agents.bounds_legend(bounds)}: not ranked" if any(bounds) else ""
    hacks = sum(one.hacks for one in valued if metric_words(one.metric) == drawn.what)
    about += f"; without {plural(hacks, 'hack')}" if hacks else ""
    ahead = [
        (one.row, short(one.value, drawn.unit), usd(one.cost, one.bounds)) for one in drawn.ahead
    ]
    return asked.drawn(
        "cost-and-success",
        overview.front_title(drawn.what, ahead, shown),
        about,
        agents.pareto(drawn, asked.page),
        sum(row.started for row in shown),
    )


def claimed_beside_measured(asked: Question) -> Drawn | None:
    """Return claimed beside measured speedups, run by run."""
    total = asked.rows[0]
    if not total.checked:
        return None
    runs = asked.pairs[0]["found"]
    dotted = total.other_part and len(asked.pairs) <= speedups.MANY
    about = f"{plural(runs, 'run')}, smallest claim first; ring: claimed, dot: measured"
    about += "; dotted: another part measured" if dotted else ""
    title = speedup_words.held_words(total).rstrip(".") or "Claimed beside measured, run by run"
    figure = speedups.beside(asked.pairs, asked.page)
    return asked.drawn("claimed-beside-measured", title, about, figure, len(asked.pairs))


def usage_over_time(
    asked: Question, per: str = usage_queries.PERIODS[0], content: str = ""
) -> Drawn | None:
    """Return cost, tokens or responses along time, stacked by model."""
    found = asked.ask(usage_queries.along, asked.filters, per)
    if not found.table.num_rows:
        return None
    if not content:
        request = usage_queries.UsageRequest(asked.filters, (per,))
        content = next(
            iter(
                usage_words.contents_of(
                    asked.ask(usage_queries.usage, request).total.to_pylist()[0]
                )
            )
        )
    shown = usage_words.CONTENTS[content]
    note = " ".join(
        filter(
            None,
            (
                usage_words.OWN_PERIOD,
                usage_words.along_note(found, is_sparse=is_sparse(usage_words.periods(found))),
            ),
        )
    )
    figure = usage.bars(found, shown, looks(asked.ask(run_queries.ranked_models)), asked.page)
    periods = len(set(usage_words.periods(found)))
    return asked.drawn(
        f"{content}-per-{per}", usage_words.along_finding(found, shown), note, figure, periods, per
    )


def spend_per_day(asked: Question, found: Any = None) -> Drawn | None:
    """Return what each of the last days cost, by project; None if nothing was spent."""
    found = found or asked.ask(daily_queries.daily, asked.filters, this_moment(), asked.measure)
    days = sum(bool(found.total[f"{day:%F}"].usd) for day in found.days)
    if not days:
        return None
    title, caption = daily_words.per_day_title(found)
    figure = spending.per_day(found, asked.page)
    return asked.drawn("spend-per-day", title, caption, figure, days, "day")


def compared(
    asked: Question, found: Any = None, called: Any = None, *, is_narrow: bool = False
) -> Drawn | None:
    """Return the ratios of two groups' tasks; None if too few tasks are shared."""
    if found is None:
        chosen = asked.groups or asked.ask(comparison_queries.offered, asked.filters).opening
        if len(chosen) < 2:
            return None
        narrowed = [comparison_queries.narrowed(asked.filters, one) for one in chosen]
        found = asked.ask(
            comparison_queries.compare, narrowed, comparison_queries.TASK, asked.measure
        )
        called = compare_words.names(found.groups, chosen)
    rows = comparison.drawn_rows(found)
    if not rows:
        return None
    figure = comparison.ratios(found, called, asked.page, is_narrow=is_narrow)
    caption = compare_words.chart_caption(found, called)
    n = max(len(one.tasks or ()) for one in rows.values())
    fewer = [
        f"{METRICS_COMPARED[key].label.lower()} of {plural(len(one.tasks or ()), 'task')}"
        for key, one in rows.items()
        if len(one.tasks or ()) < n
    ]
    caption = "; ".join([caption, *fewer])
    return asked.drawn("compare", "Each point is a task", caption, figure, n, "task")


def session(asked: Question) -> Drawn | None:
    """Return the context and the cost so far of one run, response by response."""
    points = asked.session
    if not points.num_rows:
        return None
    figure = usage.timeline(points, asked.page)
    title, note = usage_words.timeline_finding(points), usage_words.timeline_note(points)
    return Drawn(f"session-{asked.of[:8]}", title, note, figure, points.num_rows, "response")


def session_lanes(asked: Question) -> Drawn | None:
    """Return the main conversation of one run and its sub-agents along time."""
    lanes = asked.ask(session_queries.lanes, asked.of)
    if lanes.num_rows < 2:
        return None
    figure = usage.lanes(asked.session, looks(asked.ask(run_queries.ranked_models)), asked.page)
    n = sum(lanes["responses"].to_pylist())
    return Drawn(
        f"session-lanes-{asked.of[:8]}",
        usage_words.lanes_finding(lanes),
        usage_words.lanes_note(lanes),
        figure,
        n,
        "response",
    )


def loop(asked: Question, answer: LoopAnswer | None = None, axis: str = "") -> Drawn | None:
    """Return the experiments of one optimization loop and its best so far.

    By default that of the name asked for, else of the largest gain.
    """
    if answer is None:
        every = loop_queries.ordered(asked.ask(loop_queries.loops), "gain")
        named = loop_queries.chosen(every, asked.of) if asked.of else every
        answer = next(iter(named), None)
    if answer is None or not loop_html.is_drawn(answer):
        return None
    figure = loops.progress(answer, axis or next(iter(loop_html.axes(answer))), asked.page)
    title, caption = (
        loop_html.progress_title(answer),
        loop_html.progress_caption(answer, is_cut=loops.is_cut(answer)),
    )
    return Drawn(f"loop-{answer.name}", title, caption, figure, len(answer.tries), "experiment")


def loop_gains(asked: Question, answers: Sequence[LoopAnswer] = ()) -> Drawn | None:
    """Return gain against noise, a row per loop; by default of those that gained beyond noise."""
    chosen = answers or [
        one
        for one in loop_queries.ordered(asked.ask(loop_queries.loops), "gain")
        if one.gain_class is loop_queries.GainClass.BEYOND
    ]
    known = [one for one in chosen if one.improvements and one.gain_ratio and one.log_noise]
    drawn = sorted(known, key=lambda one: -(one.gain_ratio or 0))[:MOST_LOOPS]
    if len(drawn) < 2:
        return None
    about = "Grey: noise of the benchmark; dot: gain; both as logarithms of ratios."
    about += f" The {len(drawn)} largest of {len(known):,}." if len(drawn) < len(known) else ""
    title = loop_html.gains_title(drawn)
    return Drawn("loops", title, about, loops.gains(drawn, asked.page), len(drawn), "loop")


def month_so_far(asked: Question, found: Months | None = None) -> Drawn | None:
    """Return the money of a month added up against its budgets, by default of the last month."""
    found = found or asked.ask(month_queries.months, asked.filters, "project", "", asked.measure)
    budgeted = [row for row in found.days if not found.budgets or row.names[0] in found.budgets]
    spent_on = {row.month for row in budgeted if row.month and row.spend.usd}
    if len(spent_on) < 2 and not (found.budgets and spent_on):
        return None
    title, caption = month_words.spend_title(found)
    figure = spending.month_so_far(found, asked.page)
    return asked.drawn(f"spend-{found.month}", title, caption, figure, len(spent_on), "day")


def wall_time(asked: Question) -> Drawn | None:
    """Return how long runs took, with the finding of the screen on time."""
    return time_per_run(asked, costs.time_title(asked.ask(cost_queries.times, asked.filters)))


@dataclass(frozen=True)
class Chart:
    """One chart: its name on the command line, what it shows, and the function that draws it.

    The function returns None if there is nothing to draw.

    `needs` is the noun of what `--of` names.
    """

    name: str
    about: str
    draw: Callable[..., Drawn | None]
    needs: str = ""


CHARTS = {
    one.name: one
    for one in (
        Chart("cost-per-run", "what each run cost, by agent and model", cost_per_run),
        Chart("time-per-run", "how long each run took, by agent and model", time_per_run),
        Chart(
            "measured-ranks", "measured speedups of all comparable results in order", measured_ranks
        ),
        Chart("claims", "claimed speedups, by agent and model", claims),
        Chart(
            "claimed-beside-measured",
            "claimed and measured speedups, a column per run",
            claimed_beside_measured,
        ),
        Chart(
            "cost-and-success",
            "cost of a run against measured values, else the share of successful ones",
            cost_and_success,
        ),
        Chart("month", "spend of a month added up, against its budgets", month_so_far),
        Chart("usage", "cost or tokens per day, by model", usage_over_time),
        Chart("spend-per-day", "what each of the last 30 days cost, by project", spend_per_day),
        Chart("compare", "cost, time and turns of two groups on the same tasks", compared),
        Chart("session", "context and cost of one run, response by response", session, "run"),
        Chart("session-lanes", "one run and its sub-agents along time", session_lanes, "run"),
        Chart("loop", "the experiments of one optimization loop", loop, "loop"),
        Chart("loops", "gain against noise, a row per optimization loop", loop_gains),
    )
}
