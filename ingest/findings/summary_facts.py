"""The claims and statements of a summary, and the findings of the rules about it and its record. Pure; the same for every agent.

facts_of(run, usage)  → claims, file changes, statements, findings
complete(made)        → the rows of many records with these facts among them
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ingest.agents.base import Rows
from ingest.claims import Claim, extract
from ingest.findings.exit_codes import ending_columns
from ingest.findings.rules import Facts, Finding, audit
from ingest.findings.rules.rule import MEASURED, SPEED
from ingest.findings.statements import FileChange, Statement, read_statements
from ingest.findings.titles import title_of
from schemas.rows.claim import ClaimKind, Direction, Evidence, Origin, Scope
from schemas.rows.confidence import is_shown
from schemas.rows.run import ModelUsageRow, RunRow
from schemas.rows.source import Severity

READ_CHARACTERS = 1_000_000
"""Characters of a summary that are read for claims and statements; the rule `read_in_part` says so where there are more."""

AT_ONCE = 512
"""Records of which each stage is done together."""

_SCOPES = {Scope.END_TO_END: 0, Scope.COMPONENT: 1, Scope.UNSPECIFIED: 2, Scope.MICRO: 3}
_EVIDENCE = {evidence: place for place, evidence in enumerate(Evidence)}
_QUANTIFIED, _OWN, _BETTER, _ERROR = ClaimKind.QUANTIFIED, Origin.OWN, Direction.BETTER, Severity.ERROR


class SummaryFacts(NamedTuple):
    """All facts of one summary. `claims` has those of low confidence, too: they are kept, but no finding and no column follows from them.

    `columns`: the columns of `runs` that follow from the facts.
    """

    claims: tuple[Claim, ...]
    file_changes: tuple[FileChange, ...]
    statements: tuple[Statement, ...]
    findings: tuple[Finding, ...]
    columns: dict[str, Any]


def facts_of(run: RunRow, usage: Sequence[ModelUsageRow]) -> SummaryFacts:
    """The facts of a run, from its other columns and `run.result`. Changes nothing."""
    text = _read_text(run)
    return facts_with(_claims(text), text, run, usage)


def facts_with(claims: tuple[Claim, ...], text: str, run: RunRow, usage: Sequence[ModelUsageRow]) -> SummaryFacts:
    """The facts of a run whose text makes these claims. Only the claims that are shown count for findings and columns."""
    shown = [claim for claim in claims if is_shown(claim.confidence)]
    stated = read_statements(text)
    findings = audit(Facts(run, usage, text, shown, stated))
    columns = _claim_columns(shown, has_summary=run.result is not None) | _finding_columns(findings)
    return SummaryFacts(claims, stated.file_changes, stated.statements, findings, columns)


def complete(made: Sequence[Rows]) -> list[Rows]:
    """The rows of each record with its title, claims, statements and findings. Values are checked later, when the Arrow tables are made.

    One stage after the other for AT_ONCE records: so the code and the tables of a stage stay in the processor's caches.
    """
    return [rows for first in range(0, len(made), AT_ONCE) for rows in _completed(made[first : first + AT_ONCE])]


def _completed(made: Sequence[Rows]) -> Iterator[Rows]:
    texts = [_read_text(rows.run) for rows in made]
    claims = [_claims(text) for text in texts]
    titles = [title_of(rows.run.title or rows.run.prompt, rows.run.result) for rows in made]
    facts = [facts_with(found, text, rows.run, rows.model_usage) for found, text, rows in zip(claims, texts, made, strict=True)]
    for rows, title, found in zip(made, titles, facts, strict=True):
        run = rows.run.completed(found.columns | {"title": title} | _encoded(rows.run) | ending_columns(rows.run))
        yield Rows(
            run, rows.model_usage, rows.tool_calls, rows.patch_files, rows.patches, found.claims, found.file_changes,
            found.statements, found.findings, rows.response_copies,
        )  # fmt: skip


def _read_text(run: RunRow) -> str:
    return str(run.result or "")[:READ_CHARACTERS]


def _claims(text: str) -> tuple[Claim, ...]:
    return extract(text, 0) if text else ()


def _encoded(run: RunRow) -> dict[str, bytes]:
    """Long texts as the UTF-8 bytes that are stored: otherwise there would be four copies of them in memory."""
    found: dict[str, bytes] = {}
    for name in ("result", "raw"):
        text = getattr(run, name)
        if isinstance(text, str) and len(text) > READ_CHARACTERS:
            with suppress(UnicodeEncodeError):  # a lone surrogate, which is replaced when the Arrow table is made
                found[name] = text.encode()
    return found


def headline(claims: Iterable[Claim]) -> Claim | None:
    """The headline claim of a run: of its own, quantified claims to be faster, the one that says most about the whole.

    Measured before merely stated or estimated; then the broadest scope, where an unspecified one ranks below a named component and
    above a micro-benchmark; then the strongest evidence; then the first in the text.
    """
    return _headline(_own(claims))


def _headline(own: Iterable[Claim]) -> Claim | None:
    return min(filter(_is_speedup, own), key=_rank, default=None)


def _is_speedup(claim: Claim) -> bool:
    return claim.direction is _BETTER and claim.metric in SPEED and claim.ratio is not None


def _own(claims: Iterable[Claim]) -> list[Claim]:
    return [claim for claim in claims if claim.kind is _QUANTIFIED and claim.origin is _OWN]


def _rank(claim: Claim) -> tuple[bool, int, int, int]:
    return claim.evidence not in MEASURED, _SCOPES[claim.scope], _EVIDENCE[claim.evidence], claim.start


def _claim_columns(claims: Sequence[Claim], *, has_summary: bool) -> dict[str, Any]:
    if not claims:
        return {"claims": 0 if has_summary else None}
    own = _own(claims)
    best = _headline(own)
    return {
        "claims": len(own),
        "claimed_speedup": best.ratio if best else None,
        "claimed_metric": best.metric if best else None,
        "claimed_evidence": best.evidence if best else None,
        "claimed_scope": best.scope if best else None,
        "claimed_low": best.ratio_low if best else None,
        "claimed_high": best.ratio_high if best else None,
        "claimed_hedged": best.hedged if best else None,
        "claimed_subject": best.subject if best else None,
        "claimed_quote": best.quote if best else None,
        "claimed_confidence": best.confidence if best else None,
    }


def _finding_columns(findings: Sequence[Finding]) -> dict[str, int]:
    return {"findings": len(findings), "error_findings": sum(finding.severity is _ERROR for finding in findings)}
