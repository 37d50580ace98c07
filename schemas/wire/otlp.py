"""OpenTelemetry's exports as a collector's file exporter writes them (OTLP/JSON).

Logs, metrics and spans.

64-bit integers are strings, in some exporters numbers; times are nanoseconds since 1970. Attributes
are read as one dict of plain values. Sources: opentelemetry-proto 1.x; Claude Code's, Codex's and
Gemini CLI's pages on monitoring; semantic conventions for GenAI (development); OpenInference.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from schemas.wire.values import CamelWireModel, Secondary, WireText

SIGNALS = ("resourceLogs", "resourceMetrics", "resourceSpans")
"""An export has one of them."""

DELTA = (1, "AGGREGATION_TEMPORALITY_DELTA")
"""`aggregationTemporality` of points that count since the point before. Others count since the
start of their series.
"""

PROVIDERS = {
    "anthropic": "anthropic",
    "aws": "aws.bedrock",
    "azure": "azure.ai.openai",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "google": "gcp.gemini",
    "groq": "groq",
    "mistral": "mistral_ai",
    "moonshotai": "moonshot_ai",
    "openai": "openai",
    "perplexity": "perplexity",
    "x-ai": "x_ai",
}
"""The price library's provider → `gen_ai.provider.name`."""

OWN = "tachograph."
"""Prefix of the attributes that say what the conventions have no name for
(`schemas.wire.handed_on`).
"""


def _plain(value: Any) -> Any:
    """Return an AnyValue as a plain value; None for bytes and anything else."""
    if not isinstance(value, dict):
        return value
    if "intValue" in value:
        number = value["intValue"]
        return int(number) if isinstance(number, str) and number.lstrip("-").isdecimal() else number
    for name in ("stringValue", "doubleValue", "boolValue"):
        if name in value:
            return value[name]
    if isinstance(several := value.get("arrayValue"), dict):
        values = several.get("values")
        return [_plain(one) for one in values] if isinstance(values, list) else []
    if isinstance(pairs := value.get("kvlistValue"), dict):
        return _attributes(pairs.get("values"))
    return None


def _attributes(pairs: Any) -> dict[str, Any]:
    listed = pairs if isinstance(pairs, list) else ()
    return {
        pair["key"]: _plain(pair.get("value"))
        for pair in listed
        if isinstance(pair, dict) and isinstance(pair.get("key"), str)
    }


Attributes = Annotated[dict[str, Any], BeforeValidator(_attributes)]
PlainValue = Annotated[Any, BeforeValidator(_plain)]


class _WithAttributes(CamelWireModel):
    attributes: Attributes = Field(default={}, description="Names and values.")


class OtlpResource(_WithAttributes):
    """The program that sent it, by service.name, service.version and others."""


class OtlpLogRecord(_WithAttributes):
    """One event."""

    time_unix_nano: Any = Field(default=None, description="When it happened.")
    observed_time_unix_nano: Any = Field(default=None, description="When it was received.")
    event_name: Secondary[WireText] = Field(
        default=None,
        description="Its name; in many programs the attribute event.name, or the body.",
    )
    body: PlainValue = Field(default=None, description="Its text, or its name.")


class OtlpScopeLogs(CamelWireModel):
    """Events of one instrumentation."""

    log_records: list[OtlpLogRecord] = Field(default=[], description="Events.")


class OtlpResourceLogs(CamelWireModel):
    """Events of one program."""

    resource: OtlpResource = Field(default=OtlpResource(), description="The program.")
    scope_logs: list[OtlpScopeLogs] = Field(default=[], description="Its instrumentations.")


class OtlpPoint(_WithAttributes):
    """One value of a series."""

    start_time_unix_nano: Any = Field(default=None, description="Since when it counts.")
    time_unix_nano: Any = Field(default=None, description="Until when.")
    as_int: Any = Field(default=None, description="The value, of whole numbers.")
    as_double: Any = Field(default=None, description="The value, of others.")


class OtlpSum(CamelWireModel):
    """A counter."""

    data_points: list[OtlpPoint] = Field(
        default=[], description="Its points, of any number of series."
    )
    aggregation_temporality: Any = Field(
        default=None, description="1 delta, 2 cumulative; or its name."
    )


class OtlpMetric(CamelWireModel):
    """A metric; only counters are read."""

    name: Secondary[WireText] = Field(default=None, description="claude_code.token.usage, …")
    sum: OtlpSum | None = Field(default=None, description="A counter.")


class OtlpScopeMetrics(CamelWireModel):
    """Metrics of one instrumentation."""

    metrics: list[OtlpMetric] = Field(default=[], description="Metrics.")


class OtlpResourceMetrics(CamelWireModel):
    """Metrics of one program."""

    resource: OtlpResource = Field(default=OtlpResource(), description="The program.")
    scope_metrics: list[OtlpScopeMetrics] = Field(default=[], description="Its instrumentations.")


class OtlpStatus(CamelWireModel):
    """How a span ended."""

    code: Any = Field(default=None, description="0 unset, 1 ok, 2 error; or its name.")
    message: Secondary[WireText] = Field(default=None, description="The error.")


class OtlpSpan(_WithAttributes):
    """One operation."""

    trace_id: WireText = Field(default="", description="Hexadecimal; in some exporters base64.")
    span_id: WireText = Field(default="", description="The same.")
    parent_span_id: Secondary[WireText] = Field(
        default=None, description="Empty for the first span of a trace."
    )
    name: Secondary[WireText] = Field(default=None, description="Operation and what it is about.")
    start_time_unix_nano: Any = Field(default=None, description="Start; 0 where it is unknown.")
    end_time_unix_nano: Any = Field(default=None, description="End.")
    status: OtlpStatus = Field(default=OtlpStatus(), description="How it ended.")


class OtlpScopeSpans(CamelWireModel):
    """Spans of one instrumentation."""

    spans: list[OtlpSpan] = Field(default=[], description="Spans.")


class OtlpResourceSpans(CamelWireModel):
    """Spans of one program."""

    resource: OtlpResource = Field(default=OtlpResource(), description="The program.")
    scope_spans: list[OtlpScopeSpans] = Field(default=[], description="Its instrumentations.")


class OtlpExport(CamelWireModel):
    """One request to a collector, a line of its file."""

    resource_logs: list[OtlpResourceLogs] = Field(default=[], description="Events.")
    resource_metrics: list[OtlpResourceMetrics] = Field(default=[], description="Metrics.")
    resource_spans: list[OtlpResourceSpans] = Field(default=[], description="Spans.")
