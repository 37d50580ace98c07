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
_MORE_TOLD = "The agent's span tells more tokens than the requests that were read."


class Heard(NamedTuple):
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


def told_counts(counts: Counts) -> dict[str, Any]:
    """Return counts as fields of `Heard`."""
    return counts._asdict() | {"cost": None if counts.cost is None else str(counts.cost)}


Spans = dict[tuple[str, str], Heard]
"""(trace, id) → span."""


def above(span: Heard, spans: Spans) -> tuple[str | None, list[Heard]]:
    """Return what a span is within, and the spans between.

    AGENT, OTHER if its trace begins without one, None if a span was not read.
    """
    passed: list[Heard] = []
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
class Part:
    """What one file tells of a run, or several files together.

    `agent`: a program with events of its own; None for spans of any agent. `points`: (model, what
    is counted, series, since, end of a delta) → value and time, the last of a series. `named`,
    `texts`: name → time and value, the first; where the last one counts, times are negative. `own`,
    `facts`: of a copy that this program wrote.
    """

    agent: str | None
    session_id: str | None = None
    heard: set[Heard] = field(default_factory=set)
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

    def say(self, what: str, at: int | None, text: str | None) -> None:
        """Note a text; the first one counts."""
        if text is not None:
            self.texts[what] = min(self.texts.get(what, (at or 0, text)), (at or 0, text))

    def count(
        self, key: tuple[str | None, str, str, int, int], amount: Decimal, until: int
    ) -> None:
        """Note a point of a counter."""
        self.points[key] = max(self.points.get(key, (amount, until)), (amount, until))

    def take_in(self, other: Part) -> None:
        self.session_id = self.session_id or other.session_id
        self.heard |= other.heard
        for key, (amount, until) in other.points.items():
            self.count(key, amount, until)
        for name, (at, value) in other.named.items():
            self.name(name, at, value)
        for name, (at, value) in other.texts.items():
            self.say(name, at, value)
        self.own = self.own or other.own
        self.facts |= other.facts

    def trim(self, others: Spans) -> None:
        """Leave out what is within no agent. `others`: spans that may be between."""
        spans = others | {(one.trace, one.id): one for one in self.heard}
        for one in [one for one in self.heard if one.kind in (MODEL, TOOL, AGENT)]:
            upper, between = above(one, spans)
            if upper == OTHER and one.kind != AGENT:
                self.heard.discard(one)
            else:
                self.heard |= {*between}

    def has_content(self) -> bool:
        """Return whether there is a run.

        Prompts and hooks of a program, and tools outside an agent, are none.
        """
        kinds = {one.kind for one in self.heard}
        return bool(
            self.points
            or kinds & ({REQUEST, LLM_SPAN, ERROR, TOOL} if self.agent else {AGENT, MODEL})
        )

    def state(self) -> dict[str, Any]:
        """Return the part as JSON. Only `texts` has texts."""
        heard = [[*one] for one in _by_time(self.heard)]
        for row in heard:
            while row[-1] in (None, ""):
                row.pop()
        points = [
            [*key, str(amount), until]
            for key, (amount, until) in sorted(self.points.items(), key=repr)
        ]
        return {
            "agent": self.agent,
            "heard": heard,
            "points": points,
            "named": self.named,
            "texts": self.texts,
        }

    @classmethod
    def of(cls, run: Run) -> Part:
        """Return the part that a record keeps."""
        told = run.resume or {}
        points = {tuple(key): (Decimal(amount), until) for *key, amount, until in told["points"]}
        named, texts = (
            {name: (at, value) for name, (at, value) in told.get(part, {}).items()}
            for part in ("named", "texts")
        )
        return cls(
            told["agent"],
            run.session_id,
            {Heard(*row) for row in told["heard"]},
            points,
            named,
            texts,
        )

    def values(self) -> dict[str, Any]:
        """Return the values of a `Run`, without its id."""
        if not self.agent and not self.own:
            self.trim({})
        heard = _by_time(self.heard)
        active, tools = ActiveTime(), ToolCounts()
        times = [time for one in heard for time in (one.at, one.until)]
        times += [
            time for (*_, since, _), (_, until) in self.points.items() for time in (since, until)
        ]
        known = [_EPOCH + timedelta(microseconds=time) for time in times if time]
        for one in heard:
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
        told: dict[str, Any] = {
            name: value for name, (_, value) in self.named.items() if name != "service"
        }
        told |= {name: value for name, (_, value) in self.texts.items() if name != "error"}
        told |= {
            "session_id": self.session_id,
            "record_kind": RecordKind.TELEMETRY,
            "lines": len(self.heard) + len(self.points),
            "started_at": began,
            "ended_at": ended,
            "duration_ms": milliseconds_between(began, ended),
            "active_ms": active.ms,
            "tool_calls": merged(tools),
        }
        told |= self._session(self.agent, heard) if self.agent else self._traces(heard)
        if self.own:
            told |= dict.fromkeys(
                ("num_turns", "duration_ms", "active_ms", "duration_api_ms", "lines")
            )
            told |= self.own.values() | {"rank": COPY}
            if self.own.cost_basis == LIST_PRICE:
                told["cost_usd"] = None
        else:
            told["resume"] = self.state()
        return told | {"is_error": is_failed(told["outcome"])}

    def _session(self, agent: str, heard: Sequence[Heard]) -> dict[str, Any]:
        """Return what the session of a program tells.

        Of its events, else of its counters, else of its spans.
        """
        failed = None
        for one in heard:
            failed = one if one.kind == ERROR else None if one.kind == REQUEST else failed
        events, spans = (
            _once(one for one in heard if one.kind == kind) for kind in (REQUEST, LLM_SPAN)
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

    def _error(self, failed: Heard | None) -> list[str]:
        at, text = self.texts.get("error", (0, ""))
        return [text] if failed and text and at == -(failed.until or 0) else []

    def _traces(self, heard: Sequence[Heard]) -> dict[str, Any]:
        """Return the facts in an agent's traces, from each of its requests.

        If no request has tokens, they are from its outermost agents' spans.
        """
        spans = {(one.trace, one.id): one for one in reversed(heard)}
        by_model: dict[str | None, Counts] = {}
        all_roots: list[Heard] = []
        all_requests: list[Heard] = []
        costs, missing = [], ""
        for _, several in groupby(
            sorted(spans.values(), key=lambda one: one.trace), key=lambda one: one.trace
        ):
            of_trace = _by_time(several)
            roots = [one for one in of_trace if one.kind == AGENT and above(one, spans)[0] != AGENT]
            requests = [one for one in of_trace if one.kind == MODEL]
            total, of_requests = (summed(one.counts for one in some) for some in (roots, requests))
            tells = bool(of_requests.given or of_requests.output) or bool(self.own and requests)
            outermost = [
                one
                for one in roots
                if one.model in self.facts or (not self.own and (one.model or any(one.counts)))
            ]
            of_models = _by_model(requests if tells else outermost)
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
            elif tells and (
                (total.given or 0) > (of_requests.given or 0)
                or (total.output or 0) > (of_requests.output or 0)
            ):
                missing = missing or _MORE_TOLD
        roots = _by_time(all_roots)
        name = next(
            (one.name for one in roots if one.name), self.named.get("service", (0, UNKNOWN))[1]
        )
        providers = {one.model: one.provider for one in reversed(heard) if one.provider}
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


def _by_time(heard: Iterable[Heard]) -> list[Heard]:
    return sorted(heard, key=lambda one: (one.at or 0, repr(one)))


def _once(heard: Iterable[Heard]) -> list[Heard]:
    """Return requests without those that were sent again."""
    return list({one.id or repr(one): one for one in reversed([*heard])}.values())[::-1]


def _by_model(heard: Iterable[Heard]) -> dict[str | None, Counts]:
    found: dict[str | None, Counts] = {}
    for one in heard:
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
        told = {"model_id": model, "provider": provider, "cost_usd": cost} | (
            disjoint(given, read, written, output, reasoning) or {}
        )
        if missing:
            is_upper = "basis" in told
            told |= {"basis": TokensBasis.ESTIMATE if is_upper else TokensBasis.LOWER_BOUND}
            told |= {"basis_reason": f"{told['basis_reason']} {missing}" if is_upper else missing}
        found.append(told)
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
    parts: Iterator[Part] = map(Part.of, runs)
    whole = next(parts, None)
    if whole is None:
        return None
    for part in parts:
        if part.agent == whole.agent:
            whole.take_in(part)
    part_ids = tuple(sorted({part_id for run in runs for part_id in run.part_ids}))
    run = distilled(whole.values() | {"run_id": run_id, "part_ids": part_ids})
    return run.textless() if all(one.is_textless for one in runs) else run
