"""Tool calls in the lines of a rollout: the name of the tool, and whether the call failed.

A command tells its exit code at the head of its output, before 2026 in JSON behind it; versions of 2025 say `success`. Words of an error
count only where Codex itself writes them.
"""

from __future__ import annotations

import re
from typing import Any

_NAMES = {
    "function_call": "name",
    "custom_tool_call": "name",
    "local_shell_call": "type",
    "web_search_call": "type",
    "tool_search_call": "type",
}
"""Type of an item that is a tool call → the field with the name of the tool."""

_OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "local_shell_call_output"))
ENDS = frozenset(("exec_command_end", "patch_apply_end", "mcp_tool_call_end"))
"""Types of the events that tell how a call ended."""

_HEAD = re.compile(r"(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?(?:Process exited with code|Exit code:) (-?\d{1,10})")
_TAIL = re.compile(r'"metadata": ?\{"exit_code": ?(-?\d{1,10})')
_LONGEST_TAIL = 200
_REFUSALS = ("apply_patch verification failed", "exec_command failed", "failed to parse function arguments")


def called_tool(item: dict[str, Any]) -> str | None:
    """The tool that an item calls; None for any other item."""
    kind = item.get("type")
    field = _NAMES.get(kind) if isinstance(kind, str) else None
    if field is None:
        return None
    name = item.get(field)
    return name if isinstance(name, str) and name else "tool"


def is_failure(item: dict[str, Any]) -> bool:
    """Whether an item is the output of a call that failed, as far as the log tells."""
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in _OUTPUTS:
        return False
    output = item.get("output")
    if isinstance(output, dict):
        return output.get("success") is False
    return isinstance(output, str) and _says_failure(output)


def ended_badly(event: dict[str, Any]) -> bool:
    """Whether one of the events ENDS tells of a failure."""
    result = event.get("result")
    return event.get("success") is False or event.get("exit_code") not in (None, 0) or (isinstance(result, dict) and "Err" in result)


def _says_failure(output: str) -> bool:
    found = _HEAD.match(output) or (_TAIL.search(output[-_LONGEST_TAIL:]) if output.startswith("{") else None)
    return int(found[1]) != 0 if found else output.startswith(_REFUSALS)
