"""D14: no option, price file or sign-in setting causes a traceback.

The answer is always an exit code and a sentence.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli.terminal import LONGEST_MESSAGE
from app.server.access import read_guests
from ingest.prices.price_file import read_price_file
from ingest.system.files import LARGEST_BYTES
from schemas.errors import TachographError, UsageError
from tests.attack.commands import tachograph

LONG = "x" * 100_000
TEXTS = ("", LONG, "\udcff", "a\x1b[31m\u202e", "'; drop table runs; --", "label:", ",", "=")
NUMBERS = ("", "one", "-1", "1e400", "1e-400000", "nan", "9" * 5_000, "$-1")
TIMES = ("", "yesterday", "2026-13-45", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59")
ZONES = ("", "localtime", "../etc/passwd", "/etc/localtime", "..", LONG, "\udcff")
FILES = ("", "..", "nowhere/x", "/dev/zero", "binary", "deep.toml", LONG)
STORES = ("", " ", ":memory:", "..", "/dev/null", "binary", "nowhere/x.duckdb", "\udcff", LONG)
TEMPLATES = ("", "{", "{" * 300, "{a}{a}", "{a b}", "{repo}" * 300, "*" * 500, "(?:", "\udcff")

OPTIONS = {
    "report --tz": ZONES,
    "check --max-day-usd 1 --tz": ZONES,
    "report --by": TEXTS,
    "report --metrics": TEXTS,
    "report --reprice": TEXTS,
    "report --runs": NUMBERS,
    "runs --limit": NUMBERS,
    "runs --output": ("..", "nowhere/x.csv", "x", "x.doc", LONG, "\udcff.csv"),
    "check --max-total-usd": NUMBERS,
    "runs --since": TIMES,
    "runs --min-cost": NUMBERS,
    "runs --label": TEXTS,
    "runs --search": TEXTS,
    "reprice --prices": FILES,
    "dashboard --headless --sign-in": FILES,
    "dashboard --headless --port": ("", "65536", "one", "99999999999999999999"),
    "ingest log.json --label": ("", "=", "=x", "x", "\udcff=x"),
    "ingest log.json --path-template": TEMPLATES,
    "ingest log.json --jobs": ("", "-1", "one", "1e3"),
    "compare repo=x": ("", "=", "repo", "repo='x", "colour=red", "min-cost=1e400", "\udcff", LONG),
    "runs --db": STORES,
}
"""Words → the hostile values that follow."""

TOML = {
    "binary": bytes(range(256)) * 10,
    "deep.toml": b"a=" + b"[" * 100_000,
    "inline.toml": b"a=" + b"{a=" * 20_000,
    "digits.toml": b"a=" + b"1" * 5_000,
    "twice.toml": b"a=1\na=2\n",
    "types.toml": b"price=1\ndiscount='x'\nauth=1\ntachograph=[1]\n",
    "fields.toml": b'[[price]]\nmodel=1\ninput="x"\noutput=[1]\nfrom="x"\nuntil=10:00\n',
    "range.toml": b'[[price]]\nmodel="x"\ninput=1e400\noutput=-1\ncache_read=nan\n',
    "large.toml": b"#" * (LARGEST_BYTES + 1),
}
"""Files that are no settings, each in a way of its own."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, samples_read: Callable[..., Path]) -> Path:
    made = tmp_path_factory.mktemp("hostile")
    shutil.copy(samples_read(branch="main"), made / "runs.duckdb")
    for name, body in TOML.items():
        (made / name).write_bytes(body)
    (made / "log.json").write_text("{}")
    return made


@pytest.mark.parametrize("words", OPTIONS)
def test_d14_no_option_ends_in_a_traceback(folder: Path, words: str) -> None:
    """Any exception but our own comes out of the call and fails the test."""
    *first, last = words.split()
    for value in OPTIONS[words]:
        given = [f"{last}={value}"] if last.startswith("--") else [last, value]
        store = [] if last == "--db" else ["--db", "runs.duckdb"]
        done = tachograph(*first, *given, *store, cwd=folder)
        assert done.code in ((2, 4) if last == "--db" else range(5)), value[:99]
        assert "Traceback" not in done.stderr
        assert len(done.stderr) < 2 * LONGEST_MESSAGE + 1_000
        assert done.code in (0, 1) or done.stderr.strip()
        if last == "--tz":
            assert done.code == 2
            assert "time zone" in done.stderr or "UTF-8" in done.stderr


@pytest.mark.parametrize("name", TOML)
def test_d14_a_file_that_is_no_toml_is_a_sentence(folder: Path, name: str) -> None:
    """For prices and for the sign-in."""
    with pytest.raises(TachographError) as prices:
        read_price_file(folder / name)
    with pytest.raises(UsageError) as sign_in:
        read_guests(folder / name)
    for error in (prices.value, sign_in.value):
        assert name in error.message
        assert error.hint
        assert len(error.message) < LONGEST_MESSAGE


def test_d14_a_device_is_no_price_file(folder: Path) -> None:
    """It never ends: a megabyte of it is enough to know."""
    done = tachograph("reprice --prices /dev/zero --db runs.duckdb", cwd=folder)
    assert (done.code, "larger than" in done.stderr) == (3, True)
