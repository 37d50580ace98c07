"""Records and streams of every agent with any value anywhere: runs or rejects, never an exception."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import reduce
from operator import getitem
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import (
    test_aider,
    test_atif,
    test_codex,
    test_copilot,
    test_cursor,
    test_gemini,
    test_harbor,
    test_inspect_ai,
    test_kimi,
    test_mini_swe_agent,
    test_opencode,
    test_openhands,
    test_pi,
    test_qwen,
    test_swe_agent,
    test_terminal_bench,
    test_trae,
)  # fmt: skip
from tests.documents import runs_in

RECORDS: dict[str, Callable[[], dict[str, Any]]] = {
    "mini": lambda: test_mini_swe_agent.trajectory(test_mini_swe_agent.reply(cost=0.1), test_mini_swe_agent.observed()),
    "mini 2": lambda: test_mini_swe_agent.second(test_mini_swe_agent.reply(actions=[{}], timestamp=1.8e9)),
    "swe": lambda: test_swe_agent.trajectory(test_swe_agent.step()),
    "atif": lambda: test_atif.trajectory(test_atif.step(2), final=test_atif.sums(10, 1, 2, 0.5, reasoning_tokens=1)),
    "trial": lambda: test_harbor.trial(agent_result=test_harbor.used(model_usage={"m": test_harbor.used()}), **test_harbor.raised("X")),
    "trials": lambda: test_terminal_bench.results(test_terminal_bench.trial(1), test_terminal_bench.trial(2)),
}
STREAMS: dict[str, list[dict[str, Any]]] = {
    "trae": [test_trae.trajectory(test_trae.call("openai", "gpt-5"), test_trae.call("bedrock", "gpt-5", 1))],
    "exec": [json.loads(line) for line in test_codex.thread(test_codex.completed(uncached=10)).splitlines()],
    "rollout": [test_codex.meta("a"), *test_codex.turn(1, uncached=10, output=5), *test_codex.turn(9, uncached=20, output=9)],
    "cursor": test_cursor.stream(),
    "opencode": [*test_opencode.step(0, "tool-calls"), *test_opencode.step(1)],
    "opencode export": [test_opencode.export(test_opencode.answer(0), test_opencode.answer(1))],
    "copilot": test_copilot.whole(),
    "copilot printed": test_copilot.printed(),
    "copilot history": [test_copilot.history()],
    "openhands": test_openhands.conversation(),
    "openhands line": [test_openhands.line()],
    "pi": [json.loads(line) for line in test_pi.session().splitlines()],
    "pi stream": [json.loads(line) for line in test_pi.stream().splitlines()],
    "kimi code": test_kimi.CODE,
    "kimi cli": test_kimi.CLI,
    "aider": test_aider.LOG,
    "aider result": [test_aider.RESULT],
    "inspect": [test_inspect_ai.log(test_inspect_ai.sample(1), test_inspect_ai.sample(2, model_usage=None))],
    "gemini": [test_gemini.output()],
    "gemini stream": [json.loads(line) for line in test_gemini.stream(test_gemini.result(6)).splitlines()],
    "gemini chat": [json.loads(line) for line in test_gemini.CHAT.splitlines()],
    "qwen": test_qwen.stream(test_qwen.result(stats=test_gemini.metrics(a=test_gemini.FLASH))),
    "qwen chat": test_qwen.CHAT,
}
HOSTILE: list[Any] = [
    None, True, -1, 0, 1.5, 2**53, 2**53 + 1, 1e308, 10**400, "", "x", "\ud800", "2026-13-45", "NaN", [], [None], [[]], [1, "a"], {},
    {"a": {}}, float("nan"), float("inf"),
]  # fmt: skip


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values inside a value."""
    inner = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    return [path] * bool(path) + [found for key, item in inner for found in leaves(item, (*path, key))]


@pytest.mark.parametrize("name", RECORDS)
@given(st.data())
def test_any_value_anywhere(name: str, data: st.DataObject) -> None:
    runs, rejects = runs_in(json.dumps(changed(RECORDS[name](), data)).encode())
    assert len(runs) + len(rejects) <= 2


@pytest.mark.parametrize("name", STREAMS)
@given(st.data())
def test_any_value_anywhere_in_a_stream(name: str, data: st.DataObject) -> None:
    events = changed(STREAMS[name], data)
    runs, _ = runs_in("".join(json.dumps(event) + "\n" for event in events).encode())
    assert len(runs) <= len(events) + 1


def changed(value: Any, data: st.DataObject) -> Any:
    """A copy with up to three hostile values in it."""
    copy: Any = deepcopy(value)
    for path in data.draw(st.lists(st.sampled_from(leaves(copy)), min_size=1, max_size=3)):
        hostile = deepcopy(data.draw(st.sampled_from(HOSTILE)))
        with suppress(KeyError, IndexError, TypeError):  # an earlier value took the place away
            reduce(getitem, path[:-1], copy)[path[-1]] = hostile
    return copy
