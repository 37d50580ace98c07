"""The sidecar of `tachograph run` → facts about the runs in its folder. `schemas.wire.launch` has its fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ingest.context.small_files import json_object
from ingest.sources.times import lenient_time
from ingest.system.secrets import scrubbed_words
from schemas.wire.launch import Launch, LaunchGit, LaunchPatch


def read_launch(path: Path) -> Launch | None:
    """The launch in a file; None for any other content. Raises nothing."""
    value = json_object(path)
    if not isinstance(value.get("tachograph_launch"), str):
        return None
    launch = Launch.model_validate(value)  # whoever wrote it may have written passwords
    return launch.model_copy(update={"command": scrubbed_words(launch.command)}) if launch.command else launch


def launch_facts(launch: Launch, *, has_patch: bool) -> dict[str, Any]:
    """Fields of `SidecarFacts` that the launch knows. `has_patch`: the patch itself is there, which tells its size better."""
    git = launch.git or LaunchGit()
    facts = {
        "repo": git.repo,
        "base_commit": git.before,
        "branch": git.branch,
        "cwd": launch.cwd,
        "started_at": lenient_time(launch.started_at or ""),
        "ended_at": lenient_time(launch.ended_at or ""),
        "duration_ms": None if launch.duration_s is None else round(launch.duration_s * 1000),
        "ended_by": launch.ended_by,
        "labels": launch.labels,
        **({} if has_patch else _patch(git.patch or LaunchPatch())),
    }
    return {"found": True} | {name: value for name, value in facts.items() if value is not None}


def _patch(patch: LaunchPatch) -> dict[str, Any]:
    return {
        "patch_files": patch.files,
        "patch_insertions": patch.insertions,
        "patch_deletions": patch.deletions,
        "patch_sha256": patch.sha256,
    }
