"""`tachograph run`: the runs one after the other, each ingested when it has ended, and what is said about them on standard error."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli import terminal
from app.runner import matrix
from app.runner.launching import Order, Recorded, launch
from app.runner.limits import Limits
from ingest.system.command_lines import command_line
from schemas.errors import TachographError
from schemas.text import one_line, paired

if TYPE_CHECKING:
    from ingest.pipeline import IngestReport
    from ingest.store.database import Store

_SAYS = "tachograph: "


@dataclass(frozen=True)
class How:
    """The options of the command. `keep`: the folder of the folders of runs; `called_as`: the call as the list of ingests has it."""

    labels: Mapping[str, str]
    keep: Path
    limits: Limits
    keep_going: bool = False
    quiet: bool = False
    keeps_text: bool = True
    called_as: str = ""


def run_agents(command: Sequence[str], axes: Sequence[str], repeats: int, store: Store, how: How) -> int:
    """Run the command as often as asked. Returns the highest exit code. Raises UsageError before the first run."""
    cells = list(matrix.cells(command, matrix.parse_axes(axes), repeats))
    experiment = {matrix.EXPERIMENT: _experiment(command)} if len(cells) > 1 else {}
    worst = 0
    for number, cell in enumerate(cells, 1):
        labels = experiment | dict(how.labels) | cell.labels
        ended = launch(Order(cell.command, labels, how.keep, how.limits, store.owns))
        _tell(ended, store, how, f"run {number} of {len(cells)}: " if len(cells) > 1 else "")
        worst = max(worst, ended.exit_code)
        if ended.signalled or (ended.exit_code and not how.keep_going):
            _tell_rest(ended, number, len(cells))
            break
    return worst


def _experiment(command: Sequence[str]) -> str:
    """A name for the runs of one call, where nobody gives one."""
    return f"{paired(Path(command[0]).name)} {datetime.now(UTC):%Y-%m-%d %H:%M:%S}"


def _tell_rest(ended: Recorded, number: int, of: int) -> None:
    """Say that the runs behind this one are not started."""
    from app.text.words.launched import stopped_words

    if number < of:
        _say(stopped_words(number, of, ended.launch, is_signalled=ended.signalled))


def _tell(ended: Recorded, store: Store, how: How, which: str) -> None:
    """Ingest the run, and say in a line what it was. Problems are told in any case; none of them changes the exit code."""
    from app.text.words.launched import ended_words

    if not ended.folder.exists():
        for told in ended.told:
            _say(told)
        return
    report, problem = _ingested(ended.folder, store, how)
    told = "; ".join([*ended.told, *([problem] if problem else [])])
    if problem or not how.quiet:
        run, rules = _known(store, report)
        words = ended_words(ended.launch, run, store.location, told, is_at_odds="exit_code" in rules)
        _say(which + one_line(words))
    if problem:
        ingest = f"ingest {shlex.quote(str(ended.folder))}{'' if how.keeps_text else ' --no-text'}"
        _say(f"the record is kept. Ingest it: {one_line(command_line(ingest, store.location))}")


def _say(text: str) -> None:
    terminal.note(f"{_SAYS}{terminal.short(text)}")


def _ingested(folder: Path, store: Store, how: How) -> tuple[IngestReport | None, str]:
    """The ingest of the folder, and why there is none."""
    from ingest.pipeline import Options, ingest
    from ingest.sources.walking import read_paths
    from ingest.store.ingests import Origin

    options = Options(jobs=1, origin=Origin(command=how.called_as), keeps_text=how.keeps_text)
    try:
        report = ingest(read_paths([folder]), store, options)
    except TachographError as error:
        return None, f"not ingested: {error.message}"
    except (Exception, KeyboardInterrupt) as error:  # the agent has ended: whatever fails now is told, and its exit code stays
        return None, f"not ingested: {str(error) or type(error).__name__}"
    return report, "" if report.has_runs else "its record was rejected"


def _known(store: Store, report: IngestReport | None) -> tuple[Mapping[str, object], Sequence[str]]:
    """The row of the run, and the rules of its findings; both empty where it is not known."""
    from app.queries.run_page import run_page

    ids = [run_id for source in report.sources for run_id in source.run_ids] if report else []
    try:
        page = run_page(store, ids[0]) if ids else None
    except TachographError:
        page = None
    return (page.run, page.facts.findings["rule"].to_pylist()) if page else ({}, ())
