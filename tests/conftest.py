"""What tests share: real files, a real store, the command run as a user runs it."""

from __future__ import annotations

import fcntl
import gc
import html
import io
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.nodeid import NodeId
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from app.queries.reading import read_transaction
from ingest.pipeline import IngestReport, Options, ingest
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from ingest.system.defects import DEBUG
from tests.examples import PROFILE, is_thorough
from tests.forks import Forks, command, run_fresh

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from streamlit.testing.v1 import AppTest

settings.load_profile(PROFILE)
SESSIONS = "sessions-of-claude"
os.environ |= {
    "CLAUDE_CONFIG_DIR": SESSIONS,
    "CODEX_HOME": "sessions-of-codex",
    "TACHOGRAPH_RUNS": "runs-of-agents",
    "TACHOGRAPH_MEASURED": "measured-results",
    # screens draw themselves again only where that is tested: a test would not know whether it did
    # that
    "TACHOGRAPH_LOOK_SECONDS": "0",
    "XDG_CACHE_HOME": str(Path(tempfile.gettempdir(), f"tachograph-tests-{os.getuid()}")),
}  # folders in the working folder: no test reads those of its machine, nor writes there

ROOT = Path(__file__).parent.parent
ENTRY = ROOT / "app" / "dashboard.py"
SAMPLES = ROOT / "sample_logs" / "claude_code"

FILE = "tachograph.duckdb"
"""What the command calls its store where nobody names one."""

MadeOnce = Callable[[str, Callable[[Path], object]], Path]
StoreOnce = Callable[[str, Callable[[Store], object]], Store]

PATIENCE_SECONDS = 180
"""No screen takes so long, unless it hangs."""

FIRST_SCREEN = "screens/overview.py"

TOTAL_COST = "2.825104150"
"""Reported cost of the three sample runs, added up by hand."""


def command_of(app: AppTest) -> str:
    """The first command on a screen; the Share menu has the address before it."""
    return next(str(one.value) for one in app.code if str(one.value).startswith("tachograph"))


def page_text(app: AppTest) -> str:
    """The words in the HTML of a screen, in one line."""
    parts = " ".join(element.proto.body for element in app.get("html"))
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", parts).split()))


def record(**changes: Any) -> dict[str, Any]:
    """A small valid result record, with changes; a value of `...` leaves the field out."""
    fields = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 60_000,
        "duration_api_ms": 45_000,
        "num_turns": 3,
        "result": "Done.",
        "session_id": "11111111-1111-1111-1111-111111111111",
        "total_cost_usd": 0.25,
        "usage": {
            "input_tokens": 10,
            "output_tokens": 20,
            "cache_read_input_tokens": 30,
            "cache_creation_input_tokens": 40,
        },
        "modelUsage": {
            "claude-opus-4-6": {
                "inputTokens": 10,
                "outputTokens": 20,
                "cacheReadInputTokens": 30,
                "cacheCreationInputTokens": 40,
                "webSearchRequests": 0,
                "costUSD": 0.25,
                "contextWindow": 200_000,
            }
        },
        "permission_denials": [],
        "uuid": "00000000-0000-0000-0000-000000000001",
    }
    return {key: value for key, value in (fields | changes).items() if value is not ...}


def record_text(**changes: Any) -> str:
    """The same as one line of JSON."""
    return json.dumps(record(**changes))


def ingest_paths(store: Store, *paths: Path, **labels: str) -> IngestReport:
    """Ingest files and folders into the store, in this process."""
    return ingest(read_paths(paths), store, Options(tuple(labels.items())))


SLOW = {"awkward", "browser", "forks", "installed_once", "mixed", "wheel"}
"""Fixtures that start processes, run whole screens or ingest many times: what asks for them is
marked slow. By hand, so is what takes over half a second.
"""

