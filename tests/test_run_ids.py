"""Runs by the beginning of their ids: in `show`, in filters, and in links."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from app.cli.main import cli
from app.queries import filter_inputs as filter_urls
from app.queries.filters import RUN, choose, parse
from app.queries.run_page import find, run_id_of
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.errors import UsageError
from tests.conftest import StoreOnce, page_text, record_text

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

IDS = ("abcd1111-0000", "abcd2222-0000", "ef012345-0000", "ef01")


def fill(store: Store) -> None:
    """Four runs, two of whose ids begin alike and one of which begins another."""
    texts = [
        record_text(
            uuid=id_, session_id=id_, total_cost_usd=number, result=f"Kernel {number} is faster."
        )
        for number, id_ in enumerate(IDS)
    ]
    ingest([Source("runs.jsonl", "\n".join(texts).encode())], store)


@pytest.fixture(scope="module")
def named(read_once: StoreOnce) -> Store:
    return read_once("named-runs", fill)


def ask(store: Store, *words: str) -> Result:
    return CliRunner().invoke(cli, [*words, "--db", store.location])


@pytest.mark.parametrize(
    ("text", "run_id"),
    [
        ("abcd1", IDS[0]),
        (" abcd1111… ", IDS[0]),
        (IDS[1], IDS[1]),
        ("ef012", IDS[2]),
        ("ef01", "ef01"),
        ("abcd", None),
        ("abc", None),
        ("", None),
        ("kernel 2 is faster", IDS[2]),
        ("Kernel", None),
    ],
)
def test_a_text_names_the_run_whose_id_begins_so(
    text: str, run_id: str | None, named: Store
) -> None:
    assert find(named, text).run_id == run_id


@pytest.mark.parametrize(
    "words", [("show", "abcd"), ("runs", "--run", "abcd"), ("compare", "run=abcd", "run=ef012")]
)
def test_of_several_runs_the_titles_are_listed(words: tuple[str, ...], named: Store) -> None:
    done = ask(named, *words)
    with pytest.raises(UsageError, match="2 runs have an id that begins with 'abcd'") as error:
        run_id_of(named, "abcd")
    assert error.value.hint.splitlines() == [
        "Give more characters:",
        "  abcd1111  Kernel 0 is faster",
        "  abcd2222  Kernel 1 is faster",
    ]
    assert isinstance(done.exception, UsageError)
    assert done.exception.hint == error.value.hint


def test_a_title_names_its_only_run_and_several_runs_are_told_apart_by_agent_and_model(
    store: Store,
) -> None:
    ingest(
        [
            Source(
                "runs.jsonl",
                "\n".join(
                    record_text(uuid=f"abcd{number}", session_id=str(number)) for number in "12"
                ).encode(),
            )
        ],
        store,
    )
    with pytest.raises(UsageError, match="2 runs have the title 'done'") as error:
        run_id_of(store, "done")
    assert error.value.hint.splitlines() == [
        "Give an id:",
        *(f"  abcd{n}  Done · claude-code · claude-opus-4-6" for n in "12"),
    ]


def test_candidates_are_told_apart_by_as_many_characters_as_it_takes(store: Store) -> None:
    texts = [record_text(uuid=f"abcd1111-{number}", session_id=str(number)) for number in range(12)]
    ingest([Source("runs.jsonl", "\n".join(texts).encode())], store)
    assert find(store, "abcd").lines()[:2] == ["abcd1111-0  Done", "abcd1111-1  Done"]
    assert find(store, "abcd").lines()[-1] == "… and 2 more"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("zzzz", "List the runs with their ids: tachograph runs --db "),
        ("zz", "Give the first 4 or more"),
    ],
)
def test_where_no_run_has_the_id_the_error_says_what_to_do(
    text: str, hint: str, named: Store
) -> None:
    with pytest.raises(UsageError) as error:
        run_id_of(named, text)
    assert error.value.hint.startswith(hint)


def rows(store: Store, *words: str) -> list[dict[str, Any]]:
    done = ask(store, *words, "--format", "json")
    assert done.exit_code == 0, done.exception
    return list(json.loads(done.stdout))


@pytest.mark.slow
def test_every_list_can_be_limited_to_runs(named: Store) -> None:
    assert [row["run_id"] for row in rows(named, "runs", "--run", "abcd2", "--run", "ef012")] == [
        IDS[2],
        IDS[1],
    ]
    assert {row["run_id"] for row in rows(named, "claims", "--run", "abcd2")} <= {IDS[1]}
    assert {row["run_id"] for row in rows(named, "findings", "--run", "abcd2")} <= {IDS[1]}
    assert rows(named, "report", "--brief", "--by", "run", "--run", "abcd2")[0]["run"] == IDS[1]
    assert "1 run " in ask(named, "compare", "run=abcd2", "run=ef012").stderr


def test_the_filter_is_in_links_by_another_word_than_the_page_of_a_run() -> None:
    filters = choose({RUN: ["abcd", "ef01"]})
    assert filter_urls.write_link(filters) == {"run-id": ["abcd", "ef01"]}
    assert (
        filter_urls.read_link({"run-id": ["abcd", "ef01"], "run": ["x"]}).filters
        == filters
        == parse("run=abcd --run ef01")
    )


def test_a_link_may_have_the_beginning_of_an_id(
    named: Store, screens: Callable[..., AppTest]
) -> None:
    found = page_text(screens(named.location, "screens/run.py", run="ef012"))
    assert "Kernel 2 is faster" in found.partition("Where the money went")[0]
    several = screens(named.location, "screens/run.py", run="abcd")
    assert several.title[0].value == "Several runs"
    assert [link.proto.label.split(" · ")[0] for link in several.get("page_link")] == [
        "Kernel 0 is faster",
        "Kernel 1 is faster",
    ]
    assert screens(named.location, "screens/run.py", run="abc").title[0].value == "Run not found"


def test_the_beginning_of_a_sessions_id_is_enough(named: Store) -> None:
    def sessions(text: str) -> set[str]:
        return {
            row["session_id"]
            for row in json.loads(ask(named, "runs", "--session", text, "--format", "json").stdout)
        }

    assert sessions("abcd1") == {IDS[0]}
    assert sessions("ef01") == {"ef01"}
    assert sessions("ef012345…") == {IDS[2]}
    several = ask(named, "runs", "--session", "abcd").exception
    assert isinstance(several, UsageError)
    assert several.message == "2 sessions have an id that begins with 'abcd'."
    assert (
        "No run has session 'abce1111'. Did you mean abcd1111-0000"
        in ask(named, "runs", "--session", "abce1111").stderr
    )
