"""Cells of the matrix of tasks: their words, the same on screens and from the command line, and their colours by day and by night."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from app.text import brief
from schemas.catalogue.metrics import BAND

Cell = Mapping[str, Any]

SYMBOLS = {"faster": "↑ ", "same": "= ", "slower": "↓ "}
"""What stands for the colours of verdicts where there are none."""

LACKS = {"claimed": "no claim", "cost": "not recorded", "duration": "none completed"}
"""What a cell says whose runs have no such value."""

_WRITE = {"result": brief.ratio, "measured": brief.ratio, "claimed": brief.ratio, "duration": brief.duration}


@dataclass(frozen=True, slots=True)
class Look:
    """A background with the text on it, by day and by night, and what it means."""

    paper: tuple[str, str]
    ink: tuple[str, str]
    label: str = ""

    def style(self, *, dark: bool) -> str:
        """One of both, as a grid has it."""
        return f"background-color:{self.paper[dark]};color:{self.ink[dark]}"

    @property
    def css(self) -> str:
        """Both, as HTML's style has it."""
        return f"background:light-dark({','.join(self.paper)});color:light-dark({','.join(self.ink)})"


_TEXT, _MUTED, _DEEP = ("#0F1719", "#E4E8E5"), ("#565C5E", "#A9B1B1"), ("#FFFFFF", "#0B1215")
LOOKS = {
    "faster": Look(("#0C7F79", "#35A79E"), _DEEP, "measured faster"),
    "same": Look(("#DCDCD8", "#424A4C"), _TEXT, "same (±5%)"),
    "slower": Look(("#BD4D44", "#C9675E"), _DEEP, "slower"),
    "breaks": Look(("#856A9E", "#9277B2"), _DEEP, "the change breaks"),
    "done": Look(("#CED9DE", "#2D414D"), _TEXT, "completed, no ratio"),
    "failed": Look(("#EDD3CE", "#452C2C"), _TEXT, "failed"),
    "limit": Look(("#EADEC1", "#41391E"), _TEXT, "limit"),
    "unknown": Look(("#EEEDEA", "#252B2E"), _MUTED, "end unknown"),
    "never": Look(("#FBFAF7", "#11171A"), _MUTED, "never started"),
}
"""What became of a cell's runs."""

_INK = ("#0F1719", "#0B1215")
TEAL = (
    *(Look(paper, _TEXT) for paper in (("#DFEDE9", "#162D2E"), ("#B4D8D4", "#1C4242"), ("#85C2BE", "#235F5C"))),
    Look(("#4AA6A1", "#35A79E"), _INK),
)
BLUE = (
    *(Look(paper, _TEXT) for paper in (("#E4E9EA", "#1F2C34"), ("#C2D0D7", "#2D414D"), ("#9CB4C2", "#3D5969"))),
    Look(("#6D92A8", "#6FA3C4"), _INK),
)
SCALES = {"measured": TEAL, "claimed": TEAL, "cost": BLUE, "duration": BLUE}
"""The single hue of a content, from its smallest to its largest values."""

PLAIN = Look(("#FBFAF7", "#11171A"), _MUTED)
"""A cell that says why it has no value."""


def words(cell: Cell, value: str) -> str:
    """What a cell says: `1.25× (2 of 3)`, `breaks`, `1 of 2 done`, `failed 2×`, `≤ $0.44`."""
    known = number(cell, value)
    if known is None:
        if value == "result" and cell["breaks"]:
            return _times("breaks", cell["breaks"], cell["runs"])
        return _outcome(cell) if value in ("result", "outcome") else _unmeasured(cell) if value == "measured" else LACKS[value]
    written = brief.usd(known, cell["bounds"]) if value == "cost" else _WRITE[value](float(known))
    having = cell["measured_known" if value == "result" else f"{value}_known"]
    return f"{written} ({having} of {cell['runs']})" if cell["runs"] > 1 else written


def number(cell: Cell, value: str) -> Any:
    """The figure behind the words; None where they are no figure."""
    return None if value == "outcome" else cell["measured" if value == "result" else value]


