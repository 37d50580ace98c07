"""Lines of telemetry: in any order and any files the same runs, and one that is broken is alone."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from tests.conftest import record_text
from tests.documents import runs_in_store
from tests.examples import examples
from tests.golden_logs import LOGS, text_of

PARTS = [
    line
    for path in sorted((LOGS / "opentelemetry/in_several_files").iterdir())
    for line in path.read_text().splitlines()
]


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(PARTS), max_size=6),
    st.randoms(use_true_random=False),
    st.integers(1, 4),
)
@examples(2)
def test_neither_order_nor_files_nor_repetition_matter(
    tmp_path_factory: pytest.TempPathFactory, repeated: list[str], random: Random, files: int
) -> None:
    dealt: list[list[str]] = [[] for _ in range(files)]
    for line in random.sample([*PARTS, *repeated], len(PARTS) + len(repeated)):
        random.choice(dealt).append(line)
    folder = tmp_path_factory.mktemp("telemetry")
    whole = runs_of(Store(folder / "whole.duckdb"), [PARTS])
    assert runs_of(Store(folder / "dealt.duckdb"), dealt) == whole


def runs_of(store: Store, files: list[list[str]]) -> list[dict[str, Any]]:
    """The runs without what says where in which file they are."""
    sources = [Source(f"{n}.jsonl", "\n".join(one).encode()) for n, one in enumerate(files)]
    ingest(sources, store, Options(jobs=1))
    return [
        {name: value for name, value in run.items() if name not in ("title", "record_rank")}
        for run in runs_in_store(store)
    ]


def test_a_part_that_cannot_be_read_again_costs_no_other_run(store: Store) -> None:
    session = text_of("opentelemetry/file_that_grew/2/events.jsonl").splitlines()
    runs_of(store, [session[:1]])
    with store.writing() as writer:
        writer.connection.execute("update runs set raw = replace(raw, 'heard', 'herd')")
    other = record_text(uuid="other", session_id="other")
    assert len(runs_of(store, [session[1:], [other]])) == 2
