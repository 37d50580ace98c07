"""The table of agents and its figures in words, for screens, reports and charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.queries.agents import ENOUGH, AgentFigures
from app.queries.filters import Filters
from app.queries.grouping import EFFORT, SIDES
from app.queries.measured import Range
from app.queries.rules import OwnRule
from app.queries.spending import Spend
from app.text.formatting import (
    FEWEST_RUNS,
    NOT_MEASURED,
    UNKNOWN,
    duration,
    model_name,
    percent,
    ratio,
    usd,
)
from app.text.html_parts import MEASURED, OUTCOMES, Segment, legend, link
from app.text.table import Col, TextCell, TextTable, agent_cell, money_cell
from schemas.text import agreeing, plural
from schemas.units import Unit

SIDE_NAMES = dict(zip(SIDES, ("Agent, model", "Effort"), strict=True))
SIDE_HEADS = SIDE_NAMES | {EFFORT: "Agent, model, effort"}
"""Words of the choice of SIDES, and heads of their columns."""


def median_cost(row: AgentFigures) -> TextCell:
    """Return the median cost of a run if at least ENOUGH runs have one."""
    middle = row.cost.median
    if row.cost.known < ENOUGH or middle is None:
        return TextCell(UNKNOWN)
    return TextCell(usd(middle, row.median_bounds), number=(middle, Unit.USD))


def median_or_range(values: Range, write: Callable[[Any], str]) -> tuple[str, str]:
    """Return the median, or the range and `n` if there are fewer than ENOUGH values.

    `3m 04s`, `4m 10s–14m 02s` · `n 4`.
    """
    if not values.known:
        return UNKNOWN, ""
    low, middle, high = (write(value or 0.0) for value in (values.low, values.median, values.high))
    if values.known >= ENOUGH:
        return middle, ""
    return (low if low == high else f"{low}–{high}"), f"n {values.known}"


def range_words(values: Range, write: Callable[[Any], str]) -> str:
    """Return `a median of 1.80×`, or the range of few values: `1.50×–3.00×`."""
    written, few = median_or_range(values, write)
    return written if few else f"a median of {written}"


def agent_table(
    rows: Sequence[AgentFigures], filters: Filters, own: OwnRule | None = None
) -> TextTable:
    """Return agents and models as a table without empty columns.

    The rows are from `app.queries.agents.shown_rows`. `own`: scores by a benchmark's own rule,
    instead of the measured results.
    """

    def name(row: AgentFigures) -> TextCell:
        of_agent = filters.with_values("agent", [row.agent]) if row.agent else filters
        if row.is_model:
            name = model_name(row.model, effort=row.shown_effort)
            if row.model is None:
                return TextCell(name, kind="t-n")
            chosen = of_agent.with_values("main-model", [row.model])
            chosen = chosen.with_values(EFFORT, [row.effort]) if row.effort else chosen
            return TextCell(name, address=link("", chosen), kind="t-plain", hint=row.model)
        parts = [one for one in rows if one.is_model and one.agent == row.agent]
        models = model_name(row.model)
        if named := {one.model for one in parts} - {None}:
            models = plural(len(named), "model")
        elif row.model and row.models > 1:
            models += f", +{row.models - 1}"
        return agent_cell(row.agent, models, filters, row.model or "")

    def cost(row: AgentFigures) -> TextCell:
        return money_cell(Spend(row.cost_usd, row.bounds, row.started, row.cost.known), UNKNOWN)

    def claimed(row: AgentFigures) -> TextCell:
        value, few = median_or_range(row.claimed, ratio)
        return TextCell(value, few or (f"n {row.claimed.known:,}" if row.claimed.known else ""))

    is_measured = any(row.runs_measured for row in rows)
    is_by_effort = any(row.effort is not None for row in rows)
    shown = (
        Col(SIDE_HEADS[EFFORT if is_by_effort else "agent"], name),
        Col(
            "Started",
            lambda row: TextCell(
                f"{row.started:,}",
                f"of {row.runs:,}" if row.never_started else "",
                number=(row.started, Unit.COUNT),
            ),
            "r",
        ),
        Col("Completed\n(of started)", _outcome),
        Col("Cost", cost, "r"),
        Col("per run\n(median)", median_cost, "r"),
        Col("Wall time\n(completed)", _wall, "r"),
        *(() if is_measured else (Col("Claimed\n(median)", claimed, "r"),)),
        *(_by_own_rule(own, rows) if own else _STRICT),
    )
    return TextTable(shown, rows, lambda row: "m" if row.is_model else "").filled


def _by_own_rule(own: OwnRule, rows: Sequence[AgentFigures]) -> tuple[Col, Col]:
    """Return the columns of scores by a benchmark's own rule."""

    def succeeded(row: AgentFigures) -> TextCell:
        if any(one.is_model and one.agent == row.agent for one in rows if not row.is_model):
            return TextCell("see its models", kind="t-n")
        score = own.of(row)
        if score is None:
            return TextCell(NOT_MEASURED)
        of = f" of {plural(score.tasks, 'task')}"
        if not own.is_share:
            return TextCell(of, strong=ratio(score.score))
        share = f" · {percent(score.score)}" if score.tasks >= FEWEST_RUNS else ""
        bar = [
            Segment("faster", score.successes, "succeeded"),
            Segment("same", score.tasks - score.successes, "did not succeed"),
        ]
        return TextCell(f"{of}{share}", strong=f"{score.successes:,}", bar=bar)

    def each(row: AgentFigures) -> TextCell:
        score = own.of(row)
        is_known = score and score.usd_per_success is not None
        return TextCell(usd(score.usd_per_success, score.bounds) if is_known and score else UNKNOWN)

    return Col(f"Succeeded, {own.study}'s rule", succeeded), Col("Cost per\nsuccess", each, "r")


