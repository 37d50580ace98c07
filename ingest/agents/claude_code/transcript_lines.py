"""Which lines are of a session transcript of Claude Code, and which of them tell nothing and need not be parsed.

Most bytes of a transcript are results of tools and the progress of commands. Such a line tells its time and where it was written, which
`skimmed` takes from its bytes. It is sure of a line only where it begins and ends as Claude Code writes it: one that was cut off, or that
another one is appended to, is parsed as any other.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from schemas.marks import FIGURES
from schemas.wire.agents.claude_transcript import FIRST_NAME, JOURNAL_TYPES

_TEXT = rb'"[^"\\]{1,128}"'
_FIELDS = (
    rb'((?:,"(?:isSidechain|userType|entrypoint|cwd|sessionId|version|gitBranch|slug|agentId|promptId|teamName|agentName)":'
    rb'(?:"(?:[^"\\]|\\.){0,4096}+"|true|false|null)){1,16}+)'
)
_HEAD = re.compile(
    rb'\{"parentUuid":(?:null|' + _TEXT + rb")" + _FIELDS + rb',"type":"'
    rb'(?:user","message":\{"role":"user","content":\[\{(?:"tool_use_id":' + _TEXT + rb',"type":"tool_result"'
    rb'|"type":"tool_result","tool_use_id":' + _TEXT + rb")"
    rb'|progress","data":\{"type":"(?!agent_progress")[a-z_]{1,64}")'
)
"""The beginning of a result of a tool, or of the progress of anything but a sub-agent. Its group says where the line was written."""

_TAIL = re.compile(_FIELDS + rb"\}")
"""The end of a line of newer versions, which say there where it was written."""

_TAIL_START = b',"userType":'
_STAMP = b'"timestamp":"'
_LAST_STAMP = re.compile(
    rb'"timestamp":"([^"\\]{1,40})"(?:,"uuid":'
    + _TEXT
    + rb')?(?:,"sourceToolAssistantUUID":'
    + _TEXT
    + rb")?(?:,\"toolUseID\":"
    + _TEXT
    + rb")?"
)
"""The time at the end of a line, or in front of its tail."""

_STAMP_BEFORE_RESULT = re.compile(rb'"timestamp":"([^"\\]{1,40})"(?:,"sourceToolAssistantUUID":' + _TEXT + rb')?,"toolUseResult":')
_SOURCE = re.compile(rb',"sourceToolAssistantUUID":' + _TEXT)
_SOURCE_START = b',"sourceToolAssistantUUID":"'
_UUID = b',"uuid":"'
_UUID_BYTES = len(_UUID) + 36 + 2
_ANOTHER_LINE = f'{{"{FIRST_NAME}":'.encode()
_SESSION = b'"sessionId":'
_ERROR, _NO_ERROR = b'"is_error"', b'"is_error":false'
_SEARCHES = b'"searchCount"'

_MESSAGES = ("user", "assistant")
_OF_STREAMS = ("session_id", "parent_tool_use_id", "usageMetadata", "systemPayload")
"""Fields of events of streams, and of Qwen Code's chat files."""


class Skimmed(NamedTuple):
    """What a line tells that is not parsed: the fields that say where it was written, as bytes, and its time."""

    place: bytes
    stamp: str


def is_line(value: dict[str, Any]) -> bool:
    """Whether an object is a line of a transcript. Raises nothing."""
    for name in _OF_STREAMS:
        if name in value:
            return False
    kind, message = value.get("type"), value.get("message")
    has_session = isinstance(value.get("sessionId"), str)
    if isinstance(message, dict):
        is_message = kind is None or kind in _MESSAGES
        return (
            is_message and "parts" not in message and (has_session or "isSidechain" in value or (kind is not None and "timestamp" in value))
        )
    if kind == "summary":
        return "leafUuid" in value
    if kind == "file-history-snapshot":
        return "messageId" in value
    if kind in JOURNAL_TYPES:
        return "agentId" in value and FIGURES.isdisjoint(value)
    return isinstance(kind, str) and has_session


def skimmed(line: bytes) -> Skimmed | None:
    """What a line tells that has no figures, no error and no text of a user; None for any other."""
    head = _HEAD.match(line)
    if not head or not line.endswith(b"}"):
        return None
    at, end, tail = head.end(), len(line) - 1, b""
    if line.find(_ANOTHER_LINE, at) >= 0:
        return None
    if line.find(_SESSION, at) >= 0:
        end = line.rfind(_TAIL_START, at)
        found = _TAIL.fullmatch(line, end) if end >= 0 else None
        if not found or line.find(_SESSION, at, end) >= 0:
            return None
        tail = found[1]
    stamp, message_end = _stamp_of(line, at, end)
    return Skimmed(head[1] + tail, stamp) if stamp and not _has_error(line, at, message_end) else None


def _stamp_of(line: bytes, at: int, end: int) -> tuple[str, int]:
    """The time of a line, and where its message ends; no time where the line does not end as expected, or tells of searches."""
    place = line.rfind(_STAMP, at, end)
    found = _LAST_STAMP.match(line, place) if place >= 0 else None
    if found and found.end() == end:
        return found[1].decode("utf-8", "replace"), place
    place = line.find(_STAMP, at, end)
    found = _STAMP_BEFORE_RESULT.match(line, place) if place >= 0 else None
    if not found or not line.startswith(_UUID, place - _UUID_BYTES + 1) or line.find(_SEARCHES, place) >= 0:
        return "", 0
    source = line.rfind(_SOURCE_START, found.end(), end)
    is_end = _SOURCE.fullmatch(line, source, end) if source >= 0 else line[end - 1] in b"}]"
    return (found[1].decode("utf-8", "replace"), place) if is_end else ("", 0)


def _has_error(line: bytes, at: int, end: int) -> bool:
    """Whether the message of a line has a result that is, or may be, an error."""
    place = line.find(_ERROR, at, end)
    while place >= 0:
        if not line.startswith(_NO_ERROR, place):
            return True
        place = line.find(_ERROR, place + 1, end)
    return False
