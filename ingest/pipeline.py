"""The path of data: sources → documents → reader → wire record → rows → spool → transaction.

The rows are strict; there is one transaction.

What only new sources need (readers, workers, the commit) is imported when the first one comes:
otherwise an ingest that finds nothing new would take twice as long.

Always true: documents = accepted + duplicates + rejected + ignored, for each source and in total.
The same bytes or the same record again change nothing, and the content of the store does not depend
on the order, the batches or the repetition of logs.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.context.path_template import PathTemplate
from ingest.context.small_files import MEASURE_FILE
from ingest.measurements.given import SaidBeside, says_variant
from ingest.reading.known_sources import Superseded, drop_superseded, known_sources
from ingest.reading.settings import Settings
from ingest.reading.tasks import ReadingTask, tasks_of, work_here, work_in_processes
from ingest.sources.files import Source, Unreadable
from ingest.store.database import Store, Writer, restamp, shown_loops, source_counts
from ingest.store.ingests import (
    IngestOrigin,
    measures_are_new,
    next_ingest,
    note_found,
    note_ingest,
    price_id,
)
from ingest.store.read_result import SHOWN, PortionKey, ReadResult
from ingest.system.files import temporary_folder
from schemas.errors import InputUnreadable, RejectReason, TachographError
from schemas.file_kinds import NO_LOGS, FileKind
from schemas.unread_logs import AGENT_BY_DETAIL

if TYPE_CHECKING:
    from ingest.mapped.found import KnownMap
    from schemas.rows.price import PriceFileRow
    from schemas.rows.source import RejectRow

MANY_TASKS = 4
"""Workers are started from so many tasks on. Two cores then read as fast as one, even where workers
are spawned, which takes a second (34 MB in lines: 3.5 s against 4.0; 4,000 files: 3.4 s against
3.2). With more tasks, or more cores, they win.
"""

COUNTS = ("documents", "accepted", "duplicates", "rejected", "ignored")


@dataclass(frozen=True)
class Options:
    """How to ingest. `jobs`: processes that read (default: the cores).

    `prices`: a price file for the store from now on.

    `unpacked`: temporary folders with the sidecars of uploads (`ingest.context.sidecars`).
    `origin`: who ingests, and by what. `trust_file_times`: the modification time of a file is the
    date of a run without another one; `trusted_since`: that of files which changed then or later.
    `path_zone`: the IANA name of the zone of times in paths; empty: that of the earlier ingest of a
    file, else UTC. `measure`: properties of all measurements of the ingest
    (`ingest.measurements.given`). Without `keeps_text`, texts of records are dropped
    (`ingest.agents.textless`). `maps`: of result files, instead of those in their folders
    (`ingest.mapped`). `prepare`: called once, before the first new source is read.
    """

    labels: tuple[tuple[str, str], ...] = ()
    template: PathTemplate | None = None
    jobs: int = 0
    retry_rejects: bool = False
    prices: PriceFileRow | None = None
    unpacked: Mapping[str, Path] = field(default_factory=dict)
    trust_file_times: bool = False
    trusted_since: datetime | None = None
    path_zone: str = ""
    measure: Mapping[str, str] = field(default_factory=dict)
    origin: IngestOrigin = field(default_factory=IngestOrigin)
    keeps_text: bool = True
    maps: tuple[KnownMap, ...] = ()
    prepare: Callable[[], object] = lambda: None


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of one reading step. `name`: the source read last."""

    sources: int = 0
    bytes: int = 0
    documents: int = 0
    rejected: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class SourceReport:
    """The counts of one source. `known`: its bytes were read before, by `ingest_id`.

    `rows`: those with costs or tokens of no known agent. `has_other_map`: they were read by
    another map than it has now, and stay as they are.

    `run_ids` and `rejects`: the first SHOWN of them.
    """

    name: str
    source_id: str
    documents: int = 0
    accepted: int = 0
    duplicates: int = 0
    rejected: int = 0
    ignored: int = 0
    measurements: int = 0
    judgements: int = 0
    without_variant: int = 0
    without_run: int = 0
    loops: int = 0
    experiments: int = 0
    rows: int = 0
    known: bool = False
    has_other_map: bool = False
    ingest_id: int | None = None
    kind: FileKind = FileKind.LOG
    run_ids: tuple[str, ...] = ()
    rejects: tuple[RejectRow, ...] = ()


