"""Facts in the files beside a record, as ISO-Bench, `tachograph run` and Claude Code write them.

For Claude Code, these are the files of sub-agents.

`schemas.wire.iso_bench` and `launch` define their fields. Sidecars in archives and uploads are
written to temporary folders while their records are read, so sidecars are always files. If no agent
left a record in an item of ISO-Bench, the harness's journal is the only trace of its run: see
`Items`.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from ingest.agents.shared.texts import MODEL_TAG, prompt_in, text_at
from ingest.context.small_files import (
    LARGEST_READ,
    MAP_FILE,
    MEASURE_FILE,
    NEIGHBOURS,
    json_object,
    split,
)
from ingest.context.trials import (
    differs_in_folder,
    harness_facts,
    named_by_harness,
)
from ingest.facts import NO_FACTS, SIDECAR_RANK, Facts, Subagent
from ingest.patches import Patch, patch_in
from ingest.sources.databases import DATABASE_NAMES
from ingest.sources.decoding import Allowance, Broken, Opened
from ingest.sources.files import Source
from ingest.sources.times import lenient_time, shifted, unix_time
from ingest.system.databases import WRITE_AHEAD
from ingest.system.files import temporary_folder
from ingest.system.secrets import scrubbed_words
from schemas.errors import InputUnreadable
from schemas.file_kinds import FileKind
from schemas.marks import RECORD_MARK, TEXT_STARTS
from schemas.wire.iso_bench import (
    Commits,
    Journal,
    Metrics,
    Prediction,
    Prompt,
    RunMetadata,
    RunSummary,
    SummaryAgent,
    SummaryMeta,
    run_folder,
)
from schemas.wire.launch import LAUNCH_FILE, Launch, LaunchGit, LaunchPatch

JOURNAL, SUMMARY, PATCH, PREDICTION, PROMPT, TASK, LAUNCH = NAMES = (
    "journal.json",
    "run_summary.json",
    "model_patch.diff",
    "prediction.jsonl",
    "prompt.json",
    "task.txt",
    LAUNCH_FILE,
)
"""TASK, the prompt of the agent, counts only beside one of the others, since its name is too
common.
"""

_UNKNOWN = ("", "unknown", "default", "openhands")
"""ISO-Bench's words for an unknown repository, task or model."""

_INSTANCE = re.compile(r"(?:[^/]*?__)?([^/]+)-([0-9a-f]{7,40})")
_PLAN = re.compile(r"([a-z0-9]+)_core")
_PLAN_TITLE = re.compile(r"([a-z0-9]+) core performance", re.IGNORECASE)
_PATCH_START = re.compile(rb"^(?:diff --git |--- |Index: )", re.MULTILINE)
_SNIFFED = 4096


Unpacked = Mapping[str, Path]
"""Folder name in an archive or upload → the temporary folder of its sidecars."""


