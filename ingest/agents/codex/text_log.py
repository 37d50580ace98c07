"""The text log of `codex exec` (its stderr) → a run.

A header with version, model and session, then sections, each under a line with its name. `tokens used` is one grand total that cannot be
divided into classes, so it has no price. Section names also occur in the output of tools: only whole lines count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, Found
from ingest.agents.kept_run import ended
from ingest.agents.shared.runs import ToolCounts, canonical_hash, is_uuid, merged, time_of_uuid
from ingest.agents.shared.texts import outcome_of_error
from ingest.agents.shared.tokens import unrecorded
from ingest.sources.document import Document, TextDocument
from ingest.sources.files import Unreadable
from schemas.agents import CODEX
from schemas.rows.row import LARGEST_INT
from schemas.rows.run import Outcome, RecordKind

_VERSION = re.compile(r"OpenAI Codex v(\S+)")
_HEADER = re.compile(r"(workdir|model|provider|approval|session id): (.*)")
_SECTIONS = frozenset(("user", "thinking", "codex", "exec", "file update", "file update:", "tokens used"))
_ERROR = "ERROR: "
_TOOLS = {"exec": "exec", "file update": "apply_patch", "file update:": "apply_patch"}
_FAILED = re.compile(r" (?:exited \d+|failed) in [\d.]+m?s:?$")
_COUNT = re.compile(r"[0-9][0-9,]{0,19}")
_LONGEST_TEXT = 4 << 20


@dataclass
class _Log:
    """What the lines so far say."""

    header: dict[str, str] = field(default_factory=dict)
    section: str = ""
    dashes: int = 0
    texts: dict[str, list[str]] = field(default_factory=dict)
    size: int = 0
    tools: ToolCounts = field(default_factory=ToolCounts)
    tokens: int | None = None
    error: str | None = None
    call: int = 0


class CodexTextLog(AgentReader):
    """Logs that begin with `OpenAI Codex v`."""

    agent: ClassVar[str] = CODEX.key

    @staticmethod
    def recognises(document: Document) -> bool:
        return isinstance(document, TextDocument) and document.starts_with(CODEX.marks.text_start)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        assert isinstance(document, TextDocument)
        log = _Log()
        for line in document.lines:
            _note(log, line.rstrip("\r\n"))
        return (ended(document, _kept(log), self._context_of),)


def _note(log: _Log, line: str) -> None:
    if log.dashes < 2:
        _note_header(log, line)
    elif line in _SECTIONS:
        _begin(log, line)
    elif line.startswith(_ERROR):
        log.section, log.error = "", line.removeprefix(_ERROR)
    elif log.section == "tokens used":
        _note_tokens(log, line)
    elif log.section in ("codex", "user"):
        _note_text(log, line)
    elif log.section == "exec" and _FAILED.search(line):
        log.tools.failed(str(log.call))
        log.section = ""


def _note_header(log: _Log, line: str) -> None:
    """The lines up to the second row of dashes."""
    log.dashes += line.startswith("--------")
    if found := _VERSION.match(line):
        log.header["version"] = found[1]
    elif found := _HEADER.fullmatch(line):
        log.header[found[1]] = found[2].strip()


def _begin(log: _Log, section: str) -> None:
    """An error line before another section was output of a tool: Codex's own is the last thing it writes."""
    log.section, log.error = section, None
    if tool := _TOOLS.get(section):
        log.call += 1
        log.tools.called(str(log.call), tool)
    elif section == "codex" or section not in log.texts:
        log.texts[section], log.size = [], 0


def _note_tokens(log: _Log, line: str) -> None:
    """The total is one line; the program's end may follow it without a line break, after which its stdout repeats the final text."""
    if found := _COUNT.match(line.strip()):
        count = int(found[0].replace(",", ""))
        log.tokens = count if count <= LARGEST_INT else None
    log.section = ""


def _note_text(log: _Log, line: str) -> None:
    log.size += len(line) + 1
    if log.size <= _LONGEST_TEXT:
        log.texts[log.section].append(line)


def _kept(log: _Log) -> dict[str, Any]:
    header, session_id = log.header, log.header.get("session id")
    prompt, final_text = (_text(log, section) for section in ("user", "codex"))
    reason = "The log has no token counts."
    if log.tokens is not None:
        reason = f"The log has one total, {log.tokens:,} tokens, which cannot be divided into input, cache and output."
    return {
        "run_id": session_id if is_uuid(session_id) else canonical_hash({"header": header, "text": final_text}),
        "agent": CODEX.key,
        "record_kind": RecordKind.STREAM,
        "rank": 1,
        "agent_version": header.get("version"),
        "session_id": session_id,
        "requested_model": header.get("model"),
        "models": [unrecorded(header.get("model"), reason, header.get("provider"))],
        "started_at": time_of_uuid(session_id),
        "outcome": _outcome(log),
        "is_error": log.error is not None or None,
        "errors": [log.error] if log.error else [],
        "cwd": header.get("workdir"),
        "permission_mode": header.get("approval"),
        "prompt": prompt,
        "final_text": final_text,
        "tool_calls": merged(log.tools),
    }


def _outcome(log: _Log) -> Outcome:
    """Tokens are told at the end of a run; older versions did not tell them, so that a log without them says nothing."""
    if log.error:
        return outcome_of_error(log.error)
    return Outcome.COMPLETED if log.tokens is not None else Outcome.UNKNOWN


def _text(log: _Log, section: str) -> str | None:
    return "\n".join(log.texts.get(section, [])).strip() or None
