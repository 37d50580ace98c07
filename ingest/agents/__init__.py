"""The readers of all agents, in the order in which a document is offered to them."""

from __future__ import annotations

from ingest.agents.base import AgentReader
from ingest.agents.claude_code.reader import ClaudeCode
from ingest.documents.document import Document

AGENTS: tuple[AgentReader, ...] = (ClaudeCode(),)


def recognise(document: Document) -> AgentReader | None:
    """The first reader that recognises the document; None where there is none."""
    return next((reader for reader in AGENTS if reader.recognises(document)), None)
