"""The hash that all attacks rely on: it notices every change of every column, and no order of rows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.attack.hashes import Hasher, State, differences

ROWS = ("('a', 1, [1, 2])", "('a', 1, [1, 2])", "('b', null, null)")


def made(place: Path, *rows: str, at: str = "2026-01-01") -> State:
    """The state of a store of two tables with these rows."""
    with duckdb.connect(str(place)) as connection:
        connection.execute("create table runs (run_id varchar, turns bigint, tools bigint[])")
        connection.execute("create table sources (source_id varchar, received_at timestamptz)")
        connection.execute(f"insert into runs values {', '.join(rows)}")
        connection.execute(f"insert into sources values ('s', '{at}')")
    return Hasher().state(place)


def test_the_order_of_rows_is_nothing_and_our_own_clock_only_to_the_exact_hash(tmp_path: Path) -> None:
    one, turned = made(tmp_path / "1", *ROWS), made(tmp_path / "2", *reversed(ROWS))
    later = made(tmp_path / "3", *ROWS, at="2026-01-02")
    assert one.is_same(turned)
    assert one.is_like(later)
    assert not one.is_same(later)


@pytest.mark.parametrize(
    "rows",
    [ROWS[1:], (*ROWS[:2], "('b', 0, null)"), (*ROWS[:2], "('b', null, [])"), ("('a', 1, [2, 1])", *ROWS[1:]), (ROWS[0], *ROWS)],
)
def test_every_change_is_seen(rows: tuple[str, ...], tmp_path: Path) -> None:
    one, other = made(tmp_path / "1", *ROWS), made(tmp_path / "2", *rows)
    assert not one.is_like(other)
    assert differences(one, other).startswith("runs ")


def test_a_file_that_the_engine_only_began_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    duckdb.connect(str(tmp_path / "header")).close()
    assert Hasher().state(tmp_path / "empty") == Hasher().state(tmp_path / "header") == Hasher().state(tmp_path / "none") == State()
