"""Everything known around a source's records, from all sides, merged by precedence into the `Context` of each record.

- repo, task, experiment: a label given at ingest, else the path by the template, else a sidecar.
- agent version, requested model: the stream, else a sidecar.
- started_at, ended_at: both of one side, the first of stream, sidecar, path, file that knows any; `time_source` is its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from ingest.agents.base import Context
from ingest.context.path_template import PathFacts, PathTemplate
from ingest.context.sidecars import NOTHING, SidecarFacts, Sidecars
from ingest.context.stream import StreamFacts
from ingest.documents.times import shifted, time_of_path

RANKS = {"stream": 8, "sidecar": 4, "path": 2, "labels": 1}
"""What each side adds to `context_rank`. So of two copies of a record the one in its stream wins over one that only has sidecars,
that over one with only a speaking path, that over labels, and anything over a bare file, whatever the order they come in."""

NO_PATH_FACTS = PathFacts()
NO_FACTS = StreamFacts()

Times = tuple[datetime | None, datetime | None]


@dataclass(frozen=True)
class SourceContext:
    """What is known around all records of one source."""

    source_id: str
    labels: dict[str, str] = field(default_factory=dict)
    path: PathFacts = NO_PATH_FACTS
    sidecar: SidecarFacts = NOTHING
    modified_at: datetime | None = None

    def for_record(self, facts: StreamFacts | None, duration_ms: int | None) -> Context:
        """The context of one record, with what its stream says.

        Where only one end of its time is known, the other is `duration_ms` away: a path gives the start (loops name a log when
        they start it), the file's time of change the end. A stream gives both, unless only one of its events has a time: then the
        start.
        """
        stream = facts or NO_FACTS
        time_source, (started_at, ended_at) = self._times(stream, duration_ms)
        sidecar = self.sidecar
        return Context(
            source_id=self.source_id,
            labels=self._labels,
            repo=self.labels.get("repo") or self.path.repo or sidecar.repo,
            task=self.labels.get("task") or self.path.task or sidecar.task,
            experiment=self.labels.get("experiment") or self.path.experiment,
            agent_version=stream.agent_version or sidecar.agent_version,
            requested_model=stream.requested_model or sidecar.model,
            cwd=stream.cwd,
            permission_mode=stream.permission_mode,
            tools=stream.tools,
            started_at=started_at,
            ended_at=ended_at,
            time_source=time_source,
            base_commit=sidecar.base_commit,
            head_commit=sidecar.head_commit,
            task_status=sidecar.task_status,
            first_edit_ms=sidecar.first_edit_ms,
            patch_files=sidecar.patch_files,
            patch_insertions=sidecar.patch_insertions,
            patch_deletions=sidecar.patch_deletions,
            in_stream=stream.in_stream,
            context_rank=self._rank + RANKS["stream"] * stream.in_stream,
            tool_calls=stream.tool_calls,
            patch_changes=sidecar.file_changes,
        )

    def _times(self, stream: StreamFacts, duration_ms: int | None) -> tuple[str | None, Times]:
        """(time_source, (started_at, ended_at)) of the first side that knows any."""
        for source, times in self._sides(stream):
            if any(times):
                return source, _completed(times, duration_ms)
        return None, (None, None)

    def _sides(self, stream: StreamFacts) -> Iterator[tuple[str, Times]]:
        single = stream.started_at == stream.ended_at
        yield "stream", (stream.started_at, None if single else stream.ended_at)
        yield "sidecar", (self.sidecar.started_at, self.sidecar.ended_at)
        yield "path", (self.path.started_at, None)
        yield "file", (None, self.modified_at)

    @cached_property
    def _labels(self) -> dict[str, str]:
        return self.path.labels | self.labels

    @cached_property
    def _rank(self) -> int:
        known = {"sidecar": self.sidecar.found, "path": self.path != NO_PATH_FACTS, "labels": bool(self.labels)}
        return sum(RANKS[side] for side, is_known in known.items() if is_known)


def gather(
    source_id: str,
    name: str,
    path: Path | None,
    modified_at: datetime | None,
    labels: dict[str, str],
    template: PathTemplate | None,
    sidecars: Sidecars,
) -> SourceContext:
    """What is known around a source. `name` is its path, a member's path within an archive included; `path` the file on disk.

    Raises nothing; the file's time of change counts only for a file (`path`), as an upload's says nothing.
    """
    return SourceContext(
        source_id=source_id,
        labels=dict(labels),
        path=_path_facts(name, path, template),
        sidecar=sidecars.beside(path, name),
        modified_at=_aware(modified_at) if path else None,
    )


def _path_facts(name: str, path: Path | None, template: PathTemplate | None) -> PathFacts:
    """By the template, where it fits the name or the whole path; a time that stands in the name needs none."""
    facts = None
    if template:
        facts = template.match(name) or (template.match(str(path.absolute())) if path else None)
    facts = facts or NO_PATH_FACTS
    if facts.started_at:
        return facts
    started_at = time_of_path(name) or (time_of_path(str(path)) if path else None)
    return replace(facts, started_at=started_at)


def _completed(times: Times, duration_ms: int | None) -> Times:
    started_at, ended_at = times
    if duration_ms is None:
        return times
    if started_at and not ended_at:
        ended_at = shifted(started_at, duration_ms)
    elif ended_at and not started_at:
        started_at = shifted(ended_at, -duration_ms)
    return started_at, ended_at


def _aware(time: datetime | None) -> datetime | None:
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time
