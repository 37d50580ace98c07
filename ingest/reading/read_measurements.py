"""A source without a run of an agent → its measurements in the spool, or its kind where it has none."""

from __future__ import annotations

from functools import partial

from ingest.context.sidecars import Sidecars
from ingest.context.small_files import split
from ingest.measurements.base import MeasuredFile
from ingest.measurements.given import SaidBeside
from ingest.measurements.tools import LARGEST_BYTES, MARKED_BYTES, may_measure, read_measurements
from ingest.sources.decoding import Allowance, Broken, Opened, Utf8
from ingest.sources.files import Source, Unreadable
from ingest.store.read_result import ReadResult
from ingest.store.spool import SpoolWriter
from schemas.file_kinds import FileKind

_BLOCK = 1 << 20

_MAY_MEASURE = frozenset((FileKind.TEXT, FileKind.JSON, FileKind.CSV, FileKind.SOURCE))
"""Kinds of files that may hold measurements; `data.js` of github-action-benchmark is source code."""


def read_as_measurements(source: Source, kind: FileKind, result: ReadResult, spool: SpoolWriter, sidecars: Sidecars) -> None:
    """Note what a file without a run is. A file of a tool that cannot be read becomes a reject. Raises OSError, InputUnreadable."""
    text = _text(source) if kind in _MAY_MEASURE else ""
    path = None if source.temporary else source.path
    neighbour = partial(sidecars.neighbour, path, result.name)
    reading = read_measurements(MeasuredFile(result.name, text, neighbour), result.source_id) if text else None
    if reading is None:
        result.kind, result.ignored = kind, 1
        return
    result.kind = FileKind.MEASUREMENT
    if reading.refused:
        result.ignored = 0
        detail = f"a result of {reading.tool} that cannot be read: {reading.refused}"
        spool.reject(result, Unreadable(0, "line 1, byte 0", reading.reason, detail, text[:300]))
        return
    result.ignored = 1
    if not path and (place := neighbour(split(result.name)[1])):  # of a file on disk the pipeline asks, at each ingest
        result.measures = SaidBeside().of(place)
    spool.measure(result, reading.rows)


def _text(source: Source) -> str:
    """The text of a file, decompressed; empty where no tool's marks begin it, or where it is too large or cannot be read."""
    if source.size > LARGEST_BYTES:
        return ""
    with source.open() as stream:
        try:
            text = Utf8(Opened(stream, Allowance(source.size)))
            data = _read_up_to(text, MARKED_BYTES)
            if not may_measure(data.decode("utf-8", "replace")):
                return ""
            data += _read_up_to(text, LARGEST_BYTES + 1 - len(data))
        except Broken:
            return ""
    return data.decode("utf-8", "replace") if len(data) <= LARGEST_BYTES else ""


def _read_up_to(text: Utf8, most: int) -> bytearray:
    """The next bytes, about so many at most: a stream gives them in blocks of its own."""
    data = bytearray()
    while len(data) < most and (block := text.read(min(_BLOCK, most - len(data)))):
        data += block
    return data
