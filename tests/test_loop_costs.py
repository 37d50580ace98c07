"""What a loop cost: evidence finds its session, and its parts add up to the session's cost.

The parts are set-up, experiments and rest.
"""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from app.queries.filters import NO_FILTERS
from app.queries.loop_costs import COMMITTED, FOLDER_AND_TIME, WROTE, LoopSession
from app.queries.loops import LoopAnswer, loops
from app.queries.reading import exported, fetch
from app.reports.budgets import check
from app.text.loops import about
from ingest.store.database import Store
from ingest.store.pricing import reprice
from schemas.rows.price import PriceFileRow
from tests.claude_lines import SESSION, line, message, reply, usage, user
from tests.conftest import ingest_paths
from tests.documents import lines
from tests.pi_loop import PiLoop


def parts_of(session: LoopSession) -> Decimal:
    return (
        session.setup_usd
        + session.experiments_usd
        + session.other_loops_usd
        + session.rest_usd
        + session.beyond_usd
    )


@pytest.fixture
def pi(tmp_path: Path) -> PiLoop:
    loop = PiLoop(
        tmp_path / "project", tmp_path / "sessions" / "2026-06-01T12-00-00-000Z_a001.jsonl"
    )
    for number, (value, status) in enumerate(
        ((100.0, "keep"), (90.0, "keep"), (95.0, "discard"), (80.0, "keep")), 1
    ):
        loop.experiment(value, f"experiment number {number}", status, usd=f"0.{number}")
    loop.end()
    return loop


def only(store: Store) -> LoopAnswer:
    [answer] = loops(store)
    return answer


def test_each_experiment_of_a_pi_session_has_the_cost_of_its_responses(
    store: Store, tmp_path: Path, pi: PiLoop
) -> None:
    ingest_paths(store, tmp_path)
    answer = only(store)
    first, *others = answer.tries
    assert [one.cost_usd for one in others] == pi.costs_usd[1:]
    assert {one.evidence for one in answer.tries} == {WROTE}
    [session] = answer.costs.sessions
    assert session.setup_usd == pi.setup_usd + pi.costs_usd[0]
    assert session.rest_usd == Decimal("0.5")
    assert (
        session.cost_usd
        == answer.cost_usd
        == parts_of(session)
        == pi.setup_usd + sum(pi.costs_usd) + Decimal("0.5")
    )
    assert answer.costs.basis == "exact"
    assert first.cost_usd is None, "the baseline is part of the set-up"
    assert answer.usd_since_improvement == 0
    assert f"joined by: {WROTE}" in " ".join(about(answer))


def test_the_order_of_files_changes_no_cost(store: Store, tmp_path: Path, pi: PiLoop) -> None:
    ingest_paths(store, pi.project)
    assert only(store).cost_usd is None
    ingest_paths(store, pi.file.parent)
    assert only(store).cost_usd == pi.setup_usd + sum(pi.costs_usd) + Decimal("0.5")


def test_an_export_without_texts_has_the_same_costs(
    store: Store, tmp_path: Path, pi: PiLoop
) -> None:
    ingest_paths(store, tmp_path)
    without = exported(store)
    assert fetch(without, "select count(logged) as texts from responses").to_pylist() == [
        {"texts": 0}
    ]
    assert [one.cost_usd for one in only(without).tries] == [
        one.cost_usd for one in only(store).tries
    ]


def test_a_session_elsewhere_and_at_another_time_is_not_the_loops(
    store: Store, tmp_path: Path, pi: PiLoop
) -> None:
    other = PiLoop(
        tmp_path / "other",
        tmp_path / "sessions" / "b.jsonl",
        datetime(2026, 7, 1, tzinfo=UTC),
        "019a0000-0000-7000-8000-00000000b002",
    )
    other.experiment(5.0, "something else")
    other.log.unlink()
    ingest_paths(store, tmp_path)
    answer = only(store)
    assert [one.cost_usd for one in answer.costs.sessions] == [
        pi.setup_usd + sum(pi.costs_usd) + Decimal("0.5")
    ]


TABLE = "commit\tval_ms\tstatus\tdescription\n"
ROWS = (
    ("a1b2c3d", 100.0, "keep", "baseline"),
    ("b2c3d4e", 90.0, "keep", "cache the parsed header"),
    ("c3d4e5f", 95.0, "discard", "unroll the inner loop"),
)


