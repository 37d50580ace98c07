"""The main model of a run is the one that cost most.

This holds whenever its models and their prices come to be known.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import tachograph
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.pricing import reprice
from ingest.store.rebuild import rebuild
from schemas.rows.price import PriceFileRow
from tests.claude_lines import SESSION, reply, usage, user
from tests.conftest import record, record_text
from tests.documents import lines
from tests.golden_logs import text_of
from tests.test_pricing import rows
from tests.test_pricing import usage as used

OPUS, HAIKU = "claude-opus-4-8", "claude-haiku-4-5-20251001"
_SIDE = {"isSidechain": True, "agentId": "x", "inside": {"model": HAIKU}}
OPUS_IN_MAIN = (
    f"projects/p/{SESSION}.jsonl",
    lines(user("Go."), reply(tokens=usage(100), inside={"model": OPUS})),
)
HAIKU_IN_SUBAGENT = (
    f"projects/p/{SESSION}/subagents/agent-x.jsonl",
    lines(reply("s1", "msg_s", "req_s", usage(200), **_SIDE)),
)
DEAR_HAIKU = '[[price]]\nmodel = "claude-haiku-4-5"\ninput = 500\noutput = 900\n'


def read(store: Store, *files: tuple[str, str]) -> None:
    ingest([Source(name, text.encode()) for name, text in files], store, Options(jobs=1))


def main_models(store: Store) -> list[tuple[str | None, str | None]]:
    return [
        (row["model"], row["provider"])
        for row in rows(store, "select model, provider from runs order by run_id")
    ]


IS_OPUS, IS_HAIKU = [("claude-opus-4-8", "anthropic")], [("claude-haiku-4-5", "anthropic")]


def test_more_output_of_a_cheaper_model_costs_less(store: Store) -> None:
    read(store, OPUS_IN_MAIN, HAIKU_IN_SUBAGENT)
    assert main_models(store) == IS_OPUS
    opened = tachograph.open(store.location)
    assert [row["model"] for row in opened.report(by="model", metrics="runs")] == [
        "claude-opus-4-8"
    ]
    assert [run["run_id"] for run in opened.runs(main_model="claude-opus-4-8")] == [SESSION]


@pytest.mark.parametrize(
    "order", [(OPUS_IN_MAIN, HAIKU_IN_SUBAGENT), (HAIKU_IN_SUBAGENT, OPUS_IN_MAIN)]
)
def test_a_subagent_may_come_later(store: Store, order: tuple[tuple[str, str], ...]) -> None:
    for file in order:
        read(store, file)
    assert main_models(store) == IS_OPUS


def test_it_follows_the_prices_of_the_store(store: Store) -> None:
    read(store, OPUS_IN_MAIN, HAIKU_IN_SUBAGENT)
    reprice(
        store,
        PriceFileRow(name="dear.toml", text=DEAR_HAIKU, read_at=datetime(2026, 3, 1, tzinfo=UTC)),
    )
    assert main_models(store) == IS_HAIKU
    rebuild(store)
    assert main_models(store) == IS_HAIKU
    reprice(store, forget=True)
    assert main_models(store) == IS_OPUS


def test_a_reported_cost_goes_before_a_list_price(store: Store) -> None:
    models = {HAIKU: used(0.30, 10, 10), OPUS: used(0.25, 10, 10_000)}
    read(store, ("a.json", record_text(modelUsage=models, total_cost_usd=0.55)))
    assert main_models(store) == IS_HAIKU


def test_of_later_results_of_a_process_what_each_added_counts(store: Store) -> None:
    """Totals of a process go on.

    The second result added mostly Haiku, whatever Opus had cost before.
    """
    first, both = {OPUS: used(0.50, 10, 10)}, {OPUS: used(0.51, 11, 11), HAIKU: used(0.20, 10, 10)}
    init = {"type": "system", "subtype": "init", "session_id": record()["session_id"]}
    results = (
        record(uuid="a", modelUsage=first, total_cost_usd=0.50),
        record(uuid="b", modelUsage=both, total_cost_usd=0.71),
    )
    read(store, ("a.jsonl", lines(init, *results)))
    assert main_models(store) == [*IS_OPUS, *IS_HAIKU]


def test_costs_say_nothing_where_a_model_that_was_used_has_none(store: Store) -> None:
    models = {
        HAIKU: used(0, 10, 10) | {"costUSD": None},
        "our-own-model": used(0, 10_000, 5_000) | {"costUSD": None},
    }
    read(store, ("a.json", record_text(modelUsage=models, total_cost_usd=None)))
    assert main_models(store) == [("our-own-model", None)]
    models["our-own-model"] |= {"inputTokens": 0, "outputTokens": 0}
    read(
        store,
        ("b.json", record_text(uuid="b", session_id="b", modelUsage=models, total_cost_usd=None)),
    )
    assert main_models(store)[1:] == IS_HAIKU, "one that was not used is no obstacle"


def test_telemetry_counts_the_same_way(store: Store) -> None:
    """Two requests, the first of them dearer, the second one larger."""
    lines = text_of("opentelemetry/file_that_grew/2/events.jsonl").splitlines()
    dear = lines[0].replace("claude-sonnet-4-5-20250929", OPUS)
    cheap = (
        lines[1]
        .replace("claude-sonnet-4-5-20250929", HAIKU)
        .replace("0.25", "0.1")
        .replace('"20"', '"9000"')
    )
    read(store, ("otlp.jsonl", f"{dear}\n{cheap}\n"))
    assert main_models(store) == IS_OPUS
