"""Lists of claimed and measured runs as HTML tables. Pure; every text of a log is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.queries.filters import Filters
from app.text import brief, html_parts
from app.text.html_parts import anchor, muted, text
from app.text.words.claims import evidence_words
from app.text.words.measured import FAILURE_NAMES
from schemas.catalogue.metrics import MEASURED_CLASSES
from schemas.text import quoted

Row = Mapping[str, Any]

HELD = {
    "kept": "held",
    "over_claimed": "promised more",
    "under_claimed": "promised less",
    "wrong_sign": "became slower",
    "no_claim": "no claim",
}
"""How a checked claim turned out."""

LONGEST = 160
"""The most characters of a sentence in a cell: errors of benchmarks have pages."""

COMPARED = (
    ("", "Run"), ("", "Task"), ("r", "Claimed"), ("r", "Measured"), ("r", "÷ reference"), ("", "Metric"), ("", "Claim"), ("", "Covers"),
    ("r", "Cost"),
)  # fmt: skip
CLAIMS = (("", "Run"), ("", "Task"), ("r", "Claimed"), ("", "Evidence"), ("", "In its summary"), ("", "Measured"), ("r", "Cost"))
UNCOMPARED = (("", "Run"), ("", "Task"), ("r", "Claimed"), ("r", "As published"), ("", "What became of it"), ("", "Why"), ("r", "Cost"))


def run_table(rows: Sequence[Row], key: str, filters: Filters) -> str:
    """The runs of one of `app.queries.measured.LISTS`."""
    head, cells = {"claims": (CLAIMS, _claim), "uncompared": (UNCOMPARED, _uncompared), "breaks": (UNCOMPARED, _uncompared)}.get(
        key, (COMPARED, _compared)
    )
    body = [("", [*_named(row, filters), *cells(row), _cost(row)]) for row in rows]
    return f'<div class="t-scroll t-tall">{html_parts.table(head, body, kind="t-grid")}</div>'


def _named(row: Row, filters: Filters) -> list[str]:
    to = {"run": row["run_id"]} | ({"claim": str(row["claim_no"])} if row.get("claim_no") else {})
    title = anchor(html_parts.link("run", filters, **to), text(_short(row["title"], 48)), kind="t-link")
    agent = text(html_parts.agent_name(row["agent"]))
    named = f'<span class="t-agent" style="font-weight:400" title="{agent}">{html_parts.mark(row["agent"])}{title}</span>'
    return [named, muted((row["task_key"] or "").replace("@", " ") or brief.NO_VALUE), _ratio(row["claimed_speedup"])]


def _compared(row: Row) -> list[str]:
    kind = row["measured_class"] if row["measured_class"] in ("faster", "slower") else ""
    parts = ("claimed_scope", "measured_scope")
    claimed, measured = (str(row[name] or "unspecified").replace("_", " ") for name in parts)
    covers = (
        brief.NO_VALUE
        if row["claimed_speedup"] is None
        else f"claim: {claimed}, measured: {measured}"
        if row["scope_differs"]
        else "same part"
        if "unspecified" not in (claimed, measured)
        else "not stated"
    )
    return [
        f'<span class="t-is-{kind}">{_ratio(row["measured_speedup"])}</span>',
        _ratio(row["measured_vs_reference"]),
        text(" ".join(filter(None, (row["benchmark"], row["metric"])))),
        text(HELD.get(row["claim_verdict"] or "", brief.NO_VALUE)),
        muted(covers),
    ]


def _claim(row: Row) -> list[str]:
    evidence = row["claimed_evidence"]
    said = text(evidence_words(evidence)) if evidence else brief.NO_VALUE
    words = MEASURED_CLASSES[row["measured_class"]]
    sentence = f'<span class="t-wrap">{text(_short(quoted(row["sentence"] or row["claimed_quote"] or "")))}</span>'
    return [f'<span class="t-stated">{said}</span>' if evidence == "benchmarked" else said, sentence, muted(words)]


def _uncompared(row: Row) -> list[str]:
    published = row["ratio_published"]
    struck = f'<s class="t-n">{brief.ratio(published)}</s>' if published is not None else brief.NO_VALUE
    why = ": ".join(filter(None, (FAILURE_NAMES.get(row["failure"] or ""), row["why"])))
    return [
        struck,
        text(MEASURED_CLASSES[row["measured_class"]]),
        f'<span class="t-wrap">{text(_short(why))}</span>' if why else brief.NO_VALUE,
    ]


def _cost(row: Row) -> str:
    return brief.usd(row["cost_usd"], row["bound"]) if row["cost_usd"] is not None else muted(brief.NOT_RECORDED)


def _ratio(value: float | None) -> str:
    return brief.NO_VALUE if value is None else brief.ratio(value)


def _short(words: str, longest: int = LONGEST) -> str:
    return words if len(words) <= longest else f"{words[: longest - 1].rstrip()}…"
