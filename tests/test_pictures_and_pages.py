"""What people hand on: pictures of charts, tables for papers, and pages to mail."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import plotly.graph_objects as go
import pyarrow as pa
import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser

from app.charts import agents, images
from app.charts.registry import CHARTS, claims
from app.cli.figures import share
from app.cli.main import cli
from app.queries.filters import parse
from app.queries.reading import exported, read_transaction
from app.reports.exports import EXPORTS
from app.reports.exports.page import html_shared
from app.reports.shared import CHOICES, SCREENS, question, shared
from app.screens.parts import widgets
from app.screens.parts.share_menu import SHARED
from app.text.answers import Answer
from app.text.formatting import short
from app.text.html_parts import without_links
from ingest.store.database import Store
from schemas.errors import UsageError
from schemas.units import Unit
from tests.conftest import ROOT, fetched, ingest_paths
from tests.using import log_of

pytestmark = pytest.mark.slow  # they draw every chart and load what draws them

LIMIT = 1_500_000
"""Bytes of a page that every mail server lets through."""


def _shared(what: str, store: Store, *, with_text: bool = False) -> bytes:
    with read_transaction(store if with_text else exported(store), copy_at=1) as transaction:
        return html_shared(shared(what, question(transaction, parse("")), with_text=with_text))


@pytest.fixture(scope="module")
def mailed(read_samples: Store) -> Callable[[str], bytes]:
    """The page of a screen, made once."""
    return cache(lambda what: _shared(what, read_samples))


def test_a_page_shows_the_month_and_groups_that_its_screen_shows(tmp_path: Path) -> None:
    """It had always the last month by project, and its command repeated that."""
    store = Store(tmp_path / "tachograph.duckdb")
    for name, month, usd in (("a", "02", 6), ("b", "03", 3)):
        time = f"2026-{month}-10T12:00:00Z"
        log = log_of(name, tmp_path, run_id=name, time=time, total_cost_usd=usd)
        ingest_paths(store, log, person=f"who-{name}")
    picked = {"month": "2026-02", "by": "person"}
    with read_transaction(store) as transaction:
        made = shared("cost", question(transaction, parse(""), choices=picked))
        assert made.title == "February cost $6.00."
        assert "who-a" in str(made.parts)
        assert "share cost --month 2026-02 --by person" in made.command
        for what, wrong, told in (
            ("cost", {"month": "2025-02"}, "no run is of 2025-02"),
            ("cost", {"by": "model"}, "no choice of the page cost"),
            ("loops", {"month": "2026-02"}, "no choice of the page loops"),
        ):
            with pytest.raises(UsageError, match=told):
                shared(what, question(transaction, parse(""), choices=wrong))


def test_every_word_of_a_page_is_one_of_the_command() -> None:
    """Breaks if help lists `BEYOND` and the command of a page, `--show beyond`, is refused."""
    types = {one.name: one.type for one in share.params}
    for page, options in CHOICES.items():
        for option, words in options.items():
            for word in words:
                assert types[option].convert(f"{word}", None, None) == word, page


def test_the_claims_of_many_runs_are_drawn(
    sample_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with read_transaction(sample_store) as transaction:
        asked = question(transaction, parse(""))
        total = asked.rows[0]
        monkeypatch.setattr(agents, "MOST_POINTS", total.claimed.known)
        drawn = claims(asked)
    assert drawn is not None
    assert (drawn.n, total.runs > drawn.n > 0) == (total.claimed.known, True)


def test_a_picture_has_title_n_filters_and_source(sample_store: Store) -> None:
    with read_transaction(sample_store) as transaction:
        drawn = CHARTS["cost-per-run"].draw(question(transaction, parse("agent=claude-code")))
    assert drawn
    assert drawn.file_name == "cost-per-run-agent-claude-code"
    before = drawn.figure.layout.height, drawn.figure.layout.margin.t
    figure = images.framed(drawn, "light")
    said = figure.layout.title.text
    assert drawn.title[:20] in said.replace("&amp;", "&")
    assert f"n = {drawn.n}" in said
    assert "--agent claude-code" in said
    assert "Source: Tachograph" in said
    head = figure.layout.meta
    assert (figure.layout.height, figure.layout.margin.t) == (before[0] + head, before[1] + head)


@pytest.mark.parametrize("words", [1, 30, 60])
def test_all_lines_of_a_picture_fit_above_its_plot(words: int) -> None:
    """Two lines of a caption had cut off the title."""
    drawn = images.Drawn(
        "one",
        "title " * words,
        "caption " * words,
        go.Figure(layout={"height": 100, "margin": {"t": 0}}),
        1,
    )
    figure = images.framed(drawn, "light")
    lines = figure.layout.title.text.split("<br>")
    assert figure.layout.meta >= 19.5 * len(lines) + figure.layout.title.pad.t - 2
    assert " ".join(re.sub("<[^>]+>", "", line) for line in lines).count("caption") == words


def test_the_style_sheet_cuts_off_what_only_a_picture_shows() -> None:
    style = (Path(images.__file__).parent.parent / "assets" / "dashboard.css").read_text()
    assert "margin-top: calc(-1 * var(--t-head)); clip-path: inset(var(--t-head) " in style
    assert "--t-head: {figure.layout.meta}px" in Path(widgets.__file__).read_text()


def test_every_chart_draws_or_says_that_there_is_nothing(sample_store: Store) -> None:
    with read_transaction(sample_store) as transaction:
        run_id = _a_session(sample_store)
        for name, one in CHARTS.items():
            about = question(transaction, parse(""), of=run_id if one.needs == "run" else "")
            drawn = one.draw(about)
            assert drawn is None or (
                drawn.n >= 0 and re.fullmatch(r"[A-Za-z0-9.-]+", drawn.file_name)
            ), name


def test_the_figures_of_a_chart_are_a_table_of_its_marks(
    sample_store: Store, tmp_path: Path
) -> None:
    """The same for who cannot see it and for a paper: each mark once, as on pointing at it."""
    made = tmp_path / "time.csv"
    asked = ["chart", "time-per-run", "--db", sample_store.location, "-o", str(made)]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    rows = list(csv.reader(io.StringIO(made.read_text())))
    times = fetched(sample_store, "select duration_ms from v_runs order by 1")
    assert rows[0] == ["Run", "Value"]
    assert sorted(row[-1] for row in rows[1:]) == sorted(
        short(one, Unit.MILLISECONDS) for (one,) in times
    )
    claimed = go.Scatter(y=[0.2], name="gpt-5", hovertext=["<b>a &amp; b</b><br>n: 1<br>good: x"])
    measured = go.Scatter(y=[1.1, None], hovertext=["c<br>n: 2<br>gpt-5: 3", None])
    layout = {"yaxis": {"tickvals": [0, 1], "ticktext": ["low<br>er", "high"]}}
    figure = go.Figure([claimed, claimed, measured], layout)
    assert images.mark_table(images.Drawn("x", "x", "x", figure, 2)).to_pylist() == [
        {"Run": "a & b", "n": "1", "Value": "good: x"},
        {"Run": "c", "n": "2", "Value": "gpt-5: 3"},
    ]


def _a_session(store: Store) -> str:
    rows = fetched(
        store, "select run_id from responses group by run_id order by count(*) desc, run_id limit 1"
    )
    return str(rows[0][0]) if rows else ""


def test_the_command_lists_all_charts(sample_store: Store) -> None:
    done = CliRunner().invoke(cli, ["chart", "--db", sample_store.location])
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(CHARTS)


def test_without_kaleido_the_error_names_it(
    sample_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "kaleido", None)
    with read_transaction(sample_store) as transaction:
        drawn = CHARTS["cost-per-run"].draw(question(transaction, parse("")))
    assert drawn
    with pytest.raises(UsageError, match="Kaleido") as error:
        images.image(drawn, "svg")
    assert "pip" in str(error.value.hint) or "install" in str(error.value.hint)


def test_charts_reports_and_pages_become_files(sample_store: Store, tmp_path: Path) -> None:
    """In a process of its own.

    Kaleido leaves an event loop behind, beside which Playwright refuses to start.
    """
    pytest.importorskip("kaleido", reason="the extra `charts` is not installed")
    asked = [("chart", "cost-per-run", f"chart.{one}") for one in images.FORMATS] + [
        ("report", "report.pdf"),
    ]
    code = (
        f"from app.cli.main import cli\nfor one in {asked!r}:\n    cli([*one[:-1], '-o', "
        "one[-1]], standalone_mode=False)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TACHOGRAPH_DB": sample_store.location}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    for *_, name in asked:
        begins = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[name.rpartition(".")[2]]
        assert (tmp_path / name).read_bytes().startswith(begins), name
    if reader := shutil.which(
        "pdftotext"
    ):  # a browser's margins had moved the chart, and the page for who pays had two
        run = partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True, check=True)
        left, top = re.findall(
            r'<word xMin="([^"]+)" yMin="([^"]+)"', run([reader, "-bbox", "chart.pdf", "-"]).stdout
        )[0]
        assert 8 < float(left) < 10 < 10 + float(top)
        first = run([reader, "-l", "1", "report.pdf", "-"]).stdout
        assert all(
            words in first
            for words in ("Cost report", "Failure rate", "Top models", "not invoices")
        )


@pytest.mark.parametrize(
    ("what", "notes"), [("overview", " --notes"), ("overview", ""), ("tasks", "")]
)
def test_a_screen_prints_as_one_sheet_with_its_filters_and_command(
    what: str, notes: str, sample_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Kaleido; a second page, or a sheet without charts, would be handed on unseen.

    Only where it is asked for, a second one has what is not sure.
    """
    monkeypatch.setitem(sys.modules, "kaleido", None)
    made = tmp_path / "page.pdf"
    options = ["--agent", "claude-code", "--cost", "list", "-o", str(made), *notes.split()]
    done = CliRunner().invoke(cli, ["share", what, "--db", sample_store.location, *options])
    assert done.exit_code == 0, done.output
    body = made.read_bytes()
    assert len(re.findall(rb"/Type /Page\b", body)) == (2 if notes else 1)
    assert b"/MediaBox [0 0 841.9" in body
    if reader := shutil.which("pdftotext"):
        said = subprocess.run([reader, made, "-"], capture_output=True, text=True, check=True)
        assert "Claude Code · list-price cost" in said.stdout
        assert f"share {what} --agent claude-code --cost list -o {what}.pdf{notes}" in said.stdout
        assert "Wall time" not in said.stdout or what == "overview"
        assert ("How sure?" in said.stdout) == bool(notes)


