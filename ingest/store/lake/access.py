"""Access to a lake: extensions of DuckDB, keys and other settings; and messages for its errors.

Extensions come from Python packages; nothing is fetched from the network. An extension belongs to
one version of DuckDB exactly: the extra `lake` pins the version of DuckDB that has them as
packages.

A setting comes from an environment variable, else from one settings file (TOML) with the same
names, so that no key is on a command line. For PostgreSQL, `~/.pgpass` and services work too, and
for object storages DuckDB's persistent secrets.
"""

from __future__ import annotations

import importlib.util
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import duckdb

from ingest.store.opening import TransactionLost, engine, use_all_cores
from ingest.system.command_lines import command_line, extra_command
from ingest.system.secrets import SECRET_VARIABLES, scrubbed
from schemas.errors import (
    StoreError,
    StoreMissing,
    StoreVersionMismatch,
    TachographError,
    UsageError,
)

# Extensions

OBJECT_STORAGE = "httpfs"


def extensions_for(catalog: str) -> tuple[str, ...]:
    """Return the extensions for a catalog (the location of a lake without `ducklake:`)."""
    # Prefix of a catalog's location after `ducklake:` → the extension that reads it.
    return (
        "ducklake",
        *(
            name
            for begin, name in (
                ("postgres:", "postgres_scanner"),
                ("sqlite:", "sqlite_scanner"),
            )
            if catalog.startswith(begin)
        ),
    )


def lake_engine(catalog: str) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    """Return an engine that can load the extensions for a catalog.

    Those from packages are as trusted as DuckDB, which comes the same way: to check their
    signatures would take 0.3 s of each command. Any other extension must have a valid one.
    """
    names = (*extensions_for(catalog), OBJECT_STORAGE)
    return engine(allow_unsigned_extensions=all(map(packaged, names)))


def is_remote(data_path: str) -> bool:
    """Return whether the data is in an object storage."""
    return data_path.startswith(("s3://", "gs://", "gcs://", "r2://", "http://", "https://"))


def load(connection: duckdb.DuckDBPyConnection, *names: str) -> None:
    """Load extensions from the package, else those installed for this DuckDB. Raises StoreError.

    From then on the connection's engine fetches none from the network by itself.
    """
    connection.execute(
        "set autoload_known_extensions = false; set autoinstall_known_extensions = false"
    )
    for name in names:
        file = packaged(name)
        try:
            connection.execute(f"load '{quoted(str(file))}'" if file else f"load {name}")
        except duckdb.Error as error:
            raise StoreError(
                (
                    f"a lake needs DuckDB's extension {name}, and there is none for DuckDB "
                    f"{duckdb.__version__} here."
                ),
                f"Install what a lake needs: {extra_command('lake')}\nAn environment of its own "
                "is better (docs/lake.md): this also pins the version of DuckDB that has it as "
                "a package.",
            ) from error


def packaged(name: str) -> Path | None:
    """Return the packaged file of an extension for the running version of DuckDB, or None."""
    found = importlib.util.find_spec(f"duckdb_extension_{name}")
    for folder in (found.submodule_search_locations or ()) if found else ():
        file = Path(folder, "extensions", f"v{duckdb.__version__}", f"{name}.duckdb_extension")
        if file.is_file():
            return file
    return None


def quoted(text: str) -> str:
    """Return the text as an SQL string literal."""
    return text.replace("'", "''")


# Settings

FILE_VARIABLE = "TACHOGRAPH_LAKE_SETTINGS"

DATA_VARIABLE = "TACHOGRAPH_LAKE_DATA"
"""Environment variable with the data path of a new lake: a folder, or `s3://BUCKET/PREFIX`."""

_S3 = {
    "key_id": ("AWS_ACCESS_KEY_ID",),
    "secret": ("AWS_SECRET_ACCESS_KEY",),
    "session_token": ("AWS_SESSION_TOKEN",),
    "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
}
"""Field of DuckDB's S3 secret → the variables it comes from, first match wins."""

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_OF_POSTGRESQL = (
    "PGHOST",
    "PGPORT",
    "PGUSER",
    "PGDATABASE",
    "PGPASSWORD",
    "PGPASSFILE",
    "PGSERVICE",
    "PGSSLMODE",
    "PGSSLROOTCERT",
)
"""Variables that PostgreSQL's library reads itself, from the environment only."""

