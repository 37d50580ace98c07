"""A file of every measuring tool that is right, by the name of the tool.

What the fuzzing of measurements begins with: the cases `whole` of `tests/logs/measured`.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.golden_logs import EXPECTED, LOGS

_LOGS = LOGS / "measured"
_EXPERIMENTS = _LOGS / "iso_bench" / "experiments" / "2026-01"

MEASURED: Mapping[str, str] = {
    path.relative_to(_LOGS).parts[0]: path.read_text(encoding="utf-8")
    for path in sorted(_LOGS.glob("*/whole*")) + sorted(_LOGS.glob("*/whole/**/*"))
    if path.is_file() and not path.name.endswith(EXPECTED)
} | {
    name: path.read_text(encoding="utf-8")
    for name, path in {
        "iso_bench_table": next(_EXPERIMENTS.rglob("updated_rows_only.csv")),
        "github_action_benchmark, history": _LOGS / "github_action_benchmark" / "history.txt",
        "csv_table, wide": _LOGS / "csv_table" / "wide.csv",
    }.items()
}
