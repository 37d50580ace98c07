"""What is said of a run that `tachograph run` has recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.text.formatting import MINUS, human, short_id
from schemas.text import plural
from schemas.unit_names import Unit
from schemas.wire.harnesses.launch import Launch, LaunchGit


def ended_words(launch: Launch, run: Mapping[str, Any], location: str, told: str = "") -> str:
    """`claude-code completed in 1m 2s, $0.25, 3 files changed (+10 −2): run 5e0c031e… in runs.duckdb`. `run`: its row, else empty."""
    outcome = str(run.get("outcome") or f"ended with exit code {launch.exit_code}").replace("_", " ")
    parts = ", ".join(
        [
            f"{run.get('agent') or launch.agent} {outcome} in {human((launch.duration_s or 0) * 1000, Unit.MILLISECONDS)}",
            *_parts(launch, run),
        ]
    )
    where = f": run {short_id(str(run['run_id']))} in {location}" if run else ""
    return parts + where + (f" ({told})" if told else "")


def _parts(launch: Launch, run: Mapping[str, Any]) -> Iterator[str]:
    if run.get("cost_own_usd") is not None:
        yield human(run["cost_own_usd"], Unit.USD)
    elif run.get("cost_list_usd") is not None:
        yield f"{human(run['cost_list_usd'], Unit.USD)} at list prices"
    patch = (launch.git or LaunchGit()).patch
    if patch and patch.files is not None:
        changed = f" (+{patch.insertions or 0:,} {MINUS}{patch.deletions or 0:,})" if patch.files else ""
        yield f"{plural(patch.files, 'file')} changed{changed}" if patch.files else "nothing changed"
