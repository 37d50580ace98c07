"""The claim extractor: what is a claim, with which ratio, what is not; no text can harm it."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import ingest.claims
from app.cli.main import cli
from ingest.claims import Claim, extract
from ingest.claims.extraction import MOST_CLAIMS
from ingest.claims.numbers import Kind, quantities
from ingest.claims.search import find_triggers
from schemas.claims import ClaimKind, ClaimMetric, Direction, Evidence, Scope
from schemas.rows.confidence import SHOWN_FROM
from tests.conftest import ROOT, SAMPLES

GOLDEN = json.loads((ROOT / "tests/golden/claims.json").read_text(encoding="utf-8"))
"""Texts with the claims in them (a ratio may be a quotient, `3 / 2`), and texts without one."""


def quantified(text: str, least_confidence: float = 0) -> list[Claim]:
    return [
        claim for claim in extract(text, least_confidence) if claim.kind is ClaimKind.QUANTIFIED
    ]


@pytest.mark.parametrize(
    ("text", "claims"),
    [case for cases in GOLDEN["claims with a number"].values() for case in cases],
)
def test_what_a_text_claims(text: str, claims: list[dict[str, Any]]) -> None:
    """As many claims, with these fields, and the direction of their ratio."""
    found = quantified(text)
    assert len(found) == len(claims), [(claim.quote, claim.ratio) for claim in found]
    for claim, expected in zip(found, claims, strict=True):
        for name, value in expected.items():
            if isinstance(value, str) and name == "ratio":
                upper, lower = map(float, value.split("/"))
                assert claim.ratio == pytest.approx(upper / lower)
            elif name == "quote":
                assert claim.quote.startswith(value)
            else:
                assert getattr(claim, name) == pytest.approx(value)
        if claim.ratio is not None:
            sign = (claim.ratio > 1) - (claim.ratio < 1)
            assert claim.direction is (Direction.SAME, Direction.BETTER, Direction.WORSE)[sign]


@pytest.mark.parametrize("text", GOLDEN["no claim on performance"])
def test_what_is_no_claim_on_performance_is_none(text: str) -> None:
    assert quantified(text, SHOWN_FROM) == []


@pytest.mark.parametrize(("text", "quotes"), GOLDEN["claims without a number"])
def test_claims_without_a_number(text: str, quotes: list[str]) -> None:
    assert [claim.quote for claim in extract(text) if claim.kind is ClaimKind.QUALITATIVE] == quotes


def test_the_samples_claim_two_speedups_and_no_other_ratio() -> None:
    texts = [json.loads(path.read_text())["result"] for path in sorted(SAMPLES.iterdir())]
    speedups = [claim for text in texts for claim in extract(text) if claim.ratio is not None]
    assert [claim.ratio for claim in speedups] == [3.17, 1.42]
    assert {(claim.metric, claim.scope, claim.evidence) for claim in speedups} == {
        (ClaimMetric.TIME, Scope.MICRO, Evidence.BENCHMARKED)
    }


def test_a_text_without_a_trigger_is_not_read_further() -> None:
    assert find_triggers(
        "Replaced `torch.ones` → `torch.empty` (line 347) in 14 places; 100 tests pass from now on."
    ) == ([], [])


@pytest.mark.parametrize(
    ("text", "kind", "low", "high"),
    [
        ("~1.2 s", Kind.VALUE, 1.2, 1.2),
        ("1,234,567 B", Kind.VALUE, 1234567, 1234567),
        ("200K-400K", Kind.VALUE, 200_000, 400_000),
        ("1m30s", Kind.VALUE, 90, 90),
        ("10–50×", Kind.TIMES, 10, 50),
        ("-27.7%", Kind.PERCENT, 27.7, 27.7),
        ("2,5x", Kind.TIMES, 2.5, 2.5),
    ],
)
def test_quantities_are_read_as_written(text: str, kind: Kind, low: float, high: float) -> None:
    (quantity,) = quantities(text, 0, len(text))
    assert (quantity.kind, quantity.low, quantity.high) == (kind, low, high)


PIECES = st.sampled_from(
    "3x; faster;12 ms; → ;->;40%; less memory;from ; to ;85s;|;\n;- ;Before: ;After: ;(;);~".split(
        ";"
    )
)


@pytest.mark.parametrize(
    "text",
    [
        # more digits than a quantity has
        "3x faster parsing, and the step took 12.5 ms (+2.30000000000000000000000003%).",
        # letters that only Unicode's rules of case make those of `six` and `five`
        "3x faster parsing, ſix times faster lookups.",
        "3x faster parsing, fıve times faster lookups.",
    ],
)
def test_what_is_almost_a_number_is_passed_over(text: str) -> None:
    assert [claim.quote for claim in extract(text)] == ["3x faster"]


@given(
    st.text(alphabet=st.characters())
    | st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join)
)
def test_claims_keep_their_invariants_on_any_text(text: str) -> None:
    claims = extract(text)
    assert list(claims) == sorted(claims, key=lambda claim: (claim.start, claim.end))
    assert len({(claim.start, claim.end) for claim in claims}) == len(claims)
    for claim in claims:
        assert 0 <= claim.start < claim.end <= len(text)
        assert claim.quote == text[claim.start : claim.end]
        for number in (claim.ratio, claim.ratio_low, claim.ratio_high):
            assert number is None or (number > 0 and math.isfinite(number))
        if claim.ratio is not None and claim.ratio_low is not None and claim.ratio_high is not None:
            assert claim.ratio_low <= claim.ratio <= claim.ratio_high


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        *("1x ", "1 ", "9", "|", ("| "
"1x "), "1→", "1s→2s ", "1%", " ", ("from 1 "
"to "), ("3x "
"faster "), "(", ("- Before: "
"1s\n"), "1-", "`"),
        *("half ", "reduces me"),
    ],
)  # fmt: skip
def test_work_grows_with_the_length_of_the_text(unit: str) -> None:
    """Four times the text takes about four times the time.

    Backtracking would take sixteen times and more.
    """
    length = 3_000
    short, long = unit * (length // len(unit)), unit * (4 * length // len(unit))
    assert seconds(long) < 10 * seconds(short) + 0.1


def seconds(text: str) -> float:
    best = math.inf
    for _ in range(2):
        started = time.process_time()
        extract(text)
        best = min(best, time.process_time() - started)
    return best


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "It is 3x faster.\n\n",
        "1x ",
        "1s→2s ",
        "| 1 ms → 2 ms |\n",
        "baseline 1:1 ",
        "baseline_ms=3 optimized_ms=1, ",
    ],
)
def test_a_megabyte_of_claims_is_cut_off(unit: str) -> None:
    """The bound is generous: it fails only where each claim costs more the more there are."""
    started = time.process_time()
    assert len(quantified(unit * (1_000_000 // len(unit)))) <= MOST_CLAIMS
    assert time.process_time() - started < 10


@pytest.mark.parametrize("source", ["file", "-"])
def test_extract_answers_a_line_for_a_line(tmp_path: Path, source: str) -> None:
    lines = '{"id": "a", "text": "É 3x faster \\ud83d"}\n\n{"id": 2, "text": "no claim"}\n'
    path = tmp_path / "texts.jsonl"
    path.write_text(lines, encoding="utf-8")
    done = CliRunner().invoke(
        cli, ["claims", "extract", str(path) if source == "file" else "-"], input=lines
    )
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["id"], second) == ("a", {"id": 2, "claims": []})
    assert [(claim["start"], claim["quote"], claim["ratio"]) for claim in first["claims"]] == [
        (2, "3x faster", 3.0)
    ]
    assert list(first["claims"][0]) == list(Claim._fields)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not JSON"),
        ("[1]", "no id"),
        ('{"id": 1, "text": null}', "text is not a string"),
        ("\xff", "not JSON"),
    ],
)
def test_a_broken_line_is_reported_with_its_number(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(b'{"id": 1, "text": ""}\n' + line.encode("latin-1") + b"\n")
    done = CliRunner().invoke(cli, ["claims", "extract", str(path)], standalone_mode=False)
    assert done.stdout == '{"id":1,"claims":[]}\n', done.exception
    assert getattr(done.exception, "exit_code", None) == 3
    assert "line 2" in str(done.exception)
    assert said in str(done.exception)


def test_the_rules_stay_small() -> None:
    """Frozen: docs/claims.md says what a rule must show to come in."""
    files = [
        path
        for path in Path(ingest.claims.__file__).parent.iterdir()
        if path.suffix in (".py", ".toml")
    ]
    texts = [path.read_text(encoding="utf-8") for path in files]
    assert len(files) <= 15
    assert sum(len(text) for text in texts) <= 180_000
    assert sum(len(re.findall(r"\bpattern\(|re\.compile\(", text)) for text in texts) <= 120


def test_who_only_names_a_claim_loads_no_rule() -> None:
    """Commands that read a store import the findings, which name claims."""
    loaded = (
        "import sys; import ingest.findings.rules; print([name for name in sys.modules if "
        "name.startswith('ingest.claims.')])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )
