"""What the charts of one session show and leave out, in sentences. Pure. Rows as of `app.queries.sessions.points`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from app.text.formatting import human
from schemas.text import plural
from schemas.units import Unit

MAIN = "main"
"""The lane of the main conversation."""

MOST_LANES = 30
"""The most lanes that can be told apart."""

AXES = {"at": "Time", "place": "Responses"}
"""What a session is drawn along: a column of its points."""

TIMELINE = (
    "Context of each response: uncached input, cache reads and cache writes. It falls where a conversation is compacted or cleared. Below: "
    "cumulative list-price cost, and tool calls."
)
TIMELINE_OF_TOKENS = TIMELINE.replace("list-price cost", "tokens, as no price is known")
LANES = "A mark per response, in the colour of its model."

Row = Mapping[str, Any]


def session_words(lanes: pa.Table) -> str:
    """`412 responses, 3 sub-agents`."""
    others = sum(lane != MAIN for lane in lanes["subagent"].to_pylist())
    return plural(sum(lanes["responses"].to_pylist()), "response") + (f", {plural(others, 'sub-agent')}" if others else "")


def along_words(axis: str) -> str:
    """The title of an axis."""
    return "Time (UTC)" if axis == "at" else "Responses, in order"


def axes(points: pa.Table) -> dict[str, str]:
    """What the session can be drawn along: time only where any is known."""
    return AXES if points["at"].null_count < points.num_rows else {"place": AXES["place"]}


def drawn_rows(points: pa.Table, axis: str) -> list[dict[str, Any]]:
    """The points that have a place on the axis."""
    return [row for row in points.to_pylist() if row[axis] is not None]


def timeline_caption(points: pa.Table) -> str:
    """How to read the timeline."""
    return TIMELINE if points["cost_so_far_usd"].null_count < points.num_rows else TIMELINE_OF_TOKENS


def timeline_finding(points: pa.Table) -> str:
    """`Context peaked at 167k tokens and fell by more than half 3 times`, of the main conversation."""
    main = [row for row in points.to_pylist() if row["subagent"] == MAIN]
    if not main:
        return "Context of sub-agents"
    falls = sum(row["falls"] for row in main)
    times = "once" if falls == 1 else f"{falls:,} times"
    peak = f"Context peaked at {human(max(row['context_tokens'] for row in main), Unit.TOKENS)} tokens"
    return f"{peak} and fell by more than half {times}" if falls else peak


def timeline_note(points: pa.Table, axis: str) -> str:
    """What is drawn together or left out; empty where nothing."""
    rows = drawn_rows(points, axis)
    count, of = sum(row["responses"] for row in rows), sum(points["responses"].to_pylist())
    said = [f"{count:,} responses are drawn as {len(rows):,} points, each at the fullest of its responses."] if count > len(rows) else []
    if of > count:
        said.append(f"{plural(of - count, 'response')} without a time {'is' if of - count == 1 else 'are'} not shown.")
    return " ".join(said)


def lanes_finding(lanes: pa.Table) -> str:
    """`2 sub-agents: 43 of 110 responses, $2.30 of $7.15`."""
    rows = lanes.to_pylist()
    others = [row for row in rows if row["subagent"] != MAIN]
    counts = f"{sum(row['responses'] for row in others):,} of {sum(row['responses'] for row in rows):,} responses"
    known = [row["cost_list_usd"] for row in rows if row["cost_list_usd"] is not None]
    own = [row["cost_list_usd"] for row in others if row["cost_list_usd"] is not None]
    cost = f", {human(sum(own), Unit.USD)} of {human(sum(known), Unit.USD)}" if own else ""
    agents = sum(row["agent_id"] is not None for row in others)
    return f"{plural(agents, 'sub-agent') if agents else 'Side chain'}: {counts}{cost}"


def lanes_note(lanes: pa.Table) -> str:
    """How many lanes are not drawn; empty where all are."""
    return f"Showing {MOST_LANES} of {lanes.num_rows:,} lanes." if lanes.num_rows > MOST_LANES else ""


def responses_note(shown: int, of: int) -> str:
    """How many responses a list leaves out; empty where none."""
    return f"Showing the first {shown:,} of {of:,} responses." if shown < of else ""
