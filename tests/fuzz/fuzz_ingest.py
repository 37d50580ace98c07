"""Throws broken logs and results at the whole ingest.

`python -m tests.fuzz.fuzz_ingest [INPUTS] [--seed N] [--only WORD]`.

Each input begins with a log of a reader, or a file of a measuring tool, that is right
(`tests.fuzz.seeds`): other values, torn bytes, repeated and reordered lines, deep nesting, huge
numbers, other encodings, parts of other files. Batches of 50 are ingested into a store of their
own, and every tenth input also into one for itself. It is told of each reader or tool how many
inputs ended an ingest, broke a sum, left an impossible value, took over 20 seconds of CPU or 1 GiB,
or found a defect of a reader; the first input of each is kept.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import pickle
import random
import re
import resource
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from app.cli.doctor import BALANCES
from ingest.pipeline import IngestReport, Options, ingest
from ingest.sources.files import Source
from ingest.store import opening
from ingest.store.database import Store
from schemas.errors import RejectReason
from schemas.rows.row import stored_type
from schemas.rows.run import TOKEN_CLASSES, Outcome
from schemas.rows.tables import TABLES, arrow_schema
from schemas.units import Unit
from tests.conftest import record
from tests.empty_store import begin_as_copy_of, write_empty
from tests.fuzz import measured_seeds, seeds

BATCH = 50
ALONE = 10
"""One of so many inputs is ingested for itself too."""

CPU_SECONDS = 20
MEMORY_BYTES = 1 << 30

HOSTILE: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        -1,
        0,
        1.5,
        2**53,
        2**53 + 1,
        2**63,
        10**30,
        1e308,
        -1e308,
        10**400,
        1e-320,
        float("nan"),
        float("inf"),
    ),
    *(
        "",
        "x",
        "\ud800",
        "\0",
        "2026-13-45",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00+14:00",
        "NaN",
        "1e999",
        "v99.0.0-next",
        ",",
    ),
    *(
        "x" * 3000,
        "9" * 5000,
        "</script>",
        "{}",
        [],
        [None],
        [[]],
        [1, "a"],
        {},
        {"a": {}},
        {"type": "result"},
        {"": None},
    ),
)
_NUMBERS = (
    "-1",
    "1e999",
    "NaN",
    "-inf",
    "9" * 400,
    "9" * 5000,
    "1,2,3",
    "1.2.3",
    ".",
    ",",
    "",
    "0",
    "9007199254740993",
    "1e-400",
    "١٢",
)
_TELLING = re.compile(
    r"model|id|time|token|cost|usd|duration|usage|count|total|stat|value|date", re.IGNORECASE
)
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp1252")


_TOKENS = (
    *(b"\x1b[0m", b'{"type":', b'"},\n'),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"\\",
        b",",
        b":",
        b"\n",
        b"\r\n",
        b"\0",
        b"\xff",
        b"//x\n",
        b"```json\n",
        b"null",
        b"-1",
        b"1e999",
    ),
    *(
        b'{"type":"result"',
        b'"total_cost_usd":',
        b"\n[2025-11-30T17:40:06.201Z] [INFO] ",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"NaN",
    ),
    *(b'{"a":' * 300, b"9" * 5000, "…🎉".encode(), b"\\ud800", b"PK\x03\x04", b"\x1f\x8b\x08"),
)


_RECORD = json.dumps(record(), separators=(",", ":")).encode()
_APPENDED = (
    _RECORD,
    json.dumps(record(), indent=2).encode(),
    b'{"type":"system","subtype":"init"}\n' + _RECORD,
    b"[1, 2]",
)


def with_other_bytes(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one thing wrong."""
    at, to = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
    changes: tuple[Callable[[], bytes], ...] = (
        lambda: data[:at] + chance.choice(_TOKENS) + data[at:],
        lambda: data[:at] + chance.choice(_TOKENS) + data[at + 1 :],
        lambda: data[:at] + data[min(to, at + 40) :],
        lambda: data[:at],
        lambda: data[:at] + data[at : at + 200] * 2 + data[at:],
        lambda: data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :],
        lambda: data + chance.choice(_APPENDED),
    )
    return chance.choice(changes)()


class Wrong(NamedTuple):
    """What is wrong with an ingest.

    `source`: the name of the input, empty where it is not known which one it was.
    """

    kind: str
    detail: str
    source: str = ""


