"""Rules: each fires where a sober reader would look twice, and is silent beside it.

A false alarm costs more than a miss.
"""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from ingest.agents.base import Rows
from ingest.agents.shared.tokens import CUT_OFF
from ingest.claims import Claim, extract
from ingest.facts import NO_FACTS
from ingest.findings.rules import RULES, Facts, Finding, audit
from ingest.findings.statements import FileChange, Statement, Statements
from ingest.findings.summary_facts import complete, facts_with, headline
from ingest.sources.document import Document
from ingest.store.record_rows import read_record, tables_of
from schemas.rows.claim import (
    ClaimKind,
    ClaimMetric,
    ClaimRow,
    Direction,
    Evidence,
    Origin,
    Scope,
    StatementRow,
)
from schemas.rows.row import Row
from schemas.rows.run import FileChangeRow, ModelUsageRow, Outcome, RunRow
from schemas.rows.source import FindingRow, Severity
from tests.conftest import SAMPLES, record_text


def run(**changes: Any) -> RunRow:
    """A run of which nothing is remarkable."""
    plain = {
        "run_id": "r",
        "outcome": Outcome.COMPLETED,
        "num_turns": 3,
        "cost_reported_usd": Decimal("0.25"),
        "output_tokens": 20,
        "permission_denials": 0,
        "result": "Done.",
    }
    return RunRow(**plain | changes)


def usage(**changes: Any) -> ModelUsageRow:
    return ModelUsageRow(
        **{
            "run_id": "r",
            "model_id": "claude-opus-4-6",
            "model": "claude-opus-4-6",
            "cost_reported_usd": Decimal("0.25"),
        }
        | changes
    )


def claim(quote: str = "2x faster", ratio: float | None = 2.0, **changes: Any) -> Claim:
    plain = Claim(
        0,
        len(quote),
        quote,
        ClaimKind.QUANTIFIED,
        ClaimMetric.TIME,
        Direction.BETTER,
        ratio,
        None,
        None,
        None,
        None,
        None,
        Evidence.BENCHMARKED,
        Scope.END_TO_END,
        hedged=False,
        origin=Origin.OWN,
        subject=None,
        confidence=1.0,
    )
    return plain._replace(**changes)


def found(
    run_: RunRow,
    *rows: ModelUsageRow,
    claims: tuple[Claim, ...] = (),
    changes: tuple[FileChange, ...] = (),
    text: str | None = None,
) -> list[str]:
    facts = Facts(
        run_,
        rows,
        text if text is not None else str(run_.result or ""),
        claims,
        Statements(changes),
    )
    return [finding.rule for finding in audit(facts)]


COUNTED = """Replaced **{said} instances** of `zeros`.

1. **a** - 4 allocations saved
2. **b** - 3 allocations saved
3. **c** - 1 allocation saved
"""
LISTED = (
    "### Changes ({said} total)\n\n**In a.py**\n1. One\n2. Two\n\n**In b.py**\n3. Three\n\n## "
    "Next\n1. Else"
)

