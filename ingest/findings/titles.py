"""The title of a run: its prompt's first line, else its summary's first sentence with content.

A log that has a title keeps it. `v_runs.title` puts the task before it, and the name of the file
behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ingest.literals import pattern

LONGEST_TITLE = 80
"""Characters of a title, including the ellipsis."""

_READ = 4_000

_TABLE_OR_RULE = pattern(r"\||[-=_*─━═+|\s]{3,}$")
_BLOCK = pattern(r"#{1,6}\s|>|[-*+•]\s|\d{1,3}[.)]\s")
_BLOCK_MARKS = pattern(r"(?:\s|#{1,6}\s|>|[-*+•]\s|\d{1,3}[.)]\s|\[[ xX]?\]\s)+")
_LINK = pattern(r"!?\[([^\]]{0,200})\]\([^)\s]{0,500}\)")
_TAG = pattern(r"</[a-zA-Z][\w:-]*>|(?<!\w)<[a-zA-Z][\w:-]*/?>")
_MARKS = ((_LINK, "[", r"\1"), (_TAG, "<", ""))
"""Pattern, a literal in each of its matches, and the replacement."""

# Each alternative begins with its sign, and looks behind it from there: a search then goes from
# sign to sign, in a quarter of the time.
_EMPHASIS = pattern(r"\*|`|~~|_(?<!\w_)_*(?=\w)|_(?<=\w_)_*(?!\w)")
_EMOJI = pattern(
    "[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\ufe0e\ufe0f\u200d\u20e3\U0001f000-\U0001faff\U000e0020-\U000e007f]"
)
# The last character of a sentence, and what is left out behind it. One set of signs first, for
# speed.
_SENTENCE_END = pattern(r"[.!?。！？](?:(?<=[.!?])[\"')\]]*\s+(?![a-z\s])|(?<=[。！？]))")
_WORD = pattern(r"[^\W\d_]+(?:['’][a-z]+)?")

_SAYS_NOTHING = frozenset(
    """
    a about above accomplished all and analysis are as been below brief changes complete completed
    completion conclusion create did do done everything excellent executive expected fantastic
    final finally finish finished fix fixed found good great has have here here's here’s i i'm i’m
    i've i’ve implementation implemented in is it it's it’s iteration key let let's let’s loop
    made me mission my nice now of ok okay optimization optimizations overview perfect provide
    ready report result results session set status submitted success successful successfully
    summary sure task tasks that that's that’s the there these this understood validation verified
    was well what what's what’s work working yes you your
    """.split()
)
"""A sentence of these words only (`Perfect!`, `Here's a summary of what I've done:`) does not
distinguish runs.
"""


def title_of(prompt: str | None, summary: str | bytes | None) -> str | None:
    """Return the title, at most LONGEST_TITLE characters on one line, cut at a word.

    None if neither text has a word.
    """
    line = next(filter(None, map(_plain_line, (prompt or "")[:_READ].splitlines())), "")
    if not line:
        start = (summary or "")[:_READ]
        line = _first_sentence(start.decode(errors="ignore") if isinstance(start, bytes) else start)
    line = line.rstrip(".:;, 。：")
    if len(line) <= LONGEST_TITLE:
        return line or None
    cut = line[: LONGEST_TITLE - 1]
    at_a_word = cut if line[len(cut)].isspace() else cut.rpartition(" ")[0]
    return f"{(at_a_word if len(at_a_word) > LONGEST_TITLE // 2 else cut).rstrip('.,:;– ')}…"


def _plain_line(text: str) -> str:
    """Return a line of Markdown without markup, XML tags and emoji.

    "" if no letter or digit is left.
    """
    marks = _BLOCK_MARKS.match(text)
    bare = text[marks.end() :] if marks else text
    for marks_of, sign, kept in _MARKS:
        if (
            sign in bare
        ):  # few lines have any, and to look for a sign is cheaper than to search for its pattern
            bare = marks_of.sub(kept, bare)
    bare = bare if bare.isascii() else _EMOJI.sub("", bare)
    line = " ".join(_EMPHASIS.sub("", bare).split())
    return line if any(map(str.isalnum, line)) else ""


def _first_sentence(text: str) -> str:
    """Return the first sentence that says something, else the first sentence."""
    first = ""
    for sentence in filter(
        None, map(_plain_line, chain.from_iterable(map(_sentences, _blocks(text))))
    ):
        if any(word[0] not in _SAYS_NOTHING for word in _WORD.finditer(sentence.lower())):
            return sentence
        first = first or sentence
    return first


def _blocks(text: str) -> Iterator[str]:
    """Yield headings, list items and paragraphs, each as one line; tables and code are skipped."""
    lines: list[str] = []
    is_code = False
    for line in map(str.strip, [*text.splitlines(), ""]):
        is_fence = line.startswith(("```", "~~~"))
        is_apart = is_fence or is_code or not line or bool(_TABLE_OR_RULE.match(line))
        is_code ^= is_fence
        if lines and (is_apart or _BLOCK.match(line) or lines[-1].startswith("#")):
            yield " ".join(lines)
            lines = []
        lines += [] if is_apart else [line]


def _sentences(block: str) -> Iterator[str]:
    """Yield the sentences lazily: mostly the first one is the title."""
    start = 0
    for end in _SENTENCE_END.finditer(block):
        yield block[start : end.start() + 1]
        start = end.end()
    yield block[start:]
