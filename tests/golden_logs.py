"""Golden pairs of `tests/logs`: a log, and beside it the rows that must be read of it.

`tests/logs/<agent>/<case>.<ending>`, or a folder `<case>/` for logs of several files, has
`<case>.expected.json`; so have the cases of `measured/<tool>` and `loops/<kind>`. A case is named
after the break it catches. All cases of an agent are read in one ingest, so no two share a session
or a run's id. Cases with folders `1`, `2`, … grow, in a store of their own: each folder is copied
over the ones before, and then all is ingested.

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
    *"project repo_source".split(),
}
"""Columns of sources that change, copies of the log, sentences, what prices alone say, and what
follows from other columns (`test_projects`).
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

ALIKE = ("chains", "opentelemetry")
"""Folders where cases that grow have the same runs in another order, so each has a store."""

ARCHIVES = {".zip": "zip", ".eval": "zip", ".tar": "tar", ".gz": "gztar", ".xz": "xztar"}

WIDTH = 100

Rows = Mapping[str, list[dict[str, Any]]]


def folders() -> list[str]:
    """The folders of cases: one for each agent, measuring tool and kind of loop."""
    found = (path for pattern in ("*", "measured/*", "loops/*") for path in LOGS.glob(pattern))
    rooms = LOGS / "measured", LOGS / "loops"
    return sorted(_under(path, LOGS) for path in found if path.is_dir() and path not in rooms)


def cases(folder: str) -> list[str]:
    """The names of the cases of a folder."""
    return sorted({_case(path.name) for path in _inputs(LOGS / folder)})


def read_now(folder: str) -> dict[str, str]:
    """Case → the text that its expected file should have."""
    found: dict[str, str] = {}
    with TemporaryDirectory() as temporary:
        place = Path(temporary)
        growing = [path for path in _inputs(LOGS / folder) if _grows(path)]
        for batch in [[path] for path in growing] if folder in ALIKE else [growing] * bool(growing):
            store, grown = Store(place / f"{batch[0].name}.duckdb"), place / batch[0].name
            most = max(len(list(path.iterdir())) for path in batch)
            for number in range(1, most + 1):
                for path in batch:
                    if (path / str(number)).is_dir():
                        _lay(path / str(number), grown / path.name, MODIFIED + number)
                ingest(read_paths([grown]), store, Options(jobs=1))
            found |= _texts(rows_of(store, grown))
        store, shared = Store(place / "shared.duckdb"), place / "shared"
        if lay_shared(folder, shared):
            ingest(read_paths([shared]), store, Options(jobs=1))
            found |= _texts(rows_of(store, shared))
    return found


def lay_shared(folder: str, place: Path) -> list[Path]:
    """Write the files of all cases that share a store into a folder."""
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


def rows_of(store: Store, place: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
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
    names = {row["source_id"]: _under(Path(row["name"]), place) for row in tables["sources"]}
    empty = {row["source_id"] for row in tables["sources"] if row["kind"] == "empty"}
    tables["sources"] = [row for row in tables["sources"] if row["source_id"] not in empty]
    of_run = {row["run_id"]: names[row["source_id"]] for row in tables["runs"]}
    _check_apart((row["run_id"], _case(names[row["source_id"]])) for row in records)
    _check_apart(
        (row["source_id"], _case(_under(Path(row["name"]), place)))
        for row in files
        if row["source_id"] not in empty
    )
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for table, rows in tables.items():
        for row in rows:
            source = names[row["source_id"]] if "source_id" in row else of_run[row["run_id"]]
            place_of = {"source": source} if table != "sources" and "source_id" in row else {}
            shown = {
                name: _plain(row[name], names, f"{place}/")
                for name, column in TABLES[table].columns.items()
                if name not in LEFT_OUT and not _is_usual(row, name, column)
            }
            found.setdefault(_case(source), {}).setdefault(table, []).append(place_of | shown)
    return found


def _check_apart(cases: Iterable[tuple[str, str]]) -> None:
    """Raise ValueError if two cases have the same run or the same bytes."""
    case_of: dict[str, str] = {}
    for identity, case in cases:
        if (other := case_of.setdefault(identity, case)) != case:
            raise ValueError(f"{other} and {case} share {identity}: give one of them other ids")


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


def _texts(found: Mapping[str, Rows]) -> dict[str, str]:
    return {case: _text(tables) for case, tables in found.items()}


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
    for folder in folders():
        wanted = [one for one in arguments[1:] if f"{one}/".startswith(f"{folder}/")]
        if arguments[1:] and not wanted:
            continue
        found = read_now(folder)
        for case in cases(folder):
            if not wanted or folder in wanted or f"{folder}/{case}" in wanted:
                path = expected_path(folder, case)
                text = found.get(case, "{}\n")
                if not path.exists() or path.read_text(encoding="utf-8") != text:
                    path.write_text(text, encoding="utf-8")
                    print(path.relative_to(LOGS.parent.parent))


if __name__ == "__main__":
    main(sys.argv[1:])