@dataclass
class Tally:
    """What was tried, by reader or tool, and what was wrong with it."""

    folder: Path
    inputs: Counter[str] = field(default_factory=Counter)
    wrong: dict[str, Counter[str]] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def note(self, seed: str, wrong: Wrong, data: bytes) -> None:
        """Count it, and keep the first input of each kind, reader and place in the code."""
        kinds = self.wrong.setdefault(seed, Counter())
        kinds[wrong.kind] += 1
        kept = self.folder / re.sub(r"\W+", "-", f"{wrong.kind} {seed} {kinds[wrong.kind]}")
        what = f"{wrong.kind}: {seed}: {re.sub('[0-9]+', 'N', wrong.detail[-300:])}"
        if what not in self.told:
            self.told.append(what)
            self.folder.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(data)
            print(f"{wrong.kind}: {seed}: {wrong.detail[-1500:]}\n  {kept}", flush=True)

    def table(self) -> str:
        """One line for each reader and tool with something wrong, and the sum."""
        kinds = sorted({kind for found in self.wrong.values() for kind in found})
        lines: list[tuple[str, ...]] = [("reader or tool", "inputs", *kinds)]
        lines += [
            (seed, f"{self.inputs[seed]:,}", *(str(found[kind]) for kind in kinds))
            for seed, found in sorted(self.wrong.items())
        ]
        sums = (str(sum(found[kind] for found in self.wrong.values())) for kind in kinds)
        lines.append((f"all {len(self.inputs)}", f"{self.inputs.total():,}", *sums))
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values inside a value."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in inner:
        yield (*path, key)
        yield from paths(item, (*path, key))


def with_other_value(value: Any, chance: random.Random) -> None:
    """Replace, remove, rename, shuffle or nest one inner value.

    Every second time, the value is one of models, times or amounts.
    """
    places = list(paths(value))
    if chance.random() < 0.5:
        places = [place for place in places if _TELLING.search(str(place[-1]))] or places
    if not places:
        return
    *outer, last = chance.choice(places)
    for key in outer:
        value = value[key]
    change = chance.random()
    if change < 0.6:
        value[last] = copy.deepcopy(chance.choice(HOSTILE))  # which later changes may go into
    elif change < 0.7:
        del value[last]
    elif change < 0.75:
        value[last] = value[
            chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
        ]
    elif change < 0.8:
        value[last] = (
            str(value[last]) if isinstance(value[last], int | float) else len(str(value[last]))
        )
    elif change < 0.9:
        for _ in range(chance.choice((3, 50, 150))):
            value[last] = [value[last]] if chance.random() < 0.5 else {"a": value[last]}
    elif isinstance(value, dict):
        value[f"{last}_of_2099"] = value.pop(last)
    else:
        chance.shuffle(value)


def with_other_values(data: bytes, chance: random.Random) -> bytes:
    """The log with other values; as it is where it is no JSON."""
    with suppress(ValueError, RecursionError):
        text = data.decode("utf-8", "replace")
        events = (
            [json.loads(line) for line in text.splitlines()]
            if data.startswith(b'{"')
            else [json.loads(text)]
        )
        for _ in range(chance.choice((1, 1, 2, 5))):
            with_other_value(events, chance)
        indent = None if len(events) > 1 else chance.choice((None, 1, 2))
        return b"".join(
            json.dumps(event, indent=indent, separators=(",", ":")).encode() + b"\n"
            for event in events
        )
    return with_other_numbers(data, chance)


def with_other_numbers(data: bytes, chance: random.Random) -> bytes:
    """Another number in one place, or another word."""
    places = list(re.finditer(rb"\d[\d.,]*|[A-Za-z_]{3,}", data))
    if not places:
        return data
    place = chance.choice(places)
    return data[: place.start()] + chance.choice(_NUMBERS).encode() + data[place.end() :]


def with_other_lines(data: bytes, chance: random.Random) -> bytes:
    """Lines repeated, reordered, left out or joined."""
    lines = data.splitlines(keepends=True)
    first, last = sorted((chance.randrange(len(lines) + 1), chance.randrange(len(lines) + 1)))
    part = lines[first:last]
    changed: Callable[[], list[bytes]] = chance.choice(
        (
            lambda: lines[:last] + part + lines[last:],
            lambda: lines[:first] + lines[last:],
            lambda: lines[:first] + chance.sample(part, len(part)) + lines[last:],
            lambda: [*lines[:first], b"".join(part).replace(b"\n", b""), *lines[last:]],
            lambda: lines * chance.choice((2, 3)),
        )
    )
    return b"".join(changed())


def with_key_twice(data: bytes, chance: random.Random) -> bytes:
    """A key of a JSON object twice, with two values."""
    keys = list(re.finditer(rb'"\w+"\s*:', data))
    if not keys:
        return data
    key = chance.choice(keys)
    return (
        data[: key.start()]
        + key[0]
        + json.dumps(chance.choice(HOSTILE)).encode()
        + b","
        + data[key.start() :]
    )


