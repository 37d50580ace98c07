"""Published judgements of agents' patches: a table (CSV, or JSONL) with a commit or task, the agent, and some of the judgements.

`hard`: beats, similar or worse than the human's patch on the primary metric, with 5 % between them. `target`: whether the patch aims at
the same code as the human's. `quadrant`: Q1 to Q4, from both. `primary_pct`: the distance to the human's patch in percent, positive where
the agent is better. In some tables this column also holds percent OF the human's value (95.5 for -4.5): such a column is not used, and a
label shows it: `similar` fits +3.4 only in the first sense, and 95.5 only in the second.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.comma_separated import columns, lines
from ingest.measurements.iso_bench.fields import text
from ingest.measurements.measured import Measured, Origin
from schemas.rows.claim import Scope
from schemas.rows.measurement import Variant
from schemas.units import Better, Flagged
from schemas.wire.iso_bench import agent_named, model_named

_WORDS = {
    "hard": ("beats", "similar", "worse"),
    "target": ("same_target", "related_target", "different_target"),
    "quadrant": ("Q1", "Q2", "Q3", "Q4"),
}
"""Judgement → its words. A table with at least one of them may have others, which are kept as written."""

_PERCENT = "primary_pct"
_KEYS = ("commit_full", "commit", "commit_hash", "task")
_BAND = 5.0


def _recognises(file: MeasuredFile) -> bool:
    """By the names in its first line, which are cheap to look at, and by a judgement in one of the rows."""
    return any(_is_judged(row) for row in _rows(file))


def _is_judged(row: Mapping[str, Any]) -> bool:
    return any(_known(name, row.get(name)) for name in _WORDS) or _percent(row) is not None


def _rows(file: MeasuredFile) -> Sequence[Mapping[str, Any]]:
    """The rows of a table, or the objects of JSONL; none where the first line has not the names."""
    if file.is_json:
        first = file.text.lstrip("\ufeff \t\r\n").partition("\n")[0]
        return file.objects if _are_names(_keys(first)) else []
    return [line.cells for line in lines(file.text)] if _are_names(columns(file.text)) else []


def _are_names(names: Collection[str]) -> bool:
    return "agent" in names and any(key in names for key in _KEYS) and any(name in names for name in (*_WORDS, _PERCENT))


def _keys(line: str) -> Collection[str]:
    """The keys of an object on one line; none of any other text."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return ()
    return found.keys() if isinstance(found, dict) else ()


def _read(file: MeasuredFile) -> Iterator[Measured]:
    rows = _rows(file)
    mixed = _of_two_kinds(rows)
    for number, row in enumerate(rows, 1):
        origin = _origin(row, number)
        for name in _WORDS:
            if word := text(row, name):
                yield Measured(origin=origin, metric=name, statistic="label", label=_known(name, word) or word)
        if (percent := _percent(row)) is not None:
            flags = (Flagged.PERCENT_OF_TWO_KINDS,) if text(row, "repo") in mixed else ()
            yield Measured(
                origin=origin, metric=_PERCENT, value=percent, unit="%", better=Better.HIGHER, ratio_base=Variant.REFERENCE, flags=flags
            )  # fmt: skip


def _known(name: str, word: object) -> str | None:
    """The word of the list, whatever its case; None for any other, such as `no_optimization` for a target."""
    written = word.strip().lower() if isinstance(word, str) else None
    return next((known for known in _WORDS[name] if known.lower() == written), None)


def _percent(row: Mapping[str, Any]) -> float | None:
    """None where there is none; a percent sign is allowed. A number larger than any float is infinite."""
    written = row.get(_PERCENT)
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    try:
        return float(written.removesuffix("%") if isinstance(written, str) else written)
    except ValueError:
        return None
    except OverflowError:
        return math.inf


def _origin(row: Mapping[str, Any], number: int) -> Origin:
    agent, model = text(row, "agent"), text(row, "model")
    if agent is None or text(row, *_KEYS) is None:
        raise ValueError(f"row {number}: a judgement needs an agent, and a commit or a task")
    return Origin(
        variant=Variant.CANDIDATE,
        repo=text(row, "repo"),
        task=text(row, "task"),
        commit=text(row, "commit_full", "commit", "commit_hash"),
        commit_names_task=True,
        agent=agent_named(agent) or agent,
        model=model_named(model or agent) or model,
        params={"primary_metric": text(row, "primary_metric")},
        benchmark="ISO-Bench",
        scope=Scope.END_TO_END,
    )


def _of_two_kinds(rows: Iterable[Mapping[str, Any]]) -> frozenset[str | None]:
    """The repositories whose percents fit their labels partly as changes only, and partly as percent of the human's value only."""
    kinds: dict[str | None, set[str]] = defaultdict(set)
    for row in rows:
        hard, percent = text(row, "hard"), _percent(row)
        if hard is None or percent is None:
            continue
        as_change, as_share = _label(percent) == hard, _label(percent - 100) == hard
        if as_change != as_share:
            kinds[text(row, "repo")].add("change" if as_change else "share")
    return frozenset(repo for repo, found in kinds.items() if len(found) > 1)


def _label(change: float) -> str:
    return "beats" if change > _BAND else "worse" if change < -_BAND else "similar"


TOOL = Tool("iso_bench_labels", ("agent",), _recognises, _read, marks_suffice=False)
