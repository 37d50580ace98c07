"""Aider's analytics log, results of its benchmark and chat history.

Sessions told apart, and no cost twice.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queries.cost import doubtful
from app.queries.filters import EVERY_RUN, Filters
from app.queries.reading import uncounted
from ingest.agents.aider import SESSIONS_OPEN
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.rows.distilled import Run
from tests.documents import ingested, kept_in, lines, run_of, runs_in

STARTED = 1_770_000_000


def event(seconds: int, name: str, user: str = "u", **properties: Any) -> dict[str, Any]:
    return {"event": name, "properties": properties, "user_id": user, "time": STARTED + seconds}


def sent(
    seconds: int,
    cost: float | None,
    total: float | None,
    model: str = "gpt-5",
    user: str = "u",
    **more: Any,
) -> dict[str, Any]:
    told = {
        "main_model": model,
        "edit_format": "diff",
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "cost": cost,
        "total_cost": total,
    }
    return event(seconds, "message_send", user, **(told | more))


FIRST = [sent(10, 0.1, 0.1), sent(20, 0.2, 0.30000000000000004), sent(40, 0.05, 0.35)]
OTHER = [sent(11, 0.3, 0.3), sent(41, 0.3, 0.6, "gpt-4o")]
LOG = [
    event(0, "launched"),
    event(0, "cli session"),
    FIRST[0],
    event(10, "launched"),
    OTHER[0],
    *FIRST[1:],
    event(40, "exit"),
    OTHER[1],
]


def told(run: Run) -> list[tuple[Any, ...]]:
    return [(one.model_id, one.input_tokens, one.output_tokens, one.cost_usd) for one in run.models]


def test_sessions_that_interleave_are_told_apart_by_their_total() -> None:
    first, other = kept_in(lines(*LOG))
    assert (first.agent, first.record_kind, first.num_turns, first.duration_ms) == (
        "aider",
        "stream",
        3,
        30_000,
    )
    assert (told(first), first.cost_usd) == ([("gpt-5", 300, 15, Decimal("0.35"))], Decimal("0.35"))
    assert (told(other), other.num_turns) == (
        [("gpt-5", 100, 5, Decimal("0.3")), ("gpt-4o", 100, 5, Decimal("0.3"))],
        2,
    )
    assert (first.outcome, first.is_error) == ("unknown", None)


def test_what_was_cached_is_not_told() -> None:
    model = kept_in(lines(*LOG))[0].models[0]
    assert (model.basis, model.cache_read_tokens, model.cache_write_tokens) == (
        "upper_bound",
        None,
        None,
    )


def test_a_log_that_goes_on_has_the_same_runs() -> None:
    assert [run.run_id for run in kept_in(lines(*LOG[:5]))] == [
        run.run_id for run in kept_in(lines(*LOG))
    ]


def test_a_session_whose_beginning_is_missing_is_an_estimate() -> None:
    [run] = kept_in(lines(*FIRST[1:]))
    assert (run.num_turns, run.models[0].basis, run.cost_usd) == (2, "estimate", Decimal("0.25"))


@pytest.mark.parametrize("nothing", [0, None])
def test_sessions_that_cost_nothing_are_told_apart_by_launches(nothing: float | None) -> None:
    free = sent(10, nothing, nothing, "ollama/x"), sent(20, nothing, nothing, "ollama/x")
    assert [
        run.num_turns
        for run in kept_in(
            lines(*free, event(30, "launched"), sent(40, nothing, nothing, "ollama/x"))
        )
    ] == [2, 1]


def test_installations_are_told_apart() -> None:
    assert len(kept_in(lines(FIRST[0], sent(20, 0.2, 0.3, user="v")))) == 2


def test_very_many_sessions_are_all_found() -> None:
    many = SESSIONS_OPEN + 10
    assert (
        len(kept_in(lines(*(sent(number, 0.1 + number, 0.1 + number) for number in range(many)))))
        == many
    )


@given(st.integers(0, 1000))
def test_a_log_cut_anywhere_has_the_messages_before_the_cut(cut: int) -> None:
    text = lines(*LOG).encode()
    data = text[: len(text) * cut // 1000]
    runs, _ = runs_in(data)
    assert sum(run.output_tokens or 0 for run in runs) == 5 * sum(
        b"message_send" in line and line.endswith(b"}") and b"time" in line
        for line in data.splitlines()
    )


def test_a_figure_that_is_none_is_rejected_with_its_name() -> None:
    runs, [reject] = runs_in(lines(*LOG, sent(50, 0.1, 0.7, prompt_tokens="many")).encode())
    assert (len(runs), reject.split(": ")[0]) == (2, "properties.prompt_tokens")


RESULT = {
    "testdir": "tmp.benchmarks/2026-01-01-00-00-00--x/python/exercises/practice/bowling",
    "testcase": "bowling",
    "model": "gpt-5",
    "edit_format": "diff",
    "tests_outcomes": [False, True],
    "cost": 0.0123,
    "duration": 12.5,
    "commit_hash": "5dc9490",
    "prompt_tokens": 1000,
    "completion_tokens": 50,
}


@pytest.mark.parametrize(
    ("outcomes", "score"), [([False, True], 1), ([True], 1), ([False, False], 0), ([], None)]
)
def test_an_exercise_of_the_benchmark_is_a_run_with_a_score(
    outcomes: list[bool], score: float | None
) -> None:
    run = run_of(RESULT | {"tests_outcomes": outcomes})
    assert (run.agent, run.record_kind, run.score, run.num_turns) == (
        "aider",
        "trial",
        score,
        len(outcomes) or None,
    )
    assert (run.duration_ms, run.cost_reported_usd, run.outcome) == (
        12_500,
        Decimal("0.0123"),
        "completed",
    )
    assert (run.input_tokens, run.output_tokens, run.tokens_basis) == (1000, 50, "upper_bound")


def test_an_older_result_has_no_tokens() -> None:
    run = run_of({name: value for name, value in RESULT.items() if not name.endswith("_tokens")})
    assert (run.input_tokens, run.tokens_basis, run.cost_reported_usd) == (
        None,
        "unknown",
        Decimal("0.0123"),
    )


def test_a_result_with_a_wrong_figure_is_rejected_with_its_name() -> None:
    runs, [reject] = runs_in(lines(RESULT | {"duration": "long"}).encode())
    assert (runs, reject.split(": ")[0]) == ([], "duration")


HISTORY = """
# aider chat started at 2026-05-01 12:00:00

