"""The path of data: sources → documents → reader → wire record → strict rows → spool → one transaction.

What only new sources need (readers, workers, the commit) is imported when the first one comes: otherwise an ingest that finds nothing new
would take twice as long.

Always true: documents = accepted + duplicates + rejected + ignored, for each source and in total. The same bytes or the same record
again change nothing, and the content of the store does not depend on the order, the batches or the repetition of logs.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial, reduce
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.context.path_template import PathTemplate
from ingest.context.small_files import MEASURE_FILE
from ingest.measurements.given import SaidBeside, says_variant
from ingest.reading.known_sources import beginnings, known_sources
from ingest.reading.retries import Superseded, drop_superseded
from ingest.reading.settings import Settings
from ingest.reading.task import Task
from ingest.reading.tasks import TaskPlanner
from ingest.sources.files import Source, Unreadable
from ingest.store.database import Store, Writer, restamp, source_counts
from ingest.store.ingests import Origin, next_ingest, note_ingest, note_measures, price_id
from ingest.store.read_result import SHOWN, PortionKey, ReadResult
from ingest.system.files import temporary_folder
from schemas.errors import InputUnreadable, RejectReason, TachographError
from schemas.file_kinds import NO_LOGS, FileKind
from schemas.unread_logs import AGENT_BY_DETAIL

if TYPE_CHECKING:
    from schemas.rows.price import PriceFileRow
    from schemas.rows.source import RejectRow

MANY_TASKS = 4
"""From how many tasks on workers are started: two cores then read as fast as one, in spite of the second that workers take to start
(34 MB in lines: 3.5 s against 4.0; 4,000 files: 3.4 s against 3.2). With more tasks, or more cores, they win."""


@dataclass(frozen=True)
class Options:
    """How to ingest. `jobs`: processes that read (default: the cores). `prices`: a price file for the store from now on.

    `unpacked`: temporary folders with the sidecars of uploads (`ingest.context.sidecars`). `origin`: who ingests, and by what.
    `trust_file_times`: the modification time of a file is the date of a run without another one. `path_zone`: the IANA name of the zone of
    times in paths; empty: that of the earlier ingest of a file, else UTC. `measure`: what is said about all measurements of the ingest
    (`ingest.measurements.given`). `keeps_text`: otherwise nothing that was said in a record is kept (`ingest.agents.left_out`). `prepare`:
    called once, before the first new source is read.
    """

    labels: tuple[tuple[str, str], ...] = ()
    template: PathTemplate | None = None
    jobs: int = 0
    retry_rejects: bool = False
    prices: PriceFileRow | None = None
    unpacked: Mapping[str, Path] = field(default_factory=dict)
    trust_file_times: bool = False
    path_zone: str = ""
    measure: Mapping[str, str] = field(default_factory=dict)
    origin: Origin = field(default_factory=Origin)
    keeps_text: bool = True
    prepare: Callable[[], object] = lambda: None

    @property
    def processes(self) -> int:
        """Worker processes to use."""
        return self.jobs or os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of the reading. `name`: the source that was read last."""

    sources: int = 0
    bytes: int = 0
    documents: int = 0
    rejected: int = 0
    name: str = ""

    def plus(self, result: ReadResult) -> Progress:
        """With one more source or portion."""
        return Progress(
            self.sources + (result.key.portion == 0),
            self.bytes + result.bytes_read,
            self.documents + result.documents,
            self.rejected + result.rejected,
            result.name,
        )


@dataclass(frozen=True, slots=True)
class SourceReport:
    """The counts of one source. `known`: its bytes had been read before. `run_ids` and `rejects`: the first SHOWN of them."""

    name: str
    source_id: str
    documents: int = 0
    accepted: int = 0
    duplicates: int = 0
    rejected: int = 0
    ignored: int = 0
    measurements: int = 0
    without_variant: int = 0
    known: bool = False
    kind: FileKind = FileKind.LOG
    run_ids: tuple[str, ...] = ()
    rejects: tuple[RejectRow, ...] = ()