FIRES: dict[str, list[str]] = {
    "cost_sum": found(
        run(), usage(cost_reported_usd=Decimal("0.2")), usage(cost_reported_usd=Decimal("0.04"))
    ),
    "usage_above_total": found(run(cache_read_tokens=0, usage_cache_read_tokens=30)),
    "cache_split": found(
        run(), usage(cache_write_tokens=5, cache_write_5m_tokens=4, cache_write_1h_tokens=2)
    ),
    "doubtful_usage": found(
        run(),
        usage(tokens_basis="lower_bound", tokens_basis_reason=f"A step has no end. {CUT_OFF}"),
    ),
    "zero_cost": found(run(cost_reported_usd=Decimal(0)), usage(cost_reported_usd=Decimal(0))),
    "guessed_price": found(run(), usage(cost_basis="unknown")),
    "silent_failure": found(run(outcome=Outcome.EXECUTION_ERROR, result=None)),
    "exit_code": found(run(labels={"exit-code": "3"})),
    "success_claimed": found(
        run(outcome=Outcome.MAX_TURNS, result="Perfect! I have successfully completed the task.")
    ),
    "blocked_but_completed": found(
        run(permission_denials=2, result="I need write permission to fix it.")
    ),
    "empty_summary": found(run(num_turns=40, result=" ")),
    "patch_size": found(
        run(patch_files=1, patch_insertions=9, patch_deletions=2),
        changes=(FileChange("a.py", 9, 1),),
    ),
    "read_in_part": found(run(result="word " * 10), text="word"),
    "text_repaired": found(run(result_repaired=True)),
    "count_mismatch": found(run(result=COUNTED.format(said=5))),
    "list_length": found(run(result=LISTED.format(said=4))),
    "ratio_mismatch": found(
        run(), claims=(claim("100 ms → 50 ms (80% faster)", 2.0, before=100.0, after=50.0),)
    ),
    "implausible_speedup": found(
        run(), claims=(claim("1000x", 1000.0, evidence=Evidence.STATED), claim())
    ),
    "micro_benchmark_only": found(run(), claims=(claim(scope=Scope.MICRO),)),
    "unmeasured_claim": found(run(), claims=(claim(evidence=Evidence.STATED),)),
}
SILENT: dict[str, list[list[str]]] = {
    "cost_sum": [
        found(run(), usage(cost_reported_usd=Decimal("0.2500000001"))),
        found(run(), usage(), usage(cost_reported_usd=None)),
        found(run(cost_reported_usd=None), usage()),
    ],
    "usage_above_total": [
        found(run(input_tokens=30, usage_input_tokens=30)),
        found(run(usage_input_tokens=30)),
    ],
    "cache_split": [
        found(run(), usage(cache_write_tokens=6, cache_write_5m_tokens=4)),
        found(run(), usage(cache_write_5m_tokens=4)),
    ],
    "doubtful_usage": [
        found(run(), usage()),
        found(run(), usage(tokens_basis="upper_bound", tokens_basis_reason="It was forked.")),
    ],
    "zero_cost": [
        found(run(cost_reported_usd=Decimal(0), output_tokens=0, duration_api_ms=0)),
        found(run(cost_reported_usd=None)),
        found(
            run(cost_reported_usd=Decimal(0)),
            usage(cost_reported_usd=Decimal(0), model_id="z-ai/glm-4.7:free", output_tokens=20),
        ),
    ],
    "guessed_price": [found(run(), usage(cost_basis="list"))],
    "silent_failure": [
        found(run(outcome=Outcome.EXECUTION_ERROR, result=None, errors="boom")),
        found(run(outcome=Outcome.MAX_TURNS, result=None)),
    ],
    "exit_code": [
        found(run(labels={"exit-code": "0"})),
        found(run(labels={"exit-code": "three"})),
        found(run(labels={"exit-code": "1"}, outcome=Outcome.API_ERROR)),
    ],
    "success_claimed": [
        found(run(result="Perfect! All is done.")),
        found(run(outcome=Outcome.API_ERROR, result="API Error: 500")),
    ],
    "blocked_but_completed": [
        found(
            run(result="I need write permission to fix it.")
        ),  # somebody else's, perhaps: no call was denied
        found(
            run(
                permission_denials=2,
                result="The story is unblocked; file permissions are set by install -m 755.",
            )
        ),
        found(run(permission_denials=2, outcome=Outcome.INTERRUPTED, result="I'm blocked.")),
    ],
    "empty_summary": [
        found(run(num_turns=2, result="")),
        found(run(num_turns=40, outcome=Outcome.MAX_TURNS, result=None)),
    ],
    "patch_size": [
        found(
            run(patch_files=1, patch_insertions=9, patch_deletions=1),
            changes=(FileChange("a.py", 9, 1),),
        ),
        found(
            run(patch_files=2, patch_insertions=9, patch_deletions=2),
            changes=(FileChange("a.py", 9, 1),),
        ),
        found(
            run(patch_files=1, patch_insertions=9, patch_deletions=2),
            changes=(FileChange("a.py", 9),),
        ),
    ],
    "read_in_part": [found(run(result="word"))],
    "text_repaired": [found(run())],
    "count_mismatch": [
        found(run(result=COUNTED.format(said=8))),
        found(run(result=COUNTED.format(said=3))),  # it may count the items
        found(
            run(result=COUNTED.format(said=5).replace("1 allocation saved", "an allocation saved"))
        ),
        found(run(result=COUNTED.format(said=5).replace("3 allocations", "3 call sites"))),
        found(
            run(
                result=COUNTED.format(said=5).replace(
                    "\n\n1.", "\n\nOther news:\n" + "text\n" * 20 + "1."
                )
            )
        ),
    ],
    "list_length": [
        found(run(result=LISTED.format(said=3))),
        found(run(result=LISTED.format(said=4).replace("3. Three", "1. Three"))),
    ],
    "ratio_mismatch": [
        found(run(), claims=(claim(quote, ratio, before=before, after=after),))
        for quote, ratio, before, after in (
            ("100 ms → 50 ms (50% faster)", 2.0, 100.0, 50.0),
            ("100 ms → 50 ms (100% faster)", 2.0, 100.0, 50.0),
            ("0.4s → 0.2s (45% faster)", 2.0, 0.4, 0.2),  # 0.44 s → 0.24 s would be written so
            ("1.2 s → 300 ms (4x)", 4.0, 1.2, 300.0),
            (">3000ms → 26 ms (100x+ faster)", 115.4, 3000.0, 26.0),
            ("100 ms → 50 ms, 3% of all, 80% cached", 2.0, 100.0, 50.0),
            ("100 ms → 4 ms (20–30x faster)", 25.0, 100.0, 4.0),
        )
    ],
    "implausible_speedup": [
        found(run(), claims=(claim("1000x", 1000.0),)),
        found(run(), claims=(claim("99x", 99.0, evidence=Evidence.STATED),)),
        found(run(), claims=(claim("99.6% less", 250.0, evidence=Evidence.STATED),)),
        found(
            run(),
            claims=(
                claim("425x", 425.0, evidence=Evidence.STATED),
                claim("17 s → 0.04 s", 425.0, evidence=Evidence.FIGURES),
            ),
        ),
    ],
    "micro_benchmark_only": [
        found(run(), claims=(claim(scope=Scope.MICRO), claim(scope=Scope.END_TO_END))),
        found(
            run(),
            claims=(
                claim(scope=Scope.MICRO),
                claim("no change", 1.0, direction=Direction.SAME, scope=Scope.COMPONENT),
            ),
        ),
        found(run(), claims=(claim(scope=Scope.MICRO, evidence=Evidence.FIGURES),)),
        found(run(), claims=(claim(scope=Scope.UNSPECIFIED),)),
        found(run(), claims=(claim(scope=Scope.MICRO, origin=Origin.CITED),)),
    ],
    "unmeasured_claim": [
        found(run(), claims=(claim(evidence=Evidence.STATED), claim(evidence=Evidence.FIGURES))),
        found(
            run(), claims=(claim(evidence=Evidence.STATED, kind=ClaimKind.QUALITATIVE, ratio=None),)
        ),
        found(run(), claims=(claim(evidence=Evidence.ESTIMATED, direction=Direction.WORSE),)),
    ],
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_fires_where_it_should_and_only_there(name: str) -> None:
    assert name in FIRES[name]
    assert [case for case in SILENT[name] if name in case] == []


def test_an_arrow_of_ascii_is_no_bound() -> None:
    assert "ratio_mismatch" in found(
        run(), claims=(claim("100 ms -> 50 ms (80% faster)", 2.0, before=100.0, after=50.0),)
    )


@pytest.mark.parametrize(("text", "rule"), [(COUNTED, "count_mismatch"), (LISTED, "list_length")])
def test_an_item_of_any_length_is_one_item(text: str, rule: str) -> None:
    """Lines of more than 400 characters ended a list.

    What came after them was missing from the sum.
    """
    long = text.replace("2. ", f"2. {'word ' * 200}")
    right, wrong = (8, 4) if rule == "count_mismatch" else (3, 4)
    assert rule not in found(run(result=long.format(said=right)))
    assert rule in found(run(result=long.format(said=wrong)))


def test_nothing_is_found_in_an_ordinary_run() -> None:
    assert (
        found(
            run(input_tokens=10, usage_input_tokens=10),
            usage(cache_write_tokens=0),
            claims=(claim(),),
        )
        == []
    )


def test_a_finding_says_what_was_expected_and_what_was_found() -> None:
    rows = (usage(cost_reported_usd=Decimal("0.2")),)
    [finding] = audit(Facts(run(), rows, str(run().result), (), Statements()))
    assert (finding.severity, finding.expected, finding.actual) == (Severity.ERROR, "$0.2", "$0.25")


@pytest.mark.slow
def test_the_count_of_the_sample_that_does_not_add_up() -> None:
    """Its headline says 14 instances, its list adds up to 20, and so does its patch."""
    rows = {path.name[:3]: _rows(path.read_text()) for path in SAMPLES.iterdir()}
    [finding] = [finding for finding in rows["000"].findings if finding.rule == "count_mismatch"]
    assert (finding.expected, finding.actual) == ("20", "14")
    assert finding.message.endswith(
        "the 7 items listed below it add up to 20, and elsewhere it says 20 replacements."
    )
    assert [finding.rule for finding in rows["003"].findings] == ["text_repaired"]
    assert not [
        finding
        for sample in rows.values()
        for finding in sample.findings
        if finding.severity is Severity.ERROR
    ]


def _rows(text: str) -> Any:
    rows = read_record(Document(0, "line 1", text), NO_FACTS)
    return rows and complete([rows])[0]


def _numbered(table: str, *made: Rows) -> list[tuple[str, int]]:
    return [
        (rows.run.run_id, number)
        for rows in made
        for number in range(1, len(getattr(rows, table)) + 1)
    ]


def test_the_facts_of_a_record_are_rows_of_the_store() -> None:
    """Numbered from 1 in each run, each with its run, every value as its column wants it."""
    stated = "Committed as 1a2b3c4.\n\nFiles modified:\n- `a/b.py` (3 insertions, 1 deletion)"
    text = f"{stated}\n\nBenchmarks show the query went from 90 ms to 30 ms."
    rows, other = (
        _rows(record_text(result=text)),
        _rows(record_text(uuid="other", result="Committed as 5e6f7a8; 2x faster, 3x leaner.")),
    )
    tables = {
        table.name: table.rows.to_pylist()
        for table in tables_of([rows, _rows(record_text(uuid="none", result="")), other])
    }
    assert [(row["run_id"], row["statement_no"]) for row in tables["statements"]] == _numbered(
        "statements", rows, other
    )
    assert [(row["run_id"], row["claim_no"]) for row in tables["claims"]] == _numbered(
        "claims", rows, other
    )
    assert [row["path"] for row in tables["file_changes"]] == ["a/b.py"]
    assert rows.run.claimed_speedup == pytest.approx(3.0)
    assert (rows.run.findings, rows.run.error_findings) == (len(rows.findings), 0)


def test_a_run_without_a_summary_claims_nothing_that_is_known() -> None:
    columns = facts_with((), "", run(result=None), ()).columns
    assert (columns["claims"], columns["findings"]) == (None, 0)
    assert facts_with((), "Done.", run(result="Done."), ()).columns["claims"] == 0


MICRO = claim("9x", 9.0, scope=Scope.MICRO)
COMPONENT = claim("3x", 3.0, scope=Scope.COMPONENT, evidence=Evidence.FIGURES)
STATED = claim("40x", 40.0, evidence=Evidence.STATED)


@pytest.mark.parametrize(
    ("claims", "best"),
    [
        ((MICRO, COMPONENT, STATED), COMPONENT),
        ((MICRO, STATED), MICRO),
        ((STATED, STATED._replace(start=9, ratio=50.0)), STATED),
        (
            (COMPONENT, COMPONENT._replace(evidence=Evidence.BENCHMARKED, start=5)),
            COMPONENT._replace(evidence=Evidence.BENCHMARKED, start=5),
        ),
        (
            (MICRO, MICRO._replace(scope=Scope.UNSPECIFIED, ratio=2.0)),
            MICRO._replace(scope=Scope.UNSPECIFIED, ratio=2.0),
        ),
        (
            (
                claim(metric=ClaimMetric.MEMORY),
                claim(direction=Direction.WORSE, ratio=0.5),
                claim(origin=Origin.CITED),
                claim(ratio=None),
            ),
            None,
        ),
    ],
)
def test_the_headline_is_the_claim_that_says_most_about_the_whole(
    claims: tuple[Claim, ...], best: Claim | None
) -> None:
    assert headline(claims) == best
    assert headline(tuple(reversed(claims))) == best


def test_claims_that_count_are_the_runs_own_numbers() -> None:
    text = json.loads((SAMPLES / "002_89fb9a76eb7725c5.txt").read_text())["result"]
    columns = facts_with(extract(text, 0), text, run(result=text), ()).columns
    assert (columns["claims"], columns["claimed_speedup"], columns["claimed_evidence"]) == (
        2,
        3.17,
        Evidence.BENCHMARKED,
    )


@pytest.mark.parametrize(
    "words",
    [
        ("I still need write "
"permission"), ("It needs your "
"approval"), ("I am waiting for your final "
"approval"),
        ("This requires manual "
"approval"), ("I don't have the "
"access"), ("I'm unable to edit "
"it"), ("I cannot "
"proceed"), ("I can't apply "
"it"),
        ("All write operations were "
"denied"), ("The commands are being "
"rejected"), ("It was blocked by the "
"sandbox"),
    ],
)  # fmt: skip
def test_whatever_the_words_for_a_missing_permission_the_first_of_them_are_quoted(
    words: str,
) -> None:
    text = f"The permissions of `install` are set.\nNext: {words}.\nI cannot make it."
    (finding,) = audit(Facts(run(permission_denials=1), (), text, (), Statements()))
    assert finding.rule == "blocked_but_completed"
    assert f"“Next: {words}”" in finding.message


def test_every_rule_has_a_case_on_either_side() -> None:
    assert set(FIRES) == set(SILENT) == set(RULES)
    assert Counter(severity for severity, _ in RULES.values())[Severity.ERROR] == 1


@pytest.mark.parametrize(
    ("found", "row", "known"),
    [
        (Claim, ClaimRow, 2),
        (Statement, StatementRow, 2),
        (FileChange, FileChangeRow, 1),
        (Finding, FindingRow, 1),
    ],
)
def test_what_is_found_has_the_fields_of_its_row_in_their_order(
    found: type[Any], row: type[Row], known: int
) -> None:
    """`complete` fills rows by place."""
    assert tuple(row.columns)[known:] == found._fields
