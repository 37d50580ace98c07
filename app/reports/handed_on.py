"""Runs as other tools read them.

Spans of OpenTelemetry by GenAI's conventions (OTLP/JSON), and trajectories in Harbor's format ATIF.

Both count cached input inside the input. What a run cost is what its agent reported, else its list
price, and says which. Facts that a format has no field for are beside its own:
`schemas.wire.handed_on`. Ids follow from the run's id, so a second copy has the same bytes.

Texts (prompt, summary, errors) are left out unless asked for. Excluded runs are left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from app.queries import Row, Rows
from app.queries.filters import NO_FILTERS, where
from app.reports.folders import file_stem, replaced
from ingest.store.database import Store
from schemas.rows.run import Outcome
from schemas.wire.handed_on import LIST_PRICE, HandedOnModel, HandedOnRun
from schemas.wire.harbor import ATIF_VERSION
from schemas.wire.otlp import OWN, PROVIDERS

_BATCH_RUNS = 50

_MODELS = """
select
    run_id, list({
        'model_id': model_id, 'provider': provider, 'input_tokens': own_input_tokens,
            'cache_read_tokens': own_cache_read_tokens,
        'cache_write_tokens': own_cache_write_tokens, 'output_tokens': own_output_tokens,
        'reasoning_tokens': case when own_output_tokens is not distinct from output_tokens then
            reasoning_tokens end,
        'cache_write_1h_tokens': own_cache_write_1h_tokens,
        'cache_write_5m_tokens': own_cache_write_tokens - own_cache_write_1h_tokens,
        'tokens_basis': tokens_basis, 'tokens_basis_reason': tokens_basis_reason,
        'cost_usd': coalesce(cost_own_usd, cost_list_usd),
        'cost_basis': case when cost_own_usd is not null then 'reported' when cost_list_usd is not
            null then 'list' end
    } order by
        model is distinct from main, coalesce(cost_own_usd, cost_list_usd) desc nulls last,
            own_output_tokens desc nulls last, model_id
    ) as used
from model_usage
join (select run_id, model as main from runs) using (run_id)
group by run_id
"""

_RESPONSES = """
select
    run_id, list({
        'at': "at", 'model_id': model_id, 'input_tokens': input_tokens, 'cache_read_tokens':
            cache_read_tokens,
        'cache_write_tokens': cache_write_tokens, 'output_tokens': output_tokens,
            'reasoning_tokens': reasoning_tokens, 'tools': tools,
        'cost_usd': cost_list_usd
    } order by "at" nulls first, response_id) as responses
from responses
group by run_id
"""

_RUNS = f"""
select
    runs.run_id, session_id, agent, agent_version, requested_model, outcome, score, duration_ms,
        active_ms, duration_api_own_ms, num_turns,
    repo, task, cwd, branch, cost_best_usd as cost_usd,
    coalesce(runs.responses > 0 and cost_list_usd is not null, false) as is_by_request,
    case when cost_own_usd is not null then 'reported' when cost_best_usd is not null then
        '{LIST_PRICE}' end as cost_basis,
    case when dated_at is not null then started_at end as started_at, case when dated_at is not null
        then ended_at end as ended_at,
    {{texts}},
    coalesce(used, []) as models, coalesce(calls.listed, []) as tool_calls{{responses}}
from v_runs as runs
left join ({_MODELS}) as used using (run_id)
left join (
    select run_id, list({{'tool': tool, 'calls': calls, 'errors': errors}} order by tool) as listed
        from tool_calls group by run_id
) as calls using (run_id)
{{of_responses}}
where {where(NO_FILTERS).sql}
order by run_id
"""

_TEXTS = "prompt, result, errors"
_NO_TEXTS = "null::varchar as prompt, null::varchar as result, null::varchar as errors"


def runs_to_hand_on(
    store: Store, *, with_text: bool, with_responses: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the runs with their models and tool calls, and their responses where asked for, by id.

    Raises StoreError.
    """
    sql = _RUNS.replace("{texts}", _TEXTS if with_text else _NO_TEXTS)
    sql = sql.replace(
        "{responses}", ", coalesce(made.responses, []) as responses" if with_responses else ""
    )
    sql = sql.replace(
        "{of_responses}",
        f"left join ({_RESPONSES}) as made using (run_id)" if with_responses else "",
    )
    with store.reading() as connection:
        for batch in connection.sql(sql).to_arrow_reader(_BATCH_RUNS):
            yield from batch.to_pylist()


class _Usage(NamedTuple):
    """Tokens with the cache inside the input; None if not recorded."""

    given: int | None
    read: int | None
    written: int | None
    output: int | None
    reasoning: int | None


