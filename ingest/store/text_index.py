"""The index of long texts, prompts and summaries, by their words: a search in it reads no texts.

A needle without white space is in a text where it is in one of its words, so that the index alone answers exactly. The words of a part of
the texts are either common, with the list of texts that have them, or rare, kept as the words of their one text: nine in ten words are
rare, and with a row for each a search takes four times as long.

Texts are indexed in a transaction of their own once enough of them wait. A run whose texts change loses its number, `runs.text_no`, and
waits again. Those that wait are searched by reading them, so that nothing but time depends on the index.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ingest.store.database import Store, Writer
from ingest.store.opening.attaching import ALIAS
from ingest.store.statements import run

WAITING = 20_000
"""So many texts are read in a tenth of a second; from here on they are indexed."""

_PART = 4096
"""Texts that are indexed together: their words have room in the cache of a processor."""

_THREADS = 2
"""The words of so many parts are found at once; pyarrow and numpy leave the interpreter to the others meanwhile."""

_WAITING = "select count(*) from runs where text_no is null"
_TEXTS = f"""
select $before + 1 + rowid as text_no, lower(concat_ws(chr(10), prompt, result)) as text from {ALIAS}.runs where text_no is null
"""
_NUMBER = "update runs set text_no = $before + 1 + rowid where text_no is null"
_NOTE = "update store_meta set last_text = greatest(last_text, coalesce((select max(text_no) from runs), 0))"

T = TypeVar("T")


def index_texts(store: Store, least: int = WAITING) -> int:
    """Index the texts that wait for it, if there are at least so many. Returns their number. Raises StoreError.

    Only of a store in a file: a lake would write every run again to number it.
    """
    if not store.is_file:
        return 0
    with store.reading() as connection:
        [(waiting,)] = run(connection, _WAITING).fetchall()
    if waiting < max(1, least):
        return 0
    with store.writing(make=False) as writer:
        _index(writer)
    return int(waiting)


def _index(writer: Writer) -> None:
    connection = writer.connection
    [(before,)] = run(connection, "select last_text from store_meta").fetchall()
    for common, rare in _ahead(_words_of, _texts(connection.cursor(), before)):
        writer.insert_table("common_words", common)
        writer.insert_table("rare_words", rare)
    run(connection, _NUMBER, {"before": before})
    run(connection, _NOTE)


def _texts(connection: duckdb.DuckDBPyConnection, before: int) -> pa.RecordBatchReader:
    """Number and text of each run that waits, as it was committed: what a cursor sees."""
    return connection.sql(_TEXTS, params={"before": before}).to_arrow_reader(_PART)


def _ahead(change: Callable[[pa.RecordBatch], T], batches: Iterable[pa.RecordBatch]) -> Iterator[T]:
    """What `change` makes of each batch, in order. It works in threads, on the next batches while the caller has one."""
    with ThreadPoolExecutor(_THREADS) as threads:
        begun: deque[Future[T]] = deque()
        for batch in batches:
            begun.append(threads.submit(change, batch))
            if len(begun) > _THREADS:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


def _words_of(texts: pa.RecordBatch) -> tuple[pa.Table, pa.Table]:
    """What is between WHITE_SPACE. Texts (`text_no`, `text` in lower case) → (rows of common_words, rows of rare_words)."""
    split = pc.ascii_split_whitespace(texts["text"])
    encoded = split.flatten().dictionary_encode()
    words, codes = encoded.dictionary, np.from_dlpack(encoded.indices)
    numbers = np.from_dlpack(texts["text_no"])[np.from_dlpack(pc.list_parent_indices(split))]
    is_common = np.bincount(codes, minlength=len(words))[codes] > 1
    return _common(words, codes[is_common], numbers[is_common]), _rare(words.take(pa.array(codes[~is_common])), numbers[~is_common])


def _common(words: pa.Array, codes: NDArray[np.int32], numbers: NDArray[np.int64]) -> pa.Table:
    """One row per word, of its code in each text."""
    order = _order_of(codes)
    codes, numbers = codes[order], numbers[order]
    is_new = np.ones(len(codes), dtype=bool)  # a text has the same word several times
    is_new[1:] = (codes[1:] != codes[:-1]) | (numbers[1:] != numbers[:-1])
    codes, numbers = codes[is_new], numbers[is_new]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    lists = pa.ListArray.from_arrays(pa.array(np.append(starts, len(codes)).astype(np.int32)), pa.array(numbers))
    return pa.table({"word": words.take(pa.array(codes[starts])), "text_nos": lists})


def _rare(words: pa.Array, numbers: NDArray[np.int64]) -> pa.Table:
    """One row per text, of its rare words one after the other."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    lists = pa.ListArray.from_arrays(pa.array(np.append(starts, len(numbers)).astype(np.int32)), words)
    space = pa.scalar(" ", pa.string())  # for a value without a type, pyarrow imports pandas: 0.3 s
    return pa.table({"text_no": pa.array(numbers[starts]), "words": pc.binary_join(lists, space)})


def _order_of(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """The places of the codes in ascending order, equal ones as they were: by halves, for which numpy has a radix sort."""
    order = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    high = (codes >> 16).astype(np.uint16)
    return order[np.argsort(high[order], kind="stable")] if high.any() else order
