"""Answers about optimization loops: a row per loop, or per experiment of one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa

from app.queries import Rows
from app.queries import loops as loop_queries
from app.queries.loops import LoopAnswer, Try, summary
from app.text.answers import Answer, heading
from app.text.loops import NO_LOOPS, about, heading_of
from ingest.store.database import Store
from schemas.catalogue.columns import EXPERIMENTS, LOOPS
from schemas.errors import UsageError
from schemas.rows.loop import CostBasis, ExperimentRow
from schemas.rows.tables import arrow_schema
from schemas.text import did_you_mean, one_line, plural
from schemas.units import Unit

LOOPS_KEPT = ("name", "loop", "gain_ratio", "gain_verdict", "improvements", "cost_usd")
LOOPS_SHOWN = (
    *LOOPS_KEPT,
    "cost_per_improvement",
    "usd_per_percent",
    "experiments",
    "state",
    "beyond_noise",
    "noise",
    "metric",
    "baseline",
    "best",
    "kept",
    "crashed",
    "last_at",
    "log",
)
EXPERIMENTS_KEPT = ("experiment_no", "state", "value", "step_pct", "verdict", "cost_usd", "tried")
EXPERIMENTS_SHOWN = (
    *EXPERIMENTS_KEPT,
    "label",
    "running_best",
    "at",
    "commit",
    "tokens",
    "evidence",
    "run_id",
)

TRIED_CHARACTERS = 100

_BOUNDS = (CostBasis.UPPER_BOUND, CostBasis.LOWER_BOUND)
_SIGNED = (
    "cost_usd_bounds",
    "cost_per_improvement_bounds",
    "cost_all_per_improvement_bounds",
    "usd_per_percent_bounds",
)
"""Columns that put a sign before a cost which is a bound."""

_USD = pa.decimal128(18, 9)
_TYPES = {
    Unit.COUNT: pa.int64(),
    Unit.TOKENS: pa.int64(),
    Unit.USD: _USD,
    Unit.TIME: pa.timestamp("us", tz="UTC"),
    Unit.TEXT: pa.string(),
}
"""Unit of a column → its type; others are floats."""
_STORED = {field.name: field.type for field in arrow_schema(ExperimentRow)} | {
    "is_improvement": pa.bool_(),
    "notes": pa.list_(pa.string()),
}


def loops(store: Store, limit: int | None = None, sort: str = "gain") -> Answer:
    """Return every loop with what it brought and cost, in one of ORDERS. Raises StoreError."""
    answers, order = (
        loop_queries.ordered(loop_queries.loops(store), sort),
        loop_queries.ORDERS[sort],
    )
    about, note = heading(plural(len(answers), "loop"), store.location), "" if answers else NO_LOOPS
    kept: tuple[str, ...] = LOOPS_KEPT
    if order.column not in (*LOOPS_KEPT, "last_at"):
        kept = tuple(order.column if key == "improvements" else key for key in LOOPS_KEPT)
    machines = ("cost_machine_usd", "cost_all_per_improvement")
    has_machines = any(one.costs.machine_usd is not None for one in answers)
    shown = tuple(dict.fromkeys((*kept, *(machines if has_machines else ()), *LOOPS_SHOWN)))
    return Answer(
        loops_table(answers), about, shown, of=LOOPS, kept=kept, note=note, order=order.first
    ).first(limit)


def experiments(store: Store, text: str, limit: int | None = None) -> Answer:
    """Return the experiments of the loop that a text names, and what is to be known about it.

    Raises StoreError, UsageError.
    """
    answer = the_loop(store, text)
    table = experiments_table(answer)
    available = table.num_rows
    return Answer(
        table if limit is None else table.slice(max(0, available - limit)),
        heading(heading_of(answer), store.location),
        EXPERIMENTS_SHOWN,
        of=EXPERIMENTS,
        kept=EXPERIMENTS_KEPT,
        note="\n".join(about(answer)),
        available=available,
        order=f"last {{}} of {plural(available, 'experiment')}",
    )


def the_loop(store: Store, text: str) -> LoopAnswer:
    """Return the loop that a text names by its id, name or log.

    Raises StoreError, and UsageError for none or several.
    """
    answers = loop_queries.loops(store)
    found = loop_queries.chosen(answers, text)
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{one.row['loop_id']} ({one.name})" for one in (found or answers)[:8])
    if found:
        raise UsageError(f"{text!r} names {len(found)} loops.", f"Use an id: {listed}.")
    near = did_you_mean(
        text, [one.row["loop_id"] for one in answers] + [one.name for one in answers]
    )
    raise UsageError(
        f"there is no loop {text!r}.", f"{near}{f'Loops: {listed}.' if listed else NO_LOOPS}"
    )


def loop_row(answer: LoopAnswer) -> dict[str, Any]:
    """Return the row of a loop, by the keys of LOOPS."""
    noise, costs = answer.noise, answer.costs
    row = summary(answer) | {
        "gain_after_luck_pct": answer.gain_after_luck_pct,
        "noise_after_tries": noise.step(answer.measured) if noise and noise.is_log else None,
        "noise_from": noise and noise.source,
        **dict.fromkeys(_SIGNED, costs.basis if costs.basis in _BOUNDS else None),
        "cost_logged_usd": costs.reported_usd,
        "cost_logged_basis": costs.reported_basis,
        "why_no_sessions": costs.why_not,
        **{
            key: answer.row[key]
            for key in ("format", "better_from", "segment", "notes", "first_at")
        },
    }
    return {key: row[key] for key in (*LOOPS, *_SIGNED)}


def experiment_row(one: Try) -> dict[str, Any]:
    """Return the row of an experiment, by the keys of EXPERIMENTS."""
    text = one_line(one.row["description"] or "")
    derived = {
        "tried": text if len(text) <= TRIED_CHARACTERS else f"{text[: TRIED_CHARACTERS - 1]}…",
        "is_improvement": one.is_improvement,
        "step_pct": one.step_pct,
        "verdict": one.verdict,
        "running_best": one.running_best,
        "cost_usd": one.cost_usd,
        "tokens": one.tokens,
        "run_id": one.run_id,
        "evidence": one.evidence,
    }
    return {key: derived[key] if key in derived else one.row[key] for key in EXPERIMENTS}


def loops_table(answers: list[LoopAnswer]) -> pa.Table:
    return _table([loop_row(one) for one in answers], [*LOOPS, *_SIGNED])


def experiments_table(answer: LoopAnswer) -> pa.Table:
    return _table([experiment_row(one) for one in answer.tries], list(EXPERIMENTS))


def _type(key: str) -> pa.DataType:
    if key in _STORED:
        return _STORED[key]
    entry = LOOPS.get(key) or EXPERIMENTS.get(key)
    return _TYPES.get(entry.unit, pa.float64()) if entry else pa.string()


def _table(rows: Rows, keys: list[str]) -> pa.Table:
    columns = {}
    for key in keys:
        type_, values = _type(key), [row[key] for row in rows]
        if type_ == _USD:
            values = [
                value if value is None else Decimal(value).quantize(Decimal("1e-9"))
                for value in values
            ]
        elif type_ == pa.string():
            values = [value if value is None else str(value) for value in values]
        columns[key] = pa.array(values, type_)
    return pa.table(columns)