def _usage(model: Row) -> _Usage:
    own, read, written = (
        model[name] for name in ("input_tokens", "cache_read_tokens", "cache_write_tokens")
    )
    given = None if own is None else own + (read or 0) + (written or 0)
    return _Usage(given, read, written, model["output_tokens"], model["reasoning_tokens"])


def _totals(models: Sequence[Row]) -> _Usage:
    columns = zip(*map(_usage, models), strict=True) if models else ([],) * len(_Usage._fields)
    return _Usage(
        *(
            sum(known) if (known := [one for one in column if one is not None]) else None
            for column in columns
        )
    )


def _facts_of_run(run: Row) -> dict[str, Any]:
    facts = {
        name: run[{"duration_api_ms": "duration_api_own_ms"}.get(name, name)]
        for name in HandedOnRun.model_fields
    }
    return HandedOnRun.model_validate(facts).model_dump(mode="json", exclude_none=True)


def _facts_of_model(model: Row) -> dict[str, Any]:
    facts = {name: model.get(name) for name in HandedOnModel.model_fields if name != "cost_usd"}
    return HandedOnModel.model_validate(facts).model_dump(mode="json", exclude_none=True)


_FAILED = frozenset(Outcome) - {Outcome.COMPLETED, Outcome.INTERRUPTED, Outcome.UNKNOWN}


@dataclass(frozen=True)
class HandedOn:
    """The runs that were written.

    `undated`: those without a date; `list_priced`: those at list prices.

    `by_request`: those with a list price from single requests. `replaced`: trajectories of an
    earlier copy, or the file, that they replace.
    """

    runs: int
    cost_usd: Decimal | None
    undated: int
    list_priced: int
    by_request: int
    replaced: int


def hand_on(
    store: Store,
    target: str,
    put: Callable[[bytes], object],
    write: Callable[[Path, Iterable[bytes]], object],
    *,
    with_text: bool,
) -> HandedOn:
    """Write all runs as `otlp:FILE` or as `atif:FOLDER` with a file for each run, or nothing.

    `otlp:-`: `put` takes the lines.

    The file is replaced, like every output; of a folder only what an earlier copy wrote. Raises
    StoreError, and UsageError if the folder has other files.
    """
    form, _, place = target.partition(":")
    counted = {"runs": 0, "undated": 0, "list_priced": 0, "by_request": 0, "replaced": 0}
    costs: list[Decimal] = []

    def all_runs() -> Iterator[dict[str, Any]]:
        for run in runs_to_hand_on(store, with_text=with_text, with_responses=form == "atif"):
            counted["runs"] += 1
            counted["undated"] += run["started_at"] is None and run["ended_at"] is None
            counted["list_priced"] += run["cost_basis"] == LIST_PRICE
            counted["by_request"] += run["is_by_request"]
            costs.extend([run["cost_usd"]] if run["cost_usd"] is not None else ())
            yield run

    if form == "otlp" and place in ("", "-"):
        for run in all_runs():
            put(otlp_line(run))
    elif form == "otlp":
        counted["replaced"] = Path(place).is_file()
        write(Path(place), map(otlp_line, all_runs()))
    else:
        folder = Path(place or ".")
        with replaced(folder, _is_trajectory_of_ours, "copy") as aside:
            counted["replaced"] = len([*folder.glob("*.json")])
            for run in all_runs():
                text = json.dumps(trajectory(run), indent=1, ensure_ascii=False)
                path = aside / f"{file_stem(run['run_id'])}.json"
                path.write_bytes(text.encode("utf-8", "replace") + b"\n")
    return HandedOn(cost_usd=sum(costs, Decimal()) if costs else None, **counted)


def _is_trajectory_of_ours(path: Path) -> bool:
    """Return whether an earlier copy wrote a file."""
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        begins = file.read(64).startswith(f'{{\n "schema_version": "{ATIF_VERSION}'.encode())
        file.seek(max(path.stat().st_size - 4096, 0))
        return begins and b'\n  "tachograph": {' in file.read()


# OpenTelemetry

_INTERNAL, _CLIENT = 1, 3
_UNSET, _OK, _ERROR = 0, 1, 2


