"""Spans of a Markdown text that stay marked in the HTML made of it, whatever markup they cross.

Markdown's parser tells the lines of a block, but not where in the text a character of it came from. So three steps:

1. `cuts_of` finds, line by line, the position of a block's content in the text, and from it where in the content marks begin and end.
2. The parser's own rules (`install`) write a cut at these places: characters that no text may hold, which say what is marked from there on.
   They are written beside the text and never read as Markdown, so what is marked parses as if it were not.
3. `marked` replaces the cuts in the finished HTML by `<mark>` elements, none of which crosses another element.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, backtick, image, link, text
from markdown_it.token import Token

from schemas.text import visible

MARKS = "marks"
"""Where the parser's environment holds the marks."""

_CUTS, _SPENT = "cuts", "spent"
MOST_LOOKED_THROUGH = 2_000_000
"""Characters of a block that are looked through for the ends of links; behind that a bracket is a bracket."""

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"  # noncharacters, which Unicode keeps for a program's own use
_PIECE = re.compile(rf"(<[^>]*>|{_OPEN}(?:\d{{1,6}}(?:,\d{{1,6}})*)?{_CLOSE})")
_CELLS = ("th_open", "td_open")


@dataclass(frozen=True)
class Mark:
    """A span of the text (code points, end exclusive), its style (CSS) and its tooltip."""

    start: int
    end: int
    style: str
    title: str


@dataclass
class Cuts:
    """Where in one block's content another set of marks begins to hold. `written` is the set that the last cut in the output names."""

    at: list[int] = field(default_factory=list)
    sets: list[tuple[int, ...]] = field(default_factory=list)
    written: tuple[int, ...] = ()

    def holding(self, place: int) -> tuple[int, ...]:
        """The marks that hold at a place of the content."""
        before = bisect_right(self.at, place)
        return self.sets[before - 1] if before else ()

    def after(self, place: int) -> int | None:
        """The next place where something changes."""
        following = bisect_right(self.at, place)
        return self.at[following] if following < len(self.at) else None

    def written_into(self, content: str) -> str:
        """A content that is shown as it is, with its cuts."""
        ends = pairwise([0, *self.at, len(content)])
        pieces = [content[start:end] for start, end in ends]
        return "".join([pieces[0], *(_cut(marks) + piece for marks, piece in zip(self.sets, pieces[1:], strict=True))])

    def within(self, start: int, end: int) -> Cuts:
        """The cuts of a part of the content, for its own."""
        chosen = [(place, marks) for place, marks in zip(self.at, self.sets, strict=True) if start <= place <= end]
        return Cuts([place - start for place, _ in chosen], [marks for _, marks in chosen])


def cleaned(source: str) -> str:
    """The text without the characters that cuts are made of."""
    return source.replace(_OPEN, "\ufffd").replace(_CLOSE, "\ufffd")


def fitted(source: str, marks: Iterable[Mark]) -> list[Mark]:
    """The marks on the text as the parser sees it: line ends are one character, and a mark neither begins nor ends with a blank."""
    parsed = source.replace("\r\n", "\n")
    spans = [(mark, mark.start - source.count("\r\n", 0, mark.start), mark.end - source.count("\r\n", 0, mark.end)) for mark in marks]
    return [_trimmed(parsed, replace(mark, start=start, end=end)) for mark, start, end in spans]


def _trimmed(source: str, mark: Mark) -> Mark:
    shown = source[mark.start : mark.end]
    start = mark.start + len(shown) - len(shown.lstrip())
    return replace(mark, start=start, end=start + len(shown.strip()))


class Lines:
    """The lines of a text, and the position in it of a block's content."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._cell_ends: dict[int, int] = {}

    def cuts_of(self, content: str, first: int, marks: Sequence[Mark], *, is_cell: bool = False) -> Cuts:
        """The cuts of a block's content, whose lines are those of the text from `first` on."""
        lines = content.removesuffix("\n").split("\n")
        begin, end = self._starts[first], self._starts[first + len(lines)]
        cell = self._cell(content, first) if is_cell else None
        held = [(number, mark) for number, mark in enumerate(marks) if mark.start < end and mark.end > begin]
        if not held:
            return Cuts()
        return _cuts(held, cell or [place for number, line in enumerate(lines, first) for place in self._line(line, number)])

    def _line(self, line: str, number: int) -> Iterator[int]:
        """The position in the text of each character of a line of content. Characters before the line belong to outer blocks."""
        shown = line.strip()
        indent = len(line) - len(line.lstrip())
        start = self._starts[number] + max(0, self._lines[number].rfind(shown)) - indent
        yield from range(start, start + len(line))
        yield self._starts[number + 1] - 1

    def _cell(self, content: str, number: int) -> list[int]:
        """The same for a cell of a table, in which an escaped bar has become a bar; cells are asked for in order."""
        written = content.replace("|", "\\|")
        start = self._lines[number].find(written, self._cell_ends.get(number, 0))
        if start < 0:
            return []
        self._cell_ends[number] = start + len(written)
        lengths = accumulate((2 if character == "|" else 1 for character in content), initial=self._starts[number] + start)
        return list(lengths)


def _cuts(marks: Sequence[tuple[int, Mark]], places: Sequence[int]) -> Cuts:
    spans = [(number, bisect_left(places, mark.start), bisect_left(places, mark.end)) for number, mark in marks]
    spans = [(number, start, end) for number, start, end in spans if start < end]
    at = sorted({edge for _, start, end in spans for edge in (start, end)})
    return Cuts(at, [tuple(number for number, start, end in spans if start <= edge < end) for edge in at])


