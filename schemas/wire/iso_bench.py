"""The files that ISO-Bench writes beside an agent's log.

It writes them in `bench/prepare.py`, `bench/journal.py` and `src/eval/run_summary.py`.

One folder per item: `runs/<repo>/<agent>/<model>/<timestamp>/<item>/`. Every field is `Secondary`:
a sidecar only adds to a record, so a missing or malformed value is None. Times are Unix seconds,
durations seconds.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from schemas.agents import ISO_BENCH_AGENTS
from schemas.wire.values import Secondary, WireCount, WireSeconds, WireText

_RUN_FOLDER = re.compile(
    r"(?:^|/)runs/(?P<path>[^/]+/(?P<agent>[^/]+)/(?P<model>[^/]+)/[^/]+/(?P<item>[^/]+))/[^/]+$"
)
_MODELS = {
    "sonnet-4.5": re.compile(r"sonnet[-_.]?4[-_.]?5|trae_sonnet$"),
    "gpt-5": re.compile(r"gpt[-_]?5(?![.\d])"),
}


def agent_named(word: str) -> str | None:
    """Return the agent named by a word.

    `claude_code`, `trae_gpt5`, or the folder of an experiment, `omniperf_results_3way_codex`.
    """
    name = word.lower().replace("-", "_")
    return ISO_BENCH_AGENTS.get(name) or next(
        (agent for key, agent in ISO_BENCH_AGENTS.items() if f"_{key}_" in f"_{name}_"), None
    )


def model_named(word: str) -> str | None:
    """Return the model in `trae_sonnet45` or `gpt-5-2025-08-07`.

    None for a word that names none, such as `default`.
    """
    return next((model for model, pattern in _MODELS.items() if pattern.search(word.lower())), None)


class RunFolder(NamedTuple):
    """The folder of an agent's run. `path`: `REPO/AGENT/MODEL/TIMESTAMP/ITEM`."""

    path: str
    agent: str | None
    model: str | None
    item: str


def run_folder(patch: str | None) -> RunFolder | None:
    """Return the run of a patch, by its path, or None for any other path.

    The path is `…/runs/REPO/AGENT/MODEL/TIMESTAMP/ITEM/model_patch.diff`.
    """
    found = _RUN_FOLDER.search(patch) if patch else None
    return (
        RunFolder(
            found["path"], agent_named(found["agent"]), model_named(found["model"]), found["item"]
        )
        if found
        else None
    )