> /usr/bin/aider --lint
> Aider v0.86.1

# aider chat started at 2026-05-01 12:01:00

> Aider v0.86.1
> Main model: gpt-5 with diff edit format, medium reasoning
> Weak model: gpt-5-mini

#### /add x.py

#### Make it faster.
#### Please.

It is 2x faster. {"type": "result"}

> Tokens: 5,244 sent, 604 received. Cost: $0.02 message, $0.02 session.
> Model: anthropic/claude-sonnet-4-5 with diff edit format

#### And now?

> Tokens: 12k sent, 2.5k cache write, 1.0M cache hit, 1.2k received. Cost: $0.0312 message, $0.05 session.
> Tokens: lots sent, 3 received.

# aider chat started at 2026-05-01 12:02:00

> Model: ollama/x with whole edit format
#### Hi
> Tokens: 100 sent, 9 received.
"""  # noqa: E501
HISTORY = "".join(
    f"{line}  \n" if line.startswith((">", "####")) else f"{line}\n"
    for line in HISTORY.splitlines()
)
"""Lines of Aider and of its user end with two spaces: a line break in Markdown."""


def test_a_chat_history_has_a_run_for_each_launch_that_asked_a_model() -> None:
    asked, free = kept_in(HISTORY)
    assert (asked.agent_version, asked.num_turns, asked.prompt, asked.final_text) == (
        "0.86.1",
        2,
        "Make it faster.\nPlease.",
        None,
    )
    assert told(asked) == [
        ("gpt-5", 5244, 604, Decimal("0.02")),
        ("anthropic/claude-sonnet-4-5", 9500, 1200, Decimal("0.0312")),
    ]
    assert (
        asked.models[1].cache_write_tokens,
        asked.models[1].cache_read_tokens,
        asked.models[1].basis,
    ) == (2500, 1_000_000, "estimate")
    assert (asked.cost_usd, asked.started_at) == (Decimal("0.0512"), datetime(2026, 5, 1, 12, 1))  # noqa: DTZ001 - local time
    assert (told(free), free.cost_usd, free.prompt) == ([("ollama/x", 100, 9, None)], None, "Hi")


@given(st.integers(0, 1000))
def test_a_chat_history_cut_anywhere_has_the_answers_before_the_cut(cut: int) -> None:
    data = HISTORY.encode()[: len(HISTORY) * cut // 1000]
    runs, rejects = runs_in(data)
    whole = (
        data.count(b" sent, 604 received.") * 604
        + data.count(b" cache hit, 1.2k received.") * 1200
        + data.count(b"100 sent, 9 received.") * 9
    )
    cut_in_cost = (
        not data.rstrip().endswith((b"received.", b"session."))
        and b"received. " in data.rsplit(b"\n", 1)[-1]
    )
    assert not rejects
    assert sum(run.output_tokens or 0 for run in runs) == whole or cut_in_cost


def test_the_header_may_come_late_and_a_line_that_quotes_it_is_none() -> None:
    assert len(kept_in("-*- mode: fundamental -*-\n> \n" * 50 + HISTORY)) == 2
    assert runs_in(f"Notes: {HISTORY.strip().splitlines()[0]}".encode()) == ([], [])


ZONE = 7 * 3600
"""Where the user is, in seconds ahead of UTC."""


def history_of(seconds: int, *answers: str) -> str:
    """The chat history of a session that began at this time of its own analytics log."""
    local = datetime.fromtimestamp(STARTED + seconds + ZONE, UTC)
    said = "".join(f"\n#### Go on.\n\n> Tokens: {answer}\n" for answer in answers)
    return (
        f"# aider chat started at {local:%Y-%m-%d %H:%M:%S}\n\n> Main model: gpt-5 with diff "
        f"edit format\n{said}"
    )


def doubted(store: Store) -> list[tuple[str, int]]:
    """(kind of the record, number of findings) of runs that are probably duplicates."""
    with store.reading() as connection:
        return connection.sql(
            "select record_kind, runs.findings from runs join findings using (run_id)"
            " where rule in ('possible_duplicate', 'probable_copy') order by 1"
        ).fetchall()


FIRST_ANSWER = "5,244 sent, 604 received. Cost: $0.10 message, $0.10 session."
SECOND_ANSWER = "12k sent, 5 received. Cost: $0.02 message, $0.12 session."
TWO_LOGS = {
    "analytics": lines(
        sent(60, 0.1, 0.1, prompt_tokens=5244, completion_tokens=604),
        sent(90, 0.024, 0.124, prompt_tokens=12_400),
    ),
    "history": history_of(0, FIRST_ANSWER, SECOND_ANSWER),
}


@pytest.mark.parametrize("order", [("analytics", "history"), ("history", "analytics")])
def test_two_logs_of_a_session_are_probably_one_run(
    order: tuple[str, str], store: Store, tmp_path: Path
) -> None:
    """Nothing in them proves it, so both stay, and the report says what may be counted twice."""
    for name in order:
        runs = ingested(store, tmp_path, **{name: TWO_LOGS[name]})
    assert (len(runs), [kind for kind, _ in doubted(store)]) == (2, ["stream", "transcript"])
    found = doubted(store)
    assert rebuild(store).rejects == 0
    assert doubted(store) == found
    assert (doubtful(store, Filters())["copied_runs"], uncounted(store, Filters())) == (0, (0, 1))
    told = doubtful(store, EVERY_RUN)
    assert (told["copied_runs"], told["copied_usd"]) == (1, Decimal("0.12"))
    undo(store, 2)
    assert (
        doubted(store),
        doubtful(store, EVERY_RUN)["copied_runs"],
        uncounted(store, Filters()),
    ) == ([], 0, (0, 0))


def test_a_log_that_fits_two_sessions_is_a_copy_of_one_of_them(
    store: Store, tmp_path: Path
) -> None:
    """And the other session, and a second log that fits none better, are counted."""
    usual: dict[str, Any] = {"user": "v", "completion_tokens": 604}
    twin = lines(
        sent(3600, 0.1, 0.1, prompt_tokens=5244, **usual),
        sent(3700, 0.024, 0.124, user="v", prompt_tokens=12_400),
    )
    logs = TWO_LOGS | {"twin": twin}
    runs = ingested(store, tmp_path, **logs)
    assert (len(runs), uncounted(store, Filters())) == (3, (0, 1))
    assert doubtful(store, Filters())["copied_runs"] == 0


def test_logs_of_other_sessions_are_no_duplicates(store: Store, tmp_path: Path) -> None:
    """One with fewer answers, with other tokens, with another cost, of another day."""
    others = {
        "fewer": history_of(0, FIRST_ANSWER),
        "tokens": history_of(0, FIRST_ANSWER.replace("604", "650"), SECOND_ANSWER),
        "cost": history_of(0, FIRST_ANSWER.replace("0.10", "0.13"), SECOND_ANSWER),
        "day": history_of(-3 * 86_400, FIRST_ANSWER, SECOND_ANSWER),
    }
    assert len(ingested(store, tmp_path, analytics=TWO_LOGS["analytics"], **others)) == 5
    assert doubted(store) == []


WENT_ON = "5,244 sent, 604 received. Cost: $0.10 message, $0.22 session."


def test_a_launch_inside_the_same_process_has_the_one_before_as_its_parent() -> None:
    """What it paid is its own, though the total of the session runs on.

    A launch that begins at nothing is of another process.
    """
    texts = (
        history_of(0, FIRST_ANSWER, SECOND_ANSWER),
        history_of(100),
        history_of(200, WENT_ON),
        history_of(300, FIRST_ANSWER),
    )
    first, second, other = kept_in("\n".join(texts))
    assert (first.parent_session_id, second.parent_session_id, other.parent_session_id) == (
        None,
        first.run_id,
        None,
    )
    assert [run.cost_usd for run in (first, second, other)] == [
        Decimal("0.12"),
        Decimal("0.10"),
        Decimal("0.10"),
    ]


def test_the_launches_of_a_process_are_together_the_other_log_of_its_session(
    store: Store, tmp_path: Path
) -> None:
    sums = (
        sent(60, 0.1, 0.1, prompt_tokens=5244, completion_tokens=604),
        sent(90, 0.024, 0.124, prompt_tokens=12_400),
    )
    analytics = lines(*sums, sent(200, 0.1, 0.224, prompt_tokens=5244, completion_tokens=604))
    history = "\n".join((history_of(0, FIRST_ANSWER, SECOND_ANSWER), history_of(150, WENT_ON)))
    assert len(ingested(store, tmp_path, analytics=analytics, history=history)) == 3
    assert doubted(store) == [("stream", 1), ("transcript", 1), ("transcript", 1)]
    found = doubtful(store, EVERY_RUN)
    assert (found["copied_runs"], found["copied_usd"]) == (2, Decimal("0.22"))
    assert uncounted(store, Filters()) == (0, 2)