class Sidecars:
    """Sidecars during one ingest.

    The files of a folder come one after the other, so each folder is searched once.
    """

    def __init__(self, unpacked: Unpacked | None = None) -> None:
        self._unpacked = {} if unpacked is None else unpacked
        self._folder: tuple[str, tzinfo] = ("", UTC)
        self._facts = NO_FACTS
        self._harness_folder = ""
        self._harness = NO_FACTS

    def beside(self, path: Path | None, name: str, zone: tzinfo = UTC) -> Facts:
        """Return the facts in the sidecars of a file, or of a member of an archive or upload.

        For a member, `path` is None. `zone`: of times without one. Never raises.
        """
        folder = os.path.dirname(path) or "." if path else self._folder_of(name)  # noqa: PTH120  # a Path would cost more
        if (folder, zone) != self._folder:
            self._folder, self._facts = (folder, zone), NO_FACTS
            with suppress(Exception):  # the sidecar itself is a source too, and rejected
                self._facts = sidecar_facts(Path(folder), zone) if folder else NO_FACTS
        return self._facts

    def harness(self, path: Path | None, name: str) -> Facts:
        """Return the facts of a benchmark harness about a file. Never raises."""
        if not path and not self._unpacked:
            return NO_FACTS
        whole = os.path.abspath(path) if path else name  # noqa: PTH100  # as above
        place_of: Callable[[str], str | Path | None] = str if path else self._unpacked.get
        if differs_in_folder(whole):
            return harness_facts(whole, place_of)
        if (folder := split(whole)[0]) != self._harness_folder:
            self._harness_folder, self._harness = folder, harness_facts(whole, place_of)
        return self._harness

    def neighbour(self, path: Path | None, name: str, relative: str) -> Path | None:
        """Return the path of another file, or None. Never raises.

        The name is like `../benchmarks.json`, from the folder of this file.
        """
        if path:
            return path.parent / relative
        folder, _ = split(name)
        while relative.startswith("../"):
            folder, relative = split(folder[:-1])[0], relative.removeprefix("../")
        found = self._unpacked.get(folder)
        return found / relative if found else None

    def nearby(self, path: Path | None, name: str, pattern: str) -> list[Path]:
        """Return the files for a pattern like `../run_*/state.json`, in order. Never raises.

        The pattern is from the folder of this file.
        """
        folder, _ = split(name)
        place = Path(os.path.abspath(path)).parent if path else None  # noqa: PTH100  # `resolve` would follow links
        while pattern.startswith("../"):
            folder, pattern = split(folder[:-1])[0], pattern.removeprefix("../")
            place = place and place.parent
        with suppress(OSError, ValueError):
            if place:
                return sorted(each for each in place.glob(pattern) if each.is_file())
            return sorted(
                each
                for inside, unpacked in self._unpacked.items()
                if inside.startswith(folder)
                for each in unpacked.iterdir()
                if inside.count("/", len(folder)) == pattern.count("/")
                and PurePosixPath(inside[len(folder) :], each.name).match(pattern)
            )
        return []

    def has(self, path: Path | None, name: str) -> bool:
        """Return whether the file is a sidecar itself. Never raises."""
        if path:
            is_subagents = path.name.startswith(_SUBAGENT) and path.name.endswith(_BESIDE)
            return is_sidecar(path) or (is_subagents and "agentType" in json_object(path))
        folder = self._folder_of(name)
        return bool(folder) and is_sidecar(Path(folder, split(name)[1]))

    def _folder_of(self, name: str) -> str:
        return str(self._unpacked.get(split(name)[0], "")) if self._unpacked else ""


def is_sidecar(path: Path) -> bool:
    """Return whether a file is a sidecar, by name and content, and so ignored as a record."""
    return (
        path.name in _IS_SIDECAR and _state(str(path)) is not None and _IS_SIDECAR[path.name](path)
    )


def sidecar_facts(folder: Path, zone: tzinfo = UTC) -> Facts:
    """Return the facts in the sidecars of a folder, cached until one changes. Never raises."""
    state = tuple(_state(os.path.join(folder, name)) for name in NAMES)  # noqa: PTH118  # making a Path would take longer than the system call
    return _read(folder, state, zone) if any(state) else NO_FACTS


def _state(path: str) -> tuple[int, int] | None:
    """Return size and modification time of a regular file within the size limit.

    None for anything else, such as a pipe.
    """
    with suppress(OSError, ValueError):
        found = os.stat(path)  # noqa: PTH116
        if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_READ:
            return found.st_size, found.st_mtime_ns
    return None


