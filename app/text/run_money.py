"""Words on where the money of a run went: its heading, bar and table, and its turning points."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from app.queries import Row
from app.queries.run_money import (
    AGAIN,
    COMPACTED,
    DIFFERENCE,
    FIRST_AGAIN,
    HELPERS,
    INPUT,
    NEW,
    NOT_EXPLAINED,
    OUTPUT,
    PAUSE_MS,
    READ,
    SEARCHES,
    STARTED,
    SUBAGENTS,
    WRITTEN,
    Part,
    RunMoney,
    Stretch,
    stretches,
)
from app.queries.sessions import MAIN
from app.text import html_parts
from app.text.formatting import (
    NOT_RECORDED,
    UNKNOWN,
    agent_name,
    duration,
    multiple,
    percent,
    short,
    sign_of,
    usd,
)
from app.text.sentences import Said, joined, lower_first, upper_first
from app.text.table import Col, TextCell, TextTable
from schemas.catalogue.failures import REASONS
from schemas.rows.cost import CAUSES, CostCause
from schemas.text import plural
from schemas.units import Unit

LABELS = {
    AGAIN: "Context written to the cache again",
    READ: "Context read from the cache",
    OUTPUT: "Output",
    NEW: "New text written to the cache",
    WRITTEN: "Written to the cache",
    INPUT: "Input outside the cache",
    SUBAGENTS: "Sub-agents",
    HELPERS: "Helper models",
    SEARCHES: "Web searches",
    NOT_EXPLAINED: "Not explained",
}
"""Part of a cost → its label in the table."""

_IN_BAR = {AGAIN: "again", READ: "read", NEW: "new", WRITTEN: "written", INPUT: "input"}

PAID_FOR = {
    AGAIN: "writing the same context to the cache again",
    READ: "reading its context back from the cache",
    OUTPUT: "its output",
    NEW: "new text in the cache",
    WRITTEN: "writing to the cache",
    INPUT: "input outside the cache",
    SUBAGENTS: "its sub-agents",
    HELPERS: "helper models",
    SEARCHES: "web searches",
}

_SENT_AGAIN = {AGAIN: "Context sent again outside the cache"}
"""Labels where nothing is written to a cache for money."""

_MILLION, _LABELLED = Decimal(1_000_000), Decimal("0.14")
"""Share of a bar from which a part has its name in it."""

DEARER = Decimal("1.5")
"""A cost from so many times the usual one on is not as usual."""


def label_of(part: Part, money: RunMoney) -> str:
    """Return `Context written to the cache again, 37×`."""
    if part.key == DIFFERENCE:
        cause = CostCause(money.cause or CostCause.UNEXPLAINED)
        label = CAUSES[cause].label
        is_missing = cause in (CostCause.OUTSIDE_TRANSCRIPT, CostCause.HELPER_MODEL_MISSING)
        return upper_first(label) if is_missing else f"Price differs: {label}"
    if part.key != AGAIN:
        return LABELS[part.key]
    return f"{LABELS[AGAIN] if _is_written(money) else _SENT_AGAIN[AGAIN]}, {part.times:,}×"


def _is_written(money: RunMoney) -> bool:
    """Return whether what is written to the cache has a price."""
    return any(money.of(key).tokens for key in (NEW, WRITTEN))


def million(part: Part) -> str:
    """Return the price per million tokens as in the price list: `$3.75`, `$0.30–0.50`."""
    if part.low is None or part.high is None or part.key in (SUBAGENTS, HELPERS, SEARCHES):
        return ""

    def written(rate: Decimal) -> str:
        price = (rate * _MILLION).normalize()
        exponent = price.as_tuple().exponent
        return f"{price:,.{max(2, -exponent if isinstance(exponent, int) else 2)}f}"

    low, high = written(part.low), written(part.high)
    return f"${low}" if low == high else f"${low}–{high}"


def money_table(money: RunMoney) -> TextTable:
    """Return the parts of the cost of a run and their sum, beside those of its usual run."""
    usual, signs = money.usual, money.bounds

    def tokens(part: Part | None) -> str:
        if part is None:
            return short(sum(one.tokens or 0 for one in _counted(money)) or None, Unit.TOKENS)
        if part.key == SEARCHES:
            return f"{part.tokens:,}"
        return short(part.tokens, Unit.TOKENS, lacks="")

    def cost(part: Part | None) -> TextCell:
        amount = money.cost_usd if part is None else part.usd
        return TextCell(strong=usd(amount, signs if part is None else "", NOT_RECORDED))

    def share(part: Part | None) -> str:
        if not money.cost_usd:
            return ""
        if part is None:
            return "100%"
        return "" if part.usd is None else percent(part.usd / money.cost_usd)

    def of_usual(part: Part | None) -> TextCell:
        if usual is None:
            return TextCell(UNKNOWN)
        amount = usual.cost_usd if part is None else usual.usd.get(part.key)
        return TextCell(note=usd(amount, lacks=UNKNOWN))

    def name(part: Part | None) -> TextCell:
        if part is None:
            return TextCell(strong="This run")
        mark = f'<i class="t-sw t-m-{part.key}"></i> '
        return TextCell(label_of(part, money), mark=mark)

    columns = [
        Col("", name),
        Col("Tokens", tokens, "r"),
        Col("per million", lambda part: million(part) if part else "", "r t-wide"),
        Col("Cost", cost, "r"),
        Col("Share", share, "r t-wide"),
        *([Col("Usual run", of_usual, "r")] if usual else []),
    ]
    return TextTable(columns, [*money.parts, None], lambda part: "" if part else "sum")


def _counted(money: RunMoney) -> list[Part]:
    return [part for part in money.parts if part.key != SEARCHES]


def money_notes(money: RunMoney, run: Row) -> list[str]:
    """Return what the table leaves out, and what its usual run is."""
    absent = [LABELS[key] for key in (SUBAGENTS, HELPERS, SEARCHES) if not money.of(key).tokens]
    said = []
    if money.parts and absent and _counted(money):
        others = joined([absent[0], *(one.lower() for one in absent[1:])])
        said.append(f"{others}: none recorded.")
    if money.bounds:
        said.append(f"{sign_of(money.bounds).strip()}: the log does not record all tokens exactly.")
    if run.get("is_carried_over"):
        said.append("Cost and API time seem to include an earlier process.")
    if money.usual is None:
        return said
    names = {
        "repo": run["repo"],
        "agent": agent_name(run["agent"]),
        "model": run["model"],
    }
    by = money.usual.by
    with_ = " ".join(str(names[key]) for key in by if key != "repo")
    of = f"of {names['repo']} with {with_}" if "repo" in by else f"with {with_}"
    median = f"Usual run: median of the {money.usual.runs:,} earlier runs {of}."
    return [*said, f"{median} Medians need not add up."]


def money_bar(money: RunMoney) -> str:
    """Return the parts of the cost as a bar; a bound ends in hatching."""
    paid = [part for part in money.parts if part.usd and part.usd > 0]
    total = sum((part.usd or Decimal(0) for part in paid), Decimal(0))
    drawn = ""
    for part in paid:
        share = (part.usd or Decimal(0)) / total
        named = _IN_BAR.get(part.key) or label_of(part, money).partition(",")[0].lower()
        words = html_parts.text(f"{named} {usd(part.usd)}")
        drawn += (
            f'<i class="t-m-{part.key}" style="flex:{float(share):.4f}" title="{words}">'
            f"{words if share >= _LABELLED else ''}</i>"
        )
    end = '<i class="t-never_started" style="flex:0.03"></i>' if money.bounds else ""
    return f'<div class="t-split">{drawn}{end}</div>' if drawn else ""


def why_dear(run: Row, money: RunMoney) -> Said:
    """Return what the run cost and for what; its coverage is the line below."""
    cost = usd(money.cost_usd, money.bounds)
    reason = REASONS[run["reason"]].label if run["reason"] else ""
    if not run["is_started"]:
        return Said(f"This run never started{reason and f': {lower_first(reason)}'}.")
    if money.cost_usd is None:
        return Said(f"{reason}. What this run cost is not recorded.".removeprefix(". "))
    begin = f"{reason} after {cost}" if reason else f"This run cost {cost}"
    usual = money.usual
    times = money.cost_usd / usual.cost_usd if usual and usual.cost_usd else None
    if usual and times is not None and "repo" in usual.by:
        if times < 1 / DEARER:
            least = f"{begin}; the usual run of {run['repo']} costs {usd(usual.cost_usd)}."
            return Said(least, _second(money, 0))
        if times < DEARER:
            return Said(f"{begin}, as usual for {run['repo']}.", _second(money, 0))
        what = _did(money, run)
        begin += f", {multiple(times)} the usual run of {run['repo']}"
        return Said(f"{begin}: it **{what}**." if what else f"{begin}.", _second(money, 0))
    largest = max(money.parts, key=lambda part: part.usd or 0, default=Part(NOT_EXPLAINED))
    if largest.key == NOT_EXPLAINED or not largest.usd:
        why = " Its log does not record what for." if money.cost_usd else ""
        return Said(f"{begin}.{why}")
    if largest.key == DIFFERENCE:
        cause = CAUSES[CostCause(money.cause or CostCause.UNEXPLAINED)].label
        share = _share(largest, money)
        return Said(
            f"{begin}. {share} of it is beyond list prices: **{cause}**.", _second(money, 0)
        )
    part = PAID_FOR[largest.key]
    if largest.key == AGAIN and not _is_written(money):
        part = "sending the same context again"
    often = f", {_often(largest.times)}" if largest.key == AGAIN else ""
    share = _share(largest, money)
    return Said(f"{begin}. {share} of it paid for **{part}**{often}.", _second(money, 1))


def _often(times: int) -> str:
    return "once" if times == 1 else f"{times:,} times"


def _share(part: Part, money: RunMoney) -> str:
    share = (part.usd or 0) / (money.cost_usd or 1)
    is_half = Decimal("0.45") <= share <= Decimal("0.55")
    return "Half" if is_half else percent(min(share, Decimal(1)))


def _second(money: RunMoney, place: int) -> str:
    """Return what it would have cost with the context kept in the cache, else a part's cost.

    `place` of the part, by its cost: `Half of its cost is output: 83k tokens, usually 4.1k.`
    """
    again = money.of(AGAIN)
    if again.saved_usd and money.cost_usd and again.saved_usd * 10 > money.cost_usd:
        would = usd(money.cost_usd - again.saved_usd)
        done = "written" if _is_written(money) else "sent again"
        if money.parts[0].key != AGAIN:
            done = done.removesuffix(" again")
            often = _often(again.times)
            return f"Had it not {done} its context again {often}, it would have cost about {would}."
        those = "that" if again.times == 1 else f"those {again.times:,}"
        return f"Had {those} been read instead of {done}, it would have cost about {would}."
    paid = [part for part in money.parts if part.usd and part.key in LABELS][place : place + 1]
    for part in paid:
        usually = money.usual.tokens.get(part.key) if money.usual else None
        tokens = f": {short(part.tokens, Unit.TOKENS)} tokens" if part.tokens else ""
        beside = f", usually {short(usually, Unit.TOKENS)}" if usually and tokens else ""
        label = label_of(part, money)
        label = f"{lower_first(label)}{tokens}{beside}"
        return f"{_share(part, money)} of its cost is {label}."
    return ""


def _did(money: RunMoney, run: Row) -> str:
    """Return what the run did more than usual, by the part with the largest excess."""
    if money.usual is None:
        return ""
    excess = {
        part.key: (part.usd or Decimal(0)) - money.usual.usd[part.key]
        for part in money.parts
        if part.key in money.usual.usd
    }
    key = max(excess, key=lambda one: excess[one], default="")
    part, usually = money.of(key), money.usual.tokens.get(key)
    times = multiple(Decimal(part.tokens or 0) / usually) if usually else ""
    turns = money.usual.num_turns
    return {
        AGAIN: f"wrote the cache again {_often(part.times)}",
        READ: f"read back {times} the context" if times else "read back its context",
        OUTPUT: f"wrote {times} as much" if times else "wrote more",
        SUBAGENTS: f"paid sub-agents {usd(part.usd)}",
        HELPERS: f"paid helper models {usd(part.usd)}",
        SEARCHES: f"paid web searches {usd(part.usd)}",
    }.get(
        key,
        f"used {multiple(Decimal(run['num_turns']) / turns)} the turns"
        if turns and run["num_turns"]
        else f"sent {times} as much"
        if times
        else "",
    )


def strip(run: Row, money: RunMoney, answered: pa.Table) -> str:
    """Return five figures of a run, each beside its usual one or what explains it.

    `answered`: its responses as of `sessions.timeline`.
    """
    usual = money.usual
    boxes = []
    if money.cost_usd is not None:
        beside = ""
        if usual and usual.cost_usd:
            beside = f"{multiple(money.cost_usd / usual.cost_usd)} the usual run"
        boxes.append(("Cost", usd(money.cost_usd, money.bounds), beside))
    if run["duration_ms"] is not None:
        beside = f"usual {duration(usual.duration_ms)}" if usual and usual.duration_ms else ""
        if run["active_ms"] is not None and run["active_ms"] != run["duration_ms"]:
            beside = f"worked {duration(run['active_ms'])}"
        boxes.append(("Wall time", duration(run["duration_ms"]), beside))
    rows = answered.select(["subagent", "context_tokens"]).to_pylist()
    if main := [row["context_tokens"] for row in rows if row["subagent"] == MAIN]:
        context = short(main[-1], Unit.TOKENS)
        boxes.append(("Context at the end", context, f"grew in {plural(len(main), 'response')}"))
    elif run["output_tokens"] is not None:
        output = short(run["output_tokens"], Unit.TOKENS, run["tokens_basis"])
        beside = short(usual and usual.output_tokens, Unit.TOKENS, lacks="")
        boxes.append(("Output", f"{output} tokens", beside and f"usual {beside}"))
    if run["num_turns"] is not None:
        each = usd(run["cost_best_per_turn_usd"], money.bounds, "")
        beside = f"usual {usual.num_turns:,}" if usual and usual.num_turns else ""
        boxes.append(("Turns", f"{run['num_turns']:,}", beside or (each and f"{each} each")))
    if run["tool_calls"].num_rows:
        calls, failed = (
            sum(filter(None, run["tool_calls"][key].to_pylist())) for key in ("calls", "errors")
        )
        boxes.append(("Tool calls", f"{calls:,}", f"{failed:,} failed" if failed else ""))
    return html_parts.strip(boxes)


def money_html(run: Row, money: RunMoney) -> str:
    """Return the bar, the table and its notes, or why there is none."""
    if not any(part.tokens for part in money.parts):
        why = "Its log has no tokens, so where the money went is not recorded."
        return f'<p class="t-cap">{why}</p>'
    notes = html_parts.text(" ".join(money_notes(money, run)))
    table = money_table(money).html(kind="t-money")
    return f'{money_bar(money)}{table}<p class="t-cap">{notes}</p>'


def totals_only(run: Row, command: str) -> str:
    """Return that nothing is known response by response, and the command that changes it."""
    known = "Its log has only totals, so where the context grew is not recorded."
    if run["agent"] != "claude-code":
        return known
    return f"{known}  \n{command} adds the responses of a session."


_BEGAN = {
    FIRST_AGAIN: "began with the first context paid again",
    COMPACTED: "began after a compaction",
    STARTED: "began with a sub-agent",
}


def turning_html(answered: pa.Table) -> str:
    """Return the stretches of a session as a table, and how many rewrites followed a pause."""
    rows = answered.select(
        ["at", "subagent", "context_tokens", "cost_list_usd", "again_tokens", "pause_ms", "is_fall"]
    ).to_pylist()

    def began(one: Stretch) -> str:
        pause = f"a pause of {duration(one.pause_ms)}" if one.pause_ms else ""
        if (one.pause_ms or 0) <= PAUSE_MS:
            return _BEGAN.get(one.began, "")
        first = _BEGAN.get(one.began, "began")
        return f"{first}, after {pause}" if one.began in _BEGAN else f"{first} after {pause}"

    def contexts(one: Stretch) -> str:
        ends = [short(size, Unit.TOKENS) for size in one.contexts or ()]
        return " → ".join(dict.fromkeys(ends))

    def places(one: Stretch) -> str:
        return f"{one.first:,}–{one.last:,}" if one.last > one.first else f"{one.first:,}"

    columns = [
        Col("Responses", places),
        Col("Lasted", lambda one: duration(one.lasted_ms) if one.lasted_ms else "", "r"),
        Col("Paid again", lambda one: f"{one.again:,}×" if one.again else UNKNOWN, "r"),
        Col("Context", contexts, "r"),
        Col("Cost", lambda one: usd(one.usd), "r"),
        Col("", began, "t-wide"),
    ]
    table = TextTable(columns, stretches(rows)).html(kind="t-money")
    again = [row for row in rows if row["again_tokens"]]
    paused = sum((row["pause_ms"] or 0) > PAUSE_MS for row in again)
    if not again:
        return table
    which = f"{len(again):,} contexts paid again" if len(again) > 1 else "context paid again"
    said = f"No cause is recorded for the {which}."
    if paused:
        many = f"{paused:,} of the {which}" if paused < len(again) else f"The {which}"
        said = f"{many} followed a pause of more than 5 minutes, when a cache expires"
        rest = len(again) - paused
        said += f"; for the other {rest:,} no cause is recorded." if rest else "."
    return f'<p class="t-cap">{html_parts.text(said)}</p>{table}'
