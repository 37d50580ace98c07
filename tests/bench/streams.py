"""How fast a core reads other agents' logs, beside `json.loads` of the same bytes.

`python -m tests.bench.streams [REPEATS]`.

Rollouts of Codex have the mix of lines of real ones: short, as where their texts were taken out
(380 bytes a line), and with texts, tool output and encrypted reasoning (1,700 bytes a line); TRAE's
trajectories are files of half a megabyte; events of Cursor and OpenCode are short. What is measured
is CPU time from the file to rows in the spool, in turns with the baseline, and the best time of
each counts: other programs only make both slower.
"""

from __future__ import annotations

import base64
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ingest.reading.read_source import read_source
from ingest.reading.tasks import Settings
from ingest.sources.files import Source
from ingest.store.read_result import PortionKey
from ingest.store.spool import SpoolWriter
from tests import test_codex, test_cursor, test_opencode, test_trae
from tests.documents import lines

TURNS = 40
CALLS_OF_TURN = 60
SESSIONS = 3
TRAJECTORIES = 12
TEXT = Path(__file__).read_text(encoding="utf-8") * 8


def rollout(session: int, *, with_texts: bool) -> Iterator[dict[str, Any]]:
    """The lines of one session.

    Of six lines two are counts of tokens, of which one repeats the other, and three are messages or
    output.
    """
    chance = random.Random(session)
    at = iter(range(10**9))

    def said(size: int) -> str:
        return (
            TEXT[(start := chance.randrange(3000)) : start + size]
            if with_texts
            else f"[REDACTED_TEXT len={size}]"
        )

    def line(kind: str, name: str | None, /, **payload: Any) -> dict[str, Any]:
        return test_codex.event(next(at) / 10, ({"type": name} if name else {}) | payload, kind)

    settings = {
        "sandbox_policy": {
            "type": "workspace-write",
            "writable_roots": ["/work"],
            "network_access": False,
        },
        "effort": "high",
    }
    settings |= {
        "collaboration_mode": {
            "mode": "default",
            "settings": {"model": "gpt-5-codex", "developer_instructions": said(2000)},
        }
    }
    yield test_codex.meta(
        test_codex.uuid7(test_codex.STARTED, session + 1), base_instructions={"text": said(13_000)}
    )
    for turn in range(1, TURNS + 1):
        yield line(
            "event_msg",
            "task_started",
            turn_id=test_codex.uuid7(test_codex.STARTED, session * 1000 + turn),
        )
        yield line("event_msg", "user_message", message=said(200), images=[])
        for call in range(CALLS_OF_TURN):
            used = test_codex.usage(turn * 90_000 + call * 1000, turn * 80_000, turn * 700 + call)
            window = {"used_percent": 2.0, "window_minutes": 300, "resets_at": 1771864834}
            limits = {
                "limit_id": "codex",
                "limit_name": None,
                "primary": window,
                "secondary": window,
                "credits": None,
                "plan_type": "pro",
            }
            tokens = {
                "info": {
                    "total_token_usage": used,
                    "last_token_usage": used,
                    "model_context_window": 258400,
                },
                "rate_limits": limits,
            }
            secret = base64.b64encode(chance.randbytes(900)).decode() if with_texts else None
            output = json.dumps(
                {"output": said(chance.choice((100, 1000, 8000))), "metadata": {"exit_code": 0}}
            )
            yield line(
                "turn_context",
                None,
                cwd="/work",
                approval_policy="never",
                model="gpt-5-codex",
                summary="auto",
                **settings,
            )
            yield line(
                "response_item",
                "reasoning",
                summary=[{"type": "summary_text", "text": said(200)}],
                encrypted_content=secret,
            )
            yield line("event_msg", "agent_reasoning", text=said(200))
            yield line("event_msg", "token_count", **tokens)
            yield line(
                "response_item",
                "function_call",
                name="shell",
                call_id=f"c{turn}.{call}",
                arguments=said(120),
            )
            yield line("event_msg", "token_count", **tokens)
            yield line(
                "response_item", "function_call_output", call_id=f"c{turn}.{call}", output=output
            )
            yield line(
                "response_item",
                "message",
                role="assistant",
                content=[{"type": "output_text", "text": said(300)}],
            )
        yield line(
            "event_msg", "task_complete", last_agent_message=f"{said(300)} Parsing is 2x faster."
        )


