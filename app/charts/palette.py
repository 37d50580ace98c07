"""How things look: one colour and one mark per model, one colour per outcome, severity and cohort, in every chart the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from app.text.formatting import UNKNOWN_NAME
from schemas.agents import AGENTS

R = TypeVar("R")

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#C0649B", "#B07D00", "#3A93C8", "#8A7F00")
"""Okabe and Ito's colours for the colour-blind; the light ones darkened so that all keep 3:1 against light and dark pages.
Grey is for unknown models, and no model has it."""

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "pentagon", "star")
TOP = 6
"""Models with a colour of their own; where there are more than PALETTE has colours, the others are one entry of every legend."""

MANY = 2_000
"""Above so many points, the graphics card draws them: as page elements they would take seconds."""

OTHERS = "other"

OUTCOMES = {
    "completed": "#009E73",
    "limit_reached": "#B07D00",
    "max_turns": "#8A7F00",
    "max_budget": "#C0649B",
    "max_structured_output_retries": "#7A5CA8",
    "api_error": "#D55E00",
    "execution_error": "#B5352C",
    "interrupted": "#3A93C8",
    "refused": "#0072B2",
    "unknown": "#7A7A7A",
}
"""Outcomes in the order in which legends and bars show them: what went well first."""


TOKENS = {"cache_read_tokens": "#3A93C8", "cache_write_tokens": "#0072B2", "input_tokens": "#B07D00", "output_tokens": "#D55E00"}
"""Classes of tokens: cached ones in blue, uncached ones in warm colours."""

SEVERITIES = {"error": "#D55E00", "warning": "#B07D00", "info": "#3A93C8"}
"""Severities of findings, the gravest first."""

PLAIN = "#0F8A84"
"""The colour of data without groups."""

ON_COLOUR = "#0F1719"
"""The colour of texts on these colours, in light and dark themes: white would not have enough contrast on most of them."""

ON_DEEP = "#FFFFFF"
"""The colour of texts on the first colour of PALETTE, which is too deep for the other."""

LONGEST_NAME = 48


@dataclass(frozen=True)
class Look:
    """The colour of a model or outcome, the mark of its points, the hatching of its bars, and its place in legends.

    `is_other` is the look that all models beyond the first ones share.
    """

    colour: str
    symbol: str
    pattern: str
    place: int = 0
    is_other: bool = False


Looks = Mapping[str | None, Look]
_NOBODY = Look("#7A7A7A", "circle-open", "", 1_001)
OTHER_LOOK = Look("#8A8F91", "x", "/", 1_000, is_other=True)


def looks(models: Iterable[str | None]) -> dict[str | None, Look]:
    """A look for each model, the most important first. Pass all models of a store, so that a model looks the same everywhere."""
    named = [model for model in dict.fromkeys(models) if model is not None]
    own = len(named) if len(named) <= len(PALETTE) else TOP
    return {None: _NOBODY} | {model: _look(place) if place < own else OTHER_LOOK for place, model in enumerate(named)}


def in_legend(groups: Mapping[str | None, Sequence[R]], models: Looks) -> list[tuple[str, Look, list[R]]]:
    """Rows by model as entries of a legend: its label, its look and its rows, in the one order that all charts have."""
    entries: dict[Look, tuple[str, list[R]]] = {}
    for model, rows in groups.items():
        look = models.get(model, OTHER_LOOK)
        entries.setdefault(look, (OTHERS if look.is_other else name(model), []))[1].extend(rows)
    return [(label, look, rows) for look, (label, rows) in sorted(entries.items(), key=lambda entry: entry[0].place)]


OUTCOME_LOOKS: Looks = {None: _NOBODY} | {
    called: Look(colour, "circle", "") for outcome, colour in OUTCOMES.items() for called in (outcome, outcome.replace("_", " "))
}
"""A look for each outcome, by its stored name and by its words."""


AGENT_LOOKS: Looks = {None: _NOBODY} | {
    word: Look(agent.colour, agent.marker, "", place) for place, agent in enumerate(AGENTS.values()) for word in (agent.key, agent.label)
}
"""A look for each agent, by its key and by its label."""


def _look(place: int) -> Look:
    return Look(PALETTE[place], SYMBOLS[place], "", place)


def name(model: str | None) -> str:
    """A model's name for a legend."""
    text = UNKNOWN_NAME if model is None else str(model)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"
