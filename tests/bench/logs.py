"""Logs for the benchmarks: the result records of a store, over and over, each a run of its own.

A record is that of a real run, with its own id, session and duration, and one number at the end of
its summary. So lengths, layouts and claims of the summaries are distributed as in the store. How
long a text takes depends on what it says: words in any order would not tell.
"""

from __future__ import annotations

import json
import random
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ingest.pipeline import ingest
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from schemas.agents import CLAUDE_CODE
from schemas.text import paired

SAMPLES = Path(__file__).parents[2] / "sample_logs" / "claude_code"

Record = dict[str, Any]

_RECORDS = "select raw from runs where agent = $agent and record_kind = 'result' order by run_id"


def records_of(store: Path | None = None) -> list[Record]:
    """The result records of Claude Code in a store; without one, those of the sample logs.

    Raises StoreError for a file that is no store, and SystemExit where the store has none of these
    records. One that was mended when it was read is left out: it is no JSON.
    """
    if store is None:
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "samples.duckdb"
            ingest(read_paths([SAMPLES]), Store(made))
            return records_of(made)
    with Store(store).reading() as connection:
        found = connection.execute(_RECORDS, {"agent": CLAUDE_CODE.key}).fetchall()
    records = [record for (raw,) in found if (record := _parsed(raw)) is not None]
    if not records:
        raise SystemExit(
            f"{store} has no result records of Claude Code: name a store into which some "
            "were ingested."
        )
    return records


def made_of(records: Sequence[Record], count: int, seed: int = 1) -> Iterator[str]:
    """So many records as lines of JSON, each made of one drawn from these.

    The same ones for the same seed.
    """
    chance = random.Random(seed)
    for _ in range(count):
        yield json.dumps(
            _another(chance.choice(records), chance), separators=(",", ":"), ensure_ascii=False
        )


def write_lines(path: Path, records: Sequence[Record], count: int) -> None:
    """One file with a record on each line."""
    with path.open("w", encoding="utf-8") as file:
        for line in made_of(records, count):
            file.write(f"{line}\n")


def write_folder(folder: Path, records: Sequence[Record], count: int) -> None:
    """A folder of files with one record each, a thousand in each of its folders."""
    for number, line in enumerate(made_of(records, count)):
        if number % 1000 == 0:
            (folder / f"{number // 1000:04}").mkdir(parents=True)
        (folder / f"{number // 1000:04}" / f"{number:07}.json").write_text(line, encoding="utf-8")


def _parsed(raw: str) -> Record | None:
    try:
        value = paired(json.loads(raw))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _another(record: Record, chance: random.Random) -> Record:
    """The record as that of another run."""
    own = {
        "session_id": _uuid(chance),
        "duration_ms": round(record.get("duration_ms") or 0) + chance.randrange(1000),
    }
    if isinstance(record.get("result"), str):
        own["result"] = f"{record['result']} {chance.random():.6f}"
    return (
        {name: value for name, value in record.items() if name != "uuid"}
        | own
        | {"uuid": _uuid(chance)}
    )


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))
