"""Active time: of a session's wall time, that in which the agent worked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from tests.claude_lines import SESSION, reply, user
from tests.conftest import record
from tests.documents import ingested, lines, read_log

NIGHT = 8 * 3600


def times(store: Store, folder: Path, *events: dict[str, Any]) -> tuple[int, int]:
    """(wall, active) in seconds of the one run."""
    [run] = ingested(store, folder, log=lines(*events))
    return run["duration_ms"] // 1000, run["active_ms"] // 1000


def answered(number: int, second: int) -> dict[str, Any]:
    return reply(f"u{number}", f"msg_{number}", f"req_{number}", second=second)


def tool_result(second: int) -> dict[str, Any]:
    return user([{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}], second=second)


@pytest.mark.parametrize(
    ("events", "active"),
    [
        (
            [
                user("Go.", second=0),
                answered(1, 20),
                user("On.", second=NIGHT),
                answered(2, NIGHT + 40),
            ],
            60,
        ),
        ([user("Go.", second=0), answered(1, 20), tool_result(1220), answered(2, 1230)], 1230),
        ([user("Go.", second=0), answered(1, 20), answered(2, NIGHT)], 20),
        ([user("Go.", second=0), answered(2, 50), answered(1, 30)], 50),
    ],
    ids=[
        "a night before a prompt",
        "twenty minutes of a tool",
        "a computer that slept",
        "out of order",
    ],
)
def test_a_session_does_not_work_while_it_waits(
    store: Store, tmp_path: Path, events: list[dict[str, Any]], active: int
) -> None:
    assert times(store, tmp_path, *events)[1] == active


def codex(second: int, kind: str, **payload: Any) -> dict[str, Any]:
    time = f"2026-08-01T{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"
    return {"timestamp": time, "type": kind, "payload": payload}


def test_a_rollout_of_codex_has_it_too(store: Store, tmp_path: Path) -> None:
    def turn(second: int) -> list[dict[str, Any]]:
        return [
            codex(second, "event_msg", type="user_message", message="go"),
            codex(
                second + 30,
                "response_item",
                type="function_call",
                name="shell",
                call_id=f"c{second}",
            ),
            codex(
                second + 90,
                "response_item",
                type="function_call_output",
                call_id=f"c{second}",
                output="ok",
            ),
            codex(second + 100, "response_item", type="message", role="assistant", content=[]),
        ]

    meta = codex(
        0,
        "session_meta",
        id="019fa7f3-ca80-7000-8000-000000000001",
        timestamp="2026-08-01T10:00:00.000Z",
        cwd="/srv",
    )
    assert times(store, tmp_path, meta, *turn(10), *turn(NIGHT)) == (NIGHT + 100, 200)


def test_a_result_is_of_one_prompt() -> None:
    [run] = read_log(record(session_id=SESSION))
    assert run["active_ms"] == run["duration_ms"] == 60_000
