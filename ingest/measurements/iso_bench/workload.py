"""What a benchmark of ISO-Bench did: its kind, the model it served, and when it ran."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ingest.measurements.iso_bench.fields import text
from schemas.units import Flagged

_KINDS = ("serving", "latency", "throughput", "prefix_caching", "one_batch")
_IN_COMMAND = {
    "prefix_caching": re.compile(r"prefix_caching\.py"),
    "one_batch": re.compile(r"bench_one_batch"),
    "serving": re.compile(r"bench(?:mark)?_serving|bench serve"),
    "latency": re.compile(r"benchmark_latency|bench latency"),
    "throughput": re.compile(r"benchmark_throughput|bench(?:_offline)? ?_?throughput"),
}
_BY_METRIC = (("ttft", "serving"), ("output_token_throughput", "serving"), ("latency", "latency"))
_MODEL = re.compile(r"--model(?:-path)?[ =](['\"]?)(?P<model>[^\s'\"]++)\1")
_NOTES = ("note", "notes", "model_note")
_SUBSTITUTED = re.compile(
    r"^(?>.*?\bmodel\b).*\b(?:(?:due|instead|missing)\b|corrected|substitut\w|replaced)|\bcorrected from\b", re.IGNORECASE | re.MULTILINE
)
_TIMES = ("%Y%m%d_%H%M%S", "%Y-%m-%d")


def kind_of(content: Mapping[str, Any], metrics: Mapping[str, Any] | None = None) -> str | None:
    """serving, latency, throughput, prefix_caching or one_batch: as the file says it, by its command, or by what was measured."""
    told = text(content, "benchmark_type", "bench_type", "benchmark_mode")
    if told in _KINDS:
        return told
    command = text(content, "perf_command", "test_command", "benchmark_command", "original_command") or ""
    named = next((kind for kind, pattern in _IN_COMMAND.items() if pattern.search(command)), None)
    measured = " ".join(metrics or ())
    return named or next((kind for word, kind in _BY_METRIC if word in measured), None)


def model_in(command: str | None) -> str | None:
    """The model that a command names."""
    found = _MODEL.search(command) if command else None
    return found["model"] if found else None


def substituted(content: Mapping[str, Any]) -> tuple[Flagged, ...]:
    """A flag where the file says that another model ran than the task names, or where the command names another."""
    ran, original = text(content, "model"), text(content, "original_model") or model_in(text(content, "perf_command"))
    noted = any(_SUBSTITUTED.search(note) for key in _NOTES if (note := text(content, key)))
    return (Flagged.MODEL_SUBSTITUTED,) if noted or (ran and original and ran != original) else ()


def measured_at(content: Mapping[str, Any]) -> datetime | None:
    """When the benchmark ran, with a zone only where the file has one. None for a text that is no time."""
    written = text(content, "timestamp", "benchmark_date")
    if written is None:
        return None
    for form in _TIMES:
        try:
            return datetime.strptime(written, form)  # noqa: DTZ007 - the zone is unknown
        except ValueError:
            continue
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        return None
