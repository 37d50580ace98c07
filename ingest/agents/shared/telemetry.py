"""Telemetry of a session or a trace → its run, in whatever order, files and repetitions it comes.

A part is what one file tells: events and spans, counters, and a few names and texts. Parts are sets
and minima, so their union depends neither on order nor on repetition; a run is read from the union,
by time. Each record keeps its part (`Run.resume`), and the store makes a run of the parts of
all its records (`joined`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

from ingest.agents.distilled import UNKNOWN, distilled
from ingest.agents.shared.runs import (
    ActiveTime,
    By,
    ToolCounts,
    is_failed,
    merged,
    milliseconds_between,
)
from ingest.agents.shared.tokens import Counts, disjoint, handed_on, known_sum, summed
from schemas.agents import agent_key
from schemas.rows.distilled import Run
from schemas.rows.row import LARGEST_USD, usd
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.handed_on import COPY, LIST_PRICE, HandedOnModel, HandedOnRun

EVENTS, METRICS, SPANS = -1, -2, -3
"""Ranks, all of them behind those of other records."""

REQUEST, LLM_SPAN, ERROR = "request", "llm span", "error"
"""Kinds of a session: an event of a request, Claude Code's span of one, and an error."""
AGENT, MODEL = "agent", "model"
"""Kinds of spans."""
TOOL, OTHER = "tool", "other"

_BY = {REQUEST: By.MODEL, LLM_SPAN: By.MODEL, MODEL: By.MODEL, TOOL: By.TOOL}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NO_AGENT = "No span of the agent was read: other requests may be missing."
_MORE_IN_AGENT = "The agent's span has more tokens than the requests that were read."


class Signal(NamedTuple):
    """One event or span. Times are microseconds since 1970. `failure`: the outcome that it tells.

    `cost`: dollars.
    """

    kind: str
    at: int | None
    until: int | None
    id: str = ""
    trace: str = ""
    parent: str = ""
    name: str | None = None
    model: str | None = None
    provider: str | None = None
    given: int | None = None
    read: int | None = None
    written: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cost: str | None = None
    ms: int | None = None
    failure: str | None = None

    @property
    def counts(self) -> Counts:
        return Counts(
            self.given,
            self.read,
            self.written,
            self.output,
            self.reasoning,
            None if self.cost is None else Decimal(self.cost),
        )


def count_fields(counts: Counts) -> dict[str, Any]:
    """Return counts as fields of `Heard`."""
    return counts._asdict() | {"cost": None if counts.cost is None else str(counts.cost)}


Spans = dict[tuple[str, str], Signal]
"""(trace, id) → span."""


def above(span: Signal, spans: Spans) -> tuple[str | None, list[Signal]]:
    """Return what a span is within, and the spans between.

    AGENT, OTHER if its trace begins without one, None if a span was not read.
    """
    passed: list[Signal] = []
    while span.parent:
        upper = spans.get((span.trace, span.parent))
        if upper is None or upper in passed:
            return None, passed
        if upper.kind == AGENT:
            return AGENT, passed
        passed.append(upper)
        span = upper
    return OTHER, passed


