"""Where the time of an ingest goes.

Microseconds of CPU that each stage of the pipeline takes for one record.

Records are read in this process as a worker reads them: without garbage collection, up to their
rows one by one, so that each stage finds the processor's caches as the others leave them, then all
together. Three stages are inside functions that do more: the wire model in `SourceReaders.feed`,
the claims in `complete`, and that in `SpoolWriter.flush`. They are run by themselves, too, and
subtracted.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import TypeVar

from ingest.agents.base import Found, Rows
from ingest.agents.readers import SourceReaders
from ingest.claims import extract_all
from ingest.context.gather import gather
from ingest.context.path_template import PathReading
from ingest.context.sidecars import Sidecars
from ingest.findings.summary_facts import AT_ONCE, READ_CHARACTERS, complete
from ingest.sources import contents
from ingest.sources.document import Document
from ingest.sources.files import Fingerprint, Source
from ingest.store.commit import commit
from ingest.store.database import Store
from ingest.store.ingests import next_ingest
from ingest.store.read_result import PortionKey, ReadResult
from ingest.store.spool import SpoolWriter
from schemas.wire.claude_code import ResultRecord
from tests.bench.logs import Record, write_lines

PASSES = 6
"""Each record is read in half of them as a whole, in the other half with its wire model by itself.
"""

SAMPLE = 2000

READING, WIRE, ROWS = "reading and scanning", "wire model", "repair and strict row"
CLAIMS, FACTS, SPOOL, COMMIT = "claims", "statements and findings", "Arrow and spool", "commit"
STAGES = (READING, WIRE, ROWS, CLAIMS, FACTS, SPOOL, COMMIT)

Made = TypeVar("Made")


class _Clock:
    """Seconds of CPU of this process and its threads, by stage."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)

    def timed(self, stage: str, work: Callable[..., Made], *given: object) -> Made:
        """Do the work of a stage."""
        started = time.process_time()
        made = work(*given)
        self.seconds[stage] += time.process_time() - started
        return made


def seconds_by_stage(records: Sequence[Record], count: int = SAMPLE) -> dict[str, float]:
    """Seconds of CPU for each of so many records made of these, by stage.

    What the commit of a single record takes is left out.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_lines(folder / "logs.jsonl", records, count)
        write_lines(folder / "one.jsonl", records, 1)
        best = _best(
            [
                _pass(folder / "logs.jsonl", folder / f"{turn}.duckdb", turn)
                for turn in range(PASSES)
            ]
        )
        fixed = min(
            _pass(folder / "one.jsonl", folder / f"one-{turn}.duckdb", turn)[COMMIT]
            for turn in range(PASSES)
        )
    own = {
        ROWS: best[ROWS] - best[WIRE],
        FACTS: best[FACTS] - best[CLAIMS],
        SPOOL: best[SPOOL] - best[FACTS],
        COMMIT: best[COMMIT] - fixed,
    }
    return {stage: max(0.0, seconds) / count for stage, seconds in (best | own).items()}


def _best(passes: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The best time of each stage.

    Of one that is run for half of the records in each pass, the best times of both halves together.
    """
    halves = {WIRE, ROWS}
    best = {
        stage: (min(one[stage] for one in passes[::2]), min(one[stage] for one in passes[1::2]))
        for stage in STAGES
    }
    return {stage: sum(times) if stage in halves else min(times) for stage, times in best.items()}


def _pass(log: Path, target: Path, turn: int) -> dict[str, float]:
    """Seconds of CPU by stage for the records of a log, from the file to a new store.

    `ROWS` includes `WIRE`, `FACTS` includes `CLAIMS`, and `SPOOL` includes `FACTS`. `ROWS` and
    `WIRE` are timed for half of the records each: in an odd turn for the other half.
    """
    clock, source, store = _Clock(), Source(log.name, path=log), Store(target)
    with _without_collector(), store.spool_folder() as spool:
        fingerprint, writer = Fingerprint(()), SpoolWriter(spool, "bench")
        result = ReadResult(PortionKey("bench"), "", source.name, source.size, source.size)
        readers = SourceReaders(
            gather("", source.name, None, None, PathReading(None, UTC), Sidecars()).for_run
        )
        documents = contents.read(source, show=fingerprint.update).parts()
        made: list[Rows] = []
        while document := clock.timed(READING, next, documents, None):
            assert isinstance(document, Document), document
            turn += 1
            if is_alone := turn % 2:
                clock.timed(WIRE, ResultRecord.model_validate_json, document.content)
            made.append(
                _rows(readers, document)
                if is_alone
                else clock.timed(ROWS, _rows, readers, document)
            )
            clock.timed(SPOOL, writer.add, result, document, made[-1])
        clock.timed(CLAIMS, _claims, made)
        clock.timed(FACTS, complete, made)
        clock.timed(SPOOL, writer.flush)
        result.identify(fingerprint.identity())
        clock.timed(COMMIT, _commit, store, spool, result)
    return clock.seconds


def _claims(made: Sequence[Rows]) -> None:
    for first in range(0, len(made), AT_ONCE):
        extract_all(
            [
                str(rows.run.result or "")[:READ_CHARACTERS]
                for rows in made[first : first + AT_ONCE]
            ],
            0,
        )


def _rows(readers: SourceReaders, document: Document) -> Rows:
    [found] = (
        *(readers.feed(document) or ()),
        *(one for reader in readers.met() for one in reader.end()),
    )
    assert isinstance(found, Found), found
    return found.rows


@contextmanager
def _without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _commit(store: Store, spool: Path, result: ReadResult) -> None:
    with store.writing() as writer:
        commit(writer, spool, [result], next_ingest(writer.connection))
