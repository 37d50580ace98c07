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
from functools import cached_property, partial
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
_FOLDERS_KEPT = 32


Unpacked = Mapping[str, Path]
"""Folder name in an archive or upload → the temporary folder of its sidecars."""


class Sidecars:
    """Sidecars during one ingest: each folder is listed once, as its first file is read."""

    def __init__(self, unpacked: Unpacked | None = None) -> None:
        self._unpacked = {} if unpacked is None else unpacked
        self._folders: dict[str, ItemFolder] = {}
        self._harness_folder = ""
        self._harness = NO_FACTS

    def beside(self, path: Path | None, name: str, zone: tzinfo = UTC) -> Facts:
        """Return the facts in the sidecars of a file, or of a member of an archive or upload.

        For a member, `path` is None. `zone`: of times without one. Never raises.
        """
        with suppress(Exception):  # the sidecar itself is a source too, and rejected
            if folder := self._folder_of(path, name):
                return folder.facts_of(str(path.absolute()) if path else name, zone)
        return NO_FACTS

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
            if is_subagents and "agentType" in json_object(path):
                return True
        folder = self._folder_of(path, name)
        return folder is not None and folder.is_sidecar(path.name if path else split(name)[1])

    def is_alone(self, path: Path) -> bool:
        """Return whether a file on disk is the only one of its item (`ItemFolder.is_alone`)."""
        folder = self._folder_of(path, "")
        return folder is not None and folder.is_alone(path.name)

    def error_beside(self, path: Path) -> str | None:
        """Return the end of the standard error of the agent process of an item on disk."""
        folder = self._folder_of(path, "")
        return folder.error() if folder else None

    def _folder_of(self, path: Path | None, name: str) -> ItemFolder | None:
        place = os.path.dirname(path) or "." if path else self._unpacked.get(split(name)[0])  # noqa: PTH120  # a Path would cost more
        if not place:
            return None
        if not (folder := self._folders.get(str(place))):
            if len(self._folders) == _FOLDERS_KEPT:
                del self._folders[next(iter(self._folders))]
            folder = self._folders[str(place)] = ItemFolder(str(place))
        return folder