def test_a_page_is_written_as_what_its_name_says(sample_store: Store, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        cli,
        ["share", "overview", "--db", sample_store.location, "-o", str(tmp_path / "overview.svg")],
    )
    assert isinstance(done.exception, UsageError)
    assert "Use .html or .pdf" in str(done.exception)
    assert not (tmp_path / "overview.svg").exists()


@pytest.mark.parametrize("what", SCREENS)
def test_a_page_to_mail_is_small_and_without_network_or_links_to_screens(
    what: str, mailed: Callable[[str], bytes]
) -> None:
    try:
        body = mailed(what)
    except UsageError:
        assert what == "compare"
        return
    text = body.decode()
    assert len(body) < LIMIT
    shown = re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL)
    assert 'target="_self"' not in shown
    assert not re.search(r'(?:src|href)="(?!https?://)', shown)
    assert "default-src 'none'" in text


def test_every_screen_that_can_be_mailed_offers_it() -> None:
    assert tuple(SCREENS) == SHARED


def test_a_page_to_mail_has_each_chart_for_day_and_night(mailed: Callable[[str], bytes]) -> None:
    text = mailed("cost").decode()
    found = re.search(r'id="figures">([^<]+)<', text)
    assert found
    pages = json.loads(gzip.decompress(base64.b64decode(found[1])))
    assert len(pages["light"]) == len(pages["dark"]) == text.count('class="chart"')
    assert (
        pages["light"][0]["layout"]["font"]["color"] != pages["dark"][0]["layout"]["font"]["color"]
    )


