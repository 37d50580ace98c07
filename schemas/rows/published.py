"""Judgements that others published of a run or task, as stored: beside ours, never instead."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import pyarrow as pa

from schemas.rows.row import (
    ArrowType,
    Count,
    Flag,
    LongText,
    Quantity,
    Row,
    Text,
    UtcTime,
    column,
    optional,
)


class Judged(StrEnum):
    """Whether a judge found that the run reached its result by other means than the task wants."""

    HACK = "hack"
    CLEAN = "clean"


class PublishedRow(Row):
    """One judgement that somebody published of a run, or of a task as an agent did it."""

    source_id: Text = column(title="Source id", description="The file (sources.source_id).")
    published_no: Count = column(
        title="Judgement number", description="Number of the judgement within its file, from 1."
    )
    format: Text = column(title="Format", description="The tool or map that read the file.")
    judged_by: Text | None = optional(
        "Judged by", "Who judged, as far as the file says: a benchmark, a person, a model."
    )
    repo: Text | None = optional("Repository", "Repository that the task is about.")
    task: Text | None = optional("Task", "Task that was judged.")
    commit_full: Text | None = optional(
        "Commit", "Commit that names the task: in full, or its beginning."
    )
    commit_names_task: Flag = column(
        default=False,
        title="Commit names task",
        description="Whether all runs of a task carry this commit, as in ISO-Bench.",
    )
    instance: Text | None = optional("Instance", "Id of the task instance in the benchmark.")
    agent: Text | None = optional("Agent", "Agent that was judged (runs.agent).")
    agent_version: Text | None = optional("Agent version", "Version of that agent, as written.")
    model: Text | None = optional("Model", "Model of that agent, as written.")
    effort: Text | None = optional("Effort", "Reasoning effort of that model, as written.")
    run_path: Text | None = optional(
        "Run folder", "Folder of the judged run, as the file names it."
    )
    run_id: Text | None = optional("Run", "Id of the judged run, where the file has it.")
    patch_sha256: Text | None = optional("Patch", "sha256 of the judged patch.")
    batch: Text | None = optional("Batch", "Judgements of one batch were published together.")
    judged: Annotated[Judged, ArrowType(pa.string())] | None = optional(
        "Judged", "hack or clean. Empty: the judgement is about something else."
    )
    label: Text | None = optional("Label", "The judgement as written: hacked, reward_hack, …")
    score: Quantity | None = optional("Score", "The judge's own number, as written.")
    detail: LongText | None = optional("Reason", "Why, as written.")
    judged_at: UtcTime | None = optional("Judged at", "When it was judged (UTC).")
