"""Claims as screens show them.

What agents say is shown as what they say, with its evidence, and where it stands in the summary.
"""

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

from app.queries import claims as claim_queries
from app.queries import reading
from app.queries import runs as run_queries
from app.queries.claims import sentence, sentence_span
from app.queries.filters import Filters
from app.text import grids
from app.text.claims import claim_title, statement
from app.text.summary import (
    QUALITATIVE,
    finding_lines,
    legend_html,
    marks_of,
    statements_html,
    summary_html,
)
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.catalogue.figures import caveat_sql
from schemas.claims import StatementKind
from schemas.rows.claim import ClaimRow
from schemas.rows.source import Severity
from schemas.rows.tables import arrow_schema
from tests.conftest import ROOT, StoreOnce, page_text, record_text
from tests.labelled.texts import labelled_texts

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

RUN = "5e0c031e-eef9-49db-91be-235c0b535201"
EVERYTHING = Filters()
FIELDS = {field.name: field.type for field in arrow_schema(ClaimRow)}


def claim(**changes: Any) -> dict[str, Any]:
    known = {
        "kind": "quantified",
        "metric": "time",
        "direction": "better",
        "evidence": "stated",
        "scope": "micro",
        "origin": "own",
    }
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
    about = {
        "repo": None,
        "task": None,
        "model": "m",
        "cost_own_usd": Decimal("0.5"),
        "pick": "largest",
    }
    return (
        known
        | usual
        | ends
        | about
        | {"claims_found": 1, "runs_found": 1, "benchmarked_found": 0}
        | changes
    )


def claims(*rows: dict[str, Any]) -> pa.Table:
    columns = {name: pa.array([row[name] for row in rows], FIELDS.get(name)) for name in claim()}
    return pa.table(columns)


def fill_many(store: Store) -> None:
    """A store whose runs have the labelled texts as summaries: half of them claim something."""
    records = [
        record_text(uuid=f"run-{number}", session_id=f"s-{number}", result=text)
        for number, text in enumerate(summaries())
    ]
    ingest([Source("log.jsonl", "\n".join(records).encode())], store)


@pytest.fixture(scope="module")
def many(read_once: StoreOnce) -> Store:
    return read_once("many", fill_many)


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


def test_a_run_shows_its_claims_where_they_stand(read_samples: Store, open_screen: Open) -> None:
    app = open_screen("run", read_samples, run=RUN)
    html = html_of(app)
    title = r"claimed 3\.17× \(time\) · method stated · micro-benchmark only"
    assert re.search(
        rf'<strong><mark style="[^"]*" title="{title}[^"]*">3\.17x speedup</mark>', html
    )
    assert ">method stated</mark> 2</span>" in html
    assert (
        "3.17× torch.empty vs torch.zeros/ones when tensors are micro-benchmark, method "
        "stated · this figure counts"
    ) in page_text(app)
    assert "**Result** 6 other statements" in [one.label for one in app.expander]
    app.session_state["result"] = True
    html = html_of(app.run())
    findings = next(text.value for text in app.markdown if text.value.startswith("- "))
    assert ":blue[:material/info:] **Info**" in findings
    assert "Commit</dt>" in html
    changes = next(one.value for one in app.dataframe if "insertions" in one.value)
    assert (changes["insertions"].sum(), changes["deletions"].sum()) == (61, 29)


def test_a_link_opens_a_run_at_the_sentence_of_a_claim(
    read_samples: Store, open_screen: Open
) -> None:
    [claim] = [
        row
        for row in claim_queries.of_run(read_samples, RUN).claims.to_pylist()
        if row["ratio"] == 3.17
    ]
    app = open_screen("run", read_samples, run=RUN, claim=str(claim["claim_no"]))
    assert headings(app)[0] == "Claim in the summary"
    assert re.search(
        r"<mark[^>]*>3\.17x speedup</mark></strong><mark[^>]*> for </mark>", html_of(app)
    )
    assert "Claim in the summary" not in headings(
        open_screen("run", read_samples, run=RUN, claim="99")
    )


THEME = tomllib.loads((ROOT / "app" / ".streamlit" / "config.toml").read_text())["theme"]
INKS = [
    (page, THEME[page][key])
    for page in ("light", "dark")
    for key in ("textColor", "linkColor", "codeTextColor")
]


def test_every_claim_of_a_summary_is_marked_and_in_the_legend(many: Store) -> None:
    for number in (5, 20, 40):
        facts = claim_queries.of_run(many, f"run-{number}")
        rows = facts.claims.to_pylist()
        shown = summary_html(summaries()[number], marks_of(rows))
        assert all(claim_title(row).split(" · about")[0] in shown for row in rows)
        assert legend_html(rows).count("<mark") == len(
            {row["kind"] == QUALITATIVE or row["evidence"] for row in rows}
        )


def test_findings_and_statements_of_strangers_stay_text() -> None:
    evil = "<script>x</script>\n# h **b** :red[x]"
    lines = finding_lines(
        [
            {"severity": severity.value, "message": evil, "expected": evil, "actual": None}
            for severity in Severity
        ]
    )
    assert len(lines.splitlines()) == 2 * len(Severity)
    assert "<script" not in lines.replace("\\<", "")
    assert "**b**" not in lines
    assert "<script" not in statements_html(
        [{"kind": "commit", "subject": evil, "count": None, "quote": evil}]
    )
    for kind in StatementKind:
        assert statement({"kind": kind.value, "subject": None, "count": 1200, "quote": "q"})[
            1
        ].startswith("1,200")


TEXT = (
    "## Results\n\nWe tried it. The parser is **3x faster** now (from 9 s to 3 s). All tests "
    "pass.\n- Impact: ~2x speedup for `pad`\n"
)


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
    ingest(
        [
            Source(
                "a",
                record_text(
                    result=f"{'lead ' * 90}the build is 3x faster {'and on ' * 90}"
                ).encode(),
            )
        ],
        store,
    )
    [said] = claim_queries.claims(store, EVERYTHING)["sentence"].to_pylist()
    assert said.startswith("… ")
    assert said.endswith(" …")
    assert "the build is 3x faster" in said


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
    sql = (
        f"select {caveat_sql()} as caveat from (select unnest([struct_pack(scope := s, evidence "
        ":= e, hedged := h)], recursive := true)"
    )
    found = reading.fetch(read_samples, f"{sql} from (values ({changes})) as row(s, e, h))", {})
    assert found["caveat"].to_pylist() == [caveat]


def test_a_speedup_is_listed_with_its_caveat_wherever_runs_are(read_samples: Store) -> None:
    runs = run_queries.runs(read_samples, EVERYTHING)
    chosen = grids.grid(
        runs, grids.Listing(grids.RUNS.of, ("run_id", "claimed_speedup", "outcome"))
    )
    assert chosen.rows.column_names == ["run_id", "claimed_speedup", "claimed_caveat", "outcome"]
    assert set(chosen.rows["claimed_caveat"].to_pylist()) == {"micro-benchmark only", None}
