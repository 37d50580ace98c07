"""How a run ended, from the text of its error. For agents that write no status beside it."""

from __future__ import annotations

import re

from schemas.rows.run import Outcome

_LIMIT = re.compile(r"\b429\b|usage limit|rate.?limit|quota|insufficient_quota|too many requests", re.IGNORECASE)
_API = re.compile(
    r"error code: [45]\d\d|\bhttp (?:error )?[45]\d\d|client error|server error|connection (?:error|reset|refused)|api error|overloaded"
    r"|\bSSO\b|token has expired|authentication|unauthorized|forbidden|api[_ ]key|stream disconnected|invalid_request_error"
    r"|ValidationException",
    re.IGNORECASE,
)

_HARNESS = re.compile(
    r"\b(?:Environment|Sandbox|Docker|Container|Image|AgentRuntime|AgentSetup|AgentInstall|Verifier|DownloadVerifier|Reward|AddTests|Daytona"
    r"|Modal|E2B|Runloop|Kubernetes|Apptainer|Singularity)\w*(?:Error|Exception|NotFound|Timeout)\b|\bdocker\.errors\."
    r"|(?i:docker compose command failed|failed to (?:start|create|build) (?:the )?(?:docker|sandbox|container|image|runtime|environment)\b"
    r"|cannot connect to the docker daemon|no space left on device)"
)


def outcome_of_error(text: str) -> Outcome:
    """A limit of the account, an error of the model's API, or else an error of the run itself."""
    if _LIMIT.search(text):
        return Outcome.LIMIT_REACHED
    return Outcome.API_ERROR if _API.search(text) else Outcome.EXECUTION_ERROR


def is_harness_failure(text: str) -> bool:
    """Whether the harness of a benchmark failed: its sandbox or image, the installation of the agent, its tests.

    How the agent ended is unknown then, so that such a run counts neither as completed nor as failed.
    """
    return _HARNESS.search(text) is not None


def outcome_of_trial_error(text: str) -> Outcome:
    """The outcome of a benchmark's trial with this error."""
    return Outcome.UNKNOWN if is_harness_failure(text) else outcome_of_error(text)
