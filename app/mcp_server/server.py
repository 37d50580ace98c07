"""The protocol: the tools offered over standard input and output by the official SDK. Nothing else may write to standard output."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from app.library.store import Store
from app.mcp_server.replies import NOTICE, Reply, error_text
from app.mcp_server.tools import TOOLS
from schemas.errors import TachographError, UsageError
from schemas.text import did_you_mean

INSTRUCTIONS = (
    "Tachograph knows what runs of coding agents cost, how long they took, what they claim in their summaries, and what was measured. "
    f"All tools only read. Money is in US dollars, durations are in milliseconds; a missing column is unknown, not 0. {NOTICE}"
)


def serve(store: Store) -> None:
    """Serve until the client closes standard input."""
    anyio.run(_serve, server_of(store))


def server_of(store: Store) -> Server[Any]:
    """The server of a store, which need not exist yet."""

    async def list_tools(_context: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=_described())

    async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
        ask = partial(_answer, store, params.name, params.arguments or {})
        try:
            reply = await anyio.to_thread.run_sync(ask)
        except TachographError as error:
            return CallToolResult(content=[TextContent(text=error_text(error))], is_error=True)
        return CallToolResult(content=[TextContent(text=reply.text())], structured_content=reply.structured())

    return Server(
        "tachograph",
        version=version("tachograph"),
        title="Tachograph",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described() -> list[Tool]:
    hints = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    return [
        Tool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=tool.input_schema,
            output_schema=tool.output_schema,
            annotations=hints,
        )
        for tool in TOOLS.values()
    ]


def _answer(store: Store, name: str, arguments: dict[str, Any]) -> Reply:
    if name not in TOOLS:
        raise UsageError(f"unknown tool {name!r}.", f"{did_you_mean(name, list(TOOLS))}Choose from: {', '.join(TOOLS)}.")
    return TOOLS[name].answer(store, arguments)


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())