@dataclass(frozen=True)
class IngestReport:
    """The counts of all sources of one ingest. `seconds`: wall time. `superseded`: sources whose old rejects were removed.

    `ingest_id`: its number in the list of ingests, None where nothing changed.
    """

    sources: tuple[SourceReport, ...]
    unreadable: tuple[InputUnreadable, ...]
    seconds: float
    superseded: Superseded = field(default_factory=Superseded)
    ingest_id: int | None = None

    def total(self, count: str) -> int:
        """Sum of one of the counts over the sources."""
        return _total(self.sources, count)

    @property
    def has_runs(self) -> bool:
        """Whether any run is in the sources, new or known."""
        return bool(self.total("accepted") or self.total("duplicates"))

    @property
    def measured_files(self) -> int:
        """How many of the sources are results of benchmarks, new or known."""
        return sum(source.kind is FileKind.MEASUREMENT for source in self.sources)

    @property
    def has_results(self) -> bool:
        """Whether any run or any result of a benchmark is in the sources."""
        return self.has_runs or bool(self.measured_files)

    @property
    def no_logs(self) -> Counter[FileKind]:
        """How many of the sources are no logs, by kind."""
        return Counter(source.kind for source in self.sources if source.kind in NO_LOGS)

    @property
    def unread(self) -> Counter[str]:
        """How many of the sources are logs of agents that are not read, by agent."""
        details = ({reject.detail for reject in source.rejects} for source in self.sources)
        return Counter(agent for told in details for agent in {AGENT_BY_DETAIL[one] for one in told if one in AGENT_BY_DETAIL})

    def as_dict(self) -> dict[str, float]:
        """The figures `tachograph ingest --json` prints."""
        return _counts(self.sources) | {"seconds": round(self.seconds, 3)}


def _total(sources: Sequence[SourceReport], count: str) -> int:
    return sum(int(getattr(source, count)) for source in sources)


def _counts(sources: Sequence[SourceReport]) -> dict[str, int]:
    counts = ("documents", "accepted", "duplicates", "rejected", "ignored")
    return {"sources": len(sources)} | {name: _total(sources, name) for name in counts}


def ingest(
    sources: Iterable[Source | InputUnreadable],
    store: Store,
    options: Options = Options(),
    on_progress: Callable[[Progress], None] | None = None,
) -> IngestReport:
    """Read the sources and write what is new in one transaction. `on_progress` is called as reading goes on.

    A source that cannot be opened is reported, and the others go on. If none can be opened, no store is made.
    """
    started, started_at = time.monotonic(), datetime.now(UTC)
    unreadable: list[InputUnreadable] = []
    known = known_sources(store, without_rejects=options.retry_rejects)
    settings = Settings(
        dict(options.labels),
        options.template,
        known.source_ids,
        known.growing,
        options.unpacked,
        options.trust_file_times,
        options.path_zone,
        known.zones,
        options.keeps_text,
    )
    with suppress(OSError):  # removes temporary folders of killed processes; without one, only a source that needs it fails
        temporary_folder()
    results: list[ReadResult] = []
    beside = _Beside(options.measure)
    with store.spool_folder() as spool, TaskPlanner(settings, known, partial(beginnings, store)) as plan:
        for done in _read(beside.noted(_readable(sources, store, unreadable)), plan, settings, spool, options):
            results += done
            if on_progress and done:
                on_progress(reduce(Progress.plus, done, Progress()))
        results = [plan.identified(result) for result in results]
        broken = {
            result.key.reading: result.unreadable for result in results if result.unreadable
        }  # a file with one unreadable portion is unreadable
        unreadable += broken.values()
        results = [result for result in results if result.key.reading not in broken]
        said = beside.said(results)
        if _is_nothing_new(results, options, said) and not known.restamped(results) and not store.has_leftovers:
            written = _Written(_reports_of_known(store, results))
        else:
            written = _written(store, spool, results, options, started_at, said, known.restamped(results))
    return IngestReport(written.sources, tuple(unreadable), time.monotonic() - started, written.superseded, written.ingest_id)


@dataclass(frozen=True)
class _Written:
    """What was committed: the counts of each source, the sources whose old rejects were removed, and the number of the ingest."""

    sources: tuple[SourceReport, ...] = ()
    superseded: Superseded = field(default_factory=Superseded)
    ingest_id: int | None = None


def _readable(sources: Iterable[Source | InputUnreadable], store: Store, unreadable: list[InputUnreadable]) -> Iterator[Source]:
    """The sources that can be opened, without files of the store itself in a folder of logs."""
    for source in sources:
        if isinstance(source, InputUnreadable):
            unreadable.append(source)
        elif not (source.path and store.owns(source.path)):
            yield source