def claude_session(
    rows: tuple[tuple[str, float, str, str], ...], *, writes: bool, commits: bool = False
) -> str:
    """A session of Claude Code in /srv/shop.

    Two responses for each row, the second of which logs or commits it.
    """
    found, second = [user("Make it faster.", second=0)], itertools.count(10, 10)
    for number, (commit, value, status, text) in enumerate(rows):
        moment = next(second)
        found.append(
            reply(f"edit{number}", f"msg_e{number}", f"req_e{number}", usage(1000), second=moment)
        )
        row = f"{commit}\\t{value}\\t{status}\\t{text}"
        command = f"printf '{row}\\n' >> results.tsv" if writes else f"git commit -am '{text}'"
        call = {
            "type": "tool_use",
            "id": f"toolu_{number}",
            "name": "Bash",
            "input": {"command": command},
        }
        said = message(f"msg_l{number}", usage(500), [call], stop_reason="tool_use")
        found.append(
            line(
                "assistant", f"log{number}", next(second), requestId=f"req_l{number}", message=said
            )
        )
        printed = f"[main {commit}] {text}\n 1 file changed, 1 insertion(+)\n" if commits else ""
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": printed}
        found.append(
            line(
                "user", f"res{number}", next(second), message={"role": "user", "content": [result]}
            )
        )
    return lines(*found)


def write_claude(tmp_path: Path, session: str, log: Path) -> None:
    folder = tmp_path / "projects" / "-srv-shop"
    folder.mkdir(parents=True)
    (folder / f"{SESSION}.jsonl").write_text(session)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(
        TABLE
        + "".join(f"{commit}\t{value}\t{status}\t{text}\n" for commit, value, status, text in ROWS)
    )


def test_rows_that_one_call_wrote_share_their_cost(store: Store, tmp_path: Path) -> None:
    """The second had cost nothing."""
    session = claude_session(ROWS, writes=True)
    [_, second, third] = (
        rf"{commit}\\t{value}\\t{status}\\t{text}\\n" for commit, value, status, text in ROWS
    )
    assert session.count(second) == session.count(third) == 1
    write_claude(
        tmp_path,
        session.replace(third, "").replace(second, second + third),
        tmp_path / "elsewhere" / "results.tsv",
    )
    ingest_paths(store, tmp_path)
    answer = only(store)
    usd = [
        row["usd"]
        for row in fetch(
            store, 'select cost_list_usd as usd from responses order by "at"'
        ).to_pylist()
    ]
    [_, first, other] = [one.cost_usd for one in answer.tries]
    assert first is not None
    assert first == other == (usd[2] + usd[3]) / 2
    [joined] = answer.costs.sessions
    assert joined.experiments_usd == usd[2] + usd[3]
    assert (
        "2 experiments were written to the log at once with others: their cost is divided equally."
        in about(answer)
    )


def test_rows_that_a_claude_session_appended_end_their_experiments(
    store: Store, tmp_path: Path
) -> None:
    write_claude(
        tmp_path, claude_session(ROWS, writes=True), tmp_path / "elsewhere" / "results.tsv"
    )
    ingest_paths(store, tmp_path)
    answer = only(store)
    responses = fetch(store, 'select cost_list_usd as usd from responses order by "at"').to_pylist()
    usd = [row["usd"] for row in responses]
    assert [one.cost_usd for one in answer.tries] == [None, usd[2] + usd[3], usd[4] + usd[5]]
    [session] = answer.costs.sessions
    assert (session.setup_usd, session.evidence) == (usd[0] + usd[1], WROTE)
    assert session.cost_usd == parts_of(session)


def test_commits_say_whose_a_loop_is_and_not_what_an_experiment_cost(
    store: Store, tmp_path: Path
) -> None:
    write_claude(
        tmp_path,
        claude_session(ROWS, writes=False, commits=True),
        tmp_path / "elsewhere" / "results.tsv",
    )
    ingest_paths(store, tmp_path)
    answer = only(store)
    assert {one.cost_usd for one in answer.tries} == {None}, "a commit comes before its measurement"
    [session] = answer.costs.sessions
    assert session.evidence == COMMITTED
    assert session.cost_usd == answer.cost_usd == parts_of(session)


