"""What a table or chart of usage shows, leaves out or rests on, and the block that goes on, in sentences. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from app.queries.runs import KNOWN_SUFFIX
from app.queries.usage import Along, Usage
from app.text.formatting import human
from schemas.catalogue.usage import LOWER_BOUNDS, OUTSIDE, USAGE_METRICS, WHOLE_RUNS
from schemas.text import plural
from schemas.units import Unit

SEVERAL_TOOLS = "A response that calls several tools counts for each of them: tokens and cost of the rows do not add up."

BLOCKS = (
    "A block starts with its first response, on the hour, as the usage windows of subscriptions do. The burn rate is that between its "
    "first and its last response. Filter by one agent to see the windows of one subscription."
)

OWN_PERIOD = "Each response counts in its own period (UTC), a run without responses when it started."

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """What a chart of usage along time shows: a column of usage, by model or by type of tokens."""

    label: str
    column: str
    by_model: bool = True

    @property
    def unit(self) -> Unit:
        """That of the column."""
        return USAGE_METRICS[self.column].unit


SHOWN = {
    "cost": Shown("Cost by model", "cost_list_usd"),
    "tokens": Shown("Tokens by model", "total_tokens"),
    "types": Shown("Tokens by type", "total_tokens", by_model=False),
}
"""What a chart of usage can show, by the words of links."""


def choices(total: Row) -> dict[str, Shown]:
    """Those of SHOWN that have anything to show; cost comes first where a price is known."""
    return {key: shown for key, shown in SHOWN.items() if total[shown.column] is not None} or {"tokens": SHOWN["tokens"]}


def along_finding(found: Along, shown: Shown) -> str:
    """`List-price cost per day: $101.05 on 5 days, most on 2026-06-18 ($63.46)`."""
    sums: dict[str, Decimal] = {}
    rows = [row for row in found.table.to_pylist() if row[shown.column] is not None]
    for row in rows:
        sums[row["period"]] = sums.get(row["period"], Decimal(0)) + row[shown.column]
    title = f"{USAGE_METRICS[shown.column].label} per {found.by}"
    if not sums:
        return title
    most = max(sums, key=lambda period: sums[period])
    least = "≥ " if any(row[LOWER_BOUNDS] for row in rows) else ""
    on = "on" if found.by == "day" else "in"
    first = f"{title}: {least}{human(sum(sums.values(), Decimal(0)), shown.unit)} {on} {plural(len(sums), found.by)}"
    return f"{first}, most {on} {most} ({human(sums[most], shown.unit)})" if len(sums) > 1 else first


def periods(found: Along) -> list[str]:
    """The names of its periods, in order."""
    return list(dict.fromkeys(found.table["period"].to_pylist()))


def along_note(found: Along, *, is_sparse: bool) -> str:
    """What a chart along time leaves out; empty where nothing."""
    said = []
    if found.earlier:
        shown = len(periods(found))
        said.append(f"Showing the last {plural(shown, found.by)} with usage; {found.earlier:,} earlier are not shown.")
    if is_sparse:
        said.append(f"{found.by.capitalize()}s without usage are left out.")
    return " ".join(said)


def covered(total: Row) -> str:
    """`120 responses and 2 runs without responses in 3 sessions`."""
    runs = f" and {plural(total[WHOLE_RUNS], 'run')} without responses" if total[WHOLE_RUNS] else ""
    return f"{plural(total['responses'], 'response')}{runs} in {plural(total['sessions'], 'session')}"


def notes(used: Usage) -> list[str]:
    """What a reader of the table must know; empty where all is known."""
    return [*filter(None, [_active(used)]), *limits(used)]


def limits(used: Usage) -> list[str]:
    """What its figures leave out or rest on; empty where all is known."""
    [total] = used.total.to_pylist()
    said = [_undated(used)]
    if "responses" in total:
        said += [_unpriced(total), _bounds(total), _outside(total, used.unexplained)]
    else:
        said.append(SEVERAL_TOOLS if used.table.num_rows else "")
    return [words for words in said if words]


def listed(sessions: pa.Table) -> str:
    """How many sessions a list leaves out; empty where none."""
    found = sessions["sessions_found"][0].as_py() if sessions.num_rows else 0
    return f"Showing the latest {sessions.num_rows:,} of {found:,} sessions." if found > sessions.num_rows else ""


def _undated(used: Usage) -> str:
    counts = [plural(used.undated[key], key.removesuffix("s")) for key in ("responses", "runs") if used.undated[key]]
    if not counts:
        return ""
    rest = "in no period and left out" if used.left_out else "in no day, hour or block"
    is_one = sum(used.undated.values()) == 1
    return f"{' and '.join(counts)} without a recorded time {'is' if is_one else 'are'} {rest}."


def _unpriced(total: Row) -> str:
    known, of = total[f"cost_list_usd{KNOWN_SUFFIX}"], total["responses"] + total[WHOLE_RUNS]
    return f"List-price cost is based on {known:,} of {of:,} responses and runs; for the others no price is known." if known < of else ""


def _bounds(total: Row) -> str:
    count = total[LOWER_BOUNDS]
    if not count:
        return ""
    has = "has" if count == 1 else "have"
    return (
        f"≥: {count:,} of {total['responses'] + total[WHOLE_RUNS]:,} {has} only the output count of the start; the true figures are higher."
    )


def _outside(total: Row, unexplained: int) -> str:
    usd = total[OUTSIDE]
    said = f"{human(usd, Unit.USD)} that agents reported is outside the transcripts." if usd else ""
    if unexplained:
        lacking = f"For {plural(unexplained, 'session')} it is unknown what lies outside: a response has no price."
        said = f"{said} {lacking}".strip()
    return said


def _active(used: Usage) -> str:
    """`Active block: 1h 12m left, 23.1k tokens/min and $4.10/h so far; at that rate 9.10M tokens and $21.30 at its end.` or nothing."""
    if not used.active:
        return ""
    _, burn = used.active
    if burn is None:
        return "Active block: too short for a burn rate."
    left = human(burn.minutes_left * 60_000, Unit.MILLISECONDS)
    per_hour = f" and {human(burn.usd_per_hour, Unit.USD)}/h" if burn.usd_per_hour is not None else ""
    cost = f" and {human(burn.projected_usd, Unit.USD)}" if burn.projected_usd is not None else ""
    rate = f"{human(burn.tokens_per_minute, Unit.TOKENS)} tokens/min{per_hour} so far"
    return f"Active block: {left} left, {rate}; at that rate {human(burn.projected_tokens, Unit.TOKENS)} tokens{cost} at its end."
