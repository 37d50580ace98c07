"""How fast a lake is beside a file.

Ingest by several writers at once, and what the screens ask of millions of runs.

    python -m tests.bench.lake writers [RUNS]           # 100,000
    python -m tests.bench.lake screens [RUNS [FOLDER [ROUNDS [SCREENS]]]] # 1,000,000; ten times as
    many need 10 GB of disk and an hour

Needs the extra `lake` and PostgreSQL (docs/lake.md), for the catalog; the data lies in a folder.
*writers* ingests the same logs, 1,000 records in each file, into a file by one process, then into
new lakes by 1, 2 and 4 at once, each with its share. Prints seconds until the last has ended, and
of processors. *screens* makes a store of a million runs in FOLDER once (`tests.bench.big_store`),
and a lake of it: of more runs by copies with other ids, each a year earlier. Then it prints for
each screen the 95th percentile of its questions to the file and to the lake, as `tests.bench.pages`
asks them, and the ratio; before that the rows, files and bytes of each table of the lake, the size
of its catalog, and what it takes to ingest ten records into either.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles

from ingest.store.database import Store
from ingest.store.lake.upkeep import make_lake, status
from tests.bench.big_store import ROWS_OF, make
from tests.bench.logs import made_of, records_of
from tests.bench.pages import SCREENS, cold, warm
from tests.bench.questions import Times
from tests.lake.servers import PASSWORD, PostgreSQL, postgresql

RECORDS_PER_FILE = 1000
WRITERS = (1, 2, 4)
FEW = 10
ROUNDS = 5
MEMORY = "8GB"
"""For making the lake: a million rows of each table are one transaction, for which an ingest's
gigabyte is too little.
"""

OF_ONE_STORE = 1_000_000
"""Runs of the store that a lake is made of."""

TABLES = ("sources", "runs", *(table for table in ROWS_OF if table != "sources"))
_EARLIER = " - to_days(365 * {copy})"
_CHANGED = {
    "sources": "source_id || '{suffix}' as source_id, received_at" + _EARLIER + " as received_at",
    "runs": "run_id || '{suffix}' as run_id, source_id || '{suffix}' as source_id, chain_id || "
    "'{suffix}' as chain_id, session_id || '{suffix}' as session_id, started_at"
    + _EARLIER
    + " as started_at, ended_at"
    + _EARLIER
    + " as ended_at",
}
_OF_RUN = "run_id || '{suffix}' as run_id"


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    measures: Mapping[str, Callable[..., None]] = {"writers": writers, "screens": screens}
    what, *rest = arguments or [""]
    if what not in measures:
        raise SystemExit(__doc__)
    measures[what](*rest)


def writers(runs: str = "100000") -> None:
    """The table of ingests."""
    records = records_of()
    print(
        (
            f"{int(runs):,} runs, {os.cpu_count()} "
            f"cores\n{'into':<24}{'seconds':>9}{'CPU s':>9}{'ratio':>8}"
        ),
        flush=True,
    )
    with _catalogs() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = list(
            _write_logs(folder, int(runs) // RECORDS_PER_FILE, iter(made_of(records, int(runs))))
        )
        alone = _ingested(str(folder / "runs.duckdb"), [files])
        _print("a file, 1 writer", alone, alone)
        for number in WRITERS:
            lake = _new_lake(server, f"writers_{number}", folder)
            shares = [files[first::number] for first in range(number)]
            _print(f"a lake, {number} at once", _ingested(lake, shares), alone)


def _write_logs(
    folder: Path, files: int, lines: Iterator[str], records: int = RECORDS_PER_FILE
) -> Iterator[Path]:
    for number in range(files):
        path = folder / f"log-{number:05}.jsonl"
        path.write_text("\n".join(next(lines) for _ in range(records)), encoding="utf-8")
        yield path


def _ingested(location: str, shares: Sequence[Sequence[Path]]) -> Times:
    """What it takes until processes have ingested these files, each its share.

    Raises SystemExit where one fails.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "app.cli.main", "ingest", "--db", location, "--wait", "1000"]
    started = [
        subprocess.Popen(
            [*command, *map(str, share)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for share in shares
    ]
    for process in started:
        _, said = process.communicate()
        if process.returncode:
            raise SystemExit(said.decode())
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Times(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _print(what: str, found: Times, beside: Times) -> None:
    print(
        f"{what:<24}{found.wall:>9.1f}{found.cpu:>9.1f}{found.wall / beside.wall:>8.2f}", flush=True
    )


def screens(
    runs: str = str(OF_ONE_STORE),
    folder: str = "",
    rounds: str = str(ROUNDS),
    names: str = ",".join(SCREENS),
) -> None:
    """The table of the screens with these names, comma-separated, each asked in so many rounds."""
    place = Path(folder or Path(tempfile.gettempdir()) / "tachograph-bench")
    place.mkdir(parents=True, exist_ok=True)
    size = min(int(runs), OF_ONE_STORE)
    file = make(place / f"{size}.duckdb", size)
    with _catalogs() as server, tempfile.TemporaryDirectory(dir=place) as data:
        began = time.perf_counter()
        lake = Store(_new_lake(server, "screens", Path(data)))
        for copy in range(int(runs) // size):
            _add_copy(lake, file, copy)
        print(
            f"{int(runs):,} runs in a lake beside {size:,} in a file; made in "
            f"{time.perf_counter() - began:,.0f} s"
        )
        _print_files(server, lake)
        _print_few(file, lake, Path(data))
        print(
            f"{'screen':<12}{'file':>9}{'lake':>9}{'ratio':>7}{'file, all':>12}{'lake, all':>12}{'ratio':>7}   "  # noqa: E501
            "95th percentile, seconds"
        )
        for screen in names.split(","):
            times = [
                _high(ask(store, screen, int(rounds)))
                for ask in (warm, cold)
                for store in _in_turn(file, lake)
            ]
            chosen, everything = times[:2], times[2:]
            print(f"{screen:<12}{_row(chosen)}{_row(everything, 12)}", flush=True)


def _print_files(server: PostgreSQL, lake: Store) -> None:
    """What lies in the lake, and the size of its catalog."""
    print(f"{'table':<24}{'rows':>14}{'files':>7}{'MB':>9}")
    for table in status(lake.location).tables:
        print(f"{table.name:<24}{table.rows:>14,}{table.files:>7}{table.bytes / 1e6:>9,.1f}")
    print(
        "catalog: "
        f"{int(server.query('screens', 'select pg_database_size(current_database())')) / 1e6:,.1f} "
        "MB"
    )


def _print_few(file: Store, lake: Store, folder: Path) -> None:
    """What it takes to add a few runs, which must be found to be new among all."""
    [log] = _write_logs(folder, 1, iter(made_of(records_of(), FEW, seed=time.time_ns())), FEW)
    alone = _ingested(file.location, [[log]])
    _print(f"{FEW} records, file", alone, alone)
    _print(f"{FEW} records, lake", _ingested(lake.location, [[log]]), alone)


def _in_turn(*stores: Store) -> Iterator[Store]:
    """Each store, as that of the dashboard."""
    for store in stores:
        os.environ["TACHOGRAPH_DB"] = store.location
        yield store


def _high(times: Sequence[Times]) -> float:
    return quantiles([one.wall for one in times], n=20, method="inclusive")[-1]


def _row(pair: Sequence[float], width: int = 9) -> str:
    return f"{pair[0]:>{width}.3f}{pair[1]:>{width}.3f}{pair[1] / pair[0]:>7.1f}"


def _add_copy(lake: Store, file: Store, copy: int) -> None:
    """Add the rows of the file; from the second time on with ids of their own, years earlier."""
    with lake.writing() as writer:
        writer.connection.execute(
            f"set memory_limit = '{MEMORY}'; attach if not exists '{file.location}' as made "
            "(read_only)"
        )
        for table in TABLES:
            changed = _CHANGED.get(table, _OF_RUN).format(
                suffix=f"-{copy}" if copy else "", copy=copy
            )
            writer.connection.execute(
                f"insert into {table} by name select * replace ({changed}) from made.{table}"
            )


@contextmanager
def _catalogs() -> Iterator[PostgreSQL]:
    """A PostgreSQL, and its password in the environment."""
    with tempfile.TemporaryDirectory(prefix="catalogs-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        place = Path(name) / "postgresql"
        place.mkdir()
        with postgresql(place) as server:
            os.environ["PGPASSWORD"] = PASSWORD
            yield server


def _new_lake(server: PostgreSQL, name: str, folder: Path) -> str:
    """The location of an empty lake, with its data in a folder."""
    location = server.database(name)
    make_lake(location, str(folder / name))
    return location


if __name__ == "__main__":
    main(sys.argv[1:])
