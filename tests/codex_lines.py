"""Lines of Codex's rollouts and of `codex exec --json`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.documents import lines

STARTED = datetime(2026, 5, 1, 12, tzinfo=UTC)


def uuid7(time: datetime, number: int = 0) -> str:
    """A UUID of version 7 with this time."""
    value = (round(time.timestamp() * 1000) << 80) | (7 << 76) | (2 << 62) | number
    text = f"{value:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def usage(uncached: int, read: int = 0, output: int = 0, reasoning: int = 0) -> dict[str, int]:
    return {
        "input_tokens": uncached + read,
        "cached_input_tokens": read,
        "output_tokens": output,
        "reasoning_output_tokens": reasoning,
        "total_tokens": uncached + read + output,
    }


def exec_stream(thread: str, **tokens: int) -> str:
    """A stream of `codex exec --json` with one turn."""
    said = {"id": "item_1", "type": "agent_message", "text": "Turn 0: it is 2x faster."}
    return lines(
        {"type": "thread.started", "thread_id": thread},
        {"type": "turn.started"},
        {"type": "item.completed", "item": said},
        {"type": "turn.completed", "usage": usage(**tokens)},
    )


def at(seconds: float) -> str:
    return (STARTED + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def event(seconds: float, payload: dict[str, Any], kind: str = "event_msg") -> dict[str, Any]:
    return {"timestamp": at(seconds), "type": kind, "payload": payload}


def meta(session: str, **more: Any) -> dict[str, Any]:
    payload = {
        "id": session,
        "timestamp": at(0),
        "cwd": "/work",
        "cli_version": "0.104.0",
        "model_provider": "openai",
    }
    return event(0, payload | more, "session_meta")


def context(seconds: float, model: str = "gpt-5-codex", **more: Any) -> dict[str, Any]:
    return event(seconds, {"model": model, "approval_policy": "never"} | more, "turn_context")


def tokens(seconds: float, **total: int) -> dict[str, Any]:
    info = {"total_token_usage": usage(**total), "last_token_usage": usage(uncached=1)}
    return event(seconds, {"type": "token_count", "info": info})


def call(seconds: float, call_id: str) -> dict[str, Any]:
    payload = {"type": "function_call", "name": "shell", "call_id": call_id}
    return event(seconds, payload, "response_item")


def turn(seconds: float, **total: int) -> list[dict[str, Any]]:
    """A turn that ends with this running total."""
    return [
        event(seconds, {"type": "task_started", "turn_id": uuid7(STARTED)}),
        context(seconds),
        event(seconds, {"type": "user_message", "message": "Make it faster."}),
        call(seconds, f"c{seconds}"),
        tokens(seconds + 1, **total),
        event(seconds + 3, {"type": "task_complete", "last_agent_message": "It is 2x faster."}),
    ]
