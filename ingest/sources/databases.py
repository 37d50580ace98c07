"""Agents' SQLite databases → documents, an object per session, without tool output and files."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.system.databases import WRITE_AHEAD, Columns, contain, parts_of, read_tables
from schemas.errors import RejectReason

DATABASE_NAMES = ("crush.db", "opencode.db")
"""Names in archives, of which only the files with such names are unpacked before they are read."""

MOST_ROWS = 1 << 21

Row = dict[str, Any]
Rows = Mapping[str, list[Row]]

_PARTS = """
    case when json_valid(parts) and json_type(parts) = 'array' then (
        select json_group_array(json(json_remove(
            value, '$.data.content', '$.data.input', '$.data.metadata', '$.data.data',
            '$.data.thinking', '$.data.signature', '$.data.responses_data', '$.data.output')))
        from json_each(messages.parts) where type = 'object') end"""
_END = "rowid = (select {}(rowid) from files as f where {})"
_SAME = "f.session_id = files.session_id and f.path = files.path"
_CONTENT = f"""
    case when {_END.format("min", _SAME)} or {_END.format("max", _SAME)}
        then case when length(content) <= {1 << 20} then content end end"""
"""The first and the last version of a file, unless it is too long to be compared."""
_PART = """
    case when not json_valid(data) then null
        when json_extract(data, '$.type') = 'text' then data
        else json_remove(
            data, '$.text', '$.state.input', '$.state.output', '$.state.metadata',
            '$.state.attachments', '$.metadata', '$.url', '$.source', '$.files') end"""
_MESSAGE = """
    case when json_valid(data)
        then json_remove(data, '$.system', '$.summary.diffs', '$.tools') end"""

_CRUSH: Mapping[str, Columns] = {
    "sessions": ("id", "parent_session_id", "title", "cost", "created_at", "updated_at"),
    "messages": {
        name: name
        for name in (
            "id",
            "session_id",
            "role",
            "model",
            "provider",
            "created_at",
            "finished_at",
            "is_summary_message",
        )
    }
    | {"parts": _PARTS},
    "files": {name: name for name in ("id", "session_id", "path")} | {"content": _CONTENT},
}
_OPENCODE: Mapping[str, Columns] = {
    "session": ("id", "parent_id", "directory", "title", "version", "time_created", "time_updated"),
    "message": {"id": "id", "session_id": "session_id", "data": _MESSAGE},
    "part": {"id": "id", "message_id": "message_id", "data": _PART},
}


def _crush_sessions(tables: Rows, name: str) -> Iterator[Row]:
    """Yield the sessions of Crush, or of OpenCode when it was written in Go.

    Each with its messages, and with the sessions that it started. Both have the same tables, but
    only Crush writes the provider of a message.
    """
    messages, children = defaultdict(list), defaultdict(list)
    for message in sorted(tables["messages"], key=_by("created_at")):
        messages[message.pop("session_id", None)].append(
            message | {"parts": _json(message.get("parts"), [])}
        )
    files: dict[Any, dict[Any, list[object]]] = defaultdict(lambda: defaultdict(list))
    for file in tables.get("files", ()):
        files[file.get("session_id")][file.get("path")].append(file.get("content"))
    for session in tables["sessions"]:
        children[session.get("parent_session_id")].append(session)
    is_crush = any("provider" in message for message in tables["messages"])
    agent = name.removesuffix(".db") if name in DATABASE_NAMES else None
    for session in sorted(tables["sessions"], key=_by("created_at")):
        own = messages[session["id"]]
        if own:
            yield {
                "database_of": agent or ("crush" if is_crush else "opencode"),
                "crush_session": session,
                "messages": own,
                "children": [
                    child | {"last": next(reversed(messages[child["id"]]), None)}
                    for child in children[session["id"]]
                ],
                "files": [
                    {"path": path, "before": contents[0], "after": contents[-1]}
                    for path, contents in files[session["id"]].items()
                ],
            }


def _opencode_sessions(tables: Rows, _name: str) -> Iterator[Row]:
    """Yield the sessions of OpenCode since 2026, each as `opencode export` prints it."""
    parts, messages = defaultdict(list), defaultdict(list)
    for part in sorted(tables["part"], key=_by("id")):
        parts[part.get("message_id")].append({"id": part["id"]} | _json(part.get("data"), {}))
    for message in sorted(tables["message"], key=_by("id")):
        info = {"id": message["id"]} | _json(message.get("data"), {})
        messages[message.get("session_id")].append({"info": info, "parts": parts[message["id"]]})
    for session in sorted(tables["session"], key=_by("id")):
        if messages[session["id"]]:
            times = {"created": session.get("time_created"), "updated": session.get("time_updated")}
            info = {"parentID": session.get("parent_id"), "time": times}
            info |= {name: session.get(name) for name in ("id", "directory", "title", "version")}
            yield {"info": info, "messages": messages[session["id"]]}


class _Kind(NamedTuple):
    """A kind of databases: its wanted tables, words that its files contain, and its sessions."""

    agent: str
    wanted: Mapping[str, Columns]
    marks: tuple[bytes, ...]
    sessions: Callable[[Rows, str], Iterator[Row]]


_KINDS = (
    _Kind("Crush or OpenCode", _CRUSH, (b"parent_session_id", b"message_count"), _crush_sessions),
    _Kind("OpenCode", _OPENCODE, (b"fk_part_message_id", b"parent_id"), _opencode_sessions),
)


def session_documents(place: Path, name: str) -> Iterator[Document | Unreadable]:
    """Yield the sessions in a database, or in that whose write-ahead log is at the place.

    Nothing for another program's database. A damaged one is a reject. `name`: of the file, at
    whatever place. Raises TooMuch, OSError.
    """
    name = name.removesuffix(WRITE_AHEAD)
    place = place.with_name(place.name.removesuffix(WRITE_AHEAD))
    parts = parts_of(place)
    kind = next((kind for kind in _KINDS if contain(parts, *kind.marks)), None)
    if kind is None:
        return
    position = "the database"
    if place not in parts:
        detail = f"a write-ahead log of {kind.agent} without {name}, its database"
        yield Unreadable(0, position, RejectReason.TRUNCATED, detail)
        return
    try:
        found = read_tables(parts, kind.wanted, MOST_ROWS)
    except ValueError as error:
        detail = f"a database of {kind.agent} that cannot be read: {error}"
        yield Unreadable(0, position, RejectReason.INVALID_RECORD, detail)
        return
    tables: dict[str, list[Row]] = {
        name: [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        for name, table in found.items()
        if table and "id" in table.columns
    }
    if tables.keys() >= kind.wanted.keys() - {"files"}:
        for number, session in enumerate(kind.sessions(tables, name)):
            yield Document(number, f"session {number + 1}", json.dumps(session))


def _by(name: str) -> Callable[[Row], tuple[str, Any]]:
    """Return a key to sort rows by a column that may hold values of any type."""
    return lambda row: (type(row.get(name)).__name__, 0 if row.get(name) is None else row[name])


def _json(text: object, default: Any) -> Any:
    """Return the list or object in a column; the default for anything else."""
    try:
        value = json.loads(text) if isinstance(text, str) else default
    except (ValueError, RecursionError):
        return default
    return value if isinstance(value, type(default)) else default
