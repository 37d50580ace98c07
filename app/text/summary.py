"""Summaries of agents as safe HTML, their claims marked.

A summary is untrusted text: any markup in it is harmless.

A mark stays on its words whatever markup it crosses. Markdown's parser gives the lines of a block,
but not the position of a character in the text. So three steps:

1. `_Lines.cuts_of` finds, line by line, the position of a block's content in the text and where
  marks begin and end in it.
2. The parser's own rules (`_markdown`) write a cut at these places: reserved characters that name
  the marks from there
   on. Cuts are never read as Markdown, so marks do not change how the text is parsed.
3. `_marked` replaces the cuts in the finished HTML by `<mark>` elements that never cross another
  element.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, backtick, image, link, text
from markdown_it.token import Token

from app.queries import Row
from app.queries.claims import sentence_span
from app.text.claims import (
    EVIDENCE,
    EVIDENCE_MEANINGS,
    EVIDENCE_NAMES,
    claim_title,
    expectation,
    statement,
)
from app.text.html_parts import plain
from schemas.text import visible

STRENGTHS = {
    "benchmarked": (0x36, "3px solid"),
    "figures": (0x2C, "2px solid"),
    "stated": (0x22, "2px dashed"),
    "estimated": (0x16, "2px dotted"),
}
"""Tint (of 255) and underline of a mark by evidence: better evidence is stronger, also without
colours.
"""

QUALITATIVE = "qualitative"
MOST_AROUND = 1_500

HEADING_SHIFT = 2
"""A summary's `#` becomes `<h3>`, below the title and sections of the page."""

MOST_LOOKED_THROUGH = 2_000_000
"""Characters of a block that are searched for the ends of links; after that, brackets are plain
text.
"""

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"  # noncharacters, which Unicode keeps for a program's own use
_PIECE = re.compile(rf"(<[^>]*>|{_OPEN}(?:\d{{1,6}}(?:,\d{{1,6}})*)?{_CLOSE})")
# paths are long, phones are narrow
_CODE = "font:0.9em 'Source Code Pro',monospace;overflow-wrap:anywhere"
_HEADING_SIZES = {3: 1.2, 4: 1.12, 5: 1.05, 6: 1}  # a browser's own lie below the text's size


@dataclass(frozen=True)
class Mark:
    """A span of the text (code points, end exclusive), its style (CSS) and its tooltip."""

    start: int
    end: int
    style: str
    title: str


def summary_html(source: str, marks: Iterable[Mark] = ()) -> str:
    """Return Markdown (CommonMark, tables, strikethrough) as safe HTML.

    The HTML has no scripts, images, raw HTML, or links other than http(s).

    Other notations (LaTeX, emoji codes, directives) stay plain text. `marks` only add `<mark>`
    elements around texts.
    """
    source = visible(source)
    parsed, fitted = source.replace("\r\n", "\n"), []
    # on the text as the parser sees it: line ends are one character, and a mark neither begins nor
    # ends with a blank
    for mark in marks:
        start, end = (place - source.count("\r\n", 0, place) for place in (mark.start, mark.end))
        shown = parsed[start:end]
        start += len(shown) - len(shown.lstrip())
        fitted.append(Mark(start, start + len(shown.strip()), mark.style, mark.title))
    tokens = _MARKDOWN.parse(
        source.replace(_OPEN, "\ufffd").replace(_CLOSE, "\ufffd"), {"marks": fitted}
    )
    for token in tokens:
        _tame(token)
    return _marked(str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})), fitted)


def _tame(token: Token) -> None:
    """Shift a heading's level, make a link safe, and turn an image back into its source text."""
    if token.type in ("heading_open", "heading_close"):
        level = min(6, int(token.tag[1:]) + HEADING_SHIFT)
        token.tag = f"h{level}"
        token.attrs |= (
            {"style": f"font-size:{_HEADING_SIZES[level]}em"} if token.nesting > 0 else {}
        )
    elif token.type == "link_open":
        token.attrs |= {"rel": "noopener noreferrer nofollow", "target": "_blank"}
    elif token.type in ("code_inline", "code_block", "fence"):
        token.attrs["style"] = _CODE
    elif token.type == "image":
        # fetching it would tell a stranger who reads the summary
        token.type, token.content = "text", f"![{token.content}]({token.attrs['src']})"
    for child in token.children or ():
        _tame(child)


