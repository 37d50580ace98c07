"""Throws broken logs and results at the whole ingest.

`python -m tests.fuzz.fuzz_ingest [INPUTS] [--seed N] [--only WORD]`.

Each input begins with a log of a reader, or a file of a measuring tool, that is right: other
values, torn bytes, repeated and reordered lines, deep nesting, huge numbers, other encodings, parts
of other files. Batches of 50 are ingested into a store of their own. Printed is the first input of
each reader or tool that ended an ingest, broke a sum, left an impossible value, took over 20
seconds of CPU or 1 GiB, or found a defect of a reader.
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
from ingest.store.database import Store
from schemas.errors import RejectReason
from schemas.rows.row import stored_type
from schemas.rows.run import TOKEN_CLASSES, Outcome
from schemas.rows.tables import TABLES, arrow_schema
from schemas.units import Unit
from tests.conftest import record_text
from tests.fuzz import measured_seeds, seeds

BATCH = 50
CPU_SECONDS, MEMORY_BYTES = 20, 1 << 30

HOSTILE: tuple[Any, ...] = (
    *(None, True, -1, 0, 1.5, 2**53 + 1, 2**63, 10**30, 1e308, 10**400, 1e-320, float("nan")),
    *("", "x", "\ud800", "\0", "2026-13-45", "9999-12-31T23:59:59Z", "NaN", "1e999", "١٢"),
    *("x" * 3000, "9" * 5000, "{}", "v99.0.0-next", "1,2,3", ",", "</script>"),
    *([], [None], [[]], [1, "a"], {}, {"a": {}}, {"type": "result"}, {"": None}),
)
_TELLING = re.compile(
    r"model|id|time|token|cost|usd|duration|usage|count|total|stat|value|date", re.IGNORECASE
)
_TOKENS = (
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
        b"null",
        b"-1",
    ),
    *(
        b"1e999",
        b"NaN",
        b"9" * 5000,
        b'{"a":' * 300,
        b"```json\n",
        b"//x\n",
        b"\x1b[0m",
        b"\\ud800",
    ),
    *(b'{"type":"result"', b'"total_cost_usd":', b"\n[2025-11-30T17:40:06.201Z] [INFO] "),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"PK\x03\x04", b"\x1f\x8b\x08", record_text().encode()),
)
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp1252")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values inside a value."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            yield from places(item, (*path, key))


def with_other_value(value: Any, chance: random.Random) -> None:
    """Replace, remove, rename, shuffle or nest one inner value, often a model, time or amount."""
    every = list(places(value))
    if chance.random() < 0.5:
        every = [place for place in every if _TELLING.search(str(place[-1]))] or every
    if not every:
        return
    *outer, last = chance.choice(every)
    for key in outer:
        value = value[key]
    change = chance.random()
    if change < 0.6:
        value[last] = copy.deepcopy(chance.choice(HOSTILE))  # which later changes may go into
    elif change < 0.7:
        del value[last]
    elif change < 0.75:
        value[last] = chance.choice(list(value.values()) if isinstance(value, dict) else value)
    elif change < 0.8:
        value[last] = str(value[last])
    elif change < 0.9:
        for _ in range(chance.choice((3, 50, 150))):
            value[last] = [value[last]] if chance.random() < 0.5 else {"a": value[last]}
    elif isinstance(value, dict):
        value[f"{last}_of_2099"] = value.pop(last)
    else:
        chance.shuffle(value)


def with_other_values(data: bytes, chance: random.Random) -> bytes:
    """The log with other values; with another number or word where it is no JSON."""
    with suppress(ValueError, RecursionError):
        text = data.decode("utf-8", "replace")
        is_lines = data.startswith(b'{"')
        events = [json.loads(line) for line in (text.splitlines() if is_lines else [text])]
        for _ in range(chance.choice((1, 1, 2, 5))):
            with_other_value(events, chance)
        indent = None if len(events) > 1 else chance.choice((None, 1))
        return b"".join(json.dumps(event, indent=indent).encode() + b"\n" for event in events)
    words = list(re.finditer(rb"\d[\d.,]*|[A-Za-z_]{3,}", data))
    if not words:
        return data
    word, other = chance.choice(words), json.dumps(chance.choice(HOSTILE)).encode()
    return data[: word.start()] + other + data[word.end() :]


def with_other_bytes(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one thing wrong."""
    at, token = chance.randint(0, len(data)), chance.choice(_TOKENS)
    changes = (
        data[:at] + token + data[at:],
        data[:at] + token + data[at + 1 :],
        data[:at] + data[at + chance.randint(1, 40) :],
        data[:at],
        data[:at] + data[at : at + 200] * 2 + data[at:],
        data + token,
    )
    return chance.choice(changes)