def in_another_encoding(data: bytes, chance: random.Random) -> bytes:
    """The log in another encoding, or with the line ends of another system."""
    if chance.random() < 0.4:
        return data.replace(b"\n", chance.choice((b"\r\n", b"\r")))
    return data.decode("utf-8", "replace").encode(chance.choice(_ENCODINGS), "replace")


_CHANGES = (
    *[with_other_values] * 5,
    with_other_numbers,
    *[with_other_lines] * 3,
    *[with_other_bytes] * 3,
    with_key_twice,
)


def made(data: bytes, others: Sequence[Callable[[], bytes]], chance: random.Random) -> bytes:
    """A broken log: with other values alone, or with any changes.

    The reader gets to see other values. Sometimes lines of another log are added.
    """
    if chance.random() < 0.6:
        return with_other_values(data, chance)
    for _ in range(chance.choice((1, 1, 2, 3, 4))):
        data = chance.choice(_CHANGES)(data, chance)
    if chance.random() < 0.1:
        other, lines = (
            chance.choice(others)().splitlines(keepends=True),
            data.splitlines(keepends=True),
        )
        at = chance.randint(0, len(lines))
        data = b"".join((*lines[:at], *other[: chance.randint(0, len(other))], *lines[at:]))
    return in_another_encoding(data, chance) if chance.random() < 0.1 else data


def our_seeds() -> Mapping[str, Callable[[], bytes]]:
    """Reader or tool → a log or a file of results that is right."""
    files = {name: partial(str.encode, text) for name, text in measured_seeds.MEASURED.items()}
    return {name: partial(seeds.seed, name) for name in seeds.NAMES} | files


def ingested(inputs: Mapping[str, bytes], folder: Path) -> list[Wrong]:
    """What is wrong with an ingest of these into a new store."""
    store = Store(folder / "fuzz.duckdb", wait_seconds=5)
    try:
        report = ingest(
            (Source(name, data) for name, data in inputs.items()), store, Options(jobs=1)
        )
    except Exception:
        return [Wrong("traceback", traceback.format_exc(limit=-4, chain=False))]
    found = list(_of_report(report, inputs))
    with store.reading() as connection:
        return found + list(_of_store(connection))


def _of_report(report: IngestReport, inputs: Mapping[str, bytes]) -> Iterator[Wrong]:
    for error in report.unreadable:
        yield Wrong("unreadable", str(error))
    for source in report.sources:
        if (
            source.documents
            != source.accepted + source.duplicates + source.rejected + source.ignored
            or source.ignored < 0
        ):
            yield Wrong("broken sum", f"documents: {source}", source.name)
    if missing := inputs.keys() - {source.name.partition("!")[0] for source in report.sources}:
        yield Wrong("broken sum", f"without a report: {missing}")


def _of_store(connection: duckdb.DuckDBPyConnection) -> Iterator[Wrong]:
    for balance in BALANCES:
        if balance.sql.startswith("select count(*) from sources"):
            for (name,) in connection.execute(
                balance.sql.replace("count(*)", "name", 1)
            ).fetchall():
                yield Wrong("broken sum", balance.broken, name)
    for total in ("cost_own_usd", "cost_list_usd", *TOKEN_CLASSES):
        [pair] = connection.execute(
            f"select (select sum({total}) from runs), (select sum({total}) from v_runs)"
        ).fetchall()
        if pair[0] != pair[1]:
            yield Wrong("broken sum", f"runs.{total} and v_runs: {pair}")
    for tokens in TOKEN_CLASSES:
        for name, of_run, of_models in connection.execute(
            _OF_MODELS.format(tokens=tokens)
        ).fetchall():
            yield Wrong(
                "broken sum", f"{tokens}: the run has {of_run:,}, its models {of_models:,}", name
            )
    for table, column, name, value in connection.execute(_impossible_values()).fetchall():
        yield Wrong("impossible value", f"{table}.{column} = {value}", name)
    rejected = connection.execute(
        "select name, reason, detail from rejects join sources using (source_id)"
    ).fetchall()
    for name, reason, detail in rejected:
        if reason == RejectReason.READER_DEFECT:
            yield Wrong("reader defect", detail, name)
        elif reason == RejectReason.INVALID_RECORD and ": " not in detail:
            yield Wrong("reject without a place", detail, name)


_OF_MODELS = """
    select sources.name, runs.{tokens}, of_models.total
    from runs join sources using (source_id)
    join (select run_id, sum({tokens}) as total from model_usage group by run_id having count(*) = count({tokens})) as of_models
    using (run_id)
    where runs.{tokens} <> of_models.total"""  # noqa: E501


