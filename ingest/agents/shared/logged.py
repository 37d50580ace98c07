"""What tool calls wrote into the log of an optimization loop, and the commits that they made.

They say which response ended an experiment.

Every tool call of a session comes by here, so a search for a few letters decides about nearly all
of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from ingest.system.secrets import scrubbed_text

LOGGING_TOOL = "log_experiment"
"""Part of the name of the tool that logs an experiment: Pi's, and that of MCP servers made after
it.
"""

LONGEST_LOGGED = 2000

_LOGS = (".tsv", ".csv", ".jsonl")
_TARGET = r"\s{0,9}(\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|[^\s\"';|&<>(),]{1,300})"
_APPENDS = {
    ">>": re.compile(_TARGET),
    "tee ": re.compile(rf"\s{{0,9}}(?:-a|--append)\s{_TARGET}"),
    "open(": re.compile(rf"{_TARGET}\s{{0,9}},\s{{0,9}}(?:mode=)?[\"']a"),
}
"""Beginning of an append in a shell command or in Python → what follows: the target, a path or a
variable.
"""
_NAMED_LOG = re.compile(
    r"\b(\w{1,80})\s{0,3}=\s{0,3}(?:Path\()?[\"']?[^\s\"'=]{0,300}\.(?:tsv|csv|jsonl)\b"
)
_SIGNS_OF_SECRETS = (
    *(
        "key",
        "token",
        "secret",
        "pass",
        "pwd",
        "cred",
        "cookie",
        "auth",
        "bearer",
        "basic",
        "pat=",
        "://",
    ),
    *(
        "sk-",
        "rk-",
        "sk_",
        "rk_",
        "ghp_",
        "gho_",
        "ghs_",
        "ghu_",
        "ghr_",
        "hf_",
        "gsk_",
        "npm_",
        "pypi",
        "xai-",
        "xox",
        "akia",
        "asia",
        "aiza",
        "eyj",
    ),
)
"""To look for secrets takes half a millisecond, and few commands that log a result may have any."""

_PATCH, _PATCHED_FILE = "*** Begin Patch", re.compile(r"\*\*\* (?:Add|Update) File: (.*)")
_ESCAPED = re.compile(r"(?<!\\)\\[tn]")

_MADE_COMMIT = re.compile(r"\[[^\[\]\n]{1,250} ([0-9a-f]{7,40})\] ")
_PULL_REQUEST = re.compile(
    r"(?m)^\s*https://[\w.-]{1,100}/([\w.-]{1,100}/[\w.-]{1,100})/pull/(\d{1,9})\s*$"
)
COMMIT_MARK = " changed, "
"""Part of what git prints below the line `[branch abc1234] message` of a commit: `2 files changed,
3 insertions(+)`.
"""
_COMMIT_MARKS = (COMMIT_MARK, "Git: committed")


def logged_by(tool: str, arguments: Any) -> str | None:
    """Return what a tool call writes into an experiments' log, without line ends.

    None if it writes into none.

    `arguments`: as the agent logs them, parsed, as JSON or as a text.
    """
    is_logging = LOGGING_TOOL in tool
    if isinstance(arguments, str):
        if not (is_logging or _names_log(arguments)):
            return None
        try:
            parsed = json.loads(arguments)
        except ValueError:  # a patch, or a script
            parsed = None
        arguments = parsed if isinstance(parsed, dict) else {"command": arguments}
    if not isinstance(arguments, dict):
        return None
    if is_logging:
        return described(arguments)
    path = arguments.get("file_path") or arguments.get("path")
    if isinstance(path, str) and path.endswith(_LOGS):
        return _collapsed(_new_text(arguments)[-LONGEST_LOGGED:])
    command = arguments.get("command") or arguments.get("cmd")
    if isinstance(command, list):
        command = " ".join(word for word in command if isinstance(word, str))
    if not isinstance(command, str) or not _names_log(command):
        return None
    return (
        _collapsed(_patched(command)[-LONGEST_LOGGED:])
        if _PATCH in command
        else _appending(command)
    )


def described(values: dict[str, Any]) -> str | None:
    """Return the names and values of an experiment as text, nested values last."""
    in_order = sorted(values.items(), key=lambda item: isinstance(item[1], dict | list))
    shown = (
        f"{name} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in in_order
    )
    return _collapsed(" ".join(shown))


def joined(texts: Iterable[str | None]) -> str | None:
    """Return what several calls of a response wrote, as `responses.logged` has it."""
    return " ".join(filter(None, texts))[:LONGEST_LOGGED].rstrip() or None


def commits_in(output: Any) -> tuple[str, ...]:
    """Return the short hashes of the commits that git reports in the output of a tool.

    A text, or blocks with texts.
    """
    parts = output if isinstance(output, list) else [output]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    marked = [
        text
        for text in texts
        if isinstance(text, str) and any(mark in text for mark in _COMMIT_MARKS)
    ]
    return tuple(dict.fromkeys(found for text in marked for found in _MADE_COMMIT.findall(text)))


def opens_pull_request(arguments: Any) -> bool:
    """Return whether a tool call's command opens a pull request on GitHub."""
    if isinstance(arguments, dict):
        arguments = arguments.get("command") or arguments.get("cmd")
    if isinstance(arguments, list):
        arguments = " ".join(word for word in arguments if isinstance(word, str))
    return isinstance(arguments, str) and "gh pr create" in arguments