_KNOWN = frozenset(
    (
        DATA_VARIABLE,
        *_ENDPOINTS,
        *_OF_POSTGRESQL,
        *SECRET_VARIABLES,
        *(name for names in _S3.values() for name in names),
    )
)


def settings() -> Mapping[str, str]:
    """Return every known variable that is set; the environment wins over the settings file.

    Raises UsageError.
    """
    found = {name: value for name, value in os.environ.items() if name in _KNOWN and value}
    path = os.environ.get(FILE_VARIABLE, "")
    if not path:
        return found
    try:
        read = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read {path}, which ${FILE_VARIABLE} names: "
            f"{getattr(error, 'strerror', None) or error}."
        ) from error
    except tomllib.TOMLDecodeError:  # its words may repeat a key
        raise UsageError(
            f"{path}, which ${FILE_VARIABLE} names, is not TOML.",
            'Write lines such as AWS_REGION = "eu-central-1".',
        ) from None
    if unknown := sorted(read.keys() - _KNOWN):
        raise UsageError(
            f"{path} sets {unknown[0]!r}, which is not known.",
            f"Known are: {', '.join(sorted(_KNOWN))}.",
        )
    if wrong := next((name for name, value in read.items() if not isinstance(value, str)), None):
        raise UsageError(f"{wrong} in {path} is not a text.", "Put the value between quotes.")
    return read | found


def use_storage(connection: duckdb.DuckDBPyConnection) -> None:
    """Let DuckDB read and write an object storage.

    Without keys in the settings, DuckDB's own persistent secrets apply.

    Raises StoreError.
    """
    load(connection, OBJECT_STORAGE)
    use_all_cores(connection)  # several threads wait for the network at once
    given = settings()
    fields = {field: value for field, names in _S3.items() if (value := _first(given, names))}
    if "key_id" not in fields:
        return
    if endpoint := _first(given, _ENDPOINTS):
        scheme, _, host = endpoint.rpartition("://")
        fields |= {
            "endpoint": host.rstrip("/"),
            "url_style": "path",
            "use_ssl": "false" if scheme == "http" else "true",
        }
    listed = ", ".join(f"{field} '{quoted(value)}'" for field, value in fields.items())
    connection.execute(f"create or replace temporary secret tachograph_lake (type s3, {listed})")


def has_keys() -> bool:
    return _first(settings(), _S3["key_id"]) != ""


def give_to_postgresql() -> None:
    """Copy PostgreSQL's variables from the settings file to the environment if not set there."""
    for name, value in settings().items():
        if name in _OF_POSTGRESQL:
            os.environ.setdefault(name, value)