def test_a_run_is_mailed_without_what_the_agent_wrote_unless_asked(sample_store: Store) -> None:
    [(run_id, result)] = fetched(
        sample_store,
        "select run_id, result from v_runs where length(result) > 200 order by run_id limit 1",
    )
    words = max(re.findall(r"[A-Za-z ]+", result), key=len).strip()
    bare, whole = (
        re.sub("<[^>]+>", "", _shared(run_id, sample_store, with_text=asked).decode())
        for asked in (False, True)
    )
    assert words not in bare, bare[bare.index(words) - 300 :][:600]
    assert words in whole


def test_links_to_screens_become_text_and_others_stay() -> None:
    html = (
        '<a class="t-link" href="run?run=1" target="_self">one</a> <a '
        'href="https://example.org">two</a>'
    )
    assert (
        without_links(html)
        == '<span class="t-link">one</span> <a href="https://example.org">two</a>'
    )


def test_a_page_to_mail_draws_its_charts_without_a_network(
    mailed: Callable[[str], bytes],
    tmp_path: Path,
    browser: Browser,
) -> None:
    page = tmp_path / "overview.html"
    page.write_bytes(mailed("cost"))
    context = browser.new_context(color_scheme="dark", offline=True)
    tab, errors = context.new_page(), list[str]()
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on(
        "console", lambda message: errors.append(message.text) if message.type == "error" else None
    )
    tab.goto(page.as_uri())
    tab.wait_for_selector(".chart .main-svg")
    tab.locator(".t-figures summary").first.click()
    tab.locator(".t-figures tbody tr").first.wait_for()
    assert not errors
    assert tab.locator(".chart:has(.main-svg)").count() == tab.locator(".chart").count() > 0
    assert tab.evaluate(_INTRUDES) == [0, "blocked"], "the page's policy"
    context.close()


_INTRUDES = """async () => {
  const script = document.createElement("script");
  script.textContent = "window.intruder = 1";
  document.head.append(script);
  const loaded = await new Promise((done) => {
    const image = new Image();
    image.onload = () => done("loaded");
    document.addEventListener("securitypolicyviolation", (event) => event.violatedDirective === "img-src" && done("blocked"));
    image.src = "https://example.org/pixel.png";
  });
  return [window.intruder || 0, loaded];
}"""  # noqa: E501


