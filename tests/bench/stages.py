"""Where the time of an ingest goes: microseconds of CPU that each stage of the pipeline takes for one record.

Each stage is run over all records before the next one begins, in this process, without garbage collection as in a worker. Where one
function does the work of two stages, what the other stage takes by itself is subtracted. All stages are run several times, and the best
time of each is kept.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from ingest.agents import SourceReaders
from ingest.agents.base import Found, Rows
from ingest.claims import extract
from ingest.context.gather import gather
from ingest.context.path_template import PathReading
from ingest.context.sidecars import Sidecars
from ingest.documents import contents
from ingest.documents.document import Document
from ingest.findings.summary_facts import READ_CHARACTERS, complete
from ingest.reading.zones import zone_of
from ingest.sources.files import Source
from ingest.sources.identity import identify
from ingest.store.commit import commit
from ingest.store.database import Store
from ingest.store.history.ingests import next_ingest
from ingest.store.read_result import PortionKey, ReadResult
from ingest.store.spool import SpoolWriter, spool_folder
from schemas.wire.agents.claude_code import ResultRecord
from tests.bench.logs import Record, write_lines

REPEATS = 3
SAMPLE = 2000

READING, WIRE, ROWS = "reading and scanning", "wire model", "repair and strict row"
CLAIMS, FACTS, SPOOL, COMMIT = "claims", "statements and findings", "Arrow and spool", "commit"

Made = TypeVar("Made")


class _Clock:
    """Seconds of CPU of this process and its threads, by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def timed(self, stage: str, work: Callable[[], Made]) -> Made:
        """Do the work of a stage."""
        started = time.process_time()
        made = work()
        self.seconds[stage] = time.process_time() - started
        return made


def seconds_by_stage(records: Sequence[Record], count: int = SAMPLE) -> dict[str, float]:
    """Seconds of CPU for each of so many records made of these, by stage. A commit has fixed costs as well: those of one record."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_lines(folder / "logs.jsonl", records, count)
        write_lines(folder / "one.jsonl", records, 1)
        passes = [_pass(folder / "logs.jsonl", folder / f"{number}.duckdb") for number in range(REPEATS)]
        alone = [_pass(folder / "one.jsonl", folder / f"alone-{number}.duckdb") for number in range(REPEATS)]
    best, one = _best(passes), _best(alone)
    best[COMMIT] = max(0.0, best[COMMIT] - one[COMMIT])
    return {stage: seconds / count for stage, seconds in best.items()}


def _best(passes: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The best time of each stage, without the time of the other stages in it."""
    best = {stage: min(one[stage] for one in passes) for stage in passes[0]}
    best[ROWS] = max(0.0, best[ROWS] - best[WIRE])
    best[FACTS] = max(0.0, best[FACTS] - best[CLAIMS])
    return best


def _pass(log: Path, target: Path) -> dict[str, float]:
    """Seconds of CPU by stage for all records of a log, from the file to a new store. `ROWS` has `WIRE` in it, and `FACTS` has `CLAIMS`."""
    clock, source, store = _Clock(), Source(log.name, path=log), Store(target)
    with _without_collector(), spool_folder(store) as spool:
        documents = clock.timed(READING, lambda: _documents(source))
        clock.timed(WIRE, lambda: [ResultRecord.model_validate_json(document.content) for document in documents])
        rows = clock.timed(ROWS, lambda: _rows(documents))
        texts = [str(one.run.result or "")[:READ_CHARACTERS] for one in rows]
        clock.timed(CLAIMS, lambda: [extract(text, 0) for text in texts])
        whole = clock.timed(FACTS, lambda: [complete(one) for one in rows])
        result = ReadResult(PortionKey("bench"), "", source.name, source.size, source.size)
        result.identify(identify(source, ()))
        clock.timed(SPOOL, lambda: _spool(spool, result, documents, whole))
        assert result.records == len(documents), result
        clock.timed(COMMIT, lambda: _commit(store, spool, result))
    return clock.seconds


@contextmanager
def _without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _documents(source: Source) -> list[Document]:
    return [part for part in contents.read(source) if isinstance(part, Document)]


def _rows(documents: Sequence[Document]) -> list[Rows]:
    context = gather("", "logs.jsonl", None, None, {}, PathReading(None, zone_of("")), Sidecars())
    readers = SourceReaders(context.for_run)
    return [one.rows for document in documents for one in readers.feed(document) or () if isinstance(one, Found)]


def _spool(folder: Path, result: ReadResult, documents: Sequence[Document], rows: Sequence[Rows]) -> None:
    writer = SpoolWriter(folder, "bench")
    for document, one in zip(documents, rows, strict=True):
        writer.add(result, document, one)
    writer.flush()


def _commit(store: Store, spool: Path, result: ReadResult) -> None:
    with store.writing() as writer:
        commit(writer, spool, [result], next_ingest(writer.connection))
