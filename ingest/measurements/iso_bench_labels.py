"""Published judgements of agents' patches.

A table (CSV, or JSONL) with a commit or task, the agent, and some of the judgements.

`hard`: beats, similar or worse than the human's patch on the primary metric, with a margin of 5 %.
`target`: whether the patch changes the same code as the human's. `quadrant`: Q1 to Q4, from both.
`primary_pct`: the distance to the human's patch in percent, positive if the agent is better. In
some tables this column also has percent OF the human's value (95.5 for -4.5): such a column is not
used. A label reveals it: `similar` fits +3.4 only in the first sense, and 95.5 only in the second.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.iso_bench import text
from ingest.measurements.measured import Measured, ResultOrigin
from schemas.claims import Scope
from schemas.rows.measurement import Variant
from schemas.units import Better, Flagged
from schemas.wire.iso_bench import agent_named, model_named

_WORDS = {
    "hard": ("beats", "similar", "worse"),
    "target": ("same_target", "related_target", "different_target"),
    "quadrant": ("Q1", "Q2", "Q3", "Q4"),
}
"""Judgement → its words. A table with at least one of them may have others, which are kept as
written.
"""

_PERCENT = "primary_pct"
_COMMIT = ("commit_full", "commit", "commit_hash")
_BAND = 5.0


def _rows(file: MeasuredFile) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a table, or the objects of JSONL.

    None unless the first line, a cheap check, has the names.
    """
    names: Collection[str] = ()
    if not file.is_json:
        names = file.columns
    else:
        try:
            first = json.loads(_first_line(file.text))
            names = first.keys() if isinstance(first, dict) else ()
        except (ValueError, RecursionError):
            return []
    has_task, has_judgement = (
        any(name in names for name in (*_COMMIT, "task")),
        any(name in names for name in (*_WORDS, _PERCENT)),
    )
    if "agent" not in names or not has_task or not has_judgement:
        return []
    return file.objects if file.is_json else [line.cells for line in file.rows]


def _first_line(text: str) -> str:
    found = re.match(r"[\ufeff \t\r\n]*+([^\n]*+)", text)
    return found[1] if found else ""


def _recognises(file: MeasuredFile) -> bool:
    return any(
        _percent(row) is not None or any(_known(name, row.get(name)) for name in _WORDS)
        for row in _rows(file)
    )


def _read(file: MeasuredFile) -> Iterator[Measured]:
    rows = _rows(file)
    senses: dict[str | None, set[str]] = defaultdict(
        set
    )  # of the percents of each repository that fit their label in one sense only
    for row in rows:
        hard, percent = text(row, "hard"), _percent(row)
        if (
            hard is not None
            and percent is not None
            and (_label(percent) == hard) != (_label(percent - 100) == hard)
        ):
            senses[text(row, "repo")].add("change" if _label(percent) == hard else "share")
    for number, row in enumerate(rows, 1):
        agent, model, repo = text(row, "agent"), text(row, "model"), text(row, "repo")
        if agent is None or text(row, *_COMMIT, "task") is None:
            raise ValueError(f"row {number}: a judgement needs an agent, and a commit or a task")
        origin = ResultOrigin(
            Variant.CANDIDATE,
            repo=repo,
            task=text(row, "task"),
            commit=text(row, *_COMMIT),
            commit_names_task=True,
            agent=agent_named(agent) or agent,
            model=model_named(model or agent) or model,
            params={"primary_metric": text(row, "primary_metric")},
            benchmark="ISO-Bench",
            scope=Scope.END_TO_END,
        )
        for name in _WORDS:
            if word := text(row, name):
                yield Measured(origin, name, "label", label=_known(name, word) or word)
        if (percent := _percent(row)) is not None:
            flags = (Flagged.PERCENT_OF_TWO_KINDS,) if len(senses.get(repo, ())) > 1 else ()
            yield Measured(
                origin,
                _PERCENT,
                None,
                percent,
                "%",
                better=Better.HIGHER,
                ratio_base=Variant.REFERENCE,
                flags=flags,
            )


def _known(name: str, word: object) -> str | None:
    """Return the word of the list, ignoring case.

    None for any other, such as `no_optimization` for a target.
    """
    written = word.strip().lower() if isinstance(word, str) else None
    return next((known for known in _WORDS[name] if known.lower() == written), None)


def _percent(row: Mapping[str, Any]) -> float | None:
    """Return the column `primary_pct`; a percent sign is allowed.

    A number larger than any float is infinite.
    """
    written = row.get(_PERCENT)
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    try:
        return float(written.removesuffix("%") if isinstance(written, str) else written)
    except ValueError:
        return None
    except OverflowError:
        return math.inf


def _label(change: float) -> str:
    return "beats" if change > _BAND else "worse" if change < -_BAND else "similar"


TOOL = Tool(
    "iso_bench_labels",
    (),
    _recognises,
    _read,
    marks_suffice=False,
    looks=lambda beginning: "agent" in _first_line(beginning).lower(),
)