def _wall(row: AgentFigures) -> TextCell:
    value, few = median_or_range(row.wall, duration)
    if few:
        return TextCell(value, plural(row.wall.known, "run"))
    return TextCell(value, number=(row.wall.median, Unit.MILLISECONDS))


def agent_legend(rows: Sequence[AgentFigures], own: OwnRule | None = None) -> str:
    """Return the legend of the table's bars: outcomes and measurements that occur."""
    agents = [row for row in rows if not row.is_model]
    measured = [_measured_counts(row) for row in agents]
    second = (
        "Measured",
        [one for one in MEASURED.items() if any(row[one[0]] for row in measured)],
    )
    if own:
        second = (
            "Succeeded",
            [("faster", own.succeeds), ("same", "not")] if own.is_share else [],
        )
    return legend(
        (
            "Completed",
            [one for one in OUTCOMES.items() if any(getattr(row, one[0]) for row in agents)],
        ),
        second,
    )


def _outcome(row: AgentFigures) -> TextCell:
    """Return the completed ones of the started runs: `178 · 100%`, `1 of 1 known`, `6 of 17`."""
    bar = [Segment(kind, getattr(row, kind), label) for kind, label in OUTCOMES.items()]
    if not row.started:
        return TextCell("none started" if row.runs else "none ended", bar=bar)
    if not row.known_ends:
        return TextCell("ends not recorded", kind="t-n", bar=bar)
    if row.unknown_ends:
        ended = f" of {row.known_ends:,} known"
    elif row.started < FEWEST_RUNS:
        ended = f" of {row.started:,}"
    else:
        ended = f" · {percent(row.completed / row.started)}"
    return TextCell(ended, strong=f"{row.completed:,}", bar=bar)


def measured_cell(row: AgentFigures) -> TextCell:
    """Return `1 beyond noise · 11 once · 52 same · 7 slower · 2 break`.

    Without a comparable result `none of 96 comparable · 9 break`.
    """
    if not row.runs_measured:
        return TextCell(NOT_MEASURED)
    counts = _measured_counts(row)
    bar = [Segment(kind, counts[kind], label) for kind, label in MEASURED.items()]
    breaks = row.measured["breaks"]
    broken = [f"{breaks:,} {agreeing(breaks, 'breaks')}"] if breaks else []
    if not row.comparable:
        return TextCell(" · ".join([f"none of {row.runs_measured:,} comparable", *broken]), bar=bar)
    words = [
        f"{counts[kind]:,} {word}"
        for kind, word in (
            ("faster", "beyond noise"),
            ("once", "once"),
            ("same", "same"),
            ("inside_noise", "inside noise"),
            ("slower", "slower"),
        )
        if counts[kind]
    ]
    strong, _, rest = " · ".join([*words, *broken]).partition(" ")
    return TextCell(f" {rest}", strong=strong, bar=bar)


def _measured_counts(row: AgentFigures) -> dict[str, int]:
    own = ("faster", "same", "inside_noise", "slower", "breaks", "machine")
    return {key: row.measured[key] for key in own} | {
        "faster": row.beyond_noise,
        "once": row.faster - row.beyond_noise,
        "uncompared": row.runs_measured - sum(row.measured[key] for key in own),
    }


def _per_faster(row: AgentFigures) -> TextCell | str:
    each = row.cost_per_faster_usd
    if each is None:
        return UNKNOWN
    return TextCell(strong=usd(each, row.bounds), number=(each, Unit.USD))


_STRICT = Col("Measured, strict", measured_cell), Col("Cost per\nfaster task", _per_faster, "r")


def disputed_words(faster: int, disputed: int, not_by_median: int) -> str:
    """Return how many of the runs measured faster are not so by other values, "" for none.

    `8 of the 12 measured faster are not so by every value of the measurement; 4 not by the median.`
    """
    if not disputed:
        return ""
    if faster == 1:
        value = "the median" if not_by_median else "every value of the measurement"
        return f"The one measured faster is not so by {value}."
    median = f"; {not_by_median:,} not by the median" if not_by_median else ""
    are = f"{disputed:,} of the {faster:,} measured faster {agreeing(disputed, 'is')} not so"
    return f"{are} by every value of the measurement{median}."
