"""What a task, a model, a cost and a failure is.

One definition each, the same in every place that shows it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tachograph
from app.queries import agents as agent_queries
from app.queries import comparison as groups
from app.queries import runs as run_queries
from app.queries import tasks as task_queries
from app.queries.filters import Filters, choose
from app.queries.measured import of_run, verdict_of
from app.queries.reading import read_transaction
from app.reports.results import verdict_groups, verdicts
from app.text import run_html
from app.text.claims import measured_facts
from ingest.prices.model_ids import parse_model_id
from ingest.store.annotations import Change, annotate
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from schemas.catalogue.figures import RUN_FIGURES, undated
from tests.conftest import StoreOnce, ingest_paths, record, record_text
from tests.test_iso_bench_items import JOURNAL, item

BASE, OTHER = "aaaa1111" + "0" * 32, "dddd4444" + "0" * 32


def fill(store: Store) -> None:
    """Four items of a benchmark at two commits, and three runs whose task has only a name."""
    folder = Path(store.location).parent / "logs"
    items = (
        ("one", 1, BASE, "bbbb2222"),
        ("two", 7, BASE[:8], "bbbb2222" + "0" * 32),
        ("three", 1, OTHER, "eeee5555"),
        ("four", 1, BASE, None),
    )
    for uuid, number, pre, human in items:
        journal = JOURNAL | {"commits": {"pre": pre, "human": human}, "status": "success"}
        item(
            folder / uuid,
            number,
            journal,
            claude_code_stdout__txt=record_text(uuid=uuid, session_id=uuid),
        )
    ingest_paths(store, folder)
    for uuid, repo in (("here", "kernels"), ("there", "engine"), ("nowhere", "")):
        log = folder / f"{uuid}.json"
        log.write_text(record_text(uuid=uuid, session_id=uuid, result="The sort is 2x faster."))
        ingest_paths(store, log, task="sort", **({"repo": repo} if repo else {}))
    table = folder / "values.csv"
    table.write_text(
        "task,run_id,variant,metric,value,unit\na,one,candidate,latency,50,ms\na,two,"
        "candidate,latency,200,ms\na,,baseline,latency,100,ms\n"
    )
    ingest_paths(store, table)


TASKS = {
    "vllm@aaaa1111": ["four", "one", "two"],
    "vllm@dddd4444": ["three"],
    "kernels/sort": ["here"],
    "engine/sort": ["there"],
    "sort": ["nowhere"],
}


@pytest.fixture(scope="module")
def benchmark(read_once: StoreOnce) -> Store:
    return read_once("tasks", fill)


@pytest.fixture(scope="module")
def tasks(benchmark: Store) -> Any:
    return tachograph.open(benchmark.location)


def test_a_task_is_the_commit_of_a_benchmark_else_its_repository_and_name(tasks: Any) -> None:
    """Plans number the items of one commit differently, and one name stands for several commits."""
    grouped = {row["task"]: row["runs"] for row in tasks.report(by="task", metrics="runs")}
    judged = {row["task"]: row["runs"] for row in tasks.verdicts(by="task", every=True)}
    paired = (
        groups.compare(Store(tasks.location), [Filters(), Filters()]).ratios[0]["cost"].tasks or {}
    )
    listed: dict[str, list[str]] = {}
    for run in tasks.runs():
        listed.setdefault(run["task_key"], []).append(run["run_id"])
    assert {task: sorted(runs) for task, runs in listed.items()} == TASKS
    assert grouped == judged == {task: len(runs) for task, runs in TASKS.items()}
    assert paired.keys() == TASKS.keys()
    assert [
        row["n"]
        for row in tasks.compare("repo=vllm", "model=claude-opus-4-6")
        if row["metric"] == "cost"
    ] == [None, 2]


@pytest.mark.parametrize(
    ("word", "runs"),
    [
        *TASKS.items(),
        ("vllm_core-0001", ["four", "one", "three"]),
        (BASE[:7], ["four", "one", "two"]),
        (BASE.upper(), ["four", "one"]),
        ("bbbb2222", ["one", "two"]),
        ("aaaa", []),
    ],
)
def test_a_task_is_chosen_by_its_name_its_commit_or_what_groups_are_called(
    word: str, runs: list[str], benchmark: Store
) -> None:
    found = sorted(run_queries.ids(benchmark, choose({"task": word})))
    assert found == (runs if word != "sort" else ["here", "nowhere", "there"])


def test_a_task_that_somebody_names_is_called_so(store: Store, tmp_path: Path) -> None:
    item(tmp_path, 1, JOURNAL)
    ingest_paths(store, tmp_path)
    opened = tachograph.open(store.location)
    [run] = opened.runs()
    annotate(store, [run["run_id"]], Change({"task": "Faster cache"}))
    assert [row["task"] for row in opened.report(by="task", metrics="runs")] == [
        "vllm/Faster cache"
    ]
    assert rebuild(store).rejects == 0
    assert [row["task_key"] for row in opened.runs()] == ["vllm/Faster cache"]


DATED = "gpt-5-2025-08-07"


def test_a_model_is_one_with_and_without_a_date(store: Store, tmp_path: Path) -> None:
    """One agent logs the date, the other does not; the benchmark may name either."""
    usage = record()["modelUsage"]["claude-opus-4-6"]
    for uuid, model in (("dated", DATED), ("plain", "gpt-5")):
        (tmp_path / f"{uuid}.json").write_text(
            record_text(uuid=uuid, session_id=uuid, modelUsage={model: usage})
        )
        ingest_paths(store, tmp_path / f"{uuid}.json", commit=f"{uuid.encode().hex()}00")
    lines = (
        f"{uuid.encode().hex()}00,{model},{variant},latency,9,ms"
        for uuid, model in (("dated", "gpt-5"), ("plain", DATED))
        for variant in VARIANTS
    )
    (tmp_path / "values.csv").write_text(
        "\n".join(["commit,model,variant,metric,value,unit", *lines])
    )
    ingest_paths(store, tmp_path / "values.csv")
    opened = tachograph.open(store.location)
    assert [(row["model"], row["runs"]) for row in opened.report(by="model", metrics="runs")] == [
        ("gpt-5", 2)
    ]
    assert [(row["model"], row["runs"]) for row in opened.models()] == [("gpt-5", 2)]
    assert (
        {run["run_id"] for run in opened.runs(model="gpt-5")}
        == {"dated", "plain"}
        == {row["run_id"] for row in opened.verdicts()}
    )
    assert [row["model_id"] for row in opened.run("dated")["model_usage"]] == [DATED]


VARIANTS = ("baseline", "candidate")


@pytest.mark.parametrize(
    ("logged", "group"),
    [
        ("gpt-4-0613", "gpt-4"),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro-preview"),
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash-preview"),
        ("qwen3-coder-2507", "qwen3-coder"),
        ("doubao-seed-1-6-250615", "doubao-seed-1-6"),
        ("o3-2025-04-16", "o3"),
        ("mymodel@20250929", "mymodel"),
        ("claude-opus-4-6", "claude-opus-4-6"),
        ("gpt-3.5-turbo-16k", "gpt-3.5-turbo-16k"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash-001"),
        ("llama-3-70b", "llama-3-70b"),
        ("-0613", "-0613"),
        (None, None),
    ],
)
def test_a_model_group_has_no_date_and_keeps_its_version(
    logged: str | None, group: str | None
) -> None:
    with duckdb.connect() as connection:
        assert connection.execute(
            f"select {undated('$logged::varchar')}", {"logged": logged}
        ).fetchall() == [(group,)]


@pytest.mark.parametrize(
    ("asked", "safe"),
    [
        (
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "us-anthropic-claude-sonnet-4-5-20250929-v1-0",
        ),
        ("openai/gpt-5", "openai-gpt-5"),
        ("anthropic/claude-sonnet-4.5", None),
        ("claude-opus-4-6[1m]", None),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            None,
        ),
        ("anthropic/claude-4.6-opus-20260205", None),
        ("us.anthropic.claude-opus-4-6-v1", "us-anthropic-claude-opus-4-6-v1"),
        ("openrouter/z-ai/glm-4.6", None),
        ("deepseek-v3", None),
        ("qwen2.5-coder", None),
        ("amazon.nova-pro-v1:0", None),
        ("o4-mini", None),
        ("gpt-5.4-xhigh", None),
        ("mistral-medium", None),
    ],
)
def test_a_model_that_was_asked_for_is_the_model_that_answers_by_that_id(
    asked: str, safe: str | None
) -> None:
    """`safe`: the id as the name of a folder."""
    with duckdb.connect() as connection:
        for named in filter(None, (asked, safe)):
            sql = (
                f"select {RUN_FIGURES['asked_model'].sql} from (select null::varchar as model, "
                "$id as requested_model) as runs"
            )
            [(found,)] = connection.execute(sql, {"id": named}).fetchall()
            [(wanted,)] = connection.execute(
                f"select {undated('$id')}", {"id": parse_model_id(asked).model}
            ).fetchall()
            assert found == wanted


def test_a_run_without_a_model_counts_into_the_only_one_of_its_agent(
    store: Store, tmp_path: Path
) -> None:
    """Of an agent with several, it is not known which; dates do not make two of one."""
    usage = record()["modelUsage"]["claude-opus-4-6"]
    for uuid, models in (
        ("one", {"gpt-4-0613": usage}),
        ("other", {"gpt-4-1106": usage}),
        ("none", {}),
    ):
        (tmp_path / f"{uuid}.json").write_text(
            record_text(uuid=uuid, session_id=uuid, modelUsage=models)
        )
    ingest_paths(store, tmp_path)
    opened = tachograph.open(store.location)
    assert [(row["model"], row["runs"]) for row in opened.report(by="model", metrics="runs")] == [
        ("gpt-4", 3)
    ]
    assert {run["run_id"] for run in opened.runs(main_model="gpt-4")} == {"one", "other", "none"}
    assert {run["run_id"] for run in opened.runs(main_model="gpt-4-0613")} == {"one"}
    (tmp_path / "second.json").write_text(record_text(uuid="second", session_id="second"))
    ingest_paths(store, tmp_path)
    grouped = {row["model"]: row["runs"] for row in opened.report(by="model", metrics="runs")}
    assert grouped == {"gpt-4": 2, "claude-opus-4-6": 1, None: 1}


def test_a_query_pays_for_no_figure_that_it_does_not_ask_for(
    tasks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A figure that DuckDB turns into a join is worked out by every query.

    The text of every error was once searched to count runs.
    """
    monkeypatch.setattr("app.queries.reading._FEW_RUNS", 0)
    with read_transaction(Store(tasks.location)) as request, request.reading() as connection:
        [(_, plan)] = connection.execute(
            "explain select outcome, sum(duration_ms) from v_runs group by all"
        ).fetchall()
    assert "MARK" not in plan
    assert "regexp" not in plan
    assert "sources" not in plan


