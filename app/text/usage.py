"""Sentences on tables and charts of usage and of sessions: findings, omissions, limits. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from app.queries import Row
from app.queries.runs import KNOWN_SUFFIX
from app.queries.sessions import MAIN
from app.queries.usage import Along, UsageTable
from app.text.answers import undated_cost
from app.text.formatting import AT_LEAST, bound_words, short, sign_of, usd
from schemas.catalogue.usage import COST_BOUNDS, LOWER_BOUNDS, USAGE_METRICS, WHOLE_RUNS
from schemas.text import agreeing, join_known, plural
from schemas.units import Unit

SEVERAL_TOOLS = (
    "A response that calls several tools counts for each of them: tokens and cost of the rows do "
    "not add up."
)
BLOCKS = (
    "A block starts with its first response, on the hour, as the usage windows of subscriptions "
    "do. The burn rate is that between its first and its last response. Filter by one agent to "
    "see the windows of one subscription."
)
OWN_PERIOD = (
    "Money counts in the period (UTC) of the response that it paid for, a run without responses "
    "when it ended."
)
TIMELINE = "Tokens sent with each response; below: the list-price cost so far."
LANES = "A mark per response, in the colour of its model."

MOST_LANES = 30
"""Lanes in a chart; more cannot be told apart."""


@dataclass(frozen=True)
class Content:
    """Content of a chart of usage along time: a column, by model or by type of tokens."""

    label: str
    column: str
    by_model: bool = True

    @property
    def unit(self) -> Unit:
        return USAGE_METRICS[self.column].unit


CONTENTS = {
    "cost": Content("Cost by model", "cost_best_usd"),
    "tokens": Content("Tokens by model", "total_tokens"),
    "types": Content("Tokens by type", "total_tokens", by_model=False),
}


def contents_of(total: Row) -> dict[str, Content]:
    """Return those of CONTENTS with data; cost comes first if a price is known."""
    return {key: one for key, one in CONTENTS.items() if total[one.column] is not None} or {
        "tokens": CONTENTS["tokens"]
    }


def along_finding(found: Along, shown: Content) -> str:
    """Return `List-price cost per day: $101.05 on 5 days, most on 2026-06-18 ($63.46)`."""
    sums: dict[str, Decimal] = {}
    rows = [row for row in found.table.to_pylist() if row[shown.column] is not None]
    for row in rows:
        sums[row["period"]] = sums.get(row["period"], Decimal(0)) + row[shown.column]
    title = f"{USAGE_METRICS[shown.column].label} per {found.by}"
    if not sums:
        return title
    most = max(sums, key=lambda period: sums[period])
    kinds = (
        {kind for row in rows for kind in (row[COST_BOUNDS] or "").split(", ") if kind}
        if shown.unit is Unit.USD
        else set()
    )
    least = sign_of(", ".join(sorted(kinds)))
    if shown.unit is Unit.TOKENS and any(row[LOWER_BOUNDS] for row in rows):
        least = AT_LEAST
    on = "on" if found.by == "day" else "in"
    first = (
        f"{title}: {least}{short(sum(sums.values(), Decimal(0)), shown.unit)} {on} "
        f"{plural(len(sums), found.by)}"
    )
    return (
        f"{first}, most {on} {most} ({short(sums[most], shown.unit)})" if len(sums) > 1 else first
    )


def periods(found: Along) -> list[str]:
    return list(dict.fromkeys(found.table["period"].to_pylist()))


def along_note(found: Along, *, is_sparse: bool) -> str:
    """Return a note on data that a chart along time leaves out, or ""."""
    shown = plural(len(periods(found)), found.by)
    earlier = (
        f"Showing the last {shown} with usage; {found.earlier:,} earlier are not shown."
        if found.earlier
        else ""
    )
    sparse = f"{found.by.capitalize()}s without usage are left out." if is_sparse else ""
    return join_known(" ", earlier, sparse)


def covered(total: Row) -> str:
    """Return `120 responses and 2 runs without responses in 3 sessions`."""
    runs = f" and {plural(total[WHOLE_RUNS], 'run')} without responses" if total[WHOLE_RUNS] else ""
    return (
        f"{plural(total['responses'], 'response')}{runs} in {plural(total['sessions'], 'session')}"
    )


def active_block(used: UsageTable) -> str:
    """Return the state of the active block, or "" for none.

    Example: "Active block: 1h 12m left, 23.1k tokens/min and $4.10/h so far; at that rate 9.10M
    tokens and $21.30 at its end."
    """
    if not used.active:
        return ""
    _, burn = used.active
    if burn is None:
        return "Active block: too short for a burn rate."
    per_hour = f" and {usd(burn.usd_per_hour)}/h" if burn.usd_per_hour is not None else ""
    cost = f" and {usd(burn.projected_usd)}" if burn.projected_usd is not None else ""
    left, rate = (
        short(burn.minutes_left * 60_000, Unit.MILLISECONDS),
        f"{short(burn.tokens_per_minute, Unit.TOKENS)} tokens/min{per_hour}",
    )
    return (
        f"Active block: {left} left, {rate} so far; at that rate "
        f"{short(burn.projected_tokens, Unit.TOKENS)} tokens{cost} at its end."
    )


def limits(used: UsageTable) -> list[str]:
    """Return notes on missing or inexact figures of a table, none if all are known."""
    [total] = used.total.to_pylist()
    said = []
    if counts := [
        plural(used.undated[key], key.removesuffix("s"))
        for key in ("responses", "runs")
        if used.undated[key]
    ]:
        verb = agreeing(sum(used.undated.values()), "is")
        rest = "in no period and left out" if used.left_out else "in no day, hour or block"
        dateless = (
            f"{plural(used.undated_runs.runs, 'run')} without a "
            f"date{undated_cost(used.undated_runs)}"
        )
        said.append(
            f"{' and '.join(counts)} without a recorded time {verb} "
            f"{rest}{f': {dateless}' if used.undated_runs.runs else ''}."
        )
    if "responses" not in total:
        return [*said, SEVERAL_TOOLS] if used.table.num_rows else said
    known, of = total[f"cost_best_usd{KNOWN_SUFFIX}"], total["responses"] + total[WHOLE_RUNS]
    if known < of:
        said.append(
            f"Cost is based on {known:,} of {of:,} responses and runs; for the others none is "
            "known."
        )
    if count := total[LOWER_BOUNDS]:
        verb = agreeing(count, "is")
        said.append(
            f"≥: {count:,} of {of:,} {verb} counted only in part; the true figures are higher."
        )
    if (sign := sign_of(total[COST_BOUNDS])) and sign != AT_LEAST:
        said.append(f"{sign.strip()}: the cost includes {bound_words(total[COST_BOUNDS])}.")
    return said


def notes(used: UsageTable) -> list[str]:
    """Return notes on the table: the active block, and the limits of its figures."""
    return [*filter(None, [active_block(used)]), *limits(used)]


def listed(sessions: pa.Table) -> str:
    """Return a note on the number of sessions that a list leaves out, or ""."""
    found = sessions["sessions_found"][0].as_py() if sessions.num_rows else 0
    return (
        f"Showing the latest {sessions.num_rows:,} of {found:,} sessions."
        if found > sessions.num_rows
        else ""
    )


def session_words(lanes: pa.Table) -> str:
    """Return `412 responses, 3 sub-agents`."""
    others = sum(lane != MAIN for lane in lanes["subagent"].to_pylist())
    return plural(sum(lanes["responses"].to_pylist()), "response") + (
        f", {plural(others, 'sub-agent')}" if others else ""
    )


def axis_of(points: pa.Table) -> str:
    """Return the axis of a session's lanes: time if any is known, else the order of responses."""
    return "at" if points["at"].null_count < points.num_rows else "place"


