"""The real dashboard in a real browser.

What visitors do, by day and by night, and that nothing complains meanwhile.

One dashboard serves all tests; each puts the store that it needs beneath it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, expect

from app.text.formatting import sortable
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.units import Unit
from tests.attack.hostile import found_in, nasty_store
from tests.conftest import (
    ROOT,
    SAMPLES,
    TOTAL_COST,
    MadeOnce,
    StoreOnce,
    fetched,
    ingest_paths,
    record_text,
)
from tests.measured_runs import fill
from tests.reporting import READERS
from tests.serving import ANSWER_SECONDS, PATIENCE_SECONDS, leave, move, served, wait_until_drawn

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

Scheme = Literal["light", "dark"]
Open = Callable[..., Page]
RUN = "5e0c031e-eef9-49db-91be-235c0b535201"
TITLE = "I have successfully optimized the MLA attention performance in the vLLM codebase"
DAY, NIGHT = "rgb(251, 250, 247)", "rgb(17, 23, 26)"
"""The backgrounds of pages, which Streamlit reads from app/.streamlit."""

GREEN = "rgb(0, 158, 115)"
"""The line under a claim, by day and by night: the browser leaves marks their colours."""

FITS = "main => main.scrollWidth <= main.clientWidth"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the dashboard's store, which is not there yet."""
    return tmp_path_factory.mktemp("dashboard") / "runs.duckdb"


@pytest.fixture(scope="module")
def dashboard(shown: Path) -> Iterator[str]:
    """The dashboard's address."""
    log = shown.with_suffix(".log")
    with served(shown, log) as (address, _):
        yield address
    assert "Traceback" not in log.read_text(), log.read_text()


@pytest.fixture
def no_runs(shown: Path) -> None:
    """There is no store."""
    shown.unlink(missing_ok=True)


@pytest.fixture
def samples(shown: Path, samples_read: Callable[..., Path]) -> None:
    """The store holds the three sample runs."""
    copied = Path(shutil.copy(samples_read(), shown.with_suffix(".new")))
    copied.replace(shown)


