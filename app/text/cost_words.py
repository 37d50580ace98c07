"""What the charts of cost show, said in a sentence: the titles of the screen Cost. Pure; every figure comes from a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa

from app.queries.cost import RECEIVED, TIME, Groups
from app.queries.runs import KNOWN_SUFFIX
from app.text.formatting import exact, human, known_of
from app.text.presentation import Card, cards, fact_words, plain
from schemas.catalogue.columns import GROUPS
from schemas.catalogue.metrics import RUN_METRICS
from schemas.rows.cost import CAUSES, CostCause
from schemas.unit_names import Unit

MOST_OF = Decimal("0.8")
"""What makes so much of the cost is said to make most of it."""

NOT_KNOWN = "not known"
NAMED = 5
"""Names that a note lists before it only says that there are more."""

TOKEN_CLASSES = {key: GROUPS[key].label for key in ("cache_read_tokens", "cache_write_tokens", "input_tokens", "output_tokens")}
"""Classes of tokens and what charts call them, those of which there are most first."""

Row = Mapping[str, Any]


def percent(share: Decimal) -> str:
    """`98 %`; never rounded up to a whole that it is not, nor down to nothing."""
    if share > Decimal("0.99"):
        return "100 %" if share == 1 else "over 99 %"
    return f"{share * 100:.0f} %" if share >= Decimal("0.01") or not share else "under 1 %"


def groups_finding(found: Groups, label: str) -> str:
    """`2 of 12 models make 94 % of the reported cost`: as few as make most of it, where that are few."""
    key = found.table.column_names[0]
    everything = found.table.to_pylist()
    total = found.total - sum(row[key] is None for row in everything)
    rows = [row for row in everything if row["cost_share"] and row[key] is not None]
    if not rows:
        return f"Reported cost by {lower(label)}"
    rows.sort(key=lambda row: -row["cost_usd"])
    first = _name(rows[0], key)
    if found.in_order:
        return f"{first} was the dearest {lower(label)}: {human(rows[0]['cost_usd'], Unit.USD)}"
    share, few = Decimal(0), 0
    while few < len(rows) and share < MOST_OF:
        share, few = share + Decimal(str(rows[few]["cost_share"])), few + 1
    whole = "the whole reported cost" if found.total == 1 else ""
    if few == total > 1:  # that all of them make most of it says nothing
        few, share = 1, Decimal(str(rows[0]["cost_share"]))
    made = whole or f"{percent(min(share.quantize(Decimal('1e-9')), Decimal(1)))} of the reported cost"
    if few == 1:
        return f"Runs mainly on {first} make {made}" if key == "model" else f"{first} makes {made}"
    return f"{few:,} of {total:,} {plural(label)} make {made}"


def groups_note(found: Groups, label: str, about: Row | None = None) -> str:
    """What the bars leave out, and (`about`: the times of the runs) how many runs have no date; empty where nothing."""
    rows = found.table.to_pylist()
    silent = sum(row["cost_usd"] is None for row in rows)
    said = []
    if found.total > len(rows):
        said.append(f"{'The last' if found.in_order else 'The dearest'} {len(rows):,} of {found.total:,} {plural(label)}.")
    if silent:
        said.append(f"Without a reported cost: {silent:,}.")
    if found.in_order and about and about["of_files"]:
        said.append(f"{_of_files(about)}: they are in the group {NOT_KNOWN}.")
    return " ".join(said)


def _of_files(about: Row) -> str:
    """How many runs only the modification time of a file dates."""
    verb = "run has" if about["of_files"] == 1 else "runs have"
    return f"{about['of_files']:,} {verb} no recorded date, only that of a file, which may be the copy date"


def tokens_finding(table: pa.Table) -> str:
    """`Cache read is 95 % of 272 M tokens`."""
    sums = {label: sum(value for value in table[key].to_pylist() if value is not None) for key, label in TOKEN_CLASSES.items()}
    total = sum(sums.values())
    if not total:
        return "Tokens by class"
    label, most = max(sums.items(), key=lambda item: item[1])
    return f"{label} is {percent(Decimal(int(most)) / Decimal(int(total)))} of {human(total, Unit.TOKENS)} tokens"


def spending_finding(table: pa.Table, axis: str) -> str:
    """Where half of the cost was reached: a time, or a number of runs."""
    steps: dict[Any, Decimal] = {}
    for row in table.to_pylist():
        steps[row["x"]] = steps.get(row["x"], Decimal(0)) + row["cost_usd"]
    total, so_far = sum(steps.values(), Decimal(0)), Decimal(0)
    if not total:
        return "Reported cost, added up"
    reached = iter(steps.items())
    while so_far * 2 < total:
        half, cost = next(reached)
        so_far += cost
    spent = human(total, Unit.USD)
    if axis == TIME:
        return f"{spent} in all, half of it by {half:%Y-%m-%d}"
    return f"{spent} in all, half of it in the first {half:,} of {max(steps):,} runs"


def is_timed(about: Row) -> bool:
    """Whether the log or its path tells the time of every run."""
    return bool(about["timed"] == about["runs"])


def along(about: Row) -> dict[str, str]:
    """What cost can be added up along, the better way first."""
    axes = {TIME: "Time", RECEIVED: "Order of receipt"} if is_timed(about) else {RECEIVED: "Order of receipt", TIME: "Time"}
    return axes if about["timed"] else {RECEIVED: axes[RECEIVED]}


def spending_note(about: Row, axis: str) -> str:
    """Which times are known, and what is left out of the line."""
    if axis != TIME:
        told = f"The time is known of {about['timed']:,} of {about['runs']:,} runs. "
        return f"{'' if is_timed(about) else told}Runs stand in the order in which their logs were read, by name within one ingest."
    said = []
    if about["timed"] < about["runs"]:
        left = about["runs"] - about["timed"]
        said.append(f"Left out: {left:,} of {about['runs']:,} runs, {human(about['untimed_usd'], Unit.USD)}, whose time is not known.")
    if about["of_files"]:
        said.append(f"{_of_files(about)}.")
    return " ".join(said)


def list_finding(totals: Row, causes: pa.Table) -> str:
    """Which way list prices go, by how much, and mostly why."""
    delta = totals["cost_delta_usd"]
    if delta is None:
        return "No run has both a reported and a list cost"
    differing = [row for row in causes.to_pylist() if row["cost_delta_usd"]]
    if not differing:
        return "The reported cost is the list cost"
    way = "more" if delta > 0 else "less"
    share = f" ({abs(totals['cost_delta_share']) * 100:.1f} %)" if totals["cost_delta_share"] else ""
    return f"At list prices: {human(abs(delta), Unit.USD)} {way}{share}, mostly {_cause(differing[0]['cause'])}"


def comparable(found: Groups) -> list[dict[str, Any]]:
    """The groups with runs that have both costs: `reported` is what these runs report, `listed` their list cost."""
    rows: list[dict[str, Any]] = [row for row in found.table.to_pylist() if row[f"cost_delta_usd{KNOWN_SUFFIX}"]]
    return [row | {"reported": row["cost_compared_usd"], "listed": row["cost_compared_usd"] + row["cost_delta_usd"]} for row in rows]


def prices_finding(found: Groups) -> str:
    """The group whose list cost differs most."""
    rows = [row for row in comparable(found) if row["cost_delta_usd"]]
    if not rows:
        return "Reported cost and list cost"
    most = max(rows, key=lambda row: abs(row["cost_delta_usd"]))
    reported, listed = (human(most[side], Unit.USD) for side in ("reported", "listed"))
    return f"{_name(most, found.table.column_names[0])}: {reported} reported, {listed} at list prices"


def prices_note(found: Groups, label: str) -> str:
    """Which groups are not drawn, and which are in part only."""
    drawn, key = comparable(found), found.table.column_names[0]
    kept = {row[key] for row in drawn}
    silent = [_name(row, key) for row in found.table.to_pylist() if row[key] not in kept]
    partly = sum(row[f"cost_delta_usd{KNOWN_SUFFIX}"] < row["runs"] for row in drawn)
    said = []
    if silent:
        named = ", ".join(silent[:NAMED]) + (" …" if len(silent) > NAMED else "")
        said.append(f"Not drawn, for want of a list cost or a reported one: {named}.")
    if partly:
        said.append(f"Of {partly:,} {plural(label) if partly > 1 else lower(label)} only the runs with both costs are drawn.")
    return " ".join(said)


def causes_note(totals: Row, causes: pa.Table) -> str:
    """How many runs agree, and how many cannot be compared."""
    runs = {row["cause"]: row["runs"] for row in causes.to_pylist()}
    said = [f"{runs[CostCause.SAME]:,} runs report the list cost."] if CostCause.SAME in runs else []
    if totals["cost_compared_usd"] is not None:
        known = known_of(int(totals[f"cost_delta_usd{KNOWN_SUFFIX}"]), int(totals["runs"]))
        said.append(f"The difference is {base_words(totals)}{known and f' ({known})'}.")
    return " ".join(said)


def caching_finding(totals: Row) -> str:
    """What caching saved, or cost."""
    saved, share = totals["cache_saved_usd"], totals["cache_saved_share"]
    if not saved:
        return "What caching saved is not known" if saved is None else "Caching saved nothing"
    if saved < 0:
        return f"Caching cost {human(-saved, Unit.USD)} more than it saved"
    return f"Caching saved {human(saved, Unit.USD)}: {human(share, Unit.SHARE)} of what the same tokens would cost without"


def caching_note(totals: Row) -> str:
    """On how many runs the saving rests."""
    known = known_of(int(totals[f"cache_saved_usd{KNOWN_SUFFIX}"]), int(totals["runs"]))
    return f"The saving is {known} runs." if known else ""


def dearest_finding(table: pa.Table, totals: Row) -> str:
    """What the listed runs make of the whole."""
    whole, listed = totals["cost_usd"], sum(filter(None, table["cost_own_usd"].to_pylist()), Decimal(0))
    if table.num_rows >= totals["runs"]:
        return f"All {table.num_rows:,} runs" if table.num_rows > 1 else "The run"
    made = f" make {percent(listed / whole)} of the reported cost" if whole else ""
    return f"The {table.num_rows:,} dearest of {totals['runs']:,} runs{made}"


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
    """The groups' names, each told apart from what is not known."""
    return [_name(row, key) for row in rows]


