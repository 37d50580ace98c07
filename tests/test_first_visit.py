"""What a first visitor gets: the framework's files with our headers, from a server that says nothing where all is well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit

from tests.attack.visitor import ask
from tests.serving import served

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

STATIC = Path(streamlit.__file__).parent / "static"


def test_files_of_the_framework_come_whole_protected_and_to_our_pages_only(tmp_path: Path, samples_read: Callable[..., Path]) -> None:
    with served(samples_read(), tmp_path / "log") as (address, _):
        assert ask(address).status == 200
        for pattern, kind in (("js/index.*.js", "javascript"), ("css/index.*.css", "text/css"), ("media/*.woff2", "font")):
            file = next((STATIC / "static").glob(pattern))
            answer = ask(address, f"/{file.relative_to(STATIC)}")
            assert (answer.status, answer.body) == (200, file.read_bytes())
            assert kind in answer.headers["content-type"]
            assert "immutable" in answer.headers["cache-control"]
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert ask(address, f"/{file.relative_to(STATIC)}", origin="http://evil.example").status == 403
    assert (tmp_path / "log").read_text() == ""