def _read(sources: Iterator[Source], plan: TaskPlanner, settings: Settings, spool: Path, options: Options) -> Iterator[list[ReadResult]]:
    """The results of all sources; from worker processes where there are enough tasks."""
    tasks = plan.tasks(sources)
    first: deque[Task] = deque()
    for task in tasks:
        if not isinstance(task, Task):
            yield task
            continue
        first.append(task)
        if len(first) == MANY_TASKS:
            break
    if not first:
        return
    options.prepare()
    from ingest.reading.workers import work_here, work_in_processes

    is_main_thread = threading.current_thread() is threading.main_thread()  # time and memory are bounded only there (ingest.system.bounds)
    if not is_main_thread or (options.processes > 1 and len(first) == MANY_TASKS):
        yield from work_in_processes(
            chain(_taken_from(first), tasks), settings, spool, options.processes if len(first) == MANY_TASKS else 1
        )
    else:
        yield from work_here(chain(_taken_from(first), tasks), settings, spool)


def _taken_from(tasks: deque[Task]) -> Iterator[Task]:
    """The tasks one by one. Each may have megabytes of files in memory, which are not kept."""
    while tasks:
        yield tasks.popleft()


class _Beside:
    """What is said about measurements, on the command line and in files beside them."""

    def __init__(self, everywhere: Mapping[str, str]) -> None:
        self._everywhere = everywhere
        self._files = SaidBeside()
        self._by_name: dict[str, dict[str, str]] = {}

    def noted(self, sources: Iterator[Source]) -> Iterator[Source]:
        """The same sources, and files beside them that make no sense, to be rejected; notes what the others say."""
        seen = set()
        for source in sources:
            if source.path and not source.temporary:
                seen.add(os.path.realpath(source.path) if source.path.name == MEASURE_FILE else "")
                if said := self._files.of(source.path):
                    self._by_name[source.name] = said
            yield source
        for path in self._files.broken:
            with suppress(OSError):
                if os.path.realpath(path) not in seen and path.is_file():
                    yield Source.of_file(str(path), path, path.stat())

    def said(self, results: Sequence[ReadResult]) -> dict[str, dict[str, str]]:
        """source_id → what is said about it by key. What is said beside an archive holds for its members, unless the archive says it."""
        outside = ((result, self._by_name.get(result.name.partition("!")[0], {})) for result in results)
        by_source = {result.source_id: {**said, **result.measures, **self._everywhere} for result, said in outside}
        return {source_id: said for source_id, said in by_source.items() if said}


