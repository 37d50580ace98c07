"""Facts about each record of a source: those around the source, joined with those in its log.

The first origin that knows a fact gives it:

- repo, task, experiment, effort, base commit: the path by the template, sidecars, the log, the
  harness.
- everything else: the log or its stream, sidecars, the harness.
- started_at and ended_at: both from one origin, the first of stream, sidecar, record, path, file
  that has any; `time_source` is its name.

Labels given at ingest come with the commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from ingest.context.path_template import PathReading
from ingest.context.sidecars import Sidecars, subagent_beside, task_model_beside
from ingest.facts import NO_FACTS, STREAM_RANK, Facts
from ingest.sources.times import plausible, shifted

FILE, TRUSTED_FILE = "file", "trusted_file"
"""`time_source` of a run dated by its file: it may be a copy's time, unless the user declares it
trusted.
"""

_OUTSIDE_FIRST = ("repo", "task", "experiment", "effort", "base_commit")
"""Facts that people give by the path or a sidecar, and that a log may only guess."""


@dataclass(frozen=True)
class SourceContext:
    """The facts around the records of one source, by origin."""

    source: Facts = NO_FACTS
    path: Facts = NO_FACTS
    sidecar: Facts = NO_FACTS
    harness: Facts = NO_FACTS
    modified_at: datetime | None = None
    file_origin: str = FILE

    def for_run(self, log: Facts, duration_ms: int | None) -> Facts:
        """Return the facts about one run. `duration_ms`: its wall time, if its log has one."""
        before, behind = self._around
        lasted = self.sidecar.process_ms if duration_ms is None else duration_ms
        time_source, started_at, ended_at = self._times(log, lasted)
        rank = self.sidecar.context_rank + self.path.context_rank + STREAM_RANK * log.in_stream
        facts = behind | log.known() | before
        times = {"time_source": time_source, "started_at": started_at, "ended_at": ended_at}
        return Facts.of({**facts, **times, "context_rank": rank})

    @cached_property
    def _around(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the facts around the log: those that precede its own, and the others."""
        path, sidecar, harness = (one.known() for one in (self.path, self.sidecar, self.harness))
        outside = sidecar | path
        before = {name: outside[name] for name in _OUTSIDE_FIRST if name in outside}
        labels = self.harness.labels | self.sidecar.labels | self.path.labels
        return before, harness | sidecar | self.source.known() | {"labels": labels}

    def _times(
        self, log: Facts, duration_ms: int | None
    ) -> tuple[str | None, datetime | None, datetime | None]:
        """Return (time_source, started_at, ended_at) from the first origin that has any.

        If only one of the two times is known, the duration gives the other. A stream has both; if
        only one of its events has a time, that is the start. A path has the start (loops name a log
        when they start it), the file's modification time is the end. A record's own local times
        have no zone: a sidecar's times are better.
        """
        own = (
            log.time_source or "stream",
            log.started_at,
            None if log.started_at == log.ended_at else log.ended_at,
        )
        beside = ("sidecar", self.sidecar.started_at, self.sidecar.ended_at)
        origins = (
            *((beside, own) if log.time_source == "record" else (own, beside)),
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


def gather(
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
    if modified_at and not modified_at.tzinfo:
        modified_at = modified_at.replace(tzinfo=UTC)
    return SourceContext(
        source=Facts(
            name=name,
            subagent=subagent_beside(path) if path else None,
            harness_model=task_model_beside(path) if path else None,
        ),
        path=paths.facts(name, path),
        sidecar=sidecars.beside(path, name, paths.zone),
        harness=sidecars.harness(path, name),
        modified_at=plausible(modified_at) if modified_at else None,
    )
