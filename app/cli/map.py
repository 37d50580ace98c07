"""`tachograph map`: a map for files that no reader knows, proposed and previewed."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from app.cli import terminal
from app.cli.options import ANY_PATH, with_examples
from app.cli.output import width, write_file
from app.text.mapping import Preview, preview
from app.text.text_tables import draw
from ingest.context.small_files import MAP_FILE
from ingest.mapped.found import KnownMap, read_map
from ingest.mapped.propose import ProposedForm, map_of, proposed
from ingest.reading.settings import Settings
from ingest.reading.tasks import ReadingTask, work
from ingest.sources.files import Source
from ingest.sources.walking import read_paths
from ingest.system.files import temporary_folder
from schemas.errors import ExitCode, InputUnreadable
from schemas.file_kinds import NO_LOGS
from schemas.text import agreeing, one_line, plural

_ENDINGS = (
    ".json .jsonl .ndjson .csv .tsv .yaml .yml .parquet .db .sqlite .sqlite3 .json.gz .jsonl.gz "
    ".csv.gz .json.zst .jsonl.zst"
).split()
_MOST_LOOKED_AT = 600


@with_examples(
    "map results/", "map results.csv", "map results/ -o our-map.toml", "map results.jsonl -o -"
)
@click.argument("path", type=ANY_PATH, metavar="PATH")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=f"Where to write the map; - is standard output.  [default: {MAP_FILE} in the folder]",
)
def map(path: Path, output: Path | None) -> int:  # noqa: A001  the command's name
    """Propose a map for result files that no reader knows.

    PATH is a file or a folder with JSON, JSON lines, CSV, TSV, YAML, Parquet or SQLite. Fields are
    found by their names, values and units; the first rows are shown as they would come in, with
    what is missing. The map is a TOML file to be corrected: `ingest` reads it. If it is there
    already, it is tried, not replaced. See docs/map.md.
    """
    if not path.exists():
        raise InputUnreadable(f"cannot read {path}: there is no such file or folder.")
    folder = path.absolute() if path.is_dir() else path.absolute().parent
    sources = _sources(path)
    place = output or folder / MAP_FILE
    if place.is_file():
        known = read_map(place)
        found = preview(KnownMap(known.content, known.text, f"{folder}/"), sources)
        _show(found)
        said = f"\nThat is what {one_line(str(place))} gives."
        add = f"tachograph map {one_line(shlex.quote(str(path)))} -o -"
        terminal.note(f"{said} To have one proposed beside it: {add}" if not found.files else said)
        return ExitCode.OK
    unread = _without_reader(sources)
    forms = proposed(unread, f"{folder}/")
    if not forms:
        terminal.note(
            f"Nothing like runs or measured values was found in {plural(len(sources), 'file')} "
            "that no reader knows. A map can be written by hand: docs/map.md."
        )
        return ExitCode.CHECK_FAILED
    known = map_of(forms, folder.name)
    for form in forms:
        _show_form(form, KnownMap(known.content, known.text, f"{folder}/"), sources)
    if read := len(sources) - len(unread):
        terminal.note(
            f"\n{plural(read, 'file')} here {agreeing(read, 'needs')} no map. If the rows "
            "are of their runs, ingest the files of the rows alone: no run comes in twice."
        )
    if str(output) == "-":
        terminal.put_text(known.text.encode())
        return ExitCode.OK
    write_file(place, known.text.encode())
    option = f" --map {shlex.quote(str(place))}" if output else ""
    terminal.note(
        f"\nWrote {one_line(str(place))}. Correct it, and try it with the same command. Then: "
        f"tachograph ingest {one_line(shlex.quote(str(path)))}{one_line(option)}"
    )
    return ExitCode.OK


def _sources(path: Path) -> list[Source]:
    """Return the files that may hold rows, by their names, except maps themselves."""
    found = [one for one in read_paths([path.absolute()]) if isinstance(one, Source)]
    if path.is_file():
        return found
    return [one for one in found if one.name.lower().endswith(tuple(_ENDINGS))]


def _without_reader(sources: Sequence[Source]) -> list[Source]:
    """Return the files in which no reader finds anything, and those not looked at."""
    step = max(1, len(sources) // _MOST_LOOKED_AT)
    looked_at = sources[::step]
    with tempfile.TemporaryDirectory(dir=temporary_folder()) as spool:
        task = ReadingTask("looked-at", tuple(looked_at))
        read = {one.name for one in work(task, Settings(), Path(spool)) if one.kind not in NO_LOGS}
    last = {name.rpartition("/")[2] for name in read}
    return [
        one
        for number, one in enumerate(sources)
        if one.name not in read and not (number % step and one.name.rpartition("/")[2] in last)
    ]


def _show_form(form: ProposedForm, known: KnownMap, sources: Sequence[Source]) -> None:
    head = f"\n{', '.join(form.form.files)}{f': {form.form.each}' if form.form.each else ''}"
    terminal.note(head, bold=True)
    _show(preview(known.only(form.form), sources))
    for doubt in form.doubts:
        terminal.note(f"- {one_line(doubt)}")
    if form.unused:
        more = f" and {len(form.unused) - 8} more" if len(form.unused) > 8 else ""
        terminal.note(f"- other numbers: {one_line(', '.join(form.unused[:8]))}{more}")


def _show(found: Preview) -> None:
    for table in found.tables:
        drawing = draw(table, width())
        terminal.put(drawing.body)
    terminal.note(found.found)
    if found.refused:
        terminal.note(f"rejected: {one_line(found.refused)}", fg="yellow")