class Complaints(list[str]):
    """What the browser has to say against pages.

    Errors, and requests to anywhere but the dashboard.
    """

    def __init__(self, dashboard: str) -> None:
        super().__init__()
        self._ours = (dashboard, dashboard.replace("http", "ws"), "data:", "blob:")

    @contextmanager
    def of(self, page: Page) -> Iterator[None]:
        page.on("console", self._console)
        page.on("pageerror", self._error)
        page.on("request", self._request)
        yield
        page.remove_listener("console", self._console)
        page.remove_listener("pageerror", self._error)
        page.remove_listener("request", self._request)

    def _error(self, error: Error) -> None:
        self.append(str(error))

    def _console(self, message: ConsoleMessage) -> None:
        # Streamlit looks for its server beneath a deep link's path first, which the browser logs as
        # a 404
        if message.type == "error" and "_stcore/" not in message.location.get("url", ""):
            self.append(f"{message.text} {message.location}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith(self._ours):
            self.append(f"request to {request.url}")


@pytest.fixture
def complaints(dashboard: str) -> Iterator[Complaints]:
    """In the end there may be none."""
    expect.set_options(timeout=PATIENCE_SECONDS * 1000)
    found = Complaints(dashboard)
    yield found
    assert found == []


@pytest.fixture
def visit(page: Page, complaints: Complaints, dashboard: str) -> Iterator[Open]:
    """The page of a visitor: `visit("/runs", "dark")`."""

    def visited(path: str = "/", scheme: Scheme = "light") -> Page:
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{dashboard}{path}")
        return page

    with complaints.of(page):
        yield visited
        assert not page.get_by_test_id("stException").count()


def test_from_an_empty_store_by_upload_and_overview_to_a_run_and_back(
    no_runs: None, visit: Open, tmp_path: Path
) -> None:
    page = visit("/", "dark")
    expect(page.get_by_text("No runs yet")).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", NIGHT)
    require_uploads(page, [*sorted(SAMPLES.iterdir()), cut_log(tmp_path)])
    page.get_by_role("link", name="See the overview").click()
    expect(
        page.get_by_role(
            "heading", name="Three runs of Claude Code cost $2.83 and took 2m 45s to 4m 14s."
        )
    ).to_be_visible()
    expect(page.get_by_role("heading", name="What to add")).to_be_visible()

    page.get_by_role("link", name="Runs", exact=False).first.click()
    open_first_row(page, "Runs with")
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
    assert page.url.endswith(f"/run?run={RUN}")
    expect(page.locator(".t-run-strip div").filter(has_text="Wall time")).to_contain_text("4m 14s")
    expect(page.get_by_role("heading", name="Performance Impact")).to_be_visible()
    claim = page.locator("strong mark", has_text="3.17x speedup")
    expect(claim).to_have_attribute("title", re.compile("claimed 3.17× .* method stated"))
    expect(claim).to_have_css("border-bottom-color", GREEN)
    require_says_what_people_say(page)
    require_is_undone(page)


def test_the_data_screen_of_an_empty_store_takes_an_upload(no_runs: None, visit: Open) -> None:
    """Its address had no word of an upload yet, and the server refused the files."""
    page = visit("/data")
    page.get_by_role("link", name="Upload files").click()
    page.locator("input[type=file]").set_input_files(sorted(SAMPLES.iterdir()))
    expect(page.get_by_role("heading", name="3 records are new runs")).to_be_visible()


def require_uploads(page: Page, files: list[Path]) -> None:
    """With a label."""
    page.get_by_role("link", name="Upload files").click()
    expect(
        page.get_by_role(
            "heading", name="Add logs of agents or results of benchmarks: each is read once."
        )
    ).to_be_visible()
    page.get_by_test_id("stMultiSelect").locator("input").fill("team=kernels")
    page.get_by_role("option", name=re.compile("team=kernels")).click()
    page.keyboard.press("Escape")
    wait_until_drawn(page)
    page.locator("input[type=file]").set_input_files(files)
    expect(
        page.get_by_role("heading", name="3 of 4 records are new runs; 1 could not be read.")
    ).to_be_visible()
    expect(page.get_by_role("heading", name="Rejected records")).to_be_visible()
    expect(
        page.get_by_role(
            "link", name=re.compile("^I(?: ha|'\\W?)ve? ?successfully .* · [0-9a-f]{8}…")
        )
    ).to_have_count(3)


def require_says_what_people_say(page: Page) -> None:
    """The label of the upload, and a note that is saved."""
    wait_until_drawn(page)
    page.get_by_text("Record and notes").click()
    expect(page.get_by_text("team=kernels")).to_be_visible()
    page.get_by_role("textbox", name="Note").fill("warm cache")
    page.get_by_role("button", name="Save").click()
    expect(
        page.get_by_text("Saved.")
        # the screen is drawn again: a link clicked before may be taken out under the click
    ).to_be_visible()
    wait_until_drawn(page)


def require_is_undone(page: Page) -> None:
    page.get_by_role("link", name="Data", exact=False).first.click()
    expect(page.get_by_role("heading", name=re.compile("started runs.* record"))).to_be_visible()
    wait_until_drawn(page)
    page.get_by_role("radio", name="Upload").click()
    page.get_by_role("button", name=re.compile("^undo Undo|^Undo")).first.click()
    page.get_by_role("button", name="Undo ingest 1").first.click()
    expect(page.get_by_text("Undid ingest 1: removed 3 runs of 4 files, 1 reject.")).to_be_visible()


def test_the_runs_of_a_list_follow_one_another_by_button_and_by_key(
    samples: None, visit: Open
) -> None:
    """In the order and under the filters of the list, which a link to the run keeps.

    The list is there again behind it.
    """
    page = visit(f"/run?run={RUN[:8]}&order=least-expensive&outcome=completed")
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", DAY)
    expect(page.locator("strong mark", has_text="3.17x speedup")).to_have_css(
        "border-bottom-color", GREEN
    )
    expect(page.get_by_text("3 of 3")).to_be_visible()
    wait_until_drawn(page)
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_role("button", name="Previous").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 of 3")).to_be_visible()
    wait_until_drawn(page)
    assert page.url.endswith("&outcome=completed&order=least-expensive")
    page.keyboard.press("k")
    expect(page.get_by_text("1 of 3")).to_be_visible()
    wait_until_drawn(page)
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    page.keyboard.press("j")
    expect(page.get_by_text("2 of 3")).to_be_visible()
    wait_until_drawn(page)
    page.locator(".st-key-run-bar").get_by_role("link", name="Runs").click()
    expect(page.get_by_role("combobox", name="Sort by")).to_have_value("Cost, low to high")
    expect(page.get_by_text("3 runs", exact=False).first).to_be_visible()


def open_first_row(page: Page, name: str) -> None:
    """A grid takes no click before it is drawn, nor while the previous screen leaves.

    A grid is a picture.
    """
    grid = page.get_by_role("region", name=re.compile(f"^{name}")).locator(".dvn-scroller")
    expect(grid).to_be_visible()
    wait_until_drawn(page)
    beside = page.get_by_role("link", name=re.compile("^Open the run"))
    click_until(
        lambda: grid.click(position={"x": 120, "y": 52}),
        lambda most: expect(beside).to_be_visible(timeout=most),
    )
    beside.click()


def click_until(click: Callable[[], object], require: Callable[[float], object]) -> None:
    """Click again where nothing follows.

    A chart or a grid that was drawn anew under the click knows nothing of it.
    """
    for _ in range(3):
        click()
        with suppress(AssertionError, Error):
            require(ANSWER_SECONDS * 1000)
            return
    click()
    require(PATIENCE_SECONDS * 1000)


def cut_log(folder: Path) -> Path:
    log = folder / "cut.json"
    log.write_text('{"type": "result", "duration_ms"')
    return log


def test_filters_stay_while_moving_about_and_a_link_shows_another_visitor_the_same(
    samples: None, visit: Open, dashboard: str
) -> None:
    page = visit("/")
    page.get_by_role("button", name="Agent", exact=True).click()
    page.get_by_test_id("stMultiSelect").nth(1).locator("input").click()
    page.get_by_role("option", name=re.compile("claude-opus-4-5")).click()
    page.wait_for_url("**/?model=claude-opus-4-5")
    page.keyboard.press("Escape")
    page.mouse.click(1000, 700)
    page.get_by_role("link", name="Cost & time").click()
    page.wait_for_url("**/cost?model=claude-opus-4-5")
    box = page.locator(".st-key-box-Agent")
    expect(box).to_contain_text("claude-opus-4-5")
    page.go_back()
    page.wait_for_url("**/?model=claude-opus-4-5")
    expect(box).to_contain_text("claude-opus-4-5")
    wait_until_drawn(page)
    page.go_back()
    page.wait_for_url(f"{dashboard}/")
    expect(box).to_have_text(re.compile("Agent"))

    page.goto(f"{dashboard}/duration")  # an address of earlier versions
    page.wait_for_url("**/cost?view=Time")
    page.get_by_role("textbox", name="Search").fill("3.17x speedup")
    page.keyboard.press("Enter")
    page.wait_for_url("**/cost?*search=3.17x+speedup*")
    heading = page.locator(".t-h1")
    expect(heading).to_contain_text("4m 14s")
    wait_until_drawn(page)
    mine = heading.inner_text()
    expect(as_another(page).locator(".t-h1")).to_have_text(mine)
    require_keeps_the_measure_of_cost(page)


def require_keeps_the_measure_of_cost(page: Page) -> None:
    """While somebody moves about; it is in the address."""
    menu = page.locator(".st-key-popover-Cost")
    menu.get_by_role("button").click()
    page.get_by_role("button", name="List price", exact=True).click()
    expect(page).to_have_url(re.compile("cost=List"))
    page.get_by_role("link", name="Overview").click()
    expect(menu).to_contain_text("Cost: list price")
    expect(page.locator(".t-h1")).to_contain_text("$1.33")


SIX_FILTERS = (
    "agent=claude-code&model=x&outcome=completed&time=this+month&min-cost=1&search=speedup"
)
_BOXES = """bar => [...bar.querySelectorAll('[class*="st-key-box-"]')].map(box => {
    const at = box.getBoundingClientRect();
    return [box.className.match(/box-\\w+/)[0], at.x, at.y, at.width, at.height].join(' ');
})"""


def test_six_filters_move_nothing_in_the_bar(samples: None, visit: Open, page: Page) -> None:
    """Three had pushed the measure of cost into a second row, and the page down by 50 pixels."""
    bar = page.locator(".st-key-filter-bar")

    def boxes() -> list[list[str]]:
        found = []
        for width in (1440, 1280, 900):
            page.set_viewport_size({"width": width, "height": 900})
            found.append(bar.evaluate(_BOXES))
        return found

    visit("/")
    wait_until_drawn(page)
    without = boxes()
    visit(f"/?{SIX_FILTERS}")  # which leave no run, and so no heading to wait for
    expect(page.get_by_text("No runs match")).to_be_visible()
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    expect(bar.locator("[class*='st-key-drop-']")).to_have_count(4)
    assert boxes() == without
    assert min(map(len, without)) >= 8


def as_another(page: Page) -> Page:
    """The same address for a visitor with nothing of the first one, in dark mode."""
    link = page.url
    leave(page)
    page.emulate_media(color_scheme="dark")
    page.goto(link)
    return page


def test_points_lists_and_cells_answer_clicks_and_a_title_with_an_address_is_no_link(
    shown: Path, store_once: StoreOnce, visit: Open
) -> None:
    text = "See loop@830cfb89.log, www.host.example and https://host.example/a"
    copied = Path(
        shutil.copy(store_once("measured-runs", fill).location, shown.with_suffix(".new"))
    )
    ingest([Source("log", record_text(uuid="run", result=text).encode())], Store(copied))
    ingest(
        [Source("log", record_text(uuid="solved", session_id="s", result="Sorted.").encode())],
        Store(copied),
        Options((("task", "sort"),)),
    )
    copied.replace(shown)
    page = visit("/speedups", "dark")
    expect(page.get_by_role("heading", name="3 results are faster")).to_be_visible()
    wait_until_drawn(page)
    page.get_by_role("radio", name="Not comparable").click()
    expect(page.locator(".t-void", has_text="1.11×")).to_be_visible()
    wait_until_drawn(page)
    point = page.locator(".js-plotly-plot").first.locator(".points path.point").first
    click_until(
        lambda: point.click(force=True),
        lambda most: page.wait_for_url(re.compile("/run[?]run="), timeout=most),
    )
    wait_until_drawn(page)

    move(page, "run?run=run")
    title = page.get_by_text(text).first
    expect(title).to_be_visible()
    assert title.locator("a").count() == 0

    move(page, "tasks")
    expect(page.get_by_role("heading", name="of 1 task")).to_be_visible()
    click_until(
        page.locator("a.t-cell:visible").first.click,
        lambda most: page.wait_for_url(re.compile("/run[?]run=solved"), timeout=most),
    )


def test_the_page_of_a_hostile_run_shows_its_texts_harmlessly(
    shown: Path, made_once: MadeOnce, visit: Open, dashboard: str
) -> None:
    copied = Path(
        shutil.copy(made_once("nasty", nasty_store) / "runs.duckdb", shown.with_suffix(".new"))
    )
    copied.replace(shown)
    [(run_id,)] = fetched(Store(shown), "select run_id from runs where in_stream")
    page = visit("/_stcore/health")
    page.evaluate("id => { location.href = '/run?' + new URLSearchParams({run: id}) }", run_id)
    page.wait_for_url("**/run?**")
    wait_until_drawn(page)
    page.get_by_text("Record and notes").click()
    page.get_by_text("permission_denials").first.wait_for()
    text = page.inner_text("body")
    assert "Where the money went" in text
    assert not found_in(text.replace("\u200b", ""))  # the editor's own


SCREENS_OF_ALL = [
    *("?view=study", "?view=daily", "cost", "cost?view=time", "cost?view=sessions", "runs"),
    *("runs?view=Failures", "tasks", "speedups", "compare", "loops", "reports", "data"),
    *("data?view=Upload", f"run?run={RUN}"),
]
MENUS = ("Project", "Agent", "Task", "Outcome", "Time", "More", "Cost", "Share")
SERIOUS = """rules => axe.run({exclude: [[".stCode"]]}, {resultTypes: ["violations"], ...rules})
    .then(({violations}) => violations
        .filter(one => ["serious", "critical"].includes(one.impact))
        .flatMap(one => one.nodes.map(node => [one.id, node.target, node.html.slice(0, 160),
            node.any[0]?.message].join(" "))))"""
UNFOLD = (
    """document.querySelectorAll("details:not([open]) > summary").forEach(one => one.click())"""
)
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}


