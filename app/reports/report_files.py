"""A cost report as the screen Reports hands it out: the command that makes the same, the file and its name."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

from app.queries.grouping import UTC_ZONE
from app.queries.reading import exported
from app.reports.budget_file import as_options
from app.reports.cost_report import Request, report
from app.reports.exports import EXPORTS, Export
from ingest.store.database import Store
from ingest.system.command_lines import command_line

USUAL = ("html", "xlsx")
WHOLE_NAME = 60
"""Characters of a file's name, suffix aside, that every file system and mail program leaves alone."""


def written(store: Store, request: Request, export: Export) -> bytes:
    """The report as a file of the format, of the store as it is now, without texts of sessions. Raises StoreError, UsageError."""
    return export.write_report(report(exported(store, request.filters), of_format(request, export)))


def of_format(request: Request, export: Export) -> Request:
    """The request with as many runs as the format has room for."""
    return replace(request, runs=export.runs)


def file_name(request: Request, export: Export) -> str:
    """`cost-report-by-model-and-day.html`; a label's key may be any text, of which letters and digits stay."""
    by = "-and-".join(re.sub(r"[^\w]+", "-", word).strip("-_") for word in request.by)
    return f"cost-report{f'-by-{by}' if by else ''}"[:WHOLE_NAME].rstrip("-") + export.suffix


def command(request: Request, export: Export, location: str) -> str:
    """The command that makes the same report of the store at `location` in a terminal."""
    words = ["report"]
    words += ["--by", ",".join(request.by)] if request.by else []
    words += ["--tz", request.zone] if request.zone != UTC_ZONE else []
    words += ["--cost", request.cost] if request.cost else []
    words += ["--reprice", request.reprice] if request.reprice else []
    words += [word for option in ("title", "owner") if (text := getattr(request.first, option)) for word in (f"--{option}", text)]
    words += as_options(request.first.budgets)
    filters = request.filters.as_words()
    parts = (shlex.join(words), filters, shlex.join(["-o", file_name(request, export)]))
    return command_line(" ".join(filter(None, parts)), location)


def formats() -> dict[str, str]:
    """The formats by name, each as a button calls it; those that most people ask for come first."""
    return {name: EXPORTS[name].suffix.removeprefix(".") for name in dict.fromkeys([*USUAL, *EXPORTS])}
