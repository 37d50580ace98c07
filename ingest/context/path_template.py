"""Facts in the path of a log, by a template: `runs/{repo}/{agent}/{model}/{timestamp}/{task}/*`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

from ingest.facts import NO_FACTS, PATH_RANK, Facts
from ingest.sources.times import TIME_PATTERN, lenient_time, time_of_path
from schemas.errors import UsageError

COLUMNS = ("repo", "task", "experiment", "effort")
"""Names in a template that are columns of `runs`. `timestamp` is the start of the run; any other
name becomes a label.
"""

_TOKEN = re.compile(r"\{([^{}/]*)\}|(\*+)|([^{}*]+)|([{}])")
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_ANY, _SOME = "(.+?)", ".*"

_LONGEST_SEGMENT = 255
"""Longest file or folder name matched, as in file systems: with a star inside, the time grows with
the square of the length.
"""

_HINT = "For example: runs/{repo}/{agent}/{timestamp}/{task}/*"


@dataclass(frozen=True)
class PathTemplate:
    """A pattern for the end of a path, with names for its parts."""

    text: str
    names: tuple[str, ...]
    _head: tuple[re.Pattern[str], ...] = field(repr=False)
    _tail: tuple[re.Pattern[str], ...] | None = field(repr=False)
    """The segments behind `**`, if present."""

    @classmethod
    def parse(cls, text: str) -> PathTemplate:
        """Parse the text of a template. Raises UsageError.

        `{name}` is one segment or a part of it (the shortest that fits), `*` is one segment or a
        part, `**` is any number of segments. A template that begins with `/` must match the whole
        path, any other the shortest end of it that fits.
        """
        segments = [segment for segment in text.split("/") if segment not in ("", ".")]
        names = tuple(name for segment in segments for name in _names(text, segment))
        if not names:
            raise UsageError(f"the path template {text!r} has no names in braces.", _HINT)
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(
                f"the path template {text!r} has {{{twice[0]}}} more than once.",
                "Use each name once.",
            )
        if segments.count("**") > 1:
            raise UsageError(
                f"the path template {text!r} has ** more than once.",
                "Use ** once; a template is for the end of a path anyway.",
            )
        between = segments.index("**") if "**" in segments else len(segments)
        head, tail = (
            tuple(map(_segment, part)) for part in (segments[:between], segments[between + 1 :])
        )
        return cls(text, names, head, tail if "**" in segments else None)

    def match(self, path: str, zone: tzinfo = UTC) -> Facts | None:
        """Return the facts in the path; None if the template does not fit.

        In a path without `/` a backslash is the separator.

        `zone` applies to timestamps without one. An invalid timestamp becomes a label, so that
        nothing is lost.
        """
        clean = path.encode("utf-8", "replace").decode()
        clean = clean if "/" in clean else clean.replace("\\", "/")
        values = self._values(clean.split("/"))
        if values is None:
            return None
        parts = dict(zip(self.names, values, strict=True))
        started_at = lenient_time(parts["timestamp"], zone) if "timestamp" in parts else None
        columns: dict[str, Any] = {name: parts[name] for name in COLUMNS if name in parts}
        labels = {
            name: value
            for name, value in parts.items()
            if name not in COLUMNS and not (started_at and name == "timestamp")
        }
        return Facts(**columns, labels=labels, started_at=started_at)

    def _values(self, path: list[str]) -> list[str] | None:
        """Return the values of the names in a path's segments, in time linear in its length."""
        is_whole = self.text.startswith("/")
        path = path[1:] if is_whole and not path[0] else path
        tail = self._tail or ()
        end = len(path) - len(tail)
        last = end - len(self._head) - (self._tail == ())  # ** at the end is one segment at least
        if last < 0 or (values := _parts(tail, path[end:])) is None:
            return None
        earliest = last if self._tail is None else 0
        for start in range(last, earliest - 1, -1):
            if start + len(self._head) < end and not path[start + len(self._head)]:
                return None
            if (start == 0 or not is_whole) and (
                found := _parts(self._head, path[start : start + len(self._head)])
            ) is not None:
                return found + values
        return None


@dataclass(frozen=True)
class PathReading:
    """Reads paths, optionally by a template. `zone`: of times without one."""

    template: PathTemplate | None = None
    zone: tzinfo = UTC

    def facts(self, name: str, path: Path | None = None) -> Facts:
        """Return the facts by the template, if it fits the name or the whole path.

        A time in the name needs no template.
        """
        found = None
        if self.template:
            found = self.template.match(name, self.zone) or (
                self.template.match(str(path.absolute()), self.zone) if path else None
            )
        found = found or NO_FACTS
        started_at = found.started_at or time_of_path(name, self.zone)
        if path and not started_at and (place := str(path)) != name:
            started_at = time_of_path(place, self.zone)
        if found is NO_FACTS and not started_at:
            return NO_FACTS
        return replace(found, started_at=started_at, context_rank=PATH_RANK)


def _names(text: str, segment: str) -> Iterator[str]:
    """Yield the names in one segment of the template. Raises UsageError."""
    if segment != "**" and len(re.findall(r"\*+(?!\*|\Z)", segment)) > 1:
        raise UsageError(
            f"the path template {text!r} has * more than once in {segment!r}.",
            "Use * once in a segment, and once more at its end.",
        )
    for name, stars, _, brace in _TOKEN.findall(segment):
        if brace:
            raise UsageError(f"the path template {text!r} has an unmatched {brace!r}.", _HINT)
        if len(stars) > 2 or (len(stars) == 2 and segment != "**"):
            raise UsageError(
                f"the path template {text!r} has {stars!r} inside {segment!r}.",
                "Write ** alone between slashes.",
            )
        if name and not _NAME.fullmatch(name):
            hint = "A name has letters, digits, _, - and ., and begins with a letter."
            raise UsageError(f"the path template {text!r} has the invalid name {name!r}.", hint)
        if name:
            yield name
        elif "{}" in segment:
            raise UsageError(f"the path template {text!r} has braces without a name.", _HINT)


def _parts(patterns: tuple[re.Pattern[str], ...], segments: list[str]) -> list[str] | None:
    """Return the values of the names in some segments of a template; None if one does not fit."""
    values: list[str] = []
    for pattern, segment in zip(patterns, segments, strict=False):
        found = pattern.fullmatch(segment) if len(segment) <= _LONGEST_SEGMENT else None
        if not found:
            return None
        values += found.groups()
    return values


def _segment(segment: str) -> re.Pattern[str]:
    """Return one segment as a regular expression.

    A name and the text behind it are an atomic group: the first match is the right one, since the
    next part begins with a name or a star, which match any text. So a path that does not fit is not
    tried with every split of its characters. Beside other text a timestamp matches only a time, so
    that {task}_{timestamp} is split at the right place.
    """
    groups = [""]
    for name, stars, literal, _ in _TOKEN.findall(segment):
        if literal:
            pattern = re.escape(literal)
        elif stars:
            pattern = _SOME
        else:
            pattern = (
                f"({TIME_PATTERN})" if name == "timestamp" and segment != "{timestamp}" else _ANY
            )
        if pattern in (_ANY, _SOME):
            groups.append("")
        groups[-1] += pattern
    groups[-1] += r"\Z"
    pattern = "".join(group if group.startswith(_SOME) else f"(?>{group})" for group in groups)
    return re.compile(".+" if segment == "*" else pattern, re.DOTALL)
