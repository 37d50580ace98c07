"""A result record of Claude Code becomes rows: outcomes, models, old forms, look-alikes, repair."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import Any

import pytest

from ingest.agents.base import Rows
from ingest.agents.shared.runs import canonical_hash
from ingest.agents.shared.texts import repair
from ingest.facts import NO_FACTS, Facts
from ingest.pipeline import ingest
from ingest.prices.model_ids import ModelId, parse_model_id
from ingest.sources.document import Document
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.run import Outcome
from tests import one_run
from tests.conftest import record, record_text


def rows(**changes: Any) -> Rows:
    return rows_of(record(**changes))


def rows_of(value: dict[str, Any], text: str | None = None, facts: Facts = NO_FACTS) -> Rows:
    document = Document(0, "line 1", text or json.dumps(value))
    found = one_run.rows_of(document, facts)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("outcome", "changes"),
    [
        (Outcome.COMPLETED, {}),
        (Outcome.COMPLETED, {"terminal_reason": "completed"}),
        (Outcome.MAX_TURNS, {"subtype": "error_max_turns", "is_error": False, "result": ...}),
        (Outcome.MAX_TURNS, {"subtype": "error_max_turns", "is_error": True}),
        (Outcome.MAX_TURNS, {"terminal_reason": "max_turns"}),
        (Outcome.MAX_BUDGET, {"subtype": "error_max_budget_usd", "is_error": True}),
        (
            Outcome.MAX_STRUCTURED_OUTPUT_RETRIES,
            {"subtype": "error_max_structured_output_retries", "is_error": True},
        ),
        (
            Outcome.EXECUTION_ERROR,
            {"subtype": "error_during_execution", "is_error": True, "errors": ["x"]},
        ),
        (Outcome.INTERRUPTED, {"subtype": "error_during_execution", "is_error": False}),
        (Outcome.INTERRUPTED, {"terminal_reason": "aborted_tools"}),
        (Outcome.REFUSED, {"stop_reason": "refusal"}),
        (
            Outcome.LIMIT_REACHED,
            {"is_error": True, "result": "You've hit your limit · resets 5pm (Europe/Berlin)"},
        ),
        (
            Outcome.LIMIT_REACHED,
            {"is_error": True, "result": "Claude AI usage limit reached|1760000000"},
        ),
        (Outcome.LIMIT_REACHED, {"is_error": True, "result": "5-hour limit reached ∙ resets 3am"}),
        (
            Outcome.LIMIT_REACHED,
            {
                "is_error": True,
                "result": "API Error: Claude's response exceeded the 32000 output token maximum.",
            },
        ),
        (Outcome.API_ERROR, {"is_error": True, "result": "API Error: 529 overloaded"}),
        (Outcome.API_ERROR, {"is_error": True, "result": "Invalid API key · Please run /login"}),
        (Outcome.API_ERROR, {"terminal_reason": "api_error"}),
        (Outcome.UNKNOWN, {"subtype": "error_of_tomorrow", "is_error": True}),
        (Outcome.COMPLETED, {"result": "The rate limit reached by users resets now."}),
    ],
)
def test_the_outcome_is_derived_by_version(outcome: Outcome, changes: dict[str, Any]) -> None:
    assert rows(**changes).run.outcome is outcome


def test_unknown_figures_are_unknown_and_not_zero() -> None:
    made = rows(
        modelUsage={"m": {"outputTokens": 5}},
        duration_ms=...,
        total_cost_usd=None,
        permission_denials=...,
    )
    run = made.run
    assert (
        run.duration_ms,
        run.cost_reported_usd,
        run.cost_own_usd,
        run.permission_denials,
        run.input_tokens,
    ) == (None,) * 5
    assert (made.model_usage[0].cost_reported_usd, made.model_usage[0].output_tokens) == (None, 5)


@pytest.mark.parametrize(
    ("split", "written", "creation", "own"),
    [
        ((40, 0), 40, {"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 0}, {}),
        ((10, 30), 40, {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 30}, {}),
        ((None, None), 40, {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}, {}),
        ((None, None), 40, None, {}),
        ((0, 0), 0, None, {}),
        (
            (7, 33),
            40,
            None,
            {"cacheCreationEphemeral5mInputTokens": 7, "cacheCreationEphemeral1hInputTokens": 33},
        ),
    ],
)
def test_cache_writes_are_split_only_where_the_record_tells(
    split: tuple[int | None, int | None],
    written: int,
    creation: dict[str, int] | None,
    own: dict[str, int],
) -> None:
    made = rows(
        modelUsage={"m": {"cacheCreationInputTokens": written} | own},
        usage={"cache_creation": creation},
    )
    assert (
        made.model_usage[0].cache_write_5m_tokens,
        made.model_usage[0].cache_write_1h_tokens,
    ) == split


def test_a_record_of_version_0_2_is_read() -> None:
    old = {
        "role": "system",
        "cost_usd": 0.23,
        "duration_ms": 1000,
        "duration_api_ms": 900,
        "result": "ok",
        "session_id": "s",
    }
    run = rows_of(old).run
    assert (str(run.cost_reported_usd), run.outcome, run.subtype, run.run_id) == (
        "0.230000000",
        "completed",
        None,
        canonical_hash(old),
    )


def test_usage_without_the_name_of_a_model_is_kept_under_none() -> None:
    made = rows(modelUsage=...)
    assert [(row.model_id, row.cache_read_tokens) for row in made.model_usage] == [(None, 30)]
    assert (made.run.models, made.run.cache_write_tokens) == ((), 40)
    made = rows(modelUsage={"": {"outputTokens": 5, "costUSD": 0.25}})
    assert [(row.model_id, row.model, row.output_tokens) for row in made.model_usage] == [
        (None, None, 5)
    ]
    assert made.run.models == ()


def test_a_record_without_uuid_is_known_by_its_content() -> None:
    value = record(uuid=...)
    shuffled = json.dumps(dict(reversed(value.items())), indent=3)
    assert rows_of(value).run.run_id == rows_of(value, shuffled).run.run_id
    assert rows_of(value).run.run_id != rows(uuid=..., num_turns=4).run.run_id


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3", "3.0"),
        ("100", "1e2"),
        ("1E+2", "100.0"),
        ("0", "-0.0"),
        ("25e-2", "0.250"),
        ("1" + "0" * 23, "1e23"),
    ],
)
def test_the_same_numbers_in_another_spelling_are_the_same_record(one: str, other: str) -> None:
    assert canonical_hash(json.loads(f'{{"a":[{one}]}}')) == canonical_hash(
        json.loads(f'{{"a":[{other}]}}')
    )


def test_other_numbers_and_numbers_in_text_are_another_record() -> None:
    values = (
        [3, 0.5],
        [3, 0.25],
        ["3", 0.5],
        ["3.0", 0.5],
        ["[3.0]", 0.5],
        ["[3]", 0.5],
        [4.0, 0.5],
        [3.000000001, 0.5],
        [True, 0.5],
    )
    assert len(set(map(canonical_hash, values))) == len(values)


def test_ids_given_before_numbers_were_compared_still_hold() -> None:
    assert canonical_hash({"b": 1, "a": 0.25}) == hashlib.sha256(b'{"a":0.25,"b":1}').hexdigest()


@pytest.mark.parametrize(
    ("cost", "told"),
    [
        ("0.500000000", {"total_cost_usd": None, "cost_usd": 0.5}),
        ("0.500000000", {"total_cost_usd": None, "total_cost": None, "cost_usd": 0.5}),
        ("0.750000000", {"total_cost_usd": None, "total_cost": 0.75, "cost_usd": 0.5}),
        ("0.250000000", {"total_cost_usd": 0.25, "cost_usd": 0.5}),
        ("0.250000000", {"total_cost_usd": 0.25, "cost_usd": "50 cents"}),
        ("None", {"total_cost_usd": None, "cost_usd": None}),
    ],
)
def test_the_first_cost_that_is_not_null_counts(cost: str, told: dict[str, Any]) -> None:
    assert str(rows(**told).run.cost_reported_usd) == cost


def test_control_characters_and_halves_of_surrogate_pairs_are_read() -> None:
    text = json.dumps(record()).replace('"Done."', '"a\tb\\ud83d c"')
    assert rows_of({}, text).run.result == "a\tb\ufffd c"


def test_a_look_alike_is_refused_by_name() -> None:
    droid = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 9,
        "num_turns": 1,
        "result": "x",
        "session_id": "s",
    }
    with pytest.raises(InvalidRecord, match="Droid") as caught:
        rows_of(droid)
    assert caught.value.reason is RejectReason.LOOK_ALIKE


def test_a_record_without_figures_may_be_cut_down_or_of_another_agent() -> None:
    bare = {
        "type": "result",
        "subtype": "success",
        "is_error": True,
        "result": "Session limit reached",
        "session_id": "s",
        "uuid": "u",
    }
    with pytest.raises(
        InvalidRecord, match="without cost, turns or tokens: of an unknown agent, or cut down"
    ):
        rows_of(bare)


def test_a_refusal_names_the_field_and_what_was_found() -> None:
    usage = {"claude-opus-4-6": {"inputTokens": "many"}}
    with pytest.raises(
        InvalidRecord,
        match=(
            r"modelUsage\.claude-opus-4-6\.inputTokens: Input should be a whole number from 0 to "
            r"2\*\*53 \(found 'many'\)"
        ),
    ):
        rows(modelUsage=usage)


@pytest.mark.parametrize(
    ("usage", "total"),
    [
        (
            {"claude-opus-4-6": {"costUSD": 9e8}, "claude-opus-4-6[1m]": {"costUSD": 9e8}},
            "1,800,000,000.000000000 USD",
        ),
        ({"a": {"inputTokens": 2**53}, "b": {"inputTokens": 1}}, "9,007,199,254,740,993 tokens"),
        (
            {str(number): {"outputTokens": 2**53} for number in range(1000)},
            "9,007,199,254,740,992,000 tokens",
        ),
    ],
)
def test_models_whose_figures_add_up_to_more_than_a_figure_may_be_are_refused(
    usage: dict[str, Any], total: str
) -> None:
    with pytest.raises(
        InvalidRecord, match=f"modelUsage: its models add up to {total}; the maximum is "
    ) as caught:
        rows(modelUsage=usage)
    assert caught.value.reason is RejectReason.INVALID_RECORD


def test_models_may_add_up_to_the_largest_figure() -> None:
    run = rows(
        modelUsage={
            "claude-opus-4-6": {"costUSD": 9e8},
            "claude-opus-4-6[1m]": {"costUSD": 99_999_999, "inputTokens": 2**53},
        }
    ).run
    assert (run.model_costs_usd, run.input_tokens) == ((Decimal(999_999_999),), 2**53)


def test_what_is_known_around_the_record_stands_in_its_row() -> None:
    made = rows_of(
        record(),
        None,
        Facts(
            labels={"branch": "main"},
            repo="vllm",
            agent_version="2.1",
            tool_calls=(("Bash", 3, 1),),
        ),
    )
    assert (made.run.repo, made.run.labels, made.run.agent_version) == (
        "vllm",
        {"branch": "main"},
        "2.1",
    )
    assert [(row.tool, row.calls, row.errors) for row in made.tool_calls] == [("Bash", 3, 1)]


@pytest.mark.parametrize(
    ("logged", "model", "provider", "region"),
    [
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5", "anthropic", None),
        ("gpt-5-2025-08-07", "gpt-5", "openai", None),
        ("azure/o3-mini-2025-01-31", "o3-mini", "azure", None),
        ("gpt-4-0613", "gpt-4-0613", "openai", None),
        ("claude-opus-4-6[1m]", "claude-opus-4-6", "anthropic", None),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", "aws", "us"),
        ("us.anthropic.claude-opus-4-6-v1", "claude-opus-4-6", "aws", "us"),
        ("us.anthropic.claude-fable-5-1[1m]", "claude-fable-5-1", "aws", "us"),
        ("global.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5", "aws", "global"),
        ("anthropic.claude-3-5-sonnet-20240620-v1:0", "claude-3-5-sonnet", "aws", None),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "claude-sonnet-4-5",
            "aws",
            "eu",
        ),
        (
            "arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc123",
            "abc123",
            "aws",
            "eu-west-1",
        ),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5", "google", None),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5", "openrouter", None),
        ("anthropic/claude-4.6-opus-20260205", "claude-opus-4-6", "openrouter", None),
        ("claude-4.5-sonnet-20250929", "claude-sonnet-4-5", "anthropic", None),
        ("claude-4-opus", "claude-opus-4", "anthropic", None),
        ("claude-3.5-sonnet", "claude-3-5-sonnet", "anthropic", None),
        ("deepseek-v3", "deepseek-v3", "deepseek", None),
        ("deepseek.v3-v1:0", "v3", "aws", None),
        ("vertex_ai/claude-sonnet-4@20250514", "claude-sonnet-4", "google", None),
        ("claude-sonnet-latest", "claude-sonnet-latest", "anthropic", None),
        ("glm-5.1", "glm-5.1", "zhipuai", None),
        ("qwen3.6-35b-a3b", "qwen3.6-35b-a3b", None, None),
        ("<synthetic>", "<synthetic>", None, None),
        ("[1m]", "[1m]", None, None),
        ("us.", "us.", "aws", "us"),
        ("  ", "  ", None, None),
    ],
)
def test_model_ids(logged: str, model: str, provider: str | None, region: str | None) -> None:
    assert parse_model_id(logged) == ModelId(model, provider, region)
    assert parse_model_id("my-alias", "bedrock", "claude-opus-4-8") == ModelId(
        "claude-opus-4-8", "aws", None
    ), "the record's own words win"


@pytest.mark.parametrize(
    ("damaged", "repaired"),
    [
        ("`zeros` â†’ `empty`", "`zeros` → `empty`"),
        ("donâ€™t — really", "don’t — really"),
        ("→ fine\nâ†’ damaged", "→ fine\n→ damaged"),
        (
            "Café, naïve, 10 µs, ½, “quoted”, 中文, ﬁ, ﾊﾝｶｸ",
            "Café, naïve, 10 µs, ½, “quoted”, 中文, ﬁ, ﾊﾝｶｸ",
        ),
        ("&amp; stays\r\n and so does \u200b", "&amp; stays\r\n and so does \u200b"),
    ],
)
def test_repair_mends_mojibake_and_nothing_else(damaged: str, repaired: str) -> None:
    assert repair(damaged) == repaired


def test_d14_an_id_of_ten_thousand_routes_is_read(store: Store) -> None:
    """One call within another for each of them ended the ingest."""
    [usage] = record()["modelUsage"].values()
    line = record_text(modelUsage={f"{'a/' * 50_000}glm-5.1": usage})
    ingest([Source("log", line.encode())], store)
    with store.reading() as connection:
        assert connection.execute("select model, provider from runs").fetchall() == [
            ("glm-5.1", "openrouter")
        ]
