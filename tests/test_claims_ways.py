"""Each way to write a claim is needed: without it, its example gives another claim or none."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.claims import extract
from ingest.claims.changes import changes, idioms
from ingest.claims.numbers.effect import Way
from ingest.claims.pairs import pairs
from ingest.claims.tables import tables

REGISTRIES = [(pairs, "WAYS"), (tables, "WAYS"), (changes, "WAYS_OF_VALUES"), (changes, "WAYS_OF_CHANGES")]
WAYS = [(module, registry, way) for module, registry in REGISTRIES for way in getattr(module, registry)]


def told(text: str) -> str:
    claim = next(iter(extract(text)), None)
    return f"{claim.metric.value} {f'{claim.ratio:.3g}' if claim.ratio else 'none'}" if claim else "nothing"


@pytest.mark.parametrize(("module", "registry", "way"), WAYS, ids=[way.name for *_, way in WAYS])
def test_each_way_reads_its_example(module: object, registry: str, way: Way[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(way.example) == way.claim
    found = extract(way.example)
    monkeypatch.setattr(module, registry, tuple(other for other in getattr(module, registry) if other is not way))
    assert extract(way.example) != found


@pytest.mark.parametrize("idiom", idioms.IDIOMS, ids=[idiom.example for idiom in idioms.IDIOMS])
def test_each_idiom_reads_its_example(idiom: idioms.Idiom, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(idiom.example) == idiom.claim
    found = extract(idiom.example)
    monkeypatch.setattr(idioms, "IDIOMS", tuple(other for other in idioms.IDIOMS if other is not idiom))
    assert extract(idiom.example) != found
