"""The tables of Cost & time as HTML: cost by month, list prices against reports, wall times, slow runs and budgets. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

from app.queries.agents import ENOUGH
from app.queries.cost import ENOUGH_TO_JUDGE, ListPrice, MonthCost, Times
from app.queries.filters import Filters
from app.text import brief, html_parts
from app.text.html_parts import agent_link, anchor, muted
from schemas.rows.cost import CAUSES, CostCause

NO_DATE = "no date"


def month_table(rows: Sequence[MonthCost], filters: Filters) -> str:
    """What runs cost by month, agent and model, with the running total; runs without a date come last."""
    head = [("", "Month"), ("", "Agent, model"), ("r w", "Runs"), ("r", "Cost"), ("r", "Running total")]
    made = []
    for month, of_month in groupby(rows, key=lambda row: row.month):
        mine = list(of_month)
        for row in mine:
            cost = muted(brief.NOT_RECORDED) if row.cost_usd is None else brief.usd(row.cost_usd, row.bounds)
            partly = f" {muted(f'{row.known:,} of {row.started:,}')}" if row.cost_usd is not None and row.known < row.started else ""
            total = brief.NO_VALUE if row.total_usd is None else brief.usd(row.total_usd, row.total_bounds)
            made.append(
                (
                    "first" if row is mine[0] else "",
                    [
                        f"<b>{month or NO_DATE}</b>" if row is mine[0] else "",
                        agent_link(row.agent, row.model, filters), f"{row.started:,}",
                        f"{cost}{partly}", f"<b>{total}</b>" if row is mine[-1] else muted(total),
                    ],
                )
            )  # fmt: skip
    return f'<div class="t-scroll t-tall">{html_parts.table(head, made, kind="t-months")}</div>'


def price_table(rows: Sequence[ListPrice], filters: Filters) -> str:
    """Reported against list-price cost of the runs that have both, with the causes of the difference, by agent and model."""
    head = [
        ("", "Agent, model"),
        ("r w", "Runs with both"),
        ("r", "Reported"),
        ("r", "At list prices"),
        ("r", "Difference"),
        ("", "Because"),
    ]
    head += [("r", "Saved by caching")]
    made = []
    for (agent, model), of_one in groupby(rows, key=lambda row: (row.agent, row.model)):
        mine = list(of_one)
        reported, listed, delta = (
            sum((getattr(row, key) for row in mine), Decimal(0)) for key in ("reported_usd", "list_usd", "delta_usd")
        )
        saved = [row.saved_usd for row in mine if row.saved_usd is not None]
        causes = [row for row in mine if row.delta_usd]
        why = "; ".join(_cause(row, is_only=len(causes) == 1) for row in causes[:3]) or "the same prices"
        share = f" {muted(f'{_sign(delta)}{abs(delta) / reported:.0%}')}" if delta and reported else ""
        difference = f"{_sign(delta)}{brief.usd(abs(delta))}{share}" if delta else "none"
        made.append(
            (
                "",
                [
                    agent_link(agent, model, filters), f"{sum(row.runs for row in mine):,}", brief.usd(reported), brief.usd(listed),
                    difference, why, brief.usd(sum(saved, Decimal(0))) if saved else brief.NO_VALUE,
                ],
            )
        )  # fmt: skip
    return f'<div class="t-scroll">{html_parts.table(head, made)}</div>'


def _cause(row: ListPrice, *, is_only: bool) -> str:
    word = CAUSES[CostCause(row.cause)] if row.cause else None
    label = f'<span title="{html_parts.text(word.meaning)}">{html_parts.text(word.label)}</span>' if word else "unknown"
    return label if is_only else f"{label} {muted(f'{_sign(row.delta_usd)}{brief.usd(abs(row.delta_usd))}')}"


def _sign(amount: Decimal) -> str:
    return "+" if amount > 0 else "−"


def time_table(rows: Sequence[Times], filters: Filters) -> str:
    """Wall times by agent and model: median and p90 of completed runs, all hours, and those of runs that did not complete."""
    head = [
        ("", "Agent, model"), ("r w", "Runs<br>started"), ("r", "Wall time<br>(completed, median)"), ("r", "p90"), ("r w", "longest"),
        ("r", "All runs"),
        ("r", "in runs that did<br>not complete"), ("r", "API ÷ wall time<br>(median)"),
    ]  # fmt: skip
    made = []
    for row in (row for row in rows if row.started):
        name = "All" if row.is_all else agent_link(row.agent, row.model, filters)
        timed = 0 if row.is_all else row.timed  # a median over different agents says nothing
        n = muted(f"n {timed:,}")
        of = muted(f"{row.known:,} of {row.started:,}") if row.known < row.started else ""
        lost = muted(f"{row.lost:,} runs" if row.lost > 1 else "one run")
        is_parallel = not row.is_all and row.parallelism is not None and row.parallel >= ENOUGH
        cells = [
            name,
            f"{row.started:,}",
            f"{brief.duration(row.median or 0)} {n}" if timed >= ENOUGH else n if timed else brief.NO_VALUE,
            brief.duration(row.p90 or 0) if timed >= ENOUGH_TO_JUDGE else brief.NO_VALUE,
            brief.duration(row.longest or 0) if timed else brief.NO_VALUE,
            muted(brief.NOT_RECORDED) if row.wall_ms is None else f"{brief.duration(row.wall_ms)} {of}",
            f"{brief.duration(row.lost_ms)} {lost}" if row.lost_ms else brief.NO_VALUE,
            f"{row.parallelism:.2f}" if is_parallel else brief.NO_VALUE,
        ]
        made.append(("sum" if row.is_all else "", cells))
    made = [*made[1:], made[0]] if len(made) > 2 else made[1:]
    return f'<div class="t-scroll">{html_parts.table(head, made)}</div>'


def slow_table(rows: Sequence[Mapping[str, Any]], filters: Filters) -> str:
    """Completed runs that took far longer than others of their agent and model."""
    head = [("", "Run"), ("", "Agent, model"), ("r", "Wall time"), ("r", "Times the median"), ("r", "Median"), ("r", "of runs")]
    made = [
        (
            "",
            [
                anchor(html_parts.link("run", filters, run=row["run_id"]), html_parts.text(row["title"]), kind="t-link"),
                agent_link(row["agent"], row["model"], filters), brief.duration(row["duration_ms"]), f"{row['times_usual']:.1f}×",
                brief.duration(row["usual"]), f"{row['judged_by']:,}",
            ],
        )
        for row in rows
    ]  # fmt: skip
    return f'<div class="t-scroll">{html_parts.table(head, made)}</div>'


def budget_table(verdicts: Sequence[Mapping[str, str]]) -> str:
    """Budgets with what was found, what is allowed and the verdict; `verdicts` are those of `app.reports.budgets.cells`."""
    head = [("", "Budget"), ("r", "Found"), ("r", "Allowed"), ("", "Verdict"), ("", "")]
    rows = []
    for one in verdicts:
        kind = {"PASS": "t-good", "FAIL": "t-bad"}.get(one["verdict"], "t-n")
        rows.append(
            (
                "",
                [
                    *(html_parts.text(one[key]) for key in ("limit", "found", "allowed")),
                    f'<b class="{kind}">{one["verdict"]}</b>',
                    muted(one["note"]),
                ],
            )
        )
    return f'<div class="t-scroll">{html_parts.table(head, rows)}</div>'