def _is_small(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_READ


class ItemFolder:
    """The files of a folder: listed once, and each sidecar parsed once."""

    def __init__(self, place: str) -> None:
        self._place = Path(place)
        self._files: dict[str, os.DirEntry[str]] = {}
        self._facts: dict[tzinfo, Facts] = {}
        with suppress(OSError), os.scandir(place) as entries:
            self._files = {entry.name: entry for entry in entries}

    def has(self, name: str) -> bool:
        """Return whether it has a file of this name within the size limit, which is no pipe."""
        with suppress(OSError, KeyError):
            return _is_small(self._files[name].stat())
        return False

    def object(self, name: str, *, first_line: bool = False) -> dict[str, Any]:
        """Return the JSON object in a file, or an empty one. Never raises."""
        return json_object(self._place / name, first_line=first_line) if self.has(name) else {}

    @cached_property
    def journal(self) -> Journal | None:
        value = self.object(JOURNAL)
        is_one = (
            isinstance(value.get("commits"), dict)
            and isinstance(value.get("status"), str)
            and "task_id" in value
        )
        return Journal.model_validate(value) if is_one and value.get("type") != "result" else None

    @cached_property
    def summary(self) -> RunSummary | None:
        value = self.object(SUMMARY)
        is_one = isinstance(value.get("meta"), dict) and (
            isinstance(value.get("commits"), dict) or isinstance(value.get("agent"), dict)
        )
        is_one = is_one and value.get("type") != "result"
        return RunSummary.model_validate(value) if is_one else None

    @cached_property
    def prediction(self) -> Prediction | None:
        value = self.object(PREDICTION, first_line=True)
        is_one = isinstance(value.get("instance_id"), str) and "model_patch" in value
        return Prediction.model_validate(value) if is_one else None

    @cached_property
    def prompt(self) -> Prompt | None:
        value = self.object(PROMPT)
        is_one = {"task", "target_files", "commits"} <= value.keys()
        return Prompt.model_validate(value) if is_one else None

    @cached_property
    def launch(self) -> Launch | None:
        value = self.object(LAUNCH)
        if not isinstance(value.get("tachograph_launch"), str):
            return None
        launch = Launch.model_validate(value)  # whoever wrote it may have written passwords
        if not launch.command:
            return launch
        return launch.model_copy(update={"command": scrubbed_words(launch.command)})

    @cached_property
    def has_patch(self) -> bool:
        """Whether its patch begins like one. An empty one is one: the agent changed nothing."""
        with suppress(OSError):
            if self.has(PATCH):
                with (self._place / PATCH).open("rb") as file:
                    start = file.read(_SNIFFED)
                return not start.strip() or _PATCH_START.search(start) is not None
        return False

    def patch(self) -> Patch | None:
        """Return the patch of the item, else that of its prediction."""
        with suppress(OSError):
            found = patch_in(PATCH, (self._place / PATCH).read_bytes()) if self.has_patch else None
            if found is not None:
                return found
        if self.prediction and self.prediction.model_patch is not None:
            return patch_in(PREDICTION, self.prediction.model_patch.encode("utf-8", "replace"))
        return None

    def is_sidecar(self, name: str) -> bool:
        """Return whether a file is a sidecar, by name and content, and so ignored as a record."""
        return name in _IS_SIDECAR and self.has(name) and _IS_SIDECAR[name](self)

    def facts_of(self, name: str, zone: tzinfo = UTC) -> Facts:
        """Return the facts in the sidecars. `name`: of a file in the folder, with its path."""
        if zone not in self._facts:
            self._facts[zone] = NO_FACTS
            if any(map(self._files.__contains__, NAMES)):
                self._facts[zone] = _with_folder(self._joined(zone), name)
        return self._facts[zone]

    def _joined(self, zone: tzinfo) -> Facts:
        """Return the facts of journal, summary and prediction, the first of these first.

        The other files are made from the journal.
        """
        found_journal, found_summary, prediction = self.journal, self.summary, self.prediction
        prompt = None if found_journal else self.prompt
        patch, launch = self.patch(), self.launch
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
        # `task_id` only names the plan (`vllm_core`) that all items of a repository share, and that
        # is named after it: all that a journal of before December 2025 has of the repository
        plan, plan_of_repo = (
            _known(journal.task_id, meta.task_id),
            _PLAN.fullmatch(journal.task_id or ""),
        )
        plan_of_repo = plan_of_repo or _PLAN_TITLE.fullmatch(
            (prompt.task if prompt else None) or ""
        )
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
            or (self._place.name if plan and self._place.name.startswith(plan) else plan),
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
            prompt=prompt_in(self._place / TASK) if self.has(TASK) else None,
            patch_files=sizes[0],
            patch_insertions=sizes[1],
            patch_deletions=sizes[2],
            patch_sha256=patch.sha256 if patch else None,
            patch_changes=patch.changes if patch else (),
            patch=patch.kept if patch else None,
        )
        return replace(facts, **_launch_facts(launch, patch)) if launch else facts

    def is_alone(self, name: str) -> bool:
        """Return whether a file stands alone for an item, without another record of an agent.

        It is the journal of an item, or its prompt without a journal.

        An unreadable file counts as such a record; otherwise its run could be counted twice.
        """
        if name not in (JOURNAL, PROMPT):
            return False
        is_item = any(self.has(other) for other in _ITEM_FILES if other != name)
        if not is_item or (name == PROMPT and self.journal):
            return False
        try:  # the last one first: trajectories and standard outputs are records more often
            return not any(map(_may_be_record, reversed(self._logs())))
        except OSError:
            return False

    def error(self) -> str | None:
        """Return the end of the agent process's standard error."""
        with suppress(OSError):
            for file in self._logs():
                if file.name.endswith(_ERRORS) and (text := _end_of(Source(file.name, path=file))):
                    return text
        return None

    def _logs(self) -> list[Path]:
        """Return the files of an item that may be an agent's log. Raises OSError."""
        names = sorted(self._files.keys() - SIDECAR_NAMES - {*_ITEM_FILES})
        return [self._place / name for name in names if self._files[name].is_file()]


def _with_folder(facts: Facts, name: str) -> Facts:
    """Return the facts of an item of ISO-Bench with those of its folder.

    `name`: of a file in it, with its path.

    The folder names the model that the item was started with, as in journals since December 2025:
    in all 816 items with a trajectory it is the trajectory's.
    """
    is_known = not facts.context_rank or (facts.requested_model and facts.task)
    found = None if is_known else run_folder(name)
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


_IS_SIDECAR: dict[str, Callable[[ItemFolder], bool]] = {
    JOURNAL: lambda folder: folder.journal is not None,
    SUMMARY: lambda folder: folder.summary is not None,
    PREDICTION: lambda folder: folder.prediction is not None,
    PATCH: lambda folder: folder.has_patch,
    LAUNCH: lambda folder: folder.launch is not None,
    MEASURE_FILE: lambda _: True,
    MAP_FILE: lambda _: True,
    PROMPT: lambda folder: folder.prompt is not None,
    "diff_targets.json": lambda folder: (
        {"changed", "allowed", "disallowed"} <= folder.object("diff_targets.json").keys()
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
        if not models and _is_small(history.stat()):
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


def _may_be_record(log: Path) -> bool:
    """Return whether a log begins like a record. Raises OSError."""
    with suppress(Broken), log.open("rb") as opened:
        head = Opened(opened, Allowance(log.stat().st_size)).beginning(_SNIFFED_LOG)
        return (
            head.startswith(TEXT_STARTS)
            or RECORD_MARK.search(head.decode("utf-8", "replace")) is not None
        )
    return False


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
        if ItemFolder(str(self._folders[folder])).is_alone(name):
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
