"""What the store of a single run says first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.text import brief
from app.text.sentences import Said

Row = Mapping[str, Any]


def only_run(run: Row, verdict: Row | None) -> Said:
    """What the run cost, how long it took, and what it claims or was measured to gain: `One run: $1.21, 4m 14s, and …`."""
    if not run["is_started"]:
        return Said("One run, and it never started.")
    parts = [f"cost {brief.NOT_RECORDED}" if run["cost_best_usd"] is None else brief.usd(run["cost_best_usd"], run["cost_best_bounds"])]
    parts += [] if run["duration_ms"] is None else [brief.duration(run["duration_ms"])]
    claimed, measured = run["claimed_speedup"], verdict["measured_speedup"] if verdict else None
    if run["reason"]:
        parts.append("and it did not complete")
    elif measured is not None:
        parts.append(f"{'and ' if claimed is None else f'claimed {brief.ratio(claimed)}, '}measured **{brief.ratio(measured)}**")
    elif claimed is not None:
        kind = "speedup" if claimed > 1 else "factor"
        tried = "could not be compared with a baseline" if verdict else "nobody has measured"
        parts.append(f"and a claimed {kind} of **{brief.ratio(claimed)}** that {tried}")
    else:
        parts.append("and no claimed speedup")
    return Said(f"One run: {', '.join(parts)}.")
