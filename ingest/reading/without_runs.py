"""Files without a run: which reader takes them, and its rows in the spool.

Imported with the first such file.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from ingest.context.sidecars import Sidecars
from ingest.context.small_files import split
from ingest.loops.base import LoopFormat
from ingest.loops.formats import FORMATS, read_loops
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
_READERS = MarkedReaders[LoopFormat | Tool]((*FORMATS, *TOOLS))
"""In the order in which they are asked: the first that finds a loop or a value reads the file."""

_KINDS = (FileKind.TEXT, FileKind.JSON, FileKind.CSV, FileKind.SOURCE)
"""`data.js` of github-action-benchmark is source code."""


def read_without_runs(
    source: Source, found: Documents, result: ReadResult, spool: SpoolWriter, sidecars: Sidecars
) -> None:
    """Read a file without runs as the log of a loop, or as measurements.

    An unreadable one of a known kind becomes a reject.

    Raises OSError, InputUnreadable.
    """
    path, kind = None if source.temporary else source.path, found.file_kind
    neighbour = partial(sidecars.neighbour, path, result.name)
    text, readers = "", list[LoopFormat | Tool]()
    if kind in _KINDS:
        text, readers = _telling_text(source)
    elif kind is FileKind.BINARY and path and is_database(source):
        text = DATABASE_START.decode()  # its readers open it themselves
        readers = _READERS.possible(text)
    nearby = partial(sidecars.nearby, path, result.name)
    file = MeasuredFile(result.name, text, neighbour, nearby, found.value)
    formats = [reader for reader in readers if isinstance(reader, LoopFormat)]
    loops = read_loops(file, result.source_id, formats)
    tools = [reader for reader in readers if isinstance(reader, Tool)]
    reading = None if loops else read_measurements(file, result.source_id, tools)
    result.kind, result.ignored = kind, 1
    if loops:
        result.kind = FileKind.LOOP
        if loops.tables:
            spool.loop(result, *loops.tables)
        else:
            result.ignored = 0
            detail = f"a loop's log ({loops.format}) that cannot be read: {loops.refused}"
            spool.reject(result, Unreadable(0, _BEGINNING, loops.reason, detail, file.text[:300]))
    elif reading:
        result.kind = FileKind.MEASUREMENT
        if reading.refused:
            result.ignored = 0
            detail = f"a result of {reading.tool} that cannot be read: {reading.refused}"
            spool.reject(result, Unreadable(0, _BEGINNING, reading.reason, detail, file.text[:300]))
            return
        if not path and (
            place := neighbour(split(result.name)[1])
        ):  # of a file on disk the pipeline asks, at each ingest
            result.measures = SaidBeside().of(place)
        spool.measure(result, reading.rows, reading.published)


def _telling_text(source: Source) -> tuple[str, list[LoopFormat | Tool]]:
    """Return the text of a file, decompressed, and the readers that may take it.

    None and "" if it is too large or cannot be read.
    """
    data, text, readers = bytearray(), "", list[LoopFormat | Tool]()
    if source.size > LARGEST_BYTES:
        return "", []
    with source.open() as stream, suppress(Broken):
        utf8 = Utf8(Opened(stream, Allowance(source.size)))
        for most in (MARKED_BYTES, LARGEST_BYTES + 1):
            before = len(data)
            while len(data) < most and (block := utf8.read(min(1 << 20, most - len(data)))):
                data += block
            if len(data) > before:
                text = data.decode("utf-8", "replace")
            if not (readers := readers or _READERS.possible(text)):
                break
        return (text, readers) if readers and len(data) <= LARGEST_BYTES else ("", [])
    return "", []
