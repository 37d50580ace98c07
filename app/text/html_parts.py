"""The parts of screens as HTML: heading, marks of agents, bars, legends, tables.

And text from logs in Markdown. Every text is escaped.

Streamlit keeps classes and styles of such HTML and strips inline SVG; the classes are those of
`app/assets/dashboard.css`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlencode

import simplejson

from app.queries import filter_inputs as urls
from app.queries.filters import Filters
from app.text.formatting import agent_name, model_name
from app.text.sentences import Doubt, Said
from schemas.agents import AGENTS
from schemas.text import in_json, one_line, visible

OUTCOMES = {
    "completed": "completed",
    "limited": "stopped",
    "failed": "failed",
    "unknown_ends": "unknown",
    "never_started": "never started",
}
"""Field of AgentFigures → label of the outcome it counts, in the order of bars."""

MEASURED = {
    "faster": "beyond noise",
    "once": "faster once",
    "same": "same (±5%)",
    "inside_noise": "inside noise",
    "slower": "slower",
    "breaks": "breaks",
    "uncompared": "not comparable",
    "machine": "machine failed",
}
"""Class of a measurement → label, in the order of bars."""

MOST_DOUBTS = 6

SHOWN_CHARACTERS = 100_000
"""Characters of a text that a screen shows: a megabyte would make the browser slow. The whole text
can be downloaded.
"""

KEPT: ContextVar[dict[str, str]] = ContextVar("kept", default={})  # noqa: B039  never changed, only replaced
"""Parameters that every link keeps besides the filters. A link loads the page in a new session,
which would lose them.
"""


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of a bar: CSS class `kind` (`t-completed`), `size` in runs, and words `label`."""

    kind: str
    size: int
    label: str


def text(value: str) -> str:
    """Return a text from a log in one line, escaped for HTML."""
    return html.escape(visible(one_line(value)))


def said(sentence: str) -> str:
    """Return one of our sentences as HTML with its `**emphasised**` part.

    Texts from logs in it are escaped.
    """
    return re.sub(r"\*\*(.+?)\*\*", r"<em>\1</em>", html.escape(visible(sentence)))


def heading(lines: Said) -> str:
    """Return the first lines of a screen: answer, qualifier, and coverage with what is not sure."""
    sure = how_sure(lines.doubts, " · " if lines.coverage else "")
    parts = (
        f'<h1 class="t-h1">{said(lines.heading)}</h1>',
        f'<p class="t-sub">{said(lines.second)}</p>' if lines.second else "",
        f'<div class="t-cap">{said(lines.coverage)}{sure}</div>' if lines.coverage or sure else "",
    )
    return "".join(parts)


def opened(label: str, command: str) -> str:
    """Return a link that opens a command to copy."""
    return (
        f'<details class="t-sure t-copy"><summary>{text(label)}</summary>'
        f"<section>{code(command)}</section></details>"
    )


def code(command: str) -> str:
    """Return a command in the typeface of code, "" for none."""
    return f'<code class="t-code">{text(command)}</code>' if command else ""


def how_sure(doubts: Sequence[Doubt], before: str = "") -> str:
    """Return `How sure?`, which opens at most MOST_DOUBTS sentences with their links."""
    rows = "".join(
        f"<div><span>{text(one.text)}</span>{anchor(one.address, text(one.label))}</div>"
        for one in doubts[:MOST_DOUBTS]
    )
    summary = "<summary>How sure?</summary>"
    opened = f"{summary}<section>{rows}</section>"
    sure = f'<details class="t-sure">{opened}</details>'
    return f'<span class="t-doubts">{before}{sure}</span>' if rows else ""


def look_list(items: Iterable[str], title: str = "", kind: str = "") -> str:
    """Return lines as a list under a title, "" without any. `items` are HTML."""
    lines = "".join(f"<li>{item}</li>" for item in items)
    above = f'<h2 class="t-h3">{text(title)}</h2>' if title else ""
    return f'{above}<ul class="{f"t-look {kind}".strip()}">{lines}</ul>' if lines else ""


def link(page: str, filters: Filters, **more: str | Sequence[str]) -> str:
    """Return the address of a page with these filters, from any other page."""
    named = [(key, value) for key, values in urls.write_link(filters).items() for value in values]
    words = urlencode([*named, *(KEPT.get() | more).items()], doseq=True)
    return f"{page}?{words}" if words else page or "?"


def anchor(address: str, label: str, *, kind: str = "") -> str:
    """Return a link in the same tab. `label` is HTML."""
    return f'<a class="{kind}" href="{html.escape(address)}" target="_self">{label}</a>'


_ANCHOR = re.compile(r"<a\b([^>]*)>(.*?)</a>", re.DOTALL)
_CLASS, _HREF = re.compile(r'class="[^"]*"'), re.compile(r'href="([^"]*)"')


def with_links(page: str, to: Callable[[str], str | None]) -> str:
    """Return HTML of a screen with its links to other screens leading `to` other addresses.

    One that leads nowhere is plain text; links out of the dashboard stay.
    """

    def linked(found: re.Match[str]) -> str:
        address, kind = _HREF.search(found[1]), _CLASS.search(found[1])
        if not address or address[1].startswith(("http://", "https://")):
            return found[0]
        kept, target = kind[0] if kind else "", to(html.unescape(address[1]))
        if target is None:
            return f"<span {kept}>{found[2]}</span>"
        return f'<a {kept} href="{html.escape(target)}">{found[2]}</a>'

    return _ANCHOR.sub(linked, page)


