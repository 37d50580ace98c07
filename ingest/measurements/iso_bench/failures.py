"""Why a benchmark of ISO-Bench gave no values, and whether the patch was in the code, from its error and its log.

The harness books any server that does not start after the patch as "Server crashed after applying patch". The log often shows another
cause, which is not the fault of the change: a model that does not exist, a missing package, no memory, arguments that the benchmark does
not know.
"""

from __future__ import annotations

import re
from collections import deque

from ingest.measurements.base import lines_of
from schemas.rows.measurement import Failure, PatchApplied, Variant

_LONGEST = 2000
_TELLING_LINES = 12

_PATCH = re.compile(r"patch[_ ]failed|patch does not apply|corrupt patch|only non-Python files|no patch|empty patch", re.IGNORECASE)
_TIMEOUT = re.compile(r"timed[ _]?out|timeout", re.IGNORECASE)
_ENDED_BY_CLOCK = re.compile(r"timed out after \d+")
_INCORRECT = re.compile(
    r"(?:wrong|incorrect|different) (?:result|output)s?|equivalence check failed|outputs? (?:mismatch|differ)", re.IGNORECASE
)
_NO_MEMORY = re.compile(r"out of memory|OutOfMemory|No available memory for the cache|Free memory on device")
_NOT_OF_THE_CHANGE = re.compile(
    r"""(?x)
    \b40[134]\ (?:Client\ Error|Not\ Found) | \(404\ Not\ Found\) | Repository\ ?Not\ ?Found | GatedRepo | gated\ repo
    | Invalid\ repository\ ID | not\ a\ valid\ model\ identifier | Unknown\ RoPE\ scaling | fundamental\ model\ compatibility
    | unrecognized\ arguments | arguments\ are\ required | error:\ argument | No\ perf_command
    | Error\ response\ from\ daemon | manifest\ unknown | no\ space\ left | Sandbox\ error | Broken\ pipe
    | cancelled\ by\ user | Lookup\ failed | index\.lock | No\ such\ file\ or\ directory:\ '/(?:cache|data)
    | No\ (?:baseline\ )?wheel | wheel\ (?:not\ available|install\ failed) | install\ failed | install\ baseline\ wheel
    | Missing\ parent_commit | baseline\ image | Could\ not\ find\ vLLM | port\ binding\ bug
    | exceeds\ the\ total\ number\ of\ available\ GPUs | Requires\ tensor-parallel
    | No\ module\ named\ '(?!(?:vllm|sglang)\.) | cannot\ import\ name\ \S++\ from\ '(?!vllm|sglang) | is\ not\ installed\.
    | undefined\ symbol
    | is\ required\ for\ a\ normal\ functioning | Could\ not\ load\ any\ common_ops | Tokenizer(?:(?!Tokenizer)\w)*+\ has\ no\ attribute
    """
)
_DID_NOT_START = re.compile(r"(?:failed|fails) to start|server crashed|SERVER_(?:CRASHED|START_FAILED)", re.IGNORECASE)
_CRASH = re.compile(
    r"[Cc]rash|CRASH|[Ff]ailed to start|Traceback|(?:Error|Exception)\b|core dumped|\bKilled\b|build failed|exit (?:code|status)"
)

_REJECTED = re.compile(r"(?<!\d)(\d++) out of (\d++) hunks? FAILED -- saving rejects")
_FAILED_ON_TRIAL = re.compile(r"\d out of \d++ hunks? FAILED$", re.MULTILINE)
_NOT_APPLIED = re.compile(r"patch result rc=[1-9]|patch does not apply|Patch failed|Patch contains only non-Python")
_PARTLY = re.compile(r"hunks?[ _]skipped|skipp(?:ed|ing) \d+ (?:\S+ )?hunks?", re.IGNORECASE)
_APPLIED = re.compile(r"AGENT_PATCH_APPLIED|Patch applied successfully|patch result rc=0|\+ patch$", re.MULTILINE)
_WRITTEN = re.compile(r"^patching file \S++(?<!\.diff)$", re.MULTILINE)
"""A patch that contains itself, as some agents leave it, writes nothing of the code with it."""


def failure_of(
    status: str | None, error: str | None, log: str = "", variant: Variant | None = None, *, baseline_ran: bool | None = None
) -> Failure:
    """Why a benchmark failed. `baseline_ran`: whether the same job gave values for the code before the change; None: unknown.

    Where it did, memory and server suffice, and a change that lacks them is at fault. Where it did not, nothing is.
    """
    told = f"{status or ''}\n{error or ''}"
    everything = f"{told}\n{log}"
    is_changed = variant in (Variant.CANDIDATE, None)
    never_starts = variant is Variant.REFERENCE or baseline_ran is False
    causes = (
        (Failure.PATCH, is_changed and _PATCH.search(told)),
        (Failure.TIMEOUT, _TIMEOUT.search(told) or _ENDED_BY_CLOCK.search(log)),
        (Failure.INFRASTRUCTURE, variant is Variant.BASELINE and (error or log)),
        (Failure.INFRASTRUCTURE, _NOT_OF_THE_CHANGE.search(everything)),
        (Failure.INFRASTRUCTURE, not baseline_ran and _NO_MEMORY.search(everything)),
        (Failure.INFRASTRUCTURE, never_starts and _DID_NOT_START.search(told)),
        (Failure.INCORRECT, _INCORRECT.search(told)),
        (Failure.CRASH, _CRASH.search(everything)),
    )
    return next((failure for failure, found in causes if found), Failure.UNKNOWN)


def detail_of(error: str | None, log: str = "") -> str | None:
    """The error, and the lines of the log that tell of one; of a log without such lines its end. At most 2,000 characters."""
    telling = (line for line in lines_of(log) if _NOT_OF_THE_CHANGE.search(line) or _NO_MEMORY.search(line) or _CRASH.search(line))
    lines = [line.strip() for line in deque(telling, _TELLING_LINES)]
    told = "\n".join(dict.fromkeys(lines)) if lines else log.strip()
    parts = [(error or "")[:_LONGEST].strip(), told[-_LONGEST:]]
    return "\n".join(part for part in parts if part)[:_LONGEST] or None


def patch_in(told: object, log: str) -> PatchApplied:
    """Whether the patch was applied. `told`: the field that says so, true or false. A log with rejected hunks goes before it."""
    rejected = _REJECTED.findall(log)
    if rejected:
        whole = sum(count == of for count, of in rejected)
        return PatchApplied.PARTIAL if max(len(rejected), len(_WRITTEN.findall(log))) > whole else PatchApplied.NO
    if _PARTLY.search(log):
        return PatchApplied.PARTIAL
    if isinstance(told, bool):
        return PatchApplied.YES if told else PatchApplied.NO
    if _NOT_APPLIED.search(log) or _FAILED_ON_TRIAL.search(log):
        return PatchApplied.NO
    return PatchApplied.YES if _APPLIED.search(log) else PatchApplied.UNKNOWN
