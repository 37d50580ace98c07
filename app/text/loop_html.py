"""The screen of optimization loops as words and HTML.

Its heading, the table of loops, the figures of one, and its experiments.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import takewhile

import pyarrow as pa
import simplejson

from app.queries.filters import Filters
from app.queries.loop_costs import LoopSession
from app.queries.loop_statistics import NoiseFrom
from app.queries.loops import GainClass, LoopAnswer, LoopVerdict, Try
from app.text import grids, html_parts
from app.text.columns import PROGRESS
from app.text.formatting import NOT_RECORDED, UNKNOWN, duration, multiple, short, sign_of, usd
from app.text.html_parts import Segment
from app.text.loops import (
    STATES,
    about,
    before_and_best,
    gain_figure,
    gain_words,
    is_implausible,
    kept_words,
    noise_step,
    noise_words,
    step_words,
    tries_words,
    why_unread,
)
from app.text.sentences import Doubt, Said, joined, none_or, spelled, upper_first
from app.text.table import Col, TextCell, TextTable, card, run_cell
from schemas.catalogue.columns import EXPERIMENTS
from schemas.rows.loop import CostBasis, State
from schemas.text import join_known, one_line, plural
from schemas.units import Unit

AXES = {"experiments": "Experiments", "time": "Time", "usd": "Dollars"}
"""What a loop's experiments are drawn along."""

BARS = {
    State.KEPT: "faster",
    State.DISCARDED: "same",
    State.CRASHED: "failed",
    State.CHECKS_FAILED: "breaks",
    State.OTHER: "no_baseline",
}
"""State of an experiment → class of its segment in a bar."""

CLASSES = {
    GainClass.BEYOND: "Beyond noise",
    GainClass.UNKNOWN: "Noise unknown",
    GainClass.INSIDE: "Inside noise",
    GainClass.NONE: "No gain",
    GainClass.UNREAD: "Cannot be read",
}
NOISE_FROM = {
    NoiseFrom.REPEATS: "from repeats",
    NoiseFrom.LOG: "as the log says",
    NoiseFrom.DISCARDED: "estimate, from discarded tries",
}
COST_FROM = {
    CostBasis.EXACT: "as recorded in the log",
    CostBasis.UPPER_BOUND: "upper bound, in the log",
    CostBasis.LOWER_BOUND: "in the log",
}

GRID = grids.Listing(
    EXPERIMENTS,
    (
        "experiment_no",
        "state",
        "value",
        "step_pct",
        "verdict",
        "cost_usd",
        "description",
        "label",
        "at",
        "duration_ms",
        "tokens",
        "commit",
        "model",
    ),
)

LONGEST_VALUE, MOST_NAMED = 60, 4


def total_words(answers: Sequence[LoopAnswer], each: int = 1) -> str:
    """Return the known cost of loops, divided by a count of steps, with its bounds."""
    known = [one for one in answers if one.cost_usd is not None]
    bounds = sorted({one.costs.basis or "" for one in known} - {"", CostBasis.EXACT})
    total = sum((one.cost_usd or Decimal(0) for one in known), Decimal(0))
    return usd(total / each, ", ".join(bounds))


def loops_said(answers: Sequence[LoopAnswer], filters: Filters) -> Said:
    """Return the first lines of several loops: how many gained beyond noise, and what they cost."""
    beyond = [one for one in answers if one.gain_class is GainClass.BEYOND]
    priced = [one for one in answers if one.cost_usd is not None]
    steps = sum(one.beyond_noise or 0 for one in beyond)
    heading = f"{none_or(len(beyond))} of {len(answers):,} loops **gained beyond noise**"
    known = [one for one in beyond if one in priced]
    if beyond and known == beyond and steps:
        heading += f", for {total_words(beyond, steps)} a step"
    second = ""
    if beyond and not known:
        these = f"these {spelled(len(beyond))}" if len(beyond) > 1 else "it"
        second = f"What {these} cost is not recorded."
    elif known != beyond:
        second = f"What {len(beyond) - len(known):,} of them cost is not recorded."
    dearest = sorted(priced, key=lambda one: -(one.cost_usd or 0))
    vain = list(takewhile(lambda one: one not in beyond, dearest))[:2]
    if vain:
        which = "The dearest loop" if len(vain) == 1 else "The two dearest loops"
        second = f"{second} {which} ({total_words(vain)}) gained nothing beyond noise.".strip()
    tries = sum((one.experiments or 0) - one.counts_of_baseline for one in answers)
    noisy = sum(one.noise is not None for one in answers if one.improvements)
    coverage = (
        f"**{tries_words(tries)}** · noise known for {plural(noisy, 'loop')} · "
        f"cost known for {len(priced):,} of {len(answers):,}"
    )
    return Said(f"{heading}.", second, coverage, tuple(_doubts(answers, filters)))


