"""The wheel has all it needs: installed alone into an empty folder, its command ingests, reports and serves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, SAMPLES


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_sql_theme_and_screens_and_no_logs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    screens = {path.relative_to(ROOT).as_posix() for path in (ROOT / "app" / "screens").glob("*.py")}
    assert {"ingest/sql/schema.sql", "ingest/sql/views/v_runs.sql", "app/.streamlit/config.toml", "app/dashboard.py"} | screens <= names
    assert {name.split("/")[0] for name in names if not name.startswith("tachograph-")} == {"app", "ingest", "schemas"}


def test_the_installed_wheel_works_by_itself(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(home)
    environment = {key: value for key, value in os.environ.items() if key != "TACHOGRAPH_DB"} | {"PYTHONPATH": str(home)}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-P", "-c", "import sys; from app.cli import main; sys.exit(main())", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True, timeout=120).stdout

    where = "import app, ingest; print(app.__file__, ingest.__file__)"
    found = subprocess.run([sys.executable, "-P", "-c", where], env=environment, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert found.stdout.count(str(home)) == 2
    assert json.loads(run("ingest", str(SAMPLES), "--json"))["accepted"] == 3
    assert "2.825104150" in run("report", "--format", "csv")