def _first(given: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((given[name] for name in names if name in given), "")


# What goes wrong, in words


class _Trouble(NamedTuple):
    """One kind of error.

    `signs`: a pattern of DuckDB's message; `words` follow the location, with the pattern's group as
    `{0}`.
    """

    signs: str
    words: str
    hint: str
    error: type[TachographError] = StoreError


_TROUBLES = (
    _Trouble(
        r"No snapshot found at timestamp ([\d: .-]*\d)",
        "it has no snapshot as old as {0}.",
        (
            "Choose a later --at. `tachograph lake status` shows the first snapshot; `lake "
            "expire` drops old ones."
        ),
        UsageError,
    ),
    _Trouble(
        (
            r"password authentication failed|no password supplied|Ident authentication "
            r"failed|Peer authentication failed"
        ),
        "the catalog refused the password.",
        "Set $PGPASSWORD, or keep the password in ~/.pgpass.",
    ),
    _Trouble(
        r'(role "[^"]*" does not exist)',
        "the catalog refused the user: {0}.",
        "Name another user: user=NAME or $PGUSER.",
    ),
    _Trouble(
        r'(database "[^"]*" does not exist)',
        "the catalog has no such database: {0}.",
        "Create it, for instance with createdb.",
    ),
    _Trouble(
        r"(permission denied for \w+ \w+)",
        "the user of the catalog may not do that: {0}.",
        "Use a user with the right to write; docs/lake.md says who needs which rights.",
    ),
    _Trouble(
        (
            r"catalog version mismatch.*?(catalog version is [^,]*)|version '?([\w.]+)'? is not "
            r"supported|Only DuckLake versions? "
        ),
        "this version of DuckLake does not read it.",
        (
            "Somebody upgraded the lake: take its version of Tachograph here too, with `[lake]` "
            "(docs/lake.md)."
        ),
        StoreVersionMismatch,
    ),
    _Trouble(
        r"NoSuchBucket|bucket does not exist",
        "the object storage has no such bucket.",
        "Create the bucket, or check $AWS_ENDPOINT_URL.",
    ),
    _Trouble(
        (
            r"InvalidAccessKeyId|SignatureDoesNotMatch|AccessDenied|HTTP 403|\(HTTP "
            r"401|ExpiredToken|RequestTimeTooSkewed"
        ),
        "the object storage refused the key.",
        (
            "Check $AWS_ACCESS_KEY_ID, $AWS_SECRET_ACCESS_KEY, their rights, and the clock of "
            "this machine."
        ),
    ),
    _Trouble(
        r"HTTP 404|\(HTTP code 404\)|404 \(Not Found\)",
        "the object storage does not have the bucket, or a file of the lake.",
        (
            "Check that the bucket exists. If it does, files of the lake were deleted: restore "
            "them from a backup."
        ),
    ),
    _Trouble(
        r"(Connection refused|could not translate host name|Name or service not "
        r"known|timeout expired|server closed the connection"
        r"|no connection to the server|the database system is \w+ ?\w*|terminating "
        r"connection|No route to host|SSL SYSCALL error"
        r"|connection to server .* failed|too many clients)",
        "the catalog cannot be reached: {0}.",
        "Check its host, port and name, and that it runs.",
    ),
    _Trouble(
        r"(Could not establish connection|Could not connect to server|Couldn't connect|Could "
        r"not resolve hostname"
        r"|Connection error for HTTP|HTTP 5\d\d)",
        "the object storage cannot be reached: {0}.",
        "Check $AWS_ENDPOINT_URL and the network.",
    ),
    _Trouble(
        r"Could not set lock|database is locked",
        "its catalog is one file, which another process uses.",
        "Try again, or keep the catalog in PostgreSQL: only there many write at once.",
    ),
)


def missing(location: str) -> StoreMissing:
    """Return the error that there is no lake yet.

    An ingest makes none, since somebody must decide where its data goes.
    """
    hint = (
        f"Create it with `{command_line('lake init --data FOLDER', location)}`, where FOLDER may "
        "be s3://BUCKET/PREFIX."
    )
    return StoreMissing(f"There is no lake at {location} yet.", hint)


def failed(location: str, error: Exception, given: str = "") -> TachographError:
    """Translate an error of DuckDB.

    `given`: the location with its secrets, which are never repeated.
    """
    text = str(error)
    if re.search(
        r"Transaction conflict|Exceeded the maximum retry count|could not serialize "
        r"access|database is locked",
        text,
    ):
        return TransactionLost(
            f"another writer of {location} committed meanwhile: nothing was written.",
            "Run the command again.",
        )
    if re.search(
        r"creating a new DuckLake is explicitly disabled|database does not exist|unable to open "
        r"database file",
        text,
    ):
        return missing(location)
    for trouble in _TROUBLES:
        if found := re.search(trouble.signs, text, re.IGNORECASE):
            said = scrubbed(next(filter(None, found.groups()), ""), given).strip()
            return trouble.error(f"{location}: {trouble.words.format(said)}", trouble.hint)
    # Prefix of DuckDB's message that only repeats the catalog's location.
    reason = scrubbed(
        re.sub(
            r"^Failed to attach DuckLake MetaData .*?Unable to connect to Postgres at .*?: "
            r"(?=[a-z])",
            "",
            text.partition("Error: ")[2] or text,
        ),
        given,
    ).partition("\n")[0]
    return StoreError(
        f"{location} failed: {reason}", f"To check the store: `{command_line('doctor', location)}`"
    )


@contextmanager
def in_words(location: str, given: str) -> Iterator[None]:
    """Translate DuckDB's errors within the block, and drop their cause, which contains secrets.

    Raises StoreError.
    """
    try:
        yield
    except duckdb.Error as error:
        raise failed(location, error, given) from None
