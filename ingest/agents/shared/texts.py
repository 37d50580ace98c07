"""Texts in the logs of all agents: prompts, error messages, and repair of damaged text."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from schemas.rows.run import Outcome
from schemas.text import paired

LONGEST_PROMPT = 20_000

_NOT_THE_USER = ("parent_tool_use_id", "isSynthetic", "isMeta", "isSidechain", "isCompactSummary")
"""Fields of messages in the user's role that the agent wrote: prompts of sub-agents, expanded
commands and skills, hooks, summaries.
"""

_OF_THE_AGENT = (
    "<command-",
    "<local-command-",
    "<system-reminder>",
    "<ide_",
    "<task-notification>",
    "[Request interrupted",
    "Caveat: The messages below",
)
"""Beginnings of such messages, and blocks of messages, without such a field."""


def prompt_of(event: dict[str, Any]) -> str | None:
    """Return the text of a `user` event without tool results, or None.

    None if it has no text or the agent wrote it. Never raises.
    """
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if any(map(event.get, _NOT_THE_USER)):
        return None
    texts = [content]
    if isinstance(content, list):
        blocks = [
            block.get("text")
            for block in content
            if isinstance(block, dict) and block.get("type") == "text"
        ]
        texts = [
            text for text in blocks if isinstance(text, str) and not text.startswith(_OF_THE_AGENT)
        ]
    text = "\n".join(text[:LONGEST_PROMPT] for text in texts if isinstance(text, str) and text)[
        :LONGEST_PROMPT
    ].strip()
    return str(paired(text)) if text and not text.startswith(_OF_THE_AGENT) else None


def prompt_in(path: Path) -> str | None:
    """Return the beginning of a text file, or None if it is blank."""
    with suppress(OSError, ValueError), path.open(encoding="utf-8") as file:
        return file.read(LONGEST_PROMPT).strip() or None
    return None


def text_of(content: Any) -> str | None:
    """Return the text of a message without thoughts, or None.

    The content is a text, or a part or parts with texts.
    """
    parts = content if isinstance(content, list) else [content]
    texts = [
        part.get("text") if isinstance(part, dict) and not part.get("thought") else part
        for part in parts
    ]
    return "".join(text for text in texts if isinstance(text, str)).strip() or None


def lines_of(content: Any) -> str | None:
    """Return the text of a message, its parts on lines of their own, or None if it has none."""
    if isinstance(content, str):
        return content if content.strip() else None
    parts = content if isinstance(content, list) else ()
    return (
        "\n".join(
            part["text"]
            for part in parts
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
        or None
    )


def text_at(value: Any, *names: str) -> str | None:
    """Return the text at a path of names in nested objects, or None if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


MODEL_TAG = re.compile(r"<model>([^<\n]{1,200})</model>")
"""The model in the environment that Roo Code and Kilo Code describe with a request."""


# How a run ended, by the text of its error: for agents that write no status beside it

_LIMIT = re.compile(
    r"\b429\b|usage limit|rate.?limit|quota|insufficient_quota|too many requests", re.IGNORECASE
)
_API = re.compile(
    r"error code: [45]\d\d|\bhttp (?:error )?[45]\d\d|client error|server error|connection "
    r"(?:error|reset|refused)|api error|overloaded"
    r"|\bSSO\b|token has expired|authentication|unauthorized|forbidden|api[_ ]key|stream "
    r"disconnected|invalid_request_error"
    r"|ValidationException",
    re.IGNORECASE,
)
_HARNESS = re.compile(
    r"\b(?:Environment|Sandbox|Docker|Container|Image|AgentRuntime|AgentSetup|AgentInstall|Verifier|DownloadVerifier|Reward|AddTests|Daytona"
    r"|Modal|E2B|Runloop|Kubernetes|Apptainer|Singularity)\w*(?:Error|Exception|NotFound|Timeout)\b|\bdocker\.errors\."
    r"|(?i:docker compose command failed|failed to (?:start|create|build) (?:the "
    r")?(?:docker|sandbox|container|image|runtime|environment)\b"
    r"|cannot connect to the docker daemon|no space left on device)"
)


def outcome_of_error(text: str) -> Outcome:
    """Return whether an account limit, an API error or another error of the run ended it."""
    if _LIMIT.search(text):
        return Outcome.LIMIT_REACHED
    return Outcome.API_ERROR if _API.search(text) else Outcome.EXECUTION_ERROR


def is_harness_failure(text: str) -> bool:
    """Return whether a benchmark's harness failed.

    Its sandbox or image, the installation of the agent, its tests.

    The agent's outcome is unknown then, so such a run counts neither as completed nor as failed.
    """
    return _HARNESS.search(text) is not None


def outcome_of_trial_error(text: str) -> Outcome:
    """Return the outcome of a benchmark's trial with this error."""
    return Outcome.UNKNOWN if is_harness_failure(text) else outcome_of_error(text)


# Repair of UTF-8 that was decoded as Latin-1 or Windows-1252 (`â†’` for `→`). The raw record keeps
# the damage.

_LEADS = "ÂÃâðïÅÄÐÑãåæç"
_CONTINUATIONS = "\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
"""The first bytes and the continuation bytes of UTF-8, decoded as Windows-1252."""


def repair(text: str) -> str:
    """Return the text without mojibake.

    Each line is repaired separately, so that a bad one does not affect another.
    """
    leads = (
        "" if text.isascii() else "".join(lead for lead in _LEADS if lead in text)
    )  # the cheapest test first
    if not leads:
        return text
    mojibake, at = _mojibake(leads), 0
    parts: list[str] = []
    while found := mojibake.search(text, at):
        start = text.rfind("\n", 0, found.start()) + 1
        end = text.find("\n", found.end())
        end = len(text) if end < 0 else end
        parts += (text[at:start], _repaired_line(text[start:end]))
        at = end
    return "".join((*parts, text[at:])) if parts else text


@lru_cache(maxsize=256)
def _mojibake(leads: str) -> re.Pattern[str]:
    """Return a pattern of possible mojibake with these first bytes.

    Most texts have only one, found as fast as a single character.
    """
    return re.compile(f"[{leads}][{_CONTINUATIONS}]")


@lru_cache(maxsize=4096)
def _repaired_line(line: str) -> str:
    """Repair a line, cached: agents repeat lines, and ftfy is slow.

    It takes as long per line as pydantic per record.
    """
    return _fixer()(line)


@cache
def _fixer() -> Callable[[str], str]:
    """Return a repair function for encodings only.

    Importing it takes 25 ms, so only damaged text does.
    """
    import ftfy  # noqa: PLC0415

    encoding_only = ftfy.TextFixerConfig(
        unescape_html=False,
        remove_terminal_escapes=False,
        fix_encoding=True,
        restore_byte_a0=True,
        replace_lossy_sequences=True,
        decode_inconsistent_utf8=True,
        fix_c1_controls=False,
        fix_latin_ligatures=False,
        fix_character_width=False,
        uncurl_quotes=False,
        fix_line_breaks=False,
        fix_surrogates=False,
        remove_control_chars=False,
        normalization=None,
    )
    return partial(ftfy.fix_encoding, config=encoding_only)