def _doubts(answers: Sequence[LoopAnswer], filters: Filters) -> list[Doubt]:
    """Return what is not sure of the figures of several loops."""

    def doubt(doubted: Sequence[LoopAnswer], words: str, show: GainClass) -> list[Doubt]:
        address = html_parts.link("loops", filters, show=show)
        text = f"{plural(len(doubted), 'loop')}: {words}."
        return [Doubt(text, "show them", address)] if doubted else []

    def of(known: GainClass) -> list[LoopAnswer]:
        return [one for one in answers if one.gain_class is known]

    rough = [one for one in of(GainClass.BEYOND) if one.noise and one.noise.is_rough]
    large = [one for one in answers if is_implausible(one)]
    return [
        *doubt(
            of(GainClass.UNKNOWN),
            "each code was measured once, so the gain may be noise",
            GainClass.UNKNOWN,
        ),
        *doubt(
            rough,
            "their noise is rough, of few repeats or estimated from discarded tries",
            GainClass.BEYOND,
        ),
        *(
            Doubt(
                f"{one.name} gained {gain_figure(one)}: check that its benchmark did not change.",
                "its tries",
                address_of(one, filters),
            )
            for one in large[:1]
        ),
        *doubt(
            of(GainClass.UNREAD),
            "the log lacks the direction, the decisions or the baseline",
            GainClass.UNREAD,
        ),
    ]


def address_of(answer: LoopAnswer, filters: Filters) -> str:
    """Return the link to a loop's page."""
    return html_parts.link("loops", filters, loop=answer.row["loop_id"])


def classes(answers: Sequence[LoopAnswer]) -> dict[str, str]:
    """Return the classes of gains that loops have, with their numbers."""
    counted = Counter(one.gain_class for one in answers)
    return {key: f"{label} {counted[key]:,}" for key, label in CLASSES.items() if counted[key]}


def loop_list(answers: Sequence[LoopAnswer], filters: Filters) -> str:
    """Return a row per loop of one class: gain, ends, noise, steps, tries by state, state, cost."""

    def name(one: LoopAnswer) -> TextCell:
        metric = one.row["metric"] or ""
        note = "" if one.name.endswith(metric) else metric
        return TextCell("", note, one.name, "t-plain", address_of(one, filters))

    def gain(one: LoopAnswer) -> TextCell:
        if not one.improvements or one.gain_pct is None:
            return TextCell("")
        hint = f"{short(one.gain_pct, Unit.PERCENT)} of the baseline"
        return TextCell(strong=gain_figure(one), hint=hint)

    def noise(one: LoopAnswer) -> str:
        if one.noise is None or not one.improvements:
            return ""
        return noise_step(one.noise.step(), is_log=one.noise.is_log) if one.noise.sigma else "none"

    def steps(one: LoopAnswer) -> TextCell:
        if one.beyond_noise is None or not one.improvements:
            return TextCell("")
        return TextCell(f"{one.beyond_noise:,}", f"of {one.improvements:,}")

    def tries(one: LoopAnswer) -> TextCell:
        segments = [Segment(BARS[state], one.counts[state] or 0, STATES[state]) for state in BARS]
        return TextCell(kept_words(one), bar=segments)

    def why(one: LoopAnswer) -> TextCell:
        return TextCell(note="" if one.improvements is not None else why_unread(one))

    def cost(one: LoopAnswer) -> str:
        return usd(one.cost_usd, one.costs.basis, "")

    def cost_per_step(one: LoopAnswer) -> str:
        if one.cost_usd is not None and not one.beyond_noise:
            return f"none for {cost(one)}"
        return usd(one.cost_per(one.beyond_noise), one.costs.basis, NOT_RECORDED)

    is_beyond = all(one.gain_class is GainClass.BEYOND for one in answers)
    first = (Col("Loop", name), Col("Gain", gain, "r"))
    noisy = Col("Noise", noise, "r")
    table = TextTable(
        (
            *first,
            Col("Before → best", lambda one: before_and_best(one) if one.improvements else "", "r"),
            noisy,
            Col("Steps beyond\nnoise", steps, "r w"),
            Col("Tries", tries, "w"),
            Col("State", lambda one: PROGRESS[one.state] if one.state else ""),
            Col("Why", why),
            Col("Cost", cost, "r"),
        ),
        answers,
    ).filled
    if is_beyond:
        shown = [column for column in table.columns if column.label != "Cost"]
        table = TextTable((*shown, Col("Cost per\nstep", cost_per_step, "r w")), answers)
    phone = TextTable((*first, noisy), answers) if is_beyond else TextTable(first, answers)
    large = [one for one in answers if is_implausible(one)]
    named = joined([f"{one.name} ({gain_figure(one)})" for one in large[:MOST_NAMED]])
    check = f"{named}: check first that the benchmark did not change." if large else ""
    return (
        f'<div class="t-wide t-scroll">{table.html(frame="")}</div>'
        f'<div class="t-phone">{phone.cards}</div><p class="t-cap">{html_parts.text(check)}</p>'
    )


