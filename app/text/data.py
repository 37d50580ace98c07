"""How far the figures can be trusted: sentences and tables of the screen Data. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.queries import Row
from app.queries.filters import Filters
from app.queries.quality import FACTS, Told
from app.text import html_parts
from app.text.answers import never_reported
from app.text.formatting import UNKNOWN, usd
from app.text.ingests import all_known, no_results
from app.text.sentences import Said, joined
from app.text.table import Col, TextCell, TextTable, agent_cell
from schemas.catalogue.rules import RULE_MEANINGS
from schemas.text import agreeing, plural

MUST = {"cost": "the cost", "wall": "the wall time", "end": "the end"}

KINDS = {"error": "failed", "warning": "limited", "info": "unknown_ends"}


def quality(rows: Sequence[Told], documents: Mapping[str, int]) -> Said:
    """Return how many runs have all facts for comparisons, and the most frequent gap.

    `rows`: those of `app.queries.quality.by_agent`.
    """
    total, covers = rows[0], read(documents)
    number = documents["rejected"]
    rejected = (
        f"{plural(number, 'record')} could not be read: see below."
        if number
        else "Every record could be read."
    )
    rejected = rejected if documents["documents"] else ""
    all_facts = joined(list(MUST.values()))
    if not total.runs:
        heading = "There are **no runs**."
    elif not total.started:
        heading = f"**None of the {plural(total.runs, 'run')} started**."
    elif total.whole == total.started == 1:
        heading = f"**The run records** {all_facts}."
    elif total.whole == total.started:
        heading = f"**All {total.started:,} started runs record** {all_facts}."
    else:
        lacking = sorted(
            ((total.started - total.known[key], words) for key, words in MUST.items()),
            key=lambda one: -one[0],
        )
        missing = joined(
            [
                f"{number:,} {'lacks' if number == 1 else 'lack'} {words}"
                for number, words in lacking
                if number
            ]
        )
        heading = (
            f"**{total.whole:,} of {total.started:,} started runs** record {all_facts}; {missing}."
        )
    return Said(heading, rejected, covers)


def read(documents: Mapping[str, int]) -> str:
    """Return documents by result; the parts add up.

    Example: `**432 documents** in 327 files = 51 accepted + 1 duplicates + 0 rejected + 380 ignored
    (…)`.
    """
    return (
        f"**{plural(documents['documents'], 'document')}** in "
        f"{plural(documents['sources'], 'file')} = {documents['accepted']:,} accepted + "
        f"{documents['duplicates']:,} duplicates + {documents['rejected']:,} rejected + "
        f"{no_results(documents['ignored'])}"
    )


def upload(counts: Mapping[str, int], wrong: str = "") -> Said:
    """Return the results of an upload in a sentence; `counts` as in `read` and of `known` sources.

    `wrong`: the first reject.
    """
    if not counts["sources"]:
        return Said("Add logs of agents or results of benchmarks: **each is read once**.")
    if counts["known"] == counts["sources"]:
        return Said(f"**Nothing is new**: {all_known(counts)}.", "", read(counts))
    new, seen = counts["accepted"], counts["accepted"] + counts["duplicates"] + counts["rejected"]
    if not seen:
        return Said(
            f"**No run** was found in {plural(counts['sources'], 'file')}.", "", read(counts)
        )
    if seen == counts["rejected"]:
        return Said(
            f"**No run** could be read: {seen:,} {agreeing(seen, 'is')} rejected.",
            wrong,
            read(counts),
        )
    others = (
        [
            "1 repeats another or was there already"
            if counts["duplicates"] == 1
            else f"{counts['duplicates']:,} repeat others or were there already"
        ]
        if counts["duplicates"]
        else []
    )
    others += [f"{counts['rejected']:,} could not be read"] if counts["rejected"] else []
    rest = f"; {joined(others)}" if others else ""
    return Said(
        (
            f"**{new:,} of {plural(seen, 'record')}** "
            f"{'is a new run' if new == 1 else 'are new runs'}{rest}."
        ),
        "",
        read(counts),
    )


def without_date(runs: int) -> str:
    """Return a note on uploaded runs without a date and how to date them."""
    have = "run has no date: its log has" if runs == 1 else "runs have no date: their logs have"
    how = (
        "Give a day here; or, for the times of files in an archive, undo this upload and repeat "
        "it with “Trust file times”."
    )
    return f"{runs:,} {have} none, so no day, week or month has {agreeing(runs, 'it')}. {how}"


def known_table(rows: Sequence[Told], filters: Filters) -> str:
    """Return a row per agent with the number of started runs that have each fact.

    Facts that the agent never logs are marked.
    """
    shown = [key for key in FACTS if any(row.known[key] < row.started for row in rows)] or list(
        FACTS
    )

    def fact(key: str) -> Col:
        def cell(row: Told) -> TextCell | str:
            known = row.known[key]
            if not row.started:
                return UNKNOWN
            if not known:
                is_never = row.agent is not None and FACTS[key][2] in never_reported(row.agent)
                return TextCell(note="not recorded") if is_never else TextCell("none", kind="t-bad")
            return TextCell(note="all") if known == row.started else f"{known:,} of {row.started:,}"

        return Col(FACTS[key][0], cell, "r")

    columns = [
        Col("Agent", lambda row: "All" if row.is_all else agent_cell(row.agent, "", filters)),
        Col("Runs\nstarted", lambda row: f"{row.started:,}", "r"),
        *map(fact, shown),
    ]
    ordered = (
        [*rows[1:], rows[0]]
        if len(rows) > 2
        else [row for row in rows if not row.is_all or len(rows) != 2]
    )
    whole = joined([FACTS[key][0].lower() for key in FACTS if key not in shown])
    note = f'<p class="t-cap">Known of every run: {html_parts.text(whole)}.</p>' if whole else ""
    return TextTable(columns, ordered, lambda row: "sum" if row.is_all else "").html() + note


def rule_table(rules: Sequence[Row], filters: Filters) -> str:
    """Return what rules found, the most severe first; a click on a rule lists its runs."""

    def name(row: Row) -> TextCell:
        kind = KINDS.get(row["severity"], "unknown_ends")
        return TextCell(
            row["rule"].replace("_", " "),
            mark=f'<i class="t-sw t-{kind}" title="{html_parts.text(row["severity"])}"></i> ',
            address=html_parts.link("", filters, rule=row["rule"]),
            kind="t-link",
        )

    columns = (
        Col("Rule", name),
        Col(
            "What it looks for",
            lambda row: TextCell(RULE_MEANINGS.get(row["rule"], ""), kind="t-wrap"),
        ),
        Col("Findings", lambda row: f"{row['findings']:,}", "r"),
        Col("Runs", lambda row: f"{row['runs']:,}", "r"),
        Col(
            "Reported cost\nof these runs",
            lambda row: usd(row["cost_usd"], lacks=UNKNOWN),
            "r w",
        ),
    )
    return TextTable(columns, rules).html() + html_parts.legend(
        ("Severity", [(kind.removeprefix("t-"), key) for key, kind in KINDS.items()])
    )
