"""Summaries of agents as HTML. A summary is a stranger's text: it may look like anything, and does nothing."""

from __future__ import annotations

from collections.abc import Iterable

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.text import highlights
from app.text.highlights import Mark
from schemas.text import visible

HEADING_SHIFT = 2
"""A summary's `#` is an `<h3>` of the page, whose own title and sections come above it."""

_LINK: dict[str, str | int | float] = {"rel": "noopener noreferrer nofollow", "target": "_blank"}

_CODE = "font:0.9em 'Source Code Pro',monospace;overflow-wrap:anywhere"  # paths are long, phones are narrow
_HEADING_SIZES = {3: 1.2, 4: 1.12, 5: 1.05, 6: 1}  # a browser's own lie below the text's size


def summary_html(text: str, marks: Iterable[Mark] = ()) -> str:
    """Markdown (CommonMark, tables, strikethrough) → HTML without scripts, images, raw HTML, or links other than http(s).

    Anything else that other programs read into a text (LaTeX, emoji codes, directives) stays the characters it is.
    The HTML with `marks` is that without them, and `<mark>` elements around texts.
    """
    text = visible(text)
    fitted = highlights.fitted(text, marks)
    tokens = _MARKDOWN.parse(highlights.cleaned(text), {highlights.MARKS: fitted})
    for token in tokens:
        _tame(token)
    return highlights.marked(str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})), fitted)


def _tame(token: Token) -> None:
    """Put a heading in its place, send a link's reader off alone, and turn an image into the text it was written as."""
    if token.type in ("heading_open", "heading_close"):
        level = min(6, int(token.tag[1:]) + HEADING_SHIFT)
        token.tag = f"h{level}"
        token.attrs |= {"style": f"font-size:{_HEADING_SIZES[level]}em"} if token.nesting > 0 else {}
    elif token.type == "link_open":
        token.attrs |= _LINK
    elif token.type in ("code_inline", "code_block", "fence"):
        token.attrs["style"] = _CODE
    elif token.type == "image":
        # fetching it would tell a stranger who reads the summary
        token.type, token.content = "text", f"![{token.content}]({token.attrs['src']})"
    for child in token.children or ():
        _tame(child)


def _is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 100}).enable(["table", "strikethrough"])
    markdown.validateLink = _is_web  # type: ignore[method-assign]
    highlights.install(markdown)
    return markdown


_MARKDOWN = _markdown()
