"""What the charts of cost show, said in a sentence: the titles of the screen Cost. Pure; every figure comes from a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa

from app.queries.cost import RECEIVED, TIME, Groups
from app.queries.runs import KNOWN_SUFFIX
from app.text.formatting import UNKNOWN_NAME, exact, human, known_of
from app.text.presentation import Card, cards, fact_words, plain
from schemas.catalogue.columns import GROUPS
from schemas.catalogue.cost_measures import REPORTED, CostMeasure
from schemas.catalogue.metrics import RUN_METRICS
from schemas.rows.cost import CAUSES, CostCause
from schemas.text import plural as schema_plural
from schemas.unit_names import Unit

MOST_OF = Decimal("0.8")
"""What makes so much of the cost is said to make most of it."""

NAMED = 5
"""Names that a note lists before it only says that there are more."""

TOKEN_CLASSES = {key: GROUPS[key].label for key in ("cache_read_tokens", "cache_write_tokens", "input_tokens", "output_tokens")}
"""Classes of tokens and what charts call them, those of which there are most first."""

Row = Mapping[str, Any]


def percent(share: Decimal) -> str:
    """`98%`; never rounded up to a whole that it is not, nor down to nothing."""
    if share > Decimal("0.99"):
        return "100%" if share == 1 else "over 99%"
    return f"{share * 100:.0f}%" if share >= Decimal("0.01") or not share else "under 1%"


def groups_finding(found: Groups, label: str, measure: CostMeasure = REPORTED) -> str:
    """`Top 2 of 12 models account for 94% of cost`: as few as make most of it, where that are few."""
    key = found.table.column_names[0]
    everything = found.table.to_pylist()
    total = found.total - sum(row[key] is None for row in everything)
    rows = [row for row in everything if row[measure.share] and row[key] is not None]
    if not rows:
        return f"{measure.label} by {lower(label)}"
    rows.sort(key=lambda row: -row[measure.total])
    first = _name(rows[0], key)
    if found.in_order:
        return f"Highest {lower(label)}: {first}, {human(rows[0][measure.total], Unit.USD)}"
    share, few = Decimal(0), 0
    while few < len(rows) and share < MOST_OF:
        share, few = share + Decimal(str(rows[few][measure.share])), few + 1
    whole = f"all {measure.noun}" if found.total == 1 else ""
    if few == total > 1:  # that all of them make most of it says nothing
        few, share = 1, Decimal(str(rows[0][measure.share]))
    made = whole or f"{percent(min(share.quantize(Decimal('1e-9')), Decimal(1)))} of {measure.noun}"
    if few == 1:
        return f"Runs with main model {first} account for {made}" if key == "model" else f"{first} accounts for {made}"
    return f"Top {few:,} of {total:,} {plural(label)} account for {made}"


def groups_note(found: Groups, label: str, about: Row | None = None, measure: CostMeasure = REPORTED) -> str:
    """What the bars leave out, and (`about`: the times of the runs) how many runs have no date; empty where nothing."""
    rows = found.table.to_pylist()
    silent = sum(row[measure.total] is None for row in rows)
    said = []
    if found.total > len(rows):
        said.append(f"Showing the {'last' if found.in_order else 'top'} {len(rows):,} of {found.total:,} {plural(label)}.")
    if silent:
        said.append(f"Without a {measure.name}: {silent:,}.")
    if found.in_order and about and about["of_files"]:
        said.append(f"{_of_files(about)} They are in the group {UNKNOWN_NAME}.")
    return " ".join(said)


def _of_files(about: Row) -> str:
    """How many runs are dated only by the modification time of a file."""
    verb = "run has" if about["of_files"] == 1 else "runs have"
    return f"{about['of_files']:,} {verb} no timestamp, only the modification time of a file, which may be the copy date."


def tokens_finding(table: pa.Table) -> str:
    """`Cache reads: 95% of 272M tokens`."""
    sums = {label: sum(value for value in table[key].to_pylist() if value is not None) for key, label in TOKEN_CLASSES.items()}
    total = sum(sums.values())
    if not total:
        return "Tokens by type"
    label, most = max(sums.items(), key=lambda item: item[1])
    return f"{label}: {percent(Decimal(int(most)) / Decimal(int(total)))} of {human(total, Unit.TOKENS)} tokens"


def spending_finding(table: pa.Table, axis: str, measure: CostMeasure = REPORTED) -> str:
    """Where half of the cost was reached: a time, or a number of runs."""
    steps: dict[Any, Decimal] = {}
    for row in table.to_pylist():
        steps[row["x"]] = steps.get(row["x"], Decimal(0)) + row["cost_usd"]
    total, so_far = sum(steps.values(), Decimal(0)), Decimal(0)
    if not total:
        return f"Cumulative {measure.noun}"
    reached = iter(steps.items())
    while so_far * 2 < total:
        half, cost = next(reached)
        so_far += cost
    spent = human(total, Unit.USD)
    if axis == TIME:
        return f"Cumulative {measure.noun}: {spent} (half reached on {half:%Y-%m-%d})"
    return f"Cumulative {measure.noun}: {spent} (half reached at run {half:,} of {max(steps):,})"


def is_timed(about: Row) -> bool:
    """Whether the log or its path tells the time of every run."""
    return bool(about["timed"] == about["runs"])


def along(about: Row) -> dict[str, str]:
    """What cost can be accumulated by. Dates come first, also those of files: an order of ingestion means nothing to a reader."""
    return {TIME: "Date", RECEIVED: "Ingestion order"} if about["timed"] else {RECEIVED: "Ingestion order"}


def spending_note(about: Row, axis: str) -> str:
    """Which times are known, and what is left out of the line."""
    if axis != TIME:
        told = f"{about['timed']:,} of {about['runs']:,} runs have timestamps. "
        return f"{'' if is_timed(about) else told}Runs are in ingestion order, then by file name."
    said = []
    if about["timed"] < about["runs"]:
        left = about["runs"] - about["timed"]
        said.append(f"Not shown: {left:,} of {about['runs']:,} runs without a date ({human(about['untimed_usd'], Unit.USD)}).")
    if about["of_files"]:
        said.append(_of_files(about))
    return " ".join(said)


def list_finding(totals: Row, causes: pa.Table) -> str:
    """Which way list prices go, by how much, and mostly why."""
    delta = totals["cost_delta_usd"]
    if delta is None:
        return "No run has both a reported and a list-price cost"
    differing = [row for row in causes.to_pylist() if row["cost_delta_usd"]]
    if not differing:
        return "Reported cost matches list prices"
    way = "higher" if delta > 0 else "lower"
    share = f" ({human(abs(totals['cost_delta_share']), Unit.SHARE)})" if totals["cost_delta_share"] else ""
    return f"List price is {human(abs(delta), Unit.USD)}{share} {way}, mainly {_cause(differing[0]['cause'])}"


def comparable(found: Groups) -> list[dict[str, Any]]:
    """The groups with runs that have both costs: `reported` is what these runs report, `listed` their list-price cost."""
    rows: list[dict[str, Any]] = [row for row in found.table.to_pylist() if row[f"cost_delta_usd{KNOWN_SUFFIX}"]]
    return [row | {"reported": row["cost_compared_usd"], "listed": row["cost_compared_usd"] + row["cost_delta_usd"]} for row in rows]


def prices_finding(found: Groups) -> str:
    """The group whose list-price cost differs most."""
    rows = [row for row in comparable(found) if row["cost_delta_usd"]]
    if not rows:
        return "Reported cost vs. list-price cost"
    most = max(rows, key=lambda row: abs(row["cost_delta_usd"]))
    reported, listed = (human(most[side], Unit.USD) for side in ("reported", "listed"))
    key = found.table.column_names[0]
    who = f"Runs on {_name(most, key)}" if key == "model" else _name(most, key)
    return f"{who}: {reported} reported, {listed} at list prices"


def prices_note(found: Groups, label: str) -> str:
    """Which groups are not drawn, and which are in part only."""
    drawn, key = comparable(found), found.table.column_names[0]
    kept = {row[key] for row in drawn}
    silent = [_name(row, key) for row in found.table.to_pylist() if row[key] not in kept]
    partly = sum(row[f"cost_delta_usd{KNOWN_SUFFIX}"] < row["runs"] for row in drawn)
    said = []
    if silent:
        named = ", ".join(silent[:NAMED]) + (" …" if len(silent) > NAMED else "")
        said.append(f"Not shown (no list or reported cost): {named}.")
    if partly:
        said.append(f"{partly:,} {plural(label) if partly > 1 else lower(label)}: only the runs with both costs are shown.")
    return " ".join(said)


def causes_note(totals: Row, causes: pa.Table) -> str:
    """How many runs agree, and how many cannot be compared."""
    runs = {row["cause"]: row["runs"] for row in causes.to_pylist()}
    said = (
        [f"{schema_plural(runs[CostCause.SAME], 'run')} match{'es' if runs[CostCause.SAME] == 1 else ''} list price."]
        if CostCause.SAME in runs
        else []
    )
    if totals["cost_compared_usd"] is not None:
        known = known_of(int(totals[f"cost_delta_usd{KNOWN_SUFFIX}"]), int(totals["runs"]))
        said.append(f"The difference is {base_words(totals)}{known and f' ({known} runs)'}.")
    return " ".join(said)


def caching_finding(totals: Row) -> str:
    """What caching saved, or cost."""
    saved, share = totals["cache_saved_usd"], totals["cache_saved_share"]
    if not saved:
        return "Cache savings unknown" if saved is None else "No cache savings"
    if saved < 0:
        return f"Cache savings are negative: caching cost {human(-saved, Unit.USD)} more than it saved"
    return f"Cache savings: {human(saved, Unit.USD)}, {human(share, Unit.SHARE)} of the uncached list-price cost"


def caching_note(totals: Row) -> str:
    """On how many runs the saving rests."""
    known = known_of(int(totals[f"cache_saved_usd{KNOWN_SUFFIX}"]), int(totals["runs"]))
    return f"Cache savings are {known} runs." if known else ""


def most_expensive_finding(table: pa.Table, totals: Row, measure: CostMeasure = REPORTED) -> str:
    """How much of the cost the listed runs account for."""
    whole, listed = totals[measure.total], sum(filter(None, table[measure.column].to_pylist()), Decimal(0))
    if table.num_rows >= totals["runs"]:
        return f"All {table.num_rows:,} runs" if table.num_rows > 1 else "The run"
    made = f" account{'s' if table.num_rows == 1 else ''} for {percent(listed / whole)} of {measure.noun}" if whole else ""
    return f"Top {table.num_rows:,} of {totals['runs']:,} runs{made}"


def lower(label: str) -> str:
    """A label within a sentence."""
    return label[0].lower() + label[1:]


def plural(label: str) -> str:
    """`repositories`, `main models`, `values of label team`."""
    word = lower(label)
    if word.startswith("label "):
        return f"values of {word}"
    return f"{word[:-1]}ies" if word.endswith("y") and not word.endswith("ay") else f"{word}s"


def group_names(rows: Sequence[Row], key: str) -> list[str]:
    """The groups' names, `unknown` where there is none."""
    return [_name(row, key) for row in rows]


