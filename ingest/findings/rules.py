"""Rules that compare the figures of a record with its summary.

A rule grades evidence and does not accuse: most claims of agents are true, and a false alarm costs
more trust than a miss. So each rule needs more than a hint, says what it expected and what it
found, and is measured on real records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from operator import attrgetter
from typing import NamedTuple

from ingest.agents.shared.costs import COST_TOLERANCE, is_unknown, is_unpaid
from ingest.agents.shared.tokens import CUT_OFF, CUT_SHORT, DOUBTS
from ingest.claims import MOST_TRIGGERS, Claim, triggers_in
from ingest.findings.lines import Lines, marked_lines
from ingest.findings.statements import Statements
from ingest.literals import LiteralSearch, pattern
from schemas.catalogue.rules import FINDING_RULES
from schemas.claims import ClaimKind, ClaimMetric, Direction, Evidence, Origin, Scope
from schemas.rows.run import TOKEN_CLASSES, ModelUsageRow, Outcome, RecordKind, RunRow
from schemas.rows.source import Severity
from schemas.text import quoted
from schemas.wire.launch import EXIT_CODE

MEASURED = frozenset((Evidence.BENCHMARKED, Evidence.FIGURES))

SPEED = frozenset((ClaimMetric.TIME, ClaimMetric.THROUGHPUT))


class Finding(NamedTuple):
    """Values of a `schemas.rows.source.FindingRow`, without the run."""

    rule: str
    severity: Severity
    message: str
    expected: str | None = None
    actual: str | None = None


class Noticed(NamedTuple):
    """The outcome of a rule for one run.

    A message in plain words, the expected and the actual value.
    """

    message: str
    expected: str | None = None
    actual: str | None = None


class AuditedRun(NamedTuple):
    """The facts of one run. `text`: its repaired summary, or ""."""

    run: RunRow
    usage: Sequence[ModelUsageRow]
    text: str
    claims: Sequence[Claim]
    statements: Statements

    @property
    def lines(self) -> Lines:
        """The marked lines of the text, as the statements were read from."""
        return self.statements.lines or marked_lines(self.text)


Check = Callable[[AuditedRun], Iterator[Noticed]]

RULES: dict[str, tuple[Severity, Check]] = {}
"""Severity and function of every rule by name, in the order in which findings are kept."""


def rule(check: Check) -> Check:
    """Register a function as the rule of its name, which is an entry of `FINDING_RULES`."""
    RULES[check.__name__] = FINDING_RULES[check.__name__].severity, check
    return check


def audit(runs: Sequence[AuditedRun]) -> list[tuple[Finding, ...]]:
    """Return all findings about each run, one rule after the other for all runs."""
    found: list[list[Finding]] = [[] for _ in runs]
    for name, (severity, check) in RULES.items():
        for facts, of_run in zip(runs, found, strict=True):
            for noticed in check(facts):
                of_run.append(Finding(name, severity, *noticed))
    return [*map(tuple, found)]


# Figures of the record: whether they agree with each other. Each rule was verified on real records.

_all_models_tokens = attrgetter(*TOKEN_CLASSES)
_main_loop_tokens = attrgetter(*(f"usage_{name}" for name in TOKEN_CLASSES))


@rule
def cost_sum(facts: AuditedRun) -> Iterator[Noticed]:
    """Σ modelUsage.costUSD = total_cost_usd, unless background agents were killed.

    This holds in every real record with both.

    Their tokens are billed and in `modelUsage`, and the total is the conversation alone
    (agent-eval-harness #195).
    """
    total = facts.run.cost_reported_usd
    costs = [row.cost_reported_usd for row in facts.usage if row.cost_reported_usd is not None]
    if total is None or not costs:
        return
    summed, tolerance = sum(costs, Decimal(0)), max(COST_TOLERANCE, COST_TOLERANCE * total)
    if summed - total > tolerance:
        yield Noticed(
            "The models cost more than the reported total, which leaves out what was billed "
            "besides, as for background agents that were killed. The sum of the models counts.",
            _usd(summed),
            _usd(total),
        )
    elif total - summed > tolerance and len(costs) == len(facts.usage):
        yield Noticed(
            "The models' costs do not add up to the reported total: the rest is of no model.",
            _usd(summed),
            _usd(total),
        )


def _usd(amount: Decimal) -> str:
    """Format an amount with all digits, without trailing zeros."""
    return f"${amount.normalize():f}"


@rule
def usage_above_total(facts: AuditedRun) -> Iterator[Noticed]:
    """`usage` is a part of `modelUsage`, token class by token class."""
    for name, part, whole in zip(
        TOKEN_CLASSES, _main_loop_tokens(facts.run), _all_models_tokens(facts.run), strict=True
    ):
        if part is not None and whole is not None and part > whole:
            words = name.replace("_", " ")
            yield Noticed(
                (
                    f"The main loop has more {words} than all models together: the reported cost "
                    "may be too low."
                ),
                f"at least {part:,} {words}",
                f"{whole:,} {words}",
            )


@rule
def cache_split(facts: AuditedRun) -> Iterator[Noticed]:
    """Cache writes for 5 minutes and for 1 hour are parts of all cache writes."""
    for row in facts.usage:
        parts = (row.cache_write_5m_tokens or 0) + (row.cache_write_1h_tokens or 0)
        if row.cache_write_tokens is not None and parts > row.cache_write_tokens:
            yield Noticed(
                (
                    f"{row.model_id or 'A model'} has more 5-minute and 1-hour cache writes than "
                    "cache writes in total."
                ),
                f"at most {row.cache_write_tokens:,} tokens",
                f"{parts:,} tokens",
            )


@rule
def doubtful_usage(facts: AuditedRun) -> Iterator[Noticed]:
    """Counts that cannot be whole, as of a log that is cut off, or cannot be right.

    They are bounds. Each reason once.

    A stream without its end has the finding `cut_off` instead.
    """
    reasons = {
        reason: None
        for row in facts.usage
        for reason in DOUBTS
        if reason in (row.tokens_basis_reason or "")
    }
    if facts.run.terminal_reason == CUT_SHORT:
        reasons[CUT_OFF] = None
    if facts.run.record_kind is RecordKind.STREAM and facts.run.outcome is Outcome.INTERRUPTED:
        reasons.pop(CUT_OFF, None)
    for reason in reasons:
        yield Noticed(reason)


@rule
def zero_cost(facts: AuditedRun) -> Iterator[Noticed]:
    """$0 although tokens were used.

    Of resumed sessions (claude-code #15418), subscriptions, and models without a price at the
    agent.
    """
    run, unpaid = facts.run, [row for row in facts.usage if is_unpaid(row)]
    if is_unknown(run, facts.usage):
        used = (
            f"for {run.output_tokens:,} output tokens"
            if run.output_tokens
            else "although the run worked"
        )
        yield Noticed(
            f"The reported cost is $0 {used}: what that cost is unknown.", "a cost above $0", "$0"
        )
    elif unpaid:
        models = ", ".join(sorted(row.model_id or "a model" for row in unpaid))
        yield Noticed(
            f"The agent reports $0 for the tokens of {models}: the run cost more than is reported.",
            "a cost above $0",
            "$0",
        )


@rule
def guessed_price(facts: AuditedRun) -> Iterator[Noticed]:
    """`costBasis: unknown`: the agent had no price for the model and took that of another one."""
    for row in facts.usage:
        if row.cost_basis == "unknown":
            yield Noticed(
                f"The agent did not know the price of {row.model_id} and guessed it.",
                "a known price",
                "costBasis: unknown",
            )


@rule
def silent_failure(facts: AuditedRun) -> Iterator[Noticed]:
    """A failed run without a reason: errors may be missing (claude-code #19912, SDK #1031)."""
    run = facts.run
    if run.outcome is Outcome.EXECUTION_ERROR and not run.errors and not facts.text.strip():
        yield Noticed("The run failed without an error message.", "an error message", "none")


@rule
def exit_code(facts: AuditedRun) -> Iterator[Noticed]:
    """A record of success before the process failed.

    Something failed afterwards, in the agent or in a script around it.
    """
    code = exit_code_of(facts.run)
    if code and facts.run.outcome is Outcome.COMPLETED:
        yield Noticed(
            f"The record says that the run completed, but its process exited with code {code}.",
            "exit code 0",
            f"exit code {code}",
        )


def exit_code_of(run: RunRow) -> int:
    """Return the exit code of a run's process, a label that `tachograph run` sets; 0 if unknown."""
    code = run.labels.get(EXIT_CODE, "")
    return (
        int(code) if code.isascii() and code.isdigit() and len(code) < 4 else 0
    )  # anybody may give a label


# The summary beside the record.

MANY_TURNS = 10
"""From so many turns on, a run should have a summary."""

_SUCCESS = pattern(
    r"\A\W*(?:perfect|done|success)\b[!.]"
    r"|\b(?:I(?:'ve| have)|has been|was|were|have been|task|all)\s(?:now\s)?"
    r"(?:successfully\s(?:\w+ed|built|done|written)|completed?\ssuccessfully)"
    r"|\b(?:task|implementation|work|feature|optimization|everything)\sis\s(?:now\s)?(?:fully\s)?(?:complete|done|finished)\b",
    re.IGNORECASE,
)
_HELD_UP = pattern(
    (
        r"I(?<=\bI)(?:'m| am| remain) (?:still |currently |completely )?blocked\b|S(?<=^S)TATUS: "
        r"BLOCKED$"
    ),
    re.MULTILINE,
)
_NOT_PERMITTED = pattern(
    r"\b(?:I|we) (?:still )?needs? (?:[\w-]+ ){0,3}(?:permission|approval)\b|\bneeds "
    r"(?:your|user|manual) approval\b"
    r"|\b(?:waiting for|awaiting) (?:your |user )?(?:[\w-]+ ){0,"
    r"2}(?:permission|approval)\b|\brequires? (?:manual|your|user) approval\b"
    r"|\bI don't have (?:[\w-]+ )?(?:permission|access)\b|\bI(?:'m| am) unable to "
    r"(?:modify|edit|write|make|create|apply)\b"
    r"|\bI (?:cannot|can't) (?:apply|edit|modify|write|make|proceed)\b"
    r"|\b(?:tools?|operations?|commands?|write)\b[^.\n]{0,60} "
    r"(?:are|is|was|were|being|gets?|getting) (?:all |both )?"
    r"(?:blocked|denied|rejected)\b"
    r"|\bblocked (?:by|on|from) (?:the |your |file )?(?:permissions?|sandbox|making)\b"
)
_PERMISSION = LiteralSearch(
    (
        "permission",
        "approval",
        "I don't have",
        "unable to",
        "I cannot",
        "I can't",
        "blocked",
        "denied",
        "rejected",
    ),
    leftmost=True,
)
"""Every match of _NOT_PERMITTED has one of these words on its line."""

_SENTENCE_END = pattern(r"[.!?](?:\s|$)|\n")
_SENTENCE_LENGTH = 120


@rule
def success_claimed(facts: AuditedRun) -> Iterator[Noticed]:
    """A summary that begins with success, although the run ended otherwise."""
    if facts.run.outcome not in (Outcome.COMPLETED, Outcome.UNKNOWN) and (
        found := _SUCCESS.search(facts.text, 0, 300)
    ):
        words = found[0].strip()
        yield Noticed(
            f"The summary claims success (“{words}”), but the outcome is {facts.run.outcome}.",
            "completed",
            facts.run.outcome,
        )


@rule
def blocked_but_completed(facts: AuditedRun) -> Iterator[Noticed]:
    """A summary reports a blocked agent, but the record reports a completed run.

    Words about permissions count only if the record has denied tool calls too: agents also write
    about permissions of other people.
    """
    text, denials = facts.text, facts.run.permission_denials or 0
    if facts.run.outcome is not Outcome.COMPLETED:
        return
    found, line_end = _HELD_UP.search(text) if facts.lines.blocked else None, 0
    for _, at, _ in _PERMISSION.find(text) if denials and not found else ():
        if at >= line_end and not found:
            line_start, line_end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            line_end = line_end if line_end >= 0 else len(text)
            found = _NOT_PERMITTED.search(text, line_start, line_end)
    if found:
        earliest = max(0, found.start() - _SENTENCE_LENGTH)
        before = [end.end() for end in _SENTENCE_END.finditer(text, earliest, found.start())]
        end = _SENTENCE_END.search(text, found.end(), found.end() + _SENTENCE_LENGTH)
        sentence = text[
            before[-1] if before else earliest : end.start() if end else found.end()
        ].strip(' \t#*->`“”"')
        denied = (
            f"; {denials:,} tool call{'s were' if denials > 1 else ' was'} denied"
            if denials
            else ""
        )
        yield Noticed(
            (
                "The outcome is completed, but the summary says the agent was blocked: "
                f"“{sentence}”{denied}."
            ),
            "completed",
            "blocked",
        )


@rule
def empty_summary(facts: AuditedRun) -> Iterator[Noticed]:
    """Many turns without a summary (claude-code #38706)."""
    run = facts.run
    if (
        run.outcome is Outcome.COMPLETED
        and not facts.text.strip()
        and (run.num_turns or 0) >= MANY_TURNS
    ):
        yield Noticed(
            f"The run completed after {run.num_turns} turns and has no summary.",
            "a summary",
            "none",
        )


@rule
def patch_size(facts: AuditedRun) -> Iterator[Noticed]:
    """Insertions and deletions per file against the patch beside the record.

    They are compared if the text lists as many files as the patch has.
    """
    run, changes = facts.run, facts.statements.file_changes
    if not changes or len(changes) != run.patch_files:
        return
    said = [
        sum(counts)
        for counts in zip(
            *((change.insertions or 0, change.deletions or 0) for change in changes), strict=True
        )
    ]
    is_whole = all(
        change.insertions is not None and change.deletions is not None for change in changes
    )
    if is_whole and said != [run.patch_insertions, run.patch_deletions]:
        yield Noticed(
            (
                "The changed lines stated in the summary do not match the patch file beside the "
                "record."
            ),
            f"{run.patch_insertions} insertions, {run.patch_deletions} deletions",
            f"{said[0]} insertions, {said[1]} deletions",
        )


@rule
def read_in_part(facts: AuditedRun) -> Iterator[Noticed]:
    """A summary that is too long, or has too many figures, to be read to its end.

    Data rather than words.
    """
    length, most = len(facts.run.result or ""), len(facts.text)
    if length > most:
        yield Noticed(
            (
                f"The summary has {length:,} characters; only the first {most:,} were searched "
                "for claims and statements."
            ),
            f"at most {most:,} characters",
            f"{length:,} characters",
        )
    elif length > MOST_TRIGGERS and (count := triggers_in(facts.text)) > MOST_TRIGGERS:
        yield Noticed(
            (
                f"The summary has {count:,} numbers that may be claims; only the first "
                f"{MOST_TRIGGERS:,} were read."
            ),
            f"at most {MOST_TRIGGERS:,} numbers",
            f"{count:,} numbers",
        )


@rule
def text_repaired(facts: AuditedRun) -> Iterator[Noticed]:
    """The summary was damaged: the repaired text is shown and searched."""
    if facts.run.result_repaired:
        yield Noticed(
            "The summary had encoding errors (“â†’” for “→”). It is shown repaired; the raw "
            "record is kept."
        )


# Counts in the text: the count in a headline, and the items listed below it.

_THINGS = (
    r"(?:instances?|occurrences?|places|locations?|call\ssites?|usages?|allocations?|replacements?"
    r"|calls|changes|edits|conversions?|fixes)"
)
_THING = pattern(rf"{_THINGS}\b", re.VERBOSE)
_HEADLINE = pattern(
    rf"(\d(?<![\w.,/-]\d)\d{{0,3}})\*{{0,2}}\s(?:\w+\s){{0,2}}?({_THINGS})\b", re.VERBOSE
)
_ITEM_OR_TEXT = pattern(r"\n(?:([^\S\n]{0,12})(?:[-*+•]|\d{1,3}[.)])[^\S\n].*|(?![ \t])[^\S\n]*\S)")
_ITEM_COUNT = pattern(
    rf"[-–—:(](?:(?<=[:(])|(?<=[^\S\n][-–—]))\s*\*{{0,2}}(\d{{1,4}})\*{{0,2}}\s((?:[a-z]\w*\s){{0,2}}?{_THINGS})\b",
    re.VERBOSE,
)
_NUMBERED_OR_HEADING = pattern(r"\n(?:\*{0,2}(\d{1,3})[.)]\*{0,2}[^\S\n]|#)")
_TOTAL = pattern(r"\((?<![\w.]\()(\d{1,3}) total\)\W*$")

LINES_TO_LIST = 15
"""A list begins at most this many lines after its heading."""

LEAST_ITEMS = 3
"""Fewer counted items are no breakdown."""

HEADINGS_READ = 20

LIST_READ = 100_000


@rule
def count_mismatch(facts: AuditedRun) -> Iterator[Noticed]:
    """`14 instances` above a list whose items each count the same things.

    The sum of the items differs.
    """
    text, lines = facts.text, facts.lines
    for line in sorted((*lines.instances, *lines.occurrences, *lines.call_sites)):
        if headline := _HEADLINE.search(text, *line):
            counts = _item_counts(text, line[1])
            said, listed = int(headline[1]), sum(counts)
            if len(counts) >= LEAST_ITEMS and said not in (listed, len(counts)):
                yield Noticed(
                    f"The summary states {said} {headline[2]}; the {len(counts)} items listed "
                    f"below it add up to {listed}{_elsewhere(text, listed)}.",
                    str(listed),
                    str(said),
                )
            return


@rule
def list_length(facts: AuditedRun) -> Iterator[Noticed]:
    """A heading with `(6 total)` at its end, above a list 1, 2, 3 … of another length.

    Subheadings may divide the list.
    """
    text = facts.text
    for start, end in facts.lines.total[:HEADINGS_READ]:
        heading, last = _TOTAL.search(text, start, end), 0
        for line in _below(text, end, _NUMBERED_OR_HEADING) if heading else ():
            if line[1] is None:
                break
            if int(line[1]) != last + 1:
                last = 0
                break
            last += 1
        if heading and last > 1 and last != int(heading[1]):
            yield Noticed(
                f"The heading states {heading[1]} items; the numbered list below it has {last}.",
                heading[1],
                str(last),
            )


def _elsewhere(text: str, count: int) -> str:
    """Mention another place of the text that has the same sum, or return ""."""
    at = text.find(f"{count} ")
    while at >= 0:
        things = _THING.match(text, at + len(str(count)) + 1)
        if things and not (at and (text[at - 1].isalnum() or text[at - 1] in ".,")):
            return f", and elsewhere it says {count} {things[0]}"
        at = text.find(f"{count} ", at + 1)
    return ""


def _item_counts(text: str, end: int) -> list[int]:
    """Return the counts of the outermost items of the first list after the line.

    None unless each item counts the same things.
    """
    counts: list[int] = []
    things: set[str] = set()
    margin = None
    for line in _below(text, end, _ITEM_OR_TEXT):
        indent = line[1]
        if margin is None and text.count("\n", end, line.start()) > LINES_TO_LIST:
            break
        if indent is None:
            if counts:
                break
            continue
        margin = len(indent) if margin is None else margin
        if len(indent) > margin:
            continue
        found = _ITEM_COUNT.findall(text, line.start() + 1, line.end())
        if len(found) != 1:
            return []
        counts.append(int(found[0][0]))
        things.add(found[0][1].removesuffix("s"))
    return counts if len(things) == 1 else []


def _below(text: str, end: int, begin: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the lines that match `begin`, within LIST_READ characters after the line to `end`.

    This line ends at `end`.
    """
    return begin.finditer(text, end, end + LIST_READ if text.startswith("\n", end) else end)


# Claims: their arithmetic, and their evidence.

BELIEVABLE = 100.0
"""Above this factor a claim needs figures."""

SLACK, SLACK_HEDGED = 0.02, 0.10
"""Tolerance beyond rounding between two statements of one effect, exact or hedged."""

_QUANTIFIED, _OWN, _BETTER, _MICRO, _BENCHMARKED = (
    ClaimKind.QUANTIFIED,
    Origin.OWN,
    Direction.BETTER,
    Scope.MICRO,
    Evidence.BENCHMARKED,
)
_LONGEST_QUOTE = 80
_NUMBER = pattern(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_PERCENT = pattern(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)\s?%")
_FACTOR = pattern(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)\s?[x×](?![\w])")
_OF_BEFORE = pattern(r"%\s+of\b|\bto\s+~?\d[\d.,]*\s?%")
_INEXACT = pattern(
    r"[<≥≤]|(?<![-=])>|\d\s?[x×%]?\+|\d[-–—]~?\d|\b(?:up to|at least|or more|over|under)\b",
    re.IGNORECASE,
)
"""A bound, or a range (`20–30x`), but not the arrow `->`."""

Interval = tuple[float, float]


@rule
def ratio_mismatch(facts: AuditedRun) -> Iterator[Noticed]:
    """Before and after have another ratio than the percentage or factor beside them.

    Rounding does not explain the difference.
    """
    for claim in facts.claims:
        pair = _interval_of_pair(claim) if claim.before is not None else None
        other = _intervals_of_percentage(claim.quote) if pair else []
        if pair and other and not any(pair[0] <= high and low <= pair[1] for low, high in other):
            given, stated = _ratio(claim.ratio or 0), _ratio(sum(other[0]) / 2)
            quote = quoted(claim.quote, _LONGEST_QUOTE)
            yield Noticed(
                (
                    f"“{quote}” is inconsistent: before/after gives {given}, the text says about "
                    f"{stated}."
                ),
                given,
                stated,
            )


@rule
def implausible_speedup(facts: AuditedRun) -> Iterator[Noticed]:
    """A factor above BELIEVABLE without figures or a benchmark anywhere; the largest of several.

    A percentage does not count: leaving something out saves 99.6 % of it.
    """
    large = [
        claim
        for claim in facts.claims
        if (claim.ratio or 0) > BELIEVABLE and "%" not in claim.quote and _is_own_improvement(claim)
    ]
    if large and not any(claim.evidence in MEASURED for claim in large):
        most = max(large, key=lambda claim: claim.ratio or 0.0)
        yield Noticed(
            (
                f"The summary claims “{quoted(most.quote, _LONGEST_QUOTE)}” without numbers to "
                "support it."
            ),
            f"at most {_ratio(BELIEVABLE)} without numbers",
            _ratio(most.ratio or 0.0),
        )


@rule
def micro_benchmark_only(facts: AuditedRun) -> Iterator[Noticed]:
    """A speedup that was benchmarked on a part of the software only.

    It does not say how much users gain.

    Any claim about a component or the whole, even of no change, prevents the finding.
    """
    benchmarked = []
    for claim in facts.claims:
        if claim.metric in SPEED and claim.ratio and claim.origin is _OWN:
            if claim.scope is not _MICRO:
                return
            if claim.evidence is _BENCHMARKED and _is_own_improvement(claim):
                benchmarked.append(claim)
    if benchmarked:
        best = max(benchmarked, key=lambda claim: claim.ratio or 0.0)
        yield Noticed(
            f"The claimed speedup (“{quoted(best.quote, _LONGEST_QUOTE)}”) is for a "
            "micro-benchmark or a single function; the summary has no end-to-end result.",
            "a component or end-to-end result",
            "micro-benchmark",
        )


@rule
def unmeasured_claim(facts: AuditedRun) -> Iterator[Noticed]:
    """Quantified claims without any measurement."""
    claims = []
    for claim in facts.claims:
        if _is_own_improvement(claim):
            if claim.evidence in MEASURED:
                return
            claims.append(claim)
    if not claims:
        return
    is_estimate = all(claim.evidence is Evidence.ESTIMATED for claim in claims)
    how = "as a projection" if is_estimate else "without saying how it was measured"
    yield Noticed(
        f"The summary claims “{quoted(claims[0].quote, _LONGEST_QUOTE)}” {how}.",
        "a measurement",
        Evidence.ESTIMATED if is_estimate else Evidence.STATED,
    )


def _is_own_improvement(claim: Claim) -> bool:
    """Return whether it is a quantified claim that the run's own work made something better."""
    return claim.kind is _QUANTIFIED and claim.origin is _OWN and claim.direction is _BETTER


def _ratio(value: float) -> str:
    """Format a ratio: `3.17×`, `76,541×`."""
    return f"{value:,.0f}×" if value >= 100 else f"{value:.3g}×"


def _interval_of_pair(claim: Claim) -> Interval | None:
    """Return the ratio of before and after with its rounding interval, or None."""
    if (
        claim.ratio is None
        or claim.ratio_low is not None
        or claim.before is None
        or claim.after is None
    ):
        return None
    spread = 0.0
    for figure in (claim.before, claim.after):
        written = next(
            (
                text
                for text in _NUMBER.findall(claim.quote)
                if float(text.replace(",", "")) == figure
            ),
            None,
        )
        if written is None or not figure:
            return None
        spread += _half_digit(written) / abs(figure)
    spread += SLACK_HEDGED if claim.hedged else SLACK
    factor = max(claim.ratio, 1 / claim.ratio)
    return factor * (1 - spread), factor * (1 + spread)


def _intervals_of_percentage(quote: str) -> list[Interval]:
    """Return the possible ratios of the only percentage or factor in the quote: more, less, times.

    Empty for none, several or a range.
    """
    percentages, factors = _PERCENT.findall(quote), _FACTOR.findall(quote)
    if len(percentages) + len(factors) != 1 or _OF_BEFORE.search(quote) or _INEXACT.search(quote):
        return []
    [written] = percentages or factors
    value, rounding = float(written.replace(",", "")), 2 * _half_digit(written)
    low, high = value - rounding, value + rounding
    if factors:
        return [(low, high)]
    more, less = (
        (1 + low / 100, 1 + high / 100),
        (1 / (1 - min(low, 99.99) / 100), 1 / (1 - min(high, 99.99) / 100)),
    )
    return [more, less] if low < 100 else [more]


def _half_digit(written: str) -> float:
    return 0.5 * 10.0 ** -len(written.partition(".")[2])