def _marked(rendered: str, marks: Sequence[Mark]) -> str:
    """Replace cuts by `<mark>` elements: the shortest mark sets the style, all set their titles."""
    holding: list[Mark] = []
    pieces: list[str] = []
    for piece in _PIECE.split(rendered):
        if piece.startswith(_OPEN):
            holding = [
                marks[int(number)]
                for number in piece[1:-1].split(",")
                if number and int(number) < len(marks)
            ]
            continue
        # line breaks between cells of a table are no text, and must hold no element
        is_text = not piece.startswith("<") and (piece.strip() or (piece and "\n" not in piece))
        if holding and is_text:
            style = min(holding, key=lambda mark: mark.end - mark.start).style
            title = "\n".join(dict.fromkeys(mark.title for mark in holding))
            piece = (  # noqa: PLW2901
                f'<mark style="{html.escape(style)}" '
                f'title="{html.escape(visible(title))}">{piece}</mark>'
            )
        pieces.append(piece)
    return "".join(pieces)


@dataclass
class _Cuts:
    """The positions in a block's content at which the set of marks changes.

    `written` is the last set in the output.
    """

    at: list[int] = field(default_factory=list)
    sets: list[tuple[int, ...]] = field(default_factory=list)
    written: tuple[int, ...] = ()

    def holding(self, place: int) -> tuple[int, ...]:
        """Return the marks at a position of the content."""
        before = bisect_right(self.at, place)
        return self.sets[before - 1] if before else ()

    def written_into(self, content: str, start: int = 0) -> str:
        """Return a part of the content that begins at `start`, with its cuts."""
        end = start + len(content)
        cuts = [
            (place - start, marks)
            for place, marks in zip(self.at, self.sets, strict=True)
            if start <= place <= end
        ]
        ends = pairwise([0, *(place for place, _ in cuts), len(content)])
        pieces = [content[first:last] for first, last in ends]
        return "".join(
            [
                pieces[0],
                *(_cut(marks) + piece for (_, marks), piece in zip(cuts, pieces[1:], strict=True)),
            ]
        )


def _cut(marks: Sequence[int]) -> str:
    return f"{_OPEN}{','.join(map(str, marks))}{_CLOSE}"


class _Lines:
    """The lines of a text; they map a block's content to positions in it."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._starts = [*accumulate((len(line) + 1 for line in self._lines), initial=0)]
        self._cell_ends: dict[int, int] = {}

    def cuts_of(
        self, content: str, first: int, marks: Sequence[Mark], *, is_cell: bool = False
    ) -> _Cuts:
        """Return the cuts of a block's content that begins at line `first` of the text."""
        lines = content.removesuffix("\n").split("\n")
        begin, end = self._starts[first], self._starts[first + len(lines)]
        cell = self._cell(content, first) if is_cell else None
        held = [
            (number, mark)
            for number, mark in enumerate(marks)
            if mark.start < end and mark.end > begin
        ]
        if not held:
            return _Cuts()
        places = cell or []  # the position in the text of each character of the content
        for number, line in enumerate([] if cell else lines, first):
            # characters before the line belong to outer blocks
            indent = len(line) - len(line.lstrip())
            start = self._starts[number] + max(0, self._lines[number].rfind(line.strip())) - indent
            places += [*range(start, start + len(line)), self._starts[number + 1] - 1]
        spans = [
            (number, bisect_left(places, mark.start), bisect_left(places, mark.end))
            for number, mark in held
        ]
        spans = [(number, start, end) for number, start, end in spans if start < end]
        at = sorted({edge for _, start, end in spans for edge in (start, end)})
        return _Cuts(
            at,
            [tuple(number for number, start, end in spans if start <= edge < end) for edge in at],
        )

    def _cell(self, content: str, number: int) -> list[int]:
        """Return the positions for a table cell, where an escaped bar has become a bar.

        Call it for cells in order.
        """
        written = content.replace("|", "\\|")
        start = self._lines[number].find(written, self._cell_ends.get(number, 0))
        if start < 0:
            return []
        self._cell_ends[number] = start + len(written)
        return list(
            accumulate(
                (2 if character == "|" else 1 for character in content),
                initial=self._starts[number] + start,
            )
        )


