"""Why runs did not complete.

One reason each, from the outcome, whether the run started, and the words of its error.

REASONS is the whole rule, in its order; `v_runs` has it as SQL. Docs and help print it.
"""

from __future__ import annotations

from dataclasses import dataclass

SET_UP, ACCOUNT, AGENT, PROVIDER, PERSON, UNKNOWN = (
    "set-up",
    "account",
    "agent",
    "provider",
    "person",
    "unknown",
)
WHOSE = {
    SET_UP: "Set-up",
    ACCOUNT: "Account",
    AGENT: "Agent",
    PROVIDER: "Provider",
    PERSON: "Person",
    UNKNOWN: "Unknown",
}
"""Who or what can change a reason → label."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason.

    `words`: a pattern (RE2, lower case) of its error texts, in runs that meet `when` (SQL).

    `outcome`: the outcome that implies it; for a reason with words, only if no reason's words
    match. `told` is the rule in words.
    """

    key: str
    whose: str
    label: str
    told: str
    words: str = ""
    when: str = ""
    outcome: str = ""

    @property
    def pattern(self) -> str:
        """The pattern of its words, or of the stand-in for texts that are dropped: `[quota]`."""
        return rf"{self.words}|\[{self.key}\]"


_CODE = r"(error|code|status|http)[^0-9]{0,12}"
"""Text before the number of an HTTP error, unlike before a line number of a traceback."""

_TRACEBACK = "traceback: "
_API = "(not is_started or outcome in ('api_error', 'limit_reached'))"
_ACCOUNT = "(not is_started or outcome in ('api_error', 'limit_reached', 'unknown'))"
_AT_START = (
    "(not is_started or record_kind = 'sidecar' and num_turns is null and first_edit_ms is null)"
)
"""Includes a process of which only the error is known. If a run worked, its error's words about
files concern its own work.
"""

NONE, OTHER = "none", "other"

REASONS = {
    reason.key: reason
    for reason in (
        Reason("max_turns", AGENT, "Step limit reached", "outcome max_turns", outcome="max_turns"),
        Reason(
            "max_budget", AGENT, "Cost limit reached", "outcome max_budget", outcome="max_budget"
        ),
        Reason(
            "no_output",
            AGENT,
            "Gave up: no valid output",
            "outcome max_structured_output_retries",
            outcome="max_structured_output_retries",
        ),
        Reason("refused", AGENT, "The model refused", "outcome refused", outcome="refused"),
        Reason(
            "limit",
            AGENT,
            "Context, output or time limit reached",
            (
                "an API error about the context window or the length of the output; outcome "
                "limit_reached with no other reason"
            ),
            (
                r"context.?(length|window|limit)|maximum context|(prompt|input) is too "
                r"long|max_tokens|output.?length|output token maximum"
            ),
            _API,
            "limit_reached",
        ),
        Reason(
            "quota",
            ACCOUNT,
            "Quota or usage limit used up",
            "quota, usage limit, rate limit, HTTP 429, credits",
            r"quota|usage limit|rate.?limit|too many "
            rf"(requests|tokens)|throttl|{_CODE}429|credit balance|out of credits"
            r"|hit your (\w+ )?limit|limit (will )?resets?|reached your .{0,"
            r"40}limit|resource_exhausted",
            _ACCOUNT,
        ),
        Reason(
            "sign_in_expired",
            SET_UP,
            "Cloud sign-in expired",
            "SSO, a token or session that expired",
            (
                r"\bsso\b|token (has |is )?expired|expiredtoken|session (has |is "
                r")?expired|config profile"
            ),
            _ACCOUNT,
        ),
        Reason(
            "not_signed_in",
            SET_UP,
            "Not signed in",
            "not logged in, /login",
            r"not (logged|signed) in|/login\b",
            _ACCOUNT,
        ),
        Reason(
            "api_key",
            SET_UP,
            "API key refused",
            "HTTP 401 or 403; a key or credentials that are missing, wrong or refused",
            (
                rf"{_CODE}40[13]|api[ "
                r"_-]?key|unauthori[sz]ed|authenticat|credential|forbidden|access ?denied"
            ),
            _ACCOUNT,
        ),
        Reason(
            "model",
            SET_UP,
            "Model not available",
            "a model that does not exist, or that the account has no access to",
            r"model.{0,80}(not found|does not exist|not available|not supported|no "
            r"access)|not_found_error.{0,40}model"
            r"|model_not_found|unknown model|invalid model",
            _API,
        ),
        Reason(
            "conversation",
            AGENT,
            "Agent sent a conversation the API refuses (tool results)",
            "an API error about tool calls, their results, or the order of messages",
            (
                r"tool.?(results?|use|calls?|output)\b|role .?tool|function.?call|roles "
                r"must|must alternate|thinking.? blocks?"
            ),
            "outcome = 'api_error'",
        ),
        Reason(
            "request",
            AGENT,
            "API refused the request (400), other",
            "HTTP 400, 413 or 422",
            rf"{_CODE}(400|413|422)|bad request|invalid_request|validationexception",
            "outcome = 'api_error'",
        ),
        Reason(
            "provider",
            PROVIDER,
            "Network or provider down",
            "connections, time-outs, HTTP 5xx, overload",
            r"connection (error|refused|reset|aborted|closed|timed "
            r"out)|connect(ion)?error|network|timed? ?out|name resolution|getaddrinfo"
            r"|\b(econnre|etimedout|enotfound|eai_again)|socket hang up|fetch failed|stream "
            r"disconnected|overloaded"
            rf"|{_CODE}5[0-9][0-9]|service.?unavailable|bad gateway|internal server error",
            "(outcome = 'api_error' or not is_started and outcome <> 'limit_reached')",
        ),
        Reason(
            "machine",
            SET_UP,
            "Disk or memory full",
            "no space left, out of memory",
            (
                r"enospc|no space left|disk (is )?full|out.?of.?memory|cannot allocate "
                r"memory|oom.?kill"
            ),
            "(not is_started or outcome in ('execution_error', 'unknown'))",
        ),
        Reason(
            "answer",
            AGENT,
            "Agent could not read the model's answer",
            "JSON that is invalid or ends early, in a run that got to work",
            r"unterminated string|expecting (value|property name|.,. delimiter|.:. "
            r"delimiter)|jsondecode|extra data: line"
            r"|unexpected (end of (json|input)|token .{0,40}json)|invalid (control "
            r"character|json)|(failed|unable) to parse",
            f"not {_AT_START} and outcome in ('execution_error', 'api_error')",
        ),
        Reason(
            "interrupted",
            PERSON,
            "Interrupted",
            "outcome interrupted; a broken pipe or a signal before the run got to work",
            r"broken pipe|keyboardinterrupt|\bsig(int|term|hup)\b|cancell?ed by|aborted by",
            "not is_started",
            "interrupted",
        ),
        Reason(
            "start_crash",
            SET_UP,
            "The agent's program crashed at its start",
            "a traceback, or a module that is missing, before the run got to work",
            rf"^{_TRACEBACK}|modulenotfounderror|importerror|no module named|cannot "
            r"(import|find module)|shared librar|segmentation fault"
            r"|core dumped|panicked at",
            f"{_AT_START} and outcome <> 'unknown'",
        ),
        Reason(
            "harness",
            SET_UP,
            "The benchmark's harness or sandbox failed",
            (
                "Docker, containers or sandboxes before the run got to work; an error of a "
                "benchmark without an outcome of the run"
            ),
            "docker|sandbox|container",
            "not is_started",
            "unknown",
        ),
        Reason(
            "no_program",
            SET_UP,
            "The agent's program is not there",
            "a program or file that was not found before the run got to work",
            (
                r"no such file or directory|command not found|not recognized "
                r"as|\benoent\b|permission denied"
            ),
            "not is_started",
        ),
        Reason(
            "crash",
            AGENT,
            "The agent's program crashed",
            "a traceback of a run that got to work",
            rf"^{_TRACEBACK}|segmentation fault|core dumped|panicked at",
            "outcome = 'execution_error'",
        ),
        Reason(NONE, UNKNOWN, "No reason recorded", "no error text"),
        Reason(OTHER, UNKNOWN, "Other reasons", "an error text that no rule knows"),
    )
}
"""Every reason: first those implied by the outcome, then those whose words match the error, in this
order.
"""

