"""Repair of damaged text: UTF-8 that was decoded as Latin-1 or Windows-1252 (`â†’` for `→`).

The repaired text is shown, searched and read for claims; the raw record keeps the damage.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache, partial

_LEADS = "ÂÃâðïÅÄÐÑãåæç"
_CONTINUATIONS = "\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
"""The first bytes and the continuation bytes of UTF-8, decoded as Windows-1252."""


def repair(text: str) -> str:
    """The text without mojibake, otherwise unchanged. Each line is repaired by itself, so that one bad line does not affect another."""
    leads = "" if text.isascii() else "".join(lead for lead in _LEADS if lead in text)  # the cheapest test first
    return _repaired(text, _mojibake(leads)) if leads else text


def _repaired(text: str, mojibake: re.Pattern[str]) -> str:
    parts: list[str] = []
    at = 0
    while found := mojibake.search(text, at):
        start = text.rfind("\n", 0, found.start()) + 1
        end = text.find("\n", found.end())
        end = len(text) if end < 0 else end
        parts += (text[at:start], _repaired_line(text[start:end]))
        at = end
    return "".join((*parts, text[at:])) if parts else text


@lru_cache(maxsize=256)
def _mojibake(leads: str) -> re.Pattern[str]:
    """Pattern of possible mojibake with these first bytes. Most texts have one of them, which is searched as fast as a single character."""
    return re.compile(f"[{leads}][{_CONTINUATIONS}]")


@lru_cache(maxsize=4096)
def _repaired_line(line: str) -> str:
    """Cached: agents repeat lines, and ftfy takes as long for a line as pydantic for a record."""
    return _fixer()(line)


@cache
def _fixer() -> Callable[[str], str]:
    """Repairs encodings and nothing else. Imported only where there is damage: that takes 25 ms, and most logs have none."""
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