@dataclass(frozen=True)
class IngestReport:
    """The counts of all sources of one ingest. `seconds`: wall time.

    `superseded`: sources whose old rejects were removed.

    `ingest_id`: its number in the list of ingests, None if nothing changed. `hidden_loops`: copies
    and versions of other loops.
    """

    sources: tuple[SourceReport, ...] = ()
    unreadable: tuple[InputUnreadable, ...] = ()
    seconds: float = 0.0
    superseded: Superseded = field(default_factory=Superseded)
    ingest_id: int | None = None
    hidden_loops: int = 0

    def total(self, count: str) -> int:
        """Sum one of the counts over the sources."""
        return sum(int(getattr(source, count)) for source in self.sources)

    @property
    def has_runs(self) -> bool:
        """Whether the sources have any run, new or known."""
        return bool(self.total("accepted") or self.total("duplicates"))

    @property
    def measured_files(self) -> int:
        """Number of sources that are benchmark results, new or known."""
        return sum(source.kind is FileKind.MEASUREMENT for source in self.sources)

    @property
    def loop_files(self) -> int:
        """Number of sources that are logs of loops, new or known."""
        return sum(source.kind is FileKind.LOOP for source in self.sources)

    @property
    def has_results(self) -> bool:
        """Whether the sources have any run, benchmark result or loop."""
        return self.has_runs or bool(self.measured_files or self.loop_files)

    @property
    def no_logs(self) -> Counter[FileKind]:
        """Number of sources that are no logs, by kind."""
        return Counter(source.kind for source in self.sources if source.kind in NO_LOGS)

    @property
    def unread(self) -> Counter[str]:
        """Number of sources that are logs of unsupported agents, by agent."""
        details = ({reject.detail for reject in source.rejects} for source in self.sources)
        return Counter(
            agent
            for found in details
            for agent in {AGENT_BY_DETAIL[one] for one in found if one in AGENT_BY_DETAIL}
        )

    def counts(self) -> dict[str, int]:
        """Return the number of sources, and the total of each count."""
        return {"sources": len(self.sources)} | {name: self.total(name) for name in COUNTS}

    def as_dict(self) -> dict[str, float]:
        """Return the figures that `tachograph ingest --json` prints."""
        return self.counts() | {"seconds": round(self.seconds, 3)}


def ingest(
    sources: Iterable[Source | InputUnreadable],
    store: Store,
    options: Options = Options(),
    on_progress: Callable[[Progress], None] | None = None,
) -> IngestReport:
    """Read the sources and write what is new in one transaction.

    `on_progress` is called as reading goes on.

    A source that cannot be opened is reported, and the others are read. If none can be opened, no
    store is made.
    """
    started, started_at = time.monotonic(), datetime.now(UTC)
    unreadable: list[InputUnreadable] = []
    known = known_sources(store, without_rejects=options.retry_rejects)
    settings = Settings(
        template=options.template,
        known=known.kinds,
        growing=known.growing,
        unpacked=options.unpacked,
        trust_file_times=options.trust_file_times,
        trusted_since=options.trusted_since,
        zone=options.path_zone,
        zones=known.zones,
        keeps_text=options.keeps_text,
        given_maps=options.maps,
        mapped=known.mapped,
    )
    with suppress(
        OSError
        # removes temporary folders of killed processes; without one, only a source that needs it
        # fails
    ):
        temporary_folder()
    properties = _MeasurementProperties(options.measure)
    results: list[ReadResult] = []
    with store.spool_folder() as spool:
        readable = properties.collected(_readable(sources, store, unreadable))
        tasks = tasks_of(readable, settings, known)
        for done in _read(tasks, settings, spool, options):
            results += done
            if on_progress and done:
                on_progress(
                    Progress(
                        sum(result.key.portion == 0 for result in done),
                        sum(result.bytes_read for result in done),
                        sum(result.documents for result in done),
                        sum(result.rejected for result in done),
                        done[-1].name,
                    )
                )
        results += known.members(results)
        broken = {result.key.reading: result.unreadable for result in results if result.unreadable}
        unreadable += broken.values()
        results = [
            result for result in results if result.key.reading not in broken
        ]  # all of a file with one unreadable portion
        measures, restamped = properties.by_source(results), known.restamped(results)
        asks = bool(
            options.labels
            or options.prices
            or options.retry_rejects
            or measures
            or restamped
            or store.has_leftovers
        )
        if asks or any(not result.known or result.begins_with for result in results):
            written = _written(store, spool, results, options, started_at, measures, restamped)
        elif results:
            # all is known: the store is not opened for writing, which takes longer and locks it
            with store.reading() as connection:
                stored = source_counts(connection, [result.source_id for result in results])
            written = IngestReport(_reports(results, {}, stored, {}))
        else:
            written = IngestReport()
    return replace(written, unreadable=tuple(unreadable), seconds=time.monotonic() - started)


def _readable(
    sources: Iterable[Source | InputUnreadable], store: Store, unreadable: list[InputUnreadable]
) -> Iterator[Source]:
    """Yield the sources that can be opened, without files of the store itself."""
    for source in sources:
        if isinstance(source, InputUnreadable):
            unreadable.append(source)
        elif not (source.path and store.owns(source.path)):
            yield source


