"""AIDE (aideml) and AI-Scientist-v2.

Journals of a tree search, and the run to which several journals belong.

Nothing is kept or discarded: a node is good or buggy, and its children show what was built upon.
AI-Scientist-v2 writes a journal per stage, and the best node of a stage is the root of the next
one's journal, with the same id. Its nodes choose their metrics themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ingest.context.small_files import json_object
from ingest.loops.base import Experiment, Loop, LoopFormat
from ingest.loops.words import json_number, json_text, milliseconds
from ingest.measurements.base import MeasuredFile
from ingest.sources.times import unix_time
from schemas.rows.loop import CostBasis, State
from schemas.units import Better

_JOURNALS = ("logs/*/journal.json", "logs/*/*/journal.json")
_NO_SERIES = "Each experiment names its own metrics, so that their values make no common series."
_PRICE = "cost (USD)"
_STAGE = re.compile(r"stage_(\d+)")


class _Metric(NamedTuple):
    """The metric of a node. Only forks write its name."""

    value: float
    better: Better
    name: str | None


class _Node(NamedTuple):
    """A node of a journal.

    `label`: its name in the loop; `parent`: the id of the node that it was made from.
    """

    content: Mapping[str, Any]
    label: str
    parent: str | None

    @property
    def metric(self) -> _Metric | None:
        """Return its metric; None if it has no value or several."""
        metric = self.content.get("metric")
        fields = metric if isinstance(metric, dict) else {"value": metric}
        value, maximize = json_number(fields.get("value")), fields.get("maximize")
        better = (
            Better.UNKNOWN
            if not isinstance(maximize, bool)
            else Better.HIGHER
            if maximize
            else Better.LOWER
        )
        return None if value is None else _Metric(value, better, json_text(fields.get("name")))


def _read_journal(file: MeasuredFile) -> Iterable[Loop]:
    """Return the loop of a journal.

    Of a stage's, with the nodes of the stages before it, so that the last one has the whole run.

    With a count of its tokens, a run is read from that, and each journal alone.
    """
    folder = "".join(file.folders[-1:])
    counts = (file.neighbour(f"{up}token_tracker.json") for up in ("../../", "../../../"))
    if not _STAGE.match(folder) or any(place and place.is_file() for place in counts):
        nodes = list(_nodes(file.object, ""))
    elif nodes := list(_nodes(file.object, _stage(folder))):
        own = _order(Path(folder, file.file_name))
        earlier = sorted(
            (
                place
                for place in file.nearby("../stage_*/journal.json")
                if _order(place)[0] < own[0]
            ),
            key=_order,
        )
        nodes = [
            *(
                node
                for place in earlier
                for node in _nodes(json_object(place), _stage(place.parent.name))
            ),
            *nodes,
        ]
        folder = (
            file.folders[-4]
            if file.folders[-3:-2] == ("logs",) and len(file.folders) > 3
            else folder
        )
    return (_loop(nodes, folder or None),) if nodes else ()


def _stage(folder: str) -> str:
    """Return what the labels of nodes begin with, by the folder of their journal: `stage 2, `."""
    stage = _STAGE.match(folder)
    return f"stage {stage[1]}, " if stage else ""


def _nodes(journal: Mapping[str, Any], stage: str) -> Iterator[_Node]:
    """Yield the nodes of a journal; nothing for any other object."""
    listed, parents = journal.get("nodes"), journal.get("node2parent")
    if not isinstance(listed, list):
        return
    nodes = [
        one
        for one in listed
        if isinstance(one, dict) and isinstance(one.get("id"), str) and "is_buggy" in one
    ]
    for place, one in enumerate(nodes):
        known = parents.get(one["id"]) if isinstance(parents, dict) else None
        parent = next(
            (
                each
                for each in (known, one.get("parent_id"), one.get("parent"))
                if isinstance(each, str)
            ),
            None,
        )
        yield _Node(
            one, f"{stage}node {one['step'] if type(one.get('step')) is int else place}", parent
        )


def _loop(
    nodes: Iterable[_Node], name: str | None, costs: Mapping[str, Decimal] | None = None
) -> Loop:
    """Return the loop of the nodes, each once.

    Its best node in an earlier stage is the root of the next. `costs`: by model.
    """
    distinct: dict[str, _Node] = {}
    for node in nodes:
        distinct.setdefault(node.content["id"], node)
    nodes, labels = distinct.values(), {identity: node.label for identity, node in distinct.items()}
    model = next(iter(costs)) if costs and len(costs) == 1 else None
    has_series = not any(_secondary(node.content) for node in nodes)
    measured = [metric for node in nodes if has_series and (metric := node.metric)]
    better = (
        measured[0].better if len({metric.better for metric in measured}) == 1 else Better.UNKNOWN
    )
    return Loop(
        experiments=[
            _experiment(node, labels.get(node.parent, node.parent) if node.parent else None, model)
            for node in nodes
        ],
        name=name,
        metric=measured[0].name if len({metric.name for metric in measured}) == 1 else None,
        better=better,
        better_from="the journal" if better is not Better.UNKNOWN else None,
        has_decisions=False,
        no_gain=None if has_series else _NO_SERIES,
        cost_usd=sum(costs.values(), Decimal(0)) if costs else None,
        cost_basis=CostBasis.LOWER_BOUND if costs else None,
        notes=("its cost is without the calls of the tree search, which are not recorded",)
        if costs
        else (),
    )


def _experiment(node: _Node, parent: str | None, model: str | None) -> Experiment:
    """Return a node as an experiment.

    A mean over the seeds of another node counts as one, as in the writer's own summary.
    """
    content = node.content
    is_buggy = content["is_buggy"] is True
    return Experiment(
        state=State.CRASHED if is_buggy else State.OTHER,
        label=node.label,
        parent=parent,
        word=(json_text(content.get("exc_type")) or "buggy")
        if is_buggy
        else "good"
        if content["is_buggy"] is False
        else None,
        value=node.metric.value if node.metric and not is_buggy else None,
        secondary=_secondary(content),
        at=unix_time(content.get("ctime")),
        description="mean over the seeds"
        if content.get("is_seed_agg_node") is True
        else json_text(content.get("plan")),
        hypothesis=json_text(content.get("analysis")),
        model=model,
        duration_ms=milliseconds(content.get("exec_time")),
        identity=content["id"],
    )


def _secondary(node: Mapping[str, Any]) -> dict[str, float | str]:
    """Return the values of a node with metrics of its own: `validation loss (SQuAD)` → 0.655."""
    found: dict[str, float | str] = {}
    metric = node.get("metric")
    value = metric.get("value") if isinstance(metric, dict) else None
    metrics = value.get("metric_names") if isinstance(value, dict) else None
    for each in metrics if isinstance(metrics, list) else ():
        for data in (
            each.get("data") or ()
            if isinstance(each, dict) and isinstance(each.get("data"), list)
            else ()
        ):
            if (
                isinstance(data, dict)
                and (final := json_number(data.get("final_value"))) is not None
            ):
                found[f"{each.get('metric_name')} ({data.get('dataset_name')})"] = final
    return found


def _read_run(file: MeasuredFile) -> Iterable[Loop]:
    """Return the loop of a run, from the count of its tokens.

    The nodes of all journals below it, each once, and its cost.
    """
    costs: dict[str, Decimal] = {}
    for model, used in file.object.items():
        price = json_number(used.get(_PRICE)) if isinstance(used, dict) else None
        if price is not None and isinstance(used.get("tokens"), dict):
            costs[model] = Decimal(str(price))
    if not costs:
        return ()
    nodes: list[_Node] = []
    for journal in sorted(
        {place for pattern in _JOURNALS for place in file.nearby(pattern)}, key=_order
    ):
        nodes += _nodes(json_object(journal), _stage(journal.parent.name))
    return (_loop(nodes, file.folders[-1] if file.folders else None, costs),) if nodes else ()


def _order(journal: Path) -> tuple[list[int], str]:
    return [int(each) for each in re.findall(r"\d{1,18}", journal.parent.name)], str(journal)


AIDE_JOURNAL = LoopFormat(
    "aide-journal", lambda beginning: '"nodes"' in beginning, _read_journal, ('"is_buggy"',)
)
AIDE_RUN = LoopFormat(
    "aide-run", lambda beginning: '"tokens"' in beginning, _read_run, (f'"{_PRICE}"',)
)
