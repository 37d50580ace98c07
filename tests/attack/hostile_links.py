"""Every screen opened by hostile links.

Ids that are none, SQL, scripts, halves of characters, megabytes of parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from tests.attack.browsing import Tab
from tests.attack.hostile_pages import SCREENS, Dashboard, check
from tests.attack.lab import Lab
from tests.attack.payloads import payloads

FILTERS = (
    *(
        "repo",
        "task",
        "agent",
        "model",
        "main-model",
        "outcome",
        "experiment",
        "label",
        "since",
        "until",
        "min-cost",
        "max-cost",
    ),
    *("evidence", "min-claim", "min-confidence", "session", "search", "nosuchfilter"),
)
CONTROLS = (
    *(
        "run",
        "what",
        "order",
        "columns",
        "page",
        "by",
        "tz",
        "grouping",
        "reprice",
        "format",
        "groups",
        "pair",
    ),
    *("rule", "time", "measure", "preview", "embed", "embed_options"),
)
CHECKED = (
    "a heading is drawn; no traceback on the page, no exception in the log; no script ran, no "
    "request but to the dashboard"
)
PATHS = (*SCREENS, "run", "nosuchscreen", "runs/../run", "run/%2e%2e/%00")


def values(bird: str) -> dict[str, str]:
    """Name → value, percent-encoded."""
    texts = {
        f"payload: {name}": quote(text, safe="", errors="surrogatepass")
        for name, text in payloads(bird).items()
    }
    return texts | {
        "bytes that are no UTF-8": "%FF%FE%ED%A0%80",
        "zero": "%00",
        "broken escapes": "%",
        "very long": "x" * 8_000,
        "many digits": "9" * 400,
        "negative": "-1",
        "not a number": "NaN",
        "infinite": "1e999",
        "a date that is none": "9999-99-99T99:99",
        "a date at the end of time": "9999-12-31T23:59:59.999999-23:59",
        "label without value": "=",
        "path": "..%2F..%2Fetc%2Fpasswd",
        "blank": "%20",
        "empty": "",
        "sql": "x%27%20union%20select%20*%20from%20runs%20--",
        "list": "a&{key}=b&{key}=%5B%5D&{key}=%7B%7D",
    }


def attack(lab: Lab, tab: Tab, shown: Dashboard, links: int) -> None:
    """Open many links to screens with all filters and widget parameters set to a hostile value.

    Each link has one such value; `links` is their number.
    """
    tally = lab.tally("hostile links", CHECKED)
    for path, name, query in _chosen(lab, shown.bird.address, links):
        with tally.attempt(f"a dashboard of {shown.store}, /{path}?… with {name}: {query[:300]}"):
            tab.open(f"{path}?{query}")
            check(tab, shown)


def _chosen(lab: Lab, bird: str, links: int) -> Iterator[tuple[str, str, str]]:
    """Every screen about equally often, values at random."""
    chance, every = lab.chance("links"), values(bird)
    for number in range(links):
        path = PATHS[number % len(PATHS)]
        name = chance.choice(list(every))
        keys = (
            (*FILTERS, *CONTROLS)
            if len(every[name]) < 1_000
            else chance.sample((*FILTERS, *CONTROLS), 3)
        )
        yield path, name, "&".join(f"{key}={every[name].replace('{key}', key)}" for key in keys)
