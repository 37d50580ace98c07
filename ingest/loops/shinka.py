"""ShinkaEvolve and its forks.

The SQLite database of a run, with the programs, their scores and the cost of each.

A program with `correct` = 0 failed. Higher scores are better. Every island begins with a copy of
the first program, which is no experiment. `…-wal` beside a database is read as its database.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from ingest.loops.base import MOST_EXPERIMENTS, Experiment, Loop, LoopFormat
from ingest.loops.words import json_number, json_text, milliseconds, new_bests_kept
from ingest.measurements.base import MeasuredFile
from ingest.sources.times import unix_time
from ingest.system.bounds import TooMuch
from ingest.system.databases import (
    WRITE_AHEAD,
    DatabaseTable,
    contain,
    parts_of,
    read_tables,
)
from schemas.rows.loop import CostBasis, State
from schemas.units import Better

DATABASE = "SQLite format 3\0"

_NEEDED = {"id", "generation", "combined_score", "correct"}
_COLUMNS = (
    "id",
    "parent_id",
    "generation",
    "timestamp",
    "code_diff",
    "combined_score",
    "correct",
    "public_metrics",
    "text_feedback",
    "metadata",
)
_NO_ATTEMPTS = DatabaseTable([], [])  # before 2026
_COSTS = ("api_costs", "embed_cost", "novelty_cost", "meta_cost")
_COPIES = ("_is_island_copy", "_spawned_island")


def _read(file: MeasuredFile) -> Iterable[Loop]:
    """Return the loop in a database on disk, or nothing if it is another program's.

    Raises ValueError.
    """
    place = file.neighbour(file.file_name.removesuffix(WRITE_AHEAD))
    parts = parts_of(place) if place else []
    if place not in parts or not contain(parts, b"combined_score"):
        return ()
    tables = read_tables(
        parts, {"programs": _COLUMNS, "attempt_log": ("generation",)}, MOST_EXPERIMENTS
    )
    if not (programs := tables.get("programs")) or not _NEEDED.issubset(programs.columns):
        return ()
    found = [dict(zip(programs.columns, row, strict=True)) for row in programs.rows]
    found.sort(
        key=lambda program: [
            json_number(program.get(name)) or 0 for name in ("generation", "timestamp")
        ]
    )
    if (attempts := tables.get("attempt_log", _NO_ATTEMPTS)) is None:
        raise TooMuch("its attempt_log is a view, which may take any time")
    proposed = {generation for row in attempts.rows for generation in row}
    generations = {program["generation"] for program in found}
    last = max(filter(None, map(json_number, generations)), default=0)
    failed = sum((json_number(generation) or 0) < last for generation in proposed - generations)
    return (_loop(found, file.folders[-1] if file.folders else None, failed),)


def _loop(programs: Iterable[Mapping[str, Any]], name: str | None, failed: int) -> Loop:
    """Return the loop of the programs.

    `failed`: number of proposals that were paid for and never evaluated.
    """
    experiments: list[Experiment] = []
    labels: dict[object, str] = {}
    for program in programs:
        metadata = _object(program.get("metadata"))
        if any(metadata.get(mark) for mark in _COPIES):
            labels[program["id"]] = labels.get(
                metadata.get("_original_program_id"), f"generation {program['generation']}"
            )
            continue
        label = labels[program["id"]] = f"generation {program['generation']}"
        parent, answer = program.get("parent_id"), metadata.get("llm_result")
        score = json_number(program["combined_score"])
        is_correct = bool(program["correct"]) and score is not None
        metrics = _object(program.get("public_metrics"))
        is_first = program["generation"] == 0 and not any(
            one.state is State.BASELINE for one in experiments
        )
        experiments.append(
            Experiment(
                state=State.CRASHED
                if not is_correct
                else State.BASELINE
                if is_first
                else State.OTHER,
                label=label,
                parent=labels.get(parent, json_text(parent)),
                word=None if is_correct else "incorrect",
                value=score if is_correct else None,
                secondary={
                    key: each
                    for key, value in metrics.items()
                    if (each := json_number(value)) is not None
                },
                at=unix_time(program.get("timestamp")),
                description=": ".join(
                    filter(
                        None,
                        (
                            json_text(metadata.get("patch_name")),
                            json_text(metadata.get("patch_description")),
                        ),
                    )
                )
                or None,
                hypothesis=json_text(program.get("text_feedback")),
                model=json_text(metadata.get("model_name")),
                duration_ms=milliseconds(metadata.get("compute_time")),
                cost_usd=_cost(metadata),
                tokens=_tokens(answer if isinstance(answer, dict) else _object(answer)),
                patch=json_text(program.get("code_diff")),
                identity=json_text(program["id"]),
            )
        )
    basis = None
    if not experiments or any(one.cost_usd is not None for one in experiments):
        basis = CostBasis.LOWER_BOUND if failed else CostBasis.EXACT
    return Loop(
        experiments=new_bests_kept(experiments),
        name=name,
        metric="combined_score",
        better=Better.HIGHER,
        better_from="ShinkaEvolve maximizes its score",
        notes=(
            f"proposals that failed before they were evaluated, and are not in its cost: {failed}",
        )
        if failed
        else (),
        cost_usd=None if experiments else Decimal(0),
        cost_basis=basis,
    )


def _object(text: object) -> dict[str, Any]:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _cost(metadata: Mapping[str, Any]) -> Decimal | None:
    """Return the sum of the costs of a program.

    Its change, its embedding, the check that it is new, and the advice drawn from others.
    """
    costs = [
        Decimal(str(cost))
        for name in _COSTS
        if (cost := json_number(metadata.get(name))) is not None
    ]
    return sum(costs, Decimal(0)) if costs else None


def _tokens(answer: Mapping[str, Any]) -> int | None:
    counts = [json_number(answer.get(name)) for name in ("input_tokens", "output_tokens")]
    return round(sum(filter(None, counts))) if None not in counts else None


SHINKA = LoopFormat("shinka-sqlite", DATABASE.__eq__, _read)
