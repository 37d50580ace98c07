"""The wheel has all it needs.

Installed alone into an empty folder, its command ingests, reports and serves.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, SAMPLES, MadeOnce
from tests.test_install import copied


@pytest.fixture(scope="module")
def wheel(made_once: MadeOnce) -> Path:
    def build(folder: Path) -> None:
        """From what the image is built from, so that nothing else is needed."""
        (folder / "source").mkdir()
        for name in copied():
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / "source" / name)
        command = [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            str(folder),
            str(folder / "source"),
        ]
        subprocess.run(command, check=True, capture_output=True)

    return next(made_once("wheel", build).glob("*.whl"))


def test_the_wheel_holds_sql_theme_screens_and_samples(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    screens = {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "app" / "screens").glob("*.py")
    }
    assert {
        "ingest/store/sql/schema.sql",
        "ingest/store/sql/views/v_runs.sql",
        "app/.streamlit/config.toml",
        "app/dashboard.py",
    } | screens <= names
    samples = [path for path in (ROOT / "sample_logs").rglob("*") if path.is_file()]
    assert {f"app/{path.relative_to(ROOT).as_posix()}" for path in samples} <= names
    assert not [name for name in names if "pictures" in name], "they are the README's"
    assert {name.split("/")[0] for name in names if not name.startswith("tachograph-")} == {
        "app",
        "ingest",
        "schemas",
        "tachograph",
    }
    assert not [name for name in names if name.startswith(("app/library/src", "app/docker"))]
    assert {f"{room}/py.typed" for room in ("app", "ingest", "schemas", "tachograph")} <= names
    assert len(names) == len(zipfile.ZipFile(wheel).namelist())


def test_the_installed_wheel_works_by_itself(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(home)
    environment = {key: value for key, value in os.environ.items() if key != "TACHOGRAPH_DB"} | {
        "PYTHONPATH": str(home)
    }

    def run(*arguments: str) -> str:
        command = [
            sys.executable,
            "-P",
            "-c",
            "import sys; from app.cli.main import main; sys.exit(main())",
            *arguments,
        ]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout

    where = (
        "import app, ingest, tachograph; print(app.__file__, ingest.__file__, tachograph.__file__)"
    )
    found = subprocess.run(
        [sys.executable, "-P", "-c", where],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert found.stdout.count(str(home)) == 3
    assert json.loads(run("ingest", str(SAMPLES), "--json"))["accepted"] == 3
    assert "2.825104150" in run("report", "--format", "csv")
    assert served(tmp_path, environment) == b"ok"


def served(folder: Path, environment: dict[str, str]) -> bytes:
    """What the health check of the wheel's own dashboard answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "import sys; from app.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-P", "-c", code, "dashboard", "--headless", "--port", str(port)]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            return asked(f"http://127.0.0.1:{port}/_stcore/health", patience=30)
        finally:
            process.terminate()


def asked(address: str, patience: int) -> bytes:
    """The answer, once there is one; `patience` in seconds."""
    for _ in range(patience * 10):
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5) as answer:
            return bytes(answer.read())
        time.sleep(0.1)
    raise AssertionError(f"nothing answers at {address}")
