"""The matrix of tasks and agents.

Its figures, words and colours, the sentence above it, and where a click leads.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tachograph as tachograph_module
from app.queries import tasks as queries
from app.queries.filters import NO_FILTERS
from app.queries.tasks import OTHERS, VALUES
from app.text import tasks as task_words
from ingest.store.database import Store
from schemas.catalogue.metrics import NOBODY, TASK_VERDICTS
from tests.conftest import Run, StoreOnce, command_of
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
    return tachograph_module.open(store_once("tasks", fill).location)


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
    "hacks": 0,
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
        (
            {"measured": 3.0, "measured_known": 4, "verdicts": ["faster"] * 4, "hacks": 2},
            "3.00× (4 of 4), 2 hacks",
            "faster",
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
    style = (Path(task_words.__file__).parents[1] / "assets" / "dashboard.css").read_text()
    both = r"light-dark\((.+?), (.+?)\)"
    rule = rf"\.t-cell-(\w+) {{ background: {both}; color: {both}"
    found = {kind: (colours[0::2], colours[1::2]) for kind, *colours in re.findall(rule, style)}
    assert found.keys() == task_words.CELLS.keys()
    pairs = [pair for of_both in found.values() for pair in of_both]
    assert {pair: contrast(*pair) for pair in pairs if contrast(*pair) < READABLE} == {}


def test_the_rarest_columns_are_one_with_all_their_runs(
    several: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "RARE", 2)
    whole = queries.cells(several, NO_FILTERS, ("agent", "model"))
    found, _ = queries.standings(several, NO_FILTERS)
    short = queries.cells(several, NO_FILTERS, ("agent", "model"), is_short=True)
    cut = task_words.matrix(short, found)
    assert cut.columns == (("claude-code", "claude-opus-4-6"), (OTHERS,))
    assert sum(cell["runs"] for cell in cut.cells) == sum(whole["runs"].to_pylist())
    [first] = [task for task in cut.tasks if task.key == "vllm@aaaa1111"]
    assert task_words.cell_words(first.cells[OTHERS,], "result") == "0.50× (1 of 2)"


def test_the_orders_of_tasks(several: Store) -> None:
    cells, (found, _) = (
        queries.cells(several, NO_FILTERS, ("agent",)),
        queries.standings(several, NO_FILTERS),
    )
    orders = {
        order: [task.key for task in task_words.matrix(cells, found, "result", order).tasks]
        for order in task_words.ORDERS
    }
    assert orders["alphabet"] == sorted(TASKS)
    assert orders["best"][0] == orders["apart"][0] == orders["cost"][0] == "vllm@aaaa1111"
    costs = {one.task: one.retry_usd for one in found}
    known = [cost for key in orders["retry"] if (cost := costs[key]) is not None]
    assert known == sorted(known)
    assert None not in [costs[key] for key in orders["retry"]][: len(known)], (
        "unknown ones are last"
    )


def test_a_retry_costs_the_median_of_the_cheapest_that_completed_it(
    several: Store, tachograph: Run
) -> None:
    """By the report of completed runs, agent by agent; the command prints the same."""
    rows = tachograph_module.open(several.location).report(
        by=("task", "agent", "model"), metrics=("cost_best_median_usd",), outcome="completed"
    )
    costs: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        if row["cost_best_median_usd"] is not None:
            costs[row["task"]].append(row["cost_best_median_usd"])
    found, _ = queries.standings(several, NO_FILTERS)
    assert {one.task: one.retry_usd for one in found if one.retry_usd is not None} == {
        task: min(mine) for task, mine in costs.items()
    }
    said = tachograph("tasks --order retry --format json --db", several.location)
    printed = {row["task"]: row["retry_usd"] for row in json.loads(said.stdout)}
    assert printed == {one.task: one.retry_usd and float(one.retry_usd) for one in found}


@pytest.mark.parametrize("verdict", TASK_VERDICTS)
def test_a_verdict_chooses_tasks_alike_for_command_and_screen(
    several: Store, tachograph: Run, verdict: str
) -> None:
    found, _ = queries.standings(several, NO_FILTERS)
    said = tachograph("tasks --format json --verdict", verdict, "--db", several.location)
    assert {row["task"] for row in json.loads(said.stdout)} == {
        one.task for one in queries.having(found, verdict)
    }


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
    assert all(words in said for words in ("aaaa1111", "faster", r" & \$0.25 & "))
    assert r"$\uparrow$ 1.25$\times$ (2" in said
    assert "Retry with" in said
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
            "twice": st.booleans(),
            "cost": st.sampled_from([None, Decimal("0.25"), Decimal("3.5"), Decimal(40)]),
        }
    )
    return draw(
        st.lists(run, min_size=1, max_size=12).filter(lambda runs: any(one["task"] for one in runs))
    )


def counted(runs: list[dict[str, Any]]) -> list[queries.Standing]:
    """What is known of each task, by an independent count."""
    ranks = ["faster", "same", "slower", "breaks", "no_baseline", "machine", "not_measured"]
    found = []
    for task in sorted({run["task"] for run in runs} - {None}):
        mine = [run for run in runs if run["task"] == task]
        best = min((run["class"] for run in mine), key=ranks.index)
        ends = {run["done"] for run in mine}
        found.append(
            queries.Standing(
                task,
                task[0],
                (task,),
                len(mine),
                "not_comparable" if best in ("no_baseline", "machine") else best,
                None,
                is_beyond_noise=any(run["class"] == "faster" and run["twice"] for run in mine),
                faster_by=tuple({run["agent"] for run in mine if run["class"] == "faster"}),
                is_completed=True in ends,
                is_open=True not in ends and None in ends,
                retry_usd=min(
                    (run["cost"] for run in mine if run["done"] and run["cost"]), default=None
                ),
            )
        )
    return found


@given(worlds(), st.sampled_from([NOBODY, "faster", ""]))
def test_the_sentence_is_never_stronger_than_the_runs(
    runs: list[dict[str, Any]], show: str
) -> None:
    """Every figure of the first lines is recounted from the runs."""
    said = task_words.tasks(counted(runs), show, sum(run["task"] is None for run in runs))
    heading = said.heading.replace("**", "")
    assert len(heading) <= 110
    assert said.coverage.count(" · ") < 4
    of_tasks = {
        task: [run for run in runs if run["task"] == task]
        for task in {run["task"] for run in runs} - {None}
    }
    classes = {task: {run["class"] for run in mine} for task, mine in of_tasks.items()}
    faster = {task for task, mine in classes.items() if "faster" in mine}
    beyond = {
        task
        for task in faster
        if any(run["class"] == "faster" and run["twice"] for run in of_tasks[task])
    }
    checked = {task for task, mine in classes.items() if mine & {"same", "slower"}} - faster
    figures = [int(word) for word in re.findall(r"(?<![$.\d])\d+(?![.\d])", heading)]
    of = len(of_tasks)
    number = {"none": 0, "all": len(faster)}
    if told := re.search(r"measured faster, (\w+) ?", heading):
        words = "all" if told[1] == "beyond" else told[1]
        assert (number[words] if words in number else int(words)) == len(beyond)
    if show == NOBODY:
        assert figures[:2] == [of - len(faster), of]
        if not checked:
            assert heading.endswith("none of them can be judged yet.")
            return
        assert figures[2] == len(checked)
        costs = [
            min(known)
            for task in checked
            if (known := [run["cost"] for run in of_tasks[task] if run["done"] and run["cost"]])
        ]
        assert ("costs about" in heading) is bool(costs)
        if costs:
            total = Decimal(re.sub(r".*\$([\d.]+)\.$", r"\1", heading))
            assert abs(total - sum(costs)) <= Decimal("0.5")
            assert f"{len(costs)} of these" in heading or len(costs) == len(checked)
    elif show == "faster":
        assert figures[:2] == [len(faster), of]
    else:
        surely = sum(any(run["done"] for run in mine) for mine in of_tasks.values())
        maybe = sum(any(run["done"] is not False for run in mine) for mine in of_tasks.values())
        assert figures[:2] == [surely, of]
        assert heading.startswith("At least") is (maybe > surely), (
            "an unknown end may be a completion"
        )


def test_each_figure_of_the_sentence_is_that_of_the_table(several: Store) -> None:
    (found, taskless), cells = (
        queries.standings(several, NO_FILTERS),
        queries.cells(several, NO_FILTERS, ("agent",)),
    )
    made = task_words.matrix(cells, found)
    assert len(found) == len(made.tasks) == len(TASKS)
    assert (taskless, sum(one.runs for one in found)) == (0, 7)
    for task in made.tasks:
        mine = task.cells.values()
        assert (task.standing.verdict == "faster") is any(cell["faster"] for cell in mine)
        assert task.standing.is_completed is any(cell["completed"] for cell in mine)
    said = task_words.tasks(found, "")
    assert said.heading == "**5 of 5 tasks** were completed; 1 measured faster, none beyond noise."
    assert "1 measured faster, by Claude Code" in said.coverage
    html = task_words.task_table(made, NO_FILTERS)
    assert html.count("<b>") >= 2 * len(TASKS)


def html_of(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html"))


def cell_links(html: str) -> dict[str, str]:
    """Words of a cell → its address."""
    found = re.findall(r't-cell[^>]*?href="([^"]+)"[^>]*>([^<]+)<', html)
    return {words: unescape(address) for address, words in found}


def test_a_cell_links_to_its_run_and_one_of_several_to_the_list_of_runs(
    several: Store, tasks: Any, screens: Open
) -> None:
    app = screens(several.location, "screens/tasks.py", show="all")
    html = html_of(app)
    assert "<em>5 of 5 tasks</em> were completed" in html
    assert cell_links(html)["0.50×"] == "run?run=two"
    store = Store(tasks.location)
    cells = queries.cells(store, NO_FILTERS, ("agent",))
    made = task_words.matrix(cells, queries.standings(store, NO_FILTERS)[0])
    to = cell_links(task_words.task_table(made, NO_FILTERS))["1.25× (2 of 3)"]
    assert parse_qs(urlsplit(to).query) == {"task": ["vllm@aaaa1111"], "agent": ["claude-code"]}
    nobody = screens(several.location, "screens/tasks.py")
    assert "Nobody made <em>4 of 5 tasks</em> faster" in html_of(nobody)
    assert "Why 4 cannot be judged" in html_of(nobody)
    assert "2.00×" not in html_of(nobody)


def test_runs_without_a_task_say_which_label_gives_one(read_samples: Store, screens: Open) -> None:
    app = screens(read_samples.location, "screens/tasks.py")
    assert "No task is known" in html_of(app)
    assert "--label task=NAME" in command_of(app)
