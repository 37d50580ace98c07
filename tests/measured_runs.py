"""A small store of runs that were claimed and measured; every figure in it can be computed by hand.

| run | model | cost | claims | baseline → candidate | measured | verdict |
| --- | --- | --- | --- | --- | --- | --- |
| kept | opus | $1.00 | 2× | 100 → 50 ms | 2.00× | faster, as fast as the reference |
| over | opus | $2.00 | 4× | 100 → 80 ms | 1.25× | faster |
| same | opus | $0.50 | 3× | 100 → 100 ms | 1.00× | same |
| wrong | opus | $0.50 | 1.5× | 100 → 125 ms | 0.80× | slower, and than the reference |
| under | opus | $1.00 | 1.5× | 100 → 40 ms | 2.50× | faster |
| silent | opus | $1.00 | – | 100 → 98 ms | 1.02× | same |
| failed | opus | $3.00 | 2× | 100 → crash | – | failed |
| unmeasured | opus | $1.00 | 9× | – | – | – |
| few | haiku | $0.75 | 2× | 100 → 100 ms | 1.00× | same |
| other | haiku | $0.25 | – | another workload | – | not comparable |
| alone | haiku | $0.50 | – | no baseline | – | without a baseline |
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.claims import Scope
from schemas.rows.measurement import MeasuredStatus, MeasurementRow, Variant
from schemas.units import Better
from tests.conftest import fetched, record, record_text

OPUS, HAIKU = "claude-opus-4-6", "claude-haiku-4-5"


@dataclass(frozen=True)
class Case:
    """One run.

    `values`: variant → cell of the column `value`; `load` the parameter of the benchmark that the
    baseline did not have.
    """

    name: str
    model: str
    usd: float
    claim: str
    values: dict[str, str]
    load: str = "4"

    @property
    def record(self) -> str:
        """Its result record."""
        usage = record()["modelUsage"]["claude-opus-4-6"] | {"costUSD": self.usd}
        says = f"Done. The new kernel is {self.claim} faster.\n" if self.claim else "Done."
        return record_text(
            uuid=self.name,
            session_id=self.name,
            total_cost_usd=self.usd,
            modelUsage={self.model: usage},
            result=says,
        )


CASES = (
    Case("kept", OPUS, 1, "2x", {"baseline": "100", "reference": "50", "candidate": "50"}),
    Case("over", OPUS, 2, "4x", {"baseline": "100", "candidate": "80"}),
    Case("same", OPUS, 0.5, "3x", {"baseline": "100", "candidate": "100"}),
    Case("wrong", OPUS, 0.5, "1.5x", {"baseline": "100", "reference": "50", "candidate": "125"}),
    Case("under", OPUS, 1, "1.5x", {"baseline": "100", "candidate": "40"}),
    Case("silent", OPUS, 1, "", {"baseline": "100", "candidate": "98"}),
    Case("failed", OPUS, 3, "2x", {"baseline": "100", "candidate": "crash"}),
    Case("unmeasured", OPUS, 1, "9x", {}),
    Case("few", HAIKU, 0.75, "2x", {"baseline": "100", "candidate": "100"}),
    Case("other", HAIKU, 0.25, "", {"baseline": "100", "candidate": "90"}, load="8"),
    Case("alone", HAIKU, 0.5, "", {"candidate": "90"}),
)


def fill(store: Store, **said: str) -> None:
    """The runs, and the benchmark's results as a plain table; `said` as `--measure` says it."""
    log = "\n".join(case.record for case in CASES)
    ingest(
        [Source("log.jsonl", log.encode()), Source("results.csv", results().encode())],
        store,
        Options(measure=said),
    )


def results() -> str:
    """The table, one value per row."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(("task", "run_id", "variant", "metric", "value", "unit", "load"))
    for case in CASES:
        for variant, value in case.values.items():
            is_candidate = variant == "candidate"
            table.writerow(
                (
                    case.name,
                    case.name if is_candidate else "",
                    variant,
                    "latency",
                    value,
                    "ms",
                    case.load if is_candidate else "4",
                )
            )
    return written.getvalue()


def label(store: Store, **quadrants: str) -> None:
    """Published judgements of runs: name → quadrant."""
    [(source_id, last)] = fetched(
        store, "select source_id, max(measurement_no) from measurements group by source_id"
    )
    about: dict[str, Any] = {
        "source_id": source_id,
        "format": "labels",
        "variant": Variant.CANDIDATE,
        "metric": "quadrant",
    }
    about |= {"scope": Scope.UNSPECIFIED, "better": Better.UNKNOWN, "status": MeasuredStatus.OK}
    rows = [
        MeasurementRow(**about, measurement_no=last + number, run_id=name, label=quadrant)
        for number, (name, quadrant) in enumerate(quadrants.items(), 1)
    ]
    with store.writing() as writer:
        writer.insert("measurements", rows)