def _name(row: Row, key: str) -> str:
    return NOT_KNOWN if row[key] is None else fact_words(row[key], key)


def _cause(cause: str | None) -> str:
    if cause is None:
        return "for a cause that is not known"
    label = CAUSES[CostCause(cause)].label
    return label if cause == CostCause.UNEXPLAINED else f"by {label}"


def cost_cards(row: Row, keys: Sequence[str]) -> list[Card]:
    """Figures for people, the exact amount in the help of each."""
    made = zip(cards(row, keys), keys, strict=True)
    named = [(replace(card, label=RUN_METRICS[key].header, help=_with_exact(card, row, key)), key) for card, key in made]
    return [_with_base(card, row, key) for card, key in named]


def _with_exact(card: Card, row: Row, key: str) -> str:
    told = exact(row[key], RUN_METRICS[key].unit)
    return card.help if told == card.value else f"{card.help} Exactly {plain(told)}."


def _with_base(card: Card, row: Row, key: str) -> Card:
    """The difference to list prices with what it is a difference to: the reported cost of the runs that have both."""
    if key != "cost_delta_usd" or row["cost_compared_usd"] is None:
        return card
    return replace(card, note=base_words(row))


def base_words(row: Row) -> str:
    """`vs. $487.02 reported, 415 runs`."""
    runs = int(row[f"cost_compared_usd{KNOWN_SUFFIX}"])
    return f"vs. {human(row['cost_compared_usd'], Unit.USD)} reported, {runs:,} run{'' if runs == 1 else 's'}"
