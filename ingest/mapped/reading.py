"""A file and its map → runs, measured values, and experiments of a loop."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from ingest.agents.base import Found
from ingest.agents.distilled import UNKNOWN, distilled, found
from ingest.agents.shared.tokens import Tokens, output_alone, unrecorded
from ingest.loops.base import Experiment, Loop, LoopTables, loop_tables
from ingest.loops.words import baseline_first, better_by_name, state_of, with_repeats
from ingest.mapped.fields import (
    Made,
    Unfit,
    as_written,
    dollars,
    milliseconds,
    number,
    outcome,
    taken,
    text,
    time,
    whole,
    word_of,
)
from ingest.mapped.found import KnownMap
from ingest.mapped.rows import FoundRow, RowsFile, rows_of
from ingest.measurements.base import refusal
from ingest.measurements.measured import (
    Judgement,
    Measured,
    ResultOrigin,
    Spread,
    TooManyValues,
    measured_table,
    published_table,
)
from ingest.measurements.tools import LARGEST_BYTES
from ingest.measurements.words import VARIANTS, batch_of, metric_of_unit, quantity, variant_named
from ingest.sources.decoding import Allowance, Broken, Opened, Utf8
from ingest.sources.document import Document
from ingest.sources.files import Source, Unreadable
from schemas.agents import agent_key, agent_of_program
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.distilled import Run
from schemas.rows.measurement import MeasuredStatus, Variant
from schemas.rows.published import Judged
from schemas.rows.row import usd
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.units import Better
from schemas.wire.result_map import (
    MappedJudgement,
    MappedLoop,
    MappedRun,
    MappedValue,
    RowsMap,
    steps,
)

_TEXTS = (
    "agent_version session_id title prompt result effort task repo branch base_commit cwd "
    "experiment"
).split()
_MADE: Mapping[str, Made] = {
    **dict.fromkeys(_TEXTS, text),
    "model": text,
    "error": text,
    "cost": dollars,
    "credits": number,
    "duration": milliseconds,
    "api_duration": milliseconds,
    "turns": whole,
    "started_at": time,
    "ended_at": time,
    "outcome": outcome,
    "score": number,
    **dict.fromkeys(
        "input_tokens whole_input_tokens output_tokens reasoning_tokens cache_read_tokens "
        "cache_write_tokens".split(),
        whole,
    ),
}
"""Field of a run in a map → what makes a value of its column."""

_NAMES = {*_TEXTS, "model", "started_at", "ended_at"} - {"result"}

NO_CACHE_COUNTS = "The row does not say how much of the input was read from a cache."
_EXCERPT = 1200


@dataclass
class MappedReading:
    """What maps found in a file. `rows`: how many it has; `ignored`: those that they leave out.

    `kept`: the runs as they are stored; `places`: their rows.

    `map`: the text of the first map.
    """

    map: str = ""
    runs: list[Found] = field(default_factory=list)
    kept: list[Run] = field(default_factory=list)
    places: set[tuple[str | int, ...]] = field(default_factory=set)
    measured: list[Measured] = field(default_factory=list)
    judged: list[Judgement] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    rejects: list[Unreadable] = field(default_factory=list)
    rows: int = 0
    ignored: int = 0
    measurements: pa.Table | None = None
    published: pa.Table | None = None
    loop_tables: LoopTables | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.runs or self.measured or self.judged or self.loops or self.rejects)


def read_by_maps(source: Source, maps: Sequence[KnownMap]) -> MappedReading:
    """Return what all forms of the maps find in a file, one after the other.

    A file that cannot be parsed is one reject. Never raises.
    """
    reading = MappedReading(maps[0].text)
    name = maps[0].content.name
    try:
        file = RowsFile(source.name, content(source))
        for form in (form for one in maps for form in one.forms_for(source.name)):
            read_mapped(file, form, reading)
        reading.measurements = measured_table(reading.measured, "", name)
        reading.published = published_table(reading.judged, "", name)
        if reading.loops:
            reading.loop_tables = loop_tables(reading.loops, "", name)
    except Exception as error:  # a bulkhead: one map costs one file
        detail, reason = refusal(error)
        detail = f"a file with a map that cannot be read: {detail}"
        part = Unreadable(0, "line 1, byte 0", reason, detail)
        return MappedReading(maps[0].text, rejects=[part])
    return reading


def content(source: Source) -> bytes:
    """Return the bytes of a file, decompressed, and as UTF-8. Raises TooManyValues, ValueError."""
    data = bytearray()
    with source.open() as stream:
        try:
            utf8 = Utf8(Opened(stream, Allowance(source.size)))
            while block := utf8.read(1 << 20):
                data += block
                if len(data) > LARGEST_BYTES:
                    raise TooManyValues(f"it has more than {LARGEST_BYTES >> 20} MB")
        except Broken as error:
            raise ValueError(str(error)) from error
    return bytes(data)


def read_mapped(file: RowsFile, form: RowsMap, reading: MappedReading) -> None:
    """Add to a reading what the rows of a file are by one form.

    A row in which any field does not fit is one reject, with its place and the field. A row is one
    run, that of the first form that takes it. Raises ValueError for a file that cannot be parsed,
    TooManyValues for one too large.
    """
    experiments: dict[str | None, list[Experiment]] = defaultdict(list)
    seen: Counter[str] = Counter()
    for ordinal, row in enumerate(rows_of(file, form), reading.rows):
        reading.rows += 1
        if isinstance(row, Unreadable):
            reading.rejects.append(replace(row, ordinal=ordinal))
            continue
        document = Document(ordinal, row.position, json.dumps(row.value, default=str)[:_EXCERPT])
        try:
            is_taken = form.run and row.place in reading.places
            if is_taken or not _is_wanted(form, row):
                reading.ignored += 1
                continue
            run, made = _run(form.run, row, document, seen) if form.run else (None, None)
            values = [one for value in form.measurement for one in _measured(value, row, run)]
            judged = [one for label in form.judgement for one in _judged(label, row, run)]
            if form.loop:
                name = taken("loop.name", form.loop.name, row)
                experiments[name].append(_experiment(form.loop, row))
        except (Unfit, InvalidRecord) as error:
            detail = error.detail if isinstance(error, InvalidRecord) else str(error)
            reading.rejects.append(document.refused(RejectReason.INVALID_RECORD, detail))
            continue
        reading.measured += values
        reading.judged += judged
        if run and made:
            reading.kept.append(run)
            reading.places.add(row.place)
            reading.runs.append(made)
    if form.loop:
        reading.loops += [_loop(form.loop, name, tried) for name, tried in experiments.items()]


def _is_wanted(form: RowsMap, row: FoundRow) -> bool:
    """Return whether a row has the words of the map's `where`; "*" is any value but none."""
    for path, words in form.where.items():
        value = row.at(path)
        wanted = words if isinstance(words, tuple) else (words,)
        if value is None or not any(word in ("*", value, word_of(value)) for word in wanted):
            return False
    return True