def _markdown() -> MarkdownIt:
    """Return the parser with rules that write cuts for the marks of its environment."""
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 100}).enable(
        ["table", "strikethrough"]
    )
    markdown.validateLink = lambda url: url.lower().startswith(("http://", "https://"))  # type: ignore[method-assign]
    markdown.core.ruler.at("inline", _parse_blocks)
    markdown.inline.ruler.at("text", _text)
    markdown.inline.ruler.at("backticks", _code)
    markdown.inline.ruler.at("link", _within_bounds(link))
    markdown.inline.ruler.at("image", _within_bounds(image))
    markdown.inline.ruler.before("text", "cut", _write_cut)
    return markdown


def _within_bounds(
    rule: Callable[[StateInline, bool], bool],
) -> Callable[[StateInline, bool], bool]:
    """Limit the parser's rule for brackets per block.

    Every bracket searches the rest of its block.
    """

    def bounded(state: StateInline, silent: bool) -> bool:
        if state.src[state.pos] not in "[!":
            return False
        source, spent = state.env.get("spent", ("", 0))
        if source is not state.src:
            spent = 0
        if spent > MOST_LOOKED_THROUGH:
            return False
        start = state.pos
        found = rule(state, silent)
        cost = (state.pos if found else len(state.src)) - start
        closing = state.src.find("]", start)
        state.env["spent"] = (
            state.src,
            spent + min(cost, (closing if closing >= 0 else len(state.src)) - start),
        )
        return found

    return bounded


def _parse_blocks(state: StateCore) -> None:
    """Parse each block with the parser's rule of this name and its cuts."""
    marks: Sequence[Mark] = state.env.get("marks", ())
    lines = _Lines(state.src) if marks else None
    before = ""
    for token in state.tokens:
        cuts = _Cuts()
        if lines is not None and token.map and token.content:
            first = token.map[0] + (token.type == "fence")
            cuts = lines.cuts_of(
                token.content, first, marks, is_cell=before in ("th_open", "td_open")
            )
        if token.type == "inline":
            token.children = token.children or []
            state.env["cuts"] = token.children, cuts
            state.md.inline.parse(token.content, state.md, state.env, token.children)
            if cuts.written:
                token.children.append(Token("text", "", 0, content=_cut(())))
        elif token.type in ("fence", "code_block"):
            token.content = cuts.written_into(token.content)
        before = token.type


def _current(state: StateInline) -> _Cuts | None:
    """Return the cuts of the block being parsed.

    None inside nested text such as an image's description.
    """
    tokens, cuts = state.env.get("cuts", (None, None))
    return cuts if tokens is state.tokens and cuts.at else None


def _write_cut(state: StateInline, silent: bool) -> bool:
    """Emit a cut if another set of marks holds from here on. Consumes no input."""
    if (
        not silent
        and (cuts := _current(state))
        and (holding := cuts.holding(state.pos)) != cuts.written
    ):
        state.pending += _cut(holding)
        cuts.written = holding
    return False


def _text(state: StateInline, silent: bool) -> bool:
    start, cuts = state.pos, _current(state)
    following = bisect_right(cuts.at, start) if cuts else 0
    edge = cuts.at[following] if cuts and following < len(cuts.at) else None
    if edge is None or not text(state, True):
        return text(state, silent)
    state.pos = min(state.pos, edge)
    if not silent:
        state.pending += state.src[start : state.pos]
    return True


