"""Confidence of claims: those of low confidence are kept, but hidden.

They count for nothing, and whoever asks for them sees them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from app.cli.main import cli
from app.queries import claims as claim_queries
from app.queries import runs as run_queries
from app.queries.filters import FILTERS, MIN_CONFIDENCE, NO_FILTERS, choose, where_claims
from ingest.agents.base import Rows
from ingest.claims import extract
from ingest.findings.summary_facts import facts_with
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.claims import ClaimKind
from schemas.errors import UsageError
from schemas.rows.confidence import SHOWN_FROM, is_shown
from tests.conftest import StoreOnce, fetched, page_text, record_text
from tests.test_audit import run as run_row

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

Open = Callable[..., "AppTest"]

SUMMARIES = {
    "surest": "Benchmarked with hyperfine: the build went from 90 s to 30 s.",
    "mixed": (
        "Reduced allocations in the hot loop.\n\nThe lexer is 4x faster.\n\nThe new cache makes "
        "the parser 1.5x faster."
    ),
    "unsure": "The new index makes the search 20x faster.",
}
CONFIDENCES = {
    ("surest", 3.0): 0.97,
    ("mixed", 4.0): 0.2,
    ("mixed", 1.5): 0.85,
    ("unsure", 20.0): 0.31,
}
"""Run and ratio → confidence. That of the top claim is that of its run."""


def fill_unsure(store: Store) -> None:
    """Three runs with four claims with a number, two of them of low confidence, and one without.

    Only read from.
    """
    records = [
        record_text(uuid=name, session_id=name, result=text) for name, text in SUMMARIES.items()
    ]
    ingest([Source("log.jsonl", "\n".join(records).encode())], store)
    lower(store)


def lower(store: Store) -> None:
    """Give the claims their CONFIDENCES, and make a run's surest claim its top claim.

    Ingest does the same.
    """
    with store.writing() as writer:
        for (run_id, ratio), confidence in CONFIDENCES.items():
            changed = (
                "update claims set confidence = $p where run_id = $run and round(ratio, 9) = "
                "$ratio returning claim_no"
            )
            assert (
                len(
                    writer.connection.execute(
                        changed, {"p": confidence, "run": run_id, "ratio": ratio}
                    ).fetchall()
                )
                == 1
            ), run_id
        top = (
            "update runs set claims = $claims, claimed_speedup = $ratio, claimed_confidence = $p "
            "where run_id = $run"
        )
        for run_id, top_ratio, top_confidence in (
            ("surest", 3.0, 0.97),
            ("mixed", 1.5, 0.85),
            ("unsure", None, None),
        ):
            bound = {
                "run": run_id,
                "claims": int(top_ratio is not None),
                "ratio": top_ratio,
                "p": top_confidence,
            }
            writer.connection.execute(top, bound)


@pytest.fixture(scope="module")
def unsure(read_once: StoreOnce) -> Store:
    return read_once("unsure", fill_unsure)


def ask(store: Store, *words: str) -> Result:
    done = CliRunner().invoke(cli, [*words, "--db", store.location])
    assert done.exit_code == 0, done.stderr
    return done


def ratios(store: Store, *words: str) -> list[float | None]:
    return [
        row["ratio"] and round(row["ratio"], 9)
        for row in json.loads(ask(store, "claims", *words, "--format", "json").stdout)
    ]


def test_what_is_shown_is_one_rule_in_python_and_sql(unsure: Store) -> None:
    """Ingest counts in Python what lists choose in SQL."""
    assert [is_shown(confidence) for confidence in (None, SHOWN_FROM, 1.0, 0.7999, 0.0)] == [
        True,
        True,
        True,
        False,
        False,
    ]
    shown = where_claims(NO_FILTERS)[1]
    values = """(select 'r' as run_id, 'quantified' as kind, 'own' as origin, unnest([null, $edge, 1.0, 0.7999, 0.0]) as confidence) as claims"""  # noqa: E501
    found = fetched(
        unsure, f"select ({shown.sql}) from {values}", shown.parameters | {"edge": SHOWN_FROM}
    )
    assert [row for (row,) in found] == [True, True, True, False, False]


def test_ingest_keeps_the_confidence_of_each_claim_and_of_the_top_claim(store: Store) -> None:
    ingest([Source("log", record_text(uuid="run", result=SUMMARIES["surest"]).encode())], store)
    [read] = extract(SUMMARIES["surest"], 0)
    assert fetched(store, "select confidence from claims") == [(read.confidence,)]
    assert fetched(store, "select claimed_confidence from v_runs") == [(read.confidence,)]


def test_a_claim_of_low_confidence_is_kept_and_counts_for_nothing() -> None:
    """Neither for the columns of its run nor for a finding.

    5000x without numbers is implausible, unless it was not said at all.
    """
    text = "The lexer is 5000x faster. The parser is 2x faster."
    large, small = extract(text, 0)
    sure, facts, unsure = facts_with(
        [
            (large, small),
            (large._replace(confidence=0.4), small._replace(confidence=0.85)),
            (small._replace(confidence=0.1),),
        ],
        [text] * 3,
        [Rows(run_row(result=text))] * 3,
    )
    assert [claim.ratio for claim in facts.claims] == [5000, 2]
    assert {
        key: facts.columns[key] for key in ("claims", "claimed_speedup", "claimed_confidence")
    } == {
        "claims": 1,
        "claimed_speedup": 2,
        "claimed_confidence": 0.85,
    }
    assert any("5000x" in finding.message for finding in sure.findings)
    assert not any("5000x" in finding.message for finding in facts.findings)
    none = unsure.columns
    assert (none["claims"], none.get("claimed_speedup"), none.get("claimed_confidence")) == (
        0,
        None,
        None,
    )


def test_hidden_claims_are_in_no_list_and_no_chart_until_they_are_asked_for(unsure: Store) -> None:
    assert ratios(unsure) == [3.0, 1.5, None]
    assert ratios(unsure, "--min-confidence", "0") == [20.0, 4.0, 3.0, 1.5, None]
    assert ratios(unsure, "--min-confidence", "31%", "--kind", "quantified") == [20.0, 3.0, 1.5]
    assert ratios(unsure, "--min-confidence", "0.9") == [3.0, None], (
        "a claim without a number has no confidence that could be low"
    )
    for filters, found in (
        (NO_FILTERS, [3.0, 1.5]),
        (choose({"min-confidence": "0"}), [20.0, 4.0, 3.0, 1.5]),
    ):
        listed = claim_queries.claims(unsure, filters, (ClaimKind.QUANTIFIED,))
        assert [round(ratio, 9) for ratio in listed["ratio"].to_pylist()] == found
        assert claim_queries.count_claims(unsure, filters, (ClaimKind.QUANTIFIED,))[0] == len(found)
        assert claim_queries.count_claims(unsure, filters)[0] == len(found) + 1


def test_runs_are_chosen_by_their_top_claim(unsure: Store) -> None:
    def chosen(confidence: str) -> set[str]:
        return set(run_queries.ids(unsure, choose({"min-confidence": confidence})))

    assert chosen("0.85") == {"surest", "mixed"}
    assert chosen("86%") == {"surest"}
    assert chosen("0") == {*SUMMARIES}, (
        "0 asks for nothing: a screen that lists hidden claims needs their runs"
    )


def test_the_count_of_hidden_claims_follows_the_choice(unsure: Store) -> None:
    def hidden(*kinds: str, **words: str) -> int:
        return claim_queries.count_hidden(
            unsure, choose({key.replace("_", "-"): value for key, value in words.items()}), kinds
        )

    assert (hidden(), hidden("quantified"), hidden("qualitative")) == (2, 2, 0)
    assert (
        hidden(run="mixed"),
        hidden(run="surest"),
        hidden(min_claim="10"),
        hidden(evidence="benchmarked"),
    ) == (1, 0, 1, 0)
    assert hidden(min_confidence="0.9") == 0, (
        "somebody who says how sure claims must be knows that others are left out"
    )


@pytest.mark.parametrize("format_", ["table", "jsonl"])
def test_a_list_says_how_many_claims_are_hidden_and_how_to_see_them(
    unsure: Store, format_: str
) -> None:
    """Also where the rows go to a program, and where all are hidden."""
    assert ask(unsure, "claims", "--format", format_).stderr.endswith(
        "2 claims of low confidence are hidden; --min-confidence 0 lists them.\n"
    )
    one = ask(unsure, "claims", "--run", "unsure", "--format", format_)
    assert one.stderr.endswith(
        "1 claim of low confidence is hidden; --min-confidence 0 lists it.\n"
    )
    for words in (("--run", "surest"), ("--min-confidence", "0")):
        assert "hidden" not in ask(unsure, "claims", *words, "--format", format_).stderr.replace(
            "Hidden columns", ""
        )


def test_show_says_how_many_are_hidden_and_json_has_them(unsure: Store) -> None:
    text = " ".join(ask(unsure, "show", "mixed").stdout.split())
    command = f"tachograph claims --run mixed --min-confidence 0 --db {unsure.location}"
    assert f"1 claim of low confidence is hidden; {command} lists it." in text
    assert "hidden" not in ask(unsure, "show", "surest").stdout
    page: dict[str, Any] = json.loads(ask(unsure, "show", "mixed", "--format", "json").stdout)
    assert [row["ratio"] for row in page["hidden_claims"]] == [4.0]
    assert [row["confidence"] for row in page["claims"]] == [None, 0.85]
    listed = ask(unsure, *command.split()[1 : command.split().index("--db")]).stdout
    assert "4.00×" in listed


def test_the_claims_of_texts_have_their_confidence(tmp_path: Path) -> None:
    texts = tmp_path / "texts.jsonl"
    texts.write_text(json.dumps({"id": 1, "text": SUMMARIES["surest"]}))

    def read(*words: str) -> list[float | None]:
        done = CliRunner().invoke(cli, ["claims", "extract", str(texts), *words])
        assert done.exit_code == 0, done.stderr
        return [claim["confidence"] for claim in json.loads(done.stdout)["claims"]]

    for words, least in (
        ((), SHOWN_FROM),
        (("--min-confidence", "0"), 0.0),
        (("--min-confidence", "100%"), 1.0),
    ):
        assert read(*words) == [claim.confidence for claim in extract(SUMMARIES["surest"], least)]
    with pytest.raises(UsageError, match="--min-confidence takes a probability from 0 to 1"):
        CliRunner().invoke(
            cli, ["claims", "extract", str(texts), "--min-confidence", "2"], catch_exceptions=False
        )


@given(st.text(max_size=8) | st.floats().map(str))
def test_any_text_is_a_probability_or_a_usage_error(text: str) -> None:
    """Whatever is typed is a probability or an error for people."""
    with suppress(UsageError):
        assert 0 <= FILTERS[MIN_CONFIDENCE].read(text) <= 1


def captions(app: AppTest) -> str:
    return "\n".join(caption.value for caption in app.caption)


def test_the_screen_says_how_many_are_hidden_and_lists_them_where_they_are_asked_for(
    unsure: Store, screens: Open
) -> None:
    app = screens(unsure.location, "screens/speedups.py", tab="sentences")
    assert (
        "2 claims of low confidence are hidden; Min confidence 0 (under More) lists them."
        in captions(app)
    )
    assert list(app.dataframe[0].value["confidence"]) == pytest.approx([97, 85])
    every = screens(
        unsure.location, "screens/speedups.py", tab="sentences", **{"min-confidence": "0"}
    )
    assert "hidden" not in captions(every)
    assert list(every.dataframe[0].value["confidence"]) == pytest.approx([31, 20, 97, 85])


def test_where_all_claims_are_hidden_the_screen_says_so_and_can_list_them(
    unsure: Store, screens: Open
) -> None:
    app = screens(unsure.location, "screens/speedups.py", **{"run-id": "unsure"})
    assert "1 claim of low confidence is hidden" in captions(app)
    every = screens(
        unsure.location,
        "screens/speedups.py",
        tab="sentences",
        **{"run-id": "unsure", "min-confidence": "0"},
    )
    assert list(every.dataframe[0].value["confidence"]) == pytest.approx([31])


def test_the_page_of_a_run_hides_and_tells_and_opens_a_hidden_claim_by_its_link(
    unsure: Store, screens: Open
) -> None:
    app = screens(unsure.location, "screens/run.py", run="mixed")
    assert "1 claim of low confidence is hidden" in captions(app)
    assert "tachograph claims --run mixed --min-confidence 0" in captions(app)
    assert "1.50×" in page_text(app)
    assert "hidden" not in captions(screens(unsure.location, "screens/run.py", run="surest"))
    [hidden] = claim_queries.of_run(unsure, "mixed").hidden_claims.to_pylist()
    linked = screens(unsure.location, "screens/run.py", run="mixed", claim=str(hidden["claim_no"]))
    assert linked.header[0].value == "Claim in the summary"
    every = screens(unsure.location, "screens/run.py", run="mixed", **{"min-confidence": "0"})
    assert "hidden" not in captions(every)