@dataclass
class TelemetryPart:
    """What one file tells of a run, or several files together.

    `agent`: a program with events of its own; None for spans of any agent. `points`: (model, what
    is counted, series, since, end of a delta) → value and time, the last of a series. `named`,
    `texts`: name → time and value, the first; where the last one counts, times are negative. `own`,
    `facts`: of a copy that this program wrote.
    """

    agent: str | None
    session_id: str | None = None
    observed: set[Signal] = field(default_factory=set)
    points: dict[tuple[str | None, str, str, int, int], tuple[Decimal, int]] = field(
        default_factory=dict
    )
    named: dict[str, tuple[int, str]] = field(default_factory=dict)
    texts: dict[str, tuple[int, str]] = field(default_factory=dict)
    own: HandedOnRun | None = None
    facts: dict[str | None, HandedOnModel] = field(default_factory=dict)

    def name(self, what: str, at: int | None, value: str | None) -> None:
        """Note a name; the first one counts."""
        if value is not None:
            self.named[what] = min(self.named.get(what, (at or 0, value)), (at or 0, value))

    def text(self, what: str, at: int | None, text: str | None) -> None:
        """Note a text; the first one counts."""
        if text is not None:
            self.texts[what] = min(self.texts.get(what, (at or 0, text)), (at or 0, text))

    def count(
        self, key: tuple[str | None, str, str, int, int], amount: Decimal, until: int
    ) -> None:
        """Note a point of a counter."""
        self.points[key] = max(self.points.get(key, (amount, until)), (amount, until))

    def take_in(self, other: TelemetryPart) -> None:
        self.session_id = self.session_id or other.session_id
        self.observed |= other.observed
        for key, (amount, until) in other.points.items():
            self.count(key, amount, until)
        for name, (at, value) in other.named.items():
            self.name(name, at, value)
        for name, (at, value) in other.texts.items():
            self.text(name, at, value)
        self.own = self.own or other.own
        self.facts |= other.facts

    def trim(self, others: Spans) -> None:
        """Leave out what is within no agent. `others`: spans that may be between."""
        spans = others | {(one.trace, one.id): one for one in self.observed}
        for one in [one for one in self.observed if one.kind in (MODEL, TOOL, AGENT)]:
            upper, between = above(one, spans)
            if upper == OTHER and one.kind != AGENT:
                self.observed.discard(one)
            else:
                self.observed |= {*between}

    def has_content(self) -> bool:
        """Return whether there is a run.

        Prompts and hooks of a program, and tools outside an agent, are none.
        """
        kinds = {one.kind for one in self.observed}
        return bool(
            self.points
            or kinds & ({REQUEST, LLM_SPAN, ERROR, TOOL} if self.agent else {AGENT, MODEL})
        )

    def state(self) -> dict[str, Any]:
        """Return the part as JSON. Only `texts` has texts."""
        observed = [[*one] for one in _by_time(self.observed)]
        for row in observed:
            while row[-1] in (None, ""):
                row.pop()
        points = [
            [*key, str(amount), until]
            for key, (amount, until) in sorted(self.points.items(), key=repr)
        ]
        return {
            "agent": self.agent,
            "heard": observed,
            "points": points,
            "named": self.named,
            "texts": self.texts,
        }

    @classmethod
    def of(cls, run: Run) -> TelemetryPart:
        """Return the part that a record keeps."""
        state = run.resume or {}
        points = {tuple(key): (Decimal(amount), until) for *key, amount, until in state["points"]}
        named, texts = (
            {name: (at, value) for name, (at, value) in state.get(part, {}).items()}
            for part in ("named", "texts")
        )
        return cls(
            state["agent"],
            run.session_id,
            {Signal(*row) for row in state["heard"]},
            points,
            named,
            texts,
        )

    def values(self) -> dict[str, Any]:
        """Return the values of a `Run`, without its id."""
        if not self.agent and not self.own:
            self.trim({})
        observed = _by_time(self.observed)
        active, tools = ActiveTime(), ToolCounts()
        times = [time for one in observed for time in (one.at, one.until)]
        times += [
            time for (*_, since, _), (_, until) in self.points.items() for time in (since, until)
        ]
        known = [_EPOCH + timedelta(microseconds=time) for time in times if time]
        for one in observed:
            if one.until:
                active.note(
                    _EPOCH + timedelta(microseconds=one.until), _BY.get(one.kind, By.OTHERS)
                )
            if one.kind == TOOL:
                call = f"{one.trace} {one.id}"
                tools.called(call, one.name or "tool")
                if one.failure:
                    tools.failed(call)
        began, ended = min(known, default=None), max(known, default=None)
        values: dict[str, Any] = {
            name: value for name, (_, value) in self.named.items() if name != "service"
        }
        values |= {name: value for name, (_, value) in self.texts.items() if name != "error"}
        values |= {
            "session_id": self.session_id,
            "record_kind": RecordKind.TELEMETRY,
            "lines": len(self.observed) + len(self.points),
            "started_at": began,
            "ended_at": ended,
            "duration_ms": milliseconds_between(began, ended),
            "active_ms": active.ms,
            "tool_calls": merged(tools),
        }
        values |= self._session(self.agent, observed) if self.agent else self._traces(observed)
        if self.own:
            values |= dict.fromkeys(
                ("num_turns", "duration_ms", "active_ms", "duration_api_ms", "lines")
            )
            values |= self.own.values() | {"rank": COPY}
            if self.own.cost_basis == LIST_PRICE:
                values["cost_usd"] = None
        else:
            values["resume"] = self.state()
        return values | {"is_error": is_failed(values["outcome"])}

    def _session(self, agent: str, observed: Sequence[Signal]) -> dict[str, Any]:
        """Return what the session of a program tells.

        Of its events, else of its counters, else of its spans.
        """
        failed = None
        for one in observed:
            failed = one if one.kind == ERROR else None if one.kind == REQUEST else failed
        events, spans = (
            _once(one for one in observed if one.kind == kind) for kind in (REQUEST, LLM_SPAN)
        )
        requests = events or ([] if self.points else spans)
        by_model = _by_model(requests) or self._metered()
        return {
            "agent": agent,
            "rank": METRICS
            if self.points and not events
            else SPANS
            if spans and not events
            else EVENTS,
            "models": _models(by_model),
            "num_turns": len(requests) or None,
            "duration_api_ms": known_sum(one.ms for one in requests),
            "cost_usd": known_sum(counts.cost for counts in by_model.values()),
            "outcome": Outcome(failed.failure) if failed and failed.failure else Outcome.UNKNOWN,
            "errors": self._error(failed),
        }

    def _metered(self) -> dict[str | None, Counts]:
        """Return the sums of the counters by model."""
        sums: dict[tuple[str | None, str], Decimal] = {}
        for (model, what, *_), (amount, _) in sorted(self.points.items(), key=repr):
            sums[model, what] = sums.get((model, what), Decimal()) + amount
        found = {}
        for model in dict.fromkeys(model for model, _ in sums):
            given, read, written, output = (
                int(sums.get((model, kind), 0))
                for kind in ("input", "cacheRead", "cacheCreation", "output")
            )
            cost = sums.get((model, "cost"))
            cost = usd(cost) if cost is not None and cost <= LARGEST_USD else None
            found[model] = Counts(given + read + written, read, written, output, None, cost)
        return found

    def _error(self, failed: Signal | None) -> list[str]:
        at, text = self.texts.get("error", (0, ""))
        return [text] if failed and text and at == -(failed.until or 0) else []

    def _traces(self, observed: Sequence[Signal]) -> dict[str, Any]:
        """Return the facts in an agent's traces, from each of its requests.

        If no request has tokens, they are from its outermost agents' spans.
        """
        spans = {(one.trace, one.id): one for one in reversed(observed)}
        by_model: dict[str | None, Counts] = {}
        all_roots: list[Signal] = []
        all_requests: list[Signal] = []
        costs, missing = [], ""
        for _, several in groupby(
            sorted(spans.values(), key=lambda one: one.trace), key=lambda one: one.trace
        ):
            of_trace = _by_time(several)
            roots = [one for one in of_trace if one.kind == AGENT and above(one, spans)[0] != AGENT]
            requests = [one for one in of_trace if one.kind == MODEL]
            total, of_requests = (summed(one.counts for one in some) for some in (roots, requests))
            has_counts = bool(of_requests.given or of_requests.output) or bool(
                self.own and requests
            )
            outermost = [
                one
                for one in roots
                if one.model in self.facts or (not self.own and (one.model or any(one.counts)))
            ]
            of_models = _by_model(requests if has_counts else outermost)
            for model, counts in of_models.items():
                by_model[model] = summed((by_model.get(model, Counts()), counts))
            costs.append(
                known_sum(counts.cost for counts in of_models.values())
                if total.cost is None
                else total.cost
            )
            all_roots, all_requests = all_roots + roots, all_requests + requests
            if not roots and requests:
                missing = _NO_AGENT
            elif has_counts and (
                (total.given or 0) > (of_requests.given or 0)
                or (total.output or 0) > (of_requests.output or 0)
            ):
                missing = missing or _MORE_IN_AGENT
        roots = _by_time(all_roots)
        name = next(
            (one.name for one in roots if one.name), self.named.get("service", (0, UNKNOWN))[1]
        )
        providers = {one.model: one.provider for one in reversed(observed) if one.provider}
        last = max(roots, key=lambda one: (one.until or 0, repr(one)), default=None)
        failure = last.failure if last else Outcome.UNKNOWN
        return {
            "agent": agent_key(name),
            "rank": SPANS,
            "models": _models(by_model, providers, self.facts, "" if self.own else missing),
            "num_turns": len(all_requests) or None,
            "duration_api_ms": known_sum(one.ms for one in all_requests),
            "cost_usd": known_sum(costs),
            "outcome": Outcome(failure or Outcome.COMPLETED),
            "errors": self._error(last if failure else None),
        }


