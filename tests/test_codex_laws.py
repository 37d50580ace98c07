"""Codex: repeated totals add nothing, and however many threads are open, each is a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.agents.codex.streams import CodexAppServer
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from tests.codex_lines import STARTED, call, context, meta, tokens, uuid7
from tests.conftest import fetched
from tests.documents import lines, runs_in_store
from tests.examples import examples
from tests.golden_logs import text_of

SESSION = uuid7(STARTED, 1)
REQUEST = st.tuples(
    st.integers(1, 10**6),
    st.integers(0, 10**6),
    st.integers(0, 10**5),
    st.integers(1, 3),
    st.sampled_from(("gpt-5", "gpt-5.5")),
)
"""Uncached, read and output tokens, how often the total is written, and the model."""


@pytest.mark.slow
@given(st.lists(REQUEST, min_size=1, max_size=8), st.integers(2, 60))
@examples(4)
def test_each_growth_of_the_totals_is_one_response_wherever_a_rollout_is_cut(
    tmp_path_factory: pytest.TempPathFactory,
    requests: list[tuple[int, int, int, int, str]],
    cut: int,
) -> None:
    """An archived copy and an older active one name the same responses alike."""
    uncached = read = written = 0
    events = [meta(SESSION)]
    for number, (more, cached, out, times, model) in enumerate(requests):
        uncached, read, written = uncached + more, read + cached, written + out
        events += [
            context(number, model, turn_id=uuid7(STARTED, 10 + number // 2)),
            call(number, f"c{number}"),
            *[tokens(number, uncached=uncached, read=read, output=written)] * times,
        ]
    folder = tmp_path_factory.mktemp("rollouts")
    whole, part = (
        responses(folder / name, lines(*found))
        for name, found in (("whole", events), ("part", events[:cut]))
    )
    assert [row[1:4] for row in whole] == [request[:3] for request in requests]
    assert len({row[0] for row in whole}) == len(requests)
    assert part == whole[: len(part)]


def responses(path: Path, text: str) -> list[tuple[object, ...]]:
    store = Store(path.with_suffix(".duckdb"))
    ingest([Source("rollout.jsonl", text.encode())], store, Options(jobs=1))
    return fetched(
        store,
        "select message_id, input_tokens, cache_read_tokens, output_tokens, model "
        "from response_copies order by response_no",
    )


def test_of_very_many_threads_each_is_a_run(store: Store) -> None:
    text = text_of("codex/app_server/thread.jsonl")
    [thread] = {part for part in text.split('"') if part.startswith("019e")}
    ids = [uuid7(STARTED, number) for number in range(CodexAppServer.MOST_OPEN + 9)]
    log = "".join(text.replace(thread, one) for one in ids)
    ingest([Source("log.jsonl", log.encode())], store, Options(jobs=1))
    assert {run["run_id"] for run in runs_in_store(store)} == set(ids)