def _impossible_values() -> str:
    """SQL for (table, column, name of the source, value) of values that nothing can have."""
    outcomes = ", ".join(repr(str(outcome)) for outcome in Outcome)
    parts = [
        (
            "select 'runs', 'outcome', name, outcome from runs join sources using (source_id) "
            f"where outcome not in ({outcomes})"
        )
    ]
    for table in (
        "runs",
        "model_usage",
        "responses",
        "tool_calls",
        "file_changes",
        "claims",
        "statements",
        "measurements",
    ):
        row = TABLES[table]
        joined = "join runs using (run_id) " if "source_id" not in row.columns else ""
        for column in arrow_schema(row):
            place, kind = f"{table}.{column.name}", str(column.type)
            is_cost = (
                stored_type(row, column.name).unit is Unit.USD
                and "delta" not in column.name
                and "saved" not in column.name
            )
            wrong = {
                "int64": f"{place} < 0" if column.name != "record_rank" else "",
                "double": f"not isfinite({place})",
                "timestamp[us, tz=UTC]": f"year({place}) not between 2000 and 2100",
                "decimal128(18, 9)": f"{place} < 0" if is_cost else "",
            }.get(kind)
            if wrong:
                parts.append(
                    f"select '{table}', '{column.name}', name, {place}::varchar from {table} "
                    f"{joined}join sources using (source_id) where {wrong}"
                )
    return " union all ".join(parts)


def in_child(inputs: Mapping[str, bytes], empty: Path) -> list[Wrong]:
    """The same in a process with a bound on its CPU time.

    Says too where that or the memory did not suffice.
    """
    read, write = os.pipe()
    if not (child := os.fork()):
        os.close(read)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (4 * MEMORY_BYTES, 4 * MEMORY_BYTES))
        opening.begin_file = begin_as_copy_of(lambda: empty)  # type: ignore[assignment]
        with tempfile.TemporaryDirectory() as folder, os.fdopen(write, "wb") as out:
            pickle.dump(ingested(inputs, Path(folder)), out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        said = answer.read()
    _, status, usage = os.wait4(child, 0)
    found: list[Wrong] = pickle.loads(said) if said else [Wrong("died", f"status {status}")]
    if usage.ru_utime + usage.ru_stime >= CPU_SECONDS:
        found = [Wrong("over time", f"{usage.ru_utime + usage.ru_stime:.0f} s of CPU")]
    if usage.ru_maxrss << 10 > MEMORY_BYTES:
        found.append(Wrong("over memory", f"{usage.ru_maxrss >> 10} MiB"))
    return found


def fuzz(
    count: int,
    seed: object,
    these: Mapping[str, Callable[[], bytes]],
    run: Callable[[Mapping[str, bytes]], list[Wrong]],
    folder: Path,
) -> Tally:
    """Try so many inputs.

    What cannot be told of one input of a batch is looked for in each of them.
    """
    tally, chance, names = Tally(folder), random.Random(str(seed)), list(these)
    for first in range(0, count, BATCH):
        batch: dict[str, bytes] = {}
        of: dict[str, str] = {}
        for number in range(first, min(first + BATCH, count)):
            name = names[number % len(names)] if number < len(names) else chance.choice(names)
            source = f"{number}/{name.rpartition('/')[2].partition(',')[0]}"
            of[source] = name
            tally.inputs[name] += 1
            batch[source] = made(these[name](), list(these.values()), chance)
        found = run(batch)
        alone = (
            list(batch)
            if any(not one.source for one in found)
            else chance.sample(list(batch), max(1, len(batch) // ALONE))
        )
        by_itself = [
            one._replace(source=source) for source in alone for one in run({source: batch[source]})
        ]
        for one in {*found, *by_itself}:
            if one.source:
                source = one.source.partition("!")[0]
                tally.note(of[source], one, batch[source])
        if len(by_itself) == 0 and (unknown := [one for one in found if not one.source]):
            tally.note("a whole batch", unknown[0], pickle.dumps(batch))
    return tally


def tried(
    count: int, seed: object, these: Mapping[str, Callable[[], bytes]], folder: Path
) -> Tally:
    """The same with each ingest in a process of its own."""
    with tempfile.TemporaryDirectory() as made_once:
        empty = write_empty(Path(made_once, "empty.duckdb"))
        return fuzz(count, seed, these, lambda inputs: in_child(inputs, empty), folder)


def main() -> int:
    """Returns 1 where anything was wrong but a defect of a reader that became a reject."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.fuzz_ingest", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("inputs", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of all chance (default 0)")
    parser.add_argument("--only", default="", help="only seeds with this word in their names")
    asked = parser.parse_args()
    these = {name: seed for name, seed in our_seeds().items() if asked.only.lower() in name.lower()}
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    tally = tried(asked.inputs, asked.seed, these, folder)
    print(tally.table())
    return any(kind != "reader defect" for found in tally.wrong.values() for kind in found)


if __name__ == "__main__":
    sys.exit(main())
