"""The index of long texts: a search finds the same runs with it as without, whatever is searched and whatever became of the runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.queries import runs as run_queries
from app.queries.filters import SEARCH, Filters
from app.queries.reading import read_transaction
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.history.annotations import Change, annotate
from ingest.store.history.undo import undo
from ingest.store.rebuild import rebuild
from ingest.store.text_index import index_texts
from tests.conftest import StoreOnce, record_text
from tests.examples import examples

TEXTS = (
    "Rewrote the Größenrechner: 12 ms → 9 ms.\n\n- `src/deep/Scheduler.py` (10 insertions)",
    "速度が二倍になりました。キャッシュを変更。 Done.",
    "100% faster\tthan_before 🚀🚀, see C:\\logs\\a.txt and 50%_x",
    "ALL TESTS PASS  twice;\x0ball tests pass\r\nİstanbul ẞ ΑΣ",
    "a",
    "",
    "the kernel reads pages once instead of per head; the kernel waits",
    "the kernel writes pages twice 'quoted' \"double\" $value --",
)


def fill(store: Store) -> None:
    records = [record_text(uuid=f"00aa{number}", session_id=f"s{number}", result=text) for number, text in enumerate(TEXTS)]
    ingest([Source("logs/all.jsonl", "\n".join(records).encode())], store)
    assert index_texts(store, least=1) == len(TEXTS)


@pytest.fixture(scope="module")
def indexed(store_once: StoreOnce) -> Store:
    return store_once("indexed", fill)


@pytest.fixture
def copied(indexed: Store, store: Store) -> Store:
    """The same, to be changed."""
    shutil.copy(indexed.location, store.location)
    return store


def by_reading(store: Store, needle: str) -> list[str]:
    """What the filter says: every text is read."""
    return ids(store, Filters(((SEARCH, (needle,)),)))


def by_index(store: Store, needle: str) -> list[str]:
    with read_transaction(store) as request:
        return ids(request, request.searched(Filters(((SEARCH, (needle,)),))))


def ids(store: Store, filters: Filters) -> list[str]:
    return sorted(run_queries.runs(store, filters)["run_id"].to_pylist())


PARTS = st.sampled_from(TEXTS).flatmap(
    lambda text: st.tuples(st.integers(0, len(text)), st.integers(0, 12)).map(lambda cut: text[cut[0] : cut[0] + cut[1]])
)
CASES: tuple[Callable[[str], str], ...] = (str.lower, str.upper, str.title, str.strip, " {}".format, "{}  ".format)
NEEDLES = st.one_of(
    st.tuples(PARTS, st.sampled_from(CASES)).map(lambda given: given[1](given[0])),
    st.text(st.sampled_from(list("aeST %_'\"\\$\n\t\x0b.🚀速İẞσΣ-")), max_size=6),
    st.sampled_from(["00aa", "00AA3", "s4", "all.jsonl", "kernel reads", "kernel  reads", "PASS twice", "e", "%", "_", "\x00"]),
).filter(bool)


@given(NEEDLES)
@settings(examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_index_finds_what_reading_every_text_finds(indexed: Store, needle: str) -> None:
    """A needle of several words, in another case or script, or shorter than any word."""
    assert by_index(indexed, needle) == by_reading(indexed, needle)


def test_the_index_alone_answers_for_a_word(indexed: Store, tmp_path: Path) -> None:
    """No text of an indexed run is read: words that are in the index only are found."""
    with indexed.reading() as connection:
        connection.execute(f"attach '{tmp_path / 'copy.duckdb'}' as copy; copy from database tachograph to copy; detach copy")
    copied = Store(tmp_path / "copy.duckdb")
    added = "update rare_words set words = words || ' unheard-of' where text_no = (select min(text_no) from rare_words)"
    with copied.writing() as writer:
        writer.connection.execute(added)
    assert len(by_index(copied, "heard-o")) == 1
    assert by_index(copied, "heard-o x") == by_reading(copied, "heard-o") == []


def test_runs_without_an_index_are_found_beside_those_with_one(copied: Store) -> None:
    ingest([Source("later.json", record_text(uuid="later", session_id="x", result="the kernel sleeps").encode())], copied)
    found = by_index(copied, "kernel")
    assert found == by_reading(copied, "kernel")
    assert "later" in found
    assert index_texts(copied, least=2) == 0
    assert index_texts(copied, least=1) == 1
    assert by_index(copied, "kernel") == found


def test_numbers_of_runs_that_are_gone_are_never_given_again(copied: Store) -> None:
    """Otherwise a new run would have the words of one that was taken back."""
    done = ingest([Source("gone.json", record_text(uuid="gone", session_id="x", result="vanishing word").encode())], copied)
    index_texts(copied, least=1)
    assert by_index(copied, "vanishing") == ["gone"]
    assert done.ingest_id is not None
    undo(copied, done.ingest_id)
    ingest([Source("new.json", record_text(uuid="new", session_id="y", result="another one").encode())], copied)
    index_texts(copied, least=1)
    assert by_index(copied, "vanishing") == []
    assert by_index(copied, "another") == ["new"]


def test_a_text_that_changes_is_found_as_it_is(store: Store) -> None:
    """A fuller copy of a record takes the place of an indexed one."""
    short = record_text(uuid="same", session_id="x", result="first words", modelUsage={})
    ingest([Source("a.json", short.encode())], store)
    index_texts(store, least=1)
    ingest([Source("b.json", record_text(uuid="same", session_id="x", result="second thoughts").encode())], store)
    for needle in ("first", "second"):
        assert by_index(store, needle) == by_reading(store, needle)


def test_annotations_are_searched_as_before(copied: Store) -> None:
    annotate(copied, ["00aa0"], Change(labels={"task": "Zanzibar trip", "repo": "elsewhere"}), "me")
    assert by_index(copied, "zanzibar T") == by_index(copied, "elsewhere") == ["00aa0"]


def test_a_rebuilt_store_is_indexed_anew(copied: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.store.rebuild.index_texts", lambda store: index_texts(store, least=1))
    rebuild(copied)
    with copied.reading() as connection:
        found = connection.execute("select count(text_no), (select count(*) from rare_words) > 0 from runs").fetchall()
    assert found == [(len(TEXTS), True)]
    assert by_index(copied, "kernel") == by_reading(copied, "kernel") != []