def test_pages_for_others_have_a_policy(mailed: Callable[[str], bytes]) -> None:
    table = EXPORTS["html"].write(Answer(pa.table({"n": [1]}), ""))
    for page, scripts in (
        (mailed("cost"), r"('sha256-[^']{44}' ?){2}"),
        (mailed("failures"), "'sha256-[^']{44}'"),
        (table, "'none'"),
    ):
        found = re.search(
            r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', page.decode()
        )
        assert found
        rules = dict(rule.split(" ", 1) for rule in found[1].split("; "))
        assert re.fullmatch(scripts, rules.pop("script-src"))
        closed = dict.fromkeys(("default-src", "base-uri", "form-action"), "'none'")
        assert rules == closed | {
            "style-src": "'unsafe-inline'",
            "img-src": "data:",
            "font-src": "data:",
        }


HOSTILE = r"50% & #1 _x_ {a} $5 ~ ^ \ ≤ ± 中 “q” é ą <b> …"


def test_a_latex_table_keeps_to_what_every_latex_reads() -> None:
    """A strict reader takes only ASCII, letters in all fonts, and escaped special characters."""
    body = (
        EXPORTS["latex"]
        .write(Answer(pa.table({HOSTILE: [HOSTILE], "n": [3]}), f"1 run {HOSTILE} · store.duckdb"))
        .decode()
    )
    assert all(one.isascii() or "À" <= one <= "ÿ" for one in body)
    cells = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(cells) == 2
    for line in cells:
        bare = re.sub(
            r"\\[A-Za-z]+\{\}|\\texttt\{U\+[0-9A-F]+\}|\$\\[a-z]+\$|\\[&%$#_{}]",
            "",
            line.removesuffix(r"\\"),
        )
        assert bare.count("&") == 1, line
        assert not re.search(r"[%$#_{}~^\\]", bare), line
    assert r"\texttt{U+4E2D}" in body
    assert r"$\leq$" in body


FOR_PAPERS = (
    ("report",),
    ("report", "--by", "model"),
    (
        "report",
        "--by",
        "repo,agent",
        "--pivot",
        "agent",
        "--metrics",
        "runs,cost_best_usd,duration_median_ms",
    ),
    ("verdicts", "--by", "repo,agent", "--pivot", "agent"),
    ("verdicts",),
    ("tasks", "--by", "agent,model"),
    ("failures",),
    ("loops",),
    ("claims",),
    ("compare", "max-cost=0.1", "min-cost=0.1"),
    ("usage", "--by", "month"),
)


def test_tables_for_papers_have_booktabs_and_n_and_fit_on_a_page(
    sample_store: Store, tmp_path: Path
) -> None:
    """All are set at once: LaTeX takes half a second to begin."""
    bodies = []
    for command in FOR_PAPERS:
        path = tmp_path / "table.tex"
        done = CliRunner().invoke(cli, [*command, "--db", sample_store.location, "-o", str(path)])
        assert not done.exit_code, done.output
        bodies.append(path.read_text())
        assert bodies[-1].count(r"\toprule") == bodies[-1].count(r"\bottomrule") == 1, command
        assert sample_store.location not in bodies[-1]
        assert re.search(r"\\caption\{.*\d+ [a-z]+", bodies[-1]), command
        assert ("Cells: " in bodies[-1]) == ("--pivot" in command)
        left_out = re.search(r"% (Left out.*)\.", bodies[-1])
        assert bool(left_out) == ("Left out" in done.output), "it is told, too"
    assert r"\multicolumn{3}{c}{Claude Code}" in bodies[2]
    long = pa.table(
        {
            "task": [f"task-{number}" for number in range(120)],
            "why": ["words " * 30] * 120,
            "n": range(120),
        }
    )
    bodies.append(
        EXPORTS["latex"].write(Answer(long, "120 tasks · x", ("task", "why", "n"))).decode()
    )
    assert (
        r"\endhead" in bodies[-1],
        "Left out, because the page is full: why." in bodies[-1],
    ) == (True, True)
    if latex := shutil.which("pdflatex"):
        whole = tmp_path / "all.tex"
        packages = r"\usepackage[T1]{fontenc}\usepackage{textcomp,booktabs,longtable}"
        whole.write_text(
            rf"\documentclass{{article}}{packages}\begin{{document}}{''.join(bodies)}\end{{document}}"
        )
        asked = [latex, "-interaction=nonstopmode", "-halt-on-error", whole.name]
        ran = subprocess.run(asked, cwd=tmp_path, capture_output=True, check=False)
        said = ran.stdout.decode(errors="replace")
        assert (ran.returncode, re.findall(r"Overfull.*|.*too large.*", said)) == (0, []), said[
            -2000:
        ]
