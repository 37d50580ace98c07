"""Claims, findings and statements in words, for screens and charts. Pure; every text here is plain text."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from app.queries.filters import MIN_CONFIDENCE, RUN
from app.text.formatting import UNKNOWN, human
from schemas.text import plural
from schemas.units import Unit

Row = Mapping[str, Any]

EVIDENCE_NAMES = {"benchmarked": "method stated", "figures": "before–after", "stated": "number only", "estimated": "projected"}
"""What people call the evidence of a claim: a word must not say more than the text does, and "benchmarked" only means that it says how."""

ORIGIN_NAMES = {"own": "own", "cited": "quoted"}
"""What people call the origin of a claim."""

EVIDENCE_MEANINGS = {
    "benchmarked": "the summary says how the numbers were obtained",
    "figures": "before and after values, but no method",
    "stated": "a factor or percentage only",
    "estimated": "expected or projected, not observed",
}
"""What the evidence of a claim means, the strongest first."""

EVIDENCE = {"benchmarked": "#009E73", "figures": "#0072B2", "stated": "#B07D00", "estimated": "#C0649B"}
"""Its colours, in charts and in the text of a summary; `app.charts.palette` has those of all else."""

STATEMENT_NAMES = {
    "commit": "Commit",
    "artefact": "Artefact",
    "tests_passed": "Tests passed",
    "tests_failed": "Tests failed",
    "files_changed": "Files changed",
    "lines_inserted": "Lines inserted",
    "lines_deleted": "Lines deleted",
}


def words(value: str) -> str:
    """A word of a closed list as people write it: `end to end`."""
    return value.replace("_", " ")


def evidence_words(value: str, kind: str = "quantified") -> str:
    """The evidence of a claim as people call it: `method stated`. A qualitative claim has no number to be the only one."""
    return "no number" if (value, kind) == ("stated", "qualitative") else EVIDENCE_NAMES.get(value, words(value))


def ratio(row: Row) -> str:
    """`3.17×`, `1.22× (1.10× to 1.36×)`, `–` for a change that is no ratio."""
    if row["ratio"] is None:
        return UNKNOWN
    ends = [human(row[key], Unit.RATIO) for key in ("ratio_low", "ratio_high") if row[key] is not None]
    return human(row["ratio"], Unit.RATIO) + (f" ({' to '.join(ends)})" if len(ends) == 2 else "")


def claimed(row: Row) -> str:
    """`claimed 3.17×`; of a claim without a ratio, which way it goes."""
    return f"claimed {words(row['direction']) if row['ratio'] is None else ratio(row)}"


def claim_title(row: Row) -> str:
    """A claim in one line: `claimed 3.17× (time) · method stated · micro-benchmark only · about the kernel`."""
    said = [f"{claimed(row)} ({row['metric']})", evidence_words(row["evidence"], row["kind"]), row["caveat"] or words(row["scope"])]
    said += ["quoted from others"] if row["origin"] == "cited" else []
    return " · ".join([*said, f"about {row['subject'].replace('`', '')}"] if row["subject"] else said)


def hidden_words(count: int, how: str = f"--{MIN_CONFIDENCE} 0") -> str:
    """`3 claims of low confidence are hidden; --min-confidence 0 lists them.`, where `how` lists them; empty where none is hidden."""
    verb, them = ("is", "it") if count == 1 else ("are", "them")
    return f"{plural(count, 'claim')} of low confidence {verb} hidden; {how} lists {them}." if count else ""


def all_claims_of(run_id: str) -> str:
    """The words of the command that lists the claims of a run, hidden ones too."""
    return f"claims --{RUN} {shlex.quote(run_id)} --{MIN_CONFIDENCE} 0"


def statement(row: Row) -> tuple[str, str]:
    """What a summary states, as (`Tests passed`, `12`)."""
    parts = [row["subject"], None if row["count"] is None else f"{row['count']:,}{' lines' if row['kind'] == 'artefact' else ''}"]
    return STATEMENT_NAMES[row["kind"]], " · ".join(part for part in parts if part) or row["quote"]


def expectation(row: Row) -> str:
    """What a rule expected and what it found; empty where the message says it all."""
    said = [f"{label} {row[key]}" for label, key in (("expected", "expected"), ("got", "actual")) if row[key]]
    return ", ".join(said)