def pull_requests_in(output: Any) -> tuple[str, ...]:
    """Return the pull requests (`owner/name#12`) whose addresses stand alone in lines of an output.

    A text, or blocks with texts.
    """
    parts = output if isinstance(output, list) else [output]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    found = (_PULL_REQUEST.findall(text) for text in texts if isinstance(text, str))
    return tuple(dict.fromkeys(f"{name}#{number}" for pairs in found for name, number in pairs))


def _new_text(arguments: dict[str, Any]) -> str:
    """Return the content of a written file, or the lines that edits of it add."""
    content, edits = arguments.get("content"), arguments.get("edits")
    added = [content] if isinstance(content, str) else []
    for edit in edits if isinstance(edits, list) else [arguments]:
        if isinstance(edit, dict):
            old, new = (
                next(filter(None, map(edit.get, names)), "")
                for names in (("old_string", "oldText"), ("new_string", "newText"))
            )
            if isinstance(old, str) and isinstance(new, str):
                before = {*old.splitlines()}
                added += [line for line in new.splitlines() if line not in before]
    return "\n".join(added)


def _patched(patch: str) -> str:
    """Return the lines that a patch of `apply_patch` adds to logs."""
    added, is_log = [], False
    for line in patch.splitlines():
        if file := _PATCHED_FILE.match(line):
            is_log = file[1].strip().endswith(_LOGS)
        elif is_log and line.startswith("+"):
            added.append(line[1:])
    return "\n".join(added)


def _names_log(text: str) -> bool:
    return ".tsv" in text or ".csv" in text or ".jsonl" in text


def _appending(command: str) -> str | None:
    """Return a command that appends to a log, with secrets masked.

    Of a long one the part around the append.
    """
    named: set[str] | None = None
    for mark, target_behind in _APPENDS.items():
        at = -1
        while (at := command.find(mark, at + 1)) >= 0:
            if not (found := target_behind.match(command, at + len(mark))):
                continue
            target = found[1].strip("\"'").replace("{", "").replace("}", "")
            if not target.endswith(_LOGS):
                named = (
                    named
                    if named is not None
                    else {
                        f"{sign}{name}"
                        for name in _NAMED_LOG.findall(command)
                        for sign in ("", "$")
                    }
                )
                if target not in named:
                    continue
            start = max(0, min(at - LONGEST_LOGGED // 2, len(command) - LONGEST_LOGGED))
            part = _ESCAPED.sub(" ", command[start : start + LONGEST_LOGGED])
            lower = part.lower()
            return _collapsed(
                scrubbed_text(part) if any(sign in lower for sign in _SIGNS_OF_SECRETS) else part
            )
    return None


def _collapsed(text: str) -> str | None:
    return " ".join(text.split())[:LONGEST_LOGGED].rstrip() or None
