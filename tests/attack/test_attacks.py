"""Small versions of the attacks; at full size: python -m tests.attack."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.attack import disk_full, inputs, kills, workers, writers
from tests.attack.hashes import Hasher, State, differences
from tests.attack.hostile_inputs import FAMILIES
from tests.attack.lab import Lab

KILLS = 6
"""One of each command of `kills`: more find nothing that these do not, unless they are a hundred
times as many. In the suite, a few commands are killed in `tests/test_interrupts.py`.
"""


@pytest.mark.thorough
def test_d2_kills_at_random_moments_leave_the_store_as_before_or_after(lab: Lab) -> None:
    """A thousand kills: `python -m tests.attack --only kills`."""
    kills.attack(lab, KILLS)
    assert sum(tally.attempts for tally in lab.tallies) >= KILLS
    assert [str(failure) for tally in lab.tallies for failure in tally.failures] == []


@pytest.mark.thorough
def test_ingests_at_once_all_arrive_and_each_counts_once(lab: Lab) -> None:
    writers.attack(lab, writers=5, busy=2)
    [tally] = lab.tallies
    assert (tally.attempts, [str(failure) for failure in tally.failures]) == (5, [])


@pytest.mark.thorough
def test_a_killed_worker_or_parent_leaves_nothing_half_written(lab: Lab) -> None:
    workers.attack(lab, strikes=1)
    assert [tally.attempts for tally in lab.tallies] == [1, 1]
    assert [str(failure) for tally in lab.tallies for failure in tally.failures] == []


def test_hostile_inputs_are_read_within_bounds_and_harm_no_record_beside_them(lab: Lab) -> None:
    inputs.attack_at_once(lab, max(60, len(FAMILIES)), size=2_000)
    [tally] = lab.tallies
    assert [str(failure) for failure in tally.failures] == []


def test_a_full_disk_leaves_the_store_as_before_and_is_told_in_a_sentence(lab: Lab) -> None:
    disk_full.attack(lab, attempts=1)
    assert [str(failure) for tally in lab.tallies for failure in tally.failures] == []
    bounded = [tally for tally in lab.tallies if tally.attack.startswith("files")]
    assert [tally.attempts for tally in bounded] == [1, 1, 1]


ROWS = ("('a', 1, [1, 2])", "('a', 1, [1, 2])", "('b', null, null)")


def made(place: Path, *rows: str, at: str = "2026-01-01") -> State:
    """The state of a store of two tables with these rows."""
    with duckdb.connect(str(place)) as connection:
        connection.execute("create table runs (run_id varchar, turns bigint, tools bigint[])")
        connection.execute("create table sources (source_id varchar, received_at timestamptz)")
        connection.execute(f"insert into runs values {', '.join(rows)}")
        connection.execute(f"insert into sources values ('s', '{at}')")
    return Hasher().state(place)


def test_the_order_of_rows_is_nothing_and_our_own_clock_only_to_the_exact_hash(
    tmp_path: Path,
) -> None:
    one, turned = made(tmp_path / "1", *ROWS), made(tmp_path / "2", *reversed(ROWS))
    later = made(tmp_path / "3", *ROWS, at="2026-01-02")
    assert one.is_same(turned)
    assert one.is_like(later)
    assert not one.is_same(later)


@pytest.mark.parametrize(
    "rows",
    [
        ROWS[1:],
        (*ROWS[:2], "('b', 0, null)"),
        (*ROWS[:2], "('b', null, [])"),
        ("('a', 1, [2, 1])", *ROWS[1:]),
        (ROWS[0], *ROWS),
    ],
)
def test_every_change_is_seen(rows: tuple[str, ...], tmp_path: Path) -> None:
    one, other = made(tmp_path / "1", *ROWS), made(tmp_path / "2", *rows)
    assert not one.is_like(other)
    assert differences(one, other).startswith("runs ")


def test_a_file_that_the_engine_only_began_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    duckdb.connect(str(tmp_path / "header")).close()
    assert (
        Hasher().state(tmp_path / "empty")
        == Hasher().state(tmp_path / "header")
        == Hasher().state(tmp_path / "none")
        == State()
    )
