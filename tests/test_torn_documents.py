"""What is in a record of any agent, cut or whole, is no run; runs before and behind it are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ingest.sources.contents import read
from ingest.sources.document import Document
from ingest.sources.files import Source
from tests.conftest import record
from tests.documents import runs_in
from tests.fuzz import seeds

RECORD = record()
QUOTED: tuple[Any, ...] = (
    json.dumps(RECORD),
    f"log:\n{json.dumps(RECORD, indent=2)}\nend",
    RECORD,
    {"output": [RECORD, RECORD]},
)
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
def test_a_record_in_a_document_is_no_run_however_it_is_torn(reader: str) -> None:
    assert RECORD["uuid"] not in ids(with_record(reader, QUOTED[0]))
    for quoted in QUOTED:
        text = with_record(reader, quoted)
        behind = text.rindex("total_cost_usd") + 500
        for cut in {min(behind, len(text) - 2), len(text) - 2}:
            assert RECORD["uuid"] not in ids(text[:cut]) | ids(text[:cut] + "\x01" + text[cut:])


@pytest.mark.parametrize("reader", ["MiniSweAgent", "SweAgent", "HarborTrials", "Atif"])
def test_a_cut_file_is_a_reject_and_no_run(reader: str) -> None:
    data = seeds.seed(reader)
    for share in (20, 50, 99):
        runs, rejects = runs_in(data[: len(data) * share // 100])
        assert (runs, len(rejects)) == ([], 1)


@pytest.mark.parametrize(
    ("reader", "place", "name"),
    [
        ("MiniSweAgent", ("messages", 2, "extra", "response", "usage"), "prompt_tokens"),
        ("SweAgent", ("info", "model_stats"), "instance_cost"),
        ("HarborTrials", ("agent_result",), "n_cache_tokens"),
        ("Atif", ("final_metrics",), "total_cost_usd"),
        ("TerminalBench", ("results", 0), "total_output_tokens"),
    ],
)
def test_a_wrong_figure_is_named(reader: str, place: tuple[str | int, ...], name: str) -> None:
    value = inner = json.loads(seeds.seed(reader))
    for key in place:
        inner = inner[key]
    inner[name] = -1
    [detail, *_] = runs_in(json.dumps(value).encode())[1]
    assert ".".join(map(str, place)) in detail
    assert name in detail


@pytest.mark.parametrize("reader", AGENTS)
def test_records_around_a_torn_document_are_runs(reader: str) -> None:
    torn = with_record(reader, [RECORD])[:-2].rstrip()
    found = [f"00000000-0000-0000-0000-00000000000{number}" for number in (2, 3)]
    first, last = (json.dumps(record(uuid=uuid)) for uuid in found)
    for before in ("", "[2026-05-01T10:00:00Z] [INFO] "):
        assert ids(f"{first}\n{torn}\n{before}{last}\n") == set(found)


def test_what_is_found_does_not_depend_on_the_windows() -> None:
    text = with_record("InspectAI", [RECORD])[:-9] + "\nlog text {\n" + json.dumps(RECORD) + "\n"
    whole = [(part.ordinal, part.position) for part in read(Source("a", text.encode()))]
    for window in (1, 7, 100, 1000):
        parts = list(read(Source("a", text.encode()), None, window))
        assert [(part.ordinal, part.position) for part in parts] == whole
        assert sum(isinstance(part, Document) for part in parts) == 1, "the record behind the log"
