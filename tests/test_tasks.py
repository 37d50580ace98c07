"""The matrix of tasks and agents.

Its figures, words and colours, the sentence above it, and where a click leads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tachograph
from app.queries import tasks as queries
from app.queries.filters import NO_FILTERS
from app.queries.tasks import OTHERS, VALUES, TaskTotals
from app.text import tasks as task_words
from app.text.formatting import agent_name
from app.text.tasks import tasks as sentence
from ingest.store.database import Store
from schemas.agents import AGENTS
from tests.conftest import Run, StoreOnce
from tests.test_definitions import TASKS, fill
from tests.test_theme import READABLE, contrast

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

Open = Callable[..., "AppTest"]


def fill_several(store: Store) -> None:
    """The tasks of `fill` with three agents.

    One became faster, two slower, and of four the log does not tell how it ended.
    """
    fill(store)
    with store.writing() as writer:
        writer.connection.execute(
            "update runs set agent = 'codex', model = 'gpt-5' where run_id = 'two'"
        )
        writer.connection.execute(
            "update runs set agent = 'trae-agent', model = null, outcome = 'unknown' where "
            "run_id = 'four'"
        )


@pytest.fixture(scope="module")
def tasks(store_once: StoreOnce) -> Any:
    return tachograph.open(store_once("tasks", fill).location)


@pytest.fixture(scope="module")
def several(read_once: StoreOnce) -> Store:
    return read_once("several-tasks", fill_several)


def test_the_matrix_has_the_figures_of_the_groups(tasks: Any) -> None:
    """Runs of a cell are counted, a cell without runs is empty, its task is that of `--by task`."""
    rows = {row["task"]: row for row in tasks.tasks(value="cost")}
    grouped = {
        row["task"]: row
        for row in tasks.report(by=("task", "agent"), metrics=("runs", "cost_best_median_usd"))
    }
    assert {
        task: (row["claude-code_runs"], row["claude-code_value"]) for task, row in rows.items()
    } == {task: (row["runs"], row["cost_best_median_usd"]) for task, row in grouped.items()}
    assert rows["vllm@aaaa1111"]["claude-code"] == "$0.25 (3 of 3)"
    assert rows["vllm@aaaa1111"]["names"] == "vllm_core-0001, vllm_core-0007"
    shown = {
        value: {row["task"]: row["claude-code"] for row in tasks.tasks(value=value)}
        for value in VALUES
    }
    assert shown["outcome"]["vllm@aaaa1111"] == "3 of 3 done"
    assert shown["measured"] == dict.fromkeys(TASKS, "not measured") | {
        "vllm@aaaa1111": "↑ 1.25× (2 of 3)"
    }, "2.00× and 0.50×"
    assert shown["result"] == dict.fromkeys(TASKS, "done") | {"vllm@aaaa1111": "↑ 1.25× (2 of 3)"}
    assert (shown["claimed"]["kernels/sort"], shown["claimed"]["vllm@dddd4444"]) == (
        "2.00×",
        "no claim",
    )
    assert shown["duration"]["sort"] == "1m 00s"
    [sort] = tasks.tasks(by=("agent", "model"), task="kernels/sort")
    assert sort["claude-code · claude-opus-4-6"] == "done"


NO_RUNS = {
    "runs": 4,
    "completed": 0,
    "known_ends": 0,
    "never_started": 0,
    "limits": 0,
    "unknown_ends": 0,
    "breaks": 0,
    "machine": 0,
    "uncompared": 0,
    "verdicts": None,
    "measured": None,
    "measured_known": 0,
    "cost": None,
    "cost_known": 0,
    "bounds": None,
}


@pytest.mark.parametrize(
    ("cell", "said", "kind"),
    [
        ({"never_started": 4}, "not started 4×", "never"),
        ({"unknown_ends": 2, "runs": 2}, "ended ? 2×", "unknown"),
        ({"limits": 3}, "limit 3 of 4", "limit"),
        ({}, "failed 4×", "failed"),
        ({"runs": 1}, "failed", "failed"),
        ({"completed": 1, "limits": 3}, "1 of 4 done", "done"),
        ({"completed": 1, "runs": 1}, "done", "done"),
        ({"completed": 3, "breaks": 1}, "breaks 1 of 4", "breaks"),
        ({"breaks": 1, "runs": 1}, "breaks", "breaks"),
        (
            {
                "measured": 0.9,
                "measured_known": 3,
                "breaks": 1,
                "verdicts": ["slower", "slower", "faster"],
            },
            "0.90× (3 of 4)",
            "slower",
        ),
        ({"measured": 1.08, "measured_known": 1, "runs": 1, "verdicts": ["same"]}, "1.08×", "same"),
        (
            {"measured": 1.5, "measured_known": 2, "verdicts": ["slower", "faster"]},
            "1.50× (2 of 4)",
            "faster",
        ),
    ],
)
def test_a_cell_says_the_median_ratio_else_what_became_of_its_runs(
    cell: dict[str, Any], said: str, kind: str
) -> None:
    """Never the best of several.

    A ratio within the noise of its benchmark is the same, whatever it is.
    """
    assert (
        task_words.cell_words(NO_RUNS | cell, "result"),
        task_words.cell_kind(NO_RUNS | cell),
    ) == (said, kind)


@pytest.mark.parametrize(
    ("bounds", "sign"),
    [
        ("upper_bound", "≤\u00a0"),
        ("lower_bound", "≥\u00a0"),
        ("estimate, upper_bound", "≈\u00a0"),
        (None, ""),
    ],
)
def test_no_bound_is_lost_between_store_and_cell(bounds: str | None, sign: str) -> None:
    cell = NO_RUNS | {"cost": 1.5, "cost_known": 2, "runs": 2, "bounds": bounds}
    assert task_words.cell_words(cell, "cost") == f"{sign}$1.50 (2 of 2)"


def test_every_text_of_a_cell_can_be_read_by_day_and_by_night() -> None:
    looks = [*task_words.LOOKS.values(), *task_words.TEAL, *task_words.BLUE, task_words.PLAIN]
    pairs = [pair for look in looks for pair in zip(look.paper, look.ink, strict=True)]
    assert {pair: contrast(*pair) for pair in pairs if contrast(*pair) < READABLE} == {}


def test_every_agent_has_a_mark_in_a_grid() -> None:
    assert {agent.marker for agent in AGENTS.values()} <= task_words.MARKS.keys()


def test_the_rarest_columns_are_one_with_all_their_runs(several: Store) -> None:
    whole = queries.cells(several, NO_FILTERS, ("agent", "model")).to_pylist()
    cut = task_words.matrix(
        queries.cells(several, NO_FILTERS, ("agent", "model"), most=2), "result"
    )
    assert cut.columns == (("claude-code", "claude-opus-4-6"), (OTHERS,))
    assert sum(cell["runs"] for cell in cut.cells) == sum(row["runs"] for row in whole)
    [first] = [task for task in cut.tasks if task.key == "vllm@aaaa1111"]
    assert task_words.cell_words(first.cells[OTHERS,], "result") == "0.50× (1 of 2)"


def test_the_orders_of_tasks_and_their_repositories(several: Store) -> None:
    found = queries.cells(several, NO_FILTERS, ("agent",))
    orders = {
        order: [task.key for task in task_words.matrix(found, "result", order).tasks]
        for order in task_words.ORDERS
    }
    assert orders["alphabet"] == sorted(TASKS)
    assert orders["best"][0] == orders["apart"][0] == orders["cost"][0] == "vllm@aaaa1111"
    by_repo = task_words.matrix(found, "result", by_repo=True)
    assert [task.repo for task in by_repo.tasks] == ["vllm", "vllm", "engine", "kernels", None], (
        "the largest first"
    )
    assert [task_words.done_of(by_repo.tasks[:2], column) for column in by_repo.columns] == [
        "2 of 2 done",
        "1 of 1 done",
        "0 of 1 done",
    ]


def test_the_command_writes_the_matrix_for_papers(tasks: Any, tachograph: Run) -> None:
    said = tachograph(
        "tasks --db",
        tasks.location,
        "--value",
        "measured",
        "--repo",
        "vllm",
        "--format",
        "latex",
    ).stdout
    assert (
        r"vllm@aaaa1111 & $\uparrow$ 1.25$\times$ (2 of 3) & 3 & vllm\_core-0001, "
        r"vllm\_core-0007 \\"
    ) in said
    assert (said.count(r"\toprule"), tasks.location in said) == (1, False)
    listed = tachograph("tasks --db", tasks.location, "--format", "csv").stdout
    assert len(listed.splitlines()) == 1 + len(TASKS)


def test_a_report_has_a_grouping_across_with_its_bounds_and_what_they_rest_on(
    several: Store, tachograph: Run
) -> None:
    words = (
        "report",
        "--by",
        "task,agent",
        "--pivot",
        "agent",
        "--db",
        several.location,
        "--brief",
    )
    table = tachograph(
        *words, "--metrics", "runs,cost_best_usd", "--format", "csv"
    ).stdout.splitlines()
    names = table[0].split(",")
    rows = {
        row["task"]: row
        for row in (dict(zip(names, line.split(","), strict=True)) for line in table[1:])
    }
    grouped = tachograph(
        "report --by task,agent --db",
        several.location,
        "--brief",
        "--metrics",
        "runs",
        "--format",
        "csv",
    )
    for task, agent, runs, *_ in (line.split(",") for line in grouped.stdout.splitlines()[1:]):
        assert rows[task][f"{agent}_runs"] == runs
    assert rows["vllm@dddd4444"]["codex_runs"] == "", "no run is no zero"
    failed = tachograph("report --by agent --pivot agent --db", several.location)
    assert (failed.returncode, "--by task,agent --pivot agent" in failed.stderr) == (2, True)


# the sentence, by an independent count over generated runs


@st.composite
def worlds(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Runs of up to five agents and four tasks, with ends maybe unknown and any measurements."""
    agents = draw(
        st.lists(
            st.sampled_from(["claude-code", "codex", "trae-agent", "gemini", None]),
            min_size=1,
            max_size=5,
            unique=True,
        )
    )
    classes = st.sampled_from(
        "faster same slower breaks no_baseline machine not_measured not_measured".split()
    )
    run = st.fixed_dictionaries(
        {
            "agent": st.sampled_from(agents),
            "task": st.sampled_from(["a@1", "a@2", "b/x", None]),
            "done": st.sampled_from([True, False, None]),
            "class": classes,
        }
    )
    return draw(
        st.lists(run, min_size=1, max_size=12).filter(lambda runs: any(one["task"] for one in runs))
    )


