"""Lines of Claude Code's session transcripts, and what is read of them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ingest.agents.base import RESPONSE_COLUMNS
from ingest.agents.readers import SourceReaders
from ingest.context.gather import SourceContext
from ingest.facts import Facts
from ingest.findings.summary_facts import complete
from ingest.sources.contents import read
from ingest.sources.document import Document
from ingest.sources.files import Source
from ingest.store.record_rows import Read, checked_tables, runs_at_end, runs_with
from schemas.rows.run import RunRow

SESSION = "5f0c1b52-1111-4222-8333-444455556666"
PARENT = "0a0b0c0d-1111-4222-8333-444455556666"
PATH = f"projects/-srv-shop/{SESSION}.jsonl"
OPUS = "claude-opus-4-5-20251101"


class Transcript(NamedTuple):
    """What is read of one file. `responses`: the columns of each."""

    run: RunRow | None
    responses: list[dict[str, Any]]
    rejects: list[str]

    def told(self, *columns: str) -> list[Any]:
        """The values of these columns of each response."""
        return [
            tuple(one[name] for name in columns) if len(columns) > 1 else one[columns[0]]
            for one in self.responses
        ]


def read_transcript(content: str | bytes, name: str = PATH) -> Transcript:
    """A file as an ingest reads it, without a store. Its rows are those that a store takes."""
    context = SourceContext(Facts(name=name))
    readers = SourceReaders(context.source)
    found: list[Any] = []
    rejects: list[str] = []
    for part in read(Source(name, content.encode() if isinstance(content, str) else content)):
        if isinstance(part, Document):
            found += runs_with(readers, part, context.for_run) or ()
        else:
            rejects.append(f"{part.position}: {part.reason}")
    found += runs_at_end(readers, context.for_run)[0]
    rows = complete([one.rows for one in found if isinstance(one, Read)])
    assert not checked_tables(rows)[1]
    own = rows[0] if rows else None
    assert len(rows) <= 1
    responses = (
        [dict(zip(RESPONSE_COLUMNS, values, strict=True)) for values in own.response_copies]
        if own
        else []
    )
    return Transcript(own.run if own else None, responses, rejects)


def at(second: int) -> str:
    return f"2026-03-02T{8 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"


def line(kind: str, uuid: str, second: int | None = 0, **fields: Any) -> dict[str, Any]:
    """A line of the main thread."""
    place = {
        "userType": "external",
        "cwd": "/srv/shop",
        "sessionId": SESSION,
        "version": "2.1.60",
        "gitBranch": "main",
    }
    time = {} if second is None else {"timestamp": at(second)}
    return (
        {"parentUuid": None, "isSidechain": False, **place, "type": kind, "uuid": uuid}
        | time
        | fields
    )


def usage(output: Any = 70, **more: Any) -> dict[str, Any]:
    return {
        "input_tokens": 4,
        "output_tokens": output,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 50,
    } | more


def message(
    message_id: str | None = "msg_a", tokens: Any = None, content: Any = "text", **fields: Any
) -> dict[str, Any]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    tokens = usage() if tokens is None else tokens
    known = {
        "id": message_id,
        "role": "assistant",
        "model": OPUS,
        "content": blocks,
        "stop_reason": "end_turn",
        "usage": tokens,
    }
    return {
        name: value for name, value in (known | fields).items() if name != "id" or value is not None
    }


def reply(
    uuid: str = "u1",
    message_id: str | None = "msg_a",
    request: str | None = "req_a",
    tokens: Any = None,
    **fields: Any,
) -> dict[str, Any]:
    """An assistant's line. `inside`: fields of its message."""
    inside = fields.pop("inside", {})
    said = line(
        "assistant", uuid, fields.pop("second", 10), message=message(message_id, tokens, **inside)
    )
    return said | ({} if request is None else {"requestId": request}) | fields


def user(content: Any, uuid: str = "p1", second: int = 1, **fields: Any) -> dict[str, Any]:
    return line("user", uuid, second, message={"role": "user", "content": content}) | fields


def in_session(number: int, text: str) -> str:
    """Return the same log with another session, and other ids of records, responses and requests.

    A store tells the two apart.
    """
    return re.sub(
        r'"(uuid|parentUuid|id|requestId)": ?"',
        rf"\g<0>{number}-",
        text.replace(SESSION, session_of(number)),
    )


def session_of(number: int) -> str:
    return f"{SESSION[:-3]}{number:03}"


def answer(call: str, *, is_error: bool = False, **fields: Any) -> dict[str, Any]:
    """The result of a tool."""
    return user(
        [{"type": "tool_result", "tool_use_id": call, "content": "…", "is_error": is_error}],
        f"r-{call}",
        20,
        **fields,
    )


def calling(tool: str, call: str) -> dict[str, Any]:
    return {
        "content": [{"type": "tool_use", "id": call, "name": tool, "input": {}}],
        "stop_reason": "tool_use",
    }


def progress(inner: dict[str, Any], agent: str = "ag1") -> dict[str, Any]:
    """A line of a sub-agent inside the main file."""
    kept = {
        name: inner[name]
        for name in ("type", "timestamp", "message", "requestId", "uuid")
        if name in inner
    }
    return line(
        "progress", "w1", 30, data={"type": "agent_progress", "agentId": agent, "message": kept}
    )


ADVICE = {
    "type": "advisor_message",
    "model": "claude-sonnet-4-5",
    "input_tokens": 11,
    "output_tokens": 3,
}
SESSION_LOG = (
    user("Make it faster.", permissionMode="plan"),
    reply("u1", inside=calling("WebSearch", "t1")),
    answer("t1", toolUseResult={"searchCount": 2}),
    reply(
        "u2",
        "msg_b",
        "req_b",
        usage(9, cache_creation={"ephemeral_1h_input_tokens": 50}),
        inside=calling("Bash", "t2"),
        costUSD=0.25,
    ),
    answer("t2", is_error=True),
    progress(reply("s1", "msg_s", "req_s")),
    reply("u3", "msg_c", None, usage(iterations=[ADVICE], speed="fast")),
    {"type": "ai-title", "aiTitle": "Speed up", "sessionId": SESSION},
    {
        "type": "cost-state",
        "sessionId": SESSION,
        "startTime": 1,
        "totalCostUSD": 0.5,
        "totalAPIDuration": 7,
    },
)
