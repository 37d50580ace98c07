"""What a lake needs to know beside its location: where its data lies and the keys of the object storage.

Each comes from a variable of the environment or, where that is not set, from one settings file (TOML) with the same names, so that no
key stands on a command line. Of PostgreSQL, `~/.pgpass` and services work too, and of DuckDB its persistent secrets.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

import duckdb

from ingest.system.locations import SECRET_VARIABLES
from schemas.errors import UsageError

FILE_VARIABLE = "TACHOGRAPH_LAKE_SETTINGS"
"""The variable with the path of the settings file."""

DATA_VARIABLE = "TACHOGRAPH_LAKE_DATA"
"""The variable with the place of the data of a new lake: a folder, or `s3://BUCKET/PREFIX`."""

_S3 = {
    "key_id": ("AWS_ACCESS_KEY_ID",),
    "secret": ("AWS_SECRET_ACCESS_KEY",),
    "session_token": ("AWS_SESSION_TOKEN",),
    "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
}
"""Fields of DuckDB's secret for S3, and the variables that they come from."""

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_OF_POSTGRESQL = ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSSLMODE", "PGSSLROOTCERT")
"""Variables that the library of PostgreSQL itself reads, from the environment alone."""

_KNOWN = frozenset((DATA_VARIABLE, *_ENDPOINTS, *_OF_POSTGRESQL, *SECRET_VARIABLES, *(name for names in _S3.values() for name in names)))

SECRET = "tachograph_lake"  # noqa: S105  the name of one
"""What the secret of the object storage is called in DuckDB. It lives as long as the lake is attached."""


def settings() -> Mapping[str, str]:
    """Every known variable that is set, the environment before the settings file. Raises UsageError."""
    found = {name: value for name, value in os.environ.items() if name in _KNOWN and value}
    return _of_file(os.environ.get(FILE_VARIABLE, "")) | found


def make_secret(connection: duckdb.DuckDBPyConnection) -> None:
    """Give DuckDB the keys of the object storage; without keys in the settings, its own persistent secrets hold."""
    given = settings()
    fields = {field: value for field, names in _S3.items() if (value := _first(given, names))}
    if "key_id" not in fields:
        return
    if endpoint := _first(given, _ENDPOINTS):
        scheme, _, host = endpoint.rpartition("://")
        fields |= {"endpoint": host.rstrip("/"), "url_style": "path", "use_ssl": "false" if scheme == "http" else "true"}
    listed = ", ".join(f"{field} '{_quoted(value)}'" for field, value in fields.items())
    connection.execute(f"create or replace temporary secret {SECRET} (type s3, {listed})")


def has_keys() -> bool:
    """Whether the settings have keys of an object storage."""
    return _first(settings(), _S3["key_id"]) != ""


def give_to_postgresql() -> None:
    """Set the variables of the settings file that PostgreSQL's library reads, where the environment does not."""
    for name, value in settings().items():
        if name in _OF_POSTGRESQL:
            os.environ.setdefault(name, value)


def _first(given: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((given[name] for name in names if name in given), "")


def _of_file(path: str) -> dict[str, str]:
    if not path:
        return {}
    try:
        read = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}, which ${FILE_VARIABLE} names: {getattr(error, 'strerror', None) or error}.") from error
    except tomllib.TOMLDecodeError:  # its words may repeat a key
        raise UsageError(
            f"{path}, which ${FILE_VARIABLE} names, is not TOML.", 'Write lines such as AWS_REGION = "eu-central-1".'
        ) from None
    if unknown := sorted(read.keys() - _KNOWN):
        raise UsageError(f"{path} sets {unknown[0]!r}, which is not known.", f"Known are: {', '.join(sorted(_KNOWN))}.")
    if wrong := next((name for name, value in read.items() if not isinstance(value, str)), None):
        raise UsageError(f"{wrong} in {path} is not a text.", "Put the value between quotes.")
    return read


def _quoted(text: str) -> str:
    return text.replace("'", "''")
