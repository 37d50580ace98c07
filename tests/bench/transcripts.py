"""How fast transcripts of Claude Code are read into a store, beside the real `ccusage`.

`python -m tests.bench.transcripts [RESPONSES …]`.

Both read the same generated files, in turns, with the same number of processors. Lines have the
sizes of real ones: a response is written on two lines of 1.7 kB on average, and lines of tool
output, of 6 kB on average, stand between. Three cases: cold (no store), nothing changed, one
session longer. `CCUSAGE` names the program; without it only our times are printed. `AGENTSVIEW`
names that program: its sync, which fills a store too, runs once. Each time is a whole process from
its start, by the clock and of the processors (with all processes that it started), with the memory
of the largest; the median of a few.

`least` is the least that any reader in Python needs that keeps what pydantic checked: a process
imports the libraries, reads the files, hashes them, and parses the lines with `"usage"`. Nothing is
stored.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

RESPONSES_OF_SESSION = 80
BEGAN = datetime(2026, 6, 1, tzinfo=UTC)
TEXT = Path(__file__).read_text(encoding="utf-8") * 8
REPEATS = 3
LEAST = "least"
COMMAND = "claude daily --json --offline --timezone UTC --mode calculate"

Line = dict[str, Any]


def session(number: int, responses: int = RESPONSES_OF_SESSION, first: int = 0) -> Iterator[str]:
    """The lines of a session: prompts, responses of two lines each, tool output."""
    chance = random.Random(f"{number} {first}")
    at = BEGAN + timedelta(minutes=17 * number, seconds=20 * first)
    lines = 0

    def line(kind: str, message: Line | None, /, **others: Any) -> str:
        nonlocal lines, at
        lines += 1
        at += timedelta(seconds=chance.randrange(1, 9))
        around = {
            "parentUuid": _uuid(number, first, lines - 1),
            "isSidechain": False,
            "userType": "external",
            "cwd": f"/work/p{number % 40}",
        }
        around |= {
            "sessionId": _uuid(number, 0, 0),
            "version": "2.1.212",
            "gitBranch": "main",
            "type": kind,
        }
        around |= {"message": message} if message else {}
        around |= others | {
            "uuid": _uuid(number, first, lines),
            "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        return json.dumps(around, separators=(",", ":"))

    def said(size: float) -> str:
        return TEXT[(start := chance.randrange(2000)) : start + int(size)]

    yield line("user", {"role": "user", "content": said(150)})
    for response in range(first, first + responses):
        usage = _usage(chance, response)
        message = {
            "model": "claude-opus-4-6",
            "id": f"msg_{number}_{response}",
            "type": "message",
            "role": "assistant",
        }
        request = f"req_{number}_{response}"
        texts = (
            {"type": "text", "text": said(chance.lognormvariate(6.2, 1))},
            _call(response, said(chance.lognormvariate(6.4, 1))),
        )
        for stop, content in zip((None, "tool_use"), texts, strict=True):
            whole = message | {
                "content": [content],
                "stop_reason": stop,
                "stop_sequence": None,
                "usage": usage,
            }
            yield line("assistant", whole, requestId=request)
        output = said(chance.lognormvariate(7.6, 1.2))
        result = {
            "tool_use_id": f"toolu_{response}",
            "type": "tool_result",
            "content": output,
            "is_error": chance.random() < 0.05,
        }
        yield line(
            "user",
            {"role": "user", "content": [result]},
            toolUseResult={"stdout": output, "stderr": "", "interrupted": False},
        )
        yield line(
            "progress",
            None,
            data={"type": "hook_progress", "hookEvent": "PostToolUse", "output": said(600)},
        )


def _usage(chance: random.Random, response: int) -> Line:
    written = chance.randrange(200, 3000)
    return {
        "input_tokens": chance.randrange(1, 12),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": 18_000 + 1500 * response,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": chance.randrange(50, 2500),
        "service_tier": "standard",
        "inference_geo": "not_available",
    }


def _call(response: int, command: str) -> Line:
    return {
        "type": "tool_use",
        "id": f"toolu_{response}",
        "name": "Bash",
        "input": {"command": command, "description": "Run it"},
    }


def _uuid(number: int, first: int, line: int) -> str:
    return f"{number:08x}-{first:04x}-4000-8000-{line:012x}"


def write(folder: Path, responses: int) -> None:
    """A folder like `~/.claude` with so many responses."""
    for number in range(responses // RESPONSES_OF_SESSION):
        path = folder / "projects" / f"-work-p{number % 40}" / f"{_uuid(number, 0, 0)}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in session(number)), encoding="utf-8")


def append(folder: Path) -> None:
    """Make one session longer."""
    path = next(iter(sorted((folder / "projects").rglob("*.jsonl"))))
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in session(0, 3, RESPONSES_OF_SESSION))


def read_least(folder: Path) -> int:
    """Read what has to be read, and store nothing: the number of responses' lines."""
    import duckdb  # noqa: F401, PLC0415  (part of what is measured)
    import pyarrow  # noqa: F401, PLC0415
    from pydantic_core import from_json  # noqa: PLC0415

    lines = 0
    for path in folder.rglob("*.jsonl"):
        data = path.read_bytes()
        hashlib.sha256(data)
        at = 0
        while (found := data.find(b'"usage"', at)) >= 0:
            start, end = data.rfind(b"\n", 0, found) + 1, data.find(b"\n", found)
            from_json(data[start : end if end >= 0 else len(data)], cache_strings="keys")
            lines, at = lines + 1, (end if end >= 0 else len(data))
    return lines


