"""Performance claims of a text: what an agent says became faster, smaller or cheaper, by how much, and on what evidence.

The path: cheap signs and the passages around them → quantities with units → effects (pairs, factors, percentages) → one effect per claim →
ratio and the fields that the words around it decide. What does not clearly speak of performance is no claim: a false one costs more than a miss.
"""

from __future__ import annotations

from ingest.claims.claim import Claim
from ingest.claims.reading import extract

__all__ = ["Claim", "extract"]
