"""A site of a store: its pages are linked, load nothing from elsewhere, and list what they say."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser

from app.cli.main import cli
from app.queries import runs as run_queries
from app.queries.filter_inputs import read_link
from app.queries.filters import NO_FILTERS, parse
from app.queries.reading import exported, read_transaction
from app.reports.shared import question
from app.reports.site import write_site
from ingest.store.database import Store
from schemas.errors import UsageError
from tests.conftest import ROOT, StoreOnce, ingest_paths
from tests.test_no_text import FILES, WORD, put, read

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


def share(folder: Path, location: str | Path, *options: str) -> str:
    words = ["share", "--site", str(folder), "--db", str(location), *options]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert not done.exit_code, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def samples(read_once: StoreOnce) -> Store:
    """Runs of several agents with tasks, measurements, sessions and loops."""
    return read_once("all-samples", lambda store: ingest_paths(store, ROOT / "sample_logs"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, samples: Store) -> Path:
    folder = tmp_path_factory.mktemp("shared") / "site"
    share(folder, samples.location)
    return folder


def links(page: Path) -> list[str]:
    text = re.sub(r"<script.*?</script>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = re.findall(r'<(?:a|link|script)\b[^>]*?(?:href|src)="([^"]*)"', text)
    return [unescape(one) for one in found if not one.startswith("https://")]


def lists(site: Path) -> list[str]:
    """The queries of all links to the list of runs."""
    targets = (urlsplit(one) for page in site.rglob("*.html") for one in links(page))
    return sorted({one.query for one in targets if one.path.endswith("runs.html") and one.query})


def test_no_link_is_dead(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    for page in pages:
        for one in links(page):
            target = urlsplit(one)
            assert not target.scheme, (page, one)
            assert (page.parent / unquote(target.path)).is_file(), (page, one)
            assert not target.query or target.path.endswith("runs.html"), (page, one)
    linked = {
        (page.parent / unquote(urlsplit(one).path)).resolve()
        for page in pages
        for one in links(page)
    }
    assert {page.resolve() for page in pages} <= linked, "a page that none leads to"


def test_a_link_to_the_list_shows_the_runs_that_the_filters_choose(
    site: Path, samples: Store, browser: Browser
) -> None:
    """From a file on disk, with every request of every page."""
    context = browser.new_context()
    tab, asked, errors = context.new_page(), list[str](), list[str]()
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    for page in site.glob("*.html"):
        tab.goto(page.as_uri())
        if tab.locator(".chart").count():
            tab.wait_for_selector(".chart .main-svg")
    every = len(run_queries.ids(samples, NO_FILTERS))
    queries = lists(site)
    assert queries
    for query in queries:
        tab.goto(f"{(site / 'runs.html').as_uri()}?{query}")
        shown = tab.locator("tbody tr:not([hidden])").count()
        filters = read_link(parse_qs(query)).filters
        assert filters
        assert shown == len(run_queries.ids(samples, filters)), query
        said = tab.locator(".t-chosen").inner_text()
        assert f"{shown} of {every} runs" in said or shown == every, said
    tab.goto((site / "index.html").as_uri())
    tab.locator('a[href^="runs.html?agent="]:visible').first.click()
    agent = parse_qs(urlsplit(tab.url).query)["agent"][0]
    assert tab.locator("select[name=agent]").input_value() == agent
    tab.locator(".t-chosen button").first.click()
    assert not urlsplit(tab.url).query or "agent" not in urlsplit(tab.url).query
    tab.get_by_label("Search the list").fill("no run has this")
    assert tab.locator("tbody tr:not([hidden])").count() == 0
    tab.get_by_text("All runs", exact=True).click()
    assert tab.locator("tbody tr:not([hidden])").count() == every
    tab.get_by_role("button", name="Cost", exact=True).click()
    assert tab.locator("th[aria-sort=descending]").inner_text().startswith("Cost")
    assert not errors
    assert {urlsplit(url).scheme for url in asked} == {"file"}
    context.close()


def test_filters_choose_the_runs_of_the_whole_site(tmp_path: Path, samples: Store) -> None:
    share(tmp_path / "site", samples.location, "--agent", "claude-code", "--cost", "list")
    ids = run_queries.ids(samples, parse("agent=claude-code"))
    assert len([*(tmp_path / "site" / "runs").iterdir()]) == len(ids)
    for page in (tmp_path / "site").rglob("*.html"):
        command = "tachograph share --agent claude-code --cost list --site site"
        assert command in page.read_text(encoding="utf-8")
        assert "agent=claude-code" not in " ".join(links(page)), "it is no choice of this site"


def test_no_file_has_a_text_unasked(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither of sessions nor of results, whose titles and errors are texts, too.

    And no date that is another one next year.
    """
    put(tmp_path / "logs", FILES)
    read(store, tmp_path / "logs", keeps_text=True)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(datetime(2026, 5, 2, tzinfo=UTC).timestamp())))
    for options in ((), ("--with-text",)):
        share(tmp_path / "site", store.location, *options)
        files = [one for one in (tmp_path / "site").rglob("*") if one.is_file()]
        having = [one.name for one in files if WORD in one.read_text(encoding="utf-8")]
        assert bool(having) is bool(options), having
        pages = "".join(one.read_text() for one in (tmp_path / "site" / "runs").iterdir())
        assert re.search("1 May 2026, 12:[0-9]{2} UTC", pages), "not `Fri 12:00`"


def test_a_site_replaces_an_earlier_one_and_nothing_else(tmp_path: Path, samples: Store) -> None:
    folder = tmp_path / "site"
    share(folder, samples.location)
    share(folder, samples.location, "--agent", "claude-code")
    assert not [*folder.glob("loops*")], "of the earlier site"
    (folder / "runs" / "notes.html").write_text("mine")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="1 file that no site wrote, such as runs"):
        share(folder, samples.location)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_an_interrupt_leaves_no_half_of_a_site(tmp_path: Path, samples: Store) -> None:
    def interrupted(folder: Path) -> None:
        def stop(done: int, _total: int) -> None:
            if done == 2:
                raise KeyboardInterrupt

        store = exported(Store(samples.location))
        with read_transaction(store, copy_at=1) as transaction, pytest.raises(KeyboardInterrupt):
            write_site(folder, question(transaction, NO_FILTERS), stop)

    interrupted(tmp_path / "new")
    assert not [*tmp_path.iterdir()]
    share(tmp_path / "old", samples.location, "--agent", "claude-code")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    interrupted(tmp_path / "old")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_all_in_cost_has_the_sign_of_its_bound(tmp_path: Path, store: Store) -> None:
    """And a file that only looks like the list of an earlier site is refused, not read."""
    ingest_paths(store, ROOT / "sample_logs", **{"machine-rate": "2"})
    share(tmp_path / "site", store.location, "--cost", "all-in")
    assert '<td class="r">≤' in (tmp_path / "site" / "runs.html").read_text()
    (tmp_path / "other" / "assets").mkdir(parents=True)
    (tmp_path / "other" / "assets" / "files.txt").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="that no site wrote, such as assets"):
        share(tmp_path / "other", store.location)