def test_a_verdict_has_one_word_on_screens_in_commands_and_files(store: Store) -> None:
    """Beyond noise only where baselines were repeated; otherwise it was measured once."""
    folder = Path(store.location).parent / "verdicts"
    folder.mkdir()
    measured = {"known": ("a", 50), "once": ("b", 50), "inside": ("a", 90), "slow": ("b", 200)}
    for run in measured:
        (folder / f"{run}.json").write_text(record_text(uuid=run, session_id=run))
    for task in "ab":
        ingest_paths(
            store,
            *(folder / f"{run}.json" for run in measured if measured[run][0] == task),
            task=task,
        )
    lines = ["task,run_id,variant,metric,value,unit,benchmark,machine"]
    lines += [f"a,,baseline,latency,{value},ms,sort,box" for value in (100, 92, 108)]
    lines += ["b,,baseline,latency,100,ms,sort,box"]
    lines += [
        f"{task},{run},candidate,latency,{value},ms,sort,box"
        for run, (task, value) in measured.items()
    ]
    (folder / "values.csv").write_text("\n".join(lines))
    ingest_paths(store, folder / "values.csv")
    said = {
        "known": "faster beyond noise",
        "once": "faster once",
        "inside": "inside noise",
        "slow": "slower once",
    }
    found = verdicts(store, Filters(), None).table.to_pylist()
    assert {row["run_id"]: row["result"] for row in found} == said
    for run, words in said.items():
        row = verdict_of(store, run)
        assert row
        assert run_html.result_of(row) == words
        assert words in dict(measured_facts(row))["Against the baseline"]
        [value] = of_run(store, run).to_pylist()
        assert run_html.result_of(value) == words
    [group] = verdict_groups(store, Filters(), ("agent",)).table.to_pylist()
    total = agent_queries.agents(store, Filters())[0]
    assert (group["runs_faster"], group["runs_beyond_noise"]) == (2, 1)
    assert (total.faster, total.beyond_noise) == (2, 1)
    tasks = task_queries.having(task_queries.standings(store, Filters())[0], "faster")
    assert (len(tasks), sum(one.is_beyond_noise for one in tasks)) == (2, 1)


def test_no_result_is_called_verified() -> None:
    """One measurement proves nothing, and a repeated one is called beyond noise."""
    names = "email_verified|verified_claim|unverified|provider has verified|min-verified-speedups"
    other = re.compile(names, re.IGNORECASE)
    root = Path(__file__).parent.parent
    found = [
        f"{page.relative_to(root)}:{number}"
        for folder in ("app", "schemas", "docs", "README.md")
        for page in ([root / folder] if (root / folder).is_file() else (root / folder).rglob("*.*"))
        if page.suffix in (".py", ".md", ".ipynb")
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
        if re.search("verif(ied|iably)", other.sub("", line), re.IGNORECASE)
    ]
    assert not found
