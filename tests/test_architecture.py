"""The house: who may import whom, what names are taken, how long things may be."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import CycleError
from pathlib import Path

import pytest

from tests.architecture_picture import PAGE, ROOMS, ROOT, UPWARD, edges, imports, picture, ranked

WITHIN_APP = (("queries",), ("text",), ("charts",), ("reports",), ("server",), ("cli", "screens"), ("dashboard",))
"""Each folder of app/ may import those before it; those beside each other stay apart."""

MAY_IMPORT = {"schemas": {"schemas"}, "ingest": {"schemas", "ingest"}, "app": set(ROOMS)}
ONLY_IN = {
    "streamlit": ("app/screens/cache.py", "app/dashboard.py", "app/screens/", "app/server/"),
    "plotly": ("app/charts",),
    "pandas": (),
}
FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    room = place.split("/")[0]
    for name in imports(path):
        root = name.split(".")[0]
        if root in ROOMS:
            assert root in MAY_IMPORT[room], f"{place} imports {name}"
        if root in ONLY_IN:
            assert place.startswith(ONLY_IN[root]) if ONLY_IN[root] else False, f"{place} imports {name}"


def test_the_folders_of_app_import_those_before_them() -> None:
    rank = {f"app/{folder}": place for place, beside in enumerate(WITHIN_APP) for folder in beside}
    assert rank.keys() == {folder for edge in edges() for folder in edge if folder.startswith("app/")}
    within = [edge for edge in edges() if edge[1].startswith("app/")]
    assert not [edge for edge in within if rank[edge[0]] <= rank[edge[1]]]


def test_no_folders_import_each_other_in_a_circle() -> None:
    try:
        ranked(edges() - UPWARD.keys())
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' ← '.join(error.args[1])}")


def test_the_imports_that_point_up_are_still_there() -> None:
    """One that was mended is taken off the list, so that nobody adds it again."""
    assert UPWARD.keys() <= edges()


def test_the_picture_shows_the_imports() -> None:
    assert f"```mermaid\n{picture()}```" in PAGE.read_text(), "write it anew: python -m tests.architecture_picture --write"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_agents_and_screens_do_not_import_each_other(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    if place.startswith("app/screens/"):
        assert not [name for name in imports(path) if name.startswith("app.screens.")]
    if place.startswith("ingest/agents/") and path.parent.name != "agents":
        own = f"ingest.agents.{path.parent.name}"
        shared = {f"ingest.agents.{file.stem}" for file in (ROOT / "ingest/agents").glob("*.py")}
        of_agents = [name for name in imports(path) if name.startswith("ingest.agents.")]
        assert all(name in shared or name.startswith(own) for name in of_agents)


@pytest.mark.parametrize(
    ("lower", "upper"), [("ingest/store", "ingest.reading"), ("ingest/prices", "ingest.store"), ("schemas/rows", "schemas.catalogue")]
)
def test_folders_do_not_import_each_other(lower: str, upper: str) -> None:
    assert not [f"{path.name}: {name}" for path in (ROOT / lower).rglob("*.py") for name in imports(path) if name.startswith(upper)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_and_files_stay_short(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= 500
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 50, f"{path.name}: {node.name}"


def test_no_module_shadows_a_package() -> None:
    """Streamlit puts the entry's folder first on sys.path: app/schemas.py would hide the package schemas."""
    taken = {"app", *ROOMS}
    assert not [path for path in (ROOT / "app").iterdir() if path.stem in taken]
    assert not (ROOT / "app" / "pages").exists()


@pytest.mark.slow
@pytest.mark.parametrize("module", ["app.cli.main", "app.queries.runs", "app.reports.exports", "ingest.pipeline"])
def test_the_headless_side_never_loads_a_screen(module: str) -> None:
    code = f"import sys, {module}; print([m for m in ('streamlit', 'plotly', 'pandas') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_command_starts_without_heavy_imports() -> None:
    """`tachograph --help` answers at once because nothing heavy is imported before a command runs."""
    code = "import sys, app.cli.main; print([m for m in ('pydantic', 'pyarrow', 'duckdb', 'rich', 'ftfy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_no_todo_is_left() -> None:
    assert not [path for path in FILES if any(word in path.read_text() for word in ("TODO", "FIXME", "XXX"))]
