"""A table of groups with one grouping across: a column for each of its values and each figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from app.queries.runs import KNOWN_SUFFIX
from app.text.answers import Answer
from app.text.columns import BOUNDS_SUFFIX, OF_SUFFIX, agent_name, with_bounds
from app.text.formatting import UNKNOWN_NAME
from schemas.catalogue.entry import Entry


def pivoted(answer: Answer, by: Sequence[str], pivot: str, metrics: Sequence[str]) -> Answer:
    """The groups with a row for each value of the other groupings of `by`, and columns `VALUE_METRIC` for each value of `pivot`.

    Beside a column stand what it rests on (`_known` runs `_of` all) and its `_bounds`. A group without runs has empty cells.
    """
    rest = [word for word in by if word != pivot]
    table = with_bounds(answer.table, metrics)
    rows = table.to_pylist()
    names = list(dict.fromkeys(row[pivot] for row in rows))
    keys = list(dict.fromkeys(tuple(row[word] for word in rest) for row in rows))
    cells = {(tuple(row[word] for word in rest), row[pivot]): row for row in rows}
    columns = {word: pa.array([key[place] for key in keys], table.schema.field(word).type) for place, word in enumerate(rest)}
    of, shown = dict(answer.of), list(rest)
    for name in names:
        label = UNKNOWN_NAME if name is None else agent_name(name) if pivot == "agent" else name
        for metric in metrics:
            about, key = answer.of[metric], f"{name or UNKNOWN_NAME}_{metric}"
            sources = {key: metric} | {f"{key}{suffix}": f"{metric}{suffix}" for suffix in (KNOWN_SUFFIX, BOUNDS_SUFFIX)}
            sources |= {f"{key}{OF_SUFFIX}": "runs"} if f"{metric}{KNOWN_SUFFIX}" in table.column_names else {}
            for target, source in sources.items():
                if source in table.column_names:
                    values = [cells.get((one, name), {}).get(source) for one in keys]
                    columns[target] = pa.array(values, table.schema.field(source).type)
            title = label if len(metrics) == 1 else f"{label}: {about.label}"
            of[key] = Entry(key, title, about.unit, about.better, about.meaning)
            shown.append(key)
    return replace(answer, table=pa.table(columns), shown=tuple(shown), total=None, of=of)
