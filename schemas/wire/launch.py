"""What `tachograph run` writes beside the log of a run.

How the agent was started, and how it ended.

One folder per run: this file, the agent's standard output, the patch of its changes, and copies of
transcripts if the output has no record. Every field is `Secondary`, as in any other sidecar.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from schemas.agents import AGENTS
from schemas.rows.run import Outcome
from schemas.wire.values import Secondary, WireCount, WireSeconds, WireText

LAUNCH_FILE = "tachograph-launch.json"
OUTPUT_FILE = "stdout.log"
PATCH_FILE = "model_patch.diff"
RUN_FILE = "run.json"
"""The run itself, if no agent left a record of it: a kept run (`schemas.rows.distilled`)."""

ENDED_BY = "ended-by"
"""Label of a run that a limit or a signal ended."""

EXIT_CODE = "exit-code"
"""Label of a run with a non-zero exit code."""

COMMIT_AFTER = "commit-after"
"""Label of a run that ended at another commit than it began at: that commit."""

MAX_USD, MAX_MINUTES = "max-usd", "max-minutes"
ENDINGS = {MAX_USD: Outcome.MAX_BUDGET, MAX_MINUTES: Outcome.LIMIT_REACHED}
"""The limit that ended a run → its outcome, if its log has none. The name of a signal means an
interrupt.
"""

_OF_SIGNALS = range(129, 160)
"""Exit codes for signals, as shells report them."""


def outcome_of_process(agent: str | None, exit_code: int, ended_by: str | None = None) -> Outcome:
    """Return how a run ended, from its process alone.

    `exit_code`: as in shells, or Python's, below 0 for a signal. `ended_by`: the limit or the
    signal that ended it.
    """
    if ended_by or exit_code < 0 or exit_code in _OF_SIGNALS:
        return ENDINGS.get(ended_by or "", Outcome.INTERRUPTED)
    if exit_code:
        return Outcome.EXECUTION_ERROR
    return Outcome.UNKNOWN if agent in AGENTS and AGENTS[agent].exits_zero else Outcome.COMPLETED


class _Wire(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class LaunchPatch(_Wire):
    """The size of the patch. `sha256`: of the bytes of PATCH_FILE."""

    files: Secondary[WireCount] = Field(default=None, description="Files changed.")
    insertions: Secondary[WireCount] = Field(default=None, description="Lines inserted.")
    deletions: Secondary[WireCount] = Field(default=None, description="Lines deleted.")
    sha256: Secondary[WireText] = Field(
        default=None, description="Hash of the patch, hex; none of an empty one."
    )


class LaunchGit(_Wire):
    """The repository that the agent was started in."""

    repo: Secondary[WireText] = Field(
        default=None, description="Name of the repository at `origin`, else of its folder."
    )
    branch: Secondary[WireText] = Field(default=None, description="Branch at the start.")
    before: Secondary[WireText] = Field(default=None, description="Commit at the start.")
    after: Secondary[WireText] = Field(default=None, description="Commit at the end.")
    patch: Secondary[LaunchPatch] = Field(
        default=None, description="All that changed from start to end, committed or not."
    )


class Launch(_Wire):
    """`tachograph-launch.json`: one run. Times are ISO 8601 with a zone."""

    tachograph_launch: Secondary[WireText] = Field(
        default=None, description="Id of the run's folder."
    )
    version: Secondary[WireText] = Field(default=None, description="Version of Tachograph.")
    agent: Secondary[WireText] = Field(
        default=None, description="Key of the agent, else the name of the program."
    )
    command: Secondary[list[str]] = Field(default=None, description="The command that was started.")
    cwd: Secondary[WireText] = Field(default=None, description="Folder that it was started in.")
    host: Secondary[WireText] = Field(default=None, description="Name of the machine.")
    started_at: Secondary[WireText] = Field(default=None, description="When it was started.")
    ended_at: Secondary[WireText] = Field(default=None, description="When it had ended.")
    duration_s: Secondary[WireSeconds] = Field(
        default=None, description="Wall time by a clock that is never set."
    )
    exit_code: Secondary[int] = Field(
        default=None, description="Exit code as shells have it: 128 + signal for a signal."
    )
    ended_by: Secondary[WireText] = Field(
        default=None, description="The limit that ended it, or the signal that was passed on to it."
    )
    git: Secondary[LaunchGit] = Field(default=None, description="Absent outside a repository.")
    labels: Secondary[dict[str, str]] = Field(default=None, description="Labels of the run.")
    records: Secondary[list[str]] = Field(
        default=None, description="Files of the folder that hold records of agents."
    )
