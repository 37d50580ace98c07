"""Golden pairs of `tests/logs`: a log, and beside it the rows that must be read of it.

`tests/logs/<agent>/<case>.<ending>`, or a folder `<case>/` for logs of several files, has
`<case>.expected.json`; so have the cases of `measured/<tool>` and `loops/<kind>`. A case is named
after the break it catches. All are read into two stores, so no two in a store share a session or a
run's id. Cases with folders `1`, `2`, … grow: each folder is copied over the ones before, and then
all is ingested again.

`x.db.sql` is read as the SQLite database `x.db`, and a folder named like an archive as that
archive.

Rows lack what is empty or the column's default, what repeats another column, and what changes with
the machine, the day or a release of prices. What all rows of a table share is listed once.

`python -m tests.golden_logs --write [agent[/case]]` writes what is read now: read its diff.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ingest.pipeline import Options, ingest
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from schemas.rows.row import Column
from schemas.rows.tables import TABLES

LOGS = Path(__file__).parent / "logs"
EXPECTED = ".expected.json"

SHOWN = (
    "sources runs model_usage tool_calls responses claims statements file_changes patch_files "
    "patches findings rejects measurements published loops experiments"
).split()

LEFT_OUT = {
    *"source_id received_at bytes modified_ns ingest_id ingested_by tool_version resume_at".split(),
    *"raw excerpt message price_date price_source price_note".split(),
    *"cost_delta_usd cost_cause cost_uncached_usd cost_cache_write_usd".split(),
    *"project repo_source map".split(),
}
"""Columns of sources that change, copies of the log and its map, sentences, what prices alone say,
and what follows from other columns (`test_projects`).
"""

REPEATED = {"chain_id": "run_id"} | {
    f"own_{name}": name
    for name in (
        "input_tokens output_tokens cache_read_tokens cache_write_tokens cache_write_1h_tokens "
        "web_search_requests"
    ).split()
}
"""Column → the one that it repeats unless a run counts on from another."""

USUAL = {
    "chain_position": 1,
    "price_status": "priced",
    **dict.fromkeys(
        "duplicates rejected ignored unpriced_tokens findings error_findings".split(), 0
    ),
}
"""Column → a value that says as little as its default."""

_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")

MODIFIED = datetime(2026, 6, 1, tzinfo=UTC).timestamp()
"""The time of all files: a run without a time of its own has that of its file."""

SECOND = {
    *"cursor measured/none opentelemetry relayed sidecars".split(),
    "aider/a_log_that_grows",
    "chains/beginning_that_came_first_or_last",
    "chains/files_in_order_321",
    "iflow/a_transcript_grows",
    "inspect_ai/the_whole_log_replaces_a_torn_one",
    "iso_bench_items/an_archive_with_files_that_are_known_has_all_its_runs",
}
"""Folders and cases of the second store: they have the same sessions or files as some of the first.
"""

ROOMS = ("measured", "loops")
"""Folders of folders of cases."""

ARCHIVES = {".zip": "zip", ".eval": "zip", ".tar": "tar", ".gz": "gztar", ".xz": "xztar"}

WIDTH = 100

Rows = Mapping[str, list[dict[str, Any]]]
Case = tuple[str, str]
"""A folder of cases, and the name of one in it."""


def folders() -> list[str]:
    """The folders of cases: one for each agent, measuring tool and kind of loop."""
    found = (path for pattern in ("*", "measured/*", "loops/*") for path in LOGS.glob(pattern))
    rooms = {LOGS / room for room in ROOMS}
    return sorted(_under(path, LOGS) for path in found if path.is_dir() and path not in rooms)


def cases(folder: str) -> list[str]:
    """The names of the cases of a folder."""
    return sorted({_case(path.name) for path in _inputs(LOGS / folder)})


def store_of(folder: str, case: str) -> int:
    """The number of the store that a case is read into."""
    return 2 if SECOND & {folder, f"{folder}/{case}"} else 1


def read_now(number: int, wanted: Iterable[str]) -> dict[Case, str]:
    """The text that the expected file of each case of a store should have.

    `wanted`: the folders to read. All is ingested, and again each time that cases grow.
    """
    paths = [
        (path, folder)
        for folder in wanted
        for path in _inputs(LOGS / folder)
        if store_of(folder, _case(path.name)) == number
    ]
    if not paths:
        return {}
    with TemporaryDirectory() as temporary:
        store, place = Store(Path(temporary, "runs.duckdb")), Path(temporary, "logs")
        for path, folder in paths:
            if not _grows(path):
                _lay(path, place / folder / path.name)
        growing = [(path, folder) for path, folder in paths if _grows(path)]
        for grown in range(
            1, 1 + max((len(list(path.iterdir())) for path, _ in growing), default=1)
        ):
            for path, folder in growing:
                if (path / str(grown)).is_dir():
                    _lay(path / str(grown), place / folder / path.name, MODIFIED + grown)
            ingest(read_paths([place]), store, Options(jobs=1))
        return {case: _text(tables) for case, tables in rows_of(store, place).items()}


def lay_shared(folder: str, place: Path) -> list[Path]:
    """Write the files of all cases of a folder that do not grow into another one."""
    for path in _inputs(LOGS / folder):
        if not _grows(path):
            _lay(path, place / path.name)
    return sorted(path for path in place.rglob("*") if path.is_file())


def expected_path(folder: str, case: str) -> Path:
    return LOGS / folder / f"{case}{EXPECTED}"


def text_of(name: str) -> str:
    """The text of a log of the cases: `aider/sessions_that_interleave.jsonl`."""
    return (LOGS / name).read_text(encoding="utf-8")


def _inputs(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.endswith(EXPECTED))


def _grows(case: Path) -> bool:
    return (case / "1").is_dir()


def _case(name: str) -> str:
    return name.partition("/")[0].partition(".")[0]


def _under(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _place(name: str) -> tuple[str, str]:
    """The folder of cases that a file is in, and its path in that."""
    parts = name.split("/")
    depth = 2 if parts[0] in ROOMS else 1
    return "/".join(parts[:depth]), "/".join(parts[depth:])


def _lay(path: Path, to: Path, modified: float = MODIFIED) -> None:
    """Copy a file or folder, with what is made of it."""
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and path.suffix in ARCHIVES:
        made = shutil.make_archive(f"{to}~", ARCHIVES[path.suffix], path)
        Path(made).rename(to)
    elif path.is_dir():
        to.mkdir(exist_ok=True)
        for one in path.iterdir():
            _lay(one, to / one.name, modified)
        return
    elif path.name.endswith(".db.sql"):
        to = to.with_suffix("")
        to.unlink(missing_ok=True)
        with closing(sqlite3.connect(to)) as database:
            database.executescript(path.read_text(encoding="utf-8"))
    else:
        shutil.copyfile(path, to)
    os.utime(to, (modified, modified))


def rows_of(store: Store, place: Path) -> dict[Case, dict[str, list[dict[str, Any]]]]:
    """Case → table → its rows, without what is left out of them."""
    with store.reading() as connection:
        tables = {
            name: connection.sql(f'select * from "{name}"').to_arrow_table().to_pylist()
            for name in SHOWN
        }
        records, files = (
            connection.sql(f"from {name}").to_arrow_table().to_pylist()
            for name in ("run_records", "found_files")
        )
    places = {
        row["source_id"]: _place(_under(Path(row["name"]), place)) for row in tables["sources"]
    }
    cases = {source: (folder, _case(name)) for source, (folder, name) in places.items()}
    names = {source: name for source, (_, name) in places.items()}
    empty = {row["source_id"] for row in tables["sources"] if row["kind"] == "empty"}
    tables["sources"] = [row for row in tables["sources"] if row["source_id"] not in empty]
    of_run = {row["run_id"]: row["source_id"] for row in tables["runs"]}
    _check_apart((row["run_id"], cases[row["source_id"]]) for row in records)
    _check_apart(
        (row["source_id"], (folder, _case(name)))
        for row in files
        if row["source_id"] not in empty
        for folder, name in [_place(_under(Path(row["name"]), place))]
    )
    found: dict[Case, dict[str, list[dict[str, Any]]]] = {}
    for table, rows in tables.items():
        for row in rows:
            source = row["source_id"] if "source_id" in row else of_run[row["run_id"]]
            named = table != "sources" and "source_id" in row
            shown = {
                name: _plain(row[name], names, f"{place / cases[source][0]}/")
                for name, column in TABLES[table].columns.items()
                if name not in LEFT_OUT and not _is_usual(row, name, column)
            }
            place_of = {"source": names[source]} if named else {}
            found.setdefault(cases[source], {}).setdefault(table, []).append(place_of | shown)
    return found


def _check_apart(cases: Iterable[tuple[str, Case]]) -> None:
    """Raise ValueError if two cases of a store have the same run or the same bytes."""
    case_of: dict[str, Case] = {}
    for identity, case in cases:
        if (other := case_of.setdefault(identity, case)) != case:
            raise ValueError(
                f"{'/'.join(other)} and {'/'.join(case)} share {identity}: give one of them other "
                "ids, or name it in SECOND"
            )


def _is_usual(row: Mapping[str, Any], name: str, column: Column) -> bool:
    value = row[name]
    if name in REPEATED:
        return bool(value == row.get(REPEATED[name]))
    return value in (None, [], "") or value in (column.default, USUAL.get(name, column.default))


def _plain(value: Any, names: Mapping[str, str], place: str) -> Any:
    """A value of Arrow as JSON has it: paths within the case, ids of sources as their names."""
    match value:
        case Decimal():
            return f"{value.normalize():f}"
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case [(_, _), *_]:
            return {key: _plain(one, names, place) for key, one in value}
        case list():
            return [_plain(one, names, place) for one in value]
        case str():
            return names.get(value) or _HASH.sub(r"\1", value.replace(place, ""))
    return value


def _text(tables: Rows) -> str:
    parts = []
    for table, rows in tables.items():
        common = {
            name: value
            for name, value in rows[0].items()
            if len(rows) > 1 and all(name in row and row[name] == value for row in rows)
        }
        if common:
            parts.append(f'"{table}: all": {_row(common)}')
        own = [{key: row[key] for key in row if key not in common} for row in rows]
        texts = sorted(_row(row) for row in own)
        parts.append(f'"{table}": [\n' + ",\n".join(texts) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _row(row: Mapping[str, Any]) -> str:
    """In one line, if it fits."""
    parts = [f"{_json(name)}: {_json(value)}" for name, value in row.items()]
    whole = "{" + ", ".join(parts) + "}"
    return whole if len(whole) <= WIDTH else "{\n  " + ",\n  ".join(parts) + "\n}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def main(arguments: list[str]) -> None:
    """Write the expected files of all cases, or of those named."""
    if arguments[:1] != ["--write"]:
        sys.exit(__doc__)
    named = arguments[1:]
    wanted = [
        folder
        for folder in folders()
        if not named or any(f"{one}/".startswith(f"{folder}/") for one in named)
    ]
    found = read_now(1, wanted) | read_now(2, wanted)
    for folder in wanted:
        for case in cases(folder):
            if not named or folder in named or f"{folder}/{case}" in named:
                path = expected_path(folder, case)
                text = found.get((folder, case), "{}\n")
                if not path.exists() or path.read_text(encoding="utf-8") != text:
                    path.write_text(text, encoding="utf-8")
                    print(path.relative_to(LOGS.parent.parent))


if __name__ == "__main__":
    main(sys.argv[1:])
