"""Words for ingests: kinds of files, results, ignored files, undo, and runs of `tachograph run`."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.queries import Row
from app.text.formatting import MINUS, date_words, short, short_id, usd
from schemas.agents import AGENTS
from schemas.file_kinds import NO_LOGS, FileKind
from schemas.text import agreeing, join_known, one_line, plural
from schemas.units import Unit

if TYPE_CHECKING:
    from ingest.context.path_template import PathTemplate
    from ingest.pipeline import IngestReport, SourceReport
    from ingest.store.undo import Undone
    from schemas.wire.launch import Launch


WORDS = {
    FileKind.ROWS: "a file with costs or tokens of no known agent",
    FileKind.TEXT: "text",
    FileKind.SOURCE: "source code or settings",
    FileKind.PATCH: "a patch",
    FileKind.JSON: "JSON without a run",
    FileKind.CSV: "a table",
    FileKind.PICTURE: "a picture",
    FileKind.PARQUET: "a Parquet table",
    FileKind.BINARY: "binary data",
    FileKind.EMPTY: "empty",
}
"""Label for each kind of file that contains no runs."""

WHAT_IS_READ = (
    f"Expected: records of {', '.join(agent.label for agent in AGENTS.values())}, as JSON, JSON "
    "lines, in log text or in archives. From Claude Code, get one with: `claude -p … "
    "--output-format json > run.json` (or stream-json). Its session transcripts "
    "(`~/.claude/projects/**/*.jsonl`) are read as well."
)


def no_results(count: int) -> str:
    """Return `13,963 ignored (events and other JSON that is no run)`.

    These documents are not result records.
    """
    return f"{count:,} ignored (events and other JSON that is no run)"


def all_known(counts: Mapping[str, int]) -> str:
    """Return `all 224 records are here already`, for sources that were all read before."""
    number, what = (
        (counts["duplicates"], "record") if counts["duplicates"] else (counts["sources"], "file")
    )
    return (
        f"the {what} is here already" if number == 1 else f"all {number:,} {what}s are here already"
    )


def by_template(template: PathTemplate, names: Sequence[str]) -> str:
    """Return how many logs of these names a path template fits, and what it gave.

    Example of what it gave: `team: core, platform`. Returns "" without logs.
    """
    places = {
        name: template.match(name)
        or ("!" not in name and template.match(str(Path(name).absolute())))
        for name in names
    }
    found = [facts for facts in places.values() if facts]
    said = (
        f"--path-template {template.text} fits {len(found):,} of {plural(len(names), 'log')} "
        "with runs"
    )
    if not found:
        advice = (
            " In an archive, a path begins behind the !: '*!{team}/**'."
            if "!" in "".join(names[:1])
            else ""
        )
        return f"{said}, such as {names[0]}.{advice}" if names else ""
    values: dict[str, dict[str, None]] = {}
    for facts in found:
        columns = {
            "repo": facts.repo,
            "task": facts.task,
            "experiment": facts.experiment,
            "timestamp": facts.started_at,
        }
        for key, value in (
            {name: str(one) for name, one in columns.items() if one} | facts.labels
        ).items():
            values.setdefault(key, {})[value] = None
    listed = [
        (
            f"{key}: {', '.join([*given][:MOST_VALUES])}"
            + (f" and {more:,} more" if (more := len(given) - MOST_VALUES) > 0 else "")
        )
        for key, given in values.items()
    ]
    return f"{said}. {'; '.join(listed)}."


MOST_VALUES = 5


def measured(values: int, files: int) -> str:
    """Return `1,204 measured values in 31 benchmark results`, or "" for none."""
    return (
        f"{plural(values, 'measured value')} in {plural(files, 'benchmark result')}"
        if values
        else ""
    )


def judged(judgements: int) -> str:
    """Return `283 published judgements`, or "" for none."""
    return plural(judgements, "published judgement") if judgements else ""


def looped(report: IngestReport) -> str:
    """Return how many loops with how many experiments the logs have, or "" for none.

    Example: `3 loops with 120 experiments in 2 logs; 1 is a copy or version of another, and not
    shown`.
    """
    loops, hidden = report.total("loops"), report.hidden_loops
    logs = plural(sum(source.loops > 0 for source in report.sources), "log")
    said = (
        f"{plural(loops, 'loop')} with {plural(report.total('experiments'), 'experiment')} in "
        f"{logs}"
    )
    copies = (
        f"; {hidden:,} "
        f"{'is a copy or version of another' if hidden == 1 else 'are copies or versions of others'}, "  # noqa: E501
        "and not shown"
    )
    return f"{said}{copies if hidden else ''}" if loops else ""


def without_variant(values: int) -> str:
    """Return a note on values without a variant and what to do, or "" if all have one."""
    said = (
        f"{values:,} of them {agreeing(values, 'is')} kept without a comparison: no file "
        "says which code was measured"
    )
    return (
        f"{said}. `ingest --measure variant=baseline` (or candidate, reference) says it."
        if values
        else ""
    )


def by_other_map(sources: Sequence[SourceReport]) -> str:
    """Return a note on files that stay as an earlier map read them, or "" for none."""
    if not sources:
        return ""
    numbers = sorted({one.ingest_id for one in sources if one.ingest_id is not None})
    undo = " and ".join(f"`tachograph undo {number}`" for number in reversed(numbers))
    said = f"{plural(len(sources), 'file')} {agreeing(len(sources), 'was')}"
    return f"{said} read by another map and stay as they are. To read them anew: {undo}, then this"


def without_run(items: Sequence[SourceReport]) -> str:
    """Return a note on items of a benchmark that are no runs, or "" for none."""
    if not items:
        return ""
    first = one_line(items[0].name.rpartition("/")[0])
    count = "an item" if len(items) == 1 else f"{len(items):,} items"
    return (
        f"No run: {count} of ISO-Bench without a journal or a record of an "
        f"agent{', such as' if len(items) > 1 else ':'} {first}"
    )


def no_logs(kinds: Mapping[FileKind, int]) -> str:
    """Return how many files are not logs and were ignored, the most frequent kind first.

    Example: `5,928 files are not logs and were ignored: 3,100 text, 2,000 …`; "" for none.
    """
    count = sum(kinds.values())
    counted = ", ".join(
        f"{number:,} {WORDS[kind].removeprefix('a file ') if kind is FileKind.ROWS else kind}"
        for kind, number in sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    )
    return (
        (
            f"{count:,} "
            f"{'file is not a log and was' if count == 1 else 'files are not logs and were'} "
            f"ignored: {counted}"
        )
        if count
        else ""
    )


def unmapped(sources: Sequence[SourceReport]) -> str:
    """Return how many rows a map could read, and the command that proposes one, or "" for none."""
    rows = sum(one.rows for one in sources)
    if not rows:
        return ""
    of_rows = [one for one in sources if one.rows]
    folder = one_line(os.path.commonpath([Path(one.name.partition("!")[0]) for one in of_rows]))
    place = shlex.quote(folder) if folder else "PATH"
    said = f"{plural(rows, 'row')} with costs or tokens in {plural(len(of_rows), 'file')}"
    return f"{said}, of no known agent: `tachograph map {place}` proposes how they come in"


def unread(agents: Mapping[str, int]) -> str:
    """Return `3 files of Kiro, 1 of Zed, which are not read`, or "" for none."""
    if not agents:
        return ""
    (most, count), *others = sorted(agents.items(), key=lambda item: (-item[1], item[0]))
    listed = ", ".join(
        [
            f"{plural(count, 'file')} of {most}",
            *(f"{number:,} of {agent}" for agent, number in others),
        ]
    )
    return f"{listed}, which {agreeing(sum(agents.values()), 'is')} not read"


def brought(report: SourceReport) -> bool:
    """Return whether a file brought something, or has records that repeat or were rejected."""
    counts = "accepted", "duplicates", "rejected", "measurements", "loops"
    return not report.known and any(getattr(report, name) for name in counts)


def upload_words(report: SourceReport) -> str:
    """Return what a file brought in a few words."""
    if report.measurements:
        return f"benchmark result, {plural(report.measurements, 'measured value')}"
    if report.loops:
        return (
            f"log of {plural(report.loops, 'loop')} with {plural(report.experiments, 'experiment')}"
        )
    said = (
        plural(report.accepted, "new run") if report.accepted else "",
        plural(report.duplicates, "duplicate") if report.duplicates else "",
        f"{report.rejected:,} {'record' if report.rejected == 1 else 'records'} rejected"
        if report.rejected
        else "",
        no_results(report.ignored) if report.ignored else "",
    )
    return join_known(", ", *said)


def nothing_new(reports: Sequence[SourceReport]) -> str:
    """Return how many files brought nothing, and why, or "" for none.

    An archive is not counted beside what it contains.
    """
    reasons = Counter(
        "ingested before" if one.known else "no log" if one.kind in NO_LOGS else "no run"
        for one in reports
        if not brought(one) and (one.known or one.kind in NO_LOGS or one.ignored or one.without_run)
    )
    why = ", ".join(f"{reason} {number:,}" for reason, number in reasons.most_common())
    return f"{plural(sum(reasons.values()), 'file')} with nothing new: {why}." if why else ""


def about_ingest(ingest: Row) -> str:
    """Return `Ingest 3, 2026-11-22 09:30 UTC by ann@host: upload`."""
    by = f" by {one_line(ingest['who'])}" if ingest["who"] else ""
    what = f": {one_line(ingest['command'])}" if ingest["command"] else ""
    at = date_words(ingest["finished_at"], clock=True)
    return f"Ingest {ingest['ingest_id']}, {at} UTC{by}{what}"


def came_in(ingest: Row) -> str:
    """Return `3 new runs, 2 duplicates of 4 files`."""
    rejected = f", {ingest['rejected']:,} rejected" if ingest["rejected"] else ""
    runs = (
        f"{plural(ingest['accepted'], 'new run')}, "
        f"{plural(ingest['duplicates'], 'duplicate')}{rejected}"
    )
    return f"{runs} of {plural(ingest['sources'], 'file')}"


def takes_back(undone: Undone) -> str:
    return f"Undo removes {_removed(undone)}"


def took_back(undone: Undone) -> str:
    return f"Undid ingest {undone.ingest_id}: removed {_removed(undone)}"


def _removed(undone: Undone) -> str:
    labelled = (
        f", its labels for {plural(undone.labelled_files, 'file')}" if undone.labelled_files else ""
    )
    rejected = f", {plural(undone.rejects, 'reject')}" if undone.rejects else ""
    brought = {"run": undone.gone, "measured value": undone.measurements, "loop": undone.loops}
    removed = (
        " and ".join(plural(count, noun) for noun, count in brought.items() if count) or "no run"
    )
    more = (
        f" (it read {undone.read_files:,}: copies, or of other ingests)"
        if undone.read_files > undone.files
        else ""
    )
    stay = (
        (
            f" {plural(undone.staying, 'run')} of another ingest "
            f"{'stays' if undone.staying == 1 else 'stay'}."
        )
        if undone.staying
        else ""
    )
    return f"{removed} of {plural(undone.files, 'file')}{more}{rejected}{labelled}.{stay}"


def ended_words(
    launch: Launch, run: Row, location: str, told: str = "", *, is_at_odds: bool = False
) -> str:
    """Return how a run ended, its time, cost, changes, id and store.

    Example: `claude-code completed in 1m 2s, $0.25, 3 files changed (+10 −2): run 5e0c031e… in
    runs.duckdb`.

    `run`: its row (with the wall time), or empty. `is_at_odds`: its record says that it completed,
    its exit code says it did not.
    """
    code = f"exited with code {launch.exit_code}" if launch.exit_code else ""
    outcome = str(run.get("outcome") or f"ended with exit code {launch.exit_code}").replace(
        "_", " "
    )
    ended = (
        f"completed, but {code},"
        if is_at_odds
        else f"{outcome} ({code})"
        if code and run
        else outcome
    )
    lasted = (
        (launch.duration_s or 0) * 1000 if run.get("duration_ms") is None else run["duration_ms"]
    )
    parts = [f"{run.get('agent') or launch.agent} {ended} in {short(lasted, Unit.MILLISECONDS)}"]
    if run.get("cost_own_usd") is not None:
        parts.append(usd(run["cost_own_usd"]))
    elif run.get("cost_list_usd") is not None:
        parts.append(f"{usd(run['cost_list_usd'])} at list prices")
    patch = launch.git.patch if launch.git else None
    if patch and patch.files is not None:
        changed = (
            f"{plural(patch.files, 'file')} changed (+{patch.insertions or 0:,} "
            f"{MINUS}{patch.deletions or 0:,})"
        )
        parts.append(changed if patch.files else "nothing changed")
    where = f": run {short_id(str(run['run_id']))} in {location}" if run else ""
    return ", ".join(parts) + where + (f" ({told})" if told else "")


def stopped_words(number: int, of: int, launch: Launch, *, is_signalled: bool) -> str:
    """Return why a series of runs ends with this one, and which runs were not started."""
    how = (
        "was interrupted"
        if is_signalled
        else f"exited with code {launch.exit_code}"
        if launch.exit_code
        else "could not be started"
    )
    rest = "was" if number + 1 == of else f"{'and' if number + 2 == of else 'to'} {of} were"
    runs = "run" if number + 1 == of else "runs"
    hint = "" if is_signalled else " (--keep-going goes on)"
    return f"stopped: run {number} of {of} {how}; {runs} {number + 1} {rest} not started{hint}"
