"""D14: no option, price file or sign-in setting causes a traceback.

The answer is always an exit code and a sentence.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from app.cli.terminal import LONGEST_TOLD
from app.server.access import read_guests
from ingest.prices.price_file import parse_price_file, read_price_file
from ingest.system.files import LARGEST_BYTES
from schemas.errors import TachographError, UsageError
from tests.attack.commands import tachograph
from tests.examples import a_share

USAGE, UNREADABLE = 2, 3
LONG, DEEP = "x" * 100_000, "/".join(f"{{f{number}}}" for number in range(2_000))
TEXTS = (
    "",
    " ",
    LONG,
    "..",
    "\udcff",
    "a\x1b[31m\u202e",
    "=",
    "'; drop table runs; --",
    "repo='x",
    "label:",
    ",",
    DEEP,
)
NUMBERS = (
    "",
    "one",
    "-1",
    "1e400",
    "1e-400000",
    "nan",
    "inf",
    "99999999999999999999",
    "9" * 5_000,
    "0x10",
    "1.0000000001",
    "$-1",
)
TIMES = (
    "",
    "yesterday",
    "2026-13-45",
    "0000-00-00",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    LONG,
)
ZONES = (
    "",
    "localtime",
    "posixrules",
    "../etc/passwd",
    "/etc/localtime",
    "..",
    "right/UTC",
    "a/" * 5_000,
    LONG,
    "\udcff",
)
FILES = (
    "",
    "..",
    "/",
    "nowhere",
    "nowhere/x",
    "/dev/zero",
    "binary",
    "deep.toml",
    "digits.toml",
    "exponent.toml",
    "twice.toml",
    LONG,
)
STORES = ("", " ", ":memory:", "..", "/dev/null", "binary", "nowhere/x.duckdb", "\udcff", LONG)
TEMPLATES = (
    "",
    "{",
    "}",
    "{" * 300,
    "{a}{a}",
    "{{repo}}",
    "{a b}",
    "{}",
    "{repo:x}",
    "{repo}" * 300,
    "*" * 500,
    "(?:",
    "\udcff",
    DEEP,
)
COMPARED = (
    "",
    "=",
    "repo",
    "repo='x",
    "colour=red",
    "since=x",
    "min-cost=1e400",
    "label=x",
    "\udcff",
    LONG,
)

OPTIONS: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    (("report", "--tz="), ZONES),
    (("check", "--max-total-usd=1", "--tz="), ZONES),
    (("report", "--by="), TEXTS),
    (("report", "--metrics="), TEXTS),
    (("report", "--reprice="), TEXTS),
    (("report", "--runs="), NUMBERS),
    (("runs", "--limit="), NUMBERS),
    (("runs", "--wait="), NUMBERS),
    (("runs", "--format="), TEXTS[:6]),
    (("runs", "--output="), ("..", "/", "nowhere/x.csv", "x", "x.doc", LONG, "\udcff.csv")),
    (("check", "--max-total-usd="), NUMBERS),
    (("check", "--max-error-rate="), NUMBERS),
    (("check", "--min-runs="), NUMBERS),
    (("runs", "--since="), TIMES),
    (("runs", "--until="), TIMES),
    (("runs", "--min-cost="), NUMBERS),
    (("runs", "--min-claim="), NUMBERS),
    (("claims", "--min-confidence="), NUMBERS),
    (("runs", "--label="), TEXTS),
    (("runs", "--search="), TEXTS),
    (("runs", "--model="), TEXTS),
    (("findings", "--rule="), TEXTS[:6]),
    (("reprice", "--prices="), FILES),
    (("dashboard", "--headless", "--sign-in="), FILES),
    (("dashboard", "--headless", "--port="), ("", "0", "65536", "one", "99999999999999999999")),
    (("ingest", "log.json", "--label="), ("", "=", "=x", "x", " =x", "\udcff=x")),
    (("ingest", "log.json", "--path-template="), TEMPLATES[:11]),
    (("ingest", "log.json", "--jobs="), ("", "-1", "one", "1e3")),
    (("ingest", "log.json", "--prices="), FILES),
    (("claims", "extract"), ("nowhere", "nowhere/x", "binary", "deep.toml", "digits.toml", LONG)),
    (("compare", "repo=x"), COMPARED),
]
CASES = [(words, value) for words, values in OPTIONS for value in values]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, samples_read: Callable[..., Path]) -> Path:
    """A store, and files that are no TOML each in a way of its own."""
    made = tmp_path_factory.mktemp("hostile")
    shutil.copy(samples_read(branch="main"), made / "runs.duckdb")
    for name, body in TOML.items():
        (made / name).write_bytes(body)
    (made / "log.json").write_text("{}")
    return made


TOML = {
    "binary": bytes(range(256)) * 10,
    "deep.toml": b"a=" + b"[" * 100_000,
    "inline.toml": b"a=" + b"{a=" * 20_000,
    "keys.toml": b"a." * 5_000 + b"a=1",
    "digits.toml": b"a=" + b"1" * 5_000,
    "exponent.toml": b'[[price]]\nmodel="x"\noutput=1\ninput=1e99999999999999999999',
    "twice.toml": b"a=1\na=2\n",
    "types.toml": b"price=1\ndiscount='x'\nauth=1\ntachograph=[1]\n",
    "entries.toml": b"price=[1,[2],'x',{}]\n",
    "fields.toml": b'[[price]]\nmodel=1\ninput="x"\noutput=[1]\nfrom="x"\nuntil=10:00\n',
    "range.toml": b'[[price]]\nmodel="x"\ninput=1e400\noutput=-1\ncache_read=nan\ncache_write=inf\n',  # noqa: E501
    "date.toml": b'[[price]]\nmodel="x"\ninput=1\noutput=1\nfrom=2026-13-45\n',
    "many.toml": b"[[price]]\n" * 5_000,
    "large.toml": b"#" * (LARGEST_BYTES + 1),
}


def named(case: tuple[tuple[str, ...], str]) -> str:
    words, value = case
    return f"{' '.join(words)}{ascii(value)[1:-1]}"[:70]


def test_there_are_cases_enough() -> None:
    assert len(CASES) >= 150


@pytest.mark.parametrize("case", a_share(CASES, 2), ids=named)
def test_d14_no_option_ends_in_a_traceback(folder: Path, case: tuple[tuple[str, ...], str]) -> None:
    """Any exception but our own comes out of the call and fails the test."""
    (*words, last), value = case
    given = (
        [*words, f"{last}{value}"]
        if last.endswith("=") and last.startswith("--")
        else [*words, last, value]
    )
    store = (
        []
        if words[:1] == ["claims"] or given[:2] == ["claims", "extract"]
        else ["--db", "runs.duckdb"]
    )
    done = tachograph(*given, *store, cwd=folder)
    assert done.code in (0, 1, 2, 3, 4)
    assert "Traceback" not in done.stderr
    assert len(done.stderr) < 2 * LONGEST_TOLD + 1_000
    assert done.code in (0, 1) or done.stderr.strip()


@pytest.mark.parametrize("store", STORES, ids=ascii)
def test_d14_no_store_ends_in_a_traceback(folder: Path, store: str) -> None:
    done = tachograph("runs", f"--db={store}", cwd=folder)
    assert done.code in (2, 4)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("zone", "options"),
    [*product(ZONES, [("report", "--by", "day"), ("check", "--max-day-usd", "1")])],
    ids=ascii,
)
def test_d14_a_zone_that_is_none_is_a_sentence(
    folder: Path, zone: str, options: tuple[str, ...]
) -> None:
    done = tachograph(*options, "--tz", zone, "--db", "runs.duckdb", cwd=folder)
    assert done.code == USAGE
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
        assert len(error.message) < LONGEST_TOLD


def test_d14_a_device_is_no_price_file(folder: Path) -> None:
    """It never ends: a megabyte of it is enough to know."""
    done = tachograph("reprice", "--prices", "/dev/zero", "--db", "runs.duckdb", cwd=folder)
    assert (done.code, "larger than" in done.stderr) == (UNREADABLE, True)


def test_a_good_price_file_is_still_read() -> None:
    assert parse_price_file(
        "own", '[[price]]\nmodel = "x"\ninput = 1\noutput = 2.5\n'
    ).entries.price
