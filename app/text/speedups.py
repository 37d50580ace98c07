"""Sentences and tables that compare claimed with measured speedups.

Pure; every text from a log is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.queries.agents import ENOUGH, AgentFigures
from app.queries.filters import Filters
from app.queries.measured import Checks
from app.queries.rules import FAST, NOT_JUDGED, RULES, STEPS, WORST, Rule, Who
from app.text import html_parts
from app.text.agents import doubts, median_or_range, range_words
from app.text.claims import (
    CLAIM_VERDICT_NAMES,
    FAILURE_NAMES,
    evidence_words,
    few_others,
    verdict_words,
    words,
)
from app.text.formatting import MINUS, NOT_RECORDED, UNKNOWN, agent_name, ratio, short, usd
from app.text.overview import agents_of
from app.text.sentences import Said, joined, none_or, spelled, upper_first
from app.text.table import Col, TextCell, TextTable
from schemas.catalogue.metrics import MEASURED_CLASSES
from schemas.text import agreeing, plural, quoted
from schemas.units import Unit

Row = Mapping[str, Any]

MOST_NAMED = 3

LONGEST = 160
"""Characters of a sentence in a cell, since some errors of benchmarks fill pages."""


NONE_CHECKED = "No checked claim is about the part that was measured"


def held_words(row: AgentFigures) -> str:
    """Return how many of the claims about the measured part held.

    `None of 13 checked claims held.`; "" without such a claim.
    """
    if row.same_part == 1:
        return f"The one checked claim {'held' if row.held else 'did not hold'}."
    return f"{none_or(row.held)} of {row.same_part:,} checked claims held." if row.same_part else ""


def other_part_words(row: AgentFigures) -> str:
    """Return a sentence on checked claims about another part than was measured; "" without any.

    Such claims prove nothing.
    """
    if not row.other_part:
        return ""
    many, more = row.other_part > 1, " more" if row.same_part else ""
    held = (
        f"{spelled(row.other_held) if row.other_held else 'none'} of them"
        if many
        else "it"
        if row.other_held
        else "it has not"
    )
    subject = f"{upper_first(spelled(row.other_part))}{more} {'are' if many else 'is'}"
    return f"{subject} about another part than the benchmark: {held} held."


def speedups(rows: Sequence[AgentFigures]) -> Said:
    """Return the first lines of the screen Speedups.

    `rows`: those of `app.queries.agents.agents`, all runs in the first.
    """
    total, agents = rows[0], agents_of(rows)
    claims = total.claimed
    if total.same_part:
        claimants = [agent_name(row.agent) for row in agents if row.same_part]
        held, benchmarks = (
            held_words(total),
            "the benchmark" if total.same_part == 1 else "the benchmarks",
        )
        found, _ = median_or_range(
            total.checked_measured, ratio
        )  # a median as the promise before it
        promised = range_words(total.checked_claim, ratio)
        heading = (
            f"**{held}** {upper_first(joined(claimants))} promised {promised}; "
            f"{benchmarks} found {found}."
        )
    elif total.checked:
        heading = f"**{NONE_CHECKED}.** {other_part_words(total)}"
    elif claims.known:
        subject = upper_first(f"{spelled(claims.known, 'run')} {agreeing(claims.known, 'claims')}")
        none = "none can be checked" if total.runs_measured else "none was measured"
        heading = f"{subject} a speedup, {range_words(claims, ratio)}; **{none}**."
    elif total.comparable:
        heading = (
            f"No run claims a speedup; **{total.faster:,} of "
            f"{plural(total.comparable, 'comparable run')} became faster**."
        )
    elif total.runs_measured:
        heading = (
            "No run claims a speedup, and **none of "
            f"{plural(total.runs_measured, 'measured run')} can be compared**."
        )
    else:
        heading = "**No run claims a speedup**, and none was measured."
    return Said(heading, _turned_out(total), _coverage(total, agents))


def _turned_out(total: AgentFigures) -> str:
    """Return how checked claims failed, and the doubts in the runs measured faster.

    Claims about another part than was measured are apart.
    """
    kinds = [
        (total.more, "promised more than was measured"),
        (total.less, "less" if total.more else "promised less than was measured"),
        (total.wrong, "became slower"),
    ]
    failed = ", ".join(f"{number:,} {what}" for number, what in kinds if number)
    other = other_part_words(total) if total.same_part else ""
    sure = doubts(total.faster, total.beyond_noise, total.disputed, total.not_by_median)
    return " ".join(filter(None, (f"{failed}." if failed else "", other, sure)))


def _coverage(total: AgentFigures, agents: Sequence[AgentFigures]) -> str:
    parts = []
    if total.claimed.known:
        claiming = sorted(
            (row for row in agents if row.claimed.known), key=lambda row: -row.claimed.known
        )
        named = [f"{agent_name(row.agent)} {row.claimed.known:,}" for row in claiming[:MOST_NAMED]]
        named += (
            [f"others {sum(row.claimed.known for row in claiming[MOST_NAMED:]):,}"]
            if len(claiming) > MOST_NAMED
            else []
        )
        by = f" ({', '.join(named)})" if len(agents) > 1 else ""
        verb = agreeing(total.claimed.known, "claims")
        parts.append(
            f"**{total.claimed.known:,}** of {plural(total.runs, 'run')} {verb} a speedup{by}"
        )
    if total.runs_measured:
        compared = [row for row in agents if row.comparable]
        whose = (
            f", all {agent_name(compared[0].agent)}'s"
            if len(compared) == 1 and len(agents) > 1 and total.comparable > 1
            else ""
        )
        parts.append(
            f"**{total.comparable:,}** of {total.runs_measured:,} measured against a "
            f"comparable baseline{whose}"
        )
    if total.checked:
        same = f", **{total.same_part:,}** of one part" if total.other_part else ""
        parts.append(f"**{total.checked:,}** {agreeing(total.checked, 'has')} both{same}")
    return " · ".join(parts)


def unchecked_agents(rows: Sequence[AgentFigures]) -> str:
    """Return `TRAE (74 claims) and Codex (89): no claim can be checked.`, or "".

    It is "" if each agent has a checked claim or none.
    """
    silent = [row for row in agents_of(rows) if row.claimed.known and not row.checked]
    named = [f"{agent_name(row.agent)} ({plural(row.claimed.known, 'claim')})" for row in silent]
    return f"{joined(named)}: no claim can be checked." if named else ""


def largest_claims(claims: Sequence[float], above: float) -> str:
    """Return `5 claims above 10×: 13, 93, 272, 355, 390×`.

    For more than six, how many and the largest; "" for none.
    """
    over = sorted(claim for claim in claims if claim > above)
    if len(over) > 6:
        return f"{len(over):,} claims above {above:g}×, the largest {over[-1]:,.0f}×"
    return (
        (
            f"{plural(len(over), 'claim')} above {above:g}×: "
            f"{', '.join(f'{claim:,.0f}' for claim in over)}×"
        )
        if over
        else ""
    )


def few_medians(checks: Checks) -> str:
    """Return the median for the right end of a row of factors, if it has at least ENOUGH values."""
    return ratio(checks.factor.median or 0) if checks.factor.known >= ENOUGH else ""


def run_table(rows: Sequence[Row], key: str, filters: Filters) -> str:
    """Return the runs of one of `app.queries.measured.LISTS`."""

    def cut(said: str, longest: int = LONGEST) -> str:
        return said if len(said) <= longest else f"{said[: longest - 1].rstrip()}…"

    def factor(value: float | None) -> str:
        return short(value, Unit.RATIO)

    def name(row: Row) -> TextCell:
        claim = {"claim": str(row["claim_no"])} if row.get("claim_no") else {}
        return TextCell(
            cut(row["title"], 48),
            address=html_parts.link("run", filters, run=row["run_id"], **claim),
            kind="t-link",
            mark=html_parts.mark(row["agent"]),
            hint=agent_name(row["agent"]),
        )

    def measured(row: Row) -> TextCell:
        kind = row["measured_class"] if row["measured_class"] in ("faster", "slower") else ""
        said = verdict_words(row["measured_class"], is_beyond_noise=row["is_beyond_noise"])
        return TextCell(factor(row["measured_speedup"]), kind=kind and f"t-is-{kind}", hint=said)

    def metric(row: Row) -> TextCell:
        named = " ".join(filter(None, (row["metric"], row["statistic"])))
        return TextCell(named, hint=row["benchmark"] or "")

    def covers(row: Row) -> TextCell | str:
        if row["claimed_speedup"] is None:
            return UNKNOWN
        claimed, found = (
            words(str(row[key] or "unspecified")) for key in ("claimed_scope", "measured_scope")
        )
        if row["scope_differs"]:
            return TextCell(note=f"claim: {claimed}, measured: {found}")
        return TextCell(note="not stated" if "unspecified" in (claimed, found) else "same part")

    def evidence(row: Row) -> TextCell | str:
        if not row["claimed_evidence"]:
            return UNKNOWN
        is_stated = row["claimed_evidence"] == "benchmarked"
        return TextCell(
            evidence_words(row["claimed_evidence"]), kind="t-stated" if is_stated else ""
        )

    def sentence(row: Row) -> TextCell:
        return TextCell(cut(quoted(row["sentence"] or row["claimed_quote"] or "")), kind="t-wrap")

    def published(row: Row) -> TextCell:
        return TextCell(factor(row["ratio_published"]), kind="t-n t-void")

    def why(row: Row) -> TextCell | str:
        said = ": ".join(filter(None, (FAILURE_NAMES.get(row["failure"] or ""), row["why"])))
        return TextCell(cut(said), kind="t-wrap") if said else UNKNOWN

    first = (
        Col("Run", name),
        Col("Task", lambda row: TextCell(note=(row["task_key"] or UNKNOWN).replace("@", " ")), "w"),
        Col("Claimed", lambda row: factor(row["claimed_speedup"]), "r"),
    )
    cost = Col("Cost", lambda row: usd(row["cost_usd"], row["bound"], NOT_RECORDED), "r")
    if key == "claims":
        own: tuple[Col, ...] = (
            Col("Evidence", evidence),
            Col("In its summary", sentence),
            Col("Measured", lambda row: TextCell(note=MEASURED_CLASSES[row["measured_class"]])),
        )
    elif key in ("uncompared", "breaks"):
        own = (
            Col("As published", published, "r"),
            Col("What became of it", lambda row: MEASURED_CLASSES[row["measured_class"]]),
            Col("Why", why),
        )
    else:
        own = (
            Col("Measured", measured, "r"),
            Col("Other values", lambda row: few_others(row["other_values"]) or UNKNOWN),
            Col("÷ reference", lambda row: factor(row["measured_vs_reference"]), "r"),
            Col("Metric", metric),
            Col("Claim", lambda row: CLAIM_VERDICT_NAMES.get(row["claim_verdict"] or "", UNKNOWN)),
            Col("Covers", covers),
        )
    return TextTable((*first, *own, cost), rows).html(kind="t-grid", frame="t-scroll t-tall")


def only_measured(scores: Sequence[Row]) -> str:
    """Return the heading of a store with results of benchmarks and no runs."""
    count = len(_grouped(scores, "rule"))
    studies = sorted({row["study"] for row in scores if row["study"]})
    of = f" of {joined(studies)}" if studies else ""
    return (
        f"{plural(count, 'set')} of results{of}, without records of the runs: what they cost is "
        "unknown."
    )


RULES_CAPTION = (
    "Every benchmark judges by its own rule. Here each rule is applied to everything measured, "
    "also without records of the runs. A rule with the name of a benchmark gives the score that "
    "the benchmark publishes, and counts failures of the machine as the agent's. Point at a "
    "rule for what it counts, and at a figure for what it leaves out."
)
STEPS_CAPTION = (
    "From the score by a benchmark's own rule to what is measured faster, once or beyond noise. "
    f"Every step goes on from the one before; those left out as the {WORST} worst count again. "
    "In grey: by how much, and of how many tasks."
)


def _who(row: Row) -> TextCell:
    agent = " ".join(
        filter(None, (agent_name(row["agent"]) if row["agent"] else "", row["agent_version"]))
    )
    model = " · ".join(filter(None, (row["model"], row["effort"])))
    first, *rest = [one for one in (agent, model) if one] or [row["run_name"] or ""]
    return TextCell(first, "".join(rest)) if first else TextCell(note="not named")


def _score(row: Row) -> str:
    return (
        short(row["score_share"], Unit.SCORE)
        if row["score_share"] is not None
        else ratio(row["score_ratio"])
    )


def _grouped(rows: Sequence[Row], key: str) -> list[dict[str, Row]]:
    """Return the rows of each agent and model in a benchmark, by their word of `key`."""
    by_who: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        by_who.setdefault(tuple(row[name] for name in Who._fields), {})[row[key]] = row
    return list(by_who.values())


_STUDY = Col("Benchmark", lambda row: TextCell(note=next(iter(row.values()))["study"] or "other"))
_WHOSE = Col("Agent", lambda row: _who(next(iter(row.values()))))


def rules_table(scores: Sequence[Row]) -> str:
    """Return the scores of agents by the rules of benchmarks.

    A row per benchmark, agent and model, a column per rule.
    """

    def cell(key: str) -> Callable[[dict[str, Row]], TextCell]:
        def drawn(row: dict[str, Row]) -> TextCell:
            score = row[key]
            left_out = f"left out: {score['why']}" if score["why"] else ""
            hint = "; ".join(filter(None, (score["denominator"], left_out, _worst(score))))
            if not score["tasks"]:
                return TextCell(UNKNOWN, hint=hint)
            of_tasks = (
                f"n {score['tasks']:,}"
                if score["successes"] is None
                else f"{score['successes']:,} of {score['tasks']:,}"
            )
            honest = score["hack_control_share"]
            controlled = f"{short(honest, Unit.SCORE)} without hacks" if honest is not None else ""
            fast = [score[f"fast_{p}_share"] for p in FAST]
            of_p = " / ".join(short(one, Unit.SHARE) for one in fast) if None not in fast else ""
            note = ", ".join(filter(None, (of_tasks, controlled)))
            return TextCell(of_p or _score(score), note, hint=hint)

        return drawn

    def title(rule: Rule) -> str:
        of_p = f" fast {' / '.join(map(str, FAST))}" if rule.key == "kernelbench" else ""
        return rule.label + of_p

    rules = [
        Col(
            title(rule),
            cell(rule.key),
            "r",
            meaning=f"{rule.meaning} Counted: {rule.counts_own or rule.counts}.",
        )
        for rule in RULES.values()
    ]
    table = TextTable((_STUDY, _WHOSE, *rules), _grouped(scores, "rule"))
    return table.html(kind="t-grid", frame="t-scroll t-tall")


def steps_table(steps: Sequence[Row]) -> str:
    """Return the steps from published scores to ours.

    A row per benchmark, agent and model, a column per step.
    """

    def cell(key: str) -> Callable[[dict[str, Row]], TextCell]:
        def drawn(row: dict[str, Row]) -> TextCell:
            step = row[key]
            if step["score_share"] is None and step["score_ratio"] is None:
                return TextCell(UNKNOWN, hint=step["what"])
            changed = (
                short(step["change_points"], Unit.POINTS)
                if step["change_points"] is not None
                else ""
            )
            changed = (
                f"{step['change_ratio']:+.3g}".replace("-", MINUS)
                if step["change_ratio"] is not None
                else changed
            )
            changed = NOT_JUDGED if step["what"] == NOT_JUDGED else changed
            grey = ", ".join(filter(None, (changed, f"n {step['tasks']:,}")))
            return TextCell(_score(step), grey, hint=step["what"])

        return drawn

    shown = [Col(name, cell(key), "r", meaning=what) for key, (name, what) in STEPS.items()]
    table = TextTable((_STUDY, _WHOSE, *shown), _grouped(steps, "step"))
    return table.html(kind="t-grid", frame="t-scroll t-tall")


def _worst(score: Row) -> str:
    share, factor = score["without_worst_share"], score["without_worst_ratio"]
    if share is None and factor is None:
        return ""
    found = ratio(factor) if share is None else short(share, Unit.SCORE)
    return f"without the {WORST} worst tasks: {found}"
