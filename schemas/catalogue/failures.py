"""Why runs did not complete: causes of the infrastructure (account, network, machine, model) apart from those of the agent itself.

From the outcome, whether the run got to work, and the words of its error. One definition: `v_runs` has it as SQL.
"""

from __future__ import annotations

from dataclasses import dataclass

INFRASTRUCTURE, AGENT, UNATTRIBUTED = "infrastructure", "agent", "unattributed"


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause. `words`: a pattern (RE2, lower case) of error texts that tell it, none where the outcome does."""

    key: str
    by: str
    label: str
    words: str = ""


_CODE = r"(error|code|status|http)[^0-9]{0,12}"
"""What stands before the number of an HTTP error, which a line number of a traceback has not."""

CAUSES = {
    cause.key: cause
    for cause in (
        Cause(
            "quota", INFRASTRUCTURE, "quota or rate limit of the account",
            rf"quota|usage limit|rate.?limit|too many requests|{_CODE}429|credit balance|out of credits|hit your (\w+ )?limit"
            r"|limit (will )?resets?|reached your .{0,40}limit|resource_exhausted",
        ),
        Cause(
            "credentials", INFRASTRUCTURE, "credentials missing or refused",
            rf"{_CODE}40[13]|api[ _-]?key|unauthori[sz]ed|authenticat|credential|not logged in|/login\b|\bsso\b|token has expired"
            r"|config profile|forbidden|access ?denied",
        ),
        Cause(
            "model", INFRASTRUCTURE, "model not available",
            r"model.{0,80}(not found|does not exist|not available|not supported|no access)|model_not_found|unknown model|invalid model",
        ),
        Cause(
            "limit", AGENT, "limit of context or time",
            r"context.?(length|window)|maximum context|prompt is too long|too many tokens|context_length|max_tokens|output.?length",
        ),
        Cause(
            "request", AGENT, "invalid request to the model",
            rf"{_CODE}(400|413|422)|bad request|invalid_request|validationexception",
        ),
        Cause(
            "network", INFRASTRUCTURE, "network or the model's service",
            r"connection (error|refused|reset|aborted|closed|timed out)|connect(ion)?error|network|timed? ?out|name resolution|getaddrinfo"
            r"|\b(econnre|etimedout|enotfound|eai_again)|socket hang up|fetch failed|stream disconnected|overloaded"
            rf"|{_CODE}5[0-9][0-9]|service.?unavailable|bad gateway|internal server error",
        ),
        Cause(
            "machine", INFRASTRUCTURE, "machine or installation",
            r"enospc|no space left|disk (is )?full|out of memory|outofmemory|cannot allocate memory|\boom\b|no such file or directory"
            r"|permission denied|command not found|modulenotfounderror|importerror|no module named|cannot import|docker|sandbox",
        ),
        Cause("never_started", INFRASTRUCTURE, "never started"),
        Cause("harness", INFRASTRUCTURE, "the benchmark's harness failed"),
        Cause("max_turns", AGENT, "maximum of turns"),
        Cause("max_budget", AGENT, "maximum of cost"),
        Cause("max_structured_output_retries", AGENT, "gave up: no valid output"),
        Cause("refused", AGENT, "refused"),
        Cause("error", AGENT, "error of the agent"),
        Cause("api", UNATTRIBUTED, "the model's API, no reason logged"),
        Cause("interrupted", UNATTRIBUTED, "interrupted"),
    )
}  # fmt: skip
"""Every cause. Of those with words the first whose pattern the text matches counts."""

_TEXT = "coalesce(errors, case when is_error then result end)"
"""The text of the error, as SQL: some agents write it in the place of the summary."""

_LINES = f"list_filter(string_split({_TEXT}, chr(10)), lambda line: regexp_matches(line, '[A-Za-z]'))"
_RAISED = f"list_filter({_LINES}, lambda line: regexp_matches(line, '^[A-Za-z_][A-Za-z0-9_.]*(Error|Exception|Exit)\\b'))[-1]"
_IS_TRACEBACK = f"contains({_TEXT}, 'File \"')"
TOLD = f"lower(coalesce(case when {_IS_TRACEBACK} then coalesce({_RAISED}, '') else {_TEXT} end, ''))"
"""`error_told`, what of the text tells the cause: of a traceback the exception, and not the code around it."""

MESSAGE_SQL = (
    "case when failure_cause is not null then"
    f" left(trim(case when {_IS_TRACEBACK} then coalesce({_RAISED}, {_LINES}[-1]) else {_LINES}[1] end), 300) end"
)

_BY_OUTCOME = ("max_turns", "max_budget", "max_structured_output_retries", "refused")
_MACHINE = r"enospc|no space left|disk (is )?full|out of memory|cannot allocate memory"


def _when(keys: tuple[str, ...]) -> str:
    return " ".join(f"when regexp_matches(error_told, '{CAUSES[key].words}') then '{key}'" for key in keys)


CAUSE_SQL = (
    "case when outcome = 'completed' or outcome = 'unknown' and errors is null then null"
    f" when outcome in ({', '.join(map(repr, _BY_OUTCOME))}) then outcome"
    f" when not is_started then case {_when(('quota', 'credentials', 'model', 'network', 'machine'))} else 'never_started' end"
    f" when outcome = 'unknown' then case {_when(('quota', 'credentials', 'machine'))} else 'harness' end"
    f" when outcome = 'limit_reached' then case {_when(('limit', 'quota'))} else 'limit' end"
    f" when outcome = 'api_error' then case {_when(('quota', 'credentials', 'model', 'limit', 'request', 'network'))} else 'api' end"
    " when outcome = 'interrupted' then 'interrupted'"
    f" when regexp_matches(error_told, '{_MACHINE}') then 'machine' else 'error' end"
)
"""The cause of a run that did not complete. What an error text says of a machine is the agent's own work, once the run has started."""

STAND_INS = {
    CAUSES["quota"].words: "quota", CAUSES["credentials"].words: "credentials", CAUSES["model"].words: "unknown model",
    CAUSES["limit"].words: "context window", CAUSES["request"].words: "bad request", CAUSES["network"].words: "network",
    CAUSES["machine"].words: "command not found", _MACHINE: "no space left",
}  # fmt: skip
STAND_IN_SQL = (
    "list_transform(["
    + TOLD
    + "], lambda told: nullif(concat_ws(', ', "
    + ", ".join(f"case when regexp_matches(told, '{words}') then '{word}' end" for words, word in STAND_INS.items())
    + "), ''))[1]"
)
"""What stands for the text of an error that was said in a session, where such texts are left out: it tells the same cause."""

BY_SQL = " ".join(
    [
        "case",
        *(
            f"when failure_cause in ({', '.join(repr(cause.key) for cause in CAUSES.values() if cause.by == by)}) then '{by}'"
            for by in (INFRASTRUCTURE, AGENT, UNATTRIBUTED)
        ),
        "end",
    ]
)
