"""Sentences and tables of Cost & time, and notes on missing costs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING

from app.queries import Row
from app.queries.agents import ENOUGH
from app.queries.cost import ENOUGH_TO_JUDGE, ListPrice, Times
from app.queries.filters import Filters
from app.queries.runs import KNOWN_SUFFIX
from app.text.answers import whole_runs_words
from app.text.columns import columns
from app.text.formatting import (
    MINUS,
    NOT_RECORDED,
    UNKNOWN,
    bound_words,
    duration,
    percent,
    ratio,
    short,
    usd,
)
from app.text.html_parts import agent_and_model
from app.text.sentences import Said, joined, spelled
from app.text.table import (
    Col,
    TextCell,
    TextTable,
    agent_and_model_cell,
    run_cell,
)
from schemas.catalogue.columns import GROUPS
from schemas.catalogue.cost_measures import ALL_IN, BEST, LIST, REPORTED, CostMeasure
from schemas.catalogue.usage import USAGE, WHOLE_RUNS
from schemas.rows.cost import CAUSES, CostCause
from schemas.text import join_known, plural
from schemas.units import Unit

if TYPE_CHECKING:
    from app.queries.comparison import CohortTotals, TwoTotals
    from app.queries.usage import UsageTable


TOKEN_CLASSES = {
    key: GROUPS[key].label
    for key in ("cache_read_tokens", "cache_write_tokens", "input_tokens", "output_tokens")
}
"""Classes of tokens with their labels in charts, most frequent first."""

NAMED = 3


def missing_costs(facts: Row, measure: CostMeasure) -> str:
    """Return a sentence with the number of runs without a cost by this measure.

    "" if all runs have one. `facts`: COST_FACTS of the runs.

    Example: "25 of 51 runs report no cost; at list prices they cost $18.26 (6 of them, incl. $18.12
    upper bounds)."
    """
    of = facts["runs"]
    runs = facts[measure.lacks]
    is_one = runs == 1
    subject = (
        f"{runs:,} of {plural(of, 'run')}"
        if runs < of
        else plural(runs, "run")
        if is_one
        else f"All {of:,} runs"
    )
    if measure is BEST:
        verb = "has" if is_one else "have"
        return (
            (
                f"{subject} {verb} no known cost: neither a reported one nor a list price for "
                "their tokens."
            )
            if runs
            else ""
        )
    if measure is ALL_IN:
        verb = "has" if is_one else "have"
        lacks = "the best-known cost, the wall time or the machine's rate"
        return f"{subject} {verb} no all-in cost: {lacks} is not known." if runs else ""
    if measure is REPORTED:
        if not runs:
            return ""
        said, priced = (
            f"{subject} {'reports' if is_one else 'report'} no cost",
            facts[f"unreported_list_usd{KNOWN_SUFFIX}"],
        )
        if not priced:
            return f"{said}."
        details = join_known(
            ", ", f"{priced:,} of them" if priced < runs else "", bounds_note(facts)
        )
        cost = (
            f"at list prices {'it costs' if is_one else 'they cost'} "
            f"{usd(facts['unreported_list_usd'])}"
        )
        return f"{said}; {cost}{f' ({details})' if details else ''}."
    said = (
        "No run reports a cost: cost is at list prices." if facts["unreported_runs"] == of else ""
    )
    if not runs:
        return said
    unpriced, reported = facts["unpriced_runs"], facts["unlisted_cost_usd"]
    why = f"no tokens in the log ({runs - unpriced:,}), or unpriced ({unpriced:,})"
    if unpriced in (0, runs):
        why = "unpriced" if unpriced else "no tokens in the log"
    more = f"; {'it reports' if is_one else 'they report'} {usd(reported)}" if reported else ""
    return (
        f"{said} {subject} {'has' if is_one else 'have'} no list-price cost: {why}{more}.".strip()
    )


def bounded_by(measure: CostMeasure) -> tuple[str, str]:
    """Return the metrics for the bounded part of the cost by the measure: its amount and its kinds.

    Reported cost uses list prices.
    """
    return {
        BEST: ("bounded_best_usd", "cost_best_bounds"),
        ALL_IN: ("bounded_all_usd", "cost_all_bounds"),
    }.get(measure, ("bounded_list_usd", "token_bounds"))


def bounds_sentence(facts: Row, measure: CostMeasure = LIST) -> str:
    """Return `$290.18 of the list-price cost are upper bounds (71 runs).`; "" if all are exact."""
    part, kinds = bounded_by(measure)
    if facts[part] is None:
        return ""
    name, runs = (
        (LIST if measure is REPORTED else measure).name,
        plural(facts[f"{part}{KNOWN_SUFFIX}"], "run"),
    )
    return f"{usd(facts[part])} of the {name} are {bound_words(facts[kinds])} ({runs})."


def bounds_note(facts: Row, measure: CostMeasure = LIST) -> str:
    """Return the bounds as the note of a card: `incl. $290.18 upper bounds`."""
    part, kinds = bounded_by(measure)
    bounded = facts.get(part)
    return "" if bounded is None else f"incl. {usd(bounded)} {bound_words(facts[kinds])}"


def partly_priced(listed: Decimal | None, facts: Row) -> str:
    """Return a note on list prices in a list of models that totals of runs leave out.

    Their runs have another model without a price.
    """
    more = (listed or Decimal(0)) - (facts["cost_list_usd"] or Decimal(0))
    why = "of it are of runs with another model without a price; totals of runs leave them out."
    return f"{usd(more)} {why}" if more > 0 else ""


def base_words(row: Row) -> str:
    """Return `vs. $487.02 reported, 415 runs`."""
    return (
        f"vs. {usd(row['cost_compared_usd'])} reported, "
        f"{plural(int(row[f'cost_compared_usd{KNOWN_SUFFIX}']), 'run')}"
    )


def totals_words(found: TwoTotals) -> str:
    """Return the sentence about two cohorts.

    Example: "4 runs cost $2.36, +18% vs. $2.00 of 4 runs in the baseline; 2 measured faster, 1 in
    the baseline."
    """

    def cost(totals: CohortTotals) -> str:
        partly = (
            f" (known for {totals.known:,} of {totals.runs:,})"
            if 0 < totals.known < totals.runs
            else ""
        )
        return usd(totals.cost_usd, totals.bounds) + partly

    before, after = found.baseline, found.candidate
    change = (
        ""
        if found.change is None
        else f", {'+' if found.change >= 0 else MINUS}{short(abs(found.change), Unit.SHARE)}"
    )
    said = (
        f"{plural(after.runs, 'run')} cost "
        f"{cost(after)}{' at list prices' if found.measure is LIST else ''}{change}"
    )
    said += f" vs. {cost(before)} of {plural(before.runs, 'run')} in the baseline"
    if before.faster is None and after.faster is None:
        return f"{said}."
    faster = "not measured" if after.faster is None else f"{after.faster:,} measured faster"
    was = "not measured" if before.faster is None else f"{before.faster:,}"
    return f"{said}; {faster}, {was} in the baseline."


def time(rows: Sequence[Times], tasks: int = 0) -> Said:
    """Return the total time and the largest shares of it.

    `rows`: those of `app.queries.cost.times`.
    """
    total, parts = rows[0], [row for row in rows[1:] if row.known]
    of_tasks = f" of {plural(tasks, 'task')}" if tasks else ""
    covers = (
        f"**{plural(total.runs, 'run')}**{of_tasks} · {total.started:,} started · wall time "
        f"known for **{total.known:,}**"
    )
    covers += f" · completed **{total.completed:,}**"
    if not total.started:
        none = (
            "None of these runs started, so **none took any time**."
            if total.runs > 1
            else "The run **never started**."
        )
        return Said(none, "", covers)
    if not parts or total.wall_ms is None:
        return Said(
            f"How long {spelled(total.started, 'run')} took is **not recorded**.", "", covers
        )
    first = parts[0]
    whole, name = duration(total.wall_ms), agent_and_model(first.agent, first.model)
    if len(parts) == 1:
        usual = (
            f"; a completed one takes {duration(first.median or 0)} in the median"
            if first.timed >= ENOUGH
            else ""
        )
        heading = f"{spelled(first.known, 'run').capitalize()} of {name} took **{whole}**{usual}."
    elif total.known == total.started and (first.wall_ms or 0) > (parts[1].wall_ms or 0):
        part = percent((first.wall_ms or 0) / total.wall_ms)
        heading = (
            f"{name} took **{duration(first.wall_ms or 0)}, {part}** of the {whole} that "
            "all runs took."
        )
    else:
        named = [
            f"{duration(row.wall_ms or 0)} by {agent_and_model(row.agent, row.model)}"
            for row in parts[:NAMED]
        ]
        if rest := parts[NAMED:]:
            named.append(
                f"{duration(sum(row.wall_ms or 0 for row in rest))} by "
                f"{spelled(len(rest), 'other')}"
            )
        partly = "" if total.known == total.started else " as far as is known"
        heading = (
            f"{spelled(total.known, 'run').capitalize()} took **{whole}**{partly}: {joined(named)}."
        )
    lost = (
        (
            f"{duration(total.lost_ms)} of it went into {plural(total.lost, 'run')} that "
            "did not complete."
        )
        if total.lost_ms
        else ""
    )
    return Said(heading, lost, covers)


def time_title(rows: Sequence[Times]) -> str:
    """Return the usual times of completed runs of the agent with the most of them.

    Example: `Half of the completed runs of TRAE take up to 3m 04s, nine in ten up to 4m 15s`.
    """
    known = [row for row in rows if not row.is_all and row.timed >= 2 * ENOUGH]
    if not known:
        return "How long a run takes"
    most = max(known, key=lambda row: row.timed)
    half, nine = duration(most.median or 0), duration(most.p90 or 0)
    return (
        f"Half of the completed runs of {agent_and_model(most.agent, most.model)} take up to "
        f"{half}, nine in ten up to {nine}"
    )


def list_title(rows: Sequence[ListPrice]) -> str:
    """Return `At list prices, 179 runs cost $169.23, $15.08 more than reported`."""
    listed, delta, runs = (
        sum(row.list_usd for row in rows),
        sum(row.delta_usd for row in rows),
        sum(row.runs for row in rows),
    )
    way = (
        f"{usd(abs(delta))} {'more' if delta > 0 else 'less'} than reported"
        if delta
        else "as reported"
    )
    return f"At list prices, {spelled(runs, 'run')} cost {usd(listed)}, {way}"


def sessions(used: UsageTable) -> Said:
    """Return sessions, billed responses, what they cost and their tokens in a sentence.

    Example: `12 sessions made 4,321 billed responses: **≥ $176.20** for ≥ 310M tokens.`
    """
    [total] = used.total.to_pylist()
    figures = {one.name: one.text(total) for one in columns(used.total, USAGE)}
    sessions, made = (
        plural(total["sessions"], "session"),
        plural(total["responses"], "billed response"),
    )
    is_known = total["cost_best_usd"] is not None
    price = f"**{figures['cost_best_usd']}**" if is_known else "at prices that are not known,"
    covers, whole = "each response at its own time (UTC)", whole_runs_words(total[WHOLE_RUNS])
    if not total["responses"]:
        runs = f"{plural(total[WHOLE_RUNS], 'run')} without responses"
        cost = f"{runs} cost {price}" if is_known else f"What {runs} cost **is not recorded**,"
        heading = f"{cost} for {figures['total_tokens']} tokens."
        none = "None of these runs has billed responses of its own."
        return Said(heading if whole else none, "", whole and "a run counts when it ended (UTC)")
    covers = join_known(" · ", f"**{sessions}**", whole, covers)
    return Said(
        f"{sessions} made {made}: {price} for {figures['total_tokens']} tokens.", "", covers
    )


def price_table(rows: Sequence[ListPrice], filters: Filters) -> str:
    """Return reported against list-price cost of runs that have both, by agent and model.

    It includes the causes of the difference.
    """
    groups = [
        (agent, model, list(mine))
        for (agent, model), mine in groupby(rows, key=lambda row: (row.agent, row.model))
    ]

    def signed(amount: Decimal) -> str:
        return f"{'+' if amount > 0 else MINUS}{usd(abs(amount))}"

    def total(mine: Sequence[ListPrice], key: str) -> Decimal:
        return sum((getattr(row, key) for row in mine), Decimal(0))

    def difference(mine: Sequence[ListPrice]) -> TextCell | str:
        delta, reported = total(mine, "delta_usd"), total(mine, "reported_usd")
        if not delta:
            return "none"
        share = f"{signed(delta)[0]}{percent(abs(delta) / reported)}" if reported else ""
        return TextCell(signed(delta), share)

    def because(mine: Sequence[ListPrice]) -> TextCell:
        differing = [row for row in mine if row.delta_usd][:3]
        causes = [row.cause and CAUSES[CostCause(row.cause)] for row in differing]
        parts = [cause.label if cause else "unknown" for cause in causes]
        if len(parts) > 1:
            parts = [
                f"{label} {signed(row.delta_usd)}"
                for label, row in zip(parts, differing, strict=True)
            ]
        meanings = " ".join(cause.meaning for cause in causes if cause)
        return TextCell("; ".join(parts) or "the same prices", hint=meanings)

    def saved(mine: Sequence[ListPrice]) -> str:
        known = [row.saved_usd for row in mine if row.saved_usd is not None]
        return usd(sum(known, Decimal(0))) if known else UNKNOWN

    shown = (
        Col("Agent, model", lambda group: agent_and_model_cell(group[0], group[1], filters)),
        Col("Runs with both", lambda group: f"{sum(row.runs for row in group[2]):,}", "r w"),
        Col("Reported", lambda group: usd(total(group[2], "reported_usd")), "r"),
        Col("At list prices", lambda group: usd(total(group[2], "list_usd")), "r"),
        Col("Difference", lambda group: difference(group[2]), "r"),
        Col("Because", lambda group: because(group[2])),
        Col("Saved by caching", lambda group: saved(group[2]), "r"),
    )
    return TextTable(shown, groups).html()


def time_table(rows: Sequence[Times], filters: Filters) -> str:
    """Return wall times by agent and model.

    Median and p90 of completed runs, all hours, and those of runs that did not complete.
    """

    def timed(row: Times, write: str, least: int = 1) -> str:
        return (
            write if not row.is_all and row.timed >= least else UNKNOWN
        )  # a median over different agents says nothing

    def median(row: Times) -> TextCell | str:
        if row.is_all or not row.timed:
            return UNKNOWN
        return TextCell(
            duration(row.median or 0) if row.timed >= ENOUGH else "", f"n {row.timed:,}"
        )

    def all_runs(row: Times) -> TextCell:
        known = f"{row.known:,} of {row.started:,}" if row.known < row.started else ""
        if row.wall_ms is None:
            return TextCell(NOT_RECORDED)
        return TextCell(duration(row.wall_ms), known)

    def lost(row: Times) -> TextCell | str:
        if not row.lost_ms:
            return UNKNOWN
        return TextCell(duration(row.lost_ms), "one run" if row.lost == 1 else f"{row.lost:,} runs")

    def parallel(row: Times) -> str:
        is_enough = not row.is_all and row.parallelism is not None and row.parallel >= ENOUGH
        return f"{row.parallelism:.2f}" if is_enough else UNKNOWN

    shown = (
        Col(
            "Agent, model",
            lambda row: (
                "All" if row.is_all else agent_and_model_cell(row.agent, row.model, filters)
            ),
        ),
        Col("Runs\nstarted", lambda row: f"{row.started:,}", "r w"),
        Col("Wall time\n(completed, median)", median, "r"),
        Col("p90", lambda row: timed(row, duration(row.p90 or 0), ENOUGH_TO_JUDGE), "r"),
        Col("longest", lambda row: timed(row, duration(row.longest or 0)), "r w"),
        Col("All runs", all_runs, "r"),
        Col("in runs that did\nnot complete", lost, "r"),
        Col("API ÷ wall time\n(median)", parallel, "r"),
    )
    started = [row for row in rows if row.started]
    ordered = [*started[1:], started[0]] if len(started) > 2 else started[1:]
    return TextTable(shown, ordered, lambda row: "sum" if row.is_all else "").html()


def slow_table(rows: Sequence[Row], filters: Filters) -> str:
    """Return completed runs that took far longer than others of their agent and model."""
    shown = (
        Col("Run", lambda row: run_cell(row, filters)),
        Col("Agent, model", lambda row: agent_and_model_cell(row["agent"], row["model"], filters)),
        Col("Wall time", lambda row: duration(row["duration_ms"]), "r"),
        Col("Times the median", lambda row: ratio(row["times_usual"]), "r"),
        Col("Median", lambda row: duration(row["usual"]), "r"),
        Col("of runs", lambda row: f"{row['judged_by']:,}", "r"),
    )
    return TextTable(shown, rows).html()
