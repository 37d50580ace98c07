"""Lines of a transcript that are passed over without being parsed: the file means the same as if every line were parsed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.agents.claude_code import transcript
from ingest.agents.claude_code.transcript import PassedLines, SessionFacts
from ingest.reading.read_source import read_members
from ingest.reading.settings import Settings
from ingest.sources.files import Source
from ingest.store.spool import SpoolWriter
from tests.claude_lines import SESSION, calling, reply, usage

Line = dict[str, Any]

FILLER = 40
"""Lines in front, since the first events of a file are parsed before its reader is known."""


def written(kind: str, number: int, more: Line, session: str = SESSION, *, is_sidechain: bool = False) -> Line:
    """A line with its names in the order of Claude Code."""
    around = {"parentUuid": f"p{number}", "isSidechain": is_sidechain, "userType": "external", "cwd": "/srv/shop", "sessionId": session}
    times = {"uuid": f"u{number}", "timestamp": f"2026-03-01T10:{number // 60 % 60:02}:{number % 60:02}.000Z"}
    return around | {"version": "2.1.212", "gitBranch": "main", "type": kind} | more | times


def output(number: int, text: str, *, last: Line | None = None, block: Line | None = None, **others: Any) -> Line:
    """The output of a tool. `last`: what stands behind the time; `block`: more of the block; `others`: as for `written`."""
    result = {"tool_use_id": f"t{number % 7}", "type": "tool_result", "content": text} | (block or {})
    return written("user", number, {"message": {"role": "user", "content": [result]}}, **others) | (last or {})


def said(number: int) -> Line:
    call = calling("WebSearch" if number % 2 else "Bash", f"t{number % 7}")
    message = reply("x", f"msg_{number // 2}", f"req_{number // 2}", usage(number), inside=call)["message"]
    return written("assistant", number, {"message": message, "requestId": f"req_{number // 2}"})


def asked(number: int, text: str, **more: Any) -> Line:
    return written("user", number, {"message": {"role": "user", "content": text}}) | more


QUOTED = json.dumps(said(3))
LINES: list[Callable[[int], Line]] = [
    said,
    lambda number: output(number, QUOTED),
    lambda number: output(number, "x" * 300, block={"is_error": False}),
    lambda number: output(number, "boom", block={"is_error": True}),
    lambda number: output(number, "found", last={"toolUseResult": {"searchCount": 2, "usage": usage(9000)}}),
    lambda number: output(number, "later", session="another"),
    lambda number: output(number, "of a sub-agent", is_sidechain=True),
    lambda number: output(number, "dated", last={"toolUseResult": {"timestamp": "2031-01-01T00:00:00.000Z"}}),
    lambda number: output(number, "forked", last={"forkedFrom": {"sessionId": "origin"}}),
    lambda number: output(number, "allowed", last={"permissionMode": "plan"}),
    lambda number: output(number, "odd") | {"timestamp": "2025-01-01T00:00:00+02:00"},
    lambda number: written("progress", number, {"data": {"type": "hook_progress", "output": "…"}}),
    lambda number: written("progress", number, {"data": {"type": "agent_progress", "agentId": "a", "message": said(number + 1)}}),
    lambda number: asked(number, "Make it faster."),
    lambda number: asked(number, "[Request interrupted by user]"),
]
"""What may be on a line, each made for the number of the line."""


def text_of(lines: list[Line], *, is_parsed: bool) -> str:
    """The lines as Claude Code writes them; with `is_parsed` a blank stands behind the first brace, and no line is passed over."""
    texts = [json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in lines]
    return "".join(f"{{ {text[1:]}\n" if is_parsed else f"{text}\n" for text in texts)


def told(lines: list[Line], *, is_parsed: bool) -> tuple[object, ...]:
    """What reading a file leaves in the spool, and its counts."""
    source = Source(f"projects/-srv-shop/{SESSION}.jsonl", text_of(lines, is_parsed=is_parsed).encode())
    with tempfile.TemporaryDirectory() as folder:
        writer = SpoolWriter(Path(folder), "task")
        [result] = read_members(source, "one", Settings(), writer)
        writer.flush()
        rows = {path.name: pq.read_table(path).to_pylist() for path in sorted(Path(folder).iterdir())}
    for run in rows.get("runs-task-0.parquet", ()):
        run["raw"] = {name: value for name, value in json.loads(run["raw"]).items() if name != "resume"}  # counts lines of both kinds
    return rows, result.records, result.rejected, result.ignored, result.container


@pytest.mark.slow
@given(st.lists(st.sampled_from(LINES), max_size=60), st.booleans())
def test_a_file_means_the_same_whether_lines_are_passed_over(chosen: list[Callable[[int], Line]], is_asked_first: bool) -> None:
    """A line that its reader needs and that is passed over loses tokens, failures, searches or times without a word."""
    beginning = [asked(0, "Make it faster.")] * is_asked_first + [output(1, "y" * 1000)] * FILLER
    lines = [*beginning, *(make(number) for number, make in enumerate(chosen, 2))]
    assert told(lines, is_parsed=False) == told(lines, is_parsed=True)


def passed(*lines: Line | bytes) -> list[bool]:
    """Of each line, whether it is passed over, in a session whose prompt is known."""
    texts = [line if isinstance(line, bytes) else json.dumps(line, separators=(",", ":")).encode() for line in lines]
    taker = PassedLines(SessionFacts(prompt="Make it faster."))
    taker.look_at(b"\n".join(texts) + b"\n")
    places = [sum(len(before) + 1 for before in texts[:number]) for number in range(len(texts))]
    return [taker.takes(place, place + len(text)) for place, text in zip(places, texts, strict=True)]


def test_tool_output_and_progress_are_passed_over() -> None:
    """Without it every byte is parsed. The first line of a session tells where it runs."""
    lines = [make(number) for number, make in enumerate(LINES)]
    assert passed(output(0, ""), *lines)[1:] == [place in (1, 2, 11) for place in range(len(lines))]


@pytest.mark.parametrize("spaced", [True, False])
def test_tokens_are_seen_wherever_they_are_written(spaced: bool) -> None:
    """A line was cut off, and the next one is behind it on the same line: the tokens are read there."""
    whole = json.dumps(said(2), separators=(", ", ": ") if spaced else (",", ":")).encode()
    torn = json.dumps(output(1, "cut here"), separators=(",", ":")).encode().partition(b" here")[0] + whole
    assert passed(output(0, ""), torn) == [False, False]


def test_a_line_that_is_cut_off_is_parsed() -> None:
    """It becomes a reject."""
    assert passed(output(0, ""), json.dumps(output(1, "cut"), separators=(",", ":")).encode()[:-1]) == [False, False]


def test_memory_for_beginnings_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with a million sessions would fill it."""
    monkeypatch.setattr(transcript, "FRAMES_KEPT", 2)
    sessions = [output(number, "", session=str(number % 3)) for number in range(6)]
    assert passed(*sessions) == [False] * 3 + [True, True, False]
