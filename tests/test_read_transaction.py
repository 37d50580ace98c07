"""A request reads one state of the store in one transaction.

Begun late, ended early, and right from several threads.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from app.cli.main import cli
from app.queries import reading
from app.queries import runs as run_queries
from app.queries.filters import Filters
from app.queries.reading import CheckedStore, ReadTransaction, read_transaction
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.errors import StoreBusy, StoreError
from tests.conftest import fetched, record_text

pytestmark = pytest.mark.slow

LATE = Source("late", record_text(uuid="late").encode())


def count(store: Store) -> int:
    return int(run_queries.summary(store, Filters(), metrics=("runs",))["runs"][0].as_py())


def test_writers_are_shut_out_from_the_first_query_to_the_end_and_no_longer(
    sample_store: Store,
) -> None:
    impatient = Store(sample_store.location, wait_seconds=0.05)
    transaction = ReadTransaction(sample_store)
    ingest([LATE], impatient)  # no query yet
    assert count(transaction) == 4
    with pytest.raises(StoreBusy):
        ingest([Source("later", record_text(uuid="later", session_id="later").encode())], impatient)
    transaction.end()
    ingest([Source("later", record_text(uuid="later", session_id="later").encode())], impatient)
    assert count(transaction) == 5, "a query after the end sees the store as it is then"
    transaction.end()


def test_a_transaction_within_a_request_is_the_request_s(sample_store: Store) -> None:
    """A report on a screen: it must not end what the screen goes on with."""
    with read_transaction(sample_store) as request:
        with read_transaction(request) as report:
            assert report is request
            assert count(report) == 3
        with pytest.raises(StoreBusy):
            ingest([LATE], Store(sample_store.location, wait_seconds=0.05))
    ingest([LATE], sample_store)


def test_threads_of_one_request_get_right_answers(sample_store: Store) -> None:
    """A connection that threads use at once gave 131 wrong answers of 900, without an error."""
    threads, asked = 6, 60
    together = threading.Barrier(threads)
    with read_transaction(sample_store) as transaction:

        def answers(number: int) -> list[int]:
            together.wait()
            sql = "select sum(range) + $number as answer from range(2000)"
            return [
                reading.fetch(transaction, sql, {"number": number + turn})["answer"][0].as_py()
                for turn in range(asked)
            ]

        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(answers, range(threads)))
    assert found == [
        [1_999_000 + number + turn for turn in range(asked)] for number in range(threads)
    ]


@pytest.mark.parametrize("few_runs", [0, 5_000])
def test_every_query_of_a_small_store_and_of_a_big_one_gets_the_same_rows(
    sample_store: Store, monkeypatch: pytest.MonkeyPatch, few_runs: int
) -> None:
    """The first ones read the view, the later ones the table that a small store has instead."""
    monkeypatch.setattr("app.queries.reading._FEW_RUNS", few_runs)
    with read_transaction(sample_store, copy_at=3) as request:
        first, *later = [
            reading.fetch(request, "select * from v_runs order by run_id") for _ in range(5)
        ]
        [tables] = reading.fetch(
            request, "select count(*) as n from duckdb_tables() where table_name = 'v_runs'"
        )["n"].to_pylist()
    assert later == [first] * 4
    assert tables == bool(few_runs)


def test_a_store_of_long_texts_is_not_small_though_its_file_is(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its file, texts that repeat themselves take hardly any room."""
    monkeypatch.setattr("app.queries.reading._SHORT_BYTES", 100_000)
    ingest([Source("long", record_text(result="lorem ipsum " * 9_000).encode())], store)
    with read_transaction(store, copy_at=1) as request:
        tables = [
            reading.fetch(
                request, "select count(*) as n from duckdb_tables() where table_name = 'v_runs'"
            )
            for _ in range(2)
        ]
    assert [table["n"].to_pylist() for table in tables] == [[0]] * 2


def test_a_long_answer_keeps_its_order(sample_store: Store) -> None:
    """DuckDB reads the rows of an answer once more, by several threads, to make Arrow of them."""
    numbers = reading.fetch(sample_store, "select range as n from range(500_000) order by n desc")[
        "n"
    ].to_pylist()
    assert numbers == sorted(numbers, reverse=True)


def test_an_error_of_the_database_is_told_as_one_of_the_store(sample_store: Store) -> None:
    with pytest.raises(StoreError), read_transaction(sample_store) as transaction:
        count(transaction)
        raise duckdb.IOException("Could not read from file")
    ingest([LATE], sample_store)  # it is closed all the same


def test_names_in_filters_are_looked_up_in_the_transaction_of_the_answer(
    sample_store: Store,
) -> None:
    """A second one could see another state of the store, or wait for it."""
    filters = Filters((("model", ("gpt-9", "claude-sonnet-4-5")), ("project", ("x",))))
    checked = CheckedStore(sample_store.location, 0, lambda _: None, filters)
    with read_transaction(checked) as transaction:
        count(transaction)
        assert checked.unmatched == []
    models = ["claude-opus-4-5", "claude-sonnet-4-5"]
    assert [(found.key, found.value, sorted(found.known)) for found in checked.unmatched] == [
        ("model", "gpt-9", models),
        ("project", "x", []),
    ]
    with checked.reading():
        pass
    assert len(checked.unmatched) == 2, "once is enough"


@pytest.mark.parametrize(
    "words",
    [
        "report --since 2026-01 --reprice claude-opus-4-5",
        "runs --model gpt-9",
        "models --repo x",
        "claims --since 2026-01",
        "findings",
        "check --max-total-usd 5 --since 2026-01",
        "compare model=gpt-9 outcome=completed",
        "show",
        "show 5e0c",
    ],
)
def test_a_command_opens_the_store_once(
    words: str, sample_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notes on filters are as of the answer's moment and do not wait for a writer again."""
    opened, attached = [], Store._attached

    def counted(store: Store, **options: Any) -> Any:
        opened.append(store)
        return attached(store, **options)

    monkeypatch.setattr(Store, "_attached", counted)
    done = CliRunner().invoke(cli, [*words.split(), "--db", sample_store.location])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    assert len(opened) == 1
    if "--since" in words:
        assert "3 runs without a recorded date" in done.stderr
    if "gpt-9" in words:
        assert "No run has model 'gpt-9'." in done.stderr


def test_an_answer_that_is_kept_is_found_once_for_each_value_and_not_beyond_the_end(
    sample_store: Store,
) -> None:
    """Kept beyond the end, it would be that of an earlier state of the store.

    One table for all values would be that of the first.
    """
    transaction = ReadTransaction(sample_store)
    sql = "select run_id from v_runs limit $most"

    def kept(most: int) -> tuple[str, int]:
        name = transaction.keep(sql, {"most": most})
        [(rows,)] = fetched(transaction, f"select count(*) from {name}")
        return name, rows

    first, again, other = kept(2), kept(2), kept(1)
    assert first == again
    assert (first[1], other[1]) == (2, 1)
    transaction.end()
    ingest([LATE], sample_store)
    assert kept(9)[1] == 4
    transaction.end()
