"""`tachograph ingest`: reads the paths of the command line, and shows progress."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from app.cli import terminal
from app.queries.filters import parse_label
from ingest import pipeline
from ingest.agents.homes import only_sessions, session_folders
from ingest.context.path_template import PathTemplate
from ingest.measurements.given import parse_given
from ingest.pipeline import IngestReport, Options
from ingest.reading.known_sources import retried
from ingest.reading.tasks import spare_pandas
from ingest.sources.files import Source
from ingest.sources.walking import ITS_NAME, Excluding, read_paths
from ingest.store.database import Store
from ingest.store.ingests import Origin
from ingest.system.secrets import command_of
from schemas.errors import InputUnreadable, UsageError
from schemas.text import one_line

if TYPE_CHECKING:
    from schemas.rows.price import PriceFileRow


class How(NamedTuple):
    """The options of the command."""

    labels: Sequence[str] = ()
    path_template: str | None = None
    jobs: int = 0
    prices: Path | None = None
    retry_rejects: bool = False
    trust_file_times: bool = False
    path_zone: str = ""
    measures: Sequence[str] = ()
    no_text: bool = False
    excludes: Sequence[str] = ()

    def options(self) -> Options:
        """As the pipeline takes them. Raises UsageError."""
        return Options(
            tuple(map(parse_label, self.labels)),
            PathTemplate.parse(self.path_template) if self.path_template else None,
            self.jobs,
            self.retry_rejects,
            _price_file(self.prices) if self.prices else None,
            trust_file_times=self.trust_file_times,
            path_zone=self.path_zone,
            measure=parse_given(self.measures),
            origin=Origin(command=command_of(sys.argv[1:])),
            keeps_text=not self.no_text,
            prepare=spare_pandas,
        )


def _price_file(path: Path) -> PriceFileRow:
    from ingest.prices.price_file import read_price_file

    return read_price_file(path)


def ingest_paths(paths: Sequence[Path], store: Store, how: How, excluding: Excluding) -> IngestReport:
    """Ingest files, folders, archives and the standard input, with a bar on the terminal. Raises UsageError, StoreError."""
    options = how.options()
    wanted = [*paths, *(_rejected(store) if how.retry_rejects else ())]
    with terminal.reading_progress() as bar:
        return pipeline.ingest(_counted(wanted, bar, excluding), store, options, bar.advance)


def paths_to_read(paths: Sequence[Path], *, retries: bool) -> Sequence[Path]:
    """The paths to read. Without any, and where no rejects are retried, the sessions on this machine. Raises UsageError without these."""
    if paths or retries:
        return only_sessions(paths)
    if not (found := session_folders()):
        raise UsageError(
            "Nothing to ingest: Claude Code and Codex have no sessions on this machine.",
            "Name a file or a folder: tachograph ingest PATH. Sessions elsewhere: set $CLAUDE_CONFIG_DIR or $CODEX_HOME.",
        )
    terminal.note(f"reading sessions in {', '.join(one_line(str(folder)) for folder in found)}")
    return found


def _rejected(store: Store) -> tuple[Path, ...]:
    """Files to be retried; those that are not there are told, with the folder they were looked for in."""
    found = retried(store)
    for name in found.gone:
        if name == ITS_NAME:
            terminal.note(f"{name} cannot be read again: to retry its rejects, pipe it in again")
            continue
        here = one_line(str(Path.cwd()))
        where = "no longer there" if Path(name).is_absolute() else f"not in {here} (run this in the folder of the first ingest)"
        terminal.note(f"{one_line(name)} is {where}: its rejects cannot be retried")
    return found.there


def _counted(paths: Sequence[Path], bar: terminal.ReadingBar, excluding: Excluding) -> Iterator[Source | InputUnreadable]:
    """The sources, all listed first so that the bar knows how much there is."""
    sources = list(read_paths(paths, excluding))
    bar.expect(len(sources), sum(source.size for source in sources if isinstance(source, Source)))
    yield from sources
