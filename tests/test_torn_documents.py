"""What the records of all agents have in common.

What is in them, in a cut or a wrong one is no run, and runs before and behind it are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ingest.sources.contents import read
from ingest.sources.document import Document
from ingest.sources.files import Source
from tests.conftest import record
from tests.documents import runs_in
from tests.fuzz import seeds

RECORD = record()
QUOTED: dict[str, Callable[[], Any]] = {
    "in a string": lambda: json.dumps(RECORD),
    "indented in a string": lambda: "log:\n" + json.dumps(RECORD, indent=2) + "\nend",
    "as a value": lambda: RECORD,
    "in a wrapper": lambda: {"output": RECORD},
    "in a list": lambda: [RECORD, RECORD],
}
AGENTS = {
    "Trae": ("llm_interactions", 0, "response", "content"),
    "InspectAI": ("samples", 0, "output", "choices", 0, "message", "content"),
    "OpenCodeExported": ("messages", 1, "info", "role"),
    "MiniSweAgent": ("messages", 2, "content"),
    "SweAgent": ("trajectory", 0, "observation"),
    "CopilotHistories": ("sessionId",),
    "GeminiJson": ("response",),
    "HarborTrials": ("task_name",),
    "Atif": ("steps", 1, "message"),
    "OpenHandsEvents, of a state": ("id",),
}
"""Reader → the place of a text in its log."""


def with_record(reader: str, quoted: Any) -> str:
    """The log of a reader, indented, with a record at the place."""
    value = json.loads(seeds.seed(reader))
    *outer, last = AGENTS[reader]
    inner = value
    for key in outer:
        inner = inner[key]
    inner[last] = quoted
    return json.dumps(value, indent=2)


def ids(text: str) -> set[str]:
    return {run.run_id for run in runs_in(text.encode())[0]}


@pytest.mark.parametrize("reader", AGENTS)
def test_a_record_in_a_text_is_no_run(reader: str) -> None:
    assert RECORD["uuid"] not in ids(with_record(reader, json.dumps(RECORD)))


@pytest.mark.parametrize("cut", [20, 50, 80, 99])
@pytest.mark.parametrize("reader", ["MiniSweAgent", "SweAgent", "HarborTrials", "Atif"])
def test_a_cut_file_is_a_reject_and_no_run(reader: str, cut: int) -> None:
    data = seeds.seed(reader)
    runs, rejects = runs_in(data[: len(data) * cut // 100])
    assert (runs, len(rejects)) == ([], 1)


FIGURES: dict[str, tuple[tuple[str | int, ...], tuple[str, ...]]] = {
    "MiniSweAgent": (
        ("messages", 2, "extra", "response", "usage"),
        ("prompt_tokens", "completion_tokens"),
    ),
    "SweAgent": (
        ("info", "model_stats"),
        ("instance_cost", "tokens_sent", "tokens_received", "api_calls"),
    ),
    "HarborTrials": (
        ("agent_result",),
        ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd"),
    ),
    "Atif": (
        ("final_metrics",),
        ("total_prompt_tokens", "total_completion_tokens", "total_cached_tokens", "total_cost_usd"),
    ),
    "TerminalBench": (("results", 0), ("total_input_tokens", "total_output_tokens")),
}
"""Reader → the place of figures in its log, and their names."""


@pytest.mark.parametrize(
    ("reader", "name"), [(reader, name) for reader, (_, names) in FIGURES.items() for name in names]
)
def test_a_wrong_figure_is_named(reader: str, name: str) -> None:
    value = place = json.loads(seeds.seed(reader))
    keys = FIGURES[reader][0]
    for key in keys:
        place = place[key]
    place[name] = -1
    assert f"{'.'.join(map(str, keys))}" in (detail := runs_in(json.dumps(value).encode())[1][0])
    assert name in detail


@pytest.mark.parametrize("how", QUOTED)
@pytest.mark.parametrize("reader", AGENTS)
def test_a_record_in_a_torn_document_is_no_run(reader: str, how: str) -> None:
    text = with_record(reader, QUOTED[how]())
    behind = text.rindex("total_cost_usd") + 500
    for cut in {min(behind, len(text) - 2), (behind + len(text)) // 2, len(text) - 2}:
        assert RECORD["uuid"] not in ids(text[:cut])
        broken = text[:cut] + "\x01" + text[cut:]
        assert RECORD["uuid"] not in ids(broken)


@pytest.mark.parametrize("reader", AGENTS)
def test_records_around_a_torn_document_are_runs(reader: str) -> None:
    torn = with_record(reader, [RECORD])[:-2].rstrip()
    first, last = (
        json.dumps(record(uuid=f"00000000-0000-0000-0000-00000000000{number}")) for number in (2, 3)
    )
    logged = f"{first}\n{torn}\n[2026-05-01T10:00:00Z] [INFO] {last}\n"
    found = {"00000000-0000-0000-0000-000000000002", "00000000-0000-0000-0000-000000000003"}
    for text in (logged, f"{first}\n{torn}\n{last}\n"):
        assert ids(text) == found


def test_what_is_found_does_not_depend_on_the_windows() -> None:
    text = with_record("InspectAI", [RECORD])[:-9] + "\nlog text {\n" + json.dumps(RECORD) + "\n"
    whole = [(part.ordinal, part.position) for part in read(Source("a", text.encode()))]
    for window in (1, 7, 100, 1000):
        parts = list(read(Source("a", text.encode()), None, window))
        assert [(part.ordinal, part.position) for part in parts] == whole
        assert sum(isinstance(part, Document) for part in parts) == 1, "the record behind the log"
