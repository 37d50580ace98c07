"""Result files that no reader knows come in by a map, and nothing of them is lost."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as some

from app.text.mapping import preview
from ingest.mapped.found import KnownMap, parse_map
from ingest.mapped.propose import map_of, proposed
from ingest.mapped.reading import MappedReading, read_by_maps
from ingest.pipeline import IngestReport, Options, ingest
from ingest.sources.files import Source
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.errors import UsageError
from schemas.rows.published import Judged
from schemas.wire.result_map import ResultMap
from tests.conftest import Run
from tests.examples import examples

MAP = """
[[rows]]
files = "*.jsonl"
[rows.run]
agent = "agent"
run_id = "id"
cost = "usd"
[[rows.measurement]]
value = "speedup"
over = "baseline"
"""
ROWS = [
    {"agent": "acme", "id": "one", "usd": 1.5, "speedup": 2},
    {"agent": "acme", "id": "two", "usd": "free"},
]


def ingested(folder: Path, **options: Any) -> IngestReport:
    return ingest(read_paths([folder / "in"]), _store(folder), Options(jobs=1, **options))


def _store(folder: Path) -> Store:
    return Store(folder / "runs.duckdb")


def _state(folder: Path) -> list[Any]:
    tables = ("sources", "runs", "model_usage", "measurements", "rejects", "ingests")
    sql = "select columns(lambda name: name <> 'modified_ns') from {} order by all"
    with _store(folder).reading() as connection:
        return [connection.sql(sql.format(table)).fetchall() for table in tables]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    rows = "".join(f"{json.dumps(row)}\n" for row in ROWS)
    (tmp_path / "in" / "deep" / "rows.jsonl").write_text(rows)
    return tmp_path


def _write_map(folder: Path, text: str = MAP) -> None:
    (folder / "in" / "tachograph-map.toml").write_text(text)


def test_known_files_are_read_once_they_have_a_map_and_undo_takes_it_back(folder: Path) -> None:
    assert not ingested(folder).has_runs
    before = _state(folder)
    _write_map(folder)
    report = ingested(folder)
    assert (report.total("accepted"), report.total("rejected")) == (1, 1)
    assert report.total("measurements") == 1
    after = _state(folder)
    assert ingested(folder).ingest_id is None
    assert _state(folder) == after
    rebuild(_store(folder))
    rebuilt = _state(folder)
    assert rebuilt[1:4] == after[1:4]
    assert report.ingest_id
    undo(_store(folder), report.ingest_id)
    assert _state(folder) == before


def test_a_row_that_two_forms_take_is_one_run(folder: Path) -> None:
    """Maps of folders with several kinds of files have forms that some rows fit both of."""
    forms = "".join(
        f'[[rows]]\nwhere = {{ {name} = "*" }}\n[rows.run]\nagent = "agent"\nmodel = "{name}"\n'
        for name in ("usd", "speedup")
    )
    _write_map(folder, forms)
    report = ingested(folder)
    assert (report.total("accepted"), report.total("duplicates")) == (2, 0)
    assert report.total("ignored") == 2 + 1  # the rows again, and the map


def _read(name: str, data: bytes, *forms: dict[str, Any]) -> MappedReading:
    known = KnownMap(ResultMap.model_validate({"rows": forms}), "text")
    return read_by_maps(Source(name, data), (known,))


_COSTS: dict[str, Any] = {"run": {"agent": "agent", "cost": "cost"}}


def test_rows_at_the_same_place_of_two_tables_are_two_runs(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        for table in "ab":
            database.execute(f"create table {table} as select 'codex' agent, 1 cost")
        database.commit()
    forms = [_COSTS | {"table": table} for table in "ab"]
    reading = _read("x.db", (tmp_path / "x.db").read_bytes(), *forms)
    assert (len(reading.kept), reading.ignored) == (2, 0)


def test_a_row_is_one_run_however_its_path_is_written() -> None:
    rows = json.dumps([{"agent": "codex", "cost": 1}]).encode()
    for paths in ((None, "[*]"), ("$[*]", "[*]")):
        forms = [_COSTS | ({"each": path} if path else {}) for path in paths]
        assert len(_read("x.json", rows, *forms).kept) == 1


@pytest.mark.parametrize(("take", "costs"), [("all", [1, 2, 3]), ("first", [1]), ("last", [3])])
def test_a_line_may_hold_several_rows(take: str, costs: list[int]) -> None:
    form = _COSTS | {"line": r"(?P<agent>\w+)=(?P<cost>\d+)", "take": take}
    reading = _read("x.txt", b"\n\ncodex=1 claude=2\n codex=3", form)
    assert [run.cost_usd for run in reading.kept] == costs
    last = {"all": "line 4, column 2", "first": "line 3, column 1", "last": "line 4, column 2"}
    assert reading.runs[-1].document.position == last[take]


def test_words_for_no_number_are_no_number() -> None:
    table = b"agent,cost\ncodex,-\ncodex,N/A\ncodex,free\n"
    reading = _read("x.csv", table, _COSTS)
    assert [run.cost_usd for run in reading.kept] == [None, None]
    assert [reject.position for reject in reading.rejects] == ["line 4"]
    assert _read("x.json", b'{"agent": "codex", "cost": NaN}', _COSTS).kept
    assert _read("x.json", b'{"agent": "codex", "cost": {}}', _COSTS).rejects


def test_what_another_map_read_stays_and_is_named(folder: Path) -> None:
    _write_map(folder)
    read = ingested(folder)
    before = _state(folder)
    _write_map(folder, MAP.replace('"usd"', '{ path = "usd", unit = "¢" }'))
    [source] = [one for one in ingested(folder).sources if one.has_other_map]
    assert source.ingest_id == read.ingest_id
    assert _state(folder)[1:4] == before[1:4]


def test_a_corrected_map_reads_rejects_again(folder: Path) -> None:
    _write_map(folder)
    ingested(folder)
    _write_map(folder, MAP.replace('"usd"', '{ path = "usd", words = { free = 0, "*" = "*" } }'))
    report = ingested(folder, retry_rejects=True)
    assert (report.total("accepted"), report.total("duplicates")) == (1, 1)
    assert report.total("rejected") == 0
    with _store(folder).reading() as connection:
        assert connection.sql("select count(*) from measurements").fetchall() == [(1,)]


def test_a_broken_map_is_one_reject_and_costs_no_other_file(folder: Path) -> None:
    _write_map(folder, MAP.replace("cost =", "costs ="))
    result = '{"type":"result","subtype":"success","total_cost_usd":1,"duration_ms":1,"uuid":"u"}'
    (folder / "in" / "claude.json").write_text(result)
    report = ingested(folder)
    [reject] = [reject for source in report.sources for reject in source.rejects]
    assert "line 7, `rows.0.run.costs`: is no key of a map. Did you mean cost?" in reject.detail
    assert report.total("accepted") == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rows = 3", "line 1, `rows`"),
        ("[[rows]]", "line 1, `rows.0`: needs [rows.run]"),
        ("[[rows]]\n[rows.run]\nmodel = 'm'", "line 2, `rows.0.run.agent`: is missing"),
        ("[[rows]]\n[rows.run]\nagent = 'a'\nduration = 't'", "line 4, `rows.0.run.duration`: has"),
        ("[[rows]]\neach = 'a['\n[rows.run]\nagent = 'a'", "line 2, `rows.0.each`: is no path"),
        ("[[rows]]\n[rows.run]\nagent = { file = '(' }", "line 3, `rows.0.run.agent.file`: is no"),
        ("[[rows]]\n[rows.run]\nagent = { path = 'a', value = 'b' }", "takes exactly one of path"),
        ("[[rows]\n", "is not valid TOML"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_map_is_shown_with_its_line(text: str, complaint: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_map("m.toml", text)
    assert complaint in raised.value.message


def test_a_map_may_be_given(folder: Path, tachograph: Run) -> None:
    (folder / "a.toml").write_text(MAP)
    (folder / "b.toml").write_text("[[rows]]")
    told = tachograph("ingest", folder / "in", "--map", folder / "a.toml", "--json")
    assert json.loads(told.stdout)["accepted"] == 1
    wrong = tachograph("ingest", folder / "in", "--map", folder / "b.toml")
    assert (wrong.returncode, "needs [rows.run]" in wrong.stderr) == (2, True)


_SCALARS = some.one_of(
    some.none(), some.booleans(), some.integers(), some.floats(), some.text(max_size=9)
)
_VALUES = some.recursive(
    _SCALARS,
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.dictionaries(some.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)
_PATHS = some.sampled_from(["a", "b", "c", "a.b", "b[0]", "^.a", "$.c", "$"])
_NAMES = (
    "model cost credits turns outcome score task title error started_at input_tokens "
    "cache_read_tokens output_tokens session_id".split()
)


@examples(100)
@given(
    rows=some.lists(some.dictionaries(some.sampled_from("abc"), _VALUES, max_size=3), max_size=4),
    fields=some.dictionaries(some.sampled_from(_NAMES), _PATHS, max_size=6),
    agent=_PATHS,
    value=_PATHS,
    each=some.sampled_from([None, "[*]", "a[*]", "*.b"]),
)
def test_every_row_of_any_file_is_a_run_a_reject_or_left_out(
    rows: list[Any], fields: dict[str, str], agent: str, value: str, each: str | None
) -> None:
    form = {"run": fields | {"agent": agent}, "measurement": [{"value": value}]}
    form |= {"each": each} if each else {}
    known = KnownMap(ResultMap.model_validate({"rows": [form]}), "text")
    reading: MappedReading = read_by_maps(Source("x.json", json.dumps(rows).encode()), (known,))
    if each in (None, "[*]") and rows:
        assert reading.rows == len(rows)
    if reading.rows:
        assert reading.rows == len(reading.runs) + len(reading.rejects) + reading.ignored
    assert all(reject.detail and "Traceback" not in reject.detail for reject in reading.rejects)


def test_a_map_is_proposed_and_shown_and_ingest_reads_it(tmp_path: Path, tachograph: Run) -> None:
    rows = tmp_path / "bench"
    for number in range(4):
        (rows / f"task-{number}").mkdir(parents=True)
        row = {
            "cli": "claude",
            "model": "opus",
            "usage": {"input": 9},
            "wall_s": 60,
            "passed": True,
        }
        row |= {"total_cost_usd": number + 0.5, "config": {"max_cost": 10}, "night": 7}
        (rows / f"task-{number}" / "result.json").write_text(json.dumps(row))
    proposed = tachograph("map", rows)
    assert "Claude Code" in proposed.stdout
    assert "$3.50" in proposed.stdout
    assert "4 rows in 4 files: 4 runs" in proposed.stderr
    assert "task = { folder = 1 } would be task-0" in proposed.stderr
    written = (rows / "tachograph-map.toml").read_text()
    corrected = written.replace("\ncost =", "\ntask = { folder = 1 }\ncost =")
    (rows / "tachograph-map.toml").write_text(corrected)
    assert "task-3" in tachograph("map", rows).stdout
    told = json.loads(tachograph("ingest", rows, "--json").stdout)
    assert told["accepted"] == 4


def _proposed(folder: Path) -> list[Any]:
    return proposed([one for one in read_paths([folder]) if isinstance(one, Source)], f"{folder}/")


def test_rows_lie_in_objects_by_their_tasks_and_have_the_model_around_them(tmp_path: Path) -> None:
    """The names of tasks are no fields: only those of one task were proposed."""
    for number in range(2):  # the second file has all runs of the first
        models = [
            {
                "model": model,
                "harness": "codex",
                "results": {
                    f"task-{task}": {
                        "run_id": f"run-{model}-{task}",
                        "correct": task == 0,
                        "seconds": 60,
                        "verdict": "clean" if task else "reward_hack",
                    }
                    for task in range(number, 3)
                },
            }
            for model in ("one", "two")
        ]
        (tmp_path / f"board-{number}.json").write_text(json.dumps({"models": models}))
    [form] = _proposed(tmp_path)
    reading = read_by_maps(form.files[0], (map_of([form], "boards"),))
    found = {(run.agent, run.requested_model, run.task, run.score) for run in reading.kept}
    assert len(found) == len(reading.kept) == 6
    assert ("codex", "two", "task-0", 1) in found
    assert form.form.run.run_id
    assert [one.judged for one in reading.judged].count(Judged.HACK) == 2


def test_a_table_a_copy_of_its_rows_and_a_chat_are_one_form(tmp_path: Path) -> None:
    """Runs came in twice, messages as runs, and the agent was unknown under another name."""
    runs = [
        {"id": f"fix-{task}", "arm": arm, "pass": task % 2, "wall_time_s": 60, "cost_usd": 0.5}
        for arm in ("claude-code", "our-loop")
        for task in range(4)
    ]
    for run in runs:
        (tmp_path / f"{run['arm']}-{run['id']}.json").write_text(json.dumps(run))
    table = [",".join(runs[0]), *(",".join(map(str, run.values())) for run in runs)]
    (tmp_path / "score.csv").write_text("\n".join(table))
    message = {"role": "assistant", "model": "m", "cost": 0.1, "tokens": {"input": 9}}
    (tmp_path / "chat.json").write_text(json.dumps({"messages": [message] * 9}))
    [form] = _proposed(tmp_path)
    assert len(form.files) in (1, len(runs))
    assert any("same rows" in doubt for doubt in form.doubts)
    readings = [read_by_maps(source, (map_of([form], "runs"),)) for source in form.files]
    found = {(run.agent, run.task, run.score) for reading in readings for run in reading.kept}
    assert found == {(run["arm"], run["id"], run["pass"]) for run in runs}
    assert form.form.run.duration.unit == "s"


def test_a_preview_says_what_becomes_of_each_row() -> None:
    """Rows that a map leaves out, failed tests, and all but the first reject were not named."""
    costs = [1, "free", "dear", None]
    rows = "".join(f"{json.dumps({'cost': cost, 'passed': False})}\n" for cost in costs)
    text = """
