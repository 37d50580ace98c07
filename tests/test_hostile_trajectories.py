"""Records of benchmarks with any value anywhere: a run or a reject, never an exception."""

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

from tests import test_atif, test_harbor, test_mini_swe_agent, test_swe_agent, test_terminal_bench
from tests.documents import runs_in

RECORDS: dict[str, Callable[[], dict[str, Any]]] = {
    "mini": lambda: test_mini_swe_agent.trajectory(test_mini_swe_agent.reply(cost=0.1), test_mini_swe_agent.observed()),
    "mini 2": lambda: test_mini_swe_agent.second(test_mini_swe_agent.reply(actions=[{}], timestamp=1.8e9)),
    "swe": lambda: test_swe_agent.trajectory(test_swe_agent.step()),
    "atif": lambda: test_atif.trajectory(test_atif.step(2), final=test_atif.sums(10, 1, 2, 0.5, reasoning_tokens=1)),
    "trial": lambda: test_harbor.trial(agent_result=test_harbor.used(model_usage={"m": test_harbor.used()}), **test_harbor.raised("X")),
    "trials": lambda: test_terminal_bench.results(test_terminal_bench.trial(1), test_terminal_bench.trial(2)),
}
HOSTILE: list[Any] = [
    None, True, -1, 0, 1.5, 2**53 + 1, 1e308, 10**400, "", "x", "\ud800", "2026-13-45", "NaN", [], [None], [[]], [1, "a"], {}, {"a": {}},
]  # fmt: skip


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values inside a value."""
    inner = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    return [path] * bool(path) + [found for key, item in inner for found in leaves(item, (*path, key))]


@pytest.mark.parametrize("name", RECORDS)
@given(st.data())
def test_any_value_anywhere(name: str, data: st.DataObject) -> None:
    record = deepcopy(RECORDS[name]())
    for path in data.draw(st.lists(st.sampled_from(leaves(record)), min_size=1, max_size=3)):
        value = deepcopy(data.draw(st.sampled_from(HOSTILE)))
        with suppress(KeyError, IndexError, TypeError):  # an earlier value took the place away
            reduce(getitem, path[:-1], record)[path[-1]] = value
    runs, rejects = runs_in(json.dumps(record).encode())
    assert len(runs) + len(rejects) <= 2