@lru_cache(maxsize=32)
def _read(folder: Path, state: tuple[tuple[int, int] | None, ...], zone: tzinfo) -> Facts:
    """Merge the facts of journal, summary and prediction, in this order.

    The other files are made from the journal.
    """
    present = {name for name, known in zip(NAMES, state, strict=True) if known}
    found_journal = _journal(folder / JOURNAL) if JOURNAL in present else None
    found_summary = _summary(folder / SUMMARY) if SUMMARY in present else None
    prediction = _prediction(folder / PREDICTION) if PREDICTION in present else None
    prompt = _prompt(folder / PROMPT) if PROMPT in present and not found_journal else None
    patch = None
    if PATCH in present and _is_patch(folder / PATCH):
        with suppress(OSError):
            patch = patch_in(PATCH, (folder / PATCH).read_bytes())
    if patch is None and prediction and prediction.model_patch is not None:
        patch = patch_in(PREDICTION, prediction.model_patch.encode("utf-8", "replace"))
    launch = _launch(folder / LAUNCH) if LAUNCH in present else None
    if not (found_journal or found_summary or prediction or prompt or patch or launch):
        return NO_FACTS

    journal, summary = found_journal or Journal(), found_summary or RunSummary()
    run, meta = journal.run_metadata or RunMetadata(), summary.meta or SummaryMeta()
    metrics, agent = journal.metrics or Metrics(), summary.agent or SummaryAgent()
    commits = [each.commits or Commits() for each in (journal, summary, prompt or Prompt())]
    instance = _INSTANCE.fullmatch(prediction.instance_id or "") if prediction else None
    duration_ms = _milliseconds(
        *(process.duration_s for process in (journal.process, summary.agent) if process)
    )
    # The journal is written when the agent has ended. The timestamp of the run, the name of its
    # folder in local time, is from before its first item: the last resort.
    ended_at = unix_time(journal.timestamps.written) if journal.timestamps else None
    if ended_at:
        started_at = None if duration_ms is None else shifted(ended_at, -duration_ms)
    else:
        started_at = lenient_time(run.run_timestamp or meta.timestamp or "", zone)
    # `task_id` only names the plan (`vllm_core`) that all items of a repository share, and which is
    # named after it: that is all that a
    # journal of before December 2025 says of the repository
    plan, plan_of_repo = (
        _known(journal.task_id, meta.task_id),
        _PLAN.fullmatch(journal.task_id or ""),
    )
    plan_of_repo = plan_of_repo or _PLAN_TITLE.fullmatch((prompt.task if prompt else None) or "")
    repo = _known(
        run.repo,
        meta.repo,
        instance[1] if instance else None,
        plan_of_repo[1].lower() if plan_of_repo else None,
    )
    sizes: tuple[int | None, ...] = (metrics.changed_files_count, None, None)
    if patch:
        sizes = (patch.files, patch.insertions, patch.deletions)
    elif summary.agent and (stats := summary.agent.patch_stats):
        sizes = (stats.files_changed, stats.lines_added, stats.lines_removed)
    facts = Facts(
        context_rank=SIDECAR_RANK,
        task=_known(meta.item_id)
        or (folder.name if plan and folder.name.startswith(plan) else plan),
        repo="sglang" if repo == "sglan" else repo,  # so 179 items of ISO-Bench spell it
        base_commit=_known(*(each.pre for each in commits), instance[2] if instance else None),
        head_commit=_known(*(each.human for each in commits)),
        task_status=journal.status or agent.status or None,
        first_edit_ms=_milliseconds(metrics.time_to_first_edit_s, agent.time_to_first_edit_s),
        started_at=started_at,
        ended_at=ended_at,
        requested_model=_known(run.model),
        process_ms=duration_ms,
        exit_code=journal.exit_code,
        prompt=prompt_in(folder / TASK) if TASK in present else None,
        patch_files=sizes[0],
        patch_insertions=sizes[1],
        patch_deletions=sizes[2],
        patch_sha256=patch.sha256 if patch else None,
        patch_changes=patch.changes if patch else (),
        patch=patch.kept if patch else None,
    )
    return replace(facts, **_launch_facts(launch, patch)) if launch else facts


def with_folder(facts: Facts, name: str) -> Facts:
    """Return the facts of an item of ISO-Bench with those of its folder.

    `name`: of a file in it, with its path.

    The folder names the model that the item was started with, as in journals since December 2025:
    in all 816 items with a trajectory it is the trajectory's.
    """
    found = run_folder(name)
    if not found or not found.agent:
        return facts
    model = facts.requested_model or _known(found.path.split("/")[2])
    return replace(facts, requested_model=model, task=facts.task or found.item)