class _Wire(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class Commits(_Wire):
    """The commits of a task."""

    pre: Secondary[WireText] = Field(default=None, description="Commit the agent began from.")
    human: Secondary[WireText] = Field(
        default=None, description="Commit of the human's optimization, the reference."
    )


class RunMetadata(_Wire):
    """The place of the run in the benchmark, taken from its path."""

    repo: Secondary[WireText] = Field(
        default=None, description="vllm, sglang; 'unknown' in flat layouts."
    )
    agent: Secondary[WireText] = Field(
        default=None, description="claude_code, codex, trae, openhands, …"
    )
    model: Secondary[WireText] = Field(
        default=None, description="Folder name of the model; 'default' in flat layouts."
    )
    run_timestamp: Secondary[WireText] = Field(
        default=None,
        description="When the run of all items began: 2026-01-27_15-16-21, local time.",
    )
    run_path: Secondary[WireText] = Field(
        default=None, description="<repo>/<agent>/<model>/<timestamp>."
    )


class Metrics(_Wire):
    """Counts after the end of the agent."""

    time_to_first_edit_s: Secondary[WireSeconds] = Field(
        default=None, description="Seconds until the first file changed."
    )
    changed_files_count: Secondary[WireCount] = Field(
        default=None, description="Files changed, scratch files aside."
    )


class AgentProcess(_Wire):
    """The agent's process; in the journal under the agent's name."""

    returncode: Secondary[int] = Field(default=None, description="Exit code.")
    duration_s: Secondary[WireSeconds] = Field(
        default=None, description="Wall time of the process."
    )


class Timestamps(_Wire):
    """When the journal was written."""

    written: Secondary[WireSeconds] = Field(
        default=None, description="When, right after the agent ended; Unix seconds."
    )


class Journal(_Wire):
    """`journal.json`: the outcome of one item."""

    task_id: Secondary[WireText] = Field(
        default=None, description="The plan the item belongs to: vllm_core, sglang_core."
    )
    commits: Secondary[Commits] = Field(default=None, description="Base and reference.")
    status: Secondary[WireText] = Field(
        default=None, description="success, error, max_steps_exceeded."
    )
    run_metadata: Secondary[RunMetadata] = Field(
        default=None, description="The run's place in the benchmark."
    )
    experiment: Secondary[dict[str, Any]] = Field(
        default=None, description="Switches of the run: hints_enabled, preflight_enabled."
    )
    metrics: Secondary[Metrics] = Field(
        default=None, description="What was counted; absent where the run failed."
    )
    timestamps: Secondary[Timestamps] = Field(
        default=None, description="When the journal was written."
    )
    claude_code: Secondary[AgentProcess] = Field(
        default=None, description="The process, if the agent is Claude Code."
    )
    codex: Secondary[AgentProcess] = Field(
        default=None, description="The process, if the agent is Codex."
    )
    codex_cli: Secondary[AgentProcess] = Field(
        default=None, description="The process, if the agent is Codex by its command line."
    )
    trae: Secondary[AgentProcess] = Field(
        default=None, description="The process, if the agent is TRAE."
    )
    openhands: Secondary[AgentProcess] = Field(
        default=None, description="The process, if the agent is OpenHands."
    )
    error: Secondary[WireText] = Field(
        default=None, description="What failed, where something did."
    )

    @property
    def process(self) -> AgentProcess | None:
        """Return the agent's process, for any agent."""
        return self.claude_code or self.codex or self.codex_cli or self.trae or self.openhands

    @property
    def exit_code(self) -> int | None:
        """Return the exit code of the agent's process.

        None also for a 0 beside an error, which proves neither.
        """
        code = self.process.returncode if self.process else None
        return None if code == 0 and self.status == "error" else code


class Prompt(_Wire):
    """`prompt.json`: what the harness asked of the agent.

    All that an item has of the harness if that broke off before its journal.
    """

    task: Secondary[WireText] = Field(
        default=None, description="Title of the plan: vLLM core performance."
    )
    commits: Secondary[Commits] = Field(default=None, description="Base and reference.")


class SummaryMeta(_Wire):
    """The run of a summary."""

    repo: Secondary[WireText] = Field(default=None, description="vllm, sglang.")
    agent: Secondary[WireText] = Field(default=None, description="The agent.")
    model: Secondary[WireText] = Field(default=None, description="Short name of the model.")
    timestamp: Secondary[WireText] = Field(
        default=None, description="When the run of all items began."
    )
    task_id: Secondary[WireText] = Field(
        default=None,
        description="The plan the item belongs to; 'unknown' where the journal lacks it.",
    )
    item_id: Secondary[WireText] = Field(
        default=None, description="The item: the name of its folder."
    )


class PatchStats(_Wire):
    """The size of the patch."""

    lines_added: Secondary[WireCount] = Field(default=None, description="Lines added.")
    lines_removed: Secondary[WireCount] = Field(default=None, description="Lines removed.")
    files_changed: Secondary[WireCount] = Field(default=None, description="Files changed.")


class SummaryAgent(_Wire):
    """The agent's work."""

    status: Secondary[WireText] = Field(default=None, description="The journal's status.")
    patch_stats: Secondary[PatchStats] = Field(default=None, description="Its size.")
    duration_s: Secondary[WireSeconds] = Field(
        default=None, description="Wall time of the process; known for TRAE only."
    )
    time_to_first_edit_s: Secondary[WireSeconds] = Field(
        default=None, description="Seconds until the first file changed."
    )


class RunSummary(_Wire):
    """`run_summary.json`: the journal, patch and prediction in one, later also the evaluation."""

    schema_version: Secondary[WireText] = Field(default=None, description="'1.0'.")
    meta: Secondary[SummaryMeta] = Field(default=None, description="Which run it is.")
    commits: Secondary[Commits] = Field(default=None, description="Base and reference.")
    agent: Secondary[SummaryAgent] = Field(default=None, description="What the agent did.")


class Prediction(_Wire):
    """The line of `prediction.jsonl`, in the format of SWE-bench's harness."""

    instance_id: Secondary[WireText] = Field(
        default=None, description="<owner>__<repo>-<first 7 digits of the base commit>."
    )
    model_patch: Secondary[WireText] = Field(
        default=None, description="The patch, as in model_patch.diff."
    )
