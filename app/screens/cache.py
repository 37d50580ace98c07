"""Cached answers of the store for the screens, valid until the store changes.

The only use of `st.cache_*`.

Every answer is keyed by the state of the store, so that runs ingested by another process appear on
the next rerun.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

import streamlit as st
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from app.queries import runs as run_queries
from app.queries import runs as screen_queries
from app.queries.filters import Filters, this_moment
from app.queries.reading import ReadTransaction, read_transaction
from app.server import access, guard
from app.text.html_parts import plain
from ingest.store.annotations import Budgeted, Change
from ingest.store.annotations import annotate as write_annotations
from ingest.store.annotations import save_view as write_view
from ingest.store.annotations import set_budget as write_budget
from ingest.store.database import Store
from ingest.store.opening import is_path
from ingest.system.command_lines import DEFAULT_STORE, command_line
from ingest.system.files import temporary_folder
from ingest.system.secrets import without_secrets
from schemas.errors import StoreBusy, StoreError, StoreMissing, UsageError
from schemas.text import paired

if (
    TYPE_CHECKING
):  # readers take a tenth of the start of a dashboard, and only who writes needs them
    from ingest.mapped.found import KnownMap
    from ingest.pipeline import IngestReport, Options, Progress
    from ingest.sources.files import Source
    from ingest.store.undo import Undone

WAIT_SECONDS = 10.0
"""Seconds a screen waits for a locked store: readers of a screen are less patient than scripts."""

GLANCE_SECONDS = 0.5
"""Longest check whether the store is free again, for a screen that gave up waiting."""

COPY_AT = 4
"""Number of uncached questions of a run of a screen from which most others are uncached too
(`app.queries.reading`).
"""

REMOTE_SECONDS = 10
"""Lifetime of answers from a store without a file, since its changes are not noticed."""

DAY_SECONDS = 86_400

PAGE, PAGES = 500, 20
"""Runs on a page of the list, and the most pages."""

IN_MEMORY_BYTES = 1 << 20
"""Larger uploads are written to a temporary file during the ingest."""

MOST_OPTIONS = screen_queries.MOST_OPTIONS

SHOWN = 200
"""Findings, rejects and sources that a screen lists; the command line lists all."""

P = ParamSpec("P")
T = TypeVar("T")

State = tuple[str, tuple[int, ...]]
"""The location of a store, and marks of its files that change with every write."""

_CONTENTS = "contents"

_current: ContextVar[ReadTransaction | None] = ContextVar("current", default=None)


def location() -> str:
    """Return the location of this dashboard's store, without secrets."""
    return without_secrets(_given())


def _given() -> str:
    return os.environ.get("TACHOGRAPH_DB") or DEFAULT_STORE


def command(words: str) -> str:
    """Return `tachograph WORDS` as it runs on the store of this dashboard."""
    return command_line(words, location())


def store(
    wait_seconds: float | None = None, on_wait: Callable[[str], object] | None = None
) -> Store:
    """Return the store of the dashboard. `on_wait` gets a message that says who locks it."""
    seconds = WAIT_SECONDS if wait_seconds is None else wait_seconds
    return Store(_given(), wait_seconds=seconds, on_wait=on_wait)


def is_free() -> bool:
    """Return whether nobody locks the store now: it can be read, or fails for another reason."""
    try:
        with store(wait_seconds=GLANCE_SECONDS).reading():
            return True
    except StoreBusy:
        return False
    except StoreError:
        return True


def is_read_only() -> bool:
    """Return whether visitors may only read."""
    return access.is_read_only()


@contextmanager
def request() -> Iterator[ReadTransaction]:
    """Share a read transaction between all queries in one run of a screen.

    The first uncached query begins it. Raises StoreError.
    """
    with read_transaction(_current.get() or store(wait_seconds=0), COPY_AT) as transaction:
        token = _current.set(transaction)
        try:
            yield transaction
        finally:
            _current.reset(token)