def _launch_facts(launch: Launch, patch: Patch | None) -> dict[str, Any]:
    """Return the facts of a launch. The patch itself, if present, has a more exact size."""
    git = launch.git or LaunchGit()
    size = git.patch or LaunchPatch()
    labels = launch.labels or {}
    facts: dict[str, Any] = {
        "repo": labels.get("repo") or git.repo,
        "task": labels.get("task") or None,
        "experiment": labels.get("experiment") or None,
        "base_commit": git.before,
        "branch": git.branch,
        "effort": labels.get("effort") or _effort_in(launch.command or ()),
        "host": launch.host,
        "cwd": launch.cwd,
        "started_at": lenient_time(launch.started_at or ""),
        "ended_at": lenient_time(launch.ended_at or ""),
        "process_ms": _milliseconds(launch.duration_s),
        "ended_by": launch.ended_by,
        "exit_code": launch.exit_code,
        "labels": launch.labels,
    }
    if not patch:
        facts |= {
            "patch_files": size.files,
            "patch_insertions": size.insertions,
            "patch_deletions": size.deletions,
            "patch_sha256": size.sha256,
        }
    return {name: value for name, value in facts.items() if value is not None}


_EFFORT_OPTION = re.compile(
    r"(?:^|\0)(?:--(?:reasoning-)?effort[=\0]|(?:-c|--config)[=\0]model_reasoning_effort *= *)"
    r"[\"']?([A-Za-z]+)"
)
"""Of Claude Code, Grok and Copilot, and of Codex."""


def _effort_in(command: Sequence[str]) -> str | None:
    """Return the effort that an agent's command line names."""
    found = _EFFORT_OPTION.search("\0".join(command))
    return found[1] if found else None


def _known(*values: str | None) -> str | None:
    return next((value for value in values if value and value not in _UNKNOWN), None)


def _milliseconds(*seconds: float | None) -> int | None:
    return next((round(each * 1000) for each in seconds if each is not None), None)


def _journal(path: Path) -> Journal | None:
    value = json_object(path)
    is_one = (
        isinstance(value.get("commits"), dict)
        and isinstance(value.get("status"), str)
        and "task_id" in value
    )
    return Journal.model_validate(value) if is_one and value.get("type") != "result" else None


def _summary(path: Path) -> RunSummary | None:
    value = json_object(path)
    is_one = isinstance(value.get("meta"), dict) and (
        isinstance(value.get("commits"), dict) or isinstance(value.get("agent"), dict)
    )
    return RunSummary.model_validate(value) if is_one and value.get("type") != "result" else None


def _prediction(path: Path) -> Prediction | None:
    value = json_object(path, first_line=True)
    return (
        Prediction.model_validate(value)
        if isinstance(value.get("instance_id"), str) and "model_patch" in value
        else None
    )


def _prompt(path: Path) -> Prompt | None:
    value = json_object(path)
    return (
        Prompt.model_validate(value)
        if {"task", "target_files", "commits"} <= value.keys()
        else None
    )


def _is_patch(path: Path) -> bool:
    """Return whether a file is a patch, by its beginning.

    An empty file is a patch too: the agent changed nothing.
    """
    with suppress(OSError), path.open("rb") as file:
        start = file.read(_SNIFFED)
        return not start.strip() or _PATCH_START.search(start) is not None
    return False


def _launch(path: Path) -> Launch | None:
    value = json_object(path)
    if not isinstance(value.get("tachograph_launch"), str):
        return None
    launch = Launch.model_validate(value)  # whoever wrote it may have written passwords
    return (
        launch.model_copy(update={"command": scrubbed_words(launch.command)})
        if launch.command
        else launch
    )