def strip(answer: LoopAnswer) -> str:
    """Return up to eight known figures of a loop, each with its limits."""
    row, costs, noise = answer.row, answer.costs, answer.noise
    unit = f" {row['unit']}" if row["unit"] else ""
    boxes = list[tuple[str, str, str]]()
    if answer.baseline is not None:
        boxes.append(
            (
                "Baseline",
                f"{short(answer.baseline, Unit.QUANTITY)}{unit}",
                f"{row['better']} is better",
            )
        )
    if answer.best is not None:
        at = (
            ""
            if answer.best_at is None
            else "the baseline itself"
            if not answer.improvements
            else f"experiment {answer.best_at:,}"
        )
        boxes.append(
            ("Best", f"{short(answer.best, Unit.QUANTITY)}{unit}", at or row["metric"] or "")
        )
    if answer.gain_pct is not None and answer.improvements:
        boxes.append(("Gain", gain_figure(answer), noise_words(answer).partition(" (")[0]))
    if noise and answer.improvements is not None:
        step = noise.step()
        shown = noise_step(step, is_log=noise.is_log) if noise.sigma else "none"
        boxes.append(
            (
                "Noise of a step",
                shown,
                NOISE_FROM[noise.source] if noise.sigma else "repeats are equal",
            )
        )
    if answer.improvements is not None:
        kept = answer.counts[State.KEPT]
        beyond = (
            "noise unknown"
            if answer.beyond_noise is None
            else f"{answer.beyond_noise:,} beyond noise"
        )
        boxes.append(
            (
                "Improvements",
                f"{answer.improvements:,}{f' of {kept:,} kept' if kept else ''}",
                beyond if answer.improvements else f"in {tries_words(answer.measured)}",
            )
        )
    if answer.cost_usd is not None:
        sign = sign_of(costs.basis)
        by = (
            plural(len(costs.sessions), "session")
            if costs.sessions
            else COST_FROM.get(CostBasis(costs.basis or CostBasis.EXACT), "")
        )
        boxes.append(("Cost", usd(answer.cost_usd, costs.basis), by))
        each, beyond_each = (
            answer.cost_per(answer.improvements),
            answer.cost_per(answer.beyond_noise),
        )
        if each is not None:
            beyond = (
                f"beyond noise {sign}{usd(beyond_each)}"
                if beyond_each is not None
                else "none is beyond noise"
            )
            boxes.append(
                (
                    "Per improvement",
                    usd(each, costs.basis),
                    "" if answer.beyond_noise is None else beyond,
                )
            )
        elif answer.improvements == 0:
            boxes.append(("Per improvement", "none", f"for {usd(answer.cost_usd, costs.basis)}"))
    if answer.improvements:
        since = len(answer.tries) - max(
            place for place, one in enumerate(answer.tries, 1) if one.is_improvement
        )
        spent = answer.usd_since_improvement
        shown = tries_words(since) if spent is None else usd(spent, costs.basis)
        boxes.append(("Since improvement", shown, "" if spent is None else tries_words(since)))
    return html_parts.strip(boxes)


