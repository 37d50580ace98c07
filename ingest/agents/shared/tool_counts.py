"""Tool calls of a run, counted by tool in bounded memory: each call once, and its error once."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.text import paired

CALLS_KEPT = 1024
"""Ids of tool calls that are remembered: to count each call once and to find the tool of an error."""
TOOLS_KEPT = 512
"""Tools that are counted by name; further ones are counted together as OTHER_TOOLS."""
OTHER_TOOLS = "(other tools)"
LONGEST_NAME = 256

ToolCalls = tuple[tuple[str, int, int], ...]
"""(tool, calls, errors), sorted by tool."""


@dataclass(slots=True)
class ToolCounts:
    """The calls so far."""

    counts: dict[str, list[int]] = field(default_factory=dict)
    calls: dict[str, str | None] = field(default_factory=dict)
    """Id of a call → its tool, or None once its error was counted."""

    def called(self, call: str | None, tool: str) -> None:
        """Count a tool call once per id, since streams repeat messages."""
        if call is not None:
            if call in self.calls:
                return
            if len(self.calls) >= CALLS_KEPT:
                del self.calls[next(iter(self.calls))]
        name = tool if tool in self.counts else self._name(tool)
        if call is not None:
            self.calls[call] = name
        self.counts.setdefault(name, [0, 0])[0] += 1

    def failed(self, call: str) -> None:
        """Count the error of a call, once. The error of an unknown call is not counted."""
        tool = self.calls.get(call)
        if tool is not None:
            self.counts[tool][1] += 1
            self.calls[call] = None

    def _name(self, tool: str) -> str:
        name = str(paired(tool[:LONGEST_NAME]))
        return name if name in self.counts or len(self.counts) < TOOLS_KEPT else OTHER_TOOLS


def merged(*counted: ToolCounts) -> ToolCalls:
    """The calls of several counts together."""
    totals: dict[str, list[int]] = {}
    for each in counted:
        for tool, (calls, errors) in each.counts.items():
            total = totals.setdefault(tool, [0, 0])
            total[0] += calls
            total[1] += errors
    return tuple((tool, calls, errors) for tool, (calls, errors) in sorted(totals.items()))