_IS_SIDECAR: dict[str, Callable[[Path], bool]] = {
    JOURNAL: lambda path: _journal(path) is not None,
    SUMMARY: lambda path: _summary(path) is not None,
    PREDICTION: lambda path: _prediction(path) is not None,
    PATCH: _is_patch,
    LAUNCH: lambda path: _launch(path) is not None,
    MEASURE_FILE: lambda _: True,
    MAP_FILE: lambda _: True,
    PROMPT: lambda path: _prompt(path) is not None,
    "diff_targets.json": lambda path: (
        {"changed", "allowed", "disallowed"} <= json_object(path).keys()
    ),
}
"""Name → check of the content. Nothing is kept of the last one, nor of `measure.toml` and the map,
which are about other files.
"""

SIDECAR_NAMES = frozenset((*_IS_SIDECAR, TASK))


# Files beside the messages of a task of Cline or Roo Code, which name its model if they do not.

TASK_MESSAGES = "ui_messages.json"


def task_model_beside(path: Path) -> str | None:
    """Return the only model that the files beside the messages of a task name. Never raises."""
    if path.name != TASK_MESSAGES:
        return None
    used = json_object(path.with_name("task_metadata.json")).get("model_usage")
    entries = used if isinstance(used, list) else ()
    models = {text_at(one, "model_id") for one in entries} - {None}
    history = path.with_name("api_conversation_history.json")
    with suppress(OSError, ValueError):
        if not models and _state(str(history)):
            models = {*MODEL_TAG.findall(history.read_text(encoding="utf-8"))}
    return models.pop() if len(models) == 1 else None


# Claude Code's file beside the transcript of a sub-agent: `agent-<id>.meta.json` beside
# `agent-<id>.jsonl`, since 2.1.14.

_SUBAGENT, _TRANSCRIPT, _BESIDE = "agent-", ".jsonl", ".meta.json"
_LONGEST_WORDS = 200


def subagent_beside(path: Path) -> Subagent | None:
    """Return facts about a sub-agent from the file beside its transcript, if any. Never raises."""
    if not path.name.startswith(_SUBAGENT) or _TRANSCRIPT not in path.name:
        return None
    content = json_object(path.with_name(path.name.partition(_TRANSCRIPT)[0] + _BESIDE))
    texts = (content.get(name) for name in ("agentType", "description"))
    found = Subagent(
        *(
            " ".join(text.split())[:_LONGEST_WORDS] or None if isinstance(text, str) else None
            for text in texts
        )
    )
    return found if any(found) else None


# Sidecars in archives and uploads.

_LONGEST_FOLDER = 100
_UNSAFE = re.compile(r"[^\w.-]")


def named_as_sidecars(names: Sequence[str]) -> frozenset[str]:
    """Return the files or members named like sidecars; only their content proves that they are."""
    named = frozenset(
        name
        for name in names
        if split(name)[1] in SIDECAR_NAMES | NEIGHBOURS
        or name.removesuffix(WRITE_AHEAD).endswith(DATABASE_NAMES)
    )
    return named | frozenset(named_by_harness(names)).intersection(names)


def sidecars_among(sources: Sequence[Source]) -> list[Source]:
    """Return the sources of an upload that are named like sidecars."""
    named = named_as_sidecars([source.name for source in sources])
    return [source for source in sources if source.name in named]


@contextmanager
def unpacked(sources: Iterable[Source]) -> Iterator[Unpacked]:
    """Write sidecars to temporary folders. Yields these by the name of the folder of the sidecar.

    Raises OSError.

    A folder is named by the last part of that name, which may name the item, without characters
    that are unsafe in a path.
    """
    with tempfile.TemporaryDirectory(dir=temporary_folder()) as place:
        folders: dict[str, Path] = {}
        for source in sources:
            folder, name = split(source.name)
            if source.size <= LARGEST_READ:
                safe = _UNSAFE.sub("_", split(folder.rstrip("/!"))[1])[:_LONGEST_FOLDER]
                into = folders.setdefault(
                    folder, Path(place, str(len(folders)), safe if safe.strip(".") else "_")
                )
                into.mkdir(parents=True, exist_ok=True)
                with source.open() as stream:
                    (into / name).write_bytes(stream.read())
        yield folders


