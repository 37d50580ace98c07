"""Facts in the files beside a record, in the layouts of ISO-Bench and of `tachograph run`.

`schemas.wire.iso_bench` and `launch` have their fields and source.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from ingest.agents.base import PatchText
from ingest.agents.shared.texts import prompt_in
from ingest.context.launches import launch_facts, read_launch
from ingest.context.neighbours import MEASURE_FILE
from ingest.context.patches import FileChange, Patch, patch_in
from ingest.context.small_files import LARGEST_READ, json_object, split
from ingest.context.subagents import is_beside_subagent
from ingest.context.trials import NO_HARNESS_FACTS, HarnessFacts, differs_in_folder, harness_facts
from ingest.sources.times import lenient_time, shifted, unix_time
from schemas.wire.iso_bench import Commits, Journal, Metrics, Prediction, RunMetadata, RunSummary, SummaryAgent, SummaryMeta
from schemas.wire.launch import LAUNCH_FILE

JOURNAL, SUMMARY, PATCH, PREDICTION, TASK, LAUNCH = NAMES = (
    "journal.json", "run_summary.json", "model_patch.diff", "prediction.jsonl", "task.txt", LAUNCH_FILE,
)  # fmt: skip
"""Files that tell something. TASK, the prompt of the agent, counts only beside one of the others: any file may be called so."""

_UNKNOWN = ("", "unknown", "default", "openhands")
"""Words that ISO-Bench writes for a repository, task or model that it does not know."""
_INSTANCE = re.compile(r"(?:[^/]*?__)?([^/]+)-([0-9a-f]{7,40})")
_PLAN = re.compile(r"([a-z0-9]+)_core")
_PATCH_START = re.compile(rb"^(?:diff --git |--- |Index: )", re.MULTILINE)
_SNIFFED = 4096


@dataclass(frozen=True)
class SidecarFacts:
    """The facts in the sidecars of one folder; None where no sidecar has one. `started_at`, `ended_at`: of the agent's process.

    `stamp`: the name of a folder that says when it started, where nothing else does.
    """

    found: bool = False
    task: str | None = None
    repo: str | None = None
    base_commit: str | None = None
    head_commit: str | None = None
    task_status: str | None = None
    first_edit_ms: int | None = None
    patch_files: int | None = None
    patch_insertions: int | None = None
    patch_deletions: int | None = None
    patch_sha256: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    stamp: str = ""
    agent_version: str | None = None
    model: str | None = None
    prompt: str | None = None
    file_changes: tuple[FileChange, ...] = ()
    """(path, insertions, deletions) of the first files of the patch."""
    patch: PatchText | None = None
    branch: str | None = None
    cwd: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    duration_ms: int | None = None
    """Wall time of the agent's process, by the clock of whoever started it."""
    ended_by: str | None = None
    """The limit or the signal that ended the process."""


NO_SIDECAR_FACTS = SidecarFacts()


def sidecar_facts(folder: Path) -> SidecarFacts:
    """The facts in the sidecars of a folder, cached until one of them changes. Raises nothing."""
    state = tuple(_state(os.path.join(folder, name)) for name in NAMES)  # noqa: PTH118  # making a Path would take longer than the system call
    return _read(folder, state) if any(state) else NO_SIDECAR_FACTS


Unpacked = Mapping[str, Path]
"""The name of a folder in an archive or upload → the temporary folder of its sidecars (`ingest.context.temporary_sidecars`)."""


