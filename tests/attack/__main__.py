"""Run attacks and print their table.

`python -m tests.attack [--kills 1000] [--only kills,writers] [--md]`.

Exit code 1 where anything failed. What failed is told as it happens, with what reproduces it; its
folder is kept.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

from playwright.sync_api import Browser

from tests.attack import (
    broken_logs,
    disk_full,
    hostile_links,
    hostile_pages,
    inputs,
    kills,
    other_tests,
    uploads,
    workers,
    writers,
)
from tests.attack.browsing import Tab
from tests.attack.lab import Lab, table
from tests.conftest import environment
from tests.forks import Forks
from tests.serving import chromium

SIZES: Mapping[str, tuple[int, str]] = {
    "kills": (1000, "SIGKILLs of commands that write"),
    "strikes": (10, "kills of a worker, and of the parent of workers, per source"),
    "lines": (100_000, "lines of the file that is read when the parent is killed"),
    "disks": (8, "sizes of the disk per command"),
    "writers": (100, "ingests at once; 20 at once are tried first"),
    "busy": (18, "busy loops beside them"),
    "dashboards": (2, "dashboards open beside them"),
    "inputs": (500, "hostile inputs"),
    "readers": (5000, "broken logs and results"),
    "runs": (50, "hostile runs opened on their own page"),
    "links": (300, "hostile links"),
}
"""Option → its default and what it counts."""


def attack_pages(lab: Lab, browser: Browser, size: Mapping[str, int]) -> None:
    """Screens, exports and links, over one dashboard."""
    with hostile_pages.dashboard(lab) as shown:
        with (
            browser.new_page(viewport={"width": 1280, "height": 900}) as page,
            closing(Tab(page, shown.address)) as tab,
        ):
            hostile_pages.attack_screens(lab, tab, shown, size["runs"])
            hostile_links.attack(lab, tab, shown, size["links"])
        hostile_pages.attack_exports(lab, browser, shown)


def attack_writers(lab: Lab, size: Mapping[str, int]) -> None:
    """Some at once, then as many as asked for."""
    for count in sorted({min(20, size["writers"]), size["writers"]}):
        writers.attack(lab, count, busy=size["busy"], dashboards=size["dashboards"])


def with_browser(
    attack: Callable[[Lab, Browser, Mapping[str, int]], None],
) -> Callable[[Lab, Mapping[str, int]], None]:
    """The attack with a browser of its own."""

    def attack_in_browser(lab: Lab, size: Mapping[str, int]) -> None:
        with chromium() as browser:
            attack(lab, browser, size)

    return attack_in_browser


ATTACKS: Mapping[str, Callable[[Lab, Mapping[str, int]], None]] = {
    "kills": lambda lab, size: kills.attack(lab, size["kills"]),
    "workers": lambda lab, size: workers.attack(lab, size["strikes"], size["lines"]),
    "disks": lambda lab, size: disk_full.attack(lab, size["disks"]),
    "uploads": with_browser(lambda lab, browser, size: uploads.attack(lab, browser, size["disks"])),
    "writers": attack_writers,
    "inputs": lambda lab, size: inputs.attack(lab, size["inputs"]),
    "readers": lambda lab, size: broken_logs.attack(lab, size["readers"]),
    "pages": with_browser(attack_pages),
    "others": lambda lab, _: other_tests.attack(lab),
    "laws": lambda lab, _: other_tests.attack_laws(lab),
}
"""Name → attack, in the order of the table."""


def options() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.attack", description=__doc__.partition("\n")[0]
    )
    for name, (default, what) in SIZES.items():
        parser.add_argument(
            f"--{name}", type=int, default=default, help=f"{what} (default {default:,})"
        )
    parser.add_argument(
        "--only",
        default=",".join(ATTACKS),
        help=f"attacks to run, with commas between: {', '.join(ATTACKS)}",
    )
    parser.add_argument("--seed", type=int, default=0, help="of all chance (default 0)")
    parser.add_argument("--md", action="store_true", help="print the table as Markdown")
    parser.add_argument(
        "--folder", type=Path, help="where to work (default: a new temporary folder)"
    )
    return parser.parse_args()


def main() -> int:
    """Run them. Returns the exit code."""
    asked = options()
    names = asked.only.split(",")
    if unknown := set(names) - set(ATTACKS):
        print(
            f"There is no attack {', '.join(sorted(unknown))}. Attacks: {', '.join(ATTACKS)}",
            file=sys.stderr,
        )
        return 2
    folder = Path(tempfile.mkdtemp(prefix="attacks-", dir=asked.folder))
    with ExitStack() as stack:
        lab = Lab(folder, stack.enter_context(Forks(environment())), asked.seed)
        for name in names:
            print(f"{name} (seed {asked.seed}) …", file=sys.stderr, flush=True)
            ATTACKS[name](lab, vars(asked))
    print(table(lab.tallies, markdown=asked.md))
    if any(tally.failures for tally in lab.tallies):
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
