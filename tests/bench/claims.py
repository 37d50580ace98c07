"""What finding the claims of a text costs, against reading its record.

`TypeAdapter(ResultRecord).validate_json` on the same records.

    python -m tests.bench.claims [5000 [STORE]]

The records are made of those of STORE, else of the sample logs. Prints microseconds per text, texts
per second and the ratio: for all records, for the one in the middle, for those with a number
claimed, for those without, and for texts that claim nothing at all. The best of several passes is
taken.
"""

from __future__ import annotations

import json
import sys
import time
from bisect import bisect
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from pydantic import TypeAdapter

from ingest.claims import extract
from schemas.rows.claim import ClaimKind
from schemas.wire.claude_code import ResultRecord
from tests.bench.logs import made_of, records_of

REPEATS = 5


def seconds_each(work: Callable[[str], object], items: Sequence[str]) -> float:
    """Seconds per item of the best pass."""
    best = float("inf")
    for _ in range(REPEATS):
        started = time.perf_counter()
        for item in items:
            work(item)
        best = min(best, time.perf_counter() - started)
    return best / max(1, len(items))


def seconds_median(items: Sequence[str]) -> float:
    """Seconds that the text in the middle takes."""
    return median(min(seconds_each(extract, [item]) for _ in range(2)) for item in items[:1000])


def without_claims(text: str) -> str:
    """A text as long that claims nothing: of the lines without a claim, over and over."""
    claims = extract(text)
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
    claiming = {
        bisect(starts, offset) - 1 for claim in claims for offset in (claim.start, claim.end - 1)
    }
    rest = "\n".join(line for number, line in enumerate(lines) if number not in claiming) + "\n"
    return (rest * (len(text) // len(rest) + 1))[: len(text)]


def main() -> None:
    """Run the benchmark for the number of records given."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    store = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    lines = list(made_of(records_of(store), count))
    texts = [str(json.loads(line).get("result") or "") for line in lines]
    claiming = [
        text for text in texts if any(claim.kind is ClaimKind.QUANTIFIED for claim in extract(text))
    ]
    silent = [
        text
        for text in texts
        if not any(claim.kind is ClaimKind.QUANTIFIED for claim in extract(text))
    ]
    nothing = [text for text in map(without_claims, texts[:1000]) if not extract(text)]
    reading = seconds_each(TypeAdapter(ResultRecord).validate_json, lines)
    print(f"{'what':44}{'texts':>8}{'µs':>9}{'per s':>10}{'ratio':>8}")
    row("validate_json of the record", len(lines), reading, reading)
    row("extract, all texts", len(texts), seconds_each(extract, texts), reading)
    row("extract, the median text", min(len(texts), 1000), seconds_median(texts), reading)
    row(
        "extract, texts without a number claimed",
        len(silent),
        seconds_each(extract, silent),
        reading,
    )
    row("extract, texts without any claim", len(nothing), seconds_each(extract, nothing), reading)
    row(
        "extract, texts with a number claimed",
        len(claiming),
        seconds_each(extract, claiming),
        reading,
    )


def row(what: str, count: int, seconds: float, base: float) -> None:
    """One line of the table."""
    print(
        f"{what:44}{count:8,}{seconds * 1e6:9.1f}{1 / seconds if seconds else 0:10,.0f}{seconds / base:8.2f}"  # noqa: E501
    )


if __name__ == "__main__":
    main()
