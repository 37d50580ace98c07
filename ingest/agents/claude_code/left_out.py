"""A result record without what was said in it: its figures, and words of closed lists. Every table but those of texts can be made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ingest.agents.claude_code.outcome import is_limit

LIMIT_WORDS = "usage limit reached"
"""What is left of the text of an error that says that a limit of the account was reached: the outcome of the run rests on it."""

_WORDS = frozenset((
    "type", "role", "subtype", "stop_reason", "terminal_reason", "session_id", "uuid", "user_message_uuid", "kind", "service_tier", "speed",
    "inference_geo", "model", "costBasis", "canonicalModel", "provider", "status", "tool_name", "tool_use_id", "fast_mode_state",
    "fast_mode_disabled_reason",
))  # fmt: skip
"""Fields whose text is a word of the format, an id or a name."""

_PARTS = frozenset((
    "usage", "modelUsage", "cache_creation", "server_tool_use", "output_tokens_details", "iterations", "permission_denials",
    "fallback_credit", "origin",
))  # fmt: skip
"""Fields whose objects are kept, each without its texts."""

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def result_without_text(record: Mapping[str, Any], run_id: str) -> tuple[str, str | None]:
    """The record as JSON, and its summary: none, an empty one, or the words for a limit.

    It names its run, whose id may have been a hash of the whole record.
    """
    said = record.get("result")
    result = None if said is None else LIMIT_WORDS if record.get("is_error") and is_limit(str(said)) else ""
    kept = _object(record) | ({} if said is None else {"result": result}) | ({} if record.get("uuid") else {"uuid": run_id})
    return json.dumps(kept, separators=(",", ":")), result


def _object(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _kept(name, one) for name, one in value.items() if _is_kept(name, one)}


def _is_kept(name: str, value: Any) -> bool:
    if isinstance(value, str):
        return name in _WORDS or _NUMBER.fullmatch(value) is not None
    return name in _PARTS or not isinstance(value, dict | list)


def _kept(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_object(one) for one in value if isinstance(one, dict)]
    if not isinstance(value, dict):
        return value
    if name == "modelUsage":  # by ids of models
        return {model: _object(used) for model, used in value.items() if isinstance(used, dict)}
    return _object(value)
