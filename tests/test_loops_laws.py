"""What holds for the logs of all loops. What is read of each: `tests/logs/loops`."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.loops.base import Loop
from ingest.loops.formats import possible_formats
from ingest.loops.words import direction_named
from ingest.measurements.base import MeasuredFile
from ingest.store.database import Store, arrow
from schemas.units import Better
from tests.conftest import ingest_paths
from tests.golden_logs import EXPECTED, LOGS, text_of

RESULTS = text_of("loops/tables/results.tsv")
PI = text_of("loops/json_lines/a_pi_log_tells_metric_direction_and_states.jsonl")
OWN = text_of("loops/json_lines/a_log_of_flags_reasons_and_costs.jsonl")
OPENEVOLVE = text_of("loops/openevolve/a_log_has_every_program_by_its_score.log")
JOURNAL = text_of(
    "loops/aide/a_journal_has_good_and_failed_nodes_and_no_decisions/logs/run-3/journal.json"
)
TEXTS = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted((LOGS / "loops").glob("*/*"))
    if path.is_file() and not path.name.endswith(EXPECTED)
}


def loops_in(text: str) -> list[Loop]:
    """Read a log as the ingest does: the first format that finds a loop reads it."""
    file = MeasuredFile("x/log", text)
    return next(filter(None, (list(each.read(file)) for each in possible_formats(text))), [])


def told(loops: list[Loop]) -> list[tuple[object, ...]]:
    return [
        (one.state, one.value, one.commit, one.description)
        for loop in loops
        for one in loop.experiments
    ]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_line_ends_and_a_byte_order_mark_change_nothing(text: str) -> None:
    assert loops_in("\ufeff" + text.replace("\n", "\r\n")) == loops_in(text)


@given(st.sampled_from([RESULTS, PI, OWN, OPENEVOLVE]), st.integers(0, 24), st.integers(0, 60))
def test_the_beginning_of_a_log_has_the_first_of_its_experiments(
    text: str, lines: int, characters: int
) -> None:
    [whole] = loops_in(text)
    listed = text.splitlines(keepends=True)
    is_table = text == RESULTS  # a cut cell of a table is another cell
    half = "" if is_table else "".join(listed[lines : lines + 1])[:characters]
    for loop in loops_in("".join(listed[:lines]) + half):
        found = [one.fingerprint() for one in loop.experiments]
        assert found == [one.fingerprint() for one in whole.experiments][: len(found)]


DAMAGED = {
    "commas": RESULTS.replace("\t", ","),
    "prose": "Experiments of the night\n\n" + RESULTS,
    "summary": RESULTS + "✻ Baked for 36m 12s\nSUMMARY: after 5 experiments val_bpb fell, so on\n",
    "rows of a benchmark": RESULTS.replace(
        "c3d4e5f", "2026-03-26 13:10:21\t20274\t112.63\t180.0011\ttrue\tnull\t\nc3d4e5f"
    ),
    "headings again": RESULTS + RESULTS.splitlines()[0] + "\n",
    "words": RESULTS.replace("\tcrash", "\tOOM").replace("\tkeep", "\t**KEEP** ✅"),
    "quotes": RESULTS.replace("commit\tval_bpb\tmemory_gb", '"commit"\t"val_bpb"\t"memory_gb"'),
    "half a line": RESULTS + "f6a7b8c\t0.98",
    "column that rows lack": RESULTS.replace("memory_gb\tstatus", "memory_gb\tmfu\tstatus"),
    "long decision": RESULTS.replace(
        "\tkeep", "\tkeep; promoted, since it is better on every one of the ten graphs we tried"
    ),
}


@pytest.mark.parametrize("changed", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_table_has_the_same_experiments(changed: str) -> None:
    assert told(loops_in(changed)) == told(loops_in(RESULTS))


@given(order=st.permutations(range(5)))
def test_the_order_of_columns_changes_nothing(order: list[int]) -> None:
    rows = (line.split("\t") for line in RESULTS.splitlines())
    [shuffled] = loops_in("".join("\t".join(row[at] for at in order) + "\n" for row in rows))
    [whole] = loops_in(RESULTS)
    assert (shuffled.experiments, shuffled.metric) == (whole.experiments, "val_bpb")


@given(st.randoms(use_true_random=False))
def test_the_order_of_keys_changes_nothing(random: Any) -> None:
    lines = [list(json.loads(line).items()) for line in OWN.splitlines()]
    shuffled = (dict(random.sample(pairs, len(pairs))) for pairs in lines)
    assert loops_in("".join(f"{json.dumps(line)}\n" for line in shuffled)) == loops_in(OWN)


def test_a_cell_of_a_megabyte() -> None:
    [loop] = loops_in(RESULTS.replace("more warm-up", "x" * (1 << 20)))
    assert len(loop.experiments[2].description or "") == 1 << 20


WRONG = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["value", "metric_names", "data", "final_value", "maximize"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(WRONG)
def test_a_node_with_wrong_values_is_still_a_node(wrong: Any) -> None:
    whole = json.loads(JOURNAL)
    for name in whole["nodes"][0].keys() - {"id"} | {"parent", "is_seed_agg_node"}:
        nodes = [whole["nodes"][0] | {name: wrong}, *whole["nodes"][1:]]
        [loop] = loops_in(json.dumps(whole | {"nodes": nodes}))
        assert len(loop.experiments) == len(nodes)


@pytest.mark.parametrize(
    ("better", "texts"),
    [
        (Better.LOWER, ["lower", "minimize", "MIN", "lower_is_better", " smaller is better"]),
        (Better.HIGHER, ["higher", "maximize", "max", "higher_is_better", "up"]),
        (Better.UNKNOWN, [None, "", "fast", 1, True, "update", "target"]),
    ],
)
def test_directions_as_logs_have_them(better: Better, texts: list[object]) -> None:
    assert [direction_named(text) for text in texts] == [better] * len(texts)


def test_other_texts_are_not_read() -> None:
    agent = '{"type":"assistant","message":{"role":"assistant","content":[]}}\n'
    for text in ("x = 1\n" * 1000, agent * 100, "def f(x):\n    return x\n"):
        assert not possible_formats(text)


def shown(store: Store) -> list[tuple[object, ...]]:
    with store.reading() as connection:
        found = arrow(
            connection,
            "select format, count(*), count(value), max(value) from v_loops "
            "join experiments using (source_id, loop_no) group by all order by all",
        )
    return [tuple(row.values()) for row in found.to_pylist()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        "aide/a_run_has_the_nodes_of_its_journals_each_once_and_its_cost",
        "openevolve/the_log_stands_for_its_checkpoints_and_the_last_checkpoint_for_those_before",
    ],
)
def test_an_archive_has_what_its_folder_has(case: str, tmp_path: Path) -> None:
    folder = LOGS / "loops" / case / "run"
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        # a file comes before those that it is read with
        for path in sorted(filter(Path.is_file, folder.rglob("*")), reverse=True):
            archive.write(path, path.relative_to(folder))
    as_files, as_archive = Store(tmp_path / "files.duckdb"), Store(tmp_path / "archive.duckdb")
    ingest_paths(as_files, folder)
    ingest_paths(as_archive, tmp_path / "run.zip")
    assert shown(as_archive) == shown(as_files) != []


def test_a_checkpoint_stands_for_those_before_and_the_log_for_all(
    store: Store, tmp_path: Path
) -> None:
    case = LOGS / "loops/openevolve"
    case /= "the_log_stands_for_its_checkpoints_and_the_last_checkpoint_for_those_before"
    ingest_paths(store, case / "run")
    assert shown(store) == [("openevolve-checkpoint", 2, 2, 1.3)]
    ingest_paths(store, case / "kept.log")
    assert shown(store) == [("openevolve-log", 8, 4, 1.3)]


def test_settings_beside_a_log_say_where_pi_worked(tmp_path: Path) -> None:
    log = MeasuredFile("x/.auto/log.jsonl", PI.replace("workingDir", "x"), tmp_path.joinpath)
    (tmp_path / "config.json").write_text('{"maxIterations": 5, "workingDir": "/home/ann"}')
    [pi, *_] = possible_formats(PI)
    [loop] = pi.read(log)
    assert loop.folder == "/home/ann"
    flat = MeasuredFile("x/autoresearch.jsonl", PI, tmp_path.joinpath)
    [loop] = pi.read(flat)
    assert not loop.notes
    (tmp_path / ".auto").mkdir()
    (tmp_path / ".auto/log.jsonl").write_text(PI)
    [loop] = pi.read(flat)
    assert loop.notes == ["`.auto/log.jsonl` in the same folder continues this log"]


def test_absurd_values_end_no_reading() -> None:
    [_, first, *_] = PI.splitlines()
    absurd = [
        '{"run": 3, "metric": 1' + "0" * 400 + ', "status": "keep"}',
        '{"run": 4, "metric": NaN, "status": "keep"}',
        '{"run": 5, "metric": -Infinity, "status": "keep", "timestamp": 1e300, "cost_usd": 1e300}',
        json.dumps(
            json.loads(first) | {"description": "x" * 1_000_000, "metrics": {"a": 1} | {"b": []}}
        ),
        '{"run": 7, "status": "keep", "metric": 1, "asi": ["list"], "metrics": [1], "commit": 7}',
    ]
    [loop] = loops_in("\n".join((PI, *absurd)))
    assert len(loop.experiments) == len(loops_in(PI)[0].experiments) + len(absurd)


def test_a_log_that_grows_stays_one_loop_and_an_older_version_is_none(
    store: Store, tmp_path: Path
) -> None:
    lines = PI.splitlines(keepends=True)
    (tmp_path / "old.jsonl").write_text("".join(lines[:4]))
    for text in ("".join(lines[:3]), PI[:-20], PI):  # a line is being written
        (tmp_path / "log.jsonl").write_text(text)
        ingest_paths(store, tmp_path)
    [(_, count, _, _)] = shown(store)
    assert count == len(loops_in(PI)[0].experiments)
