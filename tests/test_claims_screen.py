"""Screens and charts of claims: what agents say is shown as what they say, with its evidence, and where it stands in the summary."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts import CHARTS
from app.charts.claims.marks import ratio_axis
from app.charts.claims.stated import INK_ON_EVIDENCE
from app.charts.palette import EVIDENCE_SIZES, SCOPES
from app.queries import claims as claim_queries
from app.queries import runs as run_queries
from app.queries.filters.chosen import Filters, choose
from app.queries.sentences import sentence, sentence_span
from app.text import grid_columns
from app.text.claim_marks import QUALITATIVE, STRENGTHS, finding_lines, legend_html, mark_style, marks_of, statements_html
from app.text.summary_html import summary_html
from app.text.words.claims import EVIDENCE, EVIDENCE_MEANINGS, claim_title, overview_line, statement
from ingest.claims import extract
from ingest.documents.contents import Source
from ingest.findings.summary_facts import headline as headline_of
from ingest.pipeline import ingest
from ingest.store.database import Store
from schemas.catalogue.caveats import caveat_sql
from schemas.rows.claim import ClaimRow, Evidence, Scope
from schemas.rows.source import Severity
from schemas.rows.statement import StatementKind
from schemas.rows.tables import arrow_schema
from tests.conftest import ROOT, StoreOnce, page_text, record_text
from tests.labelled.texts import labelled_texts
from tests.test_charts import luminance

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

RUN = "5e0c031e-eef9-49db-91be-235c0b535201"
CHART_KEYS = ("claims-forest", "claims-evidence", "claims-cost")
EVERYTHING = Filters()
FIELDS = {field.name: field.type for field in arrow_schema(ClaimRow)}


def claim(**changes: Any) -> dict[str, Any]:
    known = {"kind": "quantified", "metric": "time", "direction": "better", "evidence": "stated", "scope": "micro", "origin": "own"}
    usual = {
        "run_id": "r",
        "title": "Faster kernel",
        "claim_no": 1,
        "start": 0,
        "end": 9,
        "quote": "3x faster",
        "ratio": 3.0,
        "hedged": False,
        "subject": None,
    }
    ends = {"ratio_low": None, "ratio_high": None, "caveat": None}
    about = {"repo": None, "task": None, "model": "m", "cost_own_usd": Decimal("0.5"), "pick": "largest"}
    return known | usual | ends | about | {"claims_found": 1, "runs_found": 1, "benchmarked_found": 0} | changes


def claims(*rows: dict[str, Any]) -> pa.Table:
    columns = {name: pa.array([row[name] for row in rows], FIELDS.get(name)) for name in claim()}
    return pa.table(columns)


def fill_many(store: Store) -> None:
    """A store whose runs have the labelled texts as summaries: half of them claim something."""
    records = [record_text(uuid=f"run-{number}", session_id=f"s-{number}", result=text) for number, text in enumerate(summaries())]
    ingest([Source("log.jsonl", "\n".join(records).encode())], store)


@pytest.fixture(scope="module")
def many(store_once: StoreOnce) -> Store:
    return store_once("many", fill_many)


def summaries() -> list[str]:
    return [labelled.text for labelled in labelled_texts()][::3]


Open = Callable[..., "AppTest"]


@pytest.fixture
def open_screen(screens: Open) -> Open:
    def open_(screen: str, store: Store, **query: str) -> AppTest:
        return screens(store.location, f"screens/{screen}.py", **query)

    return open_


def headings(app: AppTest) -> list[str]:
    return [heading.value for heading in app.header]


def html_of(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html"))


def test_the_claims_of_the_samples(read_samples: Store, open_screen: Open) -> None:
    app = open_screen("claims", read_samples)
    assert {metric.label: metric.value for metric in app.metric} == {
        "Runs claiming a speedup": "1",
        "With a stated benchmark": "1",
        "Claimed speedup (p50)": "3.17×",
        "Quantified claims": "2",
    }
    assert headings(app)[:4] == [
        "2 quantified claims",
        "1 run claiming a speedup, 1 with a stated benchmark",
        "1 of 3 runs has a speedup claim with a stated benchmark",
        "Claimed speedup vs. reported cost",
    ]
    listed = app.dataframe[0].value
    assert list(listed["ratio"])[:2] == [3.17, 1.42]
    assert list(listed["evidence"])[:2] == ["method stated", "method stated"]
    assert set(listed["hedged"]) == {"no"}
    assert set(listed["caveat"]) == {"micro-benchmark only"}
    assert listed["sentence"][0] == "3.17x speedup for torch.empty vs torch.zeros/ones when tensors are overwritten"
    assert app.toggle[0].label == "All claims (16)"
    every = app.toggle[0].set_value(True).run().dataframe[0].value
    assert list(every["ratio"])[:2] == [3.17, 1.42]
    assert every.shape[0] == 16


def test_runs_without_claims_say_so(store: Store, open_screen: Open) -> None:
    ingest([Source("a", record_text().encode())], store)
    app = open_screen("claims", store)
    assert "No performance claims found." in app.info[0].value
    assert not app.get("plotly_chart")
    assert not [link for link in open_screen("overview", store).get("page_link") if "Claimed" in link.proto.label]


def test_more_claims_than_a_chart_has_lines_for_are_counted(many: Store, open_screen: Open) -> None:
    app = open_screen("claims", many, claims="Largest", **{"all-claims": "true"})
    found, runs = claim_queries.count_claims(many, EVERYTHING)
    drawn = claim_queries.drawn_claims(many, EVERYTHING, "largest", 60)
    assert drawn.num_rows == 60 < found
    assert f"Showing 60 of {drawn['claims_found'][0].as_py()} claims." in [caption.value.replace("\\", "") for caption in app.caption]
    assert app.dataframe[0].value.shape[0] == found, "the rest is in the table"
    assert runs >= drawn["runs_found"][0].as_py()


def test_a_click_on_a_claim_opens_its_run(read_samples: Store, open_screen: Open) -> None:
    app = open_screen("claims", read_samples)
    app.session_state["chart-claims-forest"] = {"selection": {"points": [{"customdata": [RUN]}], "point_indices": [0]}}
    app.run()
    assert not app.exception
    assert app.title[0].value == "I have successfully optimized the MLA attention performance in the vLLM codebase"


def test_the_overview_says_what_is_claimed_and_on_what_evidence(read_samples: Store, open_screen: Open) -> None:
    labels = [link.proto.label for link in open_screen("overview", read_samples).get("page_link")]
    assert "1 of 3 runs claims a speedup: 3.17× faster (micro-benchmark only), with a stated benchmark" in [
        label.replace("\\", "") for label in labels
    ]


def test_a_run_shows_its_claims_where_they_stand(read_samples: Store, open_screen: Open) -> None:
    app = open_screen("run", read_samples, run=RUN)
    html = html_of(app)
    title = r"claimed 3\.17× \(time\) · method stated · micro-benchmark only"
    assert re.search(rf'<strong><mark style="[^"]*" title="{title}[^"]*">3\.17x speedup</mark>', html)
    assert ">method stated</mark> 2</span>" in html
    assert "3.17× torch.empty vs torch.zeros/ones when tensors are micro-benchmark, method stated · this figure counts" in page_text(app)
    assert "**Other statements** 6 in the summary" in [one.label for one in app.expander]
    findings = next(text.value for text in app.markdown if text.value.startswith("- "))
    assert ":blue[:material/info:] **Info**" in findings
    assert "Commit</dt>" in html
    changes = app.dataframe[-1].value
    assert (changes["insertions"].sum(), changes["deletions"].sum()) == (61, 29)


def test_the_headline_that_is_drawn_is_the_one_its_run_is_known_by(many: Store) -> None:
    drawn = claim_queries.drawn_claims(many, EVERYTHING, "headlines", 1000).to_pylist()
    known = {run["run_id"]: run for run in run_queries.runs(many, EVERYTHING).to_pylist() if run["claimed_speedup"] is not None}
    assert len(drawn) == len(known) > 35
    texts_of = {f"run-{number}": text for number, text in enumerate(summaries())}
    for row in drawn:
        best = headline_of(extract(texts_of[row["run_id"]]))
        assert best is not None
        assert row["quote"] == best.quote
        assert row["ratio"] == known[row["run_id"]]["claimed_speedup"]


def test_evidence_adds_up_over_groups(many: Store) -> None:
    [row] = claim_queries.evidence_mix(many, EVERYTHING, "model").to_pylist()
    runs = run_queries.runs(many, EVERYTHING).to_pylist()
    claiming = [run["claimed_evidence"] for run in runs if run["claimed_evidence"]]
    assert {kind: row[kind] for kind in EVIDENCE} == {kind: claiming.count(kind) for kind in EVIDENCE}
    assert (row["runs"], row["claiming"], row["runs_found"], row["groups_found"]) == (len(runs), len(claiming), len(runs), 1)


def test_filters_choose_claims_and_runs(many: Store) -> None:
    strong = choose({"evidence": "benchmarked", "min-claim": "2"})
    drawn = claim_queries.drawn_claims(many, strong, "largest", 1000)
    assert set(drawn["evidence"].to_pylist()) == {"benchmarked"}
    assert min(drawn["ratio"].to_pylist()) >= 2
    assert claim_queries.evidence_mix(many, strong, "model").to_pylist()[0]["stated"] == 0


def test_what_became_worse_lies_left_of_the_line(many: Store) -> None:
    rows = claim_queries.drawn_claims(many, EVERYTHING, "worse", 60)
    assert rows.num_rows
    figure = CHARTS["claims-forest"].draw(rows, {})
    assert all(value < 1 for trace in figure.data if trace.mode == "markers" and not trace.showlegend for value in trace.x)
    assert figure.layout.shapes[0].x0 == figure.layout.shapes[0].x1 == 1
    assert rows["ratio"].to_pylist() == sorted(rows["ratio"].to_pylist())


TABLES = {
    "no rows": claims(),
    "one row": claims(claim()),
    "no ratio": claims(claim(ratio=None)),
    "zero": claims(claim(ratio=0.0)),
    "huge": claims(claim(ratio=1e300), claim(ratio=1e-300)),
    "no cost": claims(claim(cost_own_usd=None)),
    "no quote": claims(claim(quote="")),
    "free and dear": claims(claim(cost_own_usd=Decimal(0)), claim(cost_own_usd=Decimal(900))),
    "every kind": claims(*(claim(evidence=evidence, scope=scope) for evidence in EVIDENCE for scope in SCOPES)),
}


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("key", ["claims-forest", "claims-cost"])
def test_a_chart_of_claims_survives_what_a_store_may_hold(key: str, case: str) -> None:
    figure = CHARTS[key].draw(TABLES[case], {})
    figure.to_json()
    assert figure.data or figure.layout.annotations, "an empty chart says why"
    assert CHARTS[key].alt(TABLES[case])


def test_groups_without_claims_are_no_error() -> None:
    group = {"group": None, "runs": 2, "claiming": 1, "runs_found": 2, "benchmarked_found": 0, "groups_found": 1}
    rows = pa.Table.from_pylist([group | dict.fromkeys(EVIDENCE, 0) | {"stated": 1}])
    for table in (rows, rows.slice(0, 0)):
        assert CHARTS["claims-evidence"].draw(table, {}).to_json()
        assert CHARTS["claims-evidence"].alt(table)


def test_colour_and_size_tell_evidence_shape_scope_and_open_marks_doubt() -> None:
    rows = claims(
        claim(evidence="benchmarked", scope="end_to_end"), claim(evidence="stated", hedged=True), claim(evidence="estimated"), claim()
    )
    points = [trace for trace in CHARTS["claims-forest"].draw(rows, {}).data if trace.customdata is not None]
    assert [(trace.marker.color, trace.marker.size) for trace in points] == [
        (EVIDENCE[kind], EVIDENCE_SIZES[kind]) for kind in ("benchmarked", "stated", "estimated")
    ]
    assert [list(trace.marker.symbol) for trace in points] == [["square"], ["triangle-up-open", "triangle-up"], ["triangle-up-open"]]


def test_a_range_is_drawn_from_end_to_end() -> None:
    rows = claims(claim(), claim(ratio=2.0, ratio_low=1.6, ratio_high=2.5))
    [line] = [trace for trace in CHARTS["claims-forest"].draw(rows, {}).data if trace.mode == "lines" and not trace.showlegend]
    assert (line.x, line.y) == ((1.6, 2.5, None), (1, 1, None))


def test_hovering_tells_the_claim_and_a_hostile_one_stays_text() -> None:
    evil = '<a href="https://e.example">x</a>'
    rows = claims(claim(quote=evil, subject=evil, repo=evil))
    for key in ("claims-forest", "claims-cost"):
        assert "<a" not in CHARTS[key].draw(rows, {}).to_json().replace("\\u003c", "<")
    [text] = CHARTS["claims-cost"].draw(claims(claim(caveat="approximate")), {}).data[0].hovertext
    assert text == "<b>claimed 3.00× (time) · number only · approximate</b><br>3x faster<br>Reported cost: $0.5<br>Run: Faster kernel (r)"


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_the_axis_of_ratios_holds_all_of_them_and_no_change(one: float, other: float) -> None:
    axis = ratio_axis([one, other])
    low, high = (10 ** float(end) for end in axis["range"])
    assert low < min(one, other, 1) <= max(one, other, 1) < high
    assert 1 in axis["tickvals"]
    assert len(axis["tickvals"]) == len(set(axis["ticktext"])) <= 5


def test_the_dearer_half_is_told_apart_from_ten_runs_on() -> None:
    rows = [claim(run_id=str(number), ratio=float(1 + number), cost_own_usd=Decimal(number)) for number in range(10)]
    assert (
        CHARTS["claims-cost"].words(claims(*rows)).finding
        == "Median claimed speedup: 8.00× in the more expensive half of the runs, 3.00× in the other"
    )
    assert CHARTS["claims-cost"].words(claims(*rows[:9])).finding == "Claimed speedup vs. reported cost"
    assert CHARTS["claims-cost"].words(TABLES["no cost"]).note == "Not shown: 1 run without a reported cost."


THEME = tomllib.loads((ROOT / "app" / ".streamlit" / "config.toml").read_text())["theme"]
INKS = [(page, THEME[page][key]) for page in ("light", "dark") for key in ("textColor", "linkColor", "codeTextColor")]


@pytest.mark.parametrize("evidence", EVIDENCE)
@pytest.mark.parametrize(("page", "ink"), INKS)
def test_marked_text_can_be_read_by_day_and_by_night(page: str, ink: str, evidence: str) -> None:
    tint = STRENGTHS[evidence][0] / 255
    paper = blended(EVIDENCE[evidence], THEME[page]["backgroundColor"], tint)
    lighter, darker = sorted((luminance(ink), luminance(paper)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_figures_on_bars_can_be_read(evidence: str) -> None:
    lighter, darker = sorted((luminance(INK_ON_EVIDENCE[evidence]), luminance(EVIDENCE[evidence])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def blended(colour: str, page: str, share: float) -> str:
    pairs = [(int(colour[at : at + 2], 16), int(page[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(top * share + under * (1 - share)):02X}" for top, under in pairs)


def test_stronger_evidence_stands_out_more() -> None:
    tints = [tint for tint, _ in STRENGTHS.values()]
    assert tints == sorted(tints, reverse=True)
    assert list(STRENGTHS) == list(EVIDENCE) == list(EVIDENCE_SIZES) == list(EVIDENCE_MEANINGS) == [kind.value for kind in Evidence]
    assert set(SCOPES) == {scope.value for scope in Scope}
    assert "background:none" in mark_style(QUALITATIVE)


def test_every_claim_of_a_summary_is_marked_and_in_the_legend(many: Store) -> None:
    for number in (5, 20, 40):
        facts = claim_queries.of_run(many, f"run-{number}")
        rows = facts.claims.to_pylist()
        shown = summary_html(summaries()[number], marks_of(rows))
        assert all(claim_title(row).split(" · about")[0] in shown for row in rows)
        assert legend_html(rows).count("<mark") == len({row["kind"] == QUALITATIVE or row["evidence"] for row in rows})


def test_words_of_claims() -> None:
    end_to_end = {"scope": "end_to_end", "hedged": True, "caveat": "approximate"}
    ranged = claim(ratio_low=2.0, ratio_high=4.0, origin="cited", subject="the `parser`", **end_to_end)
    assert (
        claim_title(ranged) == "claimed 3.00× (2.00× to 4.00×) (time) · number only · approximate · quoted from others · about the parser"
    )
    assert claim_title(claim(ratio=None, kind="qualitative")) == "claimed better (time) · no number · micro"
    partial = {"runs": 9, "runs_with_claim": 3, "runs_benchmarked": 1, "runs_partial_claim": 2, "claimed_speedup_median": 2.0}
    assert (
        overview_line(partial)
        == "3 of 9 runs claim a speedup: median 2.00× (2 of 3 micro-benchmark or component only), 1 with a stated benchmark"
    )
    assert overview_line({"runs_with_claim": 0}) == overview_line({"runs_with_claim": None}) == ""


def test_findings_and_statements_of_strangers_stay_text() -> None:
    evil = "<script>x</script>\n# h **b** :red[x]"
    lines = finding_lines([{"severity": severity.value, "message": evil, "expected": evil, "actual": None} for severity in Severity])
    assert len(lines.splitlines()) == 2 * len(Severity)
    assert "<script" not in lines.replace("\\<", "")
    assert "**b**" not in lines
    assert "<script" not in statements_html([{"kind": "commit", "subject": evil, "count": None, "quote": evil}])
    for kind in StatementKind:
        assert statement({"kind": kind.value, "subject": None, "count": 1200, "quote": "q"})[1].startswith("1,200")


TEXT = "## Results\n\nWe tried it. The parser is **3x faster** now (from 9 s to 3 s). All tests pass.\n- Impact: ~2x speedup for `pad`\n"


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("3x faster", "The parser is 3x faster now (from 9 s to 3 s)."),
        ("~2x speedup", "Impact: ~2x speedup for pad"),
        ("Results", "Results"),
    ],
)
def test_a_claim_is_listed_with_its_sentence(quote: str, said: str) -> None:
    start = TEXT.index(quote)
    assert sentence(TEXT, start, start + len(quote)) == said


@given(st.text(max_size=200), st.integers(0, 200), st.integers(0, 200))
def test_the_sentence_of_a_claim_holds_it(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    found = sentence_span(text, start, end)
    assert 0 <= found.start <= start <= end <= found.end <= len(text)


def test_a_sentence_without_an_end_is_cut_and_says_so(store: Store) -> None:
    ingest([Source("a", record_text(result=f"{'lead ' * 90}the build is 3x faster {'and on ' * 90}").encode())], store)
    [said] = claim_queries.claims(store, EVERYTHING)["sentence"].to_pylist()
    assert said.startswith("… ")
    assert said.endswith(" …")
    assert "the build is 3x faster" in said


def test_a_claim_opens_its_run_at_the_sentence(read_samples: Store, open_screen: Open) -> None:
    [claim, *_] = [row for row in claim_queries.of_run(read_samples, RUN).claims.to_pylist() if row["ratio"] == 3.17]
    app = open_screen("run", read_samples, run=RUN, claim=str(claim["claim_no"]))
    assert page_text(app).startswith("I have successfully optimized the MLA attention performance in the vLLM codebase")
    assert headings(app)[0] == "Claim in the summary"
    assert re.search(r"<mark[^>]*>3\.17x speedup</mark></strong><mark[^>]*> for </mark>", html_of(app))
    assert "Claim in the summary" not in headings(open_screen("run", read_samples, run=RUN, claim="99"))


@pytest.mark.parametrize(
    ("changes", "caveat"),
    [
        ("'micro', 'benchmarked', false", "micro-benchmark only"),
        ("'component', 'estimated', true", "one component only, projected, approximate"),
        ("'unspecified', 'stated', false", "scope not stated"),
        ("'end_to_end', 'benchmarked', false", None),
        ("'end_to_end', 'figures', true", "approximate"),
    ],
)
def test_a_claim_says_what_limits_it(changes: str, caveat: str | None, read_samples: Store) -> None:
    sql = f"select {caveat_sql()} as caveat from (select unnest([struct_pack(scope := s, evidence := e, hedged := h)], recursive := true)"
    found = run_queries.fetch(read_samples, f"{sql} from (values ({changes})) as row(s, e, h))", {})
    assert found["caveat"].to_pylist() == [caveat]


def test_a_speedup_is_listed_with_its_caveat_wherever_runs_are(read_samples: Store) -> None:
    runs = run_queries.runs(read_samples, EVERYTHING)
    chosen = grid_columns.grid(runs, grid_columns.Listing(grid_columns.RUNS.of, ("run_id", "claimed_speedup", "outcome")))
    assert chosen.rows.column_names == ["run_id", "claimed_speedup", "claimed_caveat", "outcome"]
    assert set(chosen.rows["claimed_caveat"].to_pylist()) == {"micro-benchmark only", None}