def otlp_line(run: Row) -> bytes:
    """Return a run as one line of OTLP/JSON.

    A span of the agent, with one for each model if it used several.
    """
    digest = hashlib.sha256(f"tachograph {run['run_id']}".encode()).hexdigest()
    trace_id, span_id, models = digest[:32], digest[32:48], run["models"]
    main = models[0] if models else {}
    outcome = Outcome(run["outcome"])
    times = {
        "startTimeUnixNano": _nanoseconds(run["started_at"]),
        "endTimeUnixNano": _nanoseconds(run["ended_at"] or run["started_at"]),
    }
    shared = {"gen_ai.agent.name": run["agent"], "gen_ai.conversation.id": run["session_id"]}
    facts = shared | {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": PROVIDERS.get(
            main.get("provider") or "", main.get("provider") or "unknown"
        ),
        "gen_ai.agent.version": run["agent_version"],
        "gen_ai.request.model": run["requested_model"],
        "gen_ai.response.model": main.get("model_id"),
        "error.type": outcome if outcome in _FAILED else None,
        "gen_ai.input.messages": _messages("user", run["prompt"]),
        "gen_ai.output.messages": _messages("assistant", run["result"]),
        **_usage_attributes(_totals(models), run["cost_usd"]),
        **{
            f"{OWN}{name}": value
            for name, value in _facts_of_run(run).items()
            if name != "session_id"
        },
    }
    if len(models) == 1:
        facts |= {
            f"{OWN}{name}": value
            for name, value in _facts_of_model(main).items()
            if name != "cost_basis"
        }
    status = {
        "code": _OK if outcome is Outcome.COMPLETED else _ERROR if outcome in _FAILED else _UNSET
    }
    if outcome in _FAILED and run["errors"]:
        status["message"] = run["errors"]
    spans = [
        {
            "traceId": trace_id,
            "spanId": span_id,
            "name": f"invoke_agent {run['agent']}",
            "kind": _INTERNAL,
            **times,
            "attributes": _attributes(facts),
            "status": status,
        }
    ]
    for number, model in enumerate(models if len(models) > 1 else ()):
        own = shared | {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": PROVIDERS.get(
                model["provider"] or "", model["provider"] or "unknown"
            ),
            "gen_ai.request.model": model["model_id"],
            "gen_ai.response.model": model["model_id"],
            **_usage_attributes(_usage(model), model["cost_usd"]),
            **{f"{OWN}{name}": value for name, value in _facts_of_model(model).items()},
        }
        own_id = hashlib.sha256(f"tachograph {run['run_id']} {number}".encode()).hexdigest()[:16]
        spans.append(
            {
                "traceId": trace_id,
                "spanId": own_id,
                "parentSpanId": span_id,
                "name": f"chat {model['model_id'] or ''}".rstrip(),
                "kind": _CLIENT,
                **times,
                "attributes": _attributes(own),
                "status": {},
            }
        )
    resource = {
        "attributes": _attributes(
            {"service.name": run["agent"], "service.version": run["agent_version"]}
        )
    }
    return _line(
        {
            "resourceSpans": [
                {
                    "resource": resource,
                    "scopeSpans": [{"scope": {"name": "tachograph"}, "spans": spans}],
                }
            ]
        }
    )


def _usage_attributes(usage: _Usage, cost: Decimal | None) -> dict[str, Any]:
    return {
        "gen_ai.usage.input_tokens": usage.given,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.read,
        "gen_ai.usage.cache_creation.input_tokens": usage.written,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
        "gen_ai.usage.cost": None if cost is None else float(cost),
    }


def _messages(role: str, text: str | None) -> str | None:
    if not text:
        return None
    return json.dumps(
        [{"role": role, "parts": [{"type": "text", "content": text}]}], ensure_ascii=False
    )


def _attributes(values: Mapping[str, Any]) -> Rows:
    """Return the known ones of some values as attributes.

    Whole numbers are texts, as 64-bit integers are in OTLP/JSON.
    """
    attributes = []
    for name, value in values.items():
        if isinstance(value, int):
            attributes.append({"key": name, "value": {"intValue": str(value)}})
        elif value is not None:
            attributes.append(
                {
                    "key": name,
                    "value": {"doubleValue" if isinstance(value, float) else "stringValue": value},
                }
            )
    return attributes


def _nanoseconds(time: datetime | None) -> str:
    return str(round(time.timestamp() * 1_000_000) * 1000) if time else "0"


def _line(value: Any) -> bytes:
    return (
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        + b"\n"
    )


# ATIF