def without_links(page: str) -> str:
    """Return HTML of a screen without its links to other screens; links out of it stay."""
    return with_links(page, lambda _: None)


def strip(figures: Iterable[tuple[str, ...]]) -> str:
    """Return figures in a row: each its label, value and note, and CSS classes of the value."""
    drawn = "".join(
        f'<div><small>{text(label)}</small><b class="{" ".join(kinds)}">{text(value)}</b>'
        f"<span>{text(note)}</span></div>"
        for label, value, note, *kinds in figures
    )
    return f'<div class="t-run-strip">{drawn}</div>' if drawn else ""


def agent_colour(agent: str | None) -> str:
    """Return an agent's colour by day and by night, as CSS."""
    if agent not in AGENTS:
        return "#7A7A7A"
    return f"light-dark({AGENTS[agent].colour}, {AGENTS[agent].night})"


def mark(agent: str | None) -> str:
    """Return an agent's mark in the colour and shape of its points in charts."""
    shape = AGENTS[agent].marker if agent in AGENTS else "circle"
    return f'<span class="t-mark t-mark-{shape}" style="background:{agent_colour(agent)}"></span>'


def marked_name(agent: str | None) -> str:
    """Return an agent's mark and name."""
    return f"{mark(agent)}{text(agent_name(agent))}"


def agent_and_model(agent: str | None, model: str | None, effort: str | None = None) -> str:
    """Return `TRAE with gpt-5`, in plain text."""
    name = model_name(model, effort=effort)
    return f"{agent_name(agent)} with {name}" if model else agent_name(agent)


def bar(segments: Sequence[Segment], *, width: int = 0) -> str:
    """Return a bar of segments, as wide as its cell or `width` pixels.

    Their sizes show on hovering.
    """
    parts = "".join(
        (
            f'<i class="t-{segment.kind}" style="flex:{segment.size}" title="'
            f'{f"{segment.size:,} {html.escape(segment.label)}" if segment.label else ""}"></i>'
        )
        for segment in segments
        if segment.size
    )
    style = f' style="width:{width}px"' if width else ""
    return f'<div class="t-bar"{style}>{parts}</div>' if parts else ""


def legend(*groups: tuple[str, Iterable[tuple[str, str]]]) -> str:
    """Return a legend: for each group its title and the (class, label) of its segments."""
    parts = []
    for title, entries in groups:
        named = [
            f'<span><i class="t-sw t-{kind}"></i>{html.escape(label)}</span>'
            for kind, label in entries
        ]
        parts += (
            [*([f'<span class="t-n">{html.escape(title)}</span>'] if title else []), *named]
            if named
            else []
        )
    return f'<div class="t-key">{"".join(parts)}</div>' if parts else ""


def muted(words: str) -> str:
    """Return words in muted colour."""
    return f'<span class="t-n">{text(words)}</span>' if words else ""


def warning(words: str) -> str:
    """Return a highlighted line. `words` is HTML."""
    return f'<div class="t-warn" role="status">{words}</div>'


@dataclass(frozen=True)
class Shown:
    """A text, cut if it is too long for a screen; `note` says so."""

    text: str
    note: str = ""


def shown(text: str) -> Shown:
    """Return the text cut to SHOWN_CHARACTERS, without deceptive characters."""
    if len(text) <= SHOWN_CHARACTERS:
        return Shown(visible(text))
    return Shown(
        visible(text[:SHOWN_CHARACTERS]),
        f"Showing the first {SHOWN_CHARACTERS:,} of {len(text):,} characters.",
    )


def shown_record(raw: str) -> Shown:
    """Return a raw record pretty-printed with every number as written.

    Unchanged if it is too long or not JSON.
    """
    if len(raw) <= SHOWN_CHARACTERS:
        try:
            record = simplejson.JSONDecoder(
                parse_float=Decimal, strict=False, allow_nan=True
            ).decode(raw)
            return shown(
                in_json(
                    simplejson.dumps(
                        record, indent=2, use_decimal=True, allow_nan=True, ensure_ascii=False
                    )
                )
            )
        except (ValueError, RecursionError):
            pass
    return shown(raw)


_MARKS = re.compile(r"[\\`*_{}\[\]<>#!|~$:&()]|(?<![^\n])[-+=.]|(?<=\d)[.)](?=\s)")
"""Characters with a meaning in Markdown or in Streamlit's additions to it; list marks count only at
the beginning of a line.
"""

_IN_LINKS = re.compile(r"(?<=[\w.+-]@)(?=[-\w])|(?<=http)(?=s?://)|(?<=www)(?=\.)", re.IGNORECASE)
"""A position inside text that Markdown turns into a link by itself: a mail address, `https://…`,
`www.…`.
"""


def plain(text: str) -> str:
    """Escape text from a log for Markdown."""
    # an element without text: addresses become links also if their signs are escaped, but not
    # across elements
    nothing = ":small[]"
    return nothing.join(_MARKS.sub(r"\\\g<0>", part) for part in _IN_LINKS.split(visible(text)))


def code_span(text: str) -> str:
    """Return text from a log as a Markdown code span.

    Line breaks become blanks, since a blank line would end the code.
    """
    line = one_line(text)
    fence = "`" * (1 + max((len(ticks) for ticks in re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if line.strip() else ""