def counted(runs: list[dict[str, Any]]) -> TaskTotals:
    of_tasks: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        if run["task"]:
            of_tasks[run["task"]].append(run)
    done = [task for task, mine in of_tasks.items() if any(one["done"] for one in mine)]
    ratios = ("faster", "same", "slower")
    by: dict[str | None, set[str]] = defaultdict(set)
    for task, mine in of_tasks.items():
        for one in mine:
            if one["class"] == "faster":
                by[one["agent"]].add(task)
    return TaskTotals(
        tasks=len(of_tasks),
        commits=sum("@" in task for task in of_tasks),
        names=len(of_tasks),
        runs=sum(map(len, of_tasks.values())),
        taskless=sum(one["task"] is None for one in runs),
        agents=tuple({one["agent"] for mine in of_tasks.values() for one in mine}),
        completed=len(done),
        unknown_ends=sum(
            task not in done and any(one["done"] is None for one in mine)
            for task, mine in of_tasks.items()
        ),
        measured=sum(
            any(one["class"] != "not_measured" for one in mine) for mine in of_tasks.values()
        ),
        comparable=sum(any(one["class"] in ratios for one in mine) for mine in of_tasks.values()),
        faster=sum(any(one["class"] == "faster" for one in mine) for mine in of_tasks.values()),
        beyond_noise=0,
        faster_by=tuple(
            sorted(
                ((agent, len(mine)) for agent, mine in by.items()),
                key=lambda pair: (-pair[1], pair[0] or ""),
            )
        ),
    )


