"""The fitted judge: what it hides, what its tables of weights hold, and how they are fitted."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.claims import extract
from ingest.claims.judge import confidence, scope
from schemas.rows.claim import ClaimKind, Scope
from schemas.rows.confidence import SHOWN_FROM
from tests.labelled.texts import LABELLED, labelled_texts

ROOM = Path(confidence.__file__).parent


def confidences(text: str) -> list[float]:
    return [claim.confidence for claim in extract(text, 0) if claim.confidence is not None]


@pytest.mark.parametrize(
    "text",
    [
        "fix: flaky upload\n\n- Increased the timeout from 30s to 60s\n- Retry delay: 1s → 5s",
        "- Increase cache TTL: 5 min → 10 min",
        "Balance patch: the dagger's cooldown went from 10 s to 8 s.",
    ],
)
def test_a_setting_is_kept_and_hidden(text: str) -> None:
    found = confidences(text)
    assert found
    assert max(found) < SHOWN_FROM
    assert not [claim for claim in extract(text) if claim.kind is ClaimKind.QUANTIFIED]


def test_what_is_plainly_a_claim_is_almost_sure() -> None:
    assert (
        min(confidences("perf: cache the index\n\nBenchmarked on 10,000 rows: the query takes 12 ms instead of 36 ms (3x faster).")) > 0.95
    )


def test_a_bare_factor_is_surer_in_a_text_about_speed() -> None:
    line = "- decode: 1.4x on long inputs"
    [elsewhere] = confidences(f"Add docs\n\n{line}")
    [in_context] = confidences(f"perf: faster decoding\n\nThroughput and latency were benchmarked.\n\n{line}")
    assert elsewhere < in_context


@pytest.mark.slow
@given(text=st.sampled_from([one.text for one in labelled_texts()]), least=st.floats(0, 1))
def test_asking_for_less_confidence_never_hides_a_claim_with_a_number(text: str, least: float) -> None:
    every = [claim for claim in extract(text, 0) if claim.kind is ClaimKind.QUANTIFIED]
    shown = [claim for claim in extract(text, least) if claim.kind is ClaimKind.QUANTIFIED]
    assert shown == [claim for claim in every if claim.confidence is not None and claim.confidence >= least]


def test_claims_without_a_number_do_not_depend_on_the_threshold() -> None:
    text = "Reduce the timeout from 30s to 60s and eliminate redundant allocations in the loop."
    of_kinds = [[claim for claim in extract(text, least) if claim.kind is ClaimKind.QUALITATIVE] for least in (0, SHOWN_FROM, 1)]
    assert of_kinds[0] == of_kinds[1] == of_kinds[2]


@pytest.mark.parametrize("model", [confidence, scope])
def test_the_tables_name_features_that_exist(model: object) -> None:
    tables = tomllib.loads((ROOM / f"{model.__name__.rpartition('.')[2]}.toml").read_text(encoding="utf-8"))  # type: ignore[attr-defined]
    weights = tables["weights"] if "weights" in tables else {name for table in tables.values() for name in table["weights"]}
    features = [feature.name for feature in model.FEATURES]  # type: ignore[attr-defined]
    assert len(features) == len(set(features))
    assert set(weights) <= set(features)


def test_each_scope_has_its_weights() -> None:
    assert set(tomllib.loads((ROOM / "scope.toml").read_text(encoding="utf-8"))) == set(Scope)


@pytest.mark.slow
def test_fitting_writes_tables_of_the_same_form() -> None:
    from tests.labelled.fitting import fit_confidence, fit_scope, read

    texts = read(LABELLED)
    lines, table = fit_confidence(texts, SHOWN_FROM)
    assert tomllib.loads(table)["weights"].keys() <= {feature.name for feature in confidence.FEATURES}
    assert any(line.startswith("written") for line in lines)
    of_scopes = tomllib.loads(fit_scope(texts)[1])
    assert all(part["weights"].keys() <= {feature.name for feature in scope.FEATURES} for part in of_scopes.values())
