"""Sentences and tables that compare claimed with measured speedups.

Pure; every text from a log is escaped.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from app.queries import Row
from app.queries.agents import ENOUGH, AgentFigures
from app.queries.filters import Filters
from app.queries.measured import UNCOMPARED, Checks
from app.queries.rules import FAST, NOT_JUDGED, RULES, STEPS, WORST, Rule, Who
from app.text import html_parts
from app.text.agents import disputed_words, measured_cell, range_words
from app.text.claims import (
    CLAIM_VERDICT_NAMES,
    FAILURE_NAMES,
    evidence_words,
    few_others,
    verdict_words,
    words,
)
from app.text.formatting import (
    MINUS,
    NOT_RECORDED,
    UNKNOWN,
    agent_name,
    id_in_command,
    ratio,
    short,
    usd,
)
from app.text.html_parts import Segment
from app.text.overview import agents_of, compared
from app.text.sentences import Doubt, Said, joined, none_or, spelled, upper_first
from app.text.table import Col, TextCell, TextTable, agent_cell, run_cell
from schemas.catalogue.metrics import MEASURED_CLASSES
from schemas.text import agreeing, join_known, plural, quoted
from schemas.units import Unit

AGAIN_CAPTION = (
    "Repeatable ones first, then the largest. SERVER stands for the command that starts a server "
    "from the work tree. How long a measurement takes is not in these logs; tachograph measure "
    "records it."
)

LONGEST = 160
"""Characters of a sentence in a cell, since some errors of benchmarks fill pages."""


def held_words(row: AgentFigures) -> str:
    """Return how many of the claims about the measured part held.

    `None of 13 checked claims held.`; "" without such a claim.
    """
    if row.same_part == 1:
        return f"The one checked claim {'held' if row.held else 'did not hold'}."
    return f"{none_or(row.held)} of {row.same_part:,} checked claims held." if row.same_part else ""


def speedups(
    rows: Sequence[AgentFigures], again: Sequence[Row], filters: Filters, quantified: int = 0
) -> Said:
    """Return the first lines of the screen Speedups.

    `rows`: those of `app.queries.agents.agents`, all runs in the first. `again`: those of
    `app.queries.measured.to_measure_again`. `quantified`: the number of claims with a figure.
    """
    total, once = rows[0], len(again)
    return Said(
        _heading(total, once),
        _repeatable(again) or f"{_failed(total)} {held_words(total)}".strip(),
        _coverage(total, agents_of(rows)),
        _doubts(total, filters, quantified),
    )


def _heading(total: AgentFigures, once: int) -> str:
    """Return how many results are faster, and which of them hold; else what else is known."""
    beyond = total.faster - once
    if total.faster:
        if not once:
            return (
                f"All {total.faster:,} faster results are **beyond noise**."
                if beyond > 1
                else "The one faster result is **beyond noise**."
            )
        which = "them shows which of them hold" if once > 1 else "it shows whether it holds"
        if beyond:
            which = (
                f"the other {once:,} shows which of them hold"
                if once > 1
                else "the other one shows whether it holds"
            )
        results = plural(total.faster, "result")
        return (
            f"{results} {agreeing(total.faster, 'is')} faster, **{beyond or 'none'} beyond noise**."
            f" Repeating {which}."
        )
    claims = total.claimed
    if total.comparable:
        return f"**None** of {plural(total.comparable, 'comparable result')} is faster."
    if total.runs_measured:
        return f"**None** of {plural(total.runs_measured, 'measured run')} can be compared."
    if claims.known:
        subject = upper_first(f"{spelled(claims.known, 'run')} {agreeing(claims.known, 'claims')}")
        return f"{subject} a speedup, {range_words(claims, ratio)}; **none was measured**."
    return "**No run claims a speedup**, and none was measured."


def _repeatable(again: Sequence[Row]) -> str:
    """Return how many results measured once can be repeated by the commands in their logs."""
    once = len(again)
    clients = sum(bool(row["needs_server"]) for row in again)
    ready = sum(row["command"] is not None for row in again) - clients
    if not once:
        return ""
    if not ready + clients:
        logs = "No log has" if once > 1 else "Its log does not have"
        return f"{logs} the command of the benchmark."

    def these(count: int) -> str:
        if once == 1:
            return "It"
        return f"{count:,} of these {once:,}" if count < once else f"All {once:,}"

    if not ready:
        logs = "its log has" if clients == 1 else "their logs have"
        return (
            f"{these(clients)} can be repeated with a server: {logs} only the command of its "
            "client."
        )
    logs = "its log has" if ready == 1 else "their logs have"
    more = f" {clients:,} more {agreeing(clients, 'needs')} a server." if clients else ""
    return f"{these(ready)} can be repeated now: {logs} the command.{more}"


def _failed(total: AgentFigures) -> str:
    """Return how checked claims about the measured part failed."""
    kinds = [
        (total.more, "promised more than was measured"),
        (total.less, "less" if total.more else "promised less than was measured"),
        (total.wrong, "became slower"),
    ]
    failed = ", ".join(f"{number:,} {what}" for number, what in kinds if number)
    return f"{failed}." if failed else ""


def _coverage(total: AgentFigures, agents: Sequence[AgentFigures]) -> str:
    """Return `**71** of 356 results comparable, all of Claude Code · 33 have a claim, 13 …`."""
    parts = [compared(total, agents)] if total.runs_measured else []
    if total.checked:
        same = f", {total.same_part:,} about the same part of the software"
        has = agreeing(total.checked, "has")
        parts.append(f"{total.checked:,} {has} a claim{same if total.other_part else ''}")
    elif total.claimed.known:
        claim = agreeing(total.claimed.known, "claims")
        parts.append(
            f"**{total.claimed.known:,}** of {plural(total.runs, 'run')} {claim} a speedup"
        )
    return " · ".join(parts)


def _doubts(total: AgentFigures, filters: Filters, quantified: int) -> list[Doubt]:
    """Return what is not sure of measurements and claims, each with the list of its runs."""
    unmeasured = total.claimed.known - total.checked
    uncompared = sum(total.measured[key] for key in UNCOMPARED)
    more = "more " if total.measured["breaks"] else ""  # they have none, either
    machine = total.measured["machine"]
    failed = f"; {machine:,} of them failed by the machine" if machine else ""
    doubted = (
        (disputed_words(total.faster, total.disputed, total.not_by_median), "moved"),
        (_sentence(total.other_part, "claim", "is about another part than was measured"), "pairs"),
        (_sentence(total.measured["breaks"], "change", "breaks the software"), "breaks"),
        (
            _sentence(uncompared, f"{more}result", f"has no comparable baseline{failed}"),
            "uncompared",
        ),
        (_sentence(unmeasured, "claim", "has no comparable result"), "claims"),
        (_sentence(quantified, "sentence", "claims a figure"), "sentences"),
    )
    return [
        Doubt(words, "show them", html_parts.link("speedups", filters, tab=tab))
        for words, tab in doubted
        if words
    ]


def _sentence(count: int, noun: str, verb: str) -> str:
    """Return `20 claims are about another part.`, "" for none."""
    first, _, rest = verb.partition(" ")
    return f"{plural(count, noun)} {agreeing(count, first)} {rest}." if count else ""


def unchecked_agents(rows: Sequence[AgentFigures]) -> str:
    """Return `143 of the 168 claims without a comparable result are of TRAE (68) and …`, or ""."""
    silent = [row for row in agents_of(rows) if row.claimed.known and not row.checked]
    if not silent:
        return ""
    count = sum(row.claimed.known for row in silent)
    named = joined([f"{agent_name(row.agent)} ({row.claimed.known:,})" for row in silent])
    every = rows[0].claimed.known - rows[0].checked
    claims = f"{count:,} of the {plural(every, 'claim')}"
    if count == every:
        claims = f"The {plural(count, 'claim') if count > 1 else 'claim'}"
    return f"{claims} without a comparable result {agreeing(count, 'is')} of {named}."


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


_WRITES = {
    "sglang.bench_serving": "--output-file {out}",
    "bench serve": "--save-result --result-filename {out}",
    "benchmark_serving": "--save-result --result-filename {out}",
    "bench latency": "--output-json {out}",
    "benchmark_latency": "--output-json {out}",
    "bench throughput": "--output-json {out}",
    "benchmark_throughput": "--output-json {out}",
}
"""What a benchmark's command contains → its option that writes a file `tachograph measure` reads.
Without it the wall time is measured."""

SERVED = (
    "SERVER & curl -sf --retry 600 --retry-delay 1 --retry-connrefused localhost:{port}/health && "
    "{client}"
)
"""A server and its client as one command, since what a command leaves running is ended."""


def command_of(row: Row, tachograph: Callable[[str], str]) -> str:
    """Return the command that repeats a measurement, "" if its log does not have it.

    `tachograph`: returns a whole command line for its words. The benchmark's words are quoted, as
    a log may hold any text.
    """
    try:
        words = shlex.split(row["command"] or "")
    except ValueError:  # unbalanced quotes
        return ""
    if not words:
        return ""
    run = id_in_command(row["run_id"])
    benchmark, metric = shlex.join(words), ""
    writes = next((how for tool, how in _WRITES.items() if tool in row["command"]), "")
    if writes:
        benchmark += f" {writes}"
        metric = f" --metric {shlex.quote(row['metric'])}" if row["metric"] else ""
    if row["needs_server"]:
        is_sglang = "sglang" in row["command"]
        ports = [after for word, after in pairwise(words) if word == "--port" and after.isdigit()]
        port = ports[0] if ports else "30000" if is_sglang else "8000"
        served = SERVED.replace("{port}", port).replace("{client}", benchmark)
        benchmark = f"sh -c {shlex.quote(served)}"
    return f"{tachograph(f'measure {run}{metric}')} -- {benchmark}"


def again_table(rows: Sequence[Row], filters: Filters, tachograph: Callable[[str], str]) -> str:
    """Return the results to measure again first, each with its command."""

    def values(row: Row) -> str:
        return f"{row['values_comparable']:,} of {row['values_measured']:,}"

    def machine(row: Row) -> str:
        name, _, count = (row["machine"] or NOT_RECORDED).partition(":")  # H100:1
        return f"{count} × {name}" if count.isdigit() else row["machine"] or NOT_RECORDED

    def command(row: Row) -> TextCell:
        line = command_of(row, tachograph)
        return (
            TextCell(line, "needs a server" if row["needs_server"] else "", "", "t-cmd", hint=line)
            if line
            else TextCell(note="its command is not recorded")
        )

    columns = (
        Col("Run", lambda row: replace(run_cell(row, filters), hint=agent_name(row["agent"]))),
        Col("Measured once", lambda row: TextCell(strong=ratio(row["measured_speedup"])), "r"),
        Col("Values compared", values, "r"),
        Col("Other values", lambda row: few_others(row["other_values"], "faster", 2)),
        Col("Benchmark", lambda row: row["benchmark"] or ""),
        Col("Machine", machine),
        Col("To repeat it", command),
    )
    wide = TextTable(columns, rows).html(frame="")
    phone = TextTable([columns[place] for place in (0, 1, 3, 6)], rows).cards
    return f'<div class="t-wide t-scroll">{wide}</div><div class="t-phone">{phone}</div>'


def divide_table(checks: Sequence[Checks]) -> TextTable:
    """Return by how much to divide a claim: the median of claimed ÷ measured, from ENOUGH on."""
    agents = {row.agent for row in checks if not row.is_all}
    rows = [row for row in checks if row.is_all is (len(agents) == 1)]

    def covers(row: Checks) -> str:
        part = f"cover {'another' if row.is_other_part else 'the same'} part"
        return part if row.is_all else f"{agent_name(row.agent)}: {part}"

    def ends(row: Checks) -> str:
        ends = (ratio(end)[:-1] for end in (row.factor.low, row.factor.high))
        return " – ".join(dict.fromkeys(ends))

    columns = (
        Col("Claim and benchmark", covers),
        Col("÷", lambda row: TextCell(strong=few_medians(row)), "r"),
        Col("from – to", ends, "r"),
        Col("Claims", lambda row: f"{row.checked:,}", "r"),
    )
    return TextTable(columns, rows).filled


def few_medians(checks: Checks) -> str:
    """Return the median factor without its sign if it has at least ENOUGH values."""
    return ratio(checks.factor.median or 0)[:-1] if checks.factor.known >= ENOUGH else ""


def became_table(rows: Sequence[AgentFigures], filters: Filters) -> TextTable:
    """Return what became of the measurements: a bar per agent, as long as its runs are many."""
    agents = [row for row in agents_of(rows) if row.runs_measured]
    most = max((row.runs_measured for row in agents), default=0)

    def results(row: AgentFigures) -> TextCell:
        cell = measured_cell(row)
        uncompared = row.runs_measured - row.comparable - row.measured["breaks"]
        more = f" · {uncompared:,} not comparable" if row.comparable and uncompared else ""
        filler = Segment("none", most - row.runs_measured, "")
        return replace(cell, text=f"{cell.text}{more}", bar=[*cell.bar, filler])

    columns = (
        Col("Agent", lambda row: agent_cell(row.agent, "", filters)),
        Col("Results", results),
    )
    return TextTable(columns, agents)


def run_table(rows: Sequence[Row], key: str, filters: Filters) -> str:
    """Return the runs of one of `app.queries.measured.LISTS`."""
    cost = Col("Cost", lambda row: usd(row["cost_usd"], row["bound"], NOT_RECORDED), "r")
    columns = {
        "claims": (*_RUN_AND_CLAIM, *_OF_CLAIMS),
        "uncompared": (*_RUN_AND_CLAIM, *_OF_FAILURES),
        "breaks": (*_RUN_AND_CLAIM, *_OF_FAILURES),
    }.get(key, (_MEASURED, _HOW_SURE, _CLAIMED, *_OF_PAIRS))

    def name(row: Row) -> TextCell:
        claim = {"claim": str(row["claim_no"])} if row.get("claim_no") else {}
        address = html_parts.link("run", filters, run=row["run_id"], **claim)
        hint, mark = agent_name(row["agent"]), html_parts.mark(row["agent"])
        return TextCell(_cut(row["title"], 48), "", "", "t-link", address, hint, mark)

    return TextTable((Col("Run", name), *columns, cost), rows).html()


def _cut(said: str, longest: int = LONGEST) -> str:
    return said if len(said) <= longest else f"{said[: longest - 1].rstrip()}…"


def _measured(row: Row) -> TextCell:
    kind = row["measured_class"] if row["measured_class"] in ("faster", "slower") else ""
    metric = join_known(" ", row["benchmark"], row["metric"], row["statistic"])
    return TextCell(
        short(row["measured_speedup"], Unit.RATIO), kind=kind and f"t-is-{kind}", hint=metric
    )


def _how_sure(row: Row) -> TextCell:
    others = few_others(row["other_values"], row["measured_class"], 9)
    if row["measured_class"] not in ("faster", "slower"):
        return TextCell(note=verdict_words(row["measured_class"]), hint=others)
    if row["is_beyond_noise"]:
        return TextCell("beyond noise", hint=others)
    return TextCell(note="measured once", hint=others)


def _claimed(row: Row) -> TextCell:
    value = row["claimed_speedup"]
    return TextCell(note="no claim") if value is None else TextCell(ratio(value))


def _over_measured(row: Row) -> str:
    if row["claimed_speedup"] is None or not row["measured_speedup"]:
        return ""
    return ratio(row["claimed_speedup"] / row["measured_speedup"])[:-1]


def _kept(row: Row) -> str:
    return "" if row["claimed_speedup"] is None else CLAIM_VERDICT_NAMES[row["claim_verdict"]]


def _covers(row: Row) -> TextCell:
    if row["claimed_speedup"] is None:
        return TextCell()
    claimed, found = (
        words(str(row[key] or "unspecified")) for key in ("claimed_scope", "measured_scope")
    )
    hint = f"claim: {claimed}, measured: {found}"
    if row["scope_differs"]:
        return TextCell("another part", hint=hint)
    return TextCell("not stated" if "unspecified" in (claimed, found) else "same part", hint=hint)


def _evidence(row: Row) -> TextCell | str:
    if not row["claimed_evidence"]:
        return UNKNOWN
    is_stated = row["claimed_evidence"] == "benchmarked"
    return TextCell(evidence_words(row["claimed_evidence"]), kind="t-stated" if is_stated else "")


def _sentence_of(row: Row) -> TextCell:
    return TextCell(_cut(quoted(row["sentence"] or row["claimed_quote"] or "")), kind="t-wrap")


def _published(row: Row) -> TextCell:
    return TextCell(short(row["ratio_published"], Unit.RATIO), kind="t-n t-void")


def _why(row: Row) -> TextCell | str:
    said = join_known(": ", FAILURE_NAMES.get(row["failure"] or ""), row["why"])
    return TextCell(_cut(said), kind="t-wrap") if said else UNKNOWN


def _became(row: Row) -> TextCell:
    return TextCell(note=MEASURED_CLASSES[row["measured_class"]])


_MEASURED, _HOW_SURE = Col("Measured", _measured, "r"), Col("How sure", _how_sure)
_CLAIMED = Col("Claimed", _claimed, "r")
_RUN_AND_CLAIM = (
    Col("Task", lambda row: TextCell(note=(row["task_key"] or UNKNOWN).replace("@", " ")), "w"),
    _CLAIMED,
)
_OF_PAIRS = (
    Col("÷ claim", _over_measured, "r"),
    Col("Claim", _kept),
    Col("Claim covers", _covers),
)
_OF_CLAIMS = (
    Col("Evidence", _evidence),
    Col("In its summary", _sentence_of),
    Col("Measured", _became),
)
_OF_FAILURES = (
    Col("As published", _published, "r"),
    Col("What became of it", _became),
    Col("Why", _why),
)


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
    agent = join_known(" ", agent_name(row["agent"]) if row["agent"] else "", row["agent_version"])
    model = join_known(" · ", row["model"], row["effort"])
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
            hint = join_known("; ", score["denominator"], left_out, _worst(score))
            if not score["tasks"]:
                return TextCell(UNKNOWN, hint=hint)
            of_tasks = (
                f"n {score['tasks']:,}"
                if score["successes"] is None
                else f"{score['successes']:,} of {score['tasks']:,}"
            )
            kinds = (("share", Unit.SCORE), ("ratio", Unit.RATIO))
            controlled = "".join(
                f"{short(honest, unit)} without hacks"
                for kind, unit in kinds
                if (honest := score[f"hack_control_{kind}"]) is not None
            )
            fast = [score[f"fast_{p}_share"] for p in FAST]
            of_p = " / ".join(short(one, Unit.SHARE) for one in fast) if None not in fast else ""
            note = join_known(", ", of_tasks, controlled)
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
            grey = join_known(", ", changed, f"n {step['tasks']:,}")
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