NUMBERS = {
    word: number
    for number, word in enumerate(tuple("no one two three four five six seven eight nine".split()))
}


def number_of(word: str) -> int:
    return NUMBERS[word.lower()] if word.lower() in NUMBERS else int(word.replace(",", ""))


@given(worlds())
def test_the_sentence_is_never_stronger_than_the_runs(runs: list[dict[str, Any]]) -> None:
    said = sentence(counted(runs))
    heading = said.heading.replace("**", "")
    of_tasks = {
        task: [one for one in runs if one["task"] == task]
        for task in {one["task"] for one in runs} - {None}
    }
    ends = {task: [one["done"] for one in mine] for task, mine in of_tasks.items()}
    faster = {
        task for task, mine in of_tasks.items() if any(one["class"] == "faster" for one in mine)
    }
    surely = sum(True in mine for mine in ends.values())
    maybe = sum(True in mine or None in mine for mine in ends.values())
    if found := re.search(r"(at least )?(\d+) of (\d+) task", heading, re.IGNORECASE):
        assert (int(found[2]), int(found[3])) == (surely, len(of_tasks))
        assert bool(found[1]) is (maybe > surely), "an unknown end may be a completion"
    elif found := re.match(r"All (\d+) tasks? were completed", heading):
        assert int(found[1]) == surely == len(of_tasks)
    elif "one task was completed" in heading:
        assert surely == len(of_tasks) == 1
    else:
        assert surely == 0
        assert bool(re.search("is (not )?known to", heading)) is (maybe > 0)
    if found := re.search(
        r"; (\w+) (?:was|were) measured faster, (none|all|\d+)? ?beyond noise", heading
    ):
        assert number_of(found[1]) == len(faster) > 0
        whose = {
            agent_name(one["agent"])
            for mine in of_tasks.values()
            for one in mine
            if one["class"] == "faster"
        }
        if one_agent := re.search(r"noise, (?:all )?by ([^,]+)\.$", heading):
            named = set(re.sub(r"\d+ by ", "", one_agent[1]).split(" and "))
            assert named == whose or named == {f"{['four', 'five'][len(whose) - 4]} agents"}
    else:
        assert not faster
        assert ("is unknown" in heading) <= (
            not any(
                one["class"] in ("same", "slower") for mine in of_tasks.values() for one in mine
            )
        )
    if found := re.search(r"(\d+) runs? names? no", said.coverage):
        assert int(found[1]) == sum(one["task"] is None for one in runs)
    else:
        assert all(one["task"] for one in runs)


