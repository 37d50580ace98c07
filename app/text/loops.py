"""Optimization loops in words: what each brought, whether it exceeds noise, and what it cost."""

from __future__ import annotations

from app.queries.loop_costs import LoopSession
from app.queries.loop_statistics import LoopProgress, NoiseFrom
from app.queries.loops import LoopAnswer, LoopVerdict, Try
from app.text.formatting import short, usd
from schemas.rows.loop import CostBasis, State
from schemas.text import one_line, plural
from schemas.units import Unit

NO_LOOPS = (
    "No loops. Ingest the log of one: results.tsv, autoresearch.jsonl, .auto/log.jsonl, or a "
    "file of an agent's loop with a metric and decisions (docs/loops.md)."
)

STATES = {
    State.BASELINE: "baseline",
    State.KEPT: "kept",
    State.DISCARDED: "discarded",
    State.CRASHED: "crashed",
    State.CHECKS_FAILED: "checks failed",
    State.OTHER: "other",
}
NOISE_FROM = {
    NoiseFrom.REPEATS: "repeated measurements of the same code",
    NoiseFrom.LOG: "the log's own noise floor",
    NoiseFrom.DISCARDED: "the spread of discarded tries, an estimate that holds real effects, too",
}


def heading_of(answer: LoopAnswer) -> str:
    """Return `NTT prover: 1 of 23 tries kept, +1.02%, inside noise (2.5%), $66.12`."""
    return (
        f"{answer.name}: "
        f"{', '.join(filter(None, (kept_words(answer), gain_words(answer), cost_words(answer))))}"
    )


def kept_words(answer: LoopAnswer) -> str:
    """Return `1 of 23 tries kept`, the baseline not counted."""
    if answer.experiments is None:
        return "its best only"
    tries = answer.experiments - answer.counts_of_baseline
    kept = answer.counts[State.KEPT]
    if not tries and answer.counts_of_baseline:
        return "only a baseline"
    has_decided = kept is not None and any(
        answer.counts[state] for state in (State.KEPT, State.DISCARDED, State.BASELINE)
    )
    return (
        f"{kept:,} of {tries_words(tries)} kept"
        if has_decided
        else f"{tries_words(tries)}, none said to be kept"
    )


def gain_words(answer: LoopAnswer) -> str:
    """Return `+1.02%, inside noise (2.5%)`, or what stands in the way of a gain."""
    if answer.improvements is None:
        return "gain unknown"
    if not answer.improvements:
        return "no improvement" if answer.measured else ""
    if answer.gain_pct is None:
        return f"best {short(answer.best, Unit.QUANTITY)}"
    return f"{gain_figure(answer)}, {noise_words(answer)}"


def gain_figure(answer: LoopAnswer) -> str:
    """Return `+2.9%`, `279×`; in percent of the baseline if that is not positive."""
    if answer.gain_ratio is None:
        return short(answer.gain_pct, Unit.PERCENT)
    return short(answer.gain_ratio, Unit.GAIN)


def before_and_best(answer: LoopAnswer) -> str:
    """Return `1,054 → 3.776`, with four digits, since they may differ little."""
    if answer.baseline is None or answer.best is None:
        return ""
    ends = (answer.baseline, answer.best)
    return " → ".join(f"{end:,.0f}" if abs(end) >= 1000 else f"{end:.4g}" for end in ends)


def noise_words(answer: LoopAnswer) -> str:
    """Return how the whole gain compares with the noise.

    It is `inside noise (2.5%)`, `beyond noise (0.4%)` or `noise unknown`.
    """
    noise = answer.noise
    if noise is None or answer.gain_verdict in (None, LoopVerdict.UNKNOWN):
        return "noise unknown (each code was measured once)"
    if not noise.sigma:
        return "not noisy: repeats are equal"
    one, every = noise.step(), noise.step(answer.measured)
    if answer.gain_verdict is LoopVerdict.BEYOND:
        return f"beyond noise ({noise_step(one, is_log=noise.is_log)})"
    gain = (answer.gain_pct or 0) / 100
    if noise.is_log and gain > one:
        return (
            f"no more than luck brings in {tries_words(answer.measured)} "
            f"({noise_step(every, is_log=True)})"
        )
    return f"inside noise ({noise_step(one, is_log=noise.is_log)})"


def noise_step(step: float, *, is_log: bool) -> str:
    """Return the noise of a step, as a share of the value if it is on a logarithmic scale."""
    return short(step, Unit.NOISE if is_log else Unit.QUANTITY)


def cost_words(answer: LoopAnswer) -> str:
    """Return `$66.12`, `≤ $786.40`, or "" if the cost is unknown."""
    return "" if answer.cost_usd is None else usd(answer.cost_usd, answer.costs.basis)


