"""The claims and statements of a summary, and the findings of the rules about it and its record.

Pure functions, the same for every agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ingest.agents.base import Rows
from ingest.claims import Claim, extract_all
from ingest.findings.rules import MEASURED, SPEED, AuditedRun, Finding, audit, exit_code_of
from ingest.findings.statements import FileChange, Statement, read_statements
from ingest.findings.titles import title_of
from schemas.claims import ClaimKind, Direction, Evidence, Origin, Scope
from schemas.rows.confidence import is_shown
from schemas.rows.run import Outcome, RunRow
from schemas.rows.source import Severity
from schemas.wire.launch import ENDED_BY, outcome_of_process

READ_CHARACTERS = 1_000_000
"""Characters of a summary that are read for claims and statements; the rule `read_in_part` reports
longer ones.
"""

AT_ONCE = 512
"""Records that pass through each stage together."""

_SCOPES = {Scope.END_TO_END: 0, Scope.COMPONENT: 1, Scope.UNSPECIFIED: 2, Scope.MICRO: 3}
_EVIDENCE = {evidence: place for place, evidence in enumerate(Evidence)}
_QUANTIFIED, _OWN, _BETTER, _ERROR = (
    ClaimKind.QUANTIFIED,
    Origin.OWN,
    Direction.BETTER,
    Severity.ERROR,
)


class SummaryFacts(NamedTuple):
    """All facts of one summary.

    `claims` includes those of low confidence: they are kept, but affect no finding or column.

    `columns`: the columns of `runs` that follow from the facts.
    """

    claims: tuple[Claim, ...]
    file_changes: tuple[FileChange, ...]
    statements: tuple[Statement, ...]
    findings: tuple[Finding, ...]
    columns: dict[str, Any]


def complete(made: Sequence[Rows]) -> list[Rows]:
    """Return the rows of each record with its title, claims, statements and findings.

    Values are checked later, in the Arrow tables.

    One stage after the other for AT_ONCE records: so the code and the tables of a stage stay in the
    processor's caches.
    """
    done: list[Rows] = []
    for first in range(0, len(made), AT_ONCE):
        batch = made[first : first + AT_ONCE]
        texts = [str(rows.run.result or "")[:READ_CHARACTERS] for rows in batch]
        claims = extract_all(texts, 0)
        titles = [title_of(rows.run.title or rows.run.prompt, rows.run.result) for rows in batch]
        facts = facts_with(claims, texts, batch)
        for rows, title, found in zip(batch, titles, facts, strict=True):
            run = rows.run.completed(
                found.columns | {"title": title} | _encoded(rows.run) | _ending(rows.run)
            )
            done.append(
                Rows(
                    run,
                    rows.model_usage,
                    rows.tool_calls,
                    rows.patch_files,
                    rows.patches,
                    found.claims,
                    found.file_changes,
                    found.statements,
                    found.findings,
                    rows.response_copies,
                )
            )
    return done


def facts_with(
    claims: Sequence[tuple[Claim, ...]], texts: Sequence[str], batch: Sequence[Rows]
) -> list[SummaryFacts]:
    """Return the facts of runs whose texts make these claims.

    Only claims that are shown affect findings and columns.
    """
    shown = [[claim for claim in found if is_shown(claim.confidence)] for found in claims]
    stated = read_statements(texts)
    findings = audit(
        [
            AuditedRun(rows.run, rows.model_usage, text, sure, said)
            for rows, text, sure, said in zip(batch, texts, shown, stated, strict=True)
        ]
    )
    return [
        SummaryFacts(
            found,
            said.file_changes,
            said.statements,
            noticed,
            {
                **_columns_of_claims(rows.run, sure),
                "findings": len(noticed),
                "error_findings": sum(finding.severity is _ERROR for finding in noticed),
            },
        )
        for rows, found, sure, said, noticed in zip(
            batch, claims, shown, stated, findings, strict=True
        )
    ]


def _columns_of_claims(run: RunRow, shown: Sequence[Claim]) -> dict[str, Any]:
    if not shown:
        return {"claims": 0 if run.result is not None else None}
    own = [claim for claim in shown if claim.kind is _QUANTIFIED and claim.origin is _OWN]
    best = headline(own)
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


def headline(claims: Iterable[Claim]) -> Claim | None:
    """Return the headline claim of a run.

    Of its own, quantified claims to be faster, the one that says most about the whole.

    Measured before merely stated or estimated; then the broadest scope (unspecified ranks between a
    named component and a micro-benchmark); then the strongest evidence; then the first in the text.
    """
    speedups = [
        claim
        for claim in claims
        if claim.kind is _QUANTIFIED
        and claim.origin is _OWN
        and claim.direction is _BETTER
        and claim.metric in SPEED
        and claim.ratio is not None
    ]
    return min(
        speedups,
        key=lambda claim: (
            claim.evidence not in MEASURED,
            _SCOPES[claim.scope],
            _EVIDENCE[claim.evidence],
            claim.start,
        ),
        default=None,
    )


def _encoded(run: RunRow) -> dict[str, bytes]:
    """Return long texts as the UTF-8 bytes that are stored.

    Otherwise memory would hold four copies of them.
    """
    found: dict[str, bytes] = {}
    if max(len(run.result or ""), len(run.raw or "")) <= READ_CHARACTERS:
        return found
    for name in ("result", "raw"):
        text = getattr(run, name)
        if isinstance(text, str) and len(text) > READ_CHARACTERS:
            with suppress(
                UnicodeEncodeError
            ):  # a lone surrogate, which is replaced when the Arrow table is made
                found[name] = text.encode()
    return found


def _ending(run: RunRow) -> dict[str, Any]:
    """Return the columns of a run's end if only its process shows a failure, else {}.

    The process failed and the record does not say so.

    A record of success does not outweigh a process that failed. The exit code is a label, which a
    rebuild keeps.
    """
    code = exit_code_of(run)
    if not code or run.outcome not in (Outcome.COMPLETED, Outcome.UNKNOWN):
        return {}
    ended = {"outcome": outcome_of_process(run.agent, code, run.labels.get(ENDED_BY))}
    return ended if run.terminal_reason else ended | {"terminal_reason": f"exit code {code}"}