# Items of ISO-Bench without a record of an agent.

_ITEM_FILES = (TASK, PROMPT)
"""Files of every item of the benchmark, which identify a journal beside them as an item's."""

_SNIFFED_LOG = 1 << 18
_LONGEST_ERROR = 2000
_ERRORS = "_stderr.txt"


def is_alone(path: Path) -> bool:
    """Return whether a file stands alone for an item, without another record of an agent.

    It is the journal of an item, or its prompt without a journal.

    An unreadable file counts as such a record; otherwise its run could be counted twice. Never
    raises.
    """
    folder, name = path.parent, path.name
    try:
        is_item = name in (JOURNAL, PROMPT) and any(
            (folder / other).is_file() for other in _ITEM_FILES if other != name
        )
        if not is_item or (name == PROMPT and _journal(folder / JOURNAL)):
            return False
        for file in _logs(folder):
            with suppress(Broken), file.open("rb") as opened:
                head = Opened(opened, Allowance(file.stat().st_size)).beginning(_SNIFFED_LOG)
                if (
                    head.startswith(TEXT_STARTS)
                    or RECORD_MARK.search(head.decode("utf-8", "replace")) is not None
                ):
                    return False
    except OSError:
        return False
    return True


def error_beside(path: Path) -> str | None:
    """Return the end of the agent process's standard error."""
    with suppress(OSError):
        for file in _logs(path.parent):
            if file.name.endswith(_ERRORS) and (text := _end_of(Source(file.name, path=file))):
                return text
    return None


def _logs(folder: Path) -> Iterator[Path]:
    """Yield the files of an item that may be an agent's log. Raises OSError."""
    for file in sorted(folder.iterdir()):
        if file.name not in SIDECAR_NAMES and file.name not in _ITEM_FILES:
            with suppress(FileNotFoundError):
                if stat.S_ISREG(file.stat().st_mode):
                    yield file


def _end_of(source: Source) -> str:
    with suppress(OSError, InputUnreadable), source.open() as stream:
        stream.seek(max(0, source.size - _LONGEST_ERROR))
        return stream.read().decode("utf-8", "replace").strip()
    return ""


class Result(Protocol):
    """The result of reading a source, or its kind in the store."""

    name: str
    kind: FileKind


class Items:
    """The items of an archive.

    Members come one by one, so only an item's last file shows that it has no record.

    `folders`: the folders of unpacked sidecars by their names in the archive.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders
        self._journals: list[tuple[str, datetime | None]] = []
        self._recorded: set[str] = set()
        self._errors: dict[str, str] = {}

    def hold(self, member: Source) -> bool:
        """Return whether a member is an item's only file, which waits for the others.

        For any other member, keep its error text.
        """
        folder, name = split(member.name)
        if folder not in self._folders:
            return False
        if is_alone(self._folders[folder] / name):
            self._journals.append((member.name, member.modified_at))
            return True
        if name.endswith(_ERRORS) and folder not in self._errors and (text := _end_of(member)):
            self._errors[folder] = text
        return False

    def note(self, result: Result) -> None:
        """Process the result of a member."""
        if self._folders and result.kind is FileKind.LOG:
            self._recorded.add(split(result.name)[0])

    def held(
        self, folders: Container[str]
    ) -> Iterator[tuple[Source, Callable[[], str | None] | None]]:
        """Yield the waiting journals of some folders, each with its item's error.

        The error is None if the item has a record.
        """
        waited, self._journals = (
            self._journals,
            [one for one in self._journals if split(one[0])[0] not in folders],
        )
        for name, modified_at in waited:
            folder, file = split(name)
            if folder in folders:
                journal = Source(
                    name, path=self._folders[folder] / file, modified_at=modified_at, temporary=True
                )
                yield (
                    journal,
                    None if folder in self._recorded else partial(self._errors.get, folder),
                )