def _code(state: StateInline, silent: bool) -> bool:
    """Read code, which is shown unchanged, and write the cuts in it."""
    start = state.pos
    if not backtick(state, silent):
        return False
    cuts = None if silent else _current(state)
    token = state.tokens[-1] if state.tokens else None
    if cuts and token and token.type == "code_inline" and not state.pending:
        first = start + (state.pos - start - len(token.content)) // 2
        last = first + len(token.content)
        token.content = cuts.written_into(token.content, first)
        cuts.written = cuts.holding(last)
    return True


_MARKDOWN = _markdown()


def mark_style(look: str) -> str:
    """Return the CSS of a mark. Text keeps its colour, so the tint suits light and dark pages."""
    if look == QUALITATIVE:
        return (
            "color:inherit;background:none;text-decoration:underline dotted "
            "1px;text-underline-offset:3px"
        )
    tint, line = STRENGTHS[look]
    return (
        f"color:inherit;background:{EVIDENCE[look]}{tint:02X};border-bottom:{line} "
        f"{EVIDENCE[look]};border-radius:2px;padding:0 1px"
    )


def _look(claim: Row) -> str:
    return QUALITATIVE if claim["kind"] == QUALITATIVE else str(claim["evidence"])


def marks_of(claims: Iterable[Row]) -> list[Mark]:
    """Return a mark for every claim, from rows of `claims`."""
    return [
        Mark(row["start"], row["end"], mark_style(_look(row)), claim_title(row)) for row in claims
    ]


def around(summary: str, claim: Row) -> tuple[str, list[Mark]]:
    """Return the paragraphs of a summary around a claim, and the mark of its sentence."""
    found = sentence_span(summary, claim["start"], claim["end"])
    first = max(summary.rfind("\n\n", 0, max(found.start - 1, 0)), 0)
    first = max(summary.rfind("\n\n", 0, first), found.start - MOST_AROUND, 0)
    last = summary.find("\n\n", found.end)
    last = min(len(summary) if last < 0 else last, found.end + MOST_AROUND)
    return summary[first:last], [
        Mark(found.start - first, found.end - first, mark_style(_look(claim)), claim_title(claim))
    ]


def legend_html(claims: Sequence[Row]) -> str:
    """Return a legend of the marks with their counts, strongest evidence first; "" if no claims."""
    looks = [_look(row) for row in claims]
    meanings, names = (
        EVIDENCE_MEANINGS | {QUALITATIVE: "claims without a number"},
        EVIDENCE_NAMES | {QUALITATIVE: "no number"},
    )
    entries = [
        (
            f'<span title="{html.escape(meaning)}"><mark '
            f'style="{mark_style(look)}">{names[look]}</mark> {looks.count(look):,}</span>'
        )
        for look, meaning in meanings.items()
        if look in looks
    ]
    style = "display:flex;flex-wrap:wrap;gap:0.35rem 1.1rem;font-size:0.87em;margin:0 0 0.5rem"
    return f'<div style="{style}">{"".join(entries)}</div>' if entries else ""


def finding_lines(findings: Iterable[Row]) -> str:
    """Return findings as a Markdown list with severity, message, expected and found value."""
    severities = {
        "error": ":red[:material/error:] **Error**",
        "warning": ":orange[:material/warning:] **Warning**",
        "info": ":blue[:material/info:] **Info**",
    }
    lines = []
    for row in findings:
        message, expected = (
            plain(" ".join(words.split())) for words in (row["message"], expectation(row))
        )
        lines.append(
            f"- {severities[row['severity']]} · {message}"
            + (f"  \n  {expected}" if expected else "")
        )
    return "\n".join(lines)


def statements_html(statements: Iterable[Row]) -> str:
    """Return a summary's other statements as a description list."""
    entries = [
        (
            f'<dt style="margin:0;opacity:0.75">{name}</dt><dd '
            f'style="margin:0">{html.escape(visible(said))}</dd>'
        )
        for name, said in map(statement, statements)
    ]
    style = (
        "display:grid;grid-template-columns:max-content minmax(0,1fr);gap:0.35rem "
        "1.25rem;margin:0;padding:0;overflow-wrap:anywhere"
    )
    return f'<dl style="{style}">{"".join(entries)}</dl>' if entries else ""