def _read(
    tasks: Iterator[ReadingTask | list[ReadResult]],
    settings: Settings,
    spool: Path,
    options: Options,
) -> Iterator[list[ReadResult]]:
    """Yield the results of all sources, from worker processes if there are enough tasks."""
    first: list[ReadingTask] = []
    for task in tasks:
        if not isinstance(task, ReadingTask):
            yield task
            continue
        first.append(task)
        if len(first) == MANY_TASKS:
            break
    if not first:
        return
    options.prepare()
    jobs = (options.jobs or os.cpu_count() or 1) if len(first) == MANY_TASKS else 1
    first.reverse()
    waiting = (
        first.pop() for _ in range(len(first))
    )  # each may have megabytes of files in memory, which are not kept
    is_main_thread = (
        threading.current_thread() is threading.main_thread()
    )  # time and memory are bounded only there (ingest.system.bounds)
    if jobs > 1 or not is_main_thread:
        yield from work_in_processes(chain(waiting, tasks), settings, spool, jobs)
    else:
        yield from work_here(chain(waiting, tasks), settings, spool)


class _MeasurementProperties:
    """Properties of measurements, from the command line and from files beside the sources."""

    def __init__(self, everywhere: Mapping[str, str]) -> None:
        self._everywhere = everywhere
        self._files = SaidBeside()
        self._by_name: dict[str, dict[str, str]] = {}

    def collected(self, sources: Iterator[Source]) -> Iterator[Source]:
        """Yield the sources, and malformed property files to be rejected.

        Collects the properties of well-formed ones.
        """
        seen = set()
        for source in sources:
            if source.path and not source.temporary:
                seen.add(os.path.realpath(source.path) if source.path.name == MEASURE_FILE else "")
                if given := self._files.of(source.path):
                    self._by_name[source.name] = given
            yield source
        for path in self._files.broken:
            with suppress(OSError):
                if os.path.realpath(path) not in seen and path.is_file():
                    yield Source.of_file(str(path), path, path.stat())

    def by_source(self, results: Sequence[ReadResult]) -> dict[str, dict[str, str]]:
        """Return source_id → property by key.

        A file beside an archive applies to its members, unless the archive has its own.
        """
        outside = (
            (result, self._by_name.get(result.name.partition("!")[0], {})) for result in results
        )
        by_source = {
            result.source_id: {**given, **result.measures, **self._everywhere}
            for result, given in outside
        }
        return {source_id: given for source_id, given in by_source.items() if given}