def install(markdown: MarkdownIt) -> None:
    """Let the parser write cuts for the marks of its environment."""
    markdown.core.ruler.at("inline", _parse_blocks)
    markdown.inline.ruler.at("text", _text)
    markdown.inline.ruler.at("backticks", _code)
    markdown.inline.ruler.at("link", _within_bounds(link))
    markdown.inline.ruler.at("image", _within_bounds(image))
    markdown.inline.ruler.before("text", "cut", _write_cut)


def _within_bounds(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """The parser's rule for a sign in brackets, while its block has not cost too much: each looks through the rest of the block."""

    def bounded(state: StateInline, silent: bool) -> bool:
        if state.src[state.pos] not in "[!":
            return False
        source, spent = state.env.get(_SPENT, ("", 0))
        if source is not state.src:
            spent = 0
        if spent > MOST_LOOKED_THROUGH:
            return False
        start = state.pos
        found = rule(state, silent)
        cost = (state.pos if found else len(state.src)) - start
        state.env[_SPENT] = state.src, spent + min(cost, _distance(state.src, start))
        return found

    return bounded


def _distance(text: str, start: int) -> int:
    """How far the rule looks at least: to the next closing bracket, or to the end where there is none."""
    closing = text.find("]", start)
    return (closing if closing >= 0 else len(text)) - start


def _parse_blocks(state: StateCore) -> None:
    """The parser's rule of this name, which knows the cuts of each block."""
    marks: Sequence[Mark] = state.env.get(MARKS, ())
    lines = Lines(state.src) if marks else None
    before = ""
    for token in state.tokens:
        first = token.map[0] + (token.type == "fence") if token.map else None
        is_cut = lines is not None and first is not None and token.content
        cuts = lines.cuts_of(token.content, first, marks, is_cell=before in _CELLS) if is_cut else Cuts()  # type: ignore[union-attr,arg-type]
        _parse_block(state, token, cuts)
        before = token.type


def _parse_block(state: StateCore, token: Token, cuts: Cuts) -> None:
    if token.type == "inline":
        token.children = token.children or []
        state.env[_CUTS] = token.children, cuts
        state.md.inline.parse(token.content, state.md, state.env, token.children)
        if cuts.written:
            token.children.append(Token("text", "", 0, content=_cut(())))
    elif token.type in ("fence", "code_block"):
        token.content = cuts.written_into(token.content)


def _current(state: StateInline) -> Cuts | None:
    """The cuts of the block that is parsed; None in what is parsed within it, as an image's description is."""
    tokens, cuts = state.env.get(_CUTS, (None, None))
    return cuts if tokens is state.tokens and cuts.at else None


def _write_cut(state: StateInline, silent: bool) -> bool:
    """Write what is marked from here on, where that has changed; reads nothing, so that another rule goes on from here."""
    if not silent and (cuts := _current(state)) and (holding := cuts.holding(state.pos)) != cuts.written:
        state.pending += _cut(holding)
        cuts.written = holding
    return False


def _text(state: StateInline, silent: bool) -> bool:
    """Plain text, up to the next cut at most."""
    start, cuts = state.pos, _current(state)
    edge = cuts.after(start) if cuts else None
    if edge is None or not text(state, True):
        return text(state, silent)
    state.pos = min(state.pos, edge)
    if not silent:
        state.pending += state.src[start : state.pos]
    return True


def _code(state: StateInline, silent: bool) -> bool:
    """Code, whose content is shown as it is and cut within."""
    start = state.pos
    if not backtick(state, silent):
        return False
    cuts = None if silent else _current(state)
    token = state.tokens[-1] if state.tokens else None
    if cuts and token and token.type == "code_inline" and not state.pending:
        first = start + (state.pos - start - len(token.content)) // 2
        last = first + len(token.content)
        token.content = cuts.within(first, last).written_into(token.content)
        cuts.written = cuts.holding(last)
    return True


def _cut(marks: Sequence[int]) -> str:
    return f"{_OPEN}{','.join(map(str, marks))}{_CLOSE}"


def marked(rendered: str, marks: Sequence[Mark]) -> str:
    """The HTML with `<mark>` elements around the texts that cuts mark."""
    holding: tuple[int, ...] = ()
    pieces: list[str] = []
    for piece in _PIECE.split(rendered):
        if piece.startswith(_OPEN):
            holding = tuple(int(number) for number in piece[1:-1].split(",") if number and int(number) < len(marks))
        elif holding and _is_text(piece):
            pieces.append(_element(piece, [marks[number] for number in holding]))
        else:
            pieces.append(piece)
    return "".join(pieces)


def _is_text(piece: str) -> bool:
    """Whether it is shown: line breaks between cells of a table are not, and must hold no element."""
    return not piece.startswith("<") and (bool(piece.strip()) or (bool(piece) and "\n" not in piece))


def _element(shown: str, marks: Sequence[Mark]) -> str:
    """The shortest mark decides how it looks; all of them say what they mean."""
    style = min(marks, key=lambda mark: mark.end - mark.start).style
    title = "\n".join(dict.fromkeys(mark.title for mark in marks))
    return f'<mark style="{html.escape(style)}" title="{html.escape(visible(title))}">{shown}</mark>'
