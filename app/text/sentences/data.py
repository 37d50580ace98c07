"""How far the figures can be trusted, in words: what runs do not tell, what could not be read, and what an upload brought. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.queries.quality import Told
from app.text import brief, file_kinds
from app.text.sentences import Said
from schemas.text import plural

MUST = {"cost": "the cost", "wall": "the wall time", "end": "how they ended"}
"""What a run must tell to be compared with others."""


def quality(rows: Sequence[Told], documents: Mapping[str, int]) -> Said:
    """How many runs tell all that comparisons need, and what is missing most often. `rows`: those of `app.queries.quality.by_agent`."""
    total = rows[0]
    covers = read(documents)
    if not total.started:
        heading = (
            "There are **no runs**."
            if not total.runs
            else f"**None of the {plural(total.runs, 'run')} started**, so that none tells anything."
        )
        return Said(heading, rejected(documents), covers)
    lacking = sorted(((total.started - total.known[key], words) for key, words in MUST.items()), key=lambda one: -one[0])
    told = brief.joined(list(MUST.values()))
    if total.whole == total.started:
        which = "The run tells" if total.started == 1 else f"All {total.started:,} runs that started tell"
        return Said(f"**{which}** {told.replace('they', 'it') if total.started == 1 else told}.", rejected(documents), covers)
    missing = brief.joined([f"{words} of {number:,}" for number, words in lacking if number])
    heading = f"**{total.whole:,} of {plural(total.started, 'run')}** that started tell {told}; unknown is {missing}."
    return Said(heading, rejected(documents), covers)


def rejected(documents: Mapping[str, int]) -> str:
    """What could not be read; that all could, where that is so."""
    number = documents["rejected"]
    if not documents["documents"]:
        return ""
    return f"{plural(number, 'record')} could not be read: see below." if number else "Every record could be read."


def read(documents: Mapping[str, int]) -> str:
    """`**432 documents** in 327 files = 51 runs + 1 duplicate + 0 rejected + 380 ignored (…)`: the parts add up."""
    return (
        f"**{plural(documents['documents'], 'document')}** in {plural(documents['sources'], 'file')} = {documents['accepted']:,} accepted"
        f" + {documents['duplicates']:,} duplicates + {documents['rejected']:,} rejected + {file_kinds.no_results(documents['ignored'])}"
    )


def upload(counts: Mapping[str, int]) -> Said:
    """What an upload brought, of all that it held; `counts` as of `read`."""
    if not counts["sources"]:
        return Said("Add logs of agents or results of benchmarks: **each is read once**.")
    new, seen = counts["accepted"], counts["accepted"] + counts["duplicates"] + counts["rejected"]
    if not seen:
        return Said(f"**No run** was found in {plural(counts['sources'], 'file')}.", "", read(counts))
    others = [f"{counts['duplicates']:,} were there already" if counts["duplicates"] else ""]
    others += [f"{counts['rejected']:,} could not be read" if counts["rejected"] else ""]
    rest = brief.joined([part for part in others if part])
    heading = f"**{new:,} of {plural(seen, 'record')}** {'is a new run' if new == 1 else 'are new runs'}{f'; {rest}' if rest else ''}."
    return Said(heading, "", read(counts))


def without_date(runs: int) -> str:
    """That runs of an upload have no date, and how they get one; empty where all have."""
    if not runs:
        return ""
    have = "run has no date: its log tells" if runs == 1 else "runs have no date: their logs tell"
    return f"{runs:,} {have} none, and a browser sends no times of files. To date them by their files, undo this upload and run:"


def lacks(row: Told, key: str, *, is_untold: bool) -> str:
    """What the runs of an agent tell of one of FACTS: `all`, `none`, `never told` where the agent tells nobody, `178 of 181`."""
    known = row.known[key]
    if not row.started:
        return brief.NO_VALUE
    if not known:
        return "never told" if is_untold else "none"
    return "all" if known == row.started else f"{known:,} of {row.started:,}"
