"""SWE-fficiency `eval_reports/*.csv`: for each instance the runtime before any change and the speedups of two patches over it.

`pred_speedup_ratio`: of the agent's patch. `gold_speedup_ratio`: of the people's. `human_speedup_ratio`: the first over the second, so
1.0 means "as fast as the people's", not "no change". Where tests fail, or there is no runtime, the file has 1.0 for the agent: that is
a failure here. In a report on the people's own patches both are the same measurement: it has no candidate.

Source: https://github.com/swefficiency/swefficiency, `scripts/eval`, `eval_reports/`; runtimes in seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.comma_separated import columns, lines
from ingest.measurements.measured import Measured, Origin
from schemas.rows.claim import Scope
from schemas.rows.measurement import Failure, MeasuredStatus, Variant

_COLUMNS = ("instance_id", "pred_speedup_ratio", "gold_speedup_ratio", "human_speedup_ratio", "correctness", "pre_edit_runtime")
_RAW = "raw_pred_speedup_ratio"


def _recognises(file: MeasuredFile) -> bool:
    return {*_COLUMNS, _RAW} <= set(columns(file.text))


def _read(file: MeasuredFile) -> Iterator[Measured]:
    rows = [line.cells for line in lines(file.text)]
    is_of_reference = all(row.get("pred_speedup_ratio") == row.get("gold_speedup_ratio") for row in rows)
    for row in rows:
        yield from _of_reference(row, file)
        if not is_of_reference:
            yield from _of_candidate(row, _origin(row, file, Variant.CANDIDATE))


def _origin(row: Mapping[str, str], file: MeasuredFile, variant: Variant) -> Origin:
    """`run_path`: what the name of the file says about the run, which names agent and model."""
    name = row["instance_id"]
    run = file.file_name.removesuffix(".csv").removeprefix("eval_report_") if variant is Variant.CANDIDATE else None
    return Origin(variant=variant, task=name, instance=name, benchmark=name, run_path=run, batch=file.name, scope=Scope.COMPONENT)


def _of_reference(row: Mapping[str, str], file: MeasuredFile) -> Iterator[Measured]:
    """The runtime before any change, and the speedup of the people's patch."""
    before, gold = row.get("pre_edit_runtime"), row.get("gold_speedup_ratio")
    if before:
        baseline = _origin(row, file, Variant.BASELINE)
        yield Measured(origin=baseline, metric="time", statistic="mean", value=float(before), unit="s")
    if gold:
        yield _speedup(gold, _origin(row, file, Variant.REFERENCE), Variant.BASELINE)


def _of_candidate(row: Mapping[str, str], origin: Origin) -> Iterator[Measured]:
    raw = row.get(_RAW)
    if raw and float(row["correctness"]) == 1:
        yield _speedup(row["pred_speedup_ratio"], origin, Variant.BASELINE)
        yield _speedup(row["human_speedup_ratio"], origin, Variant.REFERENCE)
        return
    detail = f"tests fail with the patch, whose speedup would be {raw}" if raw else "there is no runtime with the patch"
    yield Measured(
        origin=origin,
        metric="speedup",
        unit="x",
        status=MeasuredStatus.FAILED,
        failure=Failure.INCORRECT if raw else Failure.UNKNOWN,
        detail=detail,
        ratio_base=Variant.BASELINE,
    )


def _speedup(written: str, origin: Origin, base: Variant) -> Measured:
    return Measured(origin=origin, metric="speedup", value=float(written), unit="x", ratio_base=base)


TOOL = Tool("swefficiency", (_RAW, "human_speedup_ratio"), _recognises, _read)
