"""What a table of usage leaves out or rests on, and the block that goes on, in sentences. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.queries.runs import KNOWN_SUFFIX
from app.queries.usage.totals import Usage
from app.text.formatting import human
from schemas.catalogue.usage import LOWER_BOUNDS, OUTSIDE, WHOLE_RUNS
from schemas.text import plural
from schemas.unit_names import Unit

SEVERAL_TOOLS = "A response that calls several tools counts for each of them: tokens and cost of the rows do not add up."

Row = Mapping[str, Any]


def covered(total: Row) -> str:
    """`120 responses and 2 runs without responses in 3 sessions`."""
    runs = f" and {plural(total[WHOLE_RUNS], 'run')} without responses" if total[WHOLE_RUNS] else ""
    return f"{plural(total['responses'], 'response')}{runs} in {plural(total['sessions'], 'session')}"


def notes(used: Usage) -> list[str]:
    """What a reader of the table must know; empty where all is known."""
    [total] = used.total.to_pylist()
    said = [_active(used), _undated(used)]
    if "responses" in total:
        said += [_unpriced(total), _bounds(total), _outside(total, used.unexplained)]
    else:
        said.append(SEVERAL_TOOLS if used.table.num_rows else "")
    return [words for words in said if words]


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