[[rows]]
where = { cost = "*" }
[rows.run]
agent = { value = "codex" }
cost = "cost"
score = "passed"
"""
    known = KnownMap(parse_map("map", text), text)
    found = preview(known, [Source("rows.jsonl", rows.encode())])
    failed = "1 run (1 completed with score 0: the test failed, not the run)"
    assert found.found == f"4 rows in 1 file: {failed}, 2 rejects, 1 left out"
    assert found.refused == "line 2: run.cost (cost): 'free' is no number, and 1 more"


def test_another_form_in_the_same_folder_costs_no_row(tmp_path: Path) -> None:
    """Files of a form were told by any of their names, also by one that most rows lack."""
    runs = [
        {"model": "m", "task": str(place), "cost": 1, "error": None, "night": 1, "status": status}
        for place, status in enumerate(["completed", "failed", "completed"])
    ]
    (tmp_path / "runs.json").write_text(json.dumps(runs))
    (tmp_path / "more.json").write_text(json.dumps(runs[:2]))
    for name in "abcde":
        other = {"model": "m", "score": 1, "p50": 1, "p75": 2, "p90": 3}
        (tmp_path / f"{name}.json").write_text(json.dumps(other))
    forms = {form.form.run.cost is not None: form for form in _proposed(tmp_path)}
    known = map_of([forms[True]], "runs")
    readings = [read_by_maps(source, (known,)) for source in forms[True].files]
    ended = [str(run.outcome) for reading in readings for run in reading.kept]
    assert ended.count("execution_error") == 2  # beside `completed`, `failed` is no test's result
    assert len(ended) == 5


def test_a_parquet_table_has_rows(tmp_path: Path) -> None:
    rows = {
        "agent": ["codex", None],
        "usage": [{"cost": Decimal("0.1")}, None],
        "tags": [["a"], []],
    }
    pq.write_table(pa.table(rows), tmp_path / "x.parquet")
    form = {"run": {"agent": "agent", "cost": "usage.cost", "task": "tags[0]"}}
    known = KnownMap(ResultMap.model_validate({"rows": [form]}), "text")
    reading = read_by_maps(Source("x.parquet", (tmp_path / "x.parquet").read_bytes()), (known,))
    found = [(run.agent, run.cost_usd, run.task) for run in reading.kept]
    assert found == [("codex", Decimal("0.1"), "a"), ("unknown", None, None)]
