"""Performance claims of a text: what became faster, smaller or cheaper, by how much, and on what evidence.

`extract(text)` gives the claims. The path of a text, a folder for each step:

1. `find/`: cheap signs of a claim, and the passages around them; most texts have none and end here.
2. `numbers/`: the numbers of a passage, with their units.
3. Effects, each one expression of a change. `prose` reads running text, and tries pairs before changes:
   - `pairs/`: two figures, `2822 → 2172 ms`
   - `changes/`: one figure, or none, `23% faster`
   - `tables/`: a row, with a column for each side
4. `judge/`: several expressions of one effect become one; what it measures, its ratio, evidence and scope.
5. `extraction` runs these steps and makes the claims.

`words/` holds the vocabulary as tables. Terms: the *baseline* figure is how it was, the *candidate* figure how it is with the change; a
*measure* is what a figure measures, in which unit, and what says so; a *way* is a named rule for one way to write a change.

What does not clearly speak of performance is no claim: a false claim costs more trust than a missed one.
"""

from __future__ import annotations

from ingest.claims.claim import Claim
from ingest.claims.extraction import extract

__all__ = ["Claim", "extract"]
