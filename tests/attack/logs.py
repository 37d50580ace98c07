"""Logs that attacks ingest: few, but of every kind, so that every table of the store gets rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import record, record_text

RESULT = """Optimized the attention kernel: **3.17x speedup** (measured: 100 ms → 31.5 ms per call), all 12 tests pass.

| batch | before | after |
|---|---|---|
| 1 | 12.0 ms | 4.1 ms |

Modified `src/kernel.py` (+12, -3). Committed as 4f2a9c1."""  # noqa: E501

PRICES = """[[price]]
model = "claude-opus-4-6"
input = 1.25
output = 2.5
cache_read = 0.1
cache_write = 1.5
"""


def write_logs(folder: Path, name: str, runs: int = 12, *, chained: bool = False) -> Path:
    """A folder of logs, all its runs called by `name`.

    A file of records, an event stream, a log that is cut off. Returns it.

    `chained`: the records belong to one session and each continues the totals of the one before it.
    """
    folder.mkdir(parents=True)
    (folder / f"{name}.jsonl").write_text(
        "\n".join(_line(name, number, chained=chained) for number in range(runs - 1)),
        encoding="utf-8",
    )
    (folder / f"{name}-stream.jsonl").write_text(
        "\n".join(map(json.dumps, _stream(name))), encoding="utf-8"
    )
    (folder / f"{name}-cut.json").write_text(
        record_text(result=f"{name} was cut off.")[:-200], encoding="utf-8"
    )
    return folder


def write_long_logs(folder: Path, name: str, files: int, runs: int) -> Path:
    """Files of more than 4 MB each, for several processes to read."""
    folder.mkdir(parents=True)
    text = "Nothing to tell. " * (4_500_000 // (17 * runs))
    for file in range(files):
        lines = (
            record_text(
                uuid=f"{name}-{file}-{number}", session_id=f"{name}-{file}-{number}", result=text
            )
            for number in range(runs)
        )
        (folder / f"{name}-{file}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def write_lines(path: Path, name: str, lines: int) -> Path:
    """One file with so many records of 1.5 kB, one on a line.

    From some 90,000 on several processes read it in portions.
    """
    path.parent.mkdir(parents=True)
    one = record_text(uuid="UUID", session_id="UUID", result="Nothing to tell. " * 60)
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            file.write(one.replace("UUID", f"{name}-{number}") + "\n")
    return path


def mend(folder: Path, name: str) -> None:
    """Write the log that was cut off whole, as a person would.

    What was rejected of it can be retried.
    """
    (folder / f"{name}-cut.json").write_text(
        record_text(uuid=f"{name}-cut", session_id=f"{name}-cut"), encoding="utf-8"
    )


def _line(name: str, number: int, *, chained: bool) -> str:
    session = f"{name}-chain" if chained else f"{name}-{number}"
    cost = 0.25 * (number + 1)
    usage = {
        "claude-opus-4-6": record()["modelUsage"]["claude-opus-4-6"]
        | {"costUSD": cost, "outputTokens": 20 * (number + 1)}
    }
    return record_text(
        uuid=f"{name}-{number}",
        session_id=session,
        total_cost_usd=cost,
        modelUsage=usage,
        result="" if number else RESULT,
    )


def _stream(name: str) -> list[dict[str, Any]]:
    session = f"{name}-stream"
    block = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "…"}
    return [
        {
            "type": "system",
            "subtype": "init",
            "cwd": "/srv/app",
            "session_id": session,
            "tools": ["Bash"],
            "model": "claude-opus-4-6",
        },
        {
            "type": "assistant",
            "session_id": session,
            "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Bash"}]},
        },
        {
            "type": "user",
            "session_id": session,
            "message": {"content": [block]},
            "timestamp": "2026-05-11T06:34:05.000Z",
        },
        record(uuid=f"{name}-last", session_id=session, result=RESULT),
    ]
