"""What the chosen measure of cost leaves out, and which bounds it includes: said wherever costs are added up. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa

from app.queries.runs import KNOWN_SUFFIX
from app.text.formatting import human
from schemas.catalogue.cost_measures import BEST, LIST, REPORTED, CostMeasure
from schemas.catalogue.cost_measures import BOUNDS as BOUND_COLUMNS
from schemas.text import plural
from schemas.units import Unit

BOUNDS = {"upper_bound": "upper bounds", "lower_bound": "lower bounds", "estimate": "estimates"}
"""Basis of a run's tokens → the words for its cost."""

Row = Mapping[str, Any]

_SIGNS = {"upper_bound": "≤ ", "lower_bound": "≥ "}


def bound_sign(row: Row, key: str, bounds: str | None = None) -> str:
    """`≤ ` before a list-price or best-known cost of a run, or a sum, with upper bounds; `≥ ` with lower, `≈ ` with both or estimates."""
    bases = bounds or next((row[name] for name in BOUND_COLUMNS.get(key, ()) if row.get(name)), "")
    return "" if row.get(key) is None else sign_of(bases)


def sign_of(bases: str | None) -> str:
    """The same for bounds as `token_bounds` lists them; empty for none."""
    return _SIGNS.get(bases or "", "≈ ") if any(one in BOUNDS for one in (bases or "").split(", ")) else ""


def left_out(facts: Row, measure: CostMeasure) -> str:
    """How many runs the measure leaves out, and what they cost by the other one; empty where none. `facts`: COST_FACTS of the runs."""
    if measure is BEST:
        runs = facts[BEST.lacks]
        verb = "has" if runs == 1 else "have"
        return f"{_of(runs, facts['runs'])} {verb} no known cost: neither a reported one nor a list price for their tokens." if runs else ""
    return (_unreported if measure is REPORTED else _unlisted)(facts)


def _unreported(facts: Row) -> str:
    runs, priced = facts["unreported_runs"], facts[f"unreported_list_usd{KNOWN_SUFFIX}"]
    if not runs:
        return ""
    said = f"{_of(runs, facts['runs'])} {'reports' if runs == 1 else 'report'} no cost."
    if not priced:
        return said
    known = f" ({priced:,} of them{_and_bounds(facts)})" if priced < runs else f"{_in_brackets(facts)}"
    return f"{said[:-1]}; at list prices {'it costs' if runs == 1 else 'they cost'} {human(facts['unreported_list_usd'], Unit.USD)}{known}."


def _unlisted(facts: Row) -> str:
    runs, reported = facts["unlisted_runs"], facts["unlisted_cost_usd"]
    said = "No run reports a cost: cost is at list prices." if facts["unreported_runs"] == facts["runs"] else ""
    if not runs:
        return said
    more = f"; {'it reports' if runs == 1 else 'they report'} {human(reported, Unit.USD)}" if reported else ""
    has = f"{_of(runs, facts['runs'])} {'has' if runs == 1 else 'have'}"
    return f"{said} {has} no list-price cost: {_why_unlisted(runs, facts['unpriced_runs'])}{more}.".strip()


def _why_unlisted(runs: int, unpriced: int) -> str:
    """Unpriced runs have tokens, the others have none."""
    if unpriced in (0, runs):
        return "no list price" if unpriced else "no tokens in the log"
    return f"no tokens in the log ({runs - unpriced:,}), or no list price ({unpriced:,})"


def _of(runs: int, of: int) -> str:
    return f"None of {plural(of, 'run')}" if runs == of > 1 else f"{runs:,} of {plural(of, 'run')}" if runs < of else plural(runs, "run")


def bounds(facts: Row, measure: CostMeasure = LIST) -> str:
    """`$290.18 of the list-price cost are upper bounds (71 runs).`; empty where all tokens are exact."""
    part, told = bounded_by(measure)
    if facts[part] is None:
        return ""
    runs = plural(facts[f"{part}{KNOWN_SUFFIX}"], "run")
    return f"{human(facts[part], Unit.USD)} of the {(BEST if measure is BEST else LIST).name} are {kinds(facts[told])} ({runs})."


def bounded_by(measure: CostMeasure) -> tuple[str, str]:
    """The metrics of bounds in the cost by the measure: how much of it, and which. Reported cost has none: those of list prices."""
    return ("bounded_best_usd", "cost_best_bounds") if measure is BEST else ("bounded_list_usd", "token_bounds")


def bounded_runs(runs: pa.Table) -> str:
    """`List-price cost is an upper bound for 65 of these runs (column Token basis).`, of a list of runs; empty where all are exact."""
    pairs = zip(runs["tokens_basis"].to_pylist(), runs[LIST.column].to_pylist(), strict=True)
    found = [basis for basis, usd in pairs if basis in BOUNDS and usd is not None]
    words = " or ".join(one_bound(key) for key in sorted(set(found)))
    return f"List-price cost is {words} for {plural(len(found), 'run')} of these (column Token basis)." if found else ""


def one_bound(tokens_basis: str) -> str:
    """`an upper bound`; empty for exact tokens."""
    return f"{'a' if tokens_basis == 'lower_bound' else 'an'} {BOUNDS[tokens_basis][:-1]}" if tokens_basis in BOUNDS else ""


def in_part_priced(listed: Decimal | None, facts: Row) -> str:
    """What a list of models adds to the list-price cost of runs: a run counts only where all of its models have a price."""
    more = (listed or Decimal(0)) - (facts["cost_list_usd"] or Decimal(0))
    return (
        f"{human(more, Unit.USD)} of it are of runs with another model without a price; totals of runs leave them out." if more > 0 else ""
    )


def kinds(token_bounds: str | None) -> str:
    """`upper bounds or estimates`."""
    return " or ".join(BOUNDS[key] for key in (token_bounds or "").split(", ") if key in BOUNDS)


def bounds_note(facts: Row, measure: CostMeasure = LIST) -> str:
    """The same in the note of a card: `incl. $290.18 upper bounds`."""
    part, told = bounded_by(measure)
    usd = facts.get(part)
    return "" if usd is None else f"incl. {human(usd, Unit.USD)} {kinds(facts[told])}"


def _and_bounds(facts: Row) -> str:
    return f", {bounds_note(facts)}" if bounds_note(facts) else ""


def _in_brackets(facts: Row) -> str:
    return f" ({bounds_note(facts)})" if bounds_note(facts) else ""
