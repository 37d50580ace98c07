"""Words for files that are no logs."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.agents import AGENTS
from schemas.file_kinds import FileKind
from schemas.text import plural

WORDS = {
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
"""What a file is in which nothing looked like a run."""

WHAT_IS_READ = (
    f"Expected: records of {', '.join(agent.label for agent in AGENTS.values())}, as JSON, JSON lines, in log text or in archives."
    " From Claude Code, get one with: `claude -p … --output-format json > run.json` (or stream-json)."
    " Its session transcripts (`~/.claude/projects/**/*.jsonl`) are read as well."
)
"""What to ingest, and how to get it."""


def no_results(count: int) -> str:
    """`13,963 ignored (events and other JSON that is no run)`: documents that are no result record. Nothing is lost with them."""
    return f"{count:,} ignored (events and other JSON that is no run)"


def measured(values: int, files: int) -> str:
    """`1,204 measured values in 31 benchmark results`; empty where there are none."""
    return f"{plural(values, 'measured value')} in {plural(files, 'benchmark result')}" if values else ""


def unsaid(values: int) -> str:
    """That values do not say which code they measured, and what to do; empty where all do."""
    said = f"{values:,} of them {'is' if values == 1 else 'are'} kept without a comparison: no file says which code was measured"
    return f"{said}. `ingest --measure variant=baseline` (or candidate, reference) says it." if values else ""


def counted(kinds: Mapping[FileKind, int]) -> str:
    """`3,100 text, 2,000 source, 828 patch`: the most frequent first."""
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0])))


def no_logs(kinds: Mapping[FileKind, int]) -> str:
    """`5,928 files are not logs and were ignored: 3,100 text …`; empty where there are none."""
    count = sum(kinds.values())
    if not count:
        return ""
    return f"{count:,} {'file is not a log and was' if count == 1 else 'files are not logs and were'} ignored: {counted(kinds)}"


def unread(agents: Mapping[str, int]) -> str:
    """`3 files of Kiro, 1 of Zed, which are not read`; empty where there are none."""
    if not agents:
        return ""
    (most, count), *others = sorted(agents.items(), key=lambda item: (-item[1], item[0]))
    listed = ", ".join([f"{plural(count, 'file')} of {most}", *(f"{number:,} of {agent}" for agent, number in others)])
    return f"{listed}, which {'is' if sum(agents.values()) == 1 else 'are'} not read"
