"""Rules over the figures of a record: whether they agree with each other. Each was verified on real records."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from operator import attrgetter

from ingest.agents.shared.costs import COST_TOLERANCE, is_unknown, is_unpaid
from ingest.findings.exit_codes import exit_code_of
from ingest.findings.rules.rule import Facts, Noticed, rule
from schemas.rows.run import TOKEN_CLASSES, Outcome

_all_models_tokens = attrgetter(*TOKEN_CLASSES)
_main_loop_tokens = attrgetter(*(f"usage_{name}" for name in TOKEN_CLASSES))
_ZERO = Decimal(0)


@rule
def cost_sum(facts: Facts) -> Iterator[Noticed]:
    """Σ modelUsage.costUSD = total_cost_usd, in every real record where both are given, but where background agents were killed.

    Their tokens are billed and in `modelUsage`, and the total is the conversation alone (agent-eval-harness #195).
    """
    total = facts.run.cost_reported_usd
    costs = [row.cost_reported_usd for row in facts.usage if row.cost_reported_usd is not None]
    if total is None or not costs:
        return
    summed = sum(costs, _ZERO)
    if summed - total > max(COST_TOLERANCE, COST_TOLERANCE * total):
        yield Noticed(
            "The models cost more than the reported total, which leaves out what was billed besides, as for background agents that were "
            "killed. The sum of the models counts.",
            _usd(summed),
            _usd(total),
        )
    elif total - summed > max(COST_TOLERANCE, COST_TOLERANCE * total) and len(costs) == len(facts.usage):
        yield Noticed("The models' costs do not add up to the reported total: the rest is of no model.", _usd(summed), _usd(total))


@rule
def usage_above_total(facts: Facts) -> Iterator[Noticed]:
    """`usage` is a part of `modelUsage`, token class by token class."""
    for name, part, whole in zip(TOKEN_CLASSES, _main_loop_tokens(facts.run), _all_models_tokens(facts.run), strict=True):
        if part is not None and whole is not None and part > whole:
            words = name.replace("_", " ")
            yield Noticed(
                f"The main loop has more {words} than all models together: the reported cost may be too low.",
                f"at least {part:,} {words}",
                f"{whole:,} {words}",
            )


@rule
def cache_split(facts: Facts) -> Iterator[Noticed]:
    """Cache writes for 5 minutes and for 1 hour are parts of all cache writes."""
    for row in facts.usage:
        parts = (row.cache_write_5m_tokens or 0) + (row.cache_write_1h_tokens or 0)
        if row.cache_write_tokens is not None and parts > row.cache_write_tokens:
            yield Noticed(
                f"{row.model_id or 'A model'} has more 5-minute and 1-hour cache writes than cache writes in total.",
                f"at most {row.cache_write_tokens:,} tokens",
                f"{parts:,} tokens",
            )


@rule
def zero_cost(facts: Facts) -> Iterator[Noticed]:
    """$0 although tokens were used: of resumed sessions (claude-code #15418), subscriptions, and models without a price at the agent."""
    run, unpaid = facts.run, [row for row in facts.usage if is_unpaid(row)]
    if is_unknown(run, facts.usage):
        used = f"for {run.output_tokens:,} output tokens" if run.output_tokens else "although the run worked"
        yield Noticed(f"The reported cost is $0 {used}: what that cost is unknown.", "a cost above $0", "$0")
    elif unpaid:
        models = ", ".join(sorted(row.model_id or "a model" for row in unpaid))
        yield Noticed(f"The agent reports $0 for the tokens of {models}: the run cost more than is reported.", "a cost above $0", "$0")


@rule
def guessed_price(facts: Facts) -> Iterator[Noticed]:
    """`costBasis: unknown`: the agent had no price for the model and took that of another one."""
    for row in facts.usage:
        if row.cost_basis == "unknown":
            yield Noticed(f"The agent did not know the price of {row.model_id} and guessed it.", "a known price", "costBasis: unknown")


@rule
def silent_failure(facts: Facts) -> Iterator[Noticed]:
    """A failed run without a reason: errors may be missing (claude-code #19912, SDK #1031)."""
    run = facts.run
    if run.outcome is Outcome.EXECUTION_ERROR and not run.errors and not facts.text.strip():
        yield Noticed("The run failed without an error message.", "an error message", "none")


@rule
def exit_code(facts: Facts) -> Iterator[Noticed]:
    """A record of success before the process failed: something went wrong behind it, in the agent or in a script around it."""
    code = exit_code_of(facts.run)
    if code and facts.run.outcome is Outcome.COMPLETED:
        yield Noticed(
            f"The record says that the run completed, but its process exited with code {code}.", "exit code 0", f"exit code {code}"
        )


def _usd(amount: Decimal) -> str:
    """All digits, without trailing zeros."""
    return f"${amount.normalize():f}"
