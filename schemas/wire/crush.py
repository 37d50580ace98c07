"""A session in the SQLite database of Crush, or of OpenCode when it was written in Go.

Sources: charmbracelet/crush (internal/db/migrations, internal/message/content.go,
internal/agent/coordinator.go) and databases of 2025-04 to 2026-07. `ingest.sources.databases` makes
one object of a session's rows. Times are Unix seconds, though the schema says milliseconds.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from schemas.wire.values import Secondary, WireFlag, WireModel, WireText, WireUsd


class CrushPartData(WireModel):
    """The fields of all kinds of parts."""

    text: Secondary[WireText] = Field(default=None, description="Of text.")
    id: Secondary[WireText] = Field(default=None, description="Of tool_call.")
    name: Secondary[WireText] = Field(default=None, description="Of tool_call: the tool.")
    tool_call_id: Secondary[WireText] = Field(default=None, description="Of tool_result.")
    is_error: Secondary[WireFlag] = Field(default=None, description="Of tool_result.")
    reason: Secondary[WireText] = Field(
        default=None,
        description="Of finish: end_turn, tool_use, max_tokens, canceled, error, content_filter.",
    )
    message: Secondary[WireText] = Field(default=None, description="Of finish: of an error.")
    details: Secondary[WireText] = Field(default=None, description="Of finish: of an error.")


class CrushPart(WireModel):
    """A part of a message, without tool input and output."""

    type: Secondary[WireText] = Field(
        default=None, description="text, reasoning, tool_call, tool_result, finish."
    )
    data: Secondary[CrushPartData] = Field(default=None, description="Its fields.")


class CrushMessage(WireModel):
    """A row of `messages`."""

    id: Secondary[WireText] = Field(default=None, description="Id.")
    role: Secondary[WireText] = Field(default=None, description="user, assistant, tool.")
    parts: list[CrushPart] = Field(default=[], description="Texts, tool calls, the end.")
    model: Secondary[WireText] = Field(default=None, description="Model of an answer.")
    provider: Secondary[WireText] = Field(default=None, description="Provider; Crush only.")
    created_at: Any = Field(default=None, description="When it began.")
    finished_at: Any = Field(default=None, description="When it ended.")
    is_summary_message: Any = Field(default=None, description="1 for a compaction's summary.")


class CrushSession(WireModel):
    """A row of `sessions`.

    Its tokens are those of the last request (before May 2025: sums without the cache), so that they
    are not read. Its cost includes that of the sessions it started, once they came to their end.
    """

    id: WireText = Field(description="A UUID, or of a sub-agent the id of its tool call.")
    parent_session_id: Secondary[WireText] = Field(default=None, description="What started it.")
    title: Secondary[WireText] = Field(default=None, description="Title, by a small model.")
    cost: WireUsd | None = Field(
        default=None, description="USD; 0 too where the model has no price or is in a subscription."
    )
    created_at: Any = Field(default=None, description="When it began.")
    updated_at: Any = Field(default=None, description="When it was last changed.")


class CrushChild(CrushSession):
    """A session that another one started, with its last message."""

    last: CrushMessage | None = Field(default=None, description="Its last message.")


class CrushFile(WireModel):
    """A file that a session wrote, of the rows of `files`, which hold all of its versions."""

    path: Secondary[WireText] = Field(default=None, description="Absolute path.")
    before: Secondary[WireText] = Field(
        default=None, description="Content before the session; empty for a new file."
    )
    after: Secondary[WireText] = Field(default=None, description="Content of the last version.")


class CrushRecord(WireModel):
    """A session with its messages."""

    database_of: WireText = Field(description="crush, opencode.")
    crush_session: CrushSession = Field(description="The session.")
    messages: list[CrushMessage] = Field(default=[], description="Its messages.")
    children: list[CrushChild] = Field(default=[], description="Sessions that it started.")
    files: list[CrushFile] = Field(default=[], description="Files that it wrote.")
