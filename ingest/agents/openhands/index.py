"""Results of the OpenHands Index, `instance_results/BENCHMARK.json` → runs, one for each instance.

They tell cost and score alone. Agent and model come from the `metadata.json` above (`ingest.context.trials`). The instances have no ids: a
run's id is made of its instance and of the whole file, so a file that is published again with other results has other runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from pydantic import ValidationError

from ingest.agents.base import AgentReader, Found
from ingest.agents.kept_run import UNKNOWN, complaints, ended
from ingest.agents.shared.runs import canonical_hash
from ingest.agents.shared.tokens import unrecorded
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from schemas.agents import OPENHANDS
from schemas.errors import RejectReason
from schemas.rows.run import RecordKind
from schemas.wire.openhands_index import IndexResult

_RESULT = {"cost", "resolved"}
_NO_TOKENS = "Results of the OpenHands Index have no token counts."


class OpenHandsIndex(AgentReader):
    """Results of a benchmark by instance."""

    agent: ClassVar[str] = OPENHANDS.key

    @staticmethod
    def recognises(document: Document) -> bool:
        first = next(iter(document.value.values()), None)
        return isinstance(first, dict) and first.keys() == _RESULT

    def feed(self, document: Document) -> Iterator[Found | Unreadable]:
        """An instance that cannot be read is a reject of its own."""
        instances = document.written
        whole = canonical_hash(instances)
        for number, (name, value) in enumerate(instances.items()):
            try:
                result = IndexResult.model_validate(value)
            except ValidationError as error:
                yield document.moved(number).refused(RejectReason.INVALID_RECORD, f"{name}: {complaints(error)}")
            else:
                run_id = canonical_hash({"instance": name, "results": whole})
                yield ended(document, _kept(run_id, name, result), self._context_of)

    def end(self) -> Iterator[Found]:
        yield from ()


def _kept(run_id: str, instance: str, result: IndexResult) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "agent": UNKNOWN,
        "record_kind": RecordKind.TRIAL,
        "models": [unrecorded(None, _NO_TOKENS) | {"cost_usd": result.cost}],
        "cost_usd": result.cost,
        "score": None if result.resolved is None else float(result.resolved),
        "task": instance,
    }