@pytest.fixture
def all_samples(shown: Path, store_once: StoreOnce) -> Path:
    """The store holds all sample logs: loops, measured results, sessions."""
    made = store_once("all-samples", lambda store: ingest_paths(store, ROOT / "sample_logs"))
    return Path(shutil.copy(made.location, shown.with_suffix(".new"))).replace(shown)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_on_screens_and_menus_keeps_out_who_cannot_see_them(
    all_samples: Path, visit: Open, scheme: Scheme
) -> None:
    """By axe-core. Streamlit's own: a long line of `st.code` scrolls only by pointer."""
    [(patched,)] = fetched(Store(all_samples), "select min(run_id) from patches")
    rules = COLOURS if scheme == "dark" else {}
    page, found = visit("/", scheme), dict[str, list[str]]()
    wait_until_drawn(page)

    def violations() -> list[str]:
        if not page.evaluate("'axe' in window"):  # also after a page that was loaded anew
            page.evaluate(AXE_SCRIPT)
        return list(page.evaluate(SERIOUS, rules))

    for menu in MENUS:
        page.locator(f".st-key-popover-{menu}").get_by_role("button").first.click()
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        found[menu] = violations()
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    # tests/test_theme.py reckons the contrast of all colours by night
    every = SCREENS_OF_ALL[:: 2 if scheme == "dark" else 1]
    for screen in (*every, f"run?run={patched}"):
        move(page, screen)
        wait_until_drawn(page)
        page.evaluate(UNFOLD)
        wait_until_drawn(page)
        found[screen] = violations()
    assert {where: what for where, what in found.items() if what} == {}