def _run(
    form: MappedRun, row: FoundRow, document: Document, seen: Counter[str]
) -> tuple[Run, Found]:
    """Return the run of a row. Raises Unfit, and InvalidRecord for what no run takes."""
    has = {
        name: taken(f"run.{name}", getattr(form, name), row, made) for name, made in _MADE.items()
    }
    named = taken("run.agent", form.agent, row) or UNKNOWN
    program = agent_of_program(named)
    agent = program.key if program else agent_key(named)
    ids = [taken("run.run_id", one, row) for one in form.run_id]
    labels = {name: taken(f"run.labels.{name}", one, row) for name, one in form.labels.items()}
    ended, error = has["outcome"], has["error"]
    if ended is None:  # who gives a score saw the end
        scored = Outcome.UNKNOWN if has["score"] is None else Outcome.COMPLETED
        ended = Outcome.EXECUTION_ERROR if error else scored
    is_known = ended in (Outcome.COMPLETED, Outcome.EXECUTION_ERROR)
    if has["cost"] is None and has["credits"] is not None:
        has["cost"] = _paid(form, has["credits"], has["ended_at"] or has["started_at"])
    values = {
        "agent": agent,
        "record_kind": RecordKind.ROW,
        "models": (_model(has),),
        "duration_ms": has["duration"],
        "duration_api_ms": has["api_duration"],
        "num_turns": has["turns"],
        "outcome": ended,
        "is_error": ended is Outcome.EXECUTION_ERROR if is_known else None,
        "ended_as": taken("run.outcome", form.outcome and as_written(form.outcome), row),
        "errors": (error,) if error else (),
        "cost_usd": has["cost"],
        "credits": has["credits"],
        "credits_unit": (form.credits and form.credits.unit) or "credits",
        "final_text": has["result"],
        "requested_model": has["model"],
        "row": row.value,
        **{name: has[name] for name in _TEXTS if name not in ("result", "experiment")},
        **{name: has[name] for name in ("started_at", "ended_at", "score")},
    }
    if has["credits"] is None:
        del values["credits_unit"]
    run_id = "/".join(filter(None, ids))
    if not run_id:
        # equal rows of two files are one run only if they have a time
        is_dated = has["started_at"] or has["ended_at"]
        known = json.dumps(
            [values, labels, () if is_dated else row.file.parts[-3:]], sort_keys=True, default=str
        )
        digest = hashlib.sha256(known.encode("utf-8", "replace")).hexdigest()[:32]
        seen[digest] += 1  # equal rows of a file are different runs
        run_id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
    # a row with names alone adds them to a fuller record of the run, and replaces none
    rank = int(any(value is not None for name, value in has.items() if name not in _NAMES))
    run = distilled(values | {"run_id": run_id, "rank": rank})
    one, more = found(document, run), {name: value for name, value in labels.items() if value}
    return run, one._replace(log=replace(one.log, labels=more, experiment=has["experiment"]))


