"""The table of all attacks: for a terminal, and as Markdown for `docs/safety.md`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.attack.tally import Tally

HEADER = ("attack", "attempts", "failures", "what was checked", "seconds")
NUMBERS = (1, 2, 4)


def table(tallies: Iterable[Tally], *, markdown: bool = False) -> str:
    """One line per attack."""
    rows = [_row(tally) for tally in tallies]
    return _markdown(rows) if markdown else _plain(rows)


def _row(tally: Tally) -> tuple[str, ...]:
    failures = f"skipped: {tally.skipped}" if tally.skipped else f"{len(tally.failures):,}"
    return tally.attack, f"{tally.attempts:,}", failures, tally.checked, f"{tally.seconds:,.0f}"


def _markdown(rows: Sequence[tuple[str, ...]]) -> str:
    rule = ["--:" if place in NUMBERS else "---" for place in range(len(HEADER))]
    lines = [HEADER, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[place]) for row in (HEADER, *rows)) for place in range(len(HEADER))]
    return "\n".join(_line(row, widths) for row in (HEADER, *rows))


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Numbers to the right, words to the left."""
    cells = zip(row, widths, strict=True)
    return "  ".join(cell.rjust(width) if place in NUMBERS else cell.ljust(width) for place, (cell, width) in enumerate(cells)).rstrip()