class Sidecars:
    """Sidecars during one ingest. The files of a folder come one after the other, so each folder is searched once."""

    def __init__(self, unpacked: Unpacked | None = None) -> None:
        self._unpacked = {} if unpacked is None else unpacked
        self._folder = ""
        self._facts = NO_SIDECAR_FACTS
        self._harness_folder = ""
        self._harness = NO_HARNESS_FACTS

    def beside(self, path: Path | None, name: str) -> SidecarFacts:
        """The facts in the sidecars beside a file, or beside a member of an archive or an upload (`path` is None). Raises nothing."""
        folder = os.path.dirname(path) or "." if path else self._folder_of(name)  # noqa: PTH120  # a Path would cost more
        if folder != self._folder:
            self._folder, self._facts = folder, NO_SIDECAR_FACTS
            with suppress(Exception):  # the sidecar itself is a source too, and rejected
                self._facts = sidecar_facts(Path(folder)) if folder else NO_SIDECAR_FACTS
        return self._facts

    def harness(self, path: Path | None, name: str) -> HarnessFacts:
        """What the files of a benchmark harness say of a file. Raises nothing."""
        if not path and not self._unpacked:
            return NO_HARNESS_FACTS
        whole = os.path.abspath(path) if path else name  # noqa: PTH100  # as above
        actual = str if path else self._actual
        if differs_in_folder(whole):
            return harness_facts(whole, actual)
        if (folder := split(whole)[0]) != self._harness_folder:
            self._harness_folder, self._harness = folder, harness_facts(whole, actual)
        return self._harness

    def _actual(self, folder: str) -> str | None:
        found = self._unpacked.get(folder)
        return None if found is None else str(found)

    def neighbour(self, path: Path | None, name: str, relative: str) -> Path | None:
        """Where another file lies, such as `../benchmarks.json` from the folder of this one; None where there is none. Raises nothing."""
        if path:
            return path.parent / relative
        folder, _ = split(name)
        while relative.startswith("../"):
            folder, relative = split(folder[:-1])[0], relative.removeprefix("../")
        found = self._unpacked.get(folder)
        return found / relative if found else None

    def has(self, path: Path | None, name: str) -> bool:
        """Whether the file is a sidecar itself. Raises nothing."""
        if path:
            return is_sidecar(path) or is_beside_subagent(path)
        folder = self._folder_of(name)
        return bool(folder) and is_sidecar(Path(folder, split(name)[1]))

    def _folder_of(self, name: str) -> str:
        return str(self._unpacked.get(split(name)[0], "")) if self._unpacked else ""


def is_sidecar(path: Path) -> bool:
    """Whether a file is a sidecar, by its name and its content: then it is no record, and ignored."""
    return path.name in _IS_SIDECAR and _state(str(path)) is not None and _IS_SIDECAR[path.name](path)


def _state(path: str) -> tuple[int, int] | None:
    """Size and time of change of a regular file that is not too large; None for anything else, such as a pipe."""
    with suppress(OSError, ValueError):
        found = os.stat(path)  # noqa: PTH116
        if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_READ:
            return found.st_size, found.st_mtime_ns
    return None


@lru_cache(maxsize=32)
def _read(folder: Path, state: tuple[tuple[int, int] | None, ...]) -> SidecarFacts:
    present = {name for name, known in zip(NAMES, state, strict=True) if known}
    journal = _journal(folder / JOURNAL) if JOURNAL in present else None
    summary = _summary(folder / SUMMARY) if SUMMARY in present else None
    prediction = _prediction(folder / PREDICTION) if PREDICTION in present else None
    patch = _patch(folder / PATCH) if PATCH in present else None
    if patch is None and prediction and prediction.model_patch is not None:
        patch = patch_in(PREDICTION, prediction.model_patch.encode("utf-8", "replace"))
    launch = read_launch(folder / LAUNCH) if LAUNCH in present else None
    if not (journal or summary or prediction or patch or launch):
        return NO_SIDECAR_FACTS
    prompt = prompt_in(folder / TASK) if TASK in present else None
    facts = _facts(folder.name, journal or Journal(), summary or RunSummary(), prediction or Prediction(), patch)
    return replace(facts, prompt=prompt, **(launch_facts(launch, has_patch=patch is not None) if launch else {}))


def _facts(item: str, journal: Journal, summary: RunSummary, prediction: Prediction, patch: Patch | None) -> SidecarFacts:
    """The facts of the journal first, since the other files are made from it; then of the summary, then of the prediction."""
    run, meta = journal.run_metadata or RunMetadata(), summary.meta or SummaryMeta()
    metrics, agent = journal.metrics or Metrics(), summary.agent or SummaryAgent()
    commits = [each.commits or Commits() for each in (journal, summary)]
    instance = _INSTANCE.fullmatch(prediction.instance_id or "")
    started_at, ended_at, stamp = _times(journal, summary)
    repo = _known(run.repo, meta.repo, instance[1] if instance else None, _repo_of_plan(journal.task_id))
    return SidecarFacts(
        found=True,
        task=_task(item, journal, meta),
        repo="sglang" if repo == "sglan" else repo,  # so 179 items of ISO-Bench spell it
        base_commit=_known(*(each.pre for each in commits), instance[2] if instance else None),
        head_commit=_known(*(each.human for each in commits)),
        task_status=journal.status or agent.status or None,
        first_edit_ms=_milliseconds(metrics.time_to_first_edit_s, agent.time_to_first_edit_s),
        started_at=started_at,
        ended_at=ended_at,
        stamp=stamp,
        model=_known(run.model),
        duration_ms=_lasted(journal, summary),
        **_patch_facts(patch, journal, summary),
    )


