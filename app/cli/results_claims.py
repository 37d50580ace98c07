"""What `claims` and `findings` answer: rows, the columns people see of them, and what they are about."""

from __future__ import annotations

from collections.abc import Sequence

from app.cli.results import Answer, heading
from app.cli.terminal import plural
from app.queries import claims as claim_queries
from app.queries.filters import Filters
from app.queries.read_transaction import read_transaction
from app.text.columns import labelled
from ingest.findings.rules import RULES
from ingest.store.database import Store
from schemas.errors import UsageError

CLAIMS_SHOWN = (
    "run_id", "quote", "ratio", "ratio_low", "ratio_high", "metric", "direction", "evidence", "scope", "hedged", "subject", "repo", "task",
    "origin", "kind",
)  # fmt: skip
FINDINGS_SHOWN = ("run_id", "severity", "rule", "message", "expected", "actual", "repo", "task", "model")

_CLAIM_LABELS = {
    "quote": "Claim, as written",
    "ratio": "Claimed ratio",
    "ratio_low": "From",
    "ratio_high": "To",
    "evidence": "Evidence",
}


def claims(store: Store, filters: Filters, kinds: Sequence[str], limit: int | None) -> Answer:
    """The largest claims, or all of them."""
    with read_transaction(store) as transaction:
        table = labelled(claim_queries.claims(transaction, filters, kinds, limit), _CLAIM_LABELS)
        found, runs = claim_queries.count_claims(transaction, filters, kinds)
    cut = f"the {table.num_rows:,} largest of " if table.num_rows < found else ""
    what = f"{cut}{plural(found, 'claim')} of {plural(runs, 'run')}, as the agents state them"
    return Answer(table, heading(what, store.location, filters), CLAIMS_SHOWN)


def findings(store: Store, filters: Filters, severities: Sequence[str], rules: Sequence[str], limit: int | None) -> Answer:
    """The severest findings, or all of them. Raises UsageError for a rule that does not exist."""
    with read_transaction(store) as transaction:
        _check_rules(transaction, rules)
        table = claim_queries.findings(transaction, filters, severities, rules, limit)
        found, runs = claim_queries.count_findings(transaction, filters, severities, rules)
    cut = f"the first {table.num_rows:,} of " if table.num_rows < found else ""
    what = f"{cut}{plural(found, 'finding')} about {plural(runs, 'run')}"
    return Answer(table, heading(what, store.location, filters), FINDINGS_SHOWN)


def _check_rules(store: Store, chosen: Sequence[str]) -> None:
    """Rules of other places (prices) write findings as well: those the store holds are known, too."""
    unknown = [rule for rule in chosen if rule not in RULES]
    if unknown:
        known = [*RULES, *(rule for rule in claim_queries.rules(store) if rule not in RULES)]
        missing = next((rule for rule in unknown if rule not in known), None)
        if missing is not None:
            raise UsageError(f"there is no rule {missing!r}.", f"Rules are: {', '.join(known)}.")