def _paid(form: MappedRun, number_of: float, at: datetime | None) -> Decimal | None:
    """Return the dollars of credits on a day, None where the map has no rate for it."""
    known = [day for day in form.credit_usd if at and day <= at.astimezone(UTC).date()]
    return usd(Decimal(repr(number_of)) * form.credit_usd[max(known)]) if known else None


def _model(has: Mapping[str, Any]) -> dict[str, Any]:
    """Return the model of a run with its tokens, and how far they can be trusted."""
    given, whole_input = has["input_tokens"], has["whole_input_tokens"]
    read, written, answered = (
        has[name] for name in ("cache_read_tokens", "cache_write_tokens", "output_tokens")
    )
    if given is None and whole_input is None:
        if answered is None:
            return unrecorded(has["model"], "The row has no token counts.")
        return output_alone(has["model"], answered)
    basis: dict[str, Any] = {}
    if given is None and read is not None:
        split = Tokens.of_whole_input(whole_input, read, written or 0, answered or 0, None)
        given = split.uncached
    elif read is None and written is None:
        bound = TokensBasis.UPPER_BOUND if given is None else TokensBasis.LOWER_BOUND
        basis = {"basis": bound, "basis_reason": NO_CACHE_COUNTS}
    return {
        "model_id": has["model"],
        "input_tokens": whole_input if given is None else given,
        "output_tokens": answered,
        "reasoning_tokens": has["reasoning_tokens"],
        "cache_read_tokens": read,
        "cache_write_tokens": written,
    } | basis


def _of_run(
    part: str, form: MappedValue | MappedJudgement, row: FoundRow, run: Run | None
) -> ResultOrigin:
    """Return what a value or judgement is of. Raises Unfit."""
    names = "run_id task repo commit agent model effort batch".split()
    given: dict[str, Any] = {
        name: taken(f"{part}.{name}", getattr(form, name), row) for name in names
    }
    if run:
        of_run = run.model_dump(include={*names}) | {"model": run.requested_model}
        given |= {name: of_run.get(name) for name in names if given[name] is None}
    return ResultOrigin(**given)


