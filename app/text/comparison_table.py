"""The table of groups beside a baseline, as HTML: medians with n in every row, and on how many tasks it is cheaper. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.queries.comparison import Comparison
from app.queries.filters import NO_FILTERS
from app.text import html_parts
from app.text.sentences.compare import BASES
from app.text.words.groups import Name, rows
from schemas.catalogue.columns import METRICS_COMPARED


def comparison_table(comparison: Comparison, called: Sequence[Name]) -> str:
    """A row per group, the baseline first; a name leads to its runs."""
    titles = {key: entry.label for key, entry in METRICS_COMPARED.items()}
    titles |= {"cost": f"{BASES[comparison.basis.key]} per run", "wall": f"{titles['wall']}, completed"}
    counted = {"cost": ("cheaper", "Cheaper / dearer"), "wall": ("faster", "Faster / slower")}
    head, keys = [("", "Group"), ("r", "Tasks"), ("r", "Completed<br>(task at least once)")], ["tasks", "completed"]
    for metric in METRICS_COMPARED:
        if metric in comparison.metrics:
            head += [("r", f"{titles[metric]}<br>(median)"), ("r", "n")]
            keys += [metric, f"{metric}_n"]
        if metric in comparison.metrics and metric in counted:
            key, title = counted[metric]
            head.append(("r", f"{title}<br>on how many tasks"))
            keys.append(key)
    body = []
    for number, (row, group, name) in enumerate(zip(rows(comparison, called), comparison.groups, called, strict=True)):
        detail = ", ".join(filter(None, (name.detail, "" if number else "baseline")))
        label = html_parts.group_name(name.agent, name.label, detail)
        to = html_parts.link("runs", NO_FILTERS if group.filters is None else group.filters)
        cells = [html_parts.muted(row[key]) if key.endswith("_n") else html_parts.text(row[key]) for key in keys]
        body.append(("", [html_parts.anchor(to, label, kind="t-plain"), *cells]))
    return f'<div class="t-scroll">{html_parts.table(head, body, kind="t-grid")}</div>'