def with_other_lines(data: bytes, chance: random.Random) -> bytes:
    """Lines repeated, reordered, left out or joined."""
    lines = data.splitlines(keepends=True)
    first, last = sorted((chance.randrange(len(lines) + 1), chance.randrange(len(lines) + 1)))
    part = lines[first:last]
    changes: tuple[list[bytes], ...] = (
        part * 2,
        [],
        chance.sample(part, len(part)),
        [b"".join(part).replace(b"\n", b"")],
    )
    return b"".join([*lines[:first], *chance.choice(changes), *lines[last:]])


_CHANGES = (*[with_other_values] * 2, with_other_lines, with_other_bytes)


def made(data: bytes, others: Sequence[Callable[[], bytes]], chance: random.Random) -> bytes:
    """A broken log: with other values alone, which its reader gets to see, or with any changes."""
    if chance.random() < 0.6:
        return with_other_values(data, chance)
    for _ in range(chance.choice((1, 1, 2, 3, 4))):
        data = chance.choice(_CHANGES)(data, chance)
    if chance.random() < 0.1:  # in the midst of it lines of another log
        lines, other = data.splitlines(keepends=True), chance.choice(others)()
        at = chance.randint(0, len(lines))
        data = b"".join((*lines[:at], *other.splitlines(keepends=True)[:9], *lines[at:]))
    if chance.random() < 0.05:
        return data.replace(b"\n", chance.choice((b"\r\n", b"\r")))
    if chance.random() < 0.05:
        return data.decode("utf-8", "replace").encode(chance.choice(_ENCODINGS), "replace")
    return data


class Wrong(NamedTuple):
    """What is wrong with an ingest.

    `source`: the name of the input, empty where it is not known which one it was.
    """

    kind: str
    detail: str
    source: str = ""


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
        "runs model_usage responses tool_calls file_changes claims statements measurements".split()
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


def in_child(inputs: Mapping[str, bytes]) -> list[Wrong]:
    """The same in a process with a bound on its CPU time.

    Says too where that or the memory did not suffice.
    """
    read, write = os.pipe()
    if not (child := os.fork()):
        os.close(read)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (4 * MEMORY_BYTES, 4 * MEMORY_BYTES))
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


@dataclass
class Tally:
    """What was wrong, first inputs kept in `folder`."""

    folder: Path
    told: list[str] = field(default_factory=list)

    def note(self, seed: str, wrong: Wrong, data: bytes) -> None:
        """Keep and print the first input of each kind, reader and place in the code."""
        what = f"{wrong.kind}: {seed}: {re.sub('[0-9]+', 'N', wrong.detail[-300:])}"
        if what not in self.told:
            self.told.append(what)
            self.folder.mkdir(parents=True, exist_ok=True)
            kept = self.folder / re.sub(r"\W+", "-", f"{len(self.told)} {wrong.kind} {seed}")
            kept.write_bytes(data)
            print(f"{wrong.kind}: {seed}: {wrong.detail[-1500:]}\n  {kept}", flush=True)


def fuzz(
    count: int,
    seed: object,
    these: Mapping[str, Callable[[], bytes]],
    run: Callable[[Mapping[str, bytes]], list[Wrong]],
    folder: Path,
) -> Tally:
    """Try so many inputs.

    Where something is wrong and no input is known for it, each of the batch is tried by itself.
    """
    tally, chance, names = Tally(folder), random.Random(str(seed)), list(these)
    for first in range(0, count, BATCH):
        batch: dict[str, bytes] = {}
        of: dict[str, str] = {}
        for number in range(first, min(first + BATCH, count)):
            name = names[number] if number < len(names) else chance.choice(names)
            source = f"{number}/{name.rpartition('/')[2].partition(',')[0]}"
            of[source] = name
            batch[source] = made(these[name](), list(these.values()), chance)
        found = run(batch)
        if any(not one.source for one in found):
            by_itself = ((source, one) for source in batch for one in run({source: batch[source]}))
            found += [one._replace(source=source) for source, one in by_itself]
        for one in found:
            source = one.source.partition("!")[0]
            data = batch[source] if source else pickle.dumps(batch)
            tally.note(of.get(source, "a batch"), one, data)
    return tally


def main() -> int:
    """Returns 1 where anything was wrong but a defect of a reader that became a reject."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.fuzz_ingest")
    parser.add_argument("inputs", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of all chance (default 0)")
    parser.add_argument("--only", default="", help="only seeds with this word in their names")
    asked = parser.parse_args()
    these = {name: seed for name, seed in our_seeds().items() if asked.only.lower() in name.lower()}
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    tally = fuzz(asked.inputs, asked.seed, these, in_child, folder / "wrong")
    print(f"{asked.inputs:,} inputs, {len(tally.told)} kinds of wrong")
    return any(not told.startswith("reader defect") for told in tally.told)


if __name__ == "__main__":
    sys.exit(main())