def _measured(form: MappedValue, row: FoundRow, run: Run | None) -> Iterator[Measured]:
    """Yield a measured value of a row, and those of its baseline and reference. Raises Unfit."""

    def given(name: str, made: Made = text) -> Any:
        return taken(f"measurement.{name}", getattr(form, name), row, made)

    value, why = given("value", number), given("failed")
    failed = why and why.lower() not in ("false", "0", "no", "none", "ok")
    if value is None and not failed:
        return
    leaf = form.value.path and str(steps(form.value.path[0])[-1])
    named = quantity(leaf or "value")
    unit = given("unit") or ("ratio" if form.over else named.unit)
    metric = given("metric") or ("speedup" if form.over else named.metric)
    if not form.metric and (not leaf or named.metric in VARIANTS):
        metric = metric_of_unit(unit)
    word = given("variant") or Variant.CANDIDATE
    variant = variant_named(word)
    if variant is None:
        raise Unfit(f"measurement.variant: {word!r} is none of {', '.join(Variant)}")
    params = {
        name: taken(f"measurement.params.{name}", one, row) for name, one in form.params.items()
    }
    origin = replace(
        _of_run("measurement", form, row, run),
        variant=variant,
        benchmark=given("benchmark"),
        machine=given("machine"),
        params=params,
    )
    others = {side: given(side, number) for side in (Variant.BASELINE, Variant.REFERENCE)}
    if not origin.batch and any(other is not None for other in others.values()):
        place = f"{row.file.name}, {row.position}"
        origin = replace(origin, batch=batch_of(place, (Variant.BASELINE, Variant.CANDIDATE)))
    better = Better(form.better) if form.better else Better.HIGHER if form.over else None
    one = Measured(
        origin,
        metric,
        given("statistic") or named.statistic,
        value,
        unit,
        given("n", whole),
        better=better,
        ratio_base=Variant(form.over) if form.over else None,
        spread=Spread.around(value, given("std", number)),
    )
    if failed:
        yield replace(one, value=None, spread=None, status=MeasuredStatus.FAILED, detail=why)
    else:
        yield one
    for side, other in others.items():
        if other is not None:
            beside = replace(origin, variant=side, run_id=None, agent=None, model=None, effort=None)
            yield replace(one, origin=beside, value=other, spread=None, n=None)


JUDGED = {
    **dict.fromkeys("hack hacked reward_hack true 1 yes".split(), Judged.HACK),
    **dict.fromkeys("clean false 0 no".split(), Judged.CLEAN),
}


def _judged(form: MappedJudgement, row: FoundRow, run: Run | None) -> Iterator[Judgement]:
    """Yield the judgement of a row, if it has a label. Raises Unfit."""

    def given(name: str, made: Made = text) -> Any:
        return taken(f"judgement.{name}", getattr(form, name), row, made)

    label = given("label")
    if label:
        yield Judgement(
            _of_run("judgement", form, row, run),
            JUDGED.get((given("hack") or "").lower()),
            label,
            score=given("score", number),
            detail=given("detail"),
            judged_by=given("judged_by"),
            judged_at=given("judged_at", time),
        )


def _experiment(form: MappedLoop, row: FoundRow) -> Experiment:
    def given(name: str, made: Made = text) -> Any:
        return taken(f"loop.{name}", getattr(form, name), row, made)

    word = given("state")
    return Experiment(
        state=state_of(word),
        word=word,
        value=given("value", number),
        label=given("label"),
        commit=given("commit"),
        at=given("at", time),
        description=given("description"),
        model=given("model"),
        cost_usd=given("cost", dollars),
        tokens=given("tokens", whole),
        duration_ms=given("duration", milliseconds),
    )


def _loop(form: MappedLoop, name: str | None, tried: list[Experiment]) -> Loop:
    leaf = form.value.path and str(steps(form.value.path[0])[-1])
    metric = form.metric or leaf or "value"
    better = Better(form.better) if form.better else better_by_name(metric)
    return Loop(
        experiments=with_repeats(baseline_first(tried)),
        name=name,
        metric=metric,
        unit=form.unit,
        better=better,
        better_from="the map" if form.better else "the metric's name",
        has_decisions=form.state is not None,
    )
