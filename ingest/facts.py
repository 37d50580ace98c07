"""Facts about a run, whichever origin knows them: log, path, files beside it, harness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple


class Subagent(NamedTuple):
    """A sub-agent's type, and a short description of its task."""

    type: str | None = None
    description: str | None = None


NO_SUBAGENT = Subagent()


class PatchText(NamedTuple):
    """A stored patch. `bytes`: size of the whole patch. `is_cut`: `text` is only its beginning."""

    file_name: str
    bytes: int
    is_cut: bool
    text: str


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts about one run from one origin, or from all of them; None or empty if unknown.

    A field with the name of a column of `runs` is stored in it.
    """

    source_id: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    prompt: str | None = None
    repo: str | None = None
    task: str | None = None
    experiment: str | None = None
    agent_version: str | None = None
    requested_model: str | None = None
    effort: str | None = None
    host: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    branch: str | None = None
    tools: tuple[str, ...] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    time_source: str | None = None
    base_commit: str | None = None
    head_commit: str | None = None
    task_status: str | None = None
    first_edit_ms: int | None = None
    patch_files: int | None = None
    patch_insertions: int | None = None
    patch_deletions: int | None = None
    patch_sha256: str | None = None
    in_stream: bool = False
    part_ids: tuple[str, ...] = ()
    """Ids of the streams with its events, and of results that follow from it; a record with one of
    these ids belongs to the run.
    """
    streamed_tokens: int | None = None
    """All input tokens of the stream's responses since the previous result."""
    context_rank: int = 0
    trial_id: str | None = None
    agent: str | None = None
    score: float | None = None
    tool_calls: tuple[tuple[str, int, int | None], ...] = ()
    """(tool, calls, errors), sorted by tool; includes the calls of sub-agents."""
    patch_changes: tuple[tuple[str, int, int], ...] = ()
    """(path, insertions, deletions) of the first files of the patch beside the record."""
    patch: PatchText | None = None
    harness_model: str | None = None
    """The model the harness started the agent with; used if the log names none."""
    is_verified: bool = False
    """Whether the harness checked the work, which it does when the agent has ended."""
    process_ms: int | None = None
    """Wall time of the agent's process, as its launcher measured it."""
    ended_by: str | None = None
    """The limit or the signal that ended the process."""
    exit_code: int | None = None
    subagent: Subagent | None = None
    name: str = ""
    """The source's path; for an archive member, including the path inside the archive."""
    is_cut: bool = False
    """Whether the source ends in the middle of a line, within the run."""

    def known(self) -> dict[str, Any]:
        """Return the known facts by name."""
        if self is NO_FACTS:
            return {}
        return {
            name: value
            for name, value in vars(self).items()
            if value != "" and value != _UNKNOWN[name]
        }

    @classmethod
    def of(cls, known: Mapping[str, Any]) -> Facts:
        """Return facts that `known` gave, in a fifth of the time of the constructor."""
        facts = object.__new__(cls)
        vars(facts).update({**_UNKNOWN, **known})
        return facts


NO_FACTS = Facts()
_UNKNOWN = vars(NO_FACTS)

STREAM_RANK, SIDECAR_RANK, PATH_RANK = 8, 4, 2
"""`context_rank` of each origin, summed. Of two copies of a record, one in its stream outranks one
with sidecars, then one with a matching path, then a bare file, independent of the order of ingest.
"""