def _outcome(cell: Cell) -> str:
    """How the runs of a cell ended: how many are done; where none is, what became of most of them."""
    runs, completed = cell["runs"], cell["completed"]
    if completed:
        return "done" if runs == 1 else f"{completed} of {runs} done"
    end, most = _most_ends(cell)
    return _times(end, most, runs)


def _times(what: str, number: int, runs: int) -> str:
    return what if runs == 1 else f"{what} {number}×" if number == runs else f"{what} {number} of {runs}"


def _most_ends(cell: Cell) -> tuple[str, int]:
    ends = {"not started": cell["never_started"], "limit": cell["limits"], "ended ?": cell["unknown_ends"]}
    ends["failed"] = cell["runs"] - cell["completed"] - sum(ends.values())
    most = max(("failed", *ends), key=lambda end: ends[end])
    return most, ends[most]


def _unmeasured(cell: Cell) -> str:
    """Why a cell has no measured ratio, the change's own fault first."""
    reasons = {"breaks": "breaks", "machine": "machine failed", "uncompared": "not comparable"}
    return next((said for key, said in reasons.items() if cell[key]), brief.NOT_MEASURED)


def verdict(cell: Cell) -> str:
    """The verdict of the cell's median ratio: that of the runs in the middle, and where these differ, by the band of ±5 %."""
    verdicts = cell["verdicts"]
    if not verdicts:
        return ""
    middle = {verdicts[(len(verdicts) - 1) // 2], verdicts[len(verdicts) // 2]}
    if len(middle) == 1:
        return str(verdicts[len(verdicts) // 2])
    return "faster" if cell["measured"] > 1 + BAND else "slower" if cell["measured"] < 1 / (1 + BAND) else "same"


def kind(cell: Cell, value: str = "result") -> str:
    """What the words of a result or outcome mean, a key of LOOKS."""
    if value == "result" and (cell["verdicts"] or cell["breaks"]):
        return verdict(cell) or "breaks"
    if cell["completed"]:
        return "done"
    return {"not started": "never", "limit": "limit", "ended ?": "unknown", "failed": "failed"}[_most_ends(cell)[0]]


def looks(cells: Sequence[Cell], value: str) -> list[Look]:
    """The look of each cell: its kind for a result, else the place of its value between the smallest and the largest, on a log scale."""
    if value in ("result", "outcome"):
        return [LOOKS[kind(cell, value)] for cell in cells]
    scale, ends = SCALES[value], steps(cells, value)
    return [PLAIN if not number(cell, value) else scale[sum(float(number(cell, value)) > end for end in ends)] for cell in cells]


def steps(cells: Sequence[Cell], value: str) -> list[float]:
    """Where the colours of a scale change: equal steps on a log scale between the 5 % and 95 % of the values; empty for equal ones."""
    known = sorted(float(number(cell, value)) for cell in cells if number(cell, value))
    if not known:
        return []
    low, high = known[len(known) // 20], known[-1 - len(known) // 20]
    colours = len(SCALES[value])
    return [low * (high / low) ** (step / colours) for step in range(1, colours)] if high > low else []


def legend(cells: Sequence[Cell], value: str) -> list[tuple[Look, str]]:
    """What the colours of these cells mean: only those that occur."""
    if value in ("result", "outcome"):
        seen = {kind(cell, value) for cell in cells}
        return [(look, look.label) for key, look in LOOKS.items() if key in seen]
    ends, scale = steps(cells, value), SCALES[value]
    write = brief.usd if value == "cost" else _WRITE[value]
    if not ends:
        return []
    between = [f"{write(low)} to {write(high)}" for low, high in pairwise(ends)]
    return list(zip(scale, [f"up to {write(ends[0])}", *between, f"above {write(ends[-1])}"], strict=True))


def spread(cells: Sequence[Cell], value: str) -> float:
    """How far the cells of a task lie apart: the log of largest ÷ smallest value; of results and outcomes also shares that are done."""
    known = [float(number(cell, value)) for cell in cells if number(cell, value)]
    apart = math.log(max(known) / min(known)) if len(known) > 1 else 0.0
    shares = [cell["completed"] / cell["known_ends"] for cell in cells if cell["known_ends"]]
    return apart + (max(shares) - min(shares) if shares and value in ("result", "outcome") else 0.0)
