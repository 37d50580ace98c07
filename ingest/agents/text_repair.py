"""Repair of damaged text: UTF-8 that somebody read as Latin-1 or Windows-1252 (`â†’` for `→`).

The repaired text is what is shown, searched and read for claims; the raw record keeps the damage.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache, partial

_LEADS = "ÂÃâðïÅÄÐÑãåæç"
_CONTINUATIONS = "\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
"""Bytes of UTF-8 that begin a character, and those that go on with it, as Windows-1252 reads them."""


def repair(text: str) -> str:
    """The text without mojibake; anything else about it stays. Line by line, so that one bad line spoils no other."""
    leads = "" if text.isascii() else "".join(lead for lead in _LEADS if lead in text)  # cheapest question first
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
    """Where a text that has these leads may need repair. Most have one of them, which is found as fast as any character."""
    return re.compile(f"[{leads}][{_CONTINUATIONS}]")


@lru_cache(maxsize=4096)
def _repaired_line(line: str) -> str:
    """Agents repeat themselves, and ftfy takes as long for a line as pydantic for a record."""
    return _fixer()(line)


@cache
def _fixer() -> Callable[[str], str]:
    """Mends encodings and nothing else. Loaded where there is damage: that takes 25 ms, and most logs have none."""
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
