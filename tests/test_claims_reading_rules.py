"""Each rule that reads a claim is needed: without it, its example gives another claim or none."""

from __future__ import annotations

import re
from pkgutil import resolve_name
from typing import Any

import pytest

import ingest.claims
from ingest.claims.changes import idioms, single_numbers
from ingest.claims.numbers.effect import ReadingRule
from ingest.claims.pairs import running_text
from ingest.claims.tables import table_effects
from tests.claims_read import claims_read

REGISTRIES = [(running_text, "RULES"), (table_effects, "RULES"), (single_numbers, "RULES_OF_VALUES"), (single_numbers, "RULES_OF_CHANGES")]
RULES = [(module, registry, rule) for module, registry in REGISTRIES for rule in getattr(module, registry)]


def first_claim(text: str) -> str:
    claim = next(iter(claims_read(text)), None)
    return f"{claim.metric.value} {f'{claim.ratio:.3g}' if claim.ratio else 'none'}" if claim else "nothing"


@pytest.mark.parametrize(("module", "registry", "rule"), RULES, ids=[rule.name for *_, rule in RULES])
def test_each_rule_reads_its_example(module: object, registry: str, rule: ReadingRule[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert first_claim(rule.example) == rule.claim
    found = claims_read(rule.example)
    monkeypatch.setattr(module, registry, tuple(other for other in getattr(module, registry) if other is not rule))
    assert claims_read(rule.example) != found


@pytest.mark.parametrize("idiom", idioms.IDIOMS, ids=[idiom.example for idiom in idioms.IDIOMS])
def test_each_idiom_reads_its_example(idiom: idioms.Idiom, monkeypatch: pytest.MonkeyPatch) -> None:
    assert first_claim(idiom.example) == idiom.claim
    found = claims_read(idiom.example)
    monkeypatch.setattr(idioms, "IDIOMS", tuple(other for other in idioms.IDIOMS if other is not idiom))
    assert claims_read(idiom.example) != found


def test_the_map_of_the_extractor_names_functions_that_are_there() -> None:
    steps = re.findall(r"^\|[^|]+\|([^|]+)\|", ingest.claims.__doc__ or "", re.MULTILINE)
    names = re.findall(r"`([a-z_.]+\.[a-z_.]+)`", " ".join(steps))
    assert len(names) > 15
    for name in names:
        resolve_name(f"ingest.claims.{name}")