def _by_time(observed: Iterable[Signal]) -> list[Signal]:
    return sorted(observed, key=lambda one: (one.at or 0, repr(one)))


def _once(observed: Iterable[Signal]) -> list[Signal]:
    """Return requests without those that were sent again."""
    return list({one.id or repr(one): one for one in reversed([*observed])}.values())[::-1]


def _by_model(observed: Iterable[Signal]) -> dict[str | None, Counts]:
    found: dict[str | None, Counts] = {}
    for one in observed:
        found[one.model] = summed((found.get(one.model, Counts()), one.counts))
    return found


def _models(
    by_model: Mapping[str | None, Counts],
    providers: Mapping[str | None, str] | None = None,
    facts: Mapping[str | None, HandedOnModel] | None = None,
    missing: str = "",
) -> list[dict[str, Any]]:
    """Return the values of a `ModelUse` of each model. `missing`: why counts are lower bounds."""
    found = []
    for model, counts in by_model.items():
        if facts and model in facts:
            found.append(handed_on(model, counts, facts[model]))
            continue
        provider = (providers or {}).get(model)
        given, read, written, output, reasoning, cost = counts
        if (
            model
            and provider
            and read is not None
            and written is None
            and _has_no_cache_writes(model, provider)
        ):
            written = 0
        row = {"model_id": model, "provider": provider, "cost_usd": cost} | (
            disjoint(given, read, written, output, reasoning) or {}
        )
        if missing:
            is_upper = "basis" in row
            row |= {"basis": TokensBasis.ESTIMATE if is_upper else TokensBasis.LOWER_BOUND}
            row |= {"basis_reason": f"{row['basis_reason']} {missing}" if is_upper else missing}
        found.append(row)
    return found


def _has_no_cache_writes(model: str, provider: str) -> bool:
    """Return whether the named provider writes the model's cache for nothing.

    A span names the provider. Its spans then never count cache writes.
    """
    from ingest.prices.library import charges_for_cache_writes  # noqa: PLC0415 - all prices, which few files need

    return charges_for_cache_writes(model, provider) is False


def joined(records: Iterable[str], run_id: str) -> Run | None:
    """Return the run that several records of telemetry tell together, the best first.

    None if none keeps its part.
    """
    runs = [run for run in map(Run.model_validate_json, records) if run.resume]
    parts: Iterator[TelemetryPart] = map(TelemetryPart.of, runs)
    whole = next(parts, None)
    if whole is None:
        return None
    for part in parts:
        if part.agent == whole.agent:
            whole.take_in(part)
    part_ids = tuple(sorted({part_id for run in runs for part_id in run.part_ids}))
    run = distilled(whole.values() | {"run_id": run_id, "part_ids": part_ids})
    return run.textless() if all(one.is_textless for one in runs) else run