def test_another_loop_that_tried_the_same_things_costs_nothing(
    store: Store, tmp_path: Path
) -> None:
    write_claude(tmp_path, claude_session(ROWS, writes=True), tmp_path / "mine" / "results.tsv")
    other = (
        ("d4e5f6a", 50.0, "keep", "baseline"),
        ("e5f6a7b", 49.0, "keep", ROWS[1][3]),
        ("f6a7b8c", 48.0, "keep", "something else"),
    )
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "results.tsv").write_text(
        TABLE + "".join("\t".join(map(str, row)) + "\n" for row in other)
    )
    ingest_paths(store, tmp_path)
    costs = {
        Path(one.row["source_name"]).parts[len(tmp_path.parts)]: one.cost_usd
        for one in loops(store)
    }
    [session] = fetch(store, "select sum(cost_list_usd) as usd from responses").to_pylist()
    assert costs == {"mine": session["usd"], "other": None}


def test_without_any_evidence_the_cost_is_unknown_and_the_reason_given(
    store: Store, tmp_path: Path
) -> None:
    write_claude(
        tmp_path, claude_session(ROWS, writes=False), tmp_path / "elsewhere" / "results.tsv"
    )
    ingest_paths(store, tmp_path)
    answer = only(store)
    assert (answer.cost_usd, answer.costs.sessions) == (None, [])
    assert "Cost unknown: no session in the store wrote it" in " ".join(about(answer))


def test_a_log_with_times_in_the_sessions_folder_is_joined_by_them(
    store: Store, tmp_path: Path, pi: PiLoop
) -> None:
    text = (
        pi.file.read_text()
        .replace("log_experiment", "note_result")
        .replace("committed", "did")
        .replace("[autoresearch/fast", "(fast")
    )
    pi.file.write_text(text)
    ingest_paths(store, tmp_path)
    answer = only(store)
    assert {one.evidence for one in answer.tries} == {FOLDER_AND_TIME}
    assert [one.cost_usd for one in answer.tries[1:]] == pi.costs_usd[1:]


def test_a_budget_for_an_improvement_judges_loops(store: Store, tmp_path: Path, pi: PiLoop) -> None:
    ingest_paths(store, pi.project)
    unknown = check(store, NO_FILTERS, {"max-usd-per-improvement": Decimal(1)})
    assert not unknown.passed
    assert unknown.verdicts[0].note == "Unknown for the loop, so it cannot be checked."
    ingest_paths(store, tmp_path)
    spent = pi.setup_usd + sum(pi.costs_usd) + Decimal("0.5")
    for allowed, passed in (
        (spent / 2, True),
        (spent / 2 - Decimal("0.01"), False),
    ):  # two improvements
        made = check(store, NO_FILTERS, {"max-usd-per-improvement": allowed})
        assert (made.passed, made.verdicts[0].where) == (passed, "Benchmark")


def test_a_loop_without_a_session_pays_for_the_time_of_its_experiments(
    store: Store, tmp_path: Path, pi: PiLoop
) -> None:
    """By the label of its ingest, else by the price file; a session's wall time is not paid twice.

    Unknown without a rate, or where a third of the times is.
    """
    for place, (name, times) in enumerate(
        {"rated": (1800, 1800, 1800), "listed": (3600, 1800, 1800), "partly": (9, None, 9)}.items()
    ):
        (tmp_path / name).mkdir()
        tries = [
            {"iteration": number, "latency_ms": 100.0 - number - place / 4, "status": "keep"}
            | {"cost_usd": 0.5, "description": f"{name} {number}", "duration_s": seconds}
            for number, seconds in enumerate(times)
        ]
        (tmp_path / name / "experiments.jsonl").write_text(lines(*tries))
    ingest_paths(store, tmp_path / "listed", tmp_path / "partly", tmp_path / "project")
    assert {one.costs.machine_usd for one in loops(store)} == {None}
    ingest_paths(store, tmp_path / "rated", **{"machine-rate": "3"})
    row = PriceFileRow(name="", text="", read_at=datetime.now(UTC), machines={"": "2"})
    reprice(store, row)

    def found_in(store: Store) -> dict[str, LoopAnswer]:
        place = len(tmp_path.parts)
        return {Path(one.row["source_name"]).parts[place]: one for one in loops(store)}

    found = found_in(store)
    assert {name: one.costs.machine_usd for name, one in found.items()} == {
        "rated": Decimal("4.5"),
        "listed": Decimal(4),
        "partly": None,
        "project": None,
    }
    assert found["rated"].all_in_per_improvement == (Decimal("1.5") + Decimal("4.5")) / 2
    ingest_paths(store, tmp_path / "sessions")
    with_session = {
        Path(one.row["source_name"]).parts[len(tmp_path.parts)]: one for one in loops(store)
    }
    session = with_session["project"].costs
    assert session.machine_usd == session.sessions[0].machine_usd is not None
