"""Files without a run: which reader takes them, and its rows in the spool.

Imported with the first such file.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from ingest.context.sidecars import Sidecars
from ingest.context.small_files import split
from ingest.loops.base import LoopFormat
from ingest.loops.formats import FORMATS, read_loops
from ingest.mapped.found import KnownMap, packaged_maps
from ingest.measurements.base import MarkedReaders, MeasuredFile, Tool
from ingest.measurements.given import SaidBeside
from ingest.measurements.tools import LARGEST_BYTES, MARKED_BYTES, TOOLS, read_measurements
from ingest.sources.contents import Documents
from ingest.sources.decoding import DATABASE_START, Allowance, Broken, Opened, Utf8, is_database
from ingest.sources.files import Source, Unreadable
from ingest.store.read_result import ReadResult
from ingest.store.spool import SpoolWriter
from schemas.file_kinds import FileKind

_BEGINNING = "line 1, byte 0"
_READERS = MarkedReaders[KnownMap | LoopFormat | Tool]((*packaged_maps(), *FORMATS, *TOOLS))
"""In the order in which they are asked: the first that finds something reads the file."""

_KINDS = (FileKind.TEXT, FileKind.JSON, FileKind.CSV, FileKind.SOURCE)
"""`data.js` of github-action-benchmark is source code."""


@dataclass(frozen=True)
class Sniffed:
    """The beginning of a file without a run, decompressed, and the readers that may take it."""

    beginning: str = ""
    is_whole: bool = False
    readers: Sequence[KnownMap | LoopFormat | Tool] = ()

    def map_for(self, name: str) -> tuple[KnownMap, ...]:
        """Return the map of the tool that the file of this name fits, if any."""
        maps = (one for one in self.readers if isinstance(one, KnownMap))
        return tuple(one for one in maps if one.fits(name, self.beginning))[:1]


def sniffed(source: Source, found: Documents) -> Sniffed:
    """Return how a file without a run begins, and which readers its marks name. Raises OSError."""
    text, is_whole = "", True
    path = None if source.temporary else source.path
    if found.file_kind in _KINDS:
        text, is_whole = _text_of(source, MARKED_BYTES)
    elif found.file_kind is FileKind.BINARY and path and is_database(source):
        text = DATABASE_START.decode()  # its readers open it themselves
    return Sniffed(text, is_whole, _READERS.possible(text) if text else ())


def read_without_runs(
    source: Source,
    found: Documents,
    start: Sniffed,
    result: ReadResult,
    spool: SpoolWriter,
    sidecars: Sidecars,
) -> None:
    """Read a file without runs as the log of a loop, or as measurements.

    An unreadable one of a known kind becomes a reject.

    Raises OSError, InputUnreadable.
    """
    path = None if source.temporary else source.path
    neighbour = partial(sidecars.neighbour, path, result.name)
    nearby = partial(sidecars.nearby, path, result.name)
    formats = [reader for reader in start.readers if isinstance(reader, LoopFormat)]
    tools = [reader for reader in start.readers if isinstance(reader, Tool)]
    text, is_whole = start.beginning, start.is_whole
    if not is_whole and (formats or tools):
        text, is_whole = _text_of(source, LARGEST_BYTES)
    loops = reading = None
    if is_whole:
        file = MeasuredFile(result.name, text, neighbour, nearby, found.value)
        loops = read_loops(file, result.source_id, formats)
        reading = None if loops else read_measurements(file, result.source_id, tools)
    result.kind, result.ignored = found.file_kind, 1
    if loops:
        result.kind = FileKind.LOOP
        if loops.tables:
            spool.loop(result, *loops.tables)
        else:
            result.ignored = 0
            detail = f"a loop's log ({loops.format}) that cannot be read: {loops.refused}"
            spool.reject(result, Unreadable(0, _BEGINNING, loops.reason, detail, text[:300]))
    elif reading:
        result.kind = FileKind.MEASUREMENT
        if reading.refused:
            result.ignored = 0
            detail = f"a result of {reading.tool} that cannot be read: {reading.refused}"
            spool.reject(result, Unreadable(0, _BEGINNING, reading.reason, detail, text[:300]))
            return
        if not path and (
            place := neighbour(split(result.name)[1])
        ):  # of a file on disk the pipeline asks, at each ingest
            result.measures = SaidBeside().of(place)
        spool.measure(result, reading.rows, reading.published)


def _text_of(source: Source, most: int) -> tuple[str, bool]:
    """Return up to `most` bytes of a file as text, decompressed, and whether that is all of it.

    "" for one that cannot be decompressed.
    """
    data = bytearray()
    with source.open() as stream, suppress(Broken):
        utf8 = Utf8(Opened(stream, Allowance(source.size)))
        while len(data) < most and (block := utf8.read(min(1 << 20, most - len(data)))):
            data += block
        return data.decode("utf-8", "replace"), len(data) < most or not utf8.read(1)
    return "", False
