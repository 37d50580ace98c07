"""Performance claims of a text: what became faster, smaller or cheaper, by how much, and on what evidence.

`extract(text)` returns the claims. What does not clearly speak of performance is no claim: a false one costs more trust than a missed one.

Terms. The *baseline* figure is from before the change, the *candidate* figure from after it; both are a *pair*. A *change* is a factor or
percentage. An *effect* is a pair, a change, or both, as written. A *trigger* is a literal that marks a text as worth reading. A *rule*,
`ReadingRule`, reads one way to write an effect.

## The path of a text, and where to look when a claim is wrong

| step | function | if this is wrong |
|---|---|---|
| 1 box-drawn tables become Markdown | `find.passages.drawn_tables_as_markdown` | a table of `│` and `┼` is not read |
| 2 triggers of numbers and of phrases | `find.triggers.find_triggers` | no claim at all, whatever the rules: a `[triggers.…]` of words/ |
| 3 sections `Before` and `After` | `pairs.sections`, called by `extraction._section_effects` | pairs across headings or tool outputs |
|   named readings | `pairs.readings` | `'bind_ms': 9.5`, `optimized_ms=4.1`: results as benchmark scripts print them |
| 4 the passage around each trigger | `find.passages.passage_at` | a bullet, paragraph or table cut at the wrong place |
| 5 numbers with units | `numbers.quantities.quantities`, `numbers.units.unit` | a wrong number, range, sign or unit |
| 6a effects of running text | `prose.prose_effects` | the kinds of effects tried at each number, in order |
|    pairs | `pairs.running_text.pair_starting_at`, its `RULES` | baseline and candidate missed or swapped |
|    changes | `changes.single_numbers.change_effect`, its `RULES_…` | a factor or percentage missed, its sense wrong |
|    idioms | `changes.idioms.idiom_effects` | `twice as fast`, `halved` |
| 6b effects of labelled lines | `pairs.labelled_lines.labelled_effects` | `Before: 8 s` / `After: 2 s` |
| 6c effects of a table | `tables.table_effects.table_effects`, its `RULES` | columns: `tables.header_cells`; figures: `tables.rows` |
| 7 expressions of one effect joined | `judge.merging.with_expressions_joined` | one claim too many or too few; a wrong span |
| 8 words around the effect | `judge.surroundings.surroundings_of` | words of a neighbour taken for those of the effect |
| 9 metric, or no performance | `judge.metrics.measure_of` | a wrong metric: `judge.nouns`, …; settings: `judge.not_performance` |
| 10 ratio | `judge.ratios.ratio_of` | 3 instead of 1/3, `50% faster` instead of `50% less` |
|    whose change it is | `judge.subjects.is_of_baseline` | `the old parser is 3x slower than the new one` taken for a slowdown |
| 11 evidence, hedge, origin, subject | `judge.evidence` | any of those fields; words/evidence.toml, … |
| 12 scope | `judge.scope.scope_of`, its `FEATURES` and weights | micro, component, end to end; words/scope.toml |
| 13 confidence | `judge.confidence.confidence_of`, its `FEATURES` and weights | a claim hidden, or one shown that is none |
| 14 claims without a number | `changes.qualitative.qualitative_claims` | `eliminates allocations` |

## How to add a claim rule

1. Choose the file of words/ by the kind of the word: units, metrics, verbs, comparisons, labels (baseline, candidate, change), hedges, ….
2. Add an entry to the section whose comment fits: the word, an example text, the claim of that text.
3. If the example gives no claim at all, it has no trigger: add one to a table `[triggers.…]`, of the same file where it has such tables.
4. A comparison or verb without a noun, `It is 3x snappier`, also needs an entry in a section `alone_…` of the same file.
5. Run `pytest tests/test_claims_words.py`: it reads every example, and again without its word.

A new way to write an effect, not a new word, is a function and a `ReadingRule` with its example in one of the `RULES`; then
`pytest tests/test_claims_reading_rules.py`.

## How to fit the judge

Rules say what may be a claim; two small fitted models say how sure it is and how much of the software it covers. After a change of rules
or features, or with new labelled texts, run `python -m tests.labelled.fitting FILE.jsonl … --write`. It prints how good they are on texts
that they have not seen.
"""

from __future__ import annotations

from ingest.claims.claim import Claim
from ingest.claims.extraction import extract

__all__ = ["Claim", "extract"]