ATTACKS = Path(__file__).parent / "attack"
"""All of them are slow: they kill processes, and read what is too big or too deep."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """To import what will not run takes as long as a dozen tests."""
    if config.option.markexpr != "not slow":
        return None
    is_slow = collection_path.suffix == ".py" and _ALL_SLOW.search(
        collection_path.read_text(encoding="utf-8")
    )
    return True if is_slow or collection_path == ATTACKS else None


_ALL_SLOW = re.compile(r"^pytestmark = .*\bpytest\.mark\.slow\b", re.MULTILINE)


def pytest_configure(config: pytest.Config) -> None:
    """Give signals their usual effect.

    A shell starts what it runs in the background with SIGINT ignored, and so would everything that
    tests start and interrupt.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Mark what `make quick` leaves out; leave to `make attack` what takes as long as 100 tests."""
    for item in items:
        if _is_slow(item):
            item.add_marker(pytest.mark.slow)
        mark = item.get_closest_marker("xdist_group")
        group = mark.args[0] if mark else item.path.stem if _fills_its_module(item) else ""
        if group and getattr(config.option, "loadgroup", False):
            # pytest-xdist 3.8 writes it where pytest 9.2 no longer reads it
            item._id = NodeId.parse(f"{item.nodeid}@{group}")
    thorough = [item for item in items if not is_thorough() and item.get_closest_marker("thorough")]
    config.hook.pytest_deselected(items=thorough)
    items[:] = [item for item in items if item not in thorough]


def _is_slow(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return ATTACKS in item.path.parents
    asked = set(item.fixturenames)
    fixtures = [one.func for ones in item._fixtureinfo.name2fixturedefs.values() for one in ones]
    own = [one for one in fixtures if getattr(one, "__module__", "") == item.module.__name__]
    called = {name for one in (item.function, *own) for name in one.__code__.co_names}
    fills = bool(called & {"Store", "ingest", "ingest_paths", "ingested"})
    fills |= (
        "store" in asked and "sample_store" not in asked
    )  # a new store: an ingest; that of the samples is a copy
    fills |= (
        bool(asked & {"store_once", "read_once"}) and "samples_read" not in asked
    )  # filled for the first test of its module
    return fills or bool(asked & SLOW) or ATTACKS in item.path.parents


def _fills_its_module(item: pytest.Item) -> bool:
    """Whether it uses what is made once for its module.

    One process runs all such tests of the module, else each would make it.
    """
    made = item._fixtureinfo.name2fixturedefs.values() if isinstance(item, pytest.Function) else ()
    return any(fixture.scope == "module" for fixtures in made for fixture in fixtures)


gc.disable()  # until all is imported and collected


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end.

    The collector of garbage need not look through all of it again and again.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Else extension modules complain at the end of what nobody collected."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def installed_once() -> Iterator[None]:
    """With each new AppTest, Streamlit looks through all that is installed for components.

    Half of the time of a screen.
    """
    from streamlit.components.v2 import manifest_scanner as scanner  # noqa: PLC0415  it takes a second to import

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanner, "scan_component_manifests", cache(scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_examples() -> Iterator[None]:
    """Hypothesis also draws constants of our modules, which it reads for that.

    Four seconds of each process. Many examples have them.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not is_thorough():
            patch.setattr(providers, "is_local_module_file", lambda _: False)
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium, with a new profile.

    One for all: tests that use it are of the xdist group "browser".
    """
    from tests.serving import NoBrowser, chromium  # noqa: PLC0415  with the driver of the browser, which few tests need

    try:
        with chromium() as found:
            yield found
    except NoBrowser as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def one_page(browser: Browser) -> Iterator[Page]:
    """See `page`."""
    with browser.new_page() as shared:
        yield shared


@pytest.fixture
def page(one_page: Page) -> Iterator[Page]:
    """A page of a new visitor with a screen of 1280 × 900.

    It is one for all tests: a page of its own compiles 9 MB of scripts again.
    """
    from tests.serving import PATIENCE_SECONDS, leave  # noqa: PLC0415  with the driver of the browser

    one_page.set_default_timeout(PATIENCE_SECONDS * 1000)
    one_page.set_viewport_size({"width": 1280, "height": 900})
    one_page.emulate_media(color_scheme="light")
    yield one_page
    leave(one_page)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store that does not exist yet."""
    return Store(tmp_path / "runs.duckdb", wait_seconds=5)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> MadeOnce:
    """A folder that is made once for all processes of the suite, and then only read from or copied.

    `made_once(name, make)`.
    """
    mine = tmp_path_factory.getbasetemp()
    shared = (mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine) / "made-once"
    shared.mkdir(exist_ok=True)

    def made(name: str, make: Callable[[Path], object]) -> Path:
        folder, is_made = shared / name, shared / f"{name}.made"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_made.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of one that failed
                folder.mkdir()
                make(folder)
                is_made.touch()
        return folder

    return made


@pytest.fixture(scope="session")
def store_once(made_once: MadeOnce) -> StoreOnce:
    """A store that is filled once for all processes of the suite, and then only read.

    `store_once(name, fill)`.
    """

    def filled_once(name: str, fill: Callable[[Store], object]) -> Store:
        return Store(
            made_once(name, lambda folder: fill(Store(folder / FILE))) / FILE, wait_seconds=5
        )

    return filled_once


