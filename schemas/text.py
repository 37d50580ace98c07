r"""Characters that deceive people or control a terminal.

The list of them, and how each place shows them.

| Place | How they are shown |
|---|---|
| terminal: tables (also with `-o`), notes, errors | `one_line`: U+FFFD for each, a blank for ends
  of lines |
| md, html, pages of the dashboard | `visible` or `one_line` |
| json, jsonl | `in_json`: `\u009b`, so that a program reads exactly what the record says and a
  terminal obeys nothing |
| csv in a file or a pipe | exact, with a `'` in front of cells that a spreadsheet would run
  (`app.reports.exports.values`) |
| csv on a terminal | `visible` |
| xlsx | `visible`; U+FFFE and U+FFFF, which XML forbids too, are replaced |
| parquet, the store, downloads of raw records | exact |

Lone surrogates, which JSON can write and no encoding can, are replaced before anything is stored:
`paired`. The raw record keeps its escapes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any

REPLACEMENT = "\ufffd"

MOST_MEANT = 3

_COMMANDS = "\\x00-\\x08\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f"
"""C0, DEL and C1, without line ends and the tab."""

_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Marks, embeddings, overrides and isolates that change the reading order of text."""

_INVISIBLE = "\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e007f"  # noqa: E501
"""Characters without width, which make two texts look alike. Not variation selectors, which choose
how a character is drawn.
"""

_JOINERS = "\u200c\u200d"
"""Needed by emoji and by scripts from Arabic on; invisible between letters of other scripts."""

_JOINED = "[\u0600-\u061b\u061d-\u180d\u180f-\u1fff\u2190-\ud7ff\uf900-\ufefe\uff00-\uffef\U00010000-\U0001d172\U0001d17b-\U0003ffff]"  # noqa: E501
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
"""The flag of a region, such as Scotland: the one use of tag characters."""

_ENDS = "\\x0b\\x0c\\x85\u2028\u2029"
"""Line ends to some programs only."""

_HOSTILE = re.compile(
    f"({_FLAG})|[{_COMMANDS}{_DIRECTIONS}{_INVISIBLE}{_ENDS}\ud800-\udfff]|(?<!{_JOINED})[{_JOINERS}]|\r(?!\n)"
)
_UNSEEN = re.compile(f"\\A[\\s{_COMMANDS}{_DIRECTIONS}{_INVISIBLE}{_ENDS}{_JOINERS}\ufe00-\ufe0f]*")
_ENDS_OF_LINES = dict.fromkeys(map(ord, "\x0b\x0c\x85\u2028\u2029\r"), "\n")
_ON_ONE_LINE = dict.fromkeys(map(ord, "\t\n\r"), " ")


def visible(text: str) -> str:
    """Replace each deceiving or commanding character by a visible one; lines and tabs stay."""
    return text if text.isprintable() else _HOSTILE.sub(_sign, text)


def quoted(text: str, most: int | None = None) -> str:
    """Return a piece of Markdown as a quote on one line, without signs for bold and code.

    These signs may be unbalanced in the piece.

    `most`: maximal length; a longer quote ends with `…`.
    """
    line = " ".join(text.replace("**", "").replace("`", "").split())
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"


def one_line(text: str) -> str:
    """Return the visible text on one line, with blanks for line ends and tabs."""
    return text if text.isprintable() else visible(text).translate(_ON_ONE_LINE)


def told_apart(names: Sequence[str], most: int) -> list[str]:
    """Return the names in at most `most` characters.

    Cut at their ends, or in front of these where only so they differ.
    """

    def cut(name: str, head: int) -> str:
        return (
            name
            if len(name) <= most
            else f"{name[:head].rstrip()}…{name[len(name) - (most - 1 - head) :].lstrip()}"
        )

    return max(
        ([cut(name, head) for name in names] for head in (most - 1, most // 2, most // 4, 0)),
        key=lambda cuts: len(set(cuts)),
    )


def in_json(text: str) -> str:
    r"""JSON text with `\u….` for every such character in its strings.

    The same value, and nothing that a terminal obeys.
    """
    return text if text.isprintable() else _HOSTILE.sub(_escape, text)


def plural(count: int, noun: str) -> str:
    """Return `1 run`, `1,200 runs`, `2 patches`."""
    ending = "es" if noun.endswith(("ch", "sh", "x")) else "s"
    return f"{count:,} {noun}{'' if count == 1 else ending}"


_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do", "it": "them"}


def agreeing(count: int, verb: str) -> str:
    """Return the verb of a sentence about so many: `is` or `are`, `claims` or `claim`."""
    return verb if count == 1 else _VERBS.get(verb) or verb.removesuffix("s")


def first_shown(text: str) -> str:
    """Return the text from its first visible character on."""
    return _UNSEEN.sub("", text, count=1)


def paired(value: Any) -> Any:
    """Return the value with U+FFFD for lone surrogates, also in lists, tuples and dicts."""
    if isinstance(value, str):
        return (
            value
            if value.isascii()
            else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
    if isinstance(value, dict):
        return {paired(key): paired(item) for key, item in value.items()}
    return [paired(item) for item in value] if isinstance(value, list | tuple) else value


def _sign(found: re.Match[str]) -> str:
    return found[1] or _ENDS_OF_LINES.get(ord(found[0]), REPLACEMENT)


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return found[1] or "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


RENAMED = {
    "min-verified-speedups": ("min-faster", "1.1.0"),
    "over-claimed": ("promised-more", "1.1.0"),
    "under-claimed": ("promised-less", "1.1.0"),
}
"""Name of an option or a choice that was given up → (its name today, the version that changed it).
"""


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Return `Did you mean claude-opus-4-6 or claude-opus-4-5? ` with a trailing blank.

    Of a word in RENAMED: `over-claimed is called promised-more since 1.1.0. `. Returns "" if no
    known word is similar.
    """
    names = {name.lower(): name for name in known}
    wanted = word.lower().strip()
    today, since = RENAMED.get(wanted.lstrip("-"), ("", ""))
    for name in known:
        if name.lstrip("-") == today:
            return f"{word.strip()} is called {name} since {since}. "
    holding = [
        names[lower]
        for lower in sorted(names, key=lambda lower: not lower.startswith(wanted))
        if wanted and wanted in lower
    ]
    near = holding or [
        names[lower] for lower in difflib.get_close_matches(wanted, names, MOST_MEANT, 0.6)
    ]
    return f"Did you mean {' or '.join(near[:MOST_MEANT])}? " if near else ""


def join_known(between: str, *texts: str | None) -> str:
    """Join the texts that are not empty."""
    return between.join(filter(None, texts))


def choices_for(word: str, known: Iterable[str]) -> str:
    """Return the hint for an unknown word: similar ones, and all that are known."""
    words = list(known)
    return f"{did_you_mean(word, words)}Choose from: {', '.join(words)}."
