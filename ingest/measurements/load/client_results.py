"""What the benchmarks of vLLM and SGLang write alike: one object per run, with the same names of quantities.

Values are times in ms, rates per second, and counts of tokens. `std_…` is the spread of requests within one run, not of runs:
no row has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ingest.measurements.measured import Measured, Origin, Parameter
from ingest.measurements.values import is_number
from ingest.measurements.words import Quantity, quantity
from schemas.rows.measurement import MeasuredStatus

_SERVING = {
    "duration": Quantity("time", "total", "s"),
    "request_throughput": Quantity("request_throughput", "rate", "req/s"),
    "request_goodput": Quantity("goodput", "rate", "req/s"),
    "request_goodput:": Quantity("goodput", "rate", "req/s"),  # as vLLM wrote it in 2025
    "input_throughput": Quantity("input_throughput", "rate", "tok/s"),
    "output_throughput": Quantity("output_throughput", "rate", "tok/s"),
    "total_throughput": Quantity("total_throughput", "rate", "tok/s"),
    "total_token_throughput": Quantity("total_throughput", "rate", "tok/s"),
    "max_output_tokens_per_s": Quantity("output_throughput", "max", "tok/s"),
    "total_input_tokens": Quantity("total_input_tokens", "total", "tokens"),
    "total_output_tokens": Quantity("total_output_tokens", "total", "tokens"),
    "accept_length": Quantity("accept_length", "mean", "tokens"),
    "spec_decode_acceptance_length": Quantity("accept_length", "mean", "tokens"),
}
_TIME = re.compile(r"(?:mean|median|min|max|p\d{1,2}(?:\.\d+)?)_\w+_ms")


def serving_values(result: Mapping[str, Any], origin: Origin) -> Iterator[Measured]:
    """The values of one run of a serving benchmark; or the run as a failure, where no request was completed."""
    if result.get("completed") == 0:
        yield Measured(origin=origin, status=MeasuredStatus.FAILED, detail="no request was completed")
        return
    yield from named_values(_SERVING | {key: quantity(key) for key in result if _TIME.fullmatch(key)}, result, origin)


def named_values(names: Mapping[str, Quantity], result: Mapping[str, Any], origin: Origin) -> Iterator[Measured]:
    """The values of one run that have a name in the table. Of two for one quantity, the first: a 50th percentile repeats the median."""
    found: dict[Quantity, Any] = {}
    for key, named in names.items():
        if is_number(value := result.get(key)):
            found.setdefault(named, value)
    for named, value in found.items():
        yield Measured(origin=origin, metric=named.metric, statistic=named.statistic, value=value, unit=named.unit, n=1)


def parameters(result: Mapping[str, Any], names: Iterable[str]) -> dict[str, Parameter]:
    """Those of its parameters that are known. An infinite request rate is "inf" with every tool."""
    return {name: _parameter(result[name]) for name in names if result.get(name) is not None}


def _parameter(value: Any) -> Parameter:
    if isinstance(value, float) and value == float("inf"):
        return "inf"
    return value if isinstance(value, str | int | float) else str(value)
