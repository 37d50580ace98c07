"""Path, sidecars and stream, merged by precedence into the `Context` of each record.

Labels given at ingest come with the commit.

- repo, task, experiment: the path by the template, else a sidecar.
- prompt, agent version, requested model: the stream or the log itself, else a sidecar.
- started_at, ended_at: both from one origin, the first of stream, sidecar, record, path, file that
  has any; `time_source` is its name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from ingest.agents.base import Context, Process, RunFacts, Subagent
from ingest.context.path_template import NO_PATH_FACTS, PathFacts, PathReading
from ingest.context.sidecars import (
    NO_SIDECAR_FACTS,
    SidecarFacts,
    Sidecars,
    subagent_beside,
    with_folder,
)
from ingest.context.trials import NO_HARNESS_FACTS, HarnessFacts
from ingest.sources.times import lenient_time, plausible, shifted

RANKS = {"stream": 8, "sidecar": 4, "path": 2}
"""Added by each origin to `context_rank`. Of two copies of a record, one in its stream outranks one
with sidecars, then one with a matching path, then a bare file, independent of the order of ingest.
"""

FILE, TRUSTED_FILE = "file", "trusted_file"
"""`time_source` of a run dated by its file: it may be a copy's time, unless the user declares it
trusted.
"""


@dataclass(frozen=True)
class SourceContext:
    """The context shared by all records of one source."""

    source_id: str
    path: PathFacts = NO_PATH_FACTS
    sidecar: SidecarFacts = NO_SIDECAR_FACTS
    modified_at: datetime | None = None
    file_origin: str = FILE
    harness: HarnessFacts = NO_HARNESS_FACTS
    name: str = ""
    subagent: Subagent | None = None

    def for_run(self, facts: RunFacts, duration_ms: int | None) -> Context:
        """Return the context of one run, with the facts of its reader."""
        sidecar = self.sidecar
        time_source, started_at, ended_at = self._times(
            facts, sidecar.duration_ms if duration_ms is None else duration_ms
        )
        return Context(
            source_id=self.source_id,
            labels=self._labels,
            prompt=facts.prompt or sidecar.prompt,
            repo=self.path.repo or sidecar.labels.get("repo") or sidecar.repo or facts.repo,
            task=self.path.task
            or sidecar.labels.get("task")
            or sidecar.task
            or facts.task
            or self.harness.task,
            experiment=self.path.experiment or sidecar.labels.get("experiment"),
            agent_version=facts.agent_version or sidecar.agent_version,
            requested_model=facts.requested_model or sidecar.model or self.harness.model,
            cwd=facts.cwd or sidecar.cwd,
            permission_mode=facts.permission_mode,
            branch=facts.branch or sidecar.branch,
            tools=facts.tools,
            started_at=started_at,
            ended_at=ended_at,
            time_source=time_source,
            base_commit=sidecar.base_commit or facts.base_commit,
            head_commit=sidecar.head_commit,
            task_status=sidecar.task_status,
            first_edit_ms=sidecar.first_edit_ms,
            patch_files=sidecar.patch_files,
            patch_insertions=sidecar.patch_insertions,
            patch_deletions=sidecar.patch_deletions,
            patch_sha256=sidecar.patch_sha256,
            in_stream=facts.in_stream,
            part_ids=facts.part_ids,
            streamed_tokens=facts.streamed_tokens,
            context_rank=self._rank + RANKS["stream"] * facts.in_stream,
            trial_id=self.harness.trial_id,
            agent=self.harness.agent,
            score=self.harness.score,
            tool_calls=facts.tool_calls,
            patch_changes=sidecar.file_changes,
            patch=sidecar.patch,
            model=self.harness.model,
            name=self.name,
            subagent=self.subagent,
            is_verified=self.harness.is_verified,
            process=Process(sidecar.duration_ms, sidecar.ended_by, sidecar.exit_code),
        )

    def _times(
        self, facts: RunFacts, duration_ms: int | None
    ) -> tuple[str | None, datetime | None, datetime | None]:
        """Return (time_source, started_at, ended_at) from the first origin that has any.

        If only one of the two times is known, the duration gives the other. A stream has both; if
        only one of its events has a time, that is the start. A path has the start (loops name a log
        when they start it), the file's modification time is the end. A record's own local times
        have no zone: a sidecar's times are better.
        """
        own = (
            facts.time_source,
            facts.started_at,
            None if facts.started_at == facts.ended_at else facts.ended_at,
        )
        beside = ("sidecar", self.sidecar.started_at, self.sidecar.ended_at)
        origins = (
            *((beside, own) if facts.time_source == "record" else (own, beside)),
            ("path", self.path.started_at, None),
            (self.file_origin, None, self.modified_at),
        )
        time_source, started_at, ended_at = next(
            (one for one in origins if one[1] or one[2]), (None, None, None)
        )
        if duration_ms is not None and started_at and not ended_at:
            ended_at = shifted(started_at, duration_ms)
        elif duration_ms is not None and ended_at and not started_at:
            started_at = shifted(ended_at, -duration_ms)
        return time_source, started_at, ended_at

    @cached_property
    def _labels(self) -> dict[str, str]:
        return {**dict(self.harness.labels), **self.sidecar.labels, **self.path.labels}

    @cached_property
    def _rank(self) -> int:
        return RANKS["sidecar"] * self.sidecar.found + RANKS["path"] * (self.path != NO_PATH_FACTS)


def gather(
    source_id: str,
    name: str,
    path: Path | None,
    modified_at: datetime | None,
    paths: PathReading,
    sidecars: Sidecars,
) -> SourceContext:
    """Return the context of a source.

    `name`: its path, for a member including the path inside the archive; `path`: the file on disk.

    Never raises.
    """
    sidecar = sidecars.beside(path, name)
    if sidecar.stamp and paths.zone is not UTC:  # its only time is that in the name of its folder
        sidecar = replace(sidecar, started_at=lenient_time(sidecar.stamp, paths.zone))
    if sidecar.found and not (sidecar.model and sidecar.task):
        sidecar = with_folder(sidecar, str(path.absolute()) if path else name)
    if modified_at and not modified_at.tzinfo:
        modified_at = modified_at.replace(tzinfo=UTC)
    return SourceContext(
        source_id=source_id,
        path=paths.facts(name, path),
        sidecar=sidecar,
        harness=sidecars.harness(path, name),
        modified_at=plausible(modified_at) if modified_at else None,
        name=name,
        subagent=subagent_beside(path) if path else None,
    )