@pytest.fixture(scope="session")
def read_once(store_once: StoreOnce) -> Iterator[StoreOnce]:
    """The same, read in one transaction to the end.

    Each query of another would open the store and plan its view of runs again.
    """
    with ExitStack() as transactions:
        yield cache(
            lambda name, fill: transactions.enter_context(
                read_transaction(store_once(name, fill), copy_at=1)
            )
        )


@pytest.fixture(scope="session")
def samples_read(store_once: StoreOnce) -> Callable[..., Path]:
    """The file of a store of the three sample runs, with labels: read once, to be copied."""

    def read(**labels: str) -> Path:
        name = "-".join(["samples", *(f"{key}-{value}" for key, value in labels.items())])
        return Path(store_once(name, lambda store: ingest_paths(store, SAMPLES, **labels)).location)

    return read


@pytest.fixture(scope="session")
def read_samples(samples_read: Callable[..., Path]) -> Iterator[Store]:
    """The same, one for all: to be read only.

    What a screen asked of it, another screen of the process need not ask again.
    """
    with read_transaction(Store(samples_read()), copy_at=1) as transaction:
        yield transaction


@pytest.fixture
def sample_store(store: Store, samples_read: Callable[..., Path]) -> Store:
    """A store with the three sample runs."""
    shutil.copy(samples_read(), store.location)
    return store


@pytest.fixture
def filled(tmp_path: Path, samples_read: Callable[..., Path]) -> Path:
    """A working folder whose default store holds the samples, labelled branch=main."""
    shutil.copy(samples_read(branch="main"), tmp_path)
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    """The variables the command runs with: ours without a store, and more."""
    return {
        key: value for key, value in os.environ.items() if key not in ("TACHOGRAPH_DB", "COLUMNS")
    } | more


@pytest.fixture
def screens(installed_once: None, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Screens as a visitor opens them, by their address.

    `screens(store.location, "screens/cost.py", model="m")`.

    No other screen is drawn before.
    """
    from streamlit.testing.v1 import AppTest  # noqa: PLC0415  it takes a second to import

    def opened(store: str | Path, screen: str = FIRST_SCREEN, **query: str | list[str]) -> AppTest:
        monkeypatch.setenv("TACHOGRAPH_DB", str(store))
        monkeypatch.setenv(DEBUG, "1")  # a screen that fails is an exception, and no sentence
        app = AppTest.from_file(str(ENTRY), default_timeout=PATIENCE_SECONDS)
        for key, value in query.items():
            app.query_params[key] = value
        if screen != FIRST_SCREEN:  # which has no path in its address
            app.switch_page(screen)
        app.run()
        assert not app.exception
        return app

    return opened


def said(app: AppTest) -> str:
    """The texts of a screen in one line: HTML without its tags, Markdown and captions."""
    pieces = [
        re.sub(r"<(style|script).*?</\1>|<[^>]+>", " ", element.proto.body, flags=re.DOTALL)
        for element in app.get("html")
    ]
    pieces += [element.value for element in (*app.markdown, *app.caption, *app.header)]
    return " ".join(html.unescape(" ".join(pieces)).split())


def fetched(store: Store, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    with store.reading() as connection:
        return connection.execute(sql, parameters).fetchall()


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Runs commands in forks of a process that has imported all they need."""
    with Forks(environment()) as running:
        yield running


@pytest.fixture
def tachograph(tmp_path: Path, forks: Forks) -> Run:
    """The command, in an empty folder and a process of its own.

    `tachograph("report --by model", "--db", path)`: the first argument is a line of words.

    The process is a fork of one that has imported everything, unless `fresh` or an option of
    `subprocess.run` asks for an interpreter of its own, which costs a second.
    """

    def run(
        line: str = "",
        *others: str | Path,
        cwd: Path = tmp_path,
        fresh: bool = False,
        **options: Any,
    ) -> subprocess.CompletedProcess[str]:
        arguments = (*line.split(), *others)
        if fresh or not options.keys() <= {"input"}:
            return run_fresh(*arguments, cwd=cwd, environment=environment(), **options)
        ended = forks.run(cwd, *arguments, environment=environment(), given=options.get("input"))
        return subprocess.CompletedProcess(
            command(*arguments), ended.code, _text(ended.stdout), _text(ended.stderr)
        )

    return run


def _text(said: bytes) -> str:
    """As `subprocess` gives text."""
    return io.TextIOWrapper(io.BytesIO(said), encoding="utf-8").read()
