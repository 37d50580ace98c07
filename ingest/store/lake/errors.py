"""What goes wrong with a lake, in words: its catalog, its object storage, its version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

from ingest.system.command_lines import command_line
from ingest.system.locations import scrubbed
from schemas.errors import NotAStore, StoreBusy, StoreError, StoreMissing, StoreVersionMismatch, TachographError, UsageError


class Overtaken(StoreBusy):
    """Another writer committed since our transaction began, so that ours was rolled back: it can be done again."""


@dataclass(frozen=True)
class _Trouble:
    """One kind of trouble. `signs`: a pattern of DuckDB's error; `words` follow the location, with what the pattern found as `{0}`."""

    signs: re.Pattern[str]
    words: str
    hint: str
    error: type[TachographError] = StoreError


def _trouble(signs: str, words: str, hint: str, error: type[TachographError] = StoreError) -> _Trouble:
    return _Trouble(re.compile(signs, re.IGNORECASE), words, hint, error)


_CHECK_CATALOG = "Check its host, port and name, and that it runs."
_CHECK_STORAGE = "Check $AWS_ENDPOINT_URL and the network."

_TROUBLES = (
    _trouble(
        r"No snapshot found at timestamp ([\d: .-]*\d)",
        "it has no snapshot as old as {0}.",
        "Choose a later --at. `tachograph lake status` shows the first snapshot; `lake expire` drops old ones.",
        UsageError,
    ),
    _trouble(
        r"password authentication failed|no password supplied|Ident authentication failed|Peer authentication failed",
        "the catalog refused the password.",
        "Set $PGPASSWORD, or keep the password in ~/.pgpass.",
    ),
    _trouble(r'(role "[^"]*" does not exist)', "the catalog refused the user: {0}.", "Name another user: user=NAME or $PGUSER."),
    _trouble(r'(database "[^"]*" does not exist)', "the catalog has no such database: {0}.", "Create it, for instance with createdb."),
    _trouble(
        r"(permission denied for \w+ \w+)",
        "the user of the catalog may not do that: {0}.",
        "Use a user with the right to write; docs/lake.md says who needs which rights.",
    ),
    _trouble(
        r"catalog version mismatch.*?(catalog version is [^,]*)|version '?([\w.]+)'? is not supported|Only DuckLake versions? ",
        "this version of DuckLake does not read it.",
        "Somebody upgraded the lake: take its version of Tachograph here too, with `[lake]` (docs/lake.md).",
        StoreVersionMismatch,
    ),
    _trouble(
        r"NoSuchBucket|bucket does not exist",
        "the object storage has no such bucket.",
        "Create the bucket, or check $AWS_ENDPOINT_URL.",
    ),
    _trouble(
        r"InvalidAccessKeyId|SignatureDoesNotMatch|AccessDenied|HTTP 403|\(HTTP 401|ExpiredToken|RequestTimeTooSkewed",
        "the object storage refused the key.",
        "Check $AWS_ACCESS_KEY_ID, $AWS_SECRET_ACCESS_KEY, their rights, and the clock of this machine.",
    ),
    _trouble(
        r"HTTP 404|\(HTTP code 404\)|404 \(Not Found\)",
        "the object storage does not have the bucket, or a file of the lake.",
        "Check that the bucket exists. If it does, files of the lake were deleted: restore them from a backup.",
    ),
    _trouble(
        r"(Connection refused|could not translate host name|Name or service not known|timeout expired|server closed the connection"
        r"|no connection to the server|the database system is \w+ ?\w*|terminating connection|No route to host|SSL SYSCALL error"
        r"|connection to server .* failed|too many clients)",
        "the catalog cannot be reached: {0}.",
        _CHECK_CATALOG,
    ),
    _trouble(
        r"(Could not establish connection|Could not connect to server|Couldn't connect|Could not resolve hostname"
        r"|Connection error for HTTP|HTTP 5\d\d)",
        "the object storage cannot be reached: {0}.",
        _CHECK_STORAGE,
    ),
    _trouble(
        r"Could not set lock|database is locked",
        "its catalog is one file, which another process uses.",
        "Try again, or keep the catalog in PostgreSQL: only there many write at once.",
    ),
)

_PLACES = re.compile(r"^Failed to attach DuckLake MetaData .*?Unable to connect to Postgres at .*?: (?=[a-z])")
"""What says once more where the catalog is."""

_MISSING = re.compile(r"creating a new DuckLake is explicitly disabled|database does not exist|unable to open database file")
_CONFLICT = re.compile(r"Transaction conflict|Exceeded the maximum retry count|could not serialize access|database is locked")


def missing(location: str) -> StoreMissing:
    """There is no lake yet. An ingest makes none: where its data lies must be decided by somebody."""
    hint = f"Create it with `{command_line('lake init --data FOLDER', location)}`, where FOLDER may be s3://BUCKET/PREFIX."
    return StoreMissing(f"There is no lake at {location} yet.", hint)


def not_ours(location: str) -> NotAStore:
    """A DuckLake of somebody else."""
    return NotAStore(f"{location} is a DuckLake, but not a Tachograph store.", "Choose another database, or another METADATA_SCHEMA.")


def failed(location: str, error: Exception, given: str = "") -> TachographError:
    """What an error of DuckDB means. `given`: the location with its secrets, none of which is repeated."""
    text = str(error)
    if _CONFLICT.search(text):
        return Overtaken(f"another writer of {location} committed meanwhile: nothing was written.", "Run the command again.")
    if _MISSING.search(text):
        return missing(location)
    for trouble in _TROUBLES:
        if found := trouble.signs.search(text):
            said = scrubbed(next(filter(None, found.groups()), ""), given).strip()
            return trouble.error(f"{location}: {trouble.words.format(said)}", trouble.hint)
    reason = scrubbed(_PLACES.sub("", text.partition("Error: ")[2] or text), given).partition("\n")[0]
    return StoreError(f"{location} failed: {reason}", f"To check the store: `{command_line('doctor', location)}`")


@contextmanager
def told(location: str, given: str) -> Iterator[None]:
    """A block in which every error of DuckDB becomes one for people, without its cause: that has secrets. Raises StoreError."""
    try:
        yield
    except duckdb.Error as error:
        raise failed(location, error, given) from None
