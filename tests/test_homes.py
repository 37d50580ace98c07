"""Where sessions are looked for, and that nothing else of an agent's home is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.agents.homes import only_sessions, session_folders


def folder(*parts: Path | str) -> Path:
    path = Path(*parts)
    path.mkdir(parents=True)
    return path


def test_a_variable_takes_the_place_of_the_usual_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    usual = [
        folder(tmp_path, ".config/claude/projects"),
        folder(tmp_path, ".claude/projects"),
        folder(tmp_path, ".codex/sessions"),
    ]
    assert session_folders({}) == usual
    named = folder(tmp_path, "team/projects")
    codex = [folder(tmp_path, "codex", name) for name in ("sessions", "archived_sessions")]
    assert session_folders(
        {"CLAUDE_CONFIG_DIR": str(named.parent), "CODEX_HOME": str(codex[0].parent)}
    ) == [named, *codex]


def test_several_folders_may_be_named_each_with_or_without_its_last_part(tmp_path: Path) -> None:
    one, two = folder(tmp_path, "one/projects"), folder(tmp_path, "two/projects")
    named = f" {one} , {two.parent},{tmp_path / 'nowhere'}"
    assert session_folders({"CLAUDE_CONFIG_DIR": named, "CODEX_HOME": str(tmp_path)}) == [one, two]


def test_of_a_home_only_its_sessions_are_read(tmp_path: Path) -> None:
    projects = folder(tmp_path, ".claude/projects")
    (tmp_path / ".claude/.credentials.json").write_text("{}")
    sessions = folder(tmp_path, "elsewhere/sessions")
    (tmp_path / "elsewhere/auth.json").write_text("{}")
    database = folder(tmp_path, "opencode") / "opencode.db"
    database.write_text("")
    (database.parent / "auth.json").write_text("{}")
    homes = [tmp_path / ".claude", tmp_path / "elsewhere", database.parent]
    assert only_sessions(homes) == [projects, sessions, database]
    named = dict.fromkeys(("CLAUDE_CONFIG_DIR", "CODEX_HOME"), "/nowhere")
    assert session_folders(named | {"OPENCODE_DB": str(database)}) == [database]


def test_any_other_folder_is_read_whole(tmp_path: Path) -> None:
    logs = folder(tmp_path, "logs/projects").parent
    missing = tmp_path / "missing"
    assert only_sessions([logs, missing, Path("-")]) == [logs, missing, Path("-")]
