"""Lines of a transcript that are passed over: of the output of tools, and of progress, only the time is read, from the bytes.

Such lines are three quarters of a transcript, and most tell its reader nothing else. A line is passed over only where its bytes show that:

- it begins as Claude Code writes it, up to its type and the type of its first block, and who wrote it where (session, folder, version, …)
  was read on another line before;
- nothing that the reader looks for is on it (`_MARKS`): tokens, a failed call, an interruption, …;
- it has one time, and ends with a brace.

Any other line is parsed. So no tokens are missed, however a line is written. A line that is broken in the middle of such an output, and has
none of the marks, is not noticed.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from ahocorasick_rs import BytesAhoCorasick

from ingest.agents.claude_code.transcript_facts import SessionFacts
from ingest.agents.claude_code.transcript_times import PLAIN_LENGTH, is_plain
from ingest.agents.shared.runs import By

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_FRAME = rb'"isSidechain":(true|false),(?:"\w+":(?:true|false|null|%b),)*?' % _STRING
_OUTPUT = rb'user","message":\{"role":"user","content":\[\{"tool_use_id":"([^"\\]*+)","type":"tool_result",'
_BEGINNING = re.compile(rb'\{"parentUuid":(?:null|%b),(%b)"type":"(?:progress","data":|%b)' % (_STRING, _FRAME, _OUTPUT))
"""The beginning of a line that may be passed over. Groups: whose line it is, whether it is one of a side chain, and the tool call that it
answers."""

_MARKS = (b'"usage"', b'"[Request interrupted by user', b'"searchCount"', b'"permissionMode"', b'"forkedFrom"', b'"session_id"')
"""What the reader looks for on such lines, and a name that only lines of other agents have. Quotes in the output of a tool are escaped."""

_FAILURE = b'"is_error"'
_NONE_FAILED = b":false"
_TIME = b'"timestamp":"'

FRAMES_KEPT = 1000
"""Beginnings of lines that are remembered of one file. Real files have a few."""


class PassedLines:
    """Passes over lines of one transcript, and notes their times in its facts.

    `count`: lines that were passed over; `answered`: the tool calls whose results are on them. Lines are looked at ahead of those that are
    read: a result may be here before its call was read.
    """

    def __init__(self, facts: SessionFacts) -> None:
        self.count = 0
        self.answered: set[str] = set()
        self._facts = facts
        self._frames: set[bytes] = set()
        self._data = b""
        self._marks: list[int] = []
        self._times: list[int] = []

    def look_at(self, data: bytes) -> None:
        """Look for marks and times in the bytes whose lines come next."""
        failures = (end for _, end in _found(_FAILURE, data) if not data.startswith(_NONE_FAILED, end))
        self._data = data
        self._marks = sorted((*(start for mark in _MARKS for start, _ in _found(mark, data)), *failures, len(data)))
        self._times = [*(end for _, end in _found(_TIME, data)), len(data), len(data)]

    def takes(self, start: int, end: int) -> bool:
        """Whether the line from `start` to `end` is passed over; its time is noted then. Lines must come in their order."""
        if self._marks[bisect_left(self._marks, start)] < end or not (begins := _BEGINNING.match(self._data, start, end)):
            return False
        frame, is_sidechain, call = begins.groups()
        if frame not in self._frames:
            if b'"sessionId":"' in frame and len(self._frames) < FRAMES_KEPT:
                self._frames.add(frame)
            return False
        if self._facts.prompt is None and is_sidechain == b"false":
            return False
        if self._data[end - 1] != _BRACE or not self._has_time(start, end):
            return False
        self.count += 1
        if call:
            self.answered.add(call.decode("utf-8", "replace"))
        return True

    def _has_time(self, start: int, end: int) -> bool:
        """Whether the line has one time, which is noted."""
        place = bisect_left(self._times, start)
        at = self._times[place]
        if at >= end or self._times[place + 1] < end:
            return False
        stamp = self._data[at : at + PLAIN_LENGTH].decode("latin-1")
        if not is_plain(stamp) or not stamp.isascii() or self._data[at + PLAIN_LENGTH] != _QUOTE:
            return False
        self._facts.stamps.note(stamp, By.TOOL)
        return True


_BRACE, _QUOTE = b'}"'
_SEARCHES = {mark: BytesAhoCorasick([mark]) for mark in (*_MARKS, _FAILURE, _TIME)}
"""One search for each mark: for a single word the library compares 32 bytes at a time, ten times as fast as for several."""


def _found(mark: bytes, data: bytes) -> list[tuple[int, int]]:
    """(start, end) of every place of a mark, in order."""
    return [(start, end) for _, start, end in _SEARCHES[mark].find_matches_as_indexes(data)]
