"""An agent's figures in words, for screens, reports and charts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.queries.agents import ENOUGH, AgentFigures
from app.queries.measured import Range
from app.text.formatting import NOT_MEASURED, NOT_RECORDED, UNKNOWN, percent, usd
from app.text.sentences import spelled
from schemas.catalogue.metrics import MEASURED_CLASSES


def cost_cell(row: AgentFigures) -> tuple[str, str]:
    """Return the cost of a row's runs and how many of them have one.

    `≤ $1,873`, `$0.14` · `1 of 15`, `not recorded`.
    """
    if row.cost_usd is None:
        return (NOT_RECORDED if row.started else UNKNOWN), ""
    return usd(
        row.cost_usd, row.bounds
    ), "" if row.is_cost_known else f"{row.cost.known:,} of {row.started:,}"


def median_cost(row: AgentFigures) -> str:
    """Return the median cost of a run if at least ENOUGH runs have one."""
    return (
        UNKNOWN
        if row.cost.known < ENOUGH or row.cost.median is None
        else usd(row.cost.median, row.median_bounds)
    )


def median_or_range(values: Range, write: Callable[[Any], str]) -> tuple[str, str]:
    """Return the median, or the range and `n` if there are fewer than ENOUGH values.

    `3m 04s`, `4m 10s–14m 02s` · `n 4`.
    """
    if not values.known:
        return UNKNOWN, ""
    low, middle, high = (write(value or 0.0) for value in (values.low, values.median, values.high))
    if values.known >= ENOUGH:
        return middle, ""
    return (low if low == high else f"{low}–{high}"), f"n {values.known}"


def range_words(values: Range, write: Callable[[Any], str]) -> str:
    """Return `a median of 1.80×`, or the range of few values: `1.50×–3.00×`."""
    written, few = median_or_range(values, write)
    return written if few else f"a median of {written}"


def completed_words(row: AgentFigures) -> tuple[str, str]:
    """Return the completed runs and the words behind.

    `178` ` completed · 98%`, `33` ` completed of 77 known`, `6` ` of 17 completed`.

    Only runs that started count: the others do not depend on the agent.
    """
    if not row.started:
        return "", "none started"
    if row.unknown_ends:
        return (
            f"{row.completed:,}",
            f" completed of {row.known_ends:,} known"
            if row.known_ends
            else " known to be completed",
        )
    if row.started < 20:
        return f"{row.completed:,}", f" of {row.started:,} completed"
    return f"{row.completed:,}", f" completed · {percent(row.completed / row.started)}"


def measured_words(row: AgentFigures) -> tuple[str, str]:
    """Return a number and the words behind it.

    `12` ` faster · 52 same · 7 slower · 2 break`, "" `0 of 96 comparable · 9 break`.
    """
    if not row.runs_measured:
        return "", NOT_MEASURED
    broken = (
        [f"{row.measured['breaks']:,} {'breaks' if row.measured['breaks'] == 1 else 'break'}"]
        if row.measured["breaks"]
        else []
    )
    if not row.comparable:
        return "", " · ".join([f"0 of {row.runs_measured:,} comparable", *broken])
    other = [
        f"{row.measured[name]:,} {MEASURED_CLASSES[name]}"
        for name in ("same", "inside_noise", "slower")
        if row.measured[name]
    ]
    return f"{row.faster:,}", " · ".join([" faster", *other, *broken])


def doubts(faster: int, disputed: int, not_by_median: int, noise_unknown: int) -> str:
    """Return how far to trust the runs measured faster, "" without a doubt.

    Example: `Of the 12 measured faster, 8 are not so by every value of the measurement (4 not by
    the median) and 11 are single measurements of unknown noise.`
    """
    if faster == 1:
        said = ["is not so by every value of the measurement"] if disputed else []
        said[:1] = ["is not so by the median"] if not_by_median else said
        said += ["is a single measurement of unknown noise"] if noise_unknown else []
        return f"The one measured faster {' and '.join(said)}." if said else ""
    median = f" ({spelled(not_by_median)} not by the median)" if not_by_median else ""
    kinds = (
        (disputed, "not so by every value of the measurement" + median),
        (noise_unknown, "single measurements of unknown noise"),
    )
    said = [
        f"{'all' if count == faster else spelled(count)} {'is' if count == 1 else 'are'} {kind}"
        for count, kind in kinds
        if count
    ]
    return f"Of the {spelled(faster)} measured faster, {' and '.join(said)}." if said else ""