def _name(row: Row, key: str) -> str:
    return UNKNOWN_NAME if row[key] is None else fact_words(row[key], key)


def _cause(cause: str | None) -> str:
    if cause is None:
        return "for an unknown cause"
    label = CAUSES[CostCause(cause)].label
    return label if cause == CostCause.UNEXPLAINED else f"due to {label}"


def cost_cards(row: Row, keys: Sequence[str]) -> list[Card]:
    """Figures for people, the exact amount in the help of each."""
    made = zip(cards(row, keys), keys, strict=True)
    named = [(replace(card, label=RUN_METRICS[key].header, help=_with_exact(card, row, key)), key) for card, key in made]
    return [_with_base(card, row, key) for card, key in named]


def _with_exact(card: Card, row: Row, key: str) -> str:
    told = exact(row[key], RUN_METRICS[key].unit)
    return card.help if told == card.value else f"{card.help} Exact value: {plain(told)}."


def _with_base(card: Card, row: Row, key: str) -> Card:
    """The difference to list prices with what it is a difference to: the reported cost of the runs that have both."""
    if key != "cost_delta_usd" or row["cost_compared_usd"] is None:
        return card
    return replace(card, note=base_words(row))


def base_words(row: Row) -> str:
    """`vs. $487.02 reported, 415 runs`."""
    runs = int(row[f"cost_compared_usd{KNOWN_SUFFIX}"])
    return f"vs. {human(row['cost_compared_usd'], Unit.USD)} reported, {runs:,} run{'' if runs == 1 else 's'}"