def _written(
    store: Store,
    spool: Path,
    results: list[ReadResult],
    options: Options,
    started_at: datetime,
    measures: Mapping[str, Mapping[str, str]],
    restamped: Mapping[tuple[str, str], int],
) -> IngestReport:
    """Commit the spool and the row of the ingest, in one transaction.

    An ingest that changed nothing has no row.

    If a source makes the commit fail, it is rolled back, that source is found by halving and
    rejected, and all others are committed. `measures`: source_id → properties of its measurements.
    `restamped`: (source_id, name) → time of files that were only touched.
    """
    from ingest.store.commit import commit

    labels, template = dict(options.labels), options.template.text if options.template else None
    parts: list[
        IngestReport
        # what transactions before this one wrote of the same ingest: none, unless a commit failed
    ] = []

    def transaction(some: Sequence[ReadResult], writer: Writer) -> IngestReport:
        number = next(
            (part.ingest_id for part in parts if part.ingest_id is not None), None
        ) or next_ingest(writer.connection)
        writer.who = options.origin.who
        done = commit(
            writer,
            spool,
            some,
            number,
            labels=labels,
            replace=options.retry_rejects,
            prices=options.prices,
        )
        given = {
            result.source_id: measures[result.source_id]
            for result in some
            if result.source_id in measures
        }
        is_measured = measures_are_new(writer.connection, given)
        superseded = drop_superseded(writer, some, number, retried=options.retry_rejects)
        stored = source_counts(
            writer.connection, [result.source_id for result in some if result.known]
        )
        restamp(writer.connection, restamped)
        reports = _reports(some, done.accepted, stored, measures)
        has_changed = done.changed or is_measured or bool(superseded.changed or superseded.grown)
        if has_changed:
            counts = IngestReport(
                (*chain.from_iterable(part.sources for part in parts), *reports)
            ).counts()
            price_file = (
                price_id(options.prices.text) if options.prices and done.has_new_prices else None
            )
            columns = {
                "path_template": template,
                "path_tz": options.path_zone or None,
                "price_file": price_file,
            }
            note_found(writer.connection, number, has_measures=bool(given))
            note_ingest(
                writer,
                number,
                started_at,
                options.origin,
                counts,
                labels=dict(sorted(labels.items())),
                **columns,
            )
        writer.is_needless = not (has_changed or restamped)
        logs = [report for report in reports if report.loops]
        shown = shown_loops(writer.connection, [log.source_id for log in logs]) if logs else 0
        hidden = sum(log.loops for log in logs) - shown
        return IngestReport(
            reports,
            superseded=superseded,
            ingest_id=number if has_changed else None,
            hidden_loops=hidden,
        )

    def write(some: Sequence[ReadResult]) -> None:
        """Commit the results, or each half by itself if that fails.

        Raises the error if even the reject of a single source fails.
        """
        try:
            parts.append(store.write(partial(transaction, some)))
        except TachographError:
            raise
        except Exception as error:
            readings = list(dict.fromkeys(result.key.reading for result in some))
            if len(readings) <= 1:
                parts.append(
                    store.write(
                        partial(transaction, [_refused(some, spool, error)] if some else [])
                    )
                )
                return
            first = set(readings[: len(readings) // 2])
            write([result for result in some if result.key.reading in first])
            write([result for result in some if result.key.reading not in first])

    write(results)
    return IngestReport(
        tuple(
            sorted(
                chain.from_iterable(part.sources for part in parts), key=lambda source: source.name
            )
        ),
        superseded=Superseded(
            tuple(chain.from_iterable(part.superseded.changed for part in parts)),
            tuple(chain.from_iterable(part.superseded.grown for part in parts)),
        ),
        ingest_id=next((part.ingest_id for part in parts if part.ingest_id is not None), None),
        hidden_loops=sum(part.hidden_loops for part in parts),
    )


def _refused(parts: Sequence[ReadResult], spool: Path, error: Exception) -> ReadResult:
    """Return the result of a source that the store refuses, and spool the reject.

    `parts`: the results of its readings.
    """
    from ingest.store.spool import SpoolWriter

    first = parts[0]
    key = PortionKey(f"{first.key.reading}.refused")
    result = ReadResult(
        key,
        first.source_id,
        first.name,
        first.bytes,
        first.bytes,
        container=first.container,
        modified_ns=first.modified_ns,
    )
    writer = SpoolWriter(spool, key.reading)
    what = (
        f"the store does not take what was read of it ({type(error).__name__}: "
        f"{str(error).partition(chr(10))[0]}): please report it"
    )
    writer.reject(result, Unreadable(0, "line 1, byte 0", RejectReason.READER_DEFECT, what))
    writer.flush()
    return result


def _reports(
    results: Sequence[ReadResult],
    accepted: Mapping[str, int],
    stored: dict[str, dict[str, Any]],
    measures: Mapping[str, Mapping[str, str]],
) -> tuple[SourceReport, ...]:
    """Return the counts of each source, by name.

    `accepted`: by reading; `stored`: the counts of known sources by their id.
    """
    readings: dict[str, list[ReadResult]] = defaultdict(list)
    for result in results:
        readings[result.key.reading].append(result)
    reports = []
    for reading, parts in sorted(readings.items(), key=lambda item: (item[1][0].name, item[0])):
        first = parts[0]
        if first.known:
            found = stored.get(
                first.source_id
            )  # another ingest may have read it grown meanwhile, and dropped its rejects
            counts = found | {"kind": FileKind(found["kind"])} if found else {}
            reports.append(
                SourceReport(
                    first.name,
                    first.source_id,
                    known=True,
                    has_other_map=first.has_other_map,
                    **counts,
                )
            )
            continue
        is_given = says_variant(measures.get(first.source_id, {}))
        rejects = (
            row.completed({"source_id": first.source_id})
            for result in parts
            for row in result.rejects
        )
        reports.append(
            SourceReport(
                name=first.name,
                source_id=first.source_id,
                documents=sum(result.documents for result in parts),
                accepted=accepted.get(reading, 0),
                duplicates=sum(result.records for result in parts) - accepted.get(reading, 0),
                rejected=sum(result.rejected for result in parts),
                ignored=sum(result.ignored for result in parts),
                measurements=sum(result.measurements for result in parts),
                judgements=sum(result.judgements for result in parts),
                without_variant=0 if is_given else sum(result.without_variant for result in parts),
                without_run=first.without_run,
                loops=sum(result.loops for result in parts),
                experiments=sum(result.experiments for result in parts),
                rows=sum(result.rows for result in parts),
                kind=first.kind,
                run_ids=tuple(run_id for result in parts for run_id in result.run_ids)[:SHOWN],
                rejects=tuple(rejects)[:SHOWN],
            )
        )
    return tuple(reports)
