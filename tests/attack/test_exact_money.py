"""D16: money is read digit by digit, in every shape a record comes in.

What no store can hold is refused with field, value and bound.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.queries.filters import choose
from app.queries.runs import runs
from app.reports.cost_report import ReportRequest, report
from app.reports.exports import EXPORTS
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from schemas.errors import UsageError
from schemas.rows.row import LARGEST_USD, usd
from schemas.wire.claude_code import ResultRecord
from schemas.wire.values import DIGITS_LOST
from tests.attack.commands import tachograph
from tests.conftest import StoreOnce, record_text
from tests.reporting import READERS

MOST = "999999999.999999999"
TOKENS = {
    "inputTokens": 1,
    "outputTokens": 1,
    "cacheReadInputTokens": 0,
    "cacheCreationInputTokens": 0,
}
MODELS = {"claude-opus-4-6": TOKENS | {"costUSD": "COST"}}


def text_of(cost: str, **changes: object) -> str:
    """A record that costs so much, in these digits."""
    return record_text(**{"total_cost_usd": "COST", "modelUsage": MODELS, **changes}).replace(
        '"COST"', cost
    )


def costs(store: Store, run_id: str | None = None) -> list[tuple[Decimal, Decimal]]:
    with store.reading() as connection:
        sql = """select runs.cost_reported_usd, model_usage.cost_reported_usd from runs join model_usage using (run_id)
            where run_id = coalesce($run_id, run_id) order by run_id"""  # noqa: E501
        return connection.execute(sql, {"run_id": run_id}).fetchall()


def rejected(store: Store, source: str) -> list[str]:
    with store.reading() as connection:
        sql = (
            "select detail from rejects join sources using (source_id) where name = $source "
            "order by ordinal"
        )
        return [detail for (detail,) in connection.execute(sql, {"source": source}).fetchall()]


def alone(name: str) -> dict[str, object]:
    """What makes a record a run by itself, of this id."""
    return {"uuid": name, "session_id": name}


SHAPES: dict[str, Callable[[str], str]] = {
    "a line": lambda text: text,
    "laid out": lambda text: text.replace(", ", ",\n  "),
    "in a wrapper": lambda text: f'{{"log": {{"data": [{text}]}}}}',
    "in a string": lambda text: json.dumps({"output": f"done {text} bye"}),
    "in a wrapper in a string": lambda text: json.dumps({"output": f'{{"log": {text}}}'}),
    "with a raw control": lambda text: text.replace("Done.", "Do\x02ne."),
    "with half a pair": lambda text: text.replace("Done.", "\\ud800"),
    "under a former name": lambda text: text.replace(
        '"total_cost_usd"', '"total_cost_usd": null, "cost_usd"'
    ),
    "with a prefix on each line": lambda text: "".join(
        f"web | {line}\n" for line in text.replace(", ", ",\n").split("\n")
    ),
}


def test_d16_the_largest_amount_is_read_to_its_last_digit_in_every_shape(store: Store) -> None:
    """Each shape in a source of its own."""
    texts = {shape: write(text_of(MOST, **alone(shape))) for shape, write in SHAPES.items()}
    ingest([Source(shape, text.encode()) for shape, text in texts.items()], store, Options(jobs=1))
    for is_rebuilt in (False, True):
        if is_rebuilt:
            rebuild(store)
        for shape in SHAPES:
            assert costs(store, shape) == [(Decimal(MOST), Decimal(MOST))], shape


ROUNDED = {
    "1e-9": "0.000000001",
    "1E+3": "1000",
    "0.1234567890123456789012345678901234567890": "0.123456789",
    # a float is the middle here, which would go to the even 2
    "0.00000000250000000000000000001": "0.000000003",
    "0.0000000025": "0.000000002",
    "4000000.123456789": "4000000.123456789",
    "999999999.9999999994": MOST,
    "0.24123400000000001": "0.241234",
    "12": "12",
    "-0.0": "",  # a zero like any other, which is no cost of tokens
}


def test_d16_what_is_written_is_rounded_once(store: Store) -> None:
    ingest(
        [Source(written, text_of(written, **alone(written)).encode()) for written in ROUNDED],
        store,
        Options(jobs=1),
    )
    for written, rounded in ROUNDED.items():
        kept = Decimal(rounded) if rounded else None
        assert costs(store, written) == [(kept, kept)], written


@given(
    st.decimals(0, LARGEST_USD, places=12)
    | st.floats(0, 1e9 - 1).map(lambda number: Decimal(repr(number)))
)
@example(Decimal("123456.0000000005"))
@example(Decimal("999999.9999999995"))
def test_d16_a_float_is_trusted_only_where_it_tells_every_nanodollar(amount: Decimal) -> None:
    """The quick way and the exact one agree, or the quick one says that it cannot tell."""
    try:
        quick = ResultRecord.model_validate_json(f'{{"total_cost_usd": {amount}}}').total_cost_usd
    except ValidationError as error:
        kinds = {detail["type"] for detail in error.errors()}
    else:
        kinds = {DIGITS_LOST} if quick == usd(amount) else {"wrong"}
    assert kinds == {DIGITS_LOST}


REFUSED = {
    "1000000000": "(found 1000000000)",
    "1000000000.000000001": "(found 1000000000.000000001)",
    "999999999.9999999996": "(found 999999999.9999999996)",
    "123456789012.123456789": "(found 123456789012.123456789)",
    "1e12": "(found 1e12)",
    "1e400": "(found 1e400)",
    "1e99999999999999999999": "(found 1e99999999999999999999)",
    "1" * 40: f"(found {'1' * 40})",
    "-0.5": "greater than or equal to 0",
    "-4000000.5": "greater than or equal to 0",
    '"0.25"': "should be a number of US dollars (found '0.25')",
    "NaN": "finite",
    "Infinity": "finite",
    "-Infinity": "finite",
    "true": "should be a number of US dollars",
}


def test_d16_what_cannot_be_kept_is_a_reject_that_names_field_value_and_bound(
    store: Store,
) -> None:
    """Each amount in a source of its own, before a record that is kept."""
    texts = {
        written: f"{text_of(written, **alone(written))}\n{text_of('1', **alone(f'+{written}'))}"
        for written in REFUSED
    }
    ingest([Source(name, text.encode()) for name, text in texts.items()], store, Options(jobs=1))
    for written, complaint in REFUSED.items():
        assert (costs(store, written), len(costs(store, f"+{written}"))) == ([], 1), written
        [detail] = rejected(store, written)
        assert "total_cost_usd" in detail
        assert "modelUsage.claude-opus-4-6.costUSD" in detail
        assert complaint in detail
        if "found" in complaint and "'" not in complaint:
            assert "at most 999,999,999.999999999" in detail


def fill_dear(store: Store) -> None:
    """A thousand runs that cost as much as a record may say."""
    lines = (
        text_of(
            MOST,
            uuid=f"u{n}",
            session_id=f"s{n}",
            num_turns=1,
            duration_ms=2**53,
            duration_api_ms=2**53,
        )
        for n in range(1000)
    )
    ingest([Source("log", "\n".join(lines).encode())], store, Options((("team", "a"),)))


@pytest.fixture(scope="module")
def dear(store_once: StoreOnce) -> Store:
    return store_once("dear", fill_dear)


def test_d16_sums_of_the_largest_amounts_are_exact_in_every_format(dear: Store) -> None:
    made, total = report(dear, ReportRequest()), 1000 * Decimal(MOST)
    for name in READERS.keys() - {"table", "xlsx"}:  # whose numbers are floats
        body = EXPORTS[name].write_report(made)
        if name in ("md", "latex"):  # as people read it
            assert f"${total:,.0f}".encode() in body
        else:
            assert READERS[name](body)["cost_best_usd"] == total, name


def test_d16_budgets_and_filters_are_exact(dear: Store, tmp_path: Path) -> None:
    def exit_code(*words: str) -> int:
        return tachograph(*words, "--db", dear.location, cwd=tmp_path).code

    total = 1000 * Decimal(MOST)
    assert exit_code("check", "--max-total-usd", str(total)) == 0
    assert exit_code("check", "--max-total-usd", str(total - Decimal("1e-9"))) == 1
    assert exit_code("check", "--max-run-usd", MOST) == 0
    assert exit_code("check", "--max-run-usd", "999999999.999999998") == 1
    assert runs(dear, choose({"min-cost": MOST, "max-cost": MOST})).num_rows == 1000
    assert runs(dear, choose({"max-cost": "999999999.999999998"})).num_rows == 0
    assert runs(dear, choose({"min-cost": "1e12"})).num_rows == 0


@pytest.mark.parametrize("text", ["1e-400000", "0.0000000001", "1e999999999999", "NaN", "-1", ""])
def test_d16_amounts_on_the_command_line_that_no_figure_can_be_are_refused(
    text: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="min-cost"):
        choose({"min-cost": text or " "})
    done = tachograph("check --max-total-usd", text, cwd=tmp_path)
    assert (done.code, "--max-total-usd takes an amount" in done.stderr) == (2, True)


def test_d16_tokens_beyond_all_measure_have_no_list_cost_rather_than_a_wrong_one(
    store: Store,
) -> None:
    usages = {"claude-opus-4-6": dict.fromkeys(TOKENS, 10**15) | {"costUSD": 1}}
    text = record_text(uuid=None, usage=..., modelUsage=usages, total_cost_usd=1)
    ingest([Source("log", text.encode())], store)
    with store.reading() as connection:
        found = connection.execute("select cost_list_usd, input_tokens from runs").fetchall()
    assert found == [(None, 10**15)]
    assert report(store, ReportRequest(by=("model",)))
