"""Rules: each fires where a sober reader would look twice, and is silent beside it.

A false alarm costs more than a miss.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.agents.base import Rows
from ingest.claims import Claim, extract
from ingest.facts import NO_FACTS
from ingest.findings.rules import RULES, AuditedRun, Finding, audit
from ingest.findings.statements import FileChange, Statement, Statements
from ingest.findings.summary_facts import complete, facts_with, headline
from ingest.sources.document import Document
from ingest.store.record_rows import read_record, tables_of
from schemas.claims import ClaimKind, ClaimMetric, Direction, Evidence, Origin, Scope
from schemas.rows.claim import ClaimRow, StatementRow
from schemas.rows.row import Row
from schemas.rows.run import FileChangeRow, ModelUsageRow, Outcome, RunRow
from schemas.rows.source import FindingRow, Severity
from tests.conftest import SAMPLES, record_text


def typed(values: dict[str, Any]) -> dict[str, Any]:
    """Values of JSON as rows have them."""
    return {
        name: TYPES[name](value) if name in TYPES and value is not None else value
        for name, value in values.items()
    }


TYPES: dict[str, Any] = {
    "outcome": Outcome,
    "cost_reported_usd": Decimal,
    "kind": ClaimKind,
    "metric": ClaimMetric,
    "direction": Direction,
    "evidence": Evidence,
    "scope": Scope,
    "origin": Origin,
}
PLAIN_RUN = {
    "run_id": "r",
    "outcome": "completed",
    "num_turns": 3,
    "cost_reported_usd": "0.25",
    "output_tokens": 20,
    "permission_denials": 0,
    "result": "Done.",
}
"""A run of which nothing is remarkable."""


def run(**changes: Any) -> RunRow:
    return RunRow(**typed(PLAIN_RUN | changes))


def usage(**changes: Any) -> ModelUsageRow:
    model = "claude-opus-4-6"
    plain = {"run_id": "r", "model_id": model, "model": model, "cost_reported_usd": "0.25"}
    return ModelUsageRow(**typed(plain | changes))


def claim(quote: str = "2x faster", ratio: float | None = 2.0, **changes: Any) -> Claim:
    plain = dict.fromkeys(Claim._fields) | {
        "start": 0,
        "end": len(quote),
        "kind": "quantified",
        "metric": "time",
        "direction": "better",
        "evidence": "benchmarked",
        "scope": "end_to_end",
        "hedged": False,
        "origin": "own",
        "confidence": 1.0,
    }
    return Claim(**typed(plain | {"quote": quote, "ratio": ratio} | changes))


CASES: dict[str, Any] = json.loads(
    (Path(__file__).parent / "golden/findings.json").read_text(encoding="utf-8")
)
"""Rule → what makes it fire, and what is like it and does not."""


def found(case: Mapping[str, Any]) -> list[str]:
    """The rules that fire for a run with these changes, usage, claims and changes of files."""
    made = run(**case.get("run", {}))
    facts = AuditedRun(
        made,
        [usage(**one) for one in case.get("usage", ())],
        case.get("text", str(made.result or "")),
        tuple(claim(**one) for one in case.get("claims", ())),
        Statements(tuple(FileChange(*one) for one in case.get("changes", ()))),
    )
    return [finding.rule for finding in audit([facts])[0]]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_fires_where_it_should_and_only_there(rule: str) -> None:
    assert [case for case in CASES[rule]["fires"] if rule not in found(case)] == []
    assert [case for case in CASES[rule]["silent"] if rule in found(case)] == []


@pytest.mark.parametrize("rule", ["count_mismatch", "list_length"])
def test_an_item_of_any_length_is_one_item(rule: str) -> None:
    """Lines of more than 400 characters ended a list.

    What came after them was missing from the sum.
    """
    [wrong], [right, *_] = CASES[rule]["fires"], CASES[rule]["silent"]
    for case, fires in ((wrong, True), (right, False)):
        long = case["run"]["result"].replace("2. ", f"2. {'word ' * 200}")
        assert (rule in found({"run": {"result": long}})) is fires


def test_nothing_is_found_in_an_ordinary_run() -> None:
    tokens = {"input_tokens": 10, "usage_input_tokens": 10}
    assert found({"run": tokens, "usage": [{"cache_write_tokens": 0}], "claims": [{}]}) == []


def test_a_finding_says_what_was_expected_and_what_was_found() -> None:
    rows = (usage(cost_reported_usd=Decimal("0.2")),)
    [[finding]] = audit([AuditedRun(run(), rows, str(run().result), (), Statements())])
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
    columns = facts_with([()], [""], [Rows(run(result=None))])[0].columns
    assert (columns["claims"], columns["findings"]) == (None, 0)
    assert facts_with([()], ["Done."], [Rows(run(result="Done."))])[0].columns["claims"] == 0


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
    columns = facts_with([extract(text, 0)], [text], [Rows(run(result=text))])[0].columns
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
    [[finding]] = audit([AuditedRun(run(permission_denials=1), (), text, (), Statements())])
    assert finding.rule == "blocked_but_completed"
    assert f"“Next: {words}”" in finding.message


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