def rollouts(folder: Path, *, with_texts: bool) -> list[Path]:
    """Files of one session each."""
    paths = [folder / f"rollout-{with_texts}-{session}.jsonl" for session in range(SESSIONS)]
    for session, path in enumerate(paths):
        lines = (
            json.dumps(line, separators=(",", ":"))
            for line in rollout(session, with_texts=with_texts)
        )
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


def trajectories(folder: Path) -> list[Path]:
    """Files of one run each, indented as TRAE writes them."""
    paths = [folder / f"trajectory_{number}.json" for number in range(TRAJECTORIES)]
    for number, path in enumerate(paths):
        asked = {"input_messages": [{"role": "user", "content": TEXT[:4000]}]}
        calls = [test_trae.call("openai", "gpt-5", place) | asked for place in range(100)]
        path.write_text(
            json.dumps(test_trae.trajectory(*calls) | {"task": f"Task {number}"}, indent=2),
            encoding="utf-8",
        )
    return paths


def cursor_stream(session: int) -> Iterator[dict[str, Any]]:
    """Mostly pieces of thoughts, and tool calls."""
    name = test_codex.uuid7(test_codex.STARTED, session)
    yield from test_cursor.beginning(name)
    for number in range(2 * TURNS * CALLS_OF_TURN):
        thought = {
            "type": "thinking",
            "subtype": "delta",
            "text": TEXT[number % 3000 :][:20],
            "session_id": name,
        }
        yield from (
            thought | {"timestamp_ms": test_cursor.MIDDLE + 1000 * number + piece}
            for piece in range(6)
        )
        yield test_cursor.call("started", f"c{number}", number, name, args={"command": "ls"})
        yield test_cursor.call(
            "completed", f"c{number}", number, name, result={"success": {"stdout": TEXT[:200]}}
        )
    yield from (test_cursor.said("It is 2x faster.", name), test_cursor.result(1, name))


def opencode_stream(session: int) -> Iterator[dict[str, Any]]:
    """Steps of one tool call each."""
    for number in range(TURNS * CALLS_OF_TURN):
        yield from test_opencode.step(
            number, "tool-calls", session=test_opencode.session_id(test_opencode.BEGAN + session)
        )


def streams(folder: Path, name: str, made: Callable[[int], Iterator[dict[str, Any]]]) -> list[Path]:
    """Files of one run each."""
    paths = [folder / f"{name}-{session}.jsonl" for session in range(SESSIONS)]
    for session, path in enumerate(paths):
        path.write_text(lines(*made(session)), encoding="utf-8")
    return paths


def ours(paths: list[Path]) -> None:
    """Read the files into a spool, as a worker does."""
    with tempfile.TemporaryDirectory() as folder:
        spool = SpoolWriter(Path(folder), "bench")
        results = [
            read_source(Source(path.name, path=path), PortionKey(path.name), Settings(), spool)
            for path in paths
        ]
        spool.flush()
    assert all(result.records == 1 and not result.rejected for result in results), results


def baseline(paths: list[Path]) -> None:
    """Parse every line, or the file where it is one object."""
    for path in paths:
        with path.open("rb") as file:
            for text in file if path.suffix == ".jsonl" else (file.read(),):
                json.loads(text)


def seconds(work: Callable[[list[Path]], None], paths: list[Path]) -> float:
    """CPU time of the process."""
    started = time.process_time()
    work(paths)
    return time.process_time() - started


def main(repeats: int = 7) -> None:
    """Print megabytes per second and core, and the time as a multiple of the baseline's."""
    print(f"{'':28}{'MB':>6}{'MB/s':>8}{'json.loads':>12}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        logs = {
            "rollout, short lines": rollouts(folder, with_texts=False),
            "rollout, texts and output": rollouts(folder, with_texts=True),
            "TRAE, indented": trajectories(folder),
            "Cursor, stream-json": streams(folder, "cursor", cursor_stream),
            "OpenCode, run": streams(folder, "opencode", opencode_stream),
        }
        for what, paths in logs.items():
            size = sum(path.stat().st_size for path in paths) / 1e6
            times = [(seconds(ours, paths), seconds(baseline, paths)) for _ in range(repeats)]
            mine, base = map(min, zip(*times, strict=True))
            print(
                f"{what:28}{size:6.1f}{size / mine:8.0f}{size / base:12.0f}{mine / base:8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
