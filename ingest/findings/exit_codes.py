"""The exit code of the process beside what its record says: a record of success does not outweigh a process that failed.

`tachograph run` gives the code as a label, which stays with the run; so a rebuild comes to the same end.
"""

from __future__ import annotations

from typing import Any

from schemas.rows.run import Outcome, RunRow
from schemas.wire.launch import ENDED_BY, EXIT_CODE, outcome_of_process

_SAYS_NO_FAILURE = (Outcome.COMPLETED, Outcome.UNKNOWN)


def exit_code_of(run: RunRow) -> int:
    """The exit code of the process of a run; 0 also where it is not known."""
    code = run.labels.get(EXIT_CODE, "")
    return int(code) if code.isascii() and code.isdigit() and len(code) < 4 else 0  # anybody may give a label


def ending_columns(run: RunRow) -> dict[str, Any]:
    """The columns of a run that tell its end, where its record says nothing of the failure of its process; empty for any other.

    What the record says besides stays as it is.
    """
    code = exit_code_of(run)
    if not code or run.outcome not in _SAYS_NO_FAILURE:
        return {}
    ended = {"outcome": outcome_of_process(code, run.labels.get(ENDED_BY))}
    return ended if run.terminal_reason else ended | {"terminal_reason": f"exit code {code}"}
