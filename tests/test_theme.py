"""Texts can be read by day and by night.

4.5:1 (WCAG 2.2, 1.4.3), computed on the theme's colours and our own.
"""

from __future__ import annotations

import re
import tomllib
from itertools import product

import pytest

from app.charts.base import FAILED, FAILED_AT_NIGHT, INKS, ON_DEEP, PALETTE
from tests.conftest import ROOT
from tests.test_charts import luminance

READABLE = 4.5
THEME = tomllib.loads((ROOT / "app" / ".streamlit" / "config.toml").read_text())["theme"]
CSS = (ROOT / "app" / "assets" / "dashboard.css").read_text()
PAGES = ("light", "dark")
CAPTION = 0.6
"""How opaque Streamlit writes captions; names of facts and legends have 0.75."""

ON_PRIMARY = dict(zip(PAGES, re.findall(r"light-dark\((#\w{6}), (#\w{6})\)", CSS)[0], strict=True))


def contrast(first: str, second: str) -> float:
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def faded(colour: str, background: str, opacity: float) -> str:
    """What is seen of a colour that lets the background through."""
    mixed = (
        round(
            int(colour[at : at + 2], 16) * opacity
            + int(background[at : at + 2], 16) * (1 - opacity)
        )
        for at in (1, 3, 5)
    )
    return "#" + "".join(f"{channel:02X}" for channel in mixed)


@pytest.mark.parametrize("page", PAGES)
def test_every_text_of_the_theme_can_be_read(page: str) -> None:
    colours = THEME[page]
    backgrounds = (colours["backgroundColor"], colours["secondaryBackgroundColor"])
    texts = [
        colours[key] for key in ("textColor", "primaryColor", "linkColor", "codeTextColor")
    ] + [INKS[page], {"light": FAILED, "dark": FAILED_AT_NIGHT}[page]]
    pairs = [*product(texts, backgrounds), (ON_PRIMARY[page], colours["primaryColor"])]
    pairs += [
        (faded(colours["textColor"], background, CAPTION), background) for background in backgrounds
    ]
    assert {pair: contrast(*pair) for pair in pairs if contrast(*pair) < READABLE} == {}


IN_WORDS = {
    *("--t-unknown", "--t-never", "--t-once", "--t-border", "--t-shade", "--t-card", "--t-line"),
}
"""No marks to be told apart: lines, grounds, and parts of bars whose sizes are in words beside."""


@pytest.mark.parametrize("page", PAGES)
def test_texts_and_marks_of_our_own_parts_can_be_seen(page: str) -> None:
    """A text on the colour that its rule gives it, else on the page; a mark keeps 3:1."""
    at, ground = PAGES.index(page), THEME[page]["backgroundColor"]
    pairs = re.findall(r"(--t-[a-z]+): light-dark\((#\w{6}), (#\w{6})\)", CSS)
    named = {name: days[at] for name, *days in pairs}

    def colour(rule: str, key: str) -> str | None:
        found = re.search(rf"(?<![-\w]){key}: (?:var\((--[\w-]+)\)|(light-dark\([^)]+\)))", rule)
        return found and (named[found[1]] if found[1] else re.findall(r"#\w{6}", found[2])[at])

    weak = {name for name, one in named.items() if contrast(one, ground) < 3} - IN_WORDS
    for selector, rule in re.findall(r"([^{}]+)\{([^{}]*)\}", CSS):
        behind, text = colour(rule, "background"), colour(rule, "color")
        if text and contrast(text, behind or ground) < READABLE and "primary" not in selector:
            weak.add(selector)  # texts on the primary colour: the test above
        if ".t-m-" in selector and contrast("#FFFFFF", behind or ground) < READABLE:
            weak.add(selector)  # parts of the bar of a run's money, with white words
    assert weak == set()


@pytest.mark.parametrize(
    ("text", "colour"),
    [
        (ON_DEEP, PALETTE[0]),
    ],
)
def test_every_text_on_a_bar_can_be_read(text: str, colour: str) -> None:
    assert contrast(text, colour) >= READABLE