def test_each_figure_of_the_sentence_is_that_of_the_cells(several: Store) -> None:
    totals, made = (
        queries.totals(several, NO_FILTERS),
        task_words.matrix(queries.cells(several, NO_FILTERS, ("agent",)), "result"),
    )
    assert totals.tasks == len(made.tasks) == len(TASKS)
    assert totals.completed == sum(
        any(cell["completed"] for cell in task.cells.values()) for task in made.tasks
    )
    assert (
        totals.faster
        == sum(any(cell["faster"] for cell in task.cells.values()) for task in made.tasks)
        == 1
    )
    assert (totals.runs, totals.taskless, totals.commits, totals.faster_by) == (
        7,
        0,
        2,
        (("claude-code", 1),),
    )
    assert sentence(totals).heading == (
        "All 5 tasks were completed at least once; **one was measured faster, none "
        "beyond noise**, by Claude Code."
    )


def html_of(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html"))


def test_a_click_on_a_cell_opens_its_run_and_on_several_the_list_of_runs(
    several: Store, tasks: Any, screens: Open
) -> None:
    app = screens(several.location, "screens/tasks.py")
    assert "All 5 tasks were completed at least once" in html_of(app)
    shown = app.dataframe[0].value
    assert shown.iloc[:, 0].tolist() == [
        "vllm",
        "aaaa1111",
        "dddd4444",
        "engine",
        "sort",
        "kernels",
        "sort",
        "no project",
        "sort",
    ]
    assert shown.iloc[1, 2:].tolist() == ["2.00×", "0.50×", "ended ?"]
    app.session_state["tasks"] = {
        "selection": {"rows": [], "columns": [], "cells": [(1, "gpt-5\u200b")]}
    }
    app.run()
    assert not app.exception
    assert app.query_params["run"] == "two"
    app = screens(tasks.location, "screens/tasks.py")
    app.session_state["tasks"] = {
        "selection": {"rows": [], "columns": [], "cells": [(1, "opus-4-6")]}
    }
    app.run()
    assert not app.exception
    assert (app.query_params["task"], app.query_params["agent"]) == ("vllm@aaaa1111", "claude-code")


def test_runs_without_a_task_say_which_label_gives_one(read_samples: Store, screens: Open) -> None:
    app = screens(read_samples.location, "screens/tasks.py")
    assert "No task is known" in html_of(app)
    assert "--label task=NAME" in app.code[0].value
