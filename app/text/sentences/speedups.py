"""Were the claims true, in words: how many checked claims held, what was promised, and what the benchmarks found."""

from __future__ import annotations

from collections.abc import Sequence

from app.queries.agents import ENOUGH, AgentFigures
from app.queries.measured import Checks, Spread
from app.text import brief
from app.text.html_parts import agent_name
from app.text.sentences import Said
from schemas.text import plural

MOST_NAMED = 3
"""The most agents whose numbers of claims are told one by one."""


def speedups(rows: Sequence[AgentFigures], checks: Sequence[Checks]) -> Said:
    """What the screen of speedups says first. `rows` are those of `app.queries.agents.agents`, all runs in the first."""
    total, agents = rows[0], [row for row in rows if not row.is_all and not row.is_model]
    if total.checked:
        heading = _held(total, agents)
    elif total.claimed.known:
        heading = _unchecked(total)
    elif total.comparable:
        heading = f"No run claims a speedup; **{total.faster:,} of {plural(total.comparable, 'comparable run')} became faster**."
    elif total.runs_measured:
        heading = f"No run claims a speedup, and **none of {plural(total.runs_measured, 'measured run')} can be compared**."
    else:
        heading = "**No run claims a speedup**, and none was measured."
    return Said(heading, _turned_out(total, checks), _coverage(total, agents))


def _held(total: AgentFigures, agents: Sequence[AgentFigures]) -> str:
    with_checks = [row for row in agents if row.checked]
    who = agent_name(with_checks[0].agent) if len(with_checks) == 1 else brief.joined([agent_name(row.agent) for row in with_checks])
    if total.checked == 1:
        held = f"The one checked claim {'held' if total.held else 'did not hold'}."
    else:
        held = f"{f'{total.held:,}' if total.held else 'None'} of {total.checked:,} checked claims held."
    benchmarks = "the benchmark" if total.checked == 1 else "the benchmarks"
    found, _ = brief.median(total.checked_measured, brief.ratio)  # a median as the promise before it
    return f"**{held}** {who[0].upper()}{who[1:]} promised {_of(total.checked_claim)}; {benchmarks} found {found}."


def _of(values: Spread) -> str:
    """`a median of 1.80×`, of few values their range: `1.50×–3.00×`."""
    written, few = brief.median(values, brief.ratio)
    return written if few else f"a median of {written}"


def _unchecked(total: AgentFigures) -> str:
    claims = total.claimed
    subject = f"{brief.runs(claims.known)} {'claims' if claims.known == 1 else 'claim'}"
    none = "none can be checked" if total.runs_measured else "none was measured"
    return f"{subject[0].upper()}{subject[1:]} a speedup, {_of(claims)}; **{none}**."


def _turned_out(total: AgentFigures, checks: Sequence[Checks]) -> str:
    """How checked claims failed, and the same where claim and benchmark cover the same part; empty where none was checked."""
    if not total.checked:
        return ""
    kinds = [
        (total.more, "promised more than was measured"),
        (total.less, "less" if total.more else "promised less than was measured"),
        (total.wrong, "became slower"),
    ]
    told = ", ".join(f"{number:,} {what}" for number, what in kinds if number)
    first = f"{told}." if told else ""
    same = next((row for row in checks if row.is_all and not row.is_other_part), None)
    if total.other_part == total.checked:
        second = (
            "The benchmark covers another part than the claim."
            if total.checked == 1
            else "All benchmarks cover another part than the claim."
        )
    elif same and total.other_part:
        most, what = max(
            (same.more, "promised more"), (same.less, "promised less"), (same.wrong, "became slower"), key=lambda kind: kind[0]
        )
        parts = " and ".join([f"{same.held:,} held", *([f"{most:,} {what}"] if most else [])])
        second = f"Where claim and benchmark cover the same part ({brief.runs(same.checked)}), {parts}."
    else:
        second = ""
    return " ".join(filter(None, (first, second)))


def _coverage(total: AgentFigures, agents: Sequence[AgentFigures]) -> str:
    parts = []
    if total.claimed.known:
        claiming = sorted((row for row in agents if row.claimed.known), key=lambda row: -row.claimed.known)
        named = [f"{agent_name(row.agent)} {row.claimed.known:,}" for row in claiming[:MOST_NAMED]]
        named += [f"others {sum(row.claimed.known for row in claiming[MOST_NAMED:]):,}"] if len(claiming) > MOST_NAMED else []
        by = f" ({', '.join(named)})" if len(agents) > 1 else ""
        verb = "claims" if total.claimed.known == 1 else "claim"
        parts.append(f"**{total.claimed.known:,}** of {plural(total.runs, 'run')} {verb} a speedup{by}")
    if total.runs_measured:
        compared = [row for row in agents if row.comparable]
        whose = f", all {agent_name(compared[0].agent)}'s" if len(compared) == 1 and len(agents) > 1 and total.comparable > 1 else ""
        parts.append(f"**{total.comparable:,}** of {total.runs_measured:,} measured against a comparable baseline{whose}")
    if total.checked:
        parts.append(f"**{total.checked:,}** {'has' if total.checked == 1 else 'have'} both")
    return " · ".join(parts)


def unchecked_agents(rows: Sequence[AgentFigures]) -> str:
    """`TRAE (74 claims) and Codex (89): no claim can be checked.`; empty where each has a checked claim or none."""
    silent = [row for row in rows if not row.is_all and not row.is_model and row.claimed.known and not row.checked]
    named = [f"{agent_name(row.agent)} ({plural(row.claimed.known, 'claim')})" for row in silent]
    return f"{brief.joined(named)}: no claim can be checked." if named else ""


def largest_claims(claims: Sequence[float], above: float) -> str:
    """`5 claims above 10×: 13, 93, 272, 355, 390×`; of more than six, how many and the largest; empty for none."""
    over = sorted(claim for claim in claims if claim > above)
    if not over:
        return ""
    limit = f"{above:g}×"
    if len(over) > 6:
        return f"{len(over):,} claims above {limit}, the largest {over[-1]:,.0f}×"
    return f"{plural(len(over), 'claim')} above {limit}: {', '.join(f'{claim:,.0f}' for claim in over)}×"


def of_class(agent: str | None, words: str, number: int) -> str:
    """The title of the runs of a segment: `Codex: machine or model missing, 54 runs`."""
    return f"{agent_name(agent)}: {words}, {plural(number, 'run')}"


def few_medians(checks: Checks) -> str:
    """What stands at the right of a row of factors: its median from ENOUGH on."""
    return brief.ratio(checks.factor.median or 0) if checks.factor.known >= ENOUGH else ""
