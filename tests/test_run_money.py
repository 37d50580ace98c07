"""Where the money of a run went: parts that add up to its cost, its usual run, and the words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queries import runs as run_queries
from app.queries.reading import fetch
from app.queries.run_money import (
    AGAIN,
    CLASSES,
    DIFFERENCE,
    INPUT,
    NEW,
    NOT_EXPLAINED,
    OUTPUT,
    READ,
    SUBAGENTS,
    WRITTEN,
    Part,
    RunMoney,
    UsualRun,
    explained,
    money_of,
    split,
    stretches,
)
from app.queries.sessions import timeline
from app.text.run_money import (
    label_of,
    million,
    money_bar,
    money_notes,
    money_table,
    turning_html,
    why_dear,
)
from ingest.store.database import Store
from tests.conftest import StoreOnce, ingest_paths
from tests.golden_logs import LOGS
from tests.test_response_prices import NOON, SONNET_45, put, response, transcript
from tests.using import log_of

MILLION = Decimal(1_000_000)


AGENTS = ("aider", "chains", "claude_code", "claude_transcripts", "codex_responses", "gemini", "pi")


@pytest.fixture(scope="module")
def logs(store_once: StoreOnce) -> Store:
    """Transcripts, records and streams of agents with different classes of prices."""
    return store_once("run-money", lambda store: ingest_paths(store, *(LOGS / a for a in AGENTS)))


def test_the_parts_of_every_run_add_up_to_its_cost(logs: Store) -> None:
    """And at list prices to what its responses and models were priced at."""
    columns = "run_id, cost_best_usd, cost_list_usd, cost_cause"
    runs = fetch(logs, f"select {columns} from v_runs").to_pylist()
    found = split(logs, [run["run_id"] for run in runs])
    assert sum(run["cost_list_usd"] is not None for run in runs) > 30
    for run in runs:
        parts = found[run["run_id"]]
        if run["cost_list_usd"] is not None:
            listed = sum(part.usd or 0 for part in parts)
            assert abs(listed - run["cost_list_usd"]) <= Decimal("0.000001"), run["run_id"]
        if run["cost_best_usd"] is not None:
            all_of_it = explained(parts, run["cost_best_usd"], run["cost_cause"])
            assert sum(part.usd or 0 for part in all_of_it) == run["cost_best_usd"], run["run_id"]


USD = st.decimals(-5, 100, places=12)
PARTS = st.lists(
    st.builds(Part, st.sampled_from(CLASSES), st.integers(0, 10**9), st.integers(0, 500), USD),
    max_size=9,
)


@given(PARTS, st.decimals(0, 1000, places=9), st.sampled_from([None, "same", "1h_cache_writes"]))
def test_what_nothing_explains_is_a_row_of_its_own(
    parts: list[Part], cost: Decimal, cause: str | None
) -> None:
    found = explained(parts, cost, cause)
    assert sum(part.usd or 0 for part in found) == cost
    assert {part.key for part in found[len(parts) :]} <= {DIFFERENCE, NOT_EXPLAINED}


def session(store: Store) -> RunMoney:
    """A session at $3 input, $0.30 read, $3.75 written, $15 output, with a sub-agent.

    Its cache expires once in a pause, is lost once more, and its context is compacted once.
    """
    answers = [
        (0, {"cache_write_tokens": 100_000, "output_tokens": 1_000}),
        (1, {"cache_read_tokens": 100_000, "cache_write_tokens": 10_000, "input_tokens": 10}),
        (40, {"cache_read_tokens": 20_000, "cache_write_tokens": 95_000}),
        (41, {"cache_write_tokens": 120_000}),
        (42, {"cache_write_tokens": 30_000}),
        (43, {"cache_read_tokens": 30_000, "output_tokens": 2_000}),
    ]
    rows = [
        response(SONNET_45, **tokens | {"at": NOON + timedelta(minutes=minute)})
        for minute, tokens in answers
    ]
    one = {"agent_id": "a1", "is_sidechain": True, "at": NOON + timedelta(minutes=2)}
    rows.append(response(SONNET_45, **one, cache_write_tokens=5_000, output_tokens=100))
    with store.writing() as writer:
        put(writer, rows, transcript(repo="shop"))
    run = run_queries.run(store, "s")
    assert run is not None
    return money_of(store, run)


def test_a_context_that_is_written_again_is_separate_from_new_text(store: Store) -> None:
    money = session(store)
    parts = {part.key: (part.tokens, part.times, part.usd) for part in money.parts}
    again = 90_010 + 115_000
    new = 100_000 + 10_000 + 4_990 + 5_000 + 30_000
    assert parts == {
        AGAIN: (again, 2, again * Decimal("3.75") / MILLION),
        NEW: (new, 5, new * Decimal("3.75") / MILLION),
        READ: (150_000, 3, Decimal("0.045")),
        OUTPUT: (3_000, 2, Decimal("0.045")),
        SUBAGENTS: (5_100, 1, Decimal("0.02025")),
        INPUT: (10, 1, Decimal("0.00003")),
    }
    assert sum(usd for _, _, usd in parts.values() if usd) == money.cost_usd
    assert money.of(AGAIN).saved_usd == again * Decimal("3.45") / MILLION
    said = why_dear({"reason": None, "is_started": True, "repo": None, "num_turns": None}, money)
    assert said.heading == (
        "This run cost $1.44. Half of it paid for **writing the same context to the cache "
        "again**, 2 times."
    )
    would = "Had those 2 been read instead of written, it would have cost about $0.73."
    assert said.second == would


def test_stretches_begin_where_the_context_is_paid_again_or_compacted(store: Store) -> None:
    session(store)
    found = stretches(timeline(store, "s").to_pylist())
    assert [(one.first, one.last, one.again, one.contexts, one.began) for one in found] == [
        (1, 2, 0, (100_000, 110_010), ""),
        (3, 3, 0, None, "subagent"),
        (4, 5, 2, (115_000, 120_000), "again"),
        (6, 7, 0, (30_000, 30_000), "compaction"),
    ]
    assert found[2].pause_ms == timedelta(minutes=39).total_seconds() * 1000
    assert sum(one.usd or 0 for one in found) == Decimal("1.44153")


@pytest.mark.parametrize(("context", "is_compacted"), [(98_000, False), (49_000, True)])
def test_only_a_context_that_falls_by_more_than_half_was_compacted(
    store: Store, context: int, *, is_compacted: bool
) -> None:
    """Where no write to the cache has a price, each smaller context was a compaction."""
    sizes = [(0, 100_000), (90_000, 10_000), (20_000, context - 20_000)]
    rows = [
        response(
            SONNET_45,
            at=NOON + timedelta(minutes=6 * number),
            cache_read_tokens=read,
            input_tokens=sent,
        )
        for number, (read, sent) in enumerate(sizes)
    ]
    with store.writing() as writer:
        put(writer, rows, transcript(repo="shop"))
    answered = timeline(store, "s")
    last = answered.to_pylist()[-1]
    assert (last["is_fall"], last["again_tokens"] > 0) == (is_compacted, not is_compacted)
    assert "followed a pause" in turning_html(answered) or is_compacted


def test_the_usual_run_is_of_earlier_runs_that_are_most_alike(store: Store, tmp_path: Path) -> None:
    """Of the same project from five on, else of other projects; never of later runs."""
    for repo, numbers in (("other", [0]), ("shop", range(1, 8))):
        (folder := tmp_path / repo).mkdir()
        for number in numbers:
            log_of(f"r{number}", folder, time=f"2026-01-0{number + 1}T00:00:00Z")
        ingest_paths(store, folder, repo=repo)

    def usual(run_id: str) -> UsualRun | None:
        run = run_queries.run(store, run_id)
        assert run is not None
        return money_of(store, run).usual

    assert usual("r4") is None, "four earlier runs are no usual one"
    fifth, last = usual("r5"), usual("r7")
    assert fifth
    assert last
    assert (fifth.by, fifth.runs) == (("agent", "model"), 5), (
        "one of the five is of another project"
    )
    assert (last.by, last.runs) == (("repo", "agent", "model"), 6)
    assert set(last.usd) >= {READ, OUTPUT, WRITTEN}, "of totals, what was written is one part"
    assert AGAIN not in last.usd


MONEY = RunMoney(
    Decimal("5.96"),
    None,
    None,
    (
        Part(READ, 6_000_000, 0, Decimal("3.00"), Decimal("0.0000005"), Decimal("0.0000005")),
        Part(WRITTEN, 277_000, 0, Decimal("1.73")),
        Part(OUTPUT, 49_000, 0, Decimal("1.23")),
    ),
    UsualRun(
        ("repo", "agent", "model"),
        8,
        Decimal("2.71"),
        None,
        33,
        21_000,
        {READ: 2_900_000, WRITTEN: 120_000, OUTPUT: 21_000},
        {READ: Decimal("1.46"), WRITTEN: Decimal("0.75"), OUTPUT: Decimal("0.51")},
    ),
)
RUN: dict[str, Any] = {
    "reason": None,
    "is_started": True,
    "repo": "codeharness",
    "agent": "claude-code",
    "model": "claude-opus-4-6",
    "num_turns": 50,
}


@pytest.mark.parametrize(
    ("money", "run", "heading", "second"),
    [
        (
            {},
            {},
            (
                "This run cost $5.96, 2.2× the usual run of codeharness: it **read back 2.1× the "
                "context**."
            ),
            "Half of its cost is context read from the cache: 6.0M tokens, usually 2.9M.",
        ),
        ({"cost_usd": Decimal("3.00")}, {}, "This run cost $3.00, as usual for codeharness.", None),
        (
            {"bounds": "lower_bound", "usual": None},
            {"reason": "quota"},
            (
                "Quota or usage limit used up after ≥\u00a0$5.96. Half of it paid for **reading "
                "its context back from the cache**."
            ),
            "29% of its cost is written to the cache: 277k tokens.",
        ),
        ({"cost_usd": None}, {}, "What this run cost is not recorded.", ""),
        (
            {"parts": (Part(NOT_EXPLAINED, usd=Decimal("5.96")),), "usual": None},
            {},
            "This run cost $5.96. Its log does not record what for.",
            "",
        ),
    ],
)
def test_the_heading_says_why_in_one_sentence(
    money: dict[str, Any], run: dict[str, Any], heading: str, second: str | None
) -> None:
    said = why_dear(RUN | run, replace(MONEY, **money))
    assert said.heading == heading
    assert len(said.heading.replace("**", "")) <= 110
    assert second is None or said.second == second


def test_the_table_has_each_part_and_the_sum(tmp_path: Path) -> None:
    lines = [list(map(str, cells)) for cells in money_table(MONEY).cells]
    assert lines[0] == ["Context read from the cache", "6.0M", "$0.50", "$3.00", "50%", "$1.46"]
    assert lines[-1] == ["This run", "6.3M", "", "$5.96", "100%", "$2.71"]
    assert money_notes(MONEY, RUN)[-1].startswith(
        "Usual run: median of the 8 earlier runs of codeharness with Claude Code claude-opus-4-6."
    )
    bounded = replace(MONEY, bounds="lower_bound")
    assert str(money_table(bounded).cells[-1][3]) == "≥\u00a0$5.96"
    assert "t-never_started" in money_bar(bounded)
    assert "t-never_started" not in money_bar(MONEY)
    differs = replace(MONEY, cause="1h_cache_writes")
    assert label_of(Part(DIFFERENCE), differs) == "Price differs: 1-hour cache pricing"
    assert million(Part(READ, low=Decimal("3E-7"), high=Decimal("7.5E-8"))) == "$0.30–0.075"
