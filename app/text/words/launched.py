"""What is said of a run that `tachograph run` has recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.text.formatting import MINUS, human, short_id
from schemas.text import plural
from schemas.units import Unit
from schemas.wire.launch import Launch, LaunchGit


def ended_words(launch: Launch, run: Mapping[str, Any], location: str, told: str = "", *, is_at_odds: bool = False) -> str:
    """`claude-code completed in 1m 2s, $0.25, 3 files changed (+10 −2): run 5e0c031e… in runs.duckdb`.

    `run`: its row, else empty; the wall time is that of the row. `is_at_odds`: its record says that it completed, its exit code does not.
    """
    lasted = (launch.duration_s or 0) * 1000 if run.get("duration_ms") is None else run["duration_ms"]
    who, ended = run.get("agent") or launch.agent, _end(launch, run, is_at_odds=is_at_odds)
    parts = ", ".join([f"{who} {ended} in {human(lasted, Unit.MILLISECONDS)}", *_parts(launch, run)])
    where = f": run {short_id(str(run['run_id']))} in {location}" if run else ""
    return parts + where + (f" ({told})" if told else "")


def stopped_words(number: int, of: int, launch: Launch, *, is_signalled: bool) -> str:
    """Why several runs end with this one, and which were not started."""
    how = "was interrupted" if is_signalled else f"exited with code {launch.exit_code}" if launch.exit_code else "could not be started"
    rest = "was" if number + 1 == of else f"{'and' if number + 2 == of else 'to'} {of} were"
    runs = "run" if number + 1 == of else "runs"
    hint = "" if is_signalled else " (--keep-going goes on)"
    return f"stopped: run {number} of {of} {how}; {runs} {number + 1} {rest} not started{hint}"


def _end(launch: Launch, run: Mapping[str, Any], *, is_at_odds: bool) -> str:
    code = f"exited with code {launch.exit_code}" if launch.exit_code else ""
    if is_at_odds:
        return f"completed, but {code},"
    outcome = str(run.get("outcome") or f"ended with exit code {launch.exit_code}").replace("_", " ")
    return f"{outcome} ({code})" if code and run else outcome


def _parts(launch: Launch, run: Mapping[str, Any]) -> Iterator[str]:
    if run.get("cost_own_usd") is not None:
        yield human(run["cost_own_usd"], Unit.USD)
    elif run.get("cost_list_usd") is not None:
        yield f"{human(run['cost_list_usd'], Unit.USD)} at list prices"
    patch = (launch.git or LaunchGit()).patch
    if patch and patch.files is not None:
        changed = f" (+{patch.insertions or 0:,} {MINUS}{patch.deletions or 0:,})" if patch.files else ""
        yield f"{plural(patch.files, 'file')} changed{changed}" if patch.files else "nothing changed"