def about(answer: LoopAnswer, *, sessions: bool = True) -> list[str]:
    """Return what should be known about a loop's figures, a sentence each.

    `sessions`: also how the cost of each session is divided.
    """
    row, costs, said = answer.row, answer.costs, list[str]()
    if why := why_unread(answer):
        said.append(f"No gain is given: {why}.")
    if answer.noise and answer.improvements is not None:
        source = NOISE_FROM[answer.noise.source]
        rough = (
            f", rough: {plural(answer.noise.degrees, 'degree')} of freedom"
            if answer.noise.is_rough and answer.noise.degrees
            else ""
        )
        if answer.noise.sigma:
            floor = noise_step(answer.noise.step(), is_log=answer.noise.is_log)
            every = noise_step(answer.noise.step(answer.measured), is_log=answer.noise.is_log)
            said.append(
                f"Two measurements of the same code differ by up to {floor} (from "
                f"{source}{rough}); the luckiest of {tries_words(answer.measured)} by up to "
                f"{every}. Larger steps are beyond noise."
            )
        if answer.noise.sigma and answer.improvements:
            luck, found = answer.expected_lucky_records, answer.improvements
            verb = "no more" if found <= luck else "more"
            here = "here is 1" if found == 1 else f"here are {found:,}"
            said.append(
                f"Luck alone would show {luck:.1f} improvements in so many tries; {here}, "
                f"{verb} than that."
            )
        least = answer.as_ratio(answer.gain_after_luck_pct)
        if least is not None and answer.noise.sigma and answer.gain_verdict is LoopVerdict.BEYOND:
            said.append(
                "Without the luck of the best try the gain is at least about "
                f"{short(least, Unit.GAIN)}."
            )
    elif answer.improvements:
        said.append(
            "Each code was measured once, so nobody knows how much of the gain is noise: "
            "measure the first and the best again."
        )
    if is_implausible(answer):
        said.append(f"{gain_figure(answer)}: check first that the benchmark did not change.")
    said += [f"{note.rstrip('.')}." for note in row["notes"] or ()]
    if answer.state:
        said.append(f"State: {state_words(answer)}.")
    if shared := sum(one.shared for one in costs.sessions):
        said.append(
            f"{shared:,} experiments were written to the log at once with others: their cost "
            "is divided equally."
        )
    if costs.sessions and sessions:
        said += [session_words(one) for one in costs.sessions]
    elif answer.cost_usd is None and not costs.sessions and costs.why_not:
        said.append(f"Cost unknown: {costs.why_not}.")
    if costs.reported_usd is not None and (
        costs.sessions or costs.reported_basis == CostBasis.EVALUATED
    ):
        whose = " of the agent under test" if costs.reported_basis == CostBasis.EVALUATED else ""
        said.append(
            f"The log has a cost{whose} of {usd(costs.reported_usd, costs.reported_basis)}."
        )
    return said


def why_unread(answer: LoopAnswer) -> str:
    """Return why a loop has no gain as its log says, or what the log lacks; "" if neither."""
    if answer.row["no_gain"]:
        return str(answer.row["no_gain"]).rstrip(".")
    if answer.row["better"] == "unknown" and answer.row["has_decisions"]:
        return "the log does not say whether higher or lower is better"
    return ""


MOST_PLAUSIBLE = 1_000.0


def is_implausible(answer: LoopAnswer) -> bool:
    """Return whether a gain is so large that the benchmark may have changed."""
    return (answer.gain_ratio or 1 + (answer.gain_pct or 0) / 100) > MOST_PLAUSIBLE


def state_words(answer: LoopAnswer) -> str:
    """Return whether the loop still gets anywhere, and why that is said."""
    if answer.state is LoopProgress.IMPROVING:
        return "still improving"
    if answer.state is LoopProgress.PLATEAUING:
        return "slowing: its last improvement is ten tries and a third of all back"
    if not answer.improvements:
        return "stuck: nothing improved"
    return (
        "stuck: the last tries all failed"
        if answer.has_failed_last
        else "stuck: no single step is more than the noise"
    )


def tries_words(count: int) -> str:
    return f"{count:,} {'try' if count == 1 else 'tries'}"


def session_words(session: LoopSession) -> str:
    """Return how a session's cost falls into set-up, experiments and rest."""
    parts = (
        ("set-up and baseline", session.setup_usd),
        (
            plural(session.experiments - bool(session.setup_usd), "experiment"),
            session.experiments_usd,
        ),
        ("other loops", session.other_loops_usd),
        ("the rest", session.rest_usd),
        ("what is beyond its responses", session.beyond_usd),
    )
    told = " + ".join(f"{usd(cost)} for {name}" for name, cost in parts if cost)
    total = "unknown cost" if session.cost_usd is None else usd(session.cost_usd)
    return (
        f"Session {one_line(session.title)} (joined by: {session.evidence}): "
        f"{total}{f' = {told}' if told else ''}."
    )


def step_words(one: Try) -> str:
    """Return what an experiment's step is.

    `beyond noise`, `inside noise`, or "" for one that improved nothing.
    """
    return {
        None: "",
        LoopVerdict.BEYOND: "beyond noise",
        LoopVerdict.INSIDE: "inside noise",
        LoopVerdict.UNKNOWN: "noise unknown",
    }[one.verdict]