def axes(answer: LoopAnswer) -> dict[str, str]:
    """Return what the experiments of a loop can be drawn along: AXES that it has data for."""
    has = {
        "experiments": True,
        "time": len({one.row["at"] for one in answer.tries if one.row["at"]}) > 1,
        "usd": any(one.cost_usd for one in answer.tries),
    }
    return {key: label for key, label in AXES.items() if has[key]}


def gains_title(drawn: Sequence[LoopAnswer]) -> str:
    """Return the finding of the chart of gains: the smallest one against its noise."""
    least = min(times_its_noise(one) for one in drawn)
    if len(drawn) == 1:
        return f"The gain is {times_words(least)} its noise"
    if least < 2:
        most = max(times_its_noise(one) for one in drawn)
        return f"The gains are up to {times_words(most)} their noise"
    return f"Each of the {spelled(len(drawn))} gained at least {int(least):,} times its noise"


def times_its_noise(answer: LoopAnswer) -> float:
    """Return log(gain) ÷ log(noise); infinite without noise."""
    return math.log(answer.gain_ratio or 1) / noise if (noise := answer.log_noise) else math.inf


def times_words(times: float) -> str:
    """Return `4.2×`, `24×`, `>1,000×`."""
    return ">1,000×" if times > 1000 else multiple(times)


def is_drawn(answer: LoopAnswer) -> bool:
    """Return whether a loop has values of one series to draw."""
    return (
        not answer.row["no_gain"]
        and answer.row["is_history"]
        and any(one.value is not None for one in answer.tries)
    )


def progress_title(answer: LoopAnswer) -> str:
    """Return the finding of a loop's chart."""
    total = len(answer.tries)
    if answer.improvements is None:
        return f"Values of {plural(total, 'experiment')}"
    if not answer.improvements:
        return f"No kept experiment of {total:,} is better than the baseline"
    return (
        f"The best came with experiment {answer.best_at:,} of {total:,}"
        if answer.best_at
        else f"The best of {plural(total, 'experiment')}"
    )


def progress_caption(answer: LoopAnswer, *, is_cut: bool) -> str:
    """Return how to read a loop's chart: its quantity, and the marks that it has.

    `is_cut`: some values lie beyond its axis.
    """
    row = answer.row
    quantity = row["metric"] or "value"
    unit = f" in {row['unit']}" if row["unit"] else ""
    kept = [one for one in answer.tries if one.state is State.KEPT]
    states = {one.state for one in answer.tries}
    marks = (
        ("line: best so far", answer.improvements is not None),
        (
            "band: noise of one step",
            bool(answer.noise and answer.noise.sigma and answer.improvements is not None),
        ),
        ("●\u00a0kept", any(is_filled(one) for one in kept)),
        (
            "○\u00a0kept inside noise, or without being better",
            any(not is_filled(one) for one in kept),
        ),
        ("grey: discarded", State.DISCARDED in states),
        ("grey: no decision", State.OTHER in states),
        ("red ticks: crashed", State.CRASHED in states),
        ("violet ticks: checks failed", State.CHECKS_FAILED in states),
        ("△▽\u00a0beyond the axis", is_cut),
    )
    return f"{quantity}{unit}; {', '.join(words for words, is_there in marks if is_there)}"


def is_filled(one: Try) -> bool:
    """Return whether a kept experiment is drawn filled.

    It is better than what was kept, and not known to be noise.
    """
    return one.is_improvement and one.verdict is not LoopVerdict.INSIDE


def session_table(answer: LoopAnswer, filters: Filters) -> str:
    """Return the sessions that ran a loop, with the evidence and the parts of their cost."""
    parts = {
        "setup_usd": "Set-up,\nbaseline",
        "experiments_usd": "Experiments",
        "other_loops_usd": "Other\nloops",
        "rest_usd": "Rest",
        "beyond_usd": "Beyond its\nresponses",
    }
    sessions = answer.costs.sessions

    def cost(key: str) -> Col:
        def cell(one: LoopSession) -> str:
            return usd(getattr(one, key)) if getattr(one, key) else UNKNOWN

        return Col(parts[key], cell, "r w")

    columns = (
        Col(
            "Session",
            lambda one: run_cell({"run_id": one.run_id, "title": one.title}, filters),
        ),
        Col("Joined by", lambda one: one.evidence),
        Col("Experiments", lambda one: f"{one.experiments:,}", "r"),
        *(cost(key) for key in parts if any(getattr(one, key) for one in sessions)),
        Col(
            "Cost",
            lambda one: usd(
                one.cost_usd, "lower_bound" if one.is_lower_bound else "", NOT_RECORDED
            ),
            "r",
        ),
    )
    return TextTable(columns, sessions).html()