def _written(
    store: Store,
    spool: Path,
    results: list[ReadResult],
    options: Options,
    started_at: datetime,
    measures: Mapping[str, Mapping[str, str]],
    restamped: Mapping[str, int],
) -> _Written:
    """Commit the spool and the row of the ingest, in one transaction. An ingest that changed nothing has no row.

    If the commit fails by some source, it is rolled back, that source is found by halving and rejected, and all others are committed.
    `restamped`: source_id → time of files that were only touched; the next ingest knows them by it.
    """
    from ingest.store.commit import commit

    labels, template = dict(options.labels), options.template.text if options.template else None
    before: list[_Written] = []
    """What transactions before this one wrote of the same ingest: none, unless a commit failed."""

    def written(some: Sequence[ReadResult], writer: Writer) -> _Written:
        numbers = [part.ingest_id for part in before if part.ingest_id is not None]
        number = numbers[0] if numbers else next_ingest(writer.connection)
        writer.who = options.origin.who
        done = commit(writer, spool, some, number, labels=labels, replace=options.retry_rejects, prices=options.prices)
        said = {result.source_id: measures[result.source_id] for result in some if result.source_id in measures}
        is_measured = note_measures(writer.connection, said, number)
        superseded = drop_superseded(writer, some, number, retried=options.retry_rejects)
        stored = source_counts(writer.connection, [result.source_id for result in some if result.known])
        restamp(writer.connection, restamped)
        reports = _reports(some, done.accepted, stored, measures)
        has_changed = done.changed or is_measured or bool(superseded.changed or superseded.grown)
        if has_changed:
            counts = _counts([*chain.from_iterable(part.sources for part in before), *reports])
            price_file = price_id(options.prices.text) if options.prices and done.has_new_prices else None
            columns = {"path_template": template, "path_tz": options.path_zone or None, "price_file": price_file}
            note_ingest(writer, number, started_at, options.origin, counts, labels=dict(sorted(labels.items())), **columns)
        writer.is_needless = not (has_changed or restamped)
        return _Written(reports, superseded, number if has_changed else None)

    def write(some: Sequence[ReadResult]) -> None:
        """Commit the results, or each half by itself if that fails. Raises the error if even the reject of a single source fails."""
        try:
            before.append(store.write(partial(written, some)))
        except TachographError:
            raise
        except Exception as error:
            readings = list(dict.fromkeys(result.key.reading for result in some))
            if len(readings) <= 1:
                before.append(store.write(partial(written, [_refused(some, spool, error)] if some else [])))
                return
            first = set(readings[: len(readings) // 2])
            write([result for result in some if result.key.reading in first])
            write([result for result in some if result.key.reading not in first])

    write(results)
    if len(before) == 1:
        return before[0]
    changed = chain.from_iterable(part.superseded.changed for part in before)
    grown = chain.from_iterable(part.superseded.grown for part in before)
    sources = sorted(chain.from_iterable(part.sources for part in before), key=lambda source: source.name)
    number = next((part.ingest_id for part in before if part.ingest_id is not None), None)
    return _Written(tuple(sources), Superseded(tuple(changed), tuple(grown)), number)


def _refused(parts: Sequence[ReadResult], spool: Path, error: Exception) -> ReadResult:
    """The result of a source that the store does not take, with the reject that says so in the spool. `parts`: what was read of it."""
    from ingest.store.spool import SpoolWriter

    first = parts[0]
    key = PortionKey(f"{first.key.reading}.refused")
    result = ReadResult(
        key, first.source_id, first.name, first.bytes, first.bytes, container=first.container, modified_ns=first.modified_ns
    )
    writer = SpoolWriter(spool, key.reading)
    what = f"the store does not take what was read of it ({type(error).__name__}: {str(error).partition(chr(10))[0]}): please report it"
    writer.reject(result, Unreadable(0, "line 1, byte 0", RejectReason.READER_DEFECT, what))
    writer.flush()
    return result


def _is_nothing_new(results: Sequence[ReadResult], options: Options, said: Mapping[str, object]) -> bool:
    """Whether the store has all of it: then it is not opened for writing, which takes longer and locks it."""
    asks = options.labels or options.prices or options.retry_rejects or said
    return not asks and all(result.known and not result.begins_with for result in results)


def _reports_of_known(store: Store, results: list[ReadResult]) -> tuple[SourceReport, ...]:
    if not results:
        return ()
    with store.reading() as connection:
        stored = source_counts(connection, [result.source_id for result in results])
    return _reports(results, {}, stored, {})


def _reports(
    results: Sequence[ReadResult], accepted: Mapping[str, int], stored: dict[str, dict[str, Any]], measures: Mapping[str, Mapping[str, str]]
) -> tuple[SourceReport, ...]:
    """The counts of each source. `measures`: what is said about measurements, by source."""
    readings: dict[str, list[ReadResult]] = defaultdict(list)
    for result in results:
        readings[result.key.reading].append(result)
    return tuple(
        _report(parts, accepted.get(reading, 0), stored, measures.get(parts[0].source_id, {}))
        for reading, parts in sorted(readings.items(), key=_by_name)
    )


def _by_name(item: tuple[str, list[ReadResult]]) -> tuple[str, str]:
    return item[1][0].name, item[0]


def _report(parts: list[ReadResult], accepted: int, stored: dict[str, dict[str, Any]], said: Mapping[str, str]) -> SourceReport:
    first = parts[0]
    if first.known:
        found = stored.get(first.source_id)  # another ingest may have read it grown meanwhile, and dropped its rejects
        counts = found | {"kind": FileKind(found["kind"])} if found else {}
        return SourceReport(first.name, first.source_id, known=True, **counts)
    records = sum(result.records for result in parts)
    return SourceReport(
        name=first.name,
        source_id=first.source_id,
        documents=sum(result.documents for result in parts),
        accepted=accepted,
        duplicates=records - accepted,
        rejected=sum(result.rejected for result in parts),
        ignored=sum(result.ignored for result in parts),
        measurements=sum(result.measurements for result in parts),
        without_variant=0 if says_variant(said) else sum(result.without_variant for result in parts),
        kind=first.kind,
        run_ids=tuple(run_id for result in parts for run_id in result.run_ids)[:SHOWN],
        rejects=tuple(row.model_copy(update={"source_id": first.source_id}) for result in parts for row in result.rejects)[:SHOWN],
    )