class Usage(NamedTuple):
    """What a whole process took.

    By the clock, of the processors, and the memory of the largest of it and the processes that it
    started.
    """

    wall: float
    cpu: float
    megabytes: float


def usage(command: Sequence[str | Path], **environment: str) -> Usage:
    """Run a process. Raises CalledProcessError."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return Usage(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measure(responses: int) -> None:
    """Print the figures for so many responses."""
    with tempfile.TemporaryDirectory() as made:
        folder, store = Path(made) / "claude", Path(made) / "store.duckdb"
        write(folder, responses)
        size = sum(path.stat().st_size for path in folder.rglob("*.jsonl"))
        print(f"{responses:,} responses, {size / 1e6:,.0f} MB")
        ours: list[str | Path] = [
            sys.executable,
            "-m",
            "app.cli.main",
            "ingest",
            folder,
            "--db",
            store,
        ]
        theirs = [os.environ["CCUSAGE"], *COMMAND.split()] if "CCUSAGE" in os.environ else []
        least: list[str | Path] = [sys.executable, "-m", "tests.bench.transcripts", LEAST, folder]
        kinds = (
            "ccusage",
            "agentsview sync",
            LEAST,
            "cold",
            "nothing changed",
            "one session longer",
        )
        times: dict[str, list[Usage]] = {kind: [] for kind in kinds}
        if "AGENTSVIEW" in os.environ:
            home = {
                "HOME": made,
                "AGENTSVIEW_NO_DAEMON": "1",
                "CLAUDE_PROJECTS_DIR": str(folder / "projects"),
            }
            times["agentsview sync"].append(usage([os.environ["AGENTSVIEW"], "sync"], **home))
        for _ in range(REPEATS):
            if theirs:
                times["ccusage"].append(usage(theirs, CLAUDE_CONFIG_DIR=str(folder), LOG_LEVEL="0"))
            times[LEAST].append(usage(least))
            store.unlink(missing_ok=True)
            times["cold"].append(usage(ours))
            times["nothing changed"].append(usage(ours))
        append(folder)
        times["one session longer"].append(usage(ours))
        base = _medians(times["ccusage"]) if theirs else None
        for name, found in times.items():
            if found:
                wall, cpu, megabytes = _medians(found)
                beside = (
                    f"  {wall / base.wall:5.2f} and {cpu / base.cpu:5.2f} x ccusage" if base else ""
                )
                print(
                    f"  {name:<20} {wall:8.2f} s, {cpu:8.2f} s of the processors, "
                    f"{megabytes:6,.0f} MB{beside}"
                )


def _medians(times: Sequence[Usage]) -> Usage:
    return Usage(*map(statistics.median, zip(*times, strict=True)))


if __name__ == "__main__":
    if sys.argv[1:2] == [LEAST]:
        read_least(Path(sys.argv[2]))
        sys.exit()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed is compiled
    for wanted in sys.argv[1:] or ("10000", "100000"):
        measure(int(wanted))
