"""Performance claims of a text: what an agent says became faster, smaller or cheaper, by how much, and on what evidence.

The path, a module each: `signs` (cheap) → `passages` around them → `quantities` with `units`, `spelled` ones too → effects. Of two
figures: `pairs` with `arrows`, `remarks` between them, `formers` (but for `strangers`) and `tenses`, `legends` and `tags`, `parallel`,
`columns`.
Of one number in its `place`: `changes` with `coordinated` and `eastern` words, `factors` without a word, `savings`, `idioms`. By layout:
`labelled` lines, `sections`, `outputs` of tools, and `tables`, drawn ones too (`boxes`), with `captions`, `cells`, `heads`, the figures
of `rows`, `lone` changes and `transposed`. → `merging` to one effect per claim → `metrics` by `nouns`, or for the `unnamed`, with
`settings` (what is no performance), `ratios`, and the `context` that decides the other fields → `reading` puts it together.
`lexicon` has the words of changes, `lexicon_around` those around them.
What does not clearly speak of performance is no claim: a false one costs more trust than a miss.
"""

from __future__ import annotations

from ingest.claims.claim import Claim
from ingest.claims.extraction import extract

__all__ = ["Claim", "extract"]
