"""Own prices: they win, the store keeps them, and an error shows its place and the correct form.

The error is in the file of prices.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from ingest.prices.price_book import PriceBook
from ingest.prices.price_file import parse_price_file, read_price_file
from ingest.store.database import Store
from ingest.store.pricing import reprice
from ingest.store.rebuild import rebuild
from schemas.errors import InputUnreadable, UsageError
from schemas.rows.price import ModelKey
from tests.conftest import ROOT, SAMPLES, Run, ingest_paths
from tests.test_pricing import rows
from tests.using import log_of

OPUS = ModelKey(
    "global.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5", "aws", "global"
)
DAY = date(2026, 6, 1)
CONTRACT = (
    '[[price]]\nmodel = "claude-opus-4-5"\ninput = 4\noutput = 20.5\n\n[[discount]]\nprovider = '
    '"aws"\nregion = "us"\npercent = 12.5\n'
)


def input_price(text: str, key: ModelKey = OPUS, day: date = DAY) -> Decimal | None:
    """USD per million tokens of input."""
    found = PriceBook(parse_price_file("prices.toml", text)).rates(key, day)
    return found.input * 10**6 if found else None


def entry(words: str, price: int) -> str:
    return f'[[price]]\nmodel = "claude-opus-4-5"\n{words}\ninput = {price}\noutput = 1\n'


def test_the_entry_that_says_most_wins_then_the_later_one() -> None:
    general, special = entry("", 1), entry('provider = "aws"', 2)
    logged = special.replace("claude-opus-4-5", OPUS.model_id).replace("input = 2", "input = 3")
    assert input_price(special + general) == 2
    assert input_price(logged + special + general) == 3
    assert input_price(general + entry("", 7)) == 7
    assert input_price(entry('provider = "azure"', 9)) == 5, (
        "somebody else's price is no price of ours"
    )


def test_an_entry_holds_from_its_first_day_until_before_its_last() -> None:
    text = entry("from = 2026-06-01\nuntil = 2026-07-01", 1)
    days = [date(2026, 5, 31), date(2026, 6, 1), date(2026, 6, 30), date(2026, 7, 1)]
    assert [input_price(text, day=day) for day in days] == [5, 1, 1, 5]
    assert input_price(text + entry("", 2), day=date(2026, 8, 1)) == 2


def test_what_is_left_out_costs_what_it_is_a_kind_of() -> None:
    found = PriceBook(parse_price_file("p", entry("", 4))).rates(OPUS, DAY)
    assert found
    assert [found.cache_read, found.cache_write_5m, found.cache_write_1h, found.web_search] == [
        Decimal("0.000004")
    ] * 3 + [None]
    written = PriceBook(parse_price_file("p", entry("cache_write = 5", 4))).rates(OPUS, DAY)
    assert written
    assert (written.cache_write_5m, written.cache_write_1h) == (
        Decimal("0.000005"),
        Decimal("0.000005"),
    )


def test_a_local_model_gets_its_price_and_no_other_does() -> None:
    local = ModelKey("qwen3-coder", "qwen3-coder")
    text = '[[price]]\nmodel = "qwen3-coder"\ninput = 0\noutput = 0\n'
    assert [input_price(text, local), input_price(text, ModelKey("qwen3", "qwen3"))] == [0, None]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[price]\n", ["prices.toml is not valid TOML", "line 1"]),
        ('\n[[price]]\nmodel = "x"\ninput = 1\n', ["line 2", "`output`", "missing"]),
        (
            '[[price]]\nmodel = "x"\ninputs = 1\noutput = 1\n',
            ["line 1", "`inputs`", "did you mean `input`?"],
        ),
        (
            '[[price]]\nmodel = "x"\ninput = "1"\noutput = 1\n',
            ["line 1", "`input`", "must be a number"],
        ),
        (
            '[[price]]\nmodel = "x"\ninput = -1\noutput = 1\n',
            ["`input`", "greater than or equal to 0", "found -1"],
        ),
        ('[[price]]\nmodel = "x"\ninput = nan\noutput = 1\n', ["`input`"]),
        ("[[discount]]\npercent = 120\n", ["[[discount]] number 1", "`percent`", "100"]),
        ("[[prices]]\n", ["`prices`", "did you mean `price`?"]),
        ('[machines]\n"gpu=h100" = "3"\n', ["`machines`", "gpu=h100", "must be a number"]),
        ("[machines]\nh100 = 3\n", ["`machines`", "h100", 'any, "host=NAME" or "label=value"']),
        (
            entry("from = 2026-02-01\nuntil = 2026-01-01", 1),
            ["line 1", "`until`", "later than `from`"],
        ),
    ],
)
def test_a_mistake_says_where_it_is_and_what_is_right(text: str, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        parse_price_file("prices.toml", text)
    assert all(word in str(caught.value) for word in [*words, "prices.toml", "[[price]] model ="])


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("missing", "binary"):
        with pytest.raises(InputUnreadable, match=name):
            read_price_file(tmp_path / name)


LISTED = "select sum(cost_list_usd) as usd from model_usage"


@pytest.mark.slow
def test_the_store_keeps_the_file_for_later_ingests_and_rebuilds(
    tmp_path: Path, store: Store
) -> None:
    """Opus by hand: 7862 × 4 + 558 × 20.5 per million; Sonnet at 12.5 % off."""
    (tmp_path / "contract.toml").write_text(CONTRACT)
    first, *others = sorted(SAMPLES.iterdir())
    ingest_paths(store, first)
    reprice(store, read_price_file(tmp_path / "contract.toml"))
    ingest_paths(store, *others)
    expected = (7862 * 4 + 558 * Decimal("20.5")) / 10**6 + Decimal("3.049028565") * Decimal(
        "0.875"
    )
    [found] = rows(store, LISTED)
    assert abs(found["usd"] - expected) < Decimal("0.000000003")
    assert {row["cost_cause"] for row in rows(store, "select cost_cause from model_usage")} == {
        "price_file"
    }
    assert "contract.toml: [[price]] number 1" in rows(
        store, "select max(price_source) as source from model_usage"
    )[0]["source"] + str(
        rows(store, "select min(price_source) as source from model_usage")[0]["source"]
    )
    rebuild(store)
    assert rows(store, LISTED) == [found]
    reprice(store, forget=True)
    assert rows(store, LISTED) == [{"usd": Decimal("3.102288565")}]


def test_the_commands_take_a_price_file(tachograph: Run, tmp_path: Path) -> None:
    (tmp_path / "contract.toml").write_text(CONTRACT)
    (tmp_path / "wrong.toml").write_text("[[price]]\n")
    done = tachograph("ingest", SAMPLES, "--prices", "contract.toml")
    assert done.returncode == 0, done.stderr
    store = Store(tmp_path / "tachograph.duckdb")
    assert rows(store, "select distinct cost_cause from runs") == [{"cost_cause": "price_file"}]
    assert "Repriced 3 runs" in tachograph("reprice --no-price-file").stderr
    assert rows(store, LISTED) == [{"usd": Decimal("3.102288565")}]
    assert tachograph("reprice --prices wrong.toml").returncode == 2


def test_a_machine_costs_by_label_host_or_rate_of_any_and_else_is_unknown(
    store: Store, tmp_path: Path
) -> None:
    """A rate of two runs in one store; the highest of several that fit; NULL is not $0."""
    for name in ("labelled", "rated", "other"):
        log_of(name, tmp_path, duration_ms=1_800_000, total_cost_usd=1)
    ingest_paths(store, tmp_path / "labelled.jsonl", gpu="h100", zone="eu")
    ingest_paths(store, tmp_path / "rated.jsonl", **{"machine-rate": "0.10"})
    ingest_paths(store, tmp_path / "other.jsonl")
    sql = "select cost_machine_usd as usd, cost_all_usd as all_in from v_runs order by run_id"

    def costs() -> list[tuple[str, ...]]:
        return [tuple(f"{value or 0:.2f}" for value in row.values()) for row in rows(store, sql)]

    assert costs() == [("0.00", "0.00"), ("0.00", "0.00"), ("0.05", "1.05")]
    (tmp_path / "rates.toml").write_text(
        '[machines]\nany = 1\n"gpu=h100" = 3\n"zone=eu" = 2.50\n"host=box1" = 9\n'
    )
    reprice(store, read_price_file(tmp_path / "rates.toml"))
    assert costs() == [("1.50", "2.50"), ("0.50", "1.50"), ("0.05", "1.05")]
    rebuild(store)
    assert costs() == [("1.50", "2.50"), ("0.50", "1.50"), ("0.05", "1.05")]


def test_the_example_of_the_docs_is_a_price_file() -> None:
    [text] = [
        block
        for block in re.findall(
            r"```toml\n(.*?)```", (ROOT / "docs" / "prices.md").read_text(), re.DOTALL
        )
        if "[[price]]" in block
    ]
    read = parse_price_file("prices.md", text)
    assert read.entries.price
    assert read.entries.discount
    assert read.entries.machines
