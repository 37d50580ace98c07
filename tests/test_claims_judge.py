"""The fitted judge: what it hides, what its table of weights holds, and how it is fitted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.claims import extract
from ingest.claims.extraction import effects_of, judged, measured_of
from ingest.claims.model import features_of, weights
from ingest.claims.search import find_triggers
from ingest.claims.words import TABLES, needed
from schemas.claims import ClaimKind, Scope
from schemas.rows.confidence import SHOWN_FROM
from tests.labelled import fitting
from tests.labelled.texts import LABELLED, labelled_texts


def confidences(text: str) -> list[float]:
    return [claim.confidence for claim in extract(text, 0) if claim.confidence is not None]


@pytest.mark.parametrize(
    "text",
    [
        "fix: flaky upload\n\n- Increased the timeout from 30s to 60s\n- Retry delay: 1s → 5s",
        "- Increase cache TTL: 5 min → 10 min",
        "Balance patch: the dagger's cooldown went from 10 s to 8 s.",
        "Increase the number of calls from 5 to 30",
    ],
)
def test_a_setting_is_not_shown(text: str) -> None:
    assert not [claim for claim in extract(text) if claim.kind is ClaimKind.QUANTIFIED]


def test_what_is_plainly_a_claim_is_almost_sure() -> None:
    text = (
        "perf: cache the index\n\nBenchmarked on 10,000 rows: the query takes 12 ms instead of "
        "36 ms (3x faster)."
    )
    assert min(confidences(text)) > 0.95


def test_a_change_is_surer_in_a_text_about_speed() -> None:
    line = "- the page is 1.4x lighter on long inputs, memory 30 MB to 20 MB"
    elsewhere = confidences(f"Add docs\n\n{line}")
    in_context = confidences(
        f"perf: faster decoding\n\nThroughput and latency were benchmarked.\n\n{line}"
    )
    assert min(elsewhere) < min(in_context)


@pytest.mark.slow
@given(text=st.sampled_from([one.text for one in labelled_texts()]), least=st.floats(0, 1))
def test_asking_for_less_confidence_never_hides_a_claim_with_a_number(
    text: str, least: float
) -> None:
    every = [claim for claim in extract(text, 0) if claim.kind is ClaimKind.QUANTIFIED]
    shown = [claim for claim in extract(text, least) if claim.kind is ClaimKind.QUANTIFIED]
    assert shown == [
        claim for claim in every if claim.confidence is not None and claim.confidence >= least
    ]


def test_claims_without_a_number_do_not_depend_on_the_threshold() -> None:
    text = "Reduce the timeout from 30s to 60s and eliminate redundant allocations in the loop."
    of_kinds = [
        [claim for claim in extract(text, least) if claim.kind is ClaimKind.QUALITATIVE]
        for least in (0, SHOWN_FROM, 1)
    ]
    assert of_kinds[0] == of_kinds[1] == of_kinds[2]


LOOKED_FOR = [
    ("not_claims", "settings"),
    *(("evidence", name) for name in ("measured", "tools", "machines")),
]
"""Words whose expressions run only near their needed part."""


@given(data=st.data(), table=st.sampled_from(LOOKED_FOR))
def test_each_match_of_a_word_has_its_needed_part(
    data: st.DataObject, table: tuple[str, str]
) -> None:
    """Else the expression is skipped where it would match."""
    section, name = table
    part, word = data.draw(
        st.sampled_from(list(zip(needed(section, name), TABLES[section][name], strict=True)))
    )
    assert len(part) > 1
    assert part in data.draw(st.from_regex(word))


@pytest.mark.slow
def test_each_weight_is_of_a_feature_that_some_claim_has() -> None:
    """A feature renamed in the code leaves its weight behind, and the model is another one."""
    assert weights().keys() == {"confidence", *(scope.value for scope in Scope)}
    texts = [*(one.text for one in labelled_texts()), *EXTRA]
    found = [(text, measured_of(effects_of(text, find_triggers(text)[0]))) for text in texts]
    seen = {
        name
        for text, own in found
        for _, candidate in judged(text, own)
        for name in features_of(candidate)
    }
    assert {name for table in weights().values() for name in table} - seen <= {"intercept"}


EXTRA = (
    (
        "perf: `run` in a tight loop\n\n- Before: `bench_scratch` took 120 ns per iteration\n- "
        "After: 80 ns"
    ),
    "perf: keys\n\n### The hash function\n\nbaseline_ms=3.9, optimized_ms=2.1",
    (
        "Shares: latency share 0.5 → 0.25 at 50,000 requests/s\n\n### Test suite of the training "
        "step in CI, 64 MB RSS → 32 MB"
    ),
)


@pytest.mark.slow
def test_fitting_moves_the_weights_and_judges_each_file_without_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["fitting", str(LABELLED)])
    fitting.main()
    assert f"{SHOWN_FROM:.2f} all" in capsys.readouterr().out
