"""Harbor's `result.json` of a trial. That of a job only sums up its trials: see `schemas.wire.roll_ups`.

Source: harbor.models.trial.result of harbor 0.25.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from schemas.wire.values import Secondary, WireCount, WireText, WireUsd


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True, protected_namespaces=())


class HarborModelInfo(_Wire):
    """The model that was asked for."""

    name: Secondary[WireText] = Field(default=None, description="Model.")
    provider: Secondary[WireText] = Field(default=None, description="Provider, the part before the slash.")


class HarborAgentInfo(_Wire):
    """The agent."""

    name: Secondary[WireText] = Field(default=None, description="claude-code, terminus-2, …")
    version: Secondary[WireText] = Field(default=None, description="Version, or unknown.")
    model_info: Secondary[HarborModelInfo] = Field(default=None, description="Null where none was asked for.")


class HarborUsage(_Wire):
    """Tokens of one model or of all."""

    n_input_tokens: WireCount | None = Field(default=None, description="All input, with cache reads and writes.")
    n_cache_tokens: WireCount | None = Field(default=None, description="Cache reads, inside the input.")
    n_output_tokens: WireCount | None = Field(default=None, description="All output.")
    cost_usd: WireUsd | None = Field(default=None, description="Cost, where the agent or litellm knows it.")


class HarborAgentResult(HarborUsage):
    """What the agent used."""

    model_usage: dict[str, HarborUsage] | None = Field(default=None, description="The same by model, with sub-agents.")


class HarborRewards(_Wire):
    """What the verifier found."""

    rewards: Secondary[dict[str, FiniteFloat]] = Field(default=None, description="reward, and any others.")


class HarborException(_Wire):
    """What ended the trial early. It may have a score all the same."""

    exception_type: Secondary[WireText] = Field(default=None, description="Class of the exception.")
    exception_message: Secondary[WireText] = Field(default=None, description="Its text.")


class HarborPhase(_Wire):
    """One phase of a trial."""

    started_at: Any = Field(default=None, description="ISO 8601, UTC.")
    finished_at: Any = Field(default=None, description="The same; null where the phase did not end.")


class HarborStep(_Wire):
    """One step of a task with several. The trial itself has no agent_result then."""

    agent_result: HarborAgentResult | None = Field(default=None, description="What the agent used.")
    verifier_result: Secondary[HarborRewards] = Field(default=None, description="What the verifier found.")
    exception_info: Secondary[HarborException] = Field(default=None, description="What ended the step.")
    agent_execution: Secondary[HarborPhase] = Field(default=None, description="The agent's time.")


class HarborTrial(_Wire):
    """The result of one trial."""

    id: Secondary[WireText] = Field(default=None, description="UUID.")
    task_name: Secondary[WireText] = Field(default=None, description="Task.")
    trial_name: WireText = Field(description="Task and seven letters.")
    agent_info: HarborAgentInfo = Field(default=HarborAgentInfo(), description="The agent.")
    agent_result: HarborAgentResult | None = Field(default=None, description="What the agent used.")
    verifier_result: Secondary[HarborRewards] = Field(default=None, description="What the verifier found.")
    exception_info: Secondary[HarborException] = Field(default=None, description="What ended the trial early.")
    started_at: Any = Field(default=None, description="Start of the trial, before its image is built.")
    finished_at: Any = Field(default=None, description="End of the trial, after its verifier.")
    agent_execution: Secondary[HarborPhase] = Field(default=None, description="The agent's time.")
    step_results: Secondary[list[HarborStep]] = Field(default=None, description="Steps of a task with several.")