def timeline_finding(points: pa.Table) -> str:
    """Return `The context grew to 178k; red: paid again`, of the main conversation."""
    main = [row for row in points.to_pylist() if row["subagent"] == MAIN]
    if not main:
        return "The contexts of sub-agents"
    falls = sum(row["falls"] for row in main)
    peak = short(max(row["context_tokens"] for row in main), Unit.TOKENS)
    often = "once" if falls == 1 else f"{falls:,} times"
    grew = f"peaked at {peak} and fell {often}" if falls else f"grew to {peak}"
    again = "; red: paid again" if any(row["again"] for row in main) else ""
    return f"The context {grew}{again}"


def timeline_note(points: pa.Table) -> str:
    """Return how to read the timeline, and which points are merged."""
    has_prices = points["cost_so_far_usd"].null_count < points.num_rows
    note = (
        TIMELINE
        if has_prices
        else TIMELINE.replace("list-price cost", "tokens, as no price is known,")
    )
    lanes = set(points["subagent"].to_pylist())
    if len(lanes) > 1 and MAIN in lanes:
        note += " Thin lines: sub-agents."
    count = sum(points["responses"].to_pylist())
    if count == points.num_rows:
        return note
    drawn = f"{count:,} responses are drawn as {points.num_rows:,} points"
    return f"{note} {drawn}, each at the fullest of its responses."


def lanes_finding(lanes: pa.Table) -> str:
    """Return `2 sub-agents: 43 of 110 responses, $2.30 of $7.15`."""
    rows = lanes.to_pylist()
    others = [row for row in rows if row["subagent"] != MAIN]
    counts = (
        f"{sum(row['responses'] for row in others):,} of "
        f"{sum(row['responses'] for row in rows):,} responses"
    )
    known = [row["cost_list_usd"] for row in rows if row["cost_list_usd"] is not None]
    own = [row["cost_list_usd"] for row in others if row["cost_list_usd"] is not None]
    cost = f", {usd(sum(own))} of {usd(sum(known))}" if own else ""
    agents = sum(row["agent_id"] is not None for row in others)
    return f"{plural(agents, 'sub-agent') if agents else 'Side chain'}: {counts}{cost}"


def lanes_note(lanes: pa.Table) -> str:
    """Return how to read the lanes, and how many are not drawn."""
    return (
        f"{LANES} Showing {MOST_LANES} of {lanes.num_rows:,} lanes."
        if lanes.num_rows > MOST_LANES
        else LANES
    )