def _state(of: Store) -> State:
    """Return the state of the store and the day, since `--since 7d` changes daily.

    It asks only the file system, never the store.
    """
    if not of.is_file:
        return of.location, (int(time.time()) // REMOTE_SECONDS,)
    files = (Path(of.location), Path(f"{of.location}.wal"))
    return str(files[0].absolute()), (
        int(time.time()) // DAY_SECONDS,
        *(mark for file in files for mark in _marks(file)),
    )


def marks() -> tuple[int, ...]:
    """Return marks of the store's file that change with every write.

    (0,) if it does not exist yet, () if it is no file.
    """
    return _marks(Path(location())) or (0,) if is_path(location()) else ()


def is_written() -> bool:
    """Return whether a writer has the store, so that a page would have to wait."""
    return os.path.exists(f"{location()}.wal")  # noqa: PTH110


def _marks(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def ask(question: Callable[Concatenate[Store, P], T], *arguments: P.args, **named: P.kwargs) -> T:
    """Return the answer of a function of `app.queries`, cached until the store changes.

    Raises StoreError.
    """
    name = f"{question.__module__}.{question.__qualname__}"
    with request() as transaction:
        while True:
            try:
                answer: T = _answer(
                    _state(transaction), name, arguments, named, question, transaction
                )
            except (
                StoreBusy
            ):  # we wait outside the cache, which would keep what is said meanwhile with the answer
                with _said() as say:
                    transaction.begin(store(on_wait=say))
            else:
                return answer


@contextmanager
def _said() -> Iterator[Callable[[str], object]]:
    """Yield a function that shows what a screen waits for, until the end of the block."""
    place = st.empty()
    try:
        yield lambda said: place.info(plain(said), icon=":material/hourglass_top:")
    finally:
        place.empty()


@st.cache_data(max_entries=512, show_spinner=False)
def _answer(
    state: State,  # noqa: ARG001
    name: str,  # noqa: ARG001
    arguments: tuple[Any, ...],
    named: dict[str, Any],
    _question: Callable[..., Any],
    _transaction: ReadTransaction,
) -> Any:
    """Return the answer to the question, cached by `state`, `name` and arguments.

    Parameters with an underscore are not part of the key.
    """
    sought = (
        _transaction.searched(value) if isinstance(value, Filters) else value for value in arguments
    )
    return _question(_transaction, *sought, **named)


def contents() -> screen_queries.StoreCounts:
    """Return counts of the store's contents from when it was last free.

    The screen itself reports why it cannot be read.
    """
    of = store(wait_seconds=0)
    try:
        with read_transaction(of) as transaction:
            found: screen_queries.StoreCounts = _answer(
                _state(of), "contents", (), {}, screen_queries.contents, transaction
            )
    except StoreMissing:
        return screen_queries.StoreCounts(0, 0, 0, 0, 0, 0)
    except StoreError:
        return st.session_state.get(_CONTENTS) or screen_queries.StoreCounts(2, 1, 1, 1, 1, 1)
    st.session_state[_CONTENTS] = found
    return found


def count(filters: Filters) -> int:
    """Return how many runs the filters choose. Raises StoreError."""
    return int(ask(run_queries.summary, filters, (), ("runs",))["runs"][0].as_py())


def options() -> dict[str, dict[str, int]]:
    """Return the options of each filter with their number of runs, most frequent first.

    At most MOST_OPTIONS. Raises StoreError.
    """
    return ask(screen_queries.options_by_filter, MOST_OPTIONS)


def this_minute() -> datetime:
    """Return the time for questions about activity, constant within a minute to cache answers."""
    return this_moment().replace(second=0)


def samples() -> list[Path]:
    """Return the folders of the bundled sample logs, none if they are not installed."""
    here = Path(__file__).parent.parent
    found = next(
        (
            folder
            for folder in (here / "sample_logs", here.parent / "sample_logs")
            if folder.is_dir()
        ),
        None,
    )
    return sorted(path for path in found.iterdir() if path.is_dir()) if found else []


def ingest_samples() -> IngestReport:
    """Read the sample logs into the store. Raises StoreError, UsageError."""
    from ingest.pipeline import Options
    from ingest.sources.walking import read_paths
    from ingest.store.ingests import IngestOrigin

    with _said() as say:
        return _ingest(
            list(read_paths(samples())),
            None,
            say,
            Options(origin=IngestOrigin(visitor(), "sample logs")),
        )


def visitor() -> str:
    """Return the address of the signed-in visitor, or "" without a sign-in."""
    return str(st.user.get("email") or "") if os.environ.get("TACHOGRAPH_SIGN_IN") else ""


def label_options() -> list[str]:
    """Return the labels of the store as `key=value`, most frequent first; none without a store.

    Raises StoreError.
    """
    return list(options().get("label", ())) if store().exists() else []


def annotate(run_ids: Sequence[str], change: Change) -> int:
    """Change annotations of runs and return how many changed. Raises StoreError, UsageError."""
    with _writing() as written:
        return write_annotations(written, run_ids, change, visitor())


def save_view(name: str, address: str) -> None:
    """Save a view of filters under a name, or delete it without an address.

    Raises StoreError, UsageError.
    """
    with _writing() as written:
        write_view(written, name, address, visitor())


def set_budget(of: Budgeted, usd: Decimal | None) -> None:
    """Keep a budget, or forget it without an amount. Raises StoreError, UsageError."""
    with _writing() as written:
        write_budget(written, of, usd, visitor())


def undo_ingest(ingest_id: int) -> Undone:
    """Take an ingest back. Raises StoreError, UsageError."""
    from ingest.store.undo import undo

    with _writing() as written:
        return undo(written, ingest_id)


@contextmanager
def _writing() -> Iterator[Store]:
    """Yield the store for writing. Raises UsageError if visitors may only read."""
    if is_read_only():
        raise UsageError(
            "this dashboard is read-only.",
            "Ask its owner to make the change, or to restart it without --read-only.",
        )
    if current := _current.get():
        current.end()  # who reads shuts out who writes, also in one process
    with _said() as say:
        yield store(on_wait=say)


SELECTION = "selection-round"
"""Session key of a number that changes to untick the rows of lists."""


def forget_selection() -> None:
    """Untick the rows of lists."""
    st.session_state[SELECTION] = st.session_state.get(SELECTION, 0) + 1


def let_upload(*, allowed: bool) -> None:
    """Allow or forbid uploads from this page.

    The server accepts them only from pages that are allowed.
    """
    if (page := get_script_run_ctx()) and runtime.exists():
        guard.let_upload(page.session_id, allowed=allowed)


def ingest_mapped(sources: Sequence[Source], known: KnownMap) -> IngestReport:
    """Ingest files by a map. Raises StoreError, UsageError."""
    from ingest.pipeline import Options
    from ingest.store.ingests import UPLOAD, IngestOrigin

    options = Options(maps=(known,), origin=IngestOrigin(visitor(), UPLOAD))
    return _ingest(sources, None, None, options)


def ingest_uploads(
    uploads: Sequence[UploadedFile],
    on_progress: Callable[[float, str], object],
    on_wait: Callable[[str], object] | None = None,
    labels: Mapping[str, str] = MappingProxyType({}),
    path_zone: str = "",
    *,
    trust_file_times: bool = False,
) -> IngestReport:
    """Ingest the files with these labels, and free their memory.

    `path_zone` is that of times in their names, empty for UTC.

    `trust_file_times`: the times of files in archives date runs without another date.

    `on_progress` gets the share read and the name of each, `on_wait` who locks the store.
    Raises StoreError, UsageError.
    """
    from ingest.context.sidecars import sidecars_among, unpacked
    from ingest.pipeline import Options
    from ingest.store.ingests import UPLOAD, IngestOrigin

    done = 0

    def read(progress: Progress) -> None:
        nonlocal done
        done += progress.bytes
        on_progress(min(1.0, done / size), progress.name)

    with _as_sources(uploads) as sources, unpacked(sidecars_among(sources)) as folders:
        size = sum(source.size for source in sources) or 1
        options = Options(
            tuple(labels.items()),
            unpacked=folders,
            trust_file_times=trust_file_times,
            path_zone=path_zone,
            origin=IngestOrigin(visitor(), UPLOAD),
        )
        report = _ingest(sources, read, on_wait, options)
    if page := get_script_run_ctx():  # the framework keeps them as long as the page is open
        for upload in uploads:
            cast("MemoryUploadedFileManager", page.uploaded_file_mgr).remove_file(
                page.session_id, upload.file_id
            )
            upload.close()
    return report


@contextmanager
def _as_sources(uploads: Sequence[UploadedFile]) -> Iterator[list[Source]]:
    """Yield the files as sources; large ones are in a temporary folder.

    So reading processes need no copy. Raises UsageError.
    """
    from ingest.sources.files import Source

    with ExitStack() as stack:
        sources = []
        try:
            folder = stack.enter_context(TemporaryDirectory(dir=temporary_folder()))
            for number, upload in enumerate(uploads):
                path = Path(folder, str(number)) if upload.size > IN_MEMORY_BYTES else None
                if path:
                    path.write_bytes(upload.getvalue())
                sources.append(
                    Source(
                        paired(upload.name),
                        None if path else upload.getvalue(),
                        path,
                        temporary=bool(path),
                    )
                )
        except OSError as error:
            why = (
                "the uploaded files cannot be written to the temporary folder: "
                f"{error.strerror or error}."
            )
            raise UsageError(why, "The owner of this dashboard must make room.") from error
        yield sources


def _ingest(
    sources: Sequence[Any],
    on_progress: Callable[[Progress], None] | None,
    on_wait: Callable[[str], object] | None,
    options: Options,
) -> IngestReport:
    from ingest.pipeline import ingest

    if is_read_only():
        raise UsageError(
            "this dashboard is read-only.",
            "Ask its owner to ingest the logs, or to restart it without --read-only.",
        )
    if current := _current.get():
        current.end()  # who reads shuts out who writes, also in one process
    return ingest(sources, store(on_wait=on_wait), options, on_progress)