_BY_WORDS = [reason for reason in REASONS.values() if reason.words]

REASON_SQL = " ".join(
    (
        "case when outcome = 'completed' or outcome = 'unknown' and error_told is null then null",
        *(
            f"when outcome = '{one.outcome}' then '{one.key}'"
            for one in REASONS.values()
            if one.outcome and not one.words
        ),
        *(
            f"when {one.when} and regexp_matches(error_told, '{one.pattern}') then '{one.key}'"
            for one in _BY_WORDS
        ),
        *(f"when outcome = '{one.outcome}' then '{one.key}'" for one in _BY_WORDS if one.outcome),
        f"when error_told is null then '{NONE}' else '{OTHER}' end",
    )
)
WHOSE_SQL = (
    f"map {{{', '.join(f'{one.key!r}: {one.whose!r}' for one in REASONS.values())}}}[reason]"
)
"""A map, because DuckDB plans a long IN as a join, which every query would pay for."""

ERROR_SQL = (
    "case when outcome <> 'completed' then nullif(trim(coalesce(errors, case when is_error then "
    "result end)), '') end"
)
"""`error_text`, the text of the error; some agents write it in place of the summary."""

_IS_TRACEBACK = "contains(error_text, 'File \"')"
_RAISED = (
    r"regexp_extract_all(error_text, '(?m)^[A-Za-z_][A-Za-z0-9_.]*(Error|Exception|Exit)\b.*$')[-1]"
)
_LINES = "regexp_extract_all(error_text, '(?m)^.*[A-Za-z].*$')"
TOLD_SQL = (
    f"case when {_IS_TRACEBACK} then '{_TRACEBACK}' || lower(coalesce({_RAISED}, '')) else "
    "lower(error_text) end"
)
"""`error_told`, the text that decides the reason: of a traceback only the exception, without the
code around it.
"""

MESSAGE_SQL = (
    f"case when reason is not null then left(trim(case when {_IS_TRACEBACK} then "
    f"coalesce({_RAISED}, {_LINES}[-1]) else {_LINES}[1] end), 300) end"
)

_RULES = ", ".join(f"{{'key': '{one.key}', 'words': '{one.words}'}}" for one in _BY_WORDS)
STAND_IN_SQL = (
    "case when error_told is not null then "
    f"coalesce(nullif(array_to_string(list_transform(list_filter([{_RULES}], lambda rule: "
    "regexp_matches(error_told, rule.words)), lambda rule: '[' || rule.key || ']'), ' '), ''), "
    f"'[{OTHER}]') end"
)
"""Stand-in for an error text where texts are dropped; it leads to the same reason."""

_ID = r"\b[a-z]+_[a-z_]*[A-Z0-9][A-Za-z0-9_-]{7,}|\b[0-9a-f]{8,}\b"
MASKED_SQL = (
    f"regexp_replace(regexp_replace(failure_message, '{_ID}', '…', 'g'), '[0-9]+', '#', 'g')"
)
"""The error with masked ids and numbers, so that texts that differ only in these are one."""
