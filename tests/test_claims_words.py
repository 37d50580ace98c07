"""Each entry of the word tables makes its example work: the claim beside it is found, and without the word it is another, or none."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ingest
import schemas
from ingest.claims.find.triggers import find_triggers, literals
from ingest.claims.judge.scope import words_in
from ingest.claims.words.vocabulary import BEGINS, HEDGES, SCOPES
from ingest.claims.words.word_tables import KINDS, Entry, entries, table, trigger_tables
from schemas.rows.claim import Scope
from tests.claims_read import claims_read

FIELDS = {
    "evidence": ("evidence",),
    "origin": ("origin",),
    "hedges words": ("hedged",),
    "labels gain": ("metric", "ratio", "direction"),
}
"""The fields of the claim that the entries of a table, or of one section of it, name."""

OF_THREE_COLUMNS = (
    "comparisons", "verbs", "cjk_changes", "metrics", "settings", "not_performance", "labels", "evidence", "origin", "hedges",
)  # fmt: skip


def first_claim(text: str, *fields: str) -> str:
    """Those fields of the first claim of the text, as the tables write them."""
    claim = next(iter(claims_read(text)), None)
    values = (getattr(claim, field) for field in fields) if claim else ()
    return " ".join(f"{value:.3g}" if isinstance(value, float) else str(value).lower() for value in values) or "none"


def place_of(entry: Entry) -> re.Match[str]:
    """The match of the word in the example; `$` in it matches before a number."""
    match = entry.match.replace("{HEDGES}", HEDGES)
    for begins in (BEGINS, ""):
        word = re.compile(f"{begins}(?:{match})", re.IGNORECASE | re.MULTILINE)
        ends = [len(entry.example), *(number.start() for number in re.finditer(r"\d", entry.example))]
        if found := next(filter(None, (word.search(entry.example, 0, end) for end in ends)), None):
            return found
    pytest.fail(f"the example has no {entry.match}: {entry.example}")


def every_entry() -> Iterator[tuple[str, str, Entry]]:
    for kind in OF_THREE_COLUMNS:
        for section in table(kind):
            yield from ((kind, section, entry) for entry in entries(kind, section))


@pytest.mark.slow
@pytest.mark.parametrize("kind", OF_THREE_COLUMNS)
def test_each_word_makes_its_example_work(kind: str) -> None:
    for _, section, entry in (one for one in every_entry() if one[0] == kind):
        fields = FIELDS.get(f"{kind} {section}") or FIELDS.get(kind, ("metric", "ratio"))
        where = place_of(entry) if section != "arrows" else re.search(re.escape(entry.match), entry.example)
        assert where
        assert first_claim(entry.example, *fields) == entry.claim, entry
        assert first_claim(f"{entry.example[: where.start()]}qux{entry.example[where.end() :]}", *fields) != entry.claim, entry


@pytest.mark.parametrize("scope", SCOPES)
def test_each_word_of_scope_is_seen(scope: Scope) -> None:
    """The weights decide what the scope of a claim is; that its words are seen does not depend on them."""
    for entry in entries("scope", scope.value):
        where = place_of(entry)
        without = f"{entry.example[: where.start()]}qux{entry.example[where.end() :]}"
        seen, others = (words_in(text.lower()).count(scope.name) for text in (entry.example, without))
        assert seen > others, entry


@pytest.mark.parametrize("metric", table("units"))
def test_each_spelling_of_a_unit(metric: str) -> None:
    for names, _, example, claim in table("units")[metric]:
        first, *others = names.split()
        assert f"{first_claim(example, 'metric', 'ratio')} {first}".startswith(claim)
        for name in others:
            assert claim.startswith(first_claim(re.sub(rf"(?<= ){first}(?= |$)", name, example), "metric", "ratio")), name
        assert not claim.startswith(first_claim(example.replace(first, "qux"), "metric", "ratio", "unit")), names


def test_each_number_that_is_written_out() -> None:
    for section, rows in table("numbers").items():
        for word, _, example, claim in rows:
            assert first_claim(example, "metric", "ratio") == claim, (section, word)
            assert first_claim(example.replace(word, "qux"), "metric", "ratio") != claim, (section, word)


def test_each_word_of_a_claim_without_a_number() -> None:
    for section, rows in table("qualitative").items():
        for word, *_, example, claim in rows:
            assert first_claim(example, "metric", "evidence") == claim, (section, word)
            assert first_claim(example.replace(word, "qux"), "metric", "evidence") != claim, (section, word)


@pytest.mark.parametrize("section", trigger_tables())
def test_the_triggers_of_a_table_alone_mark_its_example(section: str) -> None:
    """Without them the text has no trigger, and is read no further."""
    listed = trigger_tables()[section]
    assert first_claim(listed["example"], "metric", "ratio") == listed["claim"]
    without = listed["example"]
    for literal in sorted(literals(section), key=len, reverse=True):
        without = without.replace(literal, "qux")
    assert find_triggers(without)[0] == []
    assert claims_read(without) == ()


def test_every_table_is_tested_here() -> None:
    assert set(KINDS) == {*OF_THREE_COLUMNS, "scope", "units", "numbers", "qualitative", "triggers"}


NEW_WORDS = [
    ("units", "time", ["jiffy jiffies", 0.004], "Load: 30 jiffies -> 10 jiffies", ["time", 3.0]),
    ("verbs", "fall", ["chop(?:s|ped)?"], "The cache chops latency by 50%.", ["time", 2.0]),
    ("comparisons", "gain", ["snappier"], "Startup is 3x snappier.", ["time", 3.0]),
    ("labels", "baseline", ["ancestor"], "Ancestor: 30 s\nAfter: 10 s", ["time", 3.0]),
    ("labels", "baseline_beside", ["ancestral"], "Load: ancestral 30 s, with this PR: 10 s", ["time", 3.0]),
]
"""A word that no table has: its kind and section, the entry up to its example, the example, and its claim."""
READ = (
    "import json, sys; from ingest.claims import extract; print(json.dumps([[c.metric.value, c.ratio] for c in extract(sys.argv[1], 0)]))"
)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "section", "entry", "example", "claim"), NEW_WORDS)
def test_a_new_word_is_one_entry_in_one_file(
    kind: str, section: str, entry: list[object], example: str, claim: list[object], tmp_path: Path
) -> None:
    assert first_claim(example, "metric", "ratio") == "none"
    for package in (ingest, schemas):
        root = Path(package.__path__[0])
        shutil.copytree(root, tmp_path / root.name, ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "ingest/claims/words" / f"{kind}.toml"
    row = json.dumps([*entry, example, "time 3"])
    file.write_text(file.read_text(encoding="utf-8").replace(f"\n{section} = [\n", f"\n{section} = [\n  {row},\n"), encoding="utf-8")
    answer = subprocess.run([sys.executable, "-c", READ, example], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == [claim]