def trajectory(run: Row) -> dict[str, Any]:
    """Return a run as a trajectory.

    A step of the user, and those of the agent, whose metrics add up to the run's.

    Where its responses are known and add up, each is a step; else there is one for each model. The
    store keeps no messages between the prompt and the summary.
    """
    models, ended_at = run["models"], run["ended_at"] or run["started_at"]
    total = _totals(models)
    agents = _steps_of_responses(run) or [
        _step(
            model["model_id"],
            _metrics(_usage(model), model["cost_usd"], _facts_of_model(model)),
            None,
        )
        for model in reversed(models)  # the summary is the main model's
    ]
    agents = agents or [_step(None, None, 0)]
    left = {call["tool"]: call["calls"] or 0 for call in run["tool_calls"]}
    for step in agents:
        for call in step.get("tool_calls", ()):
            left[call["function_name"]] = left.get(call["function_name"], 0) - 1
    last = agents[-1]
    last["tool_calls"] = last.get("tool_calls", []) + _calls(
        f"{len(agents)}-more", [tool for tool, more in left.items() for _ in range(more)]
    )
    last |= {"timestamp": _iso(ended_at), "message": run["result"] or ""}
    if not run["responses"]:
        # Turns are the main model's: calls of a helper are unknown. Harbor refuses metrics of 0
        # calls.
        last["llm_call_count"] = run["num_turns"] or (0 if last["metrics"] is None else None)
    for step in agents:
        step["tool_calls"] = step.get("tool_calls") or None
    steps = [
        {"timestamp": _iso(run["started_at"]), "source": "user", "message": run["prompt"] or ""},
        *agents,
    ]
    only = {
        "cwds": [run["cwd"]] if run["cwd"] else None,
        "git_branches": [run["branch"]] if run["branch"] else None,
    }
    more = _known(
        {
            "total_cache_creation_input_tokens": total.written,
            "total_reasoning_tokens": total.reasoning,
        }
    )
    return _known(
        {
            "schema_version": f"{ATIF_VERSION}1.7",
            "session_id": run["session_id"] or run["run_id"],
            "trajectory_id": run["run_id"],
            "agent": _known(
                {
                    "name": run["agent"],
                    "version": run["agent_version"] or "unknown",
                    "model_name": models[0]["model_id"] if models else None,
                    "extra": _known(only) or None,
                }
            ),
            "steps": [
                _known({"step_id": number} | step | {"tool_calls": step.get("tool_calls") or None})
                for number, step in enumerate(steps, 1)
            ],
            "final_metrics": _known(
                {
                    "total_prompt_tokens": total.given,
                    "total_completion_tokens": total.output,
                    "total_cached_tokens": total.read,
                    "total_cost_usd": None if run["cost_usd"] is None else float(run["cost_usd"]),
                    "total_steps": len(steps),
                    "extra": more or None,
                }
            ),
            "extra": {"tachograph": _facts_of_run(run)},
        }
    )


def _steps_of_responses(run: Row) -> Rows:
    """Return a step for each response; none unless they add up to the tokens of the run's models.

    Facts of a model, and its cost where it is not a sum of theirs, are with its last response.
    """
    by_model: dict[str | None, Rows] = {}
    for response in run["responses"]:
        by_model.setdefault(response["model_id"], []).append(response)
    models = {model["model_id"]: model for model in run["models"]}
    if by_model.keys() != models.keys() or any(
        _totals(by_model[name]) != _usage(model) for name, model in models.items()
    ):
        return []
    last = {id(responses[-1]): name for name, responses in by_model.items()}
    priced = {
        name: sum((one["cost_usd"] or 0 for one in responses), Decimal())
        == models[name]["cost_usd"]
        for name, responses in by_model.items()
    }
    steps = []
    for number, response in enumerate(run["responses"], 2):
        name = response["model_id"]
        facts = _facts_of_model(models[name]) if id(response) in last else {}
        if facts and not priced[name] and models[name]["cost_usd"] is not None:
            facts |= {"cost_usd": float(models[name]["cost_usd"])}
        step = _step(
            name,
            _metrics(_usage(response), response["cost_usd"] if priced[name] else None, facts),
            1,
        )
        steps.append(
            step
            | {
                "timestamp": _iso(response["at"]),
                "tool_calls": _calls(str(number), response["tools"]),
            }
        )
    return steps


def _step(
    model_id: str | None, metrics: dict[str, Any] | None, calls: int | None
) -> dict[str, Any]:
    return {
        "source": "agent",
        "message": "",
        "model_name": model_id,
        "metrics": metrics,
        "llm_call_count": calls,
    }


def _calls(place: str, tools: Sequence[str]) -> Rows:
    """Return calls of tools, whose arguments the store does not keep."""
    return [
        {"tool_call_id": f"{place}-{number}", "function_name": tool, "arguments": {}}
        for number, tool in enumerate(tools, 1)
    ]


def _metrics(usage: _Usage, cost: Decimal | None, facts: Row) -> dict[str, Any]:
    extra = {
        "cache_creation_input_tokens": usage.written,
        "reasoning_tokens": usage.reasoning,
        "tachograph": dict(facts) or None,
    }
    return _known(
        {
            "prompt_tokens": usage.given,
            "completion_tokens": usage.output,
            "cached_tokens": usage.read,
            "cost_usd": None if cost is None else float(cost),
            "extra": _known(extra) or None,
        }
    )


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _iso(time: datetime | None) -> str | None:
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z") if time else None
