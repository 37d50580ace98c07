"""The house: who may import whom, and what names are taken."""

from __future__ import annotations

import subprocess
import sys
from graphlib import CycleError

import pytest

from tests.architecture_picture import PAGE, ROOMS, ROOT, UPWARD, edges, imports, picture, ranked

WITHIN_APP = (
    ("queries",),
    ("text",),
    ("charts",),
    ("reports",),
    ("server", "runner"),
    ("library",),
    ("mcp_server",),
    ("cli", "screens"),
    ("dashboard",),
)
"""Each folder of app/ may import those before it; those beside each other stay apart."""

MAY_IMPORT = {"schemas": {"schemas"}, "ingest": {"schemas", "ingest"}, "app": set(ROOMS)}
ONLY_IN = {
    "streamlit": ("app/screens/cache.py", "app/dashboard.py", "app/screens/", "app/server/"),
    "plotly": ("app/charts",),
    "mcp": ("app/mcp_server.py",),
    "mcp_types": ("app/mcp_server.py",),
    "pandas": ("app/screens/tasks.py",),
}
FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
PLACES = {path.relative_to(ROOT).as_posix(): path for path in FILES}
"""The files of the three rooms by their place in the project."""


@pytest.mark.slow
def test_imports_point_down() -> None:
    assert not [
        f"{place} imports {name}"
        for place, path in PLACES.items()
        for name in imports(path)
        if not _may_import(place, name)
    ]


def _may_import(place: str, name: str) -> bool:
    root = name.split(".", maxsplit=1)[0]
    return (root not in ROOMS or root in MAY_IMPORT[place.split("/", maxsplit=1)[0]]) and (
        root not in ONLY_IN or place.startswith(ONLY_IN[root])
    )


@pytest.mark.slow
def test_the_folders_of_app_import_those_before_them() -> None:
    rank = {f"app/{folder}": place for place, beside in enumerate(WITHIN_APP) for folder in beside}
    assert rank.keys() == {
        folder for edge in edges() for folder in edge if folder.startswith("app/")
    }
    within = [edge for edge in edges() if edge[1].startswith("app/")]
    assert not [edge for edge in within if rank[edge[0]] <= rank[edge[1]]]


@pytest.mark.slow
def test_no_folders_import_each_other_in_a_circle() -> None:
    try:
        ranked(edges() - UPWARD.keys())
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' ← '.join(error.args[1])}")


def test_the_imports_that_point_up_are_still_there() -> None:
    """One that was mended is taken off the list, so that nobody adds it again."""
    assert UPWARD.keys() <= edges()


def test_the_picture_shows_the_imports() -> None:
    assert f"```mermaid\n{picture()}```" in PAGE.read_text(), (
        "write it anew: python -m tests.architecture_picture --write"
    )


def test_screens_do_not_import_each_other() -> None:
    """What several screens show lies in `parts`."""
    screens = {place: path for place, path in PLACES.items() if place.startswith("app/screens/")}
    assert screens
    of_screens = [
        (place, name)
        for place, path in screens.items()
        for name in imports(path)
        if name.startswith("app.screens.")
    ]
    assert not [
        (place, name) for place, name in of_screens if not name.startswith("app.screens.parts")
    ]


def test_agents_do_not_import_each_other() -> None:
    shared = {f"ingest.agents.{file.stem}" for file in (ROOT / "ingest/agents").glob("*.py")}
    agents = {
        place: path
        for place, path in PLACES.items()
        if place.startswith("ingest/agents/") and path.parent.name != "agents"
    }
    assert agents
    for place, path in agents.items():
        of_agents = [name for name in imports(path) if name.startswith("ingest.agents.")]
        own = (f"ingest.agents.{path.parent.name}", "ingest.agents.shared.")
        assert not [
            name for name in of_agents if name not in shared and not name.startswith(own)
        ], place


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ("ingest/store", "ingest.reading"),
        ("ingest/prices", "ingest.store"),
        ("schemas/rows", "schemas.catalogue"),
    ],
)
def test_folders_do_not_import_each_other(lower: str, upper: str) -> None:
    assert not [
        f"{path.name}: {name}"
        for path in (ROOT / lower).rglob("*.py")
        for name in imports(path)
        if name.startswith(upper)
    ]


def test_no_module_shadows_a_package() -> None:
    """Streamlit puts the entry's folder first on sys.path.

    App/schemas.py would hide the package schemas.
    """
    taken = {"app", *ROOMS}
    assert not [path for path in (ROOT / "app").iterdir() if path.stem in taken]
    assert not (ROOT / "app" / "pages").exists()


@pytest.mark.slow
def test_the_headless_side_never_loads_a_screen() -> None:
    code = """
import importlib, sys
for name in ("ingest.pipeline", "app.queries.runs", "app.reports.exports", "app.cli.main", "tachograph"):
    importlib.import_module(name)
    print(*(f"{name} loads {heavy}" for heavy in ("streamlit", "plotly", "pandas") if heavy in sys.modules), end="")
"""  # noqa: E501
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == ""
    )


def test_the_command_starts_without_heavy_imports() -> None:
    """`tachograph --help` answers at once: nothing heavy is imported before a command runs."""
    code = (
        "import sys, app.cli.main; print([m for m in ('pydantic', 'pyarrow', 'duckdb', 'rich', "
        "'ftfy') if m in sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )


@pytest.mark.slow
def test_commands_that_only_read_load_no_reader() -> None:
    """Reports, lists and run pages load no claim extractor, reader, prices, models or kernels.

    The same holds for their files. The readers are those of agents, the prices those of others.
    """
    code = """
import sys
import app.cli.lists, app.cli.show, app.cli.report, app.reports.exports.workbook, app.text.run_text
from app.reports import cost_report, results, usage
spared = ("ingest.claims", "ingest.agents", "ingest.findings", "genai_prices", "pandas", "pydantic", "pyarrow.compute")
print(*(name for name in sys.modules if name.startswith(spared)))
"""  # noqa: E501
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "\n"
    )


INGESTING = (
    "app.cli.ingest, ingest.pipeline, ingest.agents.homes, ingest.measurements.given, "
    "ingest.reading.known_sources"
)
"""What `tachograph ingest` imports before it has found anything new."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "spared"),
    [
        ("ingest.reading.read_source", {"duckdb", "ingest.measurements.tools", "ftfy"}),
        ("ingest.watching", {"duckdb", "pydantic", "pyarrow", "pathspec"}),
        ("ingest.prices.price_book", {"genai_prices"}),
        ("ingest.prices.genai", {"asyncio", "httpx2"}),
        (
            INGESTING,
            {"pydantic", "pyarrow", "numpy", "pathspec", "simplejson", "ingest.store.commit"},
        ),
    ],
)
def test_what_is_not_needed_is_not_loaded(module: str, spared: set[str]) -> None:
    """A worker never opens the store, a waiting watcher is small, most logs have no measurements.

    Only what is new has rows.
    """
    code = f"import sys, {module}; print(*sorted({spared} & set(sys.modules)))"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "\n"
    )


def test_no_todo_is_left() -> None:
    assert not [
        path for path in FILES if any(word in path.read_text() for word in ("TODO", "FIXME", "XXX"))
    ]


@pytest.mark.xdist_group("one")
def test_the_scheduler_reads_the_group_of_a_test(request: pytest.FixtureRequest) -> None:
    """Else each process starts a browser and makes what is made once for a module."""
    is_grouped = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@one") == is_grouped
