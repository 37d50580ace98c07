"""The extensions of DuckDB that a lake needs, loaded from Python packages: nothing is fetched from the network.

An extension belongs to one version of DuckDB exactly. The extra `lake` pins the version of DuckDB that has them as packages.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import duckdb

from ingest.system.installing import extra_command
from schemas.errors import StoreError

_CATALOGS = {"postgres:": "postgres_scanner", "sqlite:": "sqlite_scanner"}
"""What a catalog's location begins with after `ducklake:`, and the extension that reads it."""

_REMOTE = ("s3://", "gs://", "gcs://", "r2://", "http://", "https://")

OBJECT_STORAGE = "httpfs"


def needed(catalog: str) -> tuple[str, ...]:
    """The extensions for a catalog: the location of a lake without `ducklake:`."""
    return ("ducklake", *(name for begin, name in _CATALOGS.items() if catalog.startswith(begin)))


def is_remote(data_path: str) -> bool:
    """Whether data lies in an object storage."""
    return data_path.startswith(_REMOTE)


def load(connection: duckdb.DuckDBPyConnection, *names: str) -> None:
    """Load extensions of the package, or else those that somebody installed for this DuckDB. Raises StoreError.

    From then on the connection's engine fetches none from the network by itself.
    """
    connection.execute("set autoload_known_extensions = false; set autoinstall_known_extensions = false")
    for name in names:
        file = packaged(name)
        try:
            connection.execute(f"load '{str(file).replace(chr(39), chr(39) * 2)}'" if file else f"load {name}")
        except duckdb.Error as error:
            raise _missing(name) from error


def packaged(name: str) -> Path | None:
    """The file of an extension in its package, for the version of DuckDB that runs; None where there is none."""
    package = f"duckdb_extension_{name}"
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations or ()) if found else ():
        file = Path(folder, "extensions", f"v{duckdb.__version__}", f"{name}.duckdb_extension")
        if file.is_file():
            return file
    return None


def _missing(name: str) -> StoreError:
    return StoreError(
        f"a lake needs DuckDB's extension {name}, and there is none for DuckDB {duckdb.__version__} here.",
        f"Install what a lake needs: {extra_command('lake')}\n"
        "An environment of its own is better (docs/lake.md): this also pins the version of DuckDB that has it as a package.",
    )