FOCUSED = """() => {
    const it = document.activeElement, style = getComputedStyle(it)
    return [it.tagName, it.getAttribute("aria-label") || it.innerText || "", style.outlineStyle !== "none" || style.boxShadow !== "none"]
}"""  # noqa: E501


def test_the_keyboard_reaches_everything_and_shows_where_it_is(samples: None, visit: Open) -> None:
    page = visit("/runs")
    wait_until_drawn(page)
    expect(
        page.get_by_test_id("data-grid-canvas").locator("tr").nth(3)
    ).to_be_attached()  # the rows, as readers of screens see them
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(FOCUSED))
    names = " ".join(name for _, name, _ in reached)
    assert not [
        word
        for word in ("Overview", "Data", "Search", "Agent", "More", "Sort by", "Columns", "CSV")
        if word not in names
    ]
    assert "CANVAS" in [tag for tag, _, _ in reached], "the table's cells"
    assert not [
        name for tag, name, is_marked in reached if tag in ("A", "BUTTON") and not is_marked
    ]


def test_menus_folds_and_links_answer_the_keyboard(all_samples: Path, visit: Open) -> None:
    """A menu's rows were at the end of the page, behind all that comes after its button."""
    page = visit("/?view=study")
    wait_until_drawn(page)
    menu, focused = page.get_by_test_id("stPopoverBody"), page.locator("*:focus")
    page.locator(".st-key-filter-bar input").first.focus()
    for name, key in (("Project", "Enter"), ("Time", "Space"), ("Share", "Enter")):
        tab_to(page, name)
        page.keyboard.press(key)
        expect(menu.locator("button, input").first).to_be_visible()
        click_until(
            lambda: page.keyboard.press("Tab"),
            lambda most: expect(menu.locator(":focus")).to_have_count(1, timeout=most),
        )
        page.keyboard.press("Escape")
        expect(menu).to_have_count(0)
        expect(focused).to_contain_text(name)
    tab_to(page, "How sure?")
    page.keyboard.press("Enter")
    expect(page.locator("details[open].t-sure section")).to_be_visible()
    for name in ("Daily work", "Claude Code", "Download plot", "Figures"):
        tab_to(page, name)
    page.keyboard.press("Enter")
    expect(page.locator("[class*=st-key-figures] tbody tr").first).to_be_visible()
    move(page, "cost")
    wait_until_drawn(page)
    page.locator(".st-key-popover-Share button").focus()
    for name in ("Project", "Month", "Cost", "Budgets"):
        tab_to(page, name)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Project, or label")).to_be_focused()


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what is so named has the focus."""
    names = list[str]()
    while not names or not re.search(rf"^(\w+ )?{re.escape(name)}", names[-1]):
        assert len(names) < 60, names
        page.keyboard.press("Tab")
        names.append(" ".join(page.evaluate(FOCUSED)[1].split()))


def test_a_report_and_the_page_on_the_screen_are_downloaded(
    samples: None, visit: Open, tmp_path: Path
) -> None:
    page = visit("/reports?format=xlsx", "dark")
    expect(page.get_by_role("heading", name="Most expensive runs")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download cost-report-by-model.xlsx").click()
    download.value.save_as(tmp_path / download.value.suggested_filename)
    totals = READERS["xlsx"]((tmp_path / "cost-report-by-model.xlsx").read_bytes())
    assert totals["runs"] == 3
    assert totals["cost_usd"] == Decimal(TOTAL_COST)

    move(page, "cost?by=Person")
    expect(page.get_by_text("No run has the label person")).to_be_visible()
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="HTML, one file to mail").click()
    assert "tachograph share cost --by person -o" in download.value.path().read_text()


PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}


def test_a_phone_has_a_named_menu_one_row_of_filters_and_nothing_wider_than_itself(
    samples: None, visit: Open, page: Page
) -> None:
    emulated = page.context.new_cdp_session(page)
    emulated.send("Emulation.setDeviceMetricsOverride", PHONE)
    emulated.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    visit("/")
    wait_until_drawn(page)
    require_fits_a_phone(page)
    emulated.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    emulated.detach()


def require_fits_a_phone(page: Page) -> None:
    menu = page.get_by_test_id("stExpandSidebarButton")
    assert menu.evaluate("button => getComputedStyle(button, '::after').content") == '"Menu"'
    bar = page.locator(".st-key-filter-bar")
    assert (
        len(
            set(
                bar.evaluate(
                    "bar => [...bar.children].map(child => "
                    "Math.round(child.getBoundingClientRect().bottom))"
                )
            )
        )
        == 1
    )
    assert page.get_by_test_id("stMain").evaluate(FITS), "overview"
    menu.click()
    page.get_by_test_id("stSidebar").get_by_role("link", name="Runs").click()
    expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    wait_until_drawn(page)
    for screen in (
        f"run?run={RUN}",
        "runs",
        "sessions",
        "cost",
        "duration",
        "tasks",
        "speedups",
        "compare",
        "quality",
        "reports",
        "upload",
    ):
        move(page, screen)
        wait_until_drawn(page)
        assert page.get_by_test_id("stMain").evaluate(FITS), screen


def test_durations_of_a_grid_sort_by_length_in_the_browser(browser: Browser) -> None:
    durations = [90, 3_200, 28_300, 59_000, 254_000, 1_279_000, 3_720_000, 40_000_000]
    shuffled = [sortable(duration, Unit.MILLISECONDS) for duration in reversed(durations)]
    with browser.new_page() as page:
        found = page.evaluate(
            "texts => texts.sort((one, other) => one.localeCompare(other))", shuffled
        )
    assert found == shuffled[::-1]