def _task(item: str, journal: Journal, meta: SummaryMeta) -> str | None:
    """The item, where it is known: `task_id` only names the plan (`vllm_core`) that all items of a repository share."""
    plan = _known(journal.task_id, meta.task_id)
    return _known(meta.item_id) or (item if plan and item.startswith(plan) else plan)


def _times(journal: Journal, summary: RunSummary) -> tuple[datetime | None, datetime | None, str]:
    """The journal is written when the agent has ended. The run's own timestamp, of before the first item, is the last resort.

    That is the name of its folder, given as well: whoever ingests knows the zone.
    """
    ended_at = unix_time(journal.timestamps.written) if journal.timestamps else None
    if ended_at:
        lasted = _lasted(journal, summary)
        return (None if lasted is None else shifted(ended_at, -lasted)), ended_at, ""
    stamp = (journal.run_metadata or RunMetadata()).run_timestamp or (summary.meta or SummaryMeta()).timestamp
    return (lenient_time(stamp) if stamp else None), None, stamp or ""


def _lasted(journal: Journal, summary: RunSummary) -> int | None:
    """The wall time of the agent's process."""
    return _milliseconds(*(process.duration_s for process in (journal.process, summary.agent) if process))


def _repo_of_plan(plan: str | None) -> str | None:
    """The repository of a plan that is named after it, `vllm_core`: all that a journal of before December 2025 says of it."""
    named = _PLAN.fullmatch(plan or "")
    return named[1] if named else None


def _patch_facts(patch: Patch | None, journal: Journal, summary: RunSummary) -> dict[str, Any]:
    """The size of the patch itself, else what the summary or the journal say of it."""
    if patch:
        sizes: tuple[int | None, ...] = (patch.files, patch.insertions, patch.deletions)
    elif summary.agent and (stats := summary.agent.patch_stats):
        sizes = (stats.files_changed, stats.lines_added, stats.lines_removed)
    else:
        sizes = (journal.metrics.changed_files_count if journal.metrics else None, None, None)
    names = ("patch_files", "patch_insertions", "patch_deletions")
    return dict(zip(names, sizes, strict=True)) | {
        "patch_sha256": patch.sha256 if patch else None,
        "file_changes": patch.changes if patch else (),
        "patch": patch.kept if patch else None,
    }


def _known(*values: str | None) -> str | None:
    """The first value that is known."""
    return next((value for value in values if value and value not in _UNKNOWN), None)


def _milliseconds(*seconds: float | None) -> int | None:
    """The first duration that is known."""
    return next((round(each * 1000) for each in seconds if each is not None), None)


def _journal(path: Path) -> Journal | None:
    value = json_object(path)
    is_one = isinstance(value.get("commits"), dict) and isinstance(value.get("status"), str) and "task_id" in value
    return Journal.model_validate(value) if is_one and value.get("type") != "result" else None


def _summary(path: Path) -> RunSummary | None:
    value = json_object(path)
    is_one = isinstance(value.get("meta"), dict) and (isinstance(value.get("commits"), dict) or isinstance(value.get("agent"), dict))
    return RunSummary.model_validate(value) if is_one and value.get("type") != "result" else None


def _prediction(path: Path) -> Prediction | None:
    value = json_object(path, first_line=True)
    return Prediction.model_validate(value) if isinstance(value.get("instance_id"), str) and "model_patch" in value else None


def _patch(path: Path) -> Patch | None:
    if _is_patch(path):
        with suppress(OSError):
            return patch_in(path.name, path.read_bytes())
    return None


def _is_patch(path: Path) -> bool:
    """Whether a file is a patch, by its beginning. An empty file is a patch too: the agent changed nothing."""
    with suppress(OSError), path.open("rb") as file:
        start = file.read(_SNIFFED)
        return not start.strip() or _PATCH_START.search(start) is not None
    return False


_IS_SIDECAR: dict[str, Callable[[Path], bool]] = {
    JOURNAL: lambda path: _journal(path) is not None,
    SUMMARY: lambda path: _summary(path) is not None,
    PREDICTION: lambda path: _prediction(path) is not None,
    PATCH: _is_patch,
    LAUNCH: lambda path: read_launch(path) is not None,
    MEASURE_FILE: lambda _: True,
    "prompt.json": lambda path: {"task", "target_files", "commits"} <= json_object(path).keys(),
    "diff_targets.json": lambda path: {"changed", "allowed", "disallowed"} <= json_object(path).keys(),
}
"""Name → whether the content is that of the sidecar. Nothing is kept of the last two, nor of `measure.toml`, which is about the measured
results beside it."""

SIDECAR_NAMES = frozenset((*_IS_SIDECAR, TASK))
"""The file names of sidecars."""
