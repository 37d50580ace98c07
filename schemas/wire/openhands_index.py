"""The OpenHands Index: what agents cost and solved on each instance of a benchmark.

Source: OpenHands/openhands-index-results, `instance_results/BENCHMARK.json`, with `metadata.json` in the folder above.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from schemas.wire.values import WireFlag, WireUsd


class IndexResult(BaseModel):
    """The result of one instance."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    cost: WireUsd | None = Field(default=None, description="USD; 0.0 for all instances of a file where the agent does not report it.")
    resolved: WireFlag | None = Field(default=None, description="Whether the instance was solved; null where that is not known.")