def experiment_grid(table: pa.Table, answer: LoopAnswer) -> grids.Grid:
    """Return the table of a loop's experiments as a grid, the latest first."""
    cells = {
        "state": [STATES[one.state] for one in answer.tries],
        "verdict": [step_words(one) or None for one in answer.tries],
        "description": [
            one_line(one.row["description"]) if one.row["description"] else None
            for one in answer.tries
        ],
    }
    table = grids.with_cells(table, cells)
    return grids.grid(table.take(list(range(table.num_rows - 1, -1, -1))), GRID)


def experiment_pane(one: Try, answer: LoopAnswer, filters: Filters) -> str:
    """Return one experiment for the pane next to the list.

    What was tried, its figures, and the session.
    """
    row, unit = one.row, answer.row["unit"] or ""
    said = join_known(", ", STATES[one.state], step_words(one))
    label = f" · {row['label']}" if row["label"] else ""
    figures: dict[str, str] = {}
    if one.value is not None:
        figures[answer.row["metric"] or "Value"] = f"{short(one.value, Unit.MEASURED)} {unit}"
    if one.step_pct is not None:
        figures["Against what was kept"] = short(one.step_pct, Unit.PERCENT)
    figures |= _secondary(row["secondary"])
    if one.cost_usd is not None:
        figures["Cost"] = usd(one.cost_usd, "" if one.evidence else answer.costs.basis)
    if one.tokens:
        figures["Tokens"] = short(one.tokens, Unit.TOKENS)
    if row["duration_ms"] is not None:
        figures["Took"] = duration(row["duration_ms"])
    told = (
        ("Logged at", short(row["at"], Unit.TIME) if row["at"] else ""),
        ("Commit", row["commit"]),
        ("Model", row["model"]),
        ("As written", row["word"]),
    )
    figures |= {name: str(value) for name, value in told if value}
    texts = "".join(
        f'<p class="t-pane-text">{html_parts.text(words)}</p>'
        for words in (row["description"], row["hypothesis"])
        if words
    )
    session = next((each for each in answer.costs.sessions if each.run_id == one.run_id), None)
    run = (
        f"<p>{html_parts.anchor(html_parts.link('run', filters, run=session.run_id), 'Open the session', kind='t-link')}</p>"  # noqa: E501
        if session
        else ""
    )
    return (
        f'<h3 class="t-h3">Experiment {one.number:,}: '
        f"{said}{html_parts.muted(label)}</h3>{texts}{card(figures)}{run}"
    )


def _secondary(text: str | None) -> dict[str, str]:
    """Return the other values of an experiment, as the log names them."""
    values = simplejson.loads(text) if text else {}
    return {
        name: short(value, Unit.MEASURED)
        if isinstance(value, int | float)
        else textwrap.shorten(str(value), LONGEST_VALUE)
        for name, value in values.items()
    }


def ran_html(answers: Sequence[LoopAnswer], run_id: str, filters: Filters) -> str:
    """Return a sentence for each loop of the run; "" for none.

    Example: `Ran the loop NTT prover: 3 of 24 tries kept, +13.2%, beyond noise (1.1%)`.
    """
    lines = ""
    for one in answers:
        if any(session.run_id == run_id for session in one.costs.sessions):
            linked = html_parts.anchor(address_of(one, filters), html_parts.text(one.name))
            lines += (
                f'<p class="t-cap">Ran the loop {linked}: '
                f"{html_parts.text(', '.join((kept_words(one), gain_words(one))))}</p>"
            )
    return lines


def about_html(answer: LoopAnswer) -> str:
    """Return what should be known about a loop's figures, as a list; "" if nothing."""
    return html_parts.look_list(
        f"<span>{html_parts.text(upper_first(sentence))}</span>"
        for sentence in about(answer, sessions=False)
    )
