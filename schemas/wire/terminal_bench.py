"""terminal-bench's results: of a run with all its trials, or of one trial; and the metadata of the run beside it.

Source: terminal_bench.harness.models of terminal-bench 0.2.18.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from schemas.wire.values import Secondary, WireCount, WireFlag, WireText


class TerminalTrial(BaseModel):
    """One trial. Older ones have no id and no times."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    id: Secondary[WireText] = Field(default=None, description="UUID; the same in the results of the run and of the trial.")
    trial_name: WireText = Field(description="Task, number of the attempt, and run.")
    task_id: Secondary[WireText] = Field(default=None, description="Task.")
    instruction: Secondary[WireText] = Field(default=None, description="The prompt.")
    is_resolved: Secondary[WireFlag] = Field(default=None, description="Whether all tests passed; null where they did not end.")
    failure_mode: Secondary[WireText] = Field(default=None, description="How the trial ended; unset where nothing went wrong.")
    total_input_tokens: WireCount | None = Field(default=None, description="All input, 0 where it is not recorded.")
    total_output_tokens: WireCount | None = Field(default=None, description="All output, 0 where it is not recorded.")
    trial_started_at: Any = Field(default=None, description="Start of the trial, before its container is built.")
    trial_ended_at: Any = Field(default=None, description="End of the trial.")
    agent_started_at: Any = Field(default=None, description="Start of the agent.")
    agent_ended_at: Any = Field(default=None, description="End of the agent.")
