"""The parts of which screens are made, as HTML: heading, marks of agents, bars, legends, tables. Pure; every text is escaped.

Streamlit keeps classes and styles of such HTML and strips inline SVG; the classes are those of `app/assets/dashboard.css`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import urlencode

from app.queries import filter_inputs as urls
from app.queries.filters import Filters
from app.text.formatting import UNKNOWN_NAME
from schemas.agents import AGENTS
from schemas.text import one_line, visible

_EMPHASIS = re.compile(r"\*\*(.+?)\*\*")

OUTCOMES = {
    "completed": "completed",
    "limited": "ended by a limit",
    "failed": "failed",
    "unknown_ends": "unknown",
    "never_started": "never started",
}
"""How runs end, by the field of AgentFigures that counts them, in the order of bars."""

MEASURED = {
    "faster": "faster",
    "same": "same (±5%)",
    "slower": "slower",
    "breaks": "the change breaks",
    "uncompared": "not comparable, no baseline",
    "machine": "machine failed",
}
"""What became of measurements, in the order of bars."""


KEPT: ContextVar[dict[str, str]] = ContextVar("kept", default={})  # noqa: B039  never changed, only replaced
"""Words of the address that every link keeps beside the filters: a link loads the page anew, and with it a new session."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar: `kind` is a class of the style sheet (`t-completed`), `size` a number of runs, `label` its words."""

    kind: str
    size: int
    label: str


def text(value: str) -> str:
    """A text of a log in one line, safe within HTML."""
    return html.escape(visible(one_line(value)))


def said(sentence: str) -> str:
    """A sentence of ours with its `**emphasised**` part. Texts of logs in it are escaped."""
    return _EMPHASIS.sub(r"<em>\1</em>", html.escape(visible(sentence)))


def heading(sentence: str, second: str = "", coverage: str = "", address: str = "", *, label: str = "what is missing") -> str:
    """The answer of a screen, the second most important fact, and what both rest on, with a link: usually to what the logs lack."""
    link = f' · <a href="{html.escape(address)}" target="_self">{text(label)}</a>' if address else ""
    return "".join(
        (
            f'<h1 class="t-h1">{said(sentence)}</h1>',
            f'<p class="t-sub">{said(second)}</p>' if second else "",
            f'<p class="t-cap">{said(coverage)}{link}</p>' if coverage or address else "",
        )
    )


def link(page: str, filters: Filters, **more: str) -> str:
    """The address of a page with these filters, from any other page."""
    named = [(key, value) for key, values in urls.write_link(filters).items() for value in values]
    words = urlencode([*named, *(KEPT.get() | more).items()])
    return f"{page}?{words}" if words else page or "?"


def anchor(address: str, label: str, *, kind: str = "") -> str:
    """A link in the same tab. `label` is HTML."""
    return f'<a class="{kind}" href="{html.escape(address)}" target="_self">{label}</a>'


def mark(agent: str | None) -> str:
    """An agent's mark: its colour, in the shape that charts have for it."""
    if agent not in AGENTS:
        return '<span class="t-mark t-mark-circle" style="background:#7A7A7A"></span>'
    return f'<span class="t-mark t-mark-{AGENTS[agent].marker}" style="background:{AGENTS[agent].colour}"></span>'


def agent_name(agent: str | None) -> str:
    """An agent as people call it; one that no log names is `Unnamed agent`."""
    if agent in AGENTS:
        return AGENTS[agent].label
    return visible(agent) if agent and agent != UNKNOWN_NAME else "Unnamed agent"


def agent_and_model(agent: str | None, model: str | None) -> str:
    """`TRAE with gpt-5`, in plain text."""
    return f"{agent_name(agent)} with {visible(model)}" if model else agent_name(agent)


def agent_link(agent: str | None, model: str | None, filters: Filters) -> str:
    """An agent with its mark and model; a click on it leaves the runs of both."""
    named = f"{mark(agent)}{text(agent_name(agent))}"
    chosen = filters.with_values("agent", [agent]) if agent else filters
    chosen = chosen.with_values("main-model", [model]) if model else chosen
    linked = anchor(link("", chosen), named, kind="t-plain t-agent") if agent else named
    return f'<span class="t-agent">{linked}</span> {muted(model or "model not recorded")}'


def bar(segments: Sequence[Segment], *, width: int = 0) -> str:
    """A bar of segments, as wide as its cell or `width` pixels; their sizes are told on hovering."""
    total = sum(segment.size for segment in segments)
    parts = "".join(
        f'<i class="t-{segment.kind}" style="flex:{segment.size}" title="{segment.size:,} {html.escape(segment.label)}"></i>'
        for segment in segments
        if segment.size
    )
    style = f' style="width:{width}px"' if width else ""
    return f'<div class="t-bar"{style}>{parts}</div>' if total else ""


def legend(*groups: tuple[str, Iterable[tuple[str, str]]]) -> str:
    """Names of colours: for each group its title and the (class, label) of its segments."""
    parts = []
    for title, entries in groups:
        named = [f'<span><i class="t-sw t-{kind}"></i>{html.escape(label)}</span>' for kind, label in entries]
        parts += [*([f'<span class="t-n">{html.escape(title)}</span>'] if title else []), *named] if named else []
    return f'<div class="t-key">{"".join(parts)}</div>' if parts else ""


def table(head: Sequence[tuple[str, str]], rows: Iterable[tuple[str, Sequence[str]]], *, kind: str = "") -> str:
    """A table: (class, title) of each column, and (class, cells) of each row. Titles and cells are HTML."""
    titles = "".join(f'<th scope="col" class="{of}">{title}</th>' for of, title in head)
    classes = [of for of, _ in head]
    body = "".join(
        f'<tr class="{of_row}">{"".join(f"""<td class="{of}">{cell}</td>""" for of, cell in zip(classes, cells, strict=True))}</tr>'
        for of_row, cells in rows
    )
    return f'<table class="t-table {kind}"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>'


def muted(words: str) -> str:
    """Words beside a figure, or in place of one."""
    return f'<span class="t-n">{text(words)}</span>' if words else ""


def warning(words: str) -> str:
    """A line that catches the eye. `words` is HTML."""
    return f'<div class="t-warn" role="status">{words}</div>'


def group_name(agent: str | None, label: str, detail: str) -> str:
    """A group of runs: its agent's mark, its name, and its model muted."""
    return f'<span class="t-agent">{mark(agent)}<span>{text(label)} {muted(detail)}</span></span>'
