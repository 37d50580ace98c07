"""Rules that compare the summary with the record."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.claims import MOST_TRIGGERS, triggers_in
from ingest.findings.rules.rule import Facts, Noticed, rule
from ingest.literals import LiteralSearch
from schemas.rows.run import Outcome

MANY_TURNS = 10
"""A run with so many turns should have a summary."""

_OPENING = 300
_SUCCESS = re.compile(
    r"\A\W*(?:perfect|done|success)\b[!.]"
    r"|\b(?:I(?:'ve| have)|has been|was|were|have been|task|all)\s(?:now\s)?"
    r"(?:successfully\s(?:\w+ed|built|done|written)|completed?\ssuccessfully)"
    r"|\b(?:task|implementation|work|feature|optimization|everything)\sis\s(?:now\s)?(?:fully\s)?(?:complete|done|finished)\b",
    re.IGNORECASE,
)
_HELD_UP = re.compile(
    r"I(?<=\bI)(?:'m| am| remain) (?:still |currently |completely )?blocked\b|S(?<=^S)TATUS: BLOCKED$",
    re.MULTILINE,
)
_NOT_PERMITTED = re.compile(
    r"\b(?:I|we) (?:still )?needs? (?:[\w-]+ ){0,3}(?:permission|approval)\b|\bneeds (?:your|user|manual) approval\b"
    r"|\b(?:waiting for|awaiting) (?:your |user )?(?:[\w-]+ ){0,2}(?:permission|approval)\b|\brequires? (?:manual|your|user) approval\b"
    r"|\bI don't have (?:[\w-]+ )?(?:permission|access)\b|\bI(?:'m| am) unable to (?:modify|edit|write|make|create|apply)\b"
    r"|\bI (?:cannot|can't) (?:apply|edit|modify|write|make|proceed)\b"
    r"|\b(?:tools?|operations?|commands?|write)\b[^.\n]{0,60} (?:are|is|was|were|being|gets?|getting) (?:all |both )?"
    r"(?:blocked|denied|rejected)\b"
    r"|\bblocked (?:by|on|from) (?:the |your |file )?(?:permissions?|sandbox|making)\b",
)
_PERMISSION = LiteralSearch(
    ("permission", "approval", "I don't have", "unable to", "I cannot", "I can't", "blocked", "denied", "rejected"), leftmost=True
)
"""Words of which every match of _NOT_PERMITTED has one on the same line."""

_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n")
_SENTENCE_LENGTH = 120
_FAILURES = frozenset(Outcome) - {Outcome.COMPLETED, Outcome.UNKNOWN}


@rule
def success_claimed(facts: Facts) -> Iterator[Noticed]:
    """A summary that begins with success, although the run ended otherwise."""
    if facts.run.outcome in _FAILURES and (found := _SUCCESS.search(facts.text, 0, _OPENING)):
        words = found[0].strip()
        yield Noticed(f"The summary claims success (“{words}”), but the outcome is {facts.run.outcome}.", "completed", facts.run.outcome)


@rule
def blocked_but_completed(facts: Facts) -> Iterator[Noticed]:
    """A summary that says that the agent was blocked, although the record says that the run completed.

    Words about permissions count only if the record has denied tool calls too: agents also write about permissions of other people.
    """
    denials = facts.run.permission_denials or 0
    if facts.run.outcome is not Outcome.COMPLETED:
        return
    text = facts.text
    found = _HELD_UP.search(text) if facts.lines.blocked else None
    if found := found or (_not_permitted(text) if denials else None):
        denied = f"; {denials:,} tool call{'s were' if denials > 1 else ' was'} denied" if denials else ""
        sentence = _sentence(text, found)
        yield Noticed(
            f"The outcome is completed, but the summary says the agent was blocked: “{sentence}”{denied}.", "completed", "blocked"
        )


@rule
def empty_summary(facts: Facts) -> Iterator[Noticed]:
    """Many turns without a summary (claude-code #38706)."""
    run = facts.run
    if run.outcome is Outcome.COMPLETED and not facts.text.strip() and (run.num_turns or 0) >= MANY_TURNS:
        yield Noticed(f"The run completed after {run.num_turns} turns and has no summary.", "a summary", "none")


@rule
def patch_size(facts: Facts) -> Iterator[Noticed]:
    """Insertions and deletions per file against the patch beside the record, where the text lists as many files as the patch has."""
    run, changes = facts.run, facts.statements.file_changes
    if not changes or len(changes) != run.patch_files:
        return
    said = [sum(counts) for counts in zip(*((change.insertions or 0, change.deletions or 0) for change in changes), strict=True)]
    is_whole = all(change.insertions is not None and change.deletions is not None for change in changes)
    if is_whole and said != [run.patch_insertions, run.patch_deletions]:
        yield Noticed(
            "The changed lines stated in the summary do not match the patch file beside the record.",
            f"{run.patch_insertions} insertions, {run.patch_deletions} deletions",
            f"{said[0]} insertions, {said[1]} deletions",
        )


@rule
def read_in_part(facts: Facts) -> Iterator[Noticed]:
    """A summary that is too long, or has too many figures, to be read to its end: data rather than words."""
    length, most = len(facts.run.result or ""), len(facts.text)
    if length > most:
        yield Noticed(
            f"The summary has {length:,} characters; only the first {most:,} were searched for claims and statements.",
            f"at most {most:,} characters",
            f"{length:,} characters",
        )
    elif length > MOST_TRIGGERS and (count := triggers_in(facts.text)) > MOST_TRIGGERS:
        yield Noticed(
            f"The summary has {count:,} numbers that may be claims; only the first {MOST_TRIGGERS:,} were read.",
            f"at most {MOST_TRIGGERS:,} numbers",
            f"{count:,} numbers",
        )


@rule
def text_repaired(facts: Facts) -> Iterator[Noticed]:
    """The summary was damaged: the repaired text is shown and searched."""
    if facts.run.result_repaired:
        yield Noticed("The summary had encoding errors (“â†’” for “→”). It is shown repaired; the raw record is kept.")


def _not_permitted(text: str) -> re.Match[str] | None:
    """The first words about permissions."""
    end = 0
    for _, at, _ in _PERMISSION.find(text):
        if at >= end:
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            end = end if end >= 0 else len(text)
            if found := _NOT_PERMITTED.search(text, start, end):
                return found
    return None


def _sentence(text: str, found: re.Match[str]) -> str:
    """The sentence around the words found, on one line and not too long."""
    before = [end.end() for end in _SENTENCE_END.finditer(text, max(0, found.start() - _SENTENCE_LENGTH), found.start())]
    start = before[-1] if before else max(0, found.start() - _SENTENCE_LENGTH)
    end = _SENTENCE_END.search(text, found.end(), found.end() + _SENTENCE_LENGTH)
    return text[start : end.start() if end else found.end()].strip(' \t#*->`“”"')
