"""The tables of the screen Data as HTML: what runs of each agent tell, and what rules found. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.queries.filters import Filters
from app.queries.quality import FACTS, Told
from app.text import brief, html_parts
from app.text.columns import untold
from app.text.html_parts import agent_name, anchor, mark, muted
from app.text.presentation import rule_meaning
from app.text.sentences.data import lacks

KINDS = {"error": "t-failed", "warning": "t-limited", "info": "t-unknown_ends"}


def told_table(rows: Sequence[Told], filters: Filters) -> str:
    """A row per agent, a column per fact: of how many started runs it is known, and what the logs of that agent never tell."""
    shown = [key for key in FACTS if any(row.known[key] < row.started for row in rows)] or list(FACTS)
    head = [("", "Agent"), ("r", "Runs<br>started"), *(("r", FACTS[key][0]) for key in shown)]
    made = []
    for row in rows:
        if row.is_all and len(rows) == 2:
            continue
        if row.is_all:
            name = "All"
        else:
            named = f"{mark(row.agent)}{html_parts.text(agent_name(row.agent))}"
            address = html_parts.link("", filters.with_values("agent", [row.agent]) if row.agent else filters)
            name = anchor(address, named, kind="t-plain t-agent")
        silent = untold(row.agent) if row.agent else frozenset()
        made.append(("sum" if row.is_all else "", [name, f"{row.started:,}", *(_cell(row, key, silent) for key in shown)]))
    whole = [FACTS[key][0].lower() for key in FACTS if key not in shown]
    note = f'<p class="t-cap">Known of every run: {html_parts.text(brief.joined(whole))}.</p>' if whole else ""
    return f'<div class="t-scroll">{html_parts.table(head, [*made[1:], *made[:1]] if len(rows) > 2 else made)}</div>{note}'


def _cell(row: Told, key: str, silent: frozenset[str]) -> str:
    words = lacks(row, key, is_untold=FACTS[key][2] in silent)
    if words == "none":
        return f'<span class="t-bad">{words}</span>'
    return muted(words) if words in ("all", "never told", brief.NO_VALUE) else html_parts.text(words)


def rule_table(rules: Sequence[Mapping[str, Any]], filters: Filters) -> str:
    """What rules found, the gravest first; a click on one lists its runs."""
    head = [("", "Rule"), ("", "What it looks for"), ("r", "Findings"), ("r", "Runs"), ("r w", "Reported cost<br>of these runs")]
    made = []
    for row in rules:
        sign = f'<i class="t-sw {KINDS.get(row["severity"], "t-unknown_ends")}" title="{html_parts.text(row["severity"])}"></i> '
        address = html_parts.link("", filters, rule=row["rule"])
        name = anchor(address, html_parts.text(row["rule"].replace("_", " ")), kind="t-link")
        cost = brief.NO_VALUE if row["cost_usd"] is None else brief.usd(row["cost_usd"])
        about = html_parts.text(rule_meaning(row["rule"]))
        made.append(("", [sign + name, f'<span class="t-wrap">{about}</span>', f"{row['findings']:,}", f"{row['runs']:,}", cost]))
    legend = html_parts.legend(("Severity", [(KINDS[key].removeprefix("t-"), key) for key in KINDS]))
    return f'<div class="t-scroll">{html_parts.table(head, made)}</div>{legend}'
