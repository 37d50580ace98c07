"""Groups beside a baseline.

Paired by task, on one cost, never stronger in words than bounds and intervals allow.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from statistics import median

import duckdb
import numpy as np
import pytest

from app.queries import comparison as queries
from app.queries.comparison import PAIRS, TASK, CohortTotals, TwoTotals
from app.queries.filters import choose
from app.queries.ratios import FEWEST, RESAMPLES, SEED, Bounded, Verdict, medians, paired
from app.queries.reading import read_transaction
from app.text import compare as sentences
from app.text.compare import LONGEST_HEADING, Name, measure_cells, names, ratio_words, times
from app.text.costs import totals_words
from app.text.formatting import AT_LEAST
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, LIST
from schemas.catalogue.metrics import FEWEST_VALUES
from tests.conftest import FILE, SAMPLES, Run, StoreOnce, ingest_paths, record_text


@pytest.mark.parametrize("size", [5, 6, 25, 60])
def test_the_shortcut_is_the_bootstrap(size: int) -> None:
    """Medians drawn by rank have the distribution of medians of resamples.

    The quantiles agree within the noise of 10,000 draws.
    """
    values = np.sort(np.random.default_rng(7).lognormal(size=size))
    chance = np.random.default_rng(8)
    resampled = np.median(chance.choice(values, (RESAMPLES, size)), axis=1)
    by_rank = medians(values, np.random.default_rng(SEED)).resampled
    steps = np.linspace(values[0], values[-1], 200)
    shares = [
        np.searchsorted(np.sort(one), steps, side="right") / RESAMPLES
        for one in (resampled, by_rank)
    ]
    assert (
        np.abs(shares[0] - shares[1]).max() < 0.025
    )  # Kolmogorov and Smirnov's distance; 0.023 at a chance of 1 in 100


def exact(*values: float) -> dict[str, Bounded]:
    return {f"task {number}": Bounded(value, value, value) for number, value in enumerate(values)}


@pytest.mark.slow
def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    chance, held = np.random.default_rng(3), 0
    for _ in range(200):
        found = paired(exact(*chance.lognormal(0.5, 1, 40)), exact(*chance.lognormal(0, 1, 40)))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= math.exp(0.5) <= found.high
    assert 0.90 <= held / 200 <= 1.0


def test_tasks_are_paired_with_themselves_in_any_order() -> None:
    """The group is a tenth slower on every task, but medians over all tasks do not show it.

    The spread between tasks hides it.
    """
    baseline = exact(*(10.0**number for number in range(8)))
    group = {task: Bounded(*(1.1 * end for end in span)) for task, span in baseline.items()} | {
        "other": Bounded(5, 5, 5)
    }
    found = paired(group, baseline)
    assert (found.n, found.lower, found.higher, found.verdict) == ((8,), 0, 8, Verdict.HIGHER)
    assert found.value == pytest.approx(1.1)
    assert paired(dict(reversed(group.items())), baseline) == found
    assert paired(baseline, baseline).verdict is Verdict.UNCLEAR


@pytest.mark.parametrize(
    ("bounded", "verdict", "told"),
    [
        (0, Verdict.LOWER, ("0.50×", "(0.50–0.50)")),
        (1, Verdict.LOWER, ("0.50×", "(0.50–0.50)")),
        (4, Verdict.LOWER, ("0.50×", "(≤ 0.50×)")),
        (5, Verdict.BOUNDS, ("≤\u00a00.50×", "")),
    ],
)
def test_upper_bounds_widen_the_interval_and_make_a_bound_of_most(
    bounded: int, verdict: Verdict, told: tuple[str, str]
) -> None:
    group = {
        task: Bounded(0.5, 0.0 if number < bounded else 0.5, 0.5)
        for number, task in enumerate(exact(*[1.0] * 9))
    }
    found = paired(group, exact(*[1.0] * 9))
    assert (found.verdict, ratio_words(found)) == (verdict, told)
    swapped = paired(exact(*[1.0] * 9), group)
    assert swapped.sign == ("≥" if bounded == 5 else "")
    both = paired(group, group)
    assert both.sign == ("?" if bounded == 5 else "")


def test_a_bound_is_rounded_so_that_it_holds() -> None:
    assert (times(4.0279, "≤"), times(4.0279, "≥"), times(4.0279)) == (
        "≤\u00a04.03×",
        "≥\u00a04.02×",
        "4.03×",
    )


AGENTS = {"claude-code": "Claude Code", "codex": "Codex", "cursor": "Cursor", "grok": "Grok Build"}
GENERATED, RESAMPLED = 20, 400


@dataclass(frozen=True)
class Made:
    """A generated run: None is what its log does not tell."""

    agent: str
    task: str | None
    started: bool
    ended: bool | None
    reported: float | None
    listed: float | None
    basis: str
    wall: int | None

    @property
    def has_cost(self) -> bool:
        return self.listed is not None or self.reported is not None


def made_runs(number: int) -> list[Made]:
    """The runs of one comparison: few or many tasks, ties, bounds, agents that tell little."""
    chance = random.Random(number)
    tasks = [f"t{place}" for place in range(chance.choice((1, 3, 6, 12, 25)))]
    runs = []
    for agent in list(AGENTS)[: chance.choice((2, 2, 3, 4))]:
        factor, spread = chance.choice((0.3, 0.9, 1, 1, 1.4, 5)), chance.choice((0.0, 0.2, 0.8))
        reports, lists, bounds = (
            chance.choice((0, 0, 1)),
            chance.choice((0, 1, 1, 1)),
            chance.choice((0, 0, 0.1, 0.5, 0.9)),
        )
        kind, ends, own_tasks = (
            chance.choice(("upper_bound", "lower_bound", "estimate")),
            chance.random(),
            chance.random() < 0.1,
        )
        for task in tasks:
            for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
                usd, is_known = (
                    round(factor * math.exp(chance.gauss(0, spread)), 2),
                    chance.random() < 0.9,
                )
                runs.append(
                    Made(
                        agent,
                        None
                        if chance.random() < 0.05
                        else f"{agent} {task}"
                        if own_tasks
                        else task,
                        chance.random() > 0.05,
                        chance.choice((True, True, False, None))
                        if chance.random() < ends
                        else True,
                        usd if reports and is_known else None,
                        usd if lists and is_known else None,
                        kind if chance.random() < bounds else "exact",
                        None
                        if chance.random() < 0.1
                        else max(1, round(60_000 * factor * math.exp(chance.gauss(0, spread)))),
                    )
                )
    return runs


def fill_generated(store: Store) -> None:
    """A real run, copied with the values of each generated one.

    `experiment` is the number of its comparison.
    """
    ingest_paths(store, _written(Path(store.location).parent / "one.json"))
    rows = [
        (f"{number} {place}", str(number), run)
        for number in range(GENERATED)
        for place, run in enumerate(made_runs(number))
    ]
    values = [
        {
            "run_id": run_id,
            "session_id": run_id,
            "experiment": number,
            "agent": run.agent,
            "task": run.task,
            "cost_reported_usd": run.reported if run.started else None,
            "cost_own_usd": run.reported,
            "cost_list_usd": run.listed,
            "tokens_basis": run.basis,
            "duration_ms": run.wall,
            "num_turns": 3 if run.started else 0,
            "outcome": {True: "completed", False: "api_error", None: "unknown"}[run.ended],
            **dict.fromkeys(
                ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
                5 if run.started else 0,
            ),
        }
        for run_id, number, run in rows
    ]
    path = Path(store.location).parent / "runs.json"
    path.write_text(json.dumps(values))
    columns = ", ".join(f"made.{name} as {name}" for name in values[0])
    with duckdb.connect(store.location) as connection:
        connection.execute(f"create temp table made as from read_json('{path}', sample_size = -1)")
        connection.execute(f"insert into runs select runs.* replace ({columns}) from runs, made")


def _written(path: Path) -> Path:
    path.write_text(record_text())
    return path


@pytest.fixture(scope="module")
def generated(read_once: StoreOnce) -> Store:
    return read_once("generated", fill_generated)


Sides = dict[str, list[tuple[float, float, float]]]


@dataclass(frozen=True)
class Truth:
    """What a generated comparison may say, computed from its runs one by one."""

    runs: Sequence[Made]
    baseline: str
    is_listed: bool

    def values(self, agent: str, metric: str) -> Sides:
        """Task → (value, least, largest) of each run that has the metric."""
        found: Sides = {}
        for run in self.runs:
            if run.agent != agent or not run.started:
                continue
            value: float | None
            if metric == "wall":
                value, basis = (run.wall if run.ended is True else None), "exact"
            else:
                value, basis = (
                    (run.listed, run.basis) if self.is_listed else (run.reported, "exact")
                )
            if value is not None:
                low = 0.0 if basis in ("upper_bound", "estimate") else value
                high = math.inf if basis in ("lower_bound", "estimate") else value
                found.setdefault(run.task or "", []).append((value, low, high))
        return found

    def ratios(self, agent: str, metric: str) -> list[tuple[float, float, float]]:
        """(as recorded, least, largest) of each task that both have."""
        one, two = self.values(agent, metric), self.values(self.baseline, metric)
        sides = [
            [[median(run[end] for run in side[task]) for end in range(3)] for side in (one, two)]
            for task in sorted(one.keys() & two.keys() - {""})
        ]
        return [
            (group[0] / base[0], group[1] / base[2], group[2] / base[1] if base[1] else math.inf)
            for group, base in sides
        ]

    def unpaired(
        self, agent: str, metric: str
    ) -> tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]]:
        one, two = (
            [run for runs in self.values(side, metric).values() for run in runs]
            for side in (agent, self.baseline)
        )
        return one, two

    def doubts(self, agent: str, metric: str, *, is_paired: bool) -> tuple[float, float, float]:
        """The ratio, and the shares of resamples that may be as high as 1, and as low as 1."""
        chance = random.Random(5)

        def middle(values: Sequence[float]) -> float:
            ordered = sorted(values)
            pair = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
            return (
                math.sqrt(pair[0] * pair[1])
                if is_paired and 0 not in pair
                else sum(pair) / 2
                if 0 not in pair or not is_paired
                else 0.0
            )

        above = below = 0
        one, two = (
            (self.ratios(agent, metric), [(1.0, 1.0, 1.0)])
            if is_paired
            else self.unpaired(agent, metric)
        )
        for _ in range(RESAMPLED):
            group, base = chance.choices(one, k=len(one)), chance.choices(two, k=len(two))
            low, high = (middle([run[end] for run in group]) for end in (1, 2))
            of_low, of_high = (middle([run[end] for run in base]) for end in (2, 1))
            above += (high / of_high if of_high else math.inf) >= 1
            below += low / of_low <= 1
        return (
            middle([run[0] for run in one]) / middle([run[0] for run in two]),
            above / RESAMPLED,
            below / RESAMPLED,
        )

    def tasks(self, agent: str) -> set[str]:
        """Those that its started runs worked on."""
        return {run.task for run in self.runs if run.agent == agent and run.started and run.task}

    def ends(self, agent: str) -> dict[str, set[bool | None]]:
        """How the started runs of each task ended."""
        ends: dict[str, set[bool | None]] = {}
        for run in self.runs:
            if run.agent == agent and run.started and run.task:
                ends.setdefault(run.task, set()).add(run.ended)
        return ends

    def measures(self, one: str, two: str) -> tuple[bool, bool, int, bool]:
        """(tasks shared, a side logs costs, metrics that both have, also with bounds)."""
        shared = len(self.tasks(one) & self.tasks(two)) >= FEWEST
        started = [
            [run for run in self.runs if run.agent == side and run.started] for side in (one, two)
        ]

        def both(has: Callable[[Made], bool]) -> int:
            sides = [[run.task for run in side if has(run)] for side in started]
            common = {*sides[0]} & {*sides[1]} - {None}
            return len(common) if shared else min(map(len, sides))

        listed, reported = (
            both(lambda run: run.listed is not None),
            both(lambda run: run.reported is not None),
        )
        exact_ones = both(lambda run: run.listed is not None and run.basis == "exact")
        has_cost = max(listed, reported) >= FEWEST
        is_exact = has_cost and max(2 * exact_ones, reported) > listed
        turns = both(lambda _: True) if "codex" not in (one, two) else 0
        known = both(lambda run: run.ended is True and run.wall is not None), turns
        logs = any(
            run.listed is not None or run.reported is not None for side in started for run in side
        )
        return shared, logs, is_exact + sum(count >= FEWEST for count in known), has_cost


A = f"(?:{'|'.join(map(re.escape, AGENTS.values()))})"
NOUNS = {"cost": "cost", "wall time": "wall"}
HEADING = re.compile(
    rf"(?:(?:On the same task |Over all runs |{A} and {A} share no task; over all runs ){A} "
    rf"(?:costs (?P<bound>at most |at least )?(?P<cost>[\d.,]+)×(?: what {A} costs)?)?(?: and )?"
    rf"(?:takes (?P<wall>[\d.,]+)×(?: as long(?: as {A})?)?)?"
    r"(?:; (?P<unclear>cost|wall time)(?: and (?P<also>wall time))? do(?:es)? not differ clearly)?"
    rf"|{A} and {A} do not differ clearly in (?P<open>cost|wall time)(?: or (?P<other>wall time))? "
    r"(?:on (?P<on>\d+) tasks?|over all runs)"
    rf"|(?P<none>Neither cost nor wall time can be compared between {A} and {A})"
    rf"|(?P<few>{A} and {A} have too few runs for a comparison))\."
)
DONE = r"(?:at least )?\d+|an unknown number"
SECOND = re.compile(
    rf"(?:Both completed (?:all|the) (?P<both>\d+) shared tasks?"
    rf"|{A} completed (?:all|(?P<base>{DONE}) of) (?P<of>\d+) shared tasks?, {A} (?P<done>{DONE})"
    r"|(?P<unpaired>Runs are not paired by task, so a difference may come from the tasks))\."
    rf"(?: Cost: [^.]+\.)?"
)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_no_sentence_is_stronger_than_the_runs(generated: Store, pair: str) -> None:
    """Each statement of the generated comparisons is read back and checked against the runs.

    Words that cannot be read fail, and so do figures that the table does not have.
    """
    read = 0
    with read_transaction(generated) as transaction:
        for number in range(GENERATED):
            runs = made_runs(number)
            agents = [agent for agent in AGENTS if any(run.agent == agent for run in runs)]
            for agent in agents[1:]:
                chosen = [choose({"agent": [one]}) for one in (agents[0], agent)]
                narrowed = [one.with_values("experiment", [str(number)]) for one in chosen]
                found = queries.compare(transaction, narrowed, pair)
                truth = Truth(runs, agents[0], found.basis is LIST)
                read += check(found, names(found.groups, chosen), truth, agent, pair)
    assert read >= GENERATED


def check(
    found: queries.Comparison, called: list[Name], truth: Truth, agent: str, pair: str
) -> int:
    """Check the lines of a pair; returns how many statements there were."""
    said, rows = sentences.compare(found, called), measure_cells(found, called)
    lines, table = (said.heading.replace("**", ""), said.second), {row.label: row for row in rows}
    has_unlike_turns = (truth.baseline == "codex") != (agent == "codex")
    assert ("counts prompts" in table["Turns"].words[0]) is has_unlike_turns
    assert "at least 0." not in lines[0]
    long = [Name("x" * 80, "", "x" * sentences.LONGEST_NAME, None)] * 2
    assert len(sentences.compare(found, long).heading.replace("**", "")) <= LONGEST_HEADING
    assert said.coverage.count(" · ") < 4
    heading, second = HEADING.fullmatch(lines[0]), SECOND.fullmatch(lines[1])
    assert heading, lines[0]
    assert second, lines[1]
    part = heading.groupdict() | second.groupdict()
    is_paired = pair == TASK and bool(truth.tasks(agent) & truth.tasks(truth.baseline))
    for metric, label in (("cost", "Cost"), ("wall", "Wall time")):
        if not part[metric]:
            continue
        assert f"{part[metric]}×" == table[label].ratios[0][0].split("\u00a0")[-1]
        written = float(part[metric].replace(",", ""))
        spans = truth.ratios(agent, metric)
        if part["bound"] and metric == "cost":
            if is_paired:
                assert 2 * sum(low < high for _, low, high in spans) >= len(spans)
                is_upper = part["bound"] == "at most "
                end = median(math.log(high if is_upper else low) for _, low, high in spans)
                assert written == pytest.approx(math.exp(end), abs=0.1)
                assert (math.exp(end) <= written + 1e-9) is is_upper or math.exp(end) == written
            continue
        ratio, above, below = truth.doubts(agent, metric, is_paired=is_paired)
        assert min(above, below) < 0.06, (lines, ratio, above, below)
        assert (above < below) == (ratio < 1), (lines, ratio)
        assert written == pytest.approx(ratio, abs=0.051 if ratio >= 1.99 else 0.0051, rel=1e-9)
    for noun in filter(None, (part["unclear"], part["also"], part["open"], part["other"])):
        ratio, above, below = truth.doubts(agent, NOUNS[noun], is_paired=is_paired)
        n = (
            len(truth.ratios(agent, NOUNS[noun]))
            if is_paired
            else min(map(len, truth.unpaired(agent, NOUNS[noun])))
        )
        assert n < FEWEST or min(above, below) > 0.005 or f"{ratio:.2f}" == "1.00", (lines, ratio)
    if part["few"]:
        assert not is_paired
        sides = [truth.unpaired(agent, metric) for metric in ("cost", "wall")]
        assert any(0 < min(map(len, both)) < FEWEST for both in sides)
    check_ends(part, table["Completed"].values, truth, agent, is_paired=is_paired)
    for metric, label in (("cost", "Cost"), ("wall", "Wall time")) if is_paired else ():
        check_counts(table[label].words[0] if label in table else "", truth.ratios(agent, metric))
    return sum(bool(part[key]) for key in ("cost", "wall", "unclear", "open", "none"))


def check_ends(
    part: dict[str, str | None], values: Sequence[str], truth: Truth, agent: str, *, is_paired: bool
) -> None:
    """Check what each side completed of the shared tasks, in the sentence and in the table."""
    assert bool(part["unpaired"]) == (not is_paired)
    if not is_paired:
        return
    sides = truth.ends(truth.baseline), truth.ends(agent)
    shared = sides[0].keys() & sides[1].keys()
    told = (part["base"] or part["of"] or part["both"], part["done"] or part["both"])
    assert part["of"] in (None, str(len(shared)))
    assert part["on"] in (None, str(len(shared)))
    for side, words, value in zip(sides, told, values, strict=True):
        done = sum(True in side[task] for task in shared)
        is_open = any(True not in side[task] and None in side[task] for task in shared)
        if is_open and not done:
            assert (words, value) == ("an unknown number", "not recorded")
        else:
            assert words == f"{'at least ' if is_open else ''}{done}"
            assert value == f"{AT_LEAST if is_open else ''}{done} of {len(shared)}"


def check_counts(words: str, spans: Sequence[tuple[float, float, float]]) -> None:
    """Check on how many tasks a group is said to have less and more."""
    for word, count in re.findall(r"(\w+) on (?:all )?(\d+)", words):
        expected = {
            "difference": len(spans),
            "cheaper": sum(high < 1 for _, _, high in spans),
            "dearer": sum(low > 1 for _, low, _ in spans),
            "equal": sum(low == high == 1 for _, low, high in spans),
            "undecided": sum(low < high and low <= 1 <= high for _, low, high in spans),
        }
        expected |= {"faster": expected["cheaper"], "slower": expected["dearer"]}
        assert int(count) == expected[word], (words, expected)


def test_the_opening_pair_is_the_one_that_tells_most(generated: Store) -> None:
    """No pair shares tasks, logs costs, or knows more metrics, in this order; costs come first."""
    with read_transaction(generated) as transaction:
        for number in range(GENERATED):
            runs = made_runs(number)
            truth = Truth(runs, "", is_listed=True)
            agents = sorted({run.agent for run in runs if run.started})
            offer = queries.offered(transaction, choose({"experiment": [str(number)]}))
            if len(agents) < 2:
                continue
            best = max(truth.measures(*pair) for pair in combinations(agents, 2))
            one, two = (group.values("agent")[0] for group in offer.opening)
            assert truth.measures(one, two) == best, number
            costs = {
                run.agent for run in runs if run.started and {run.listed, run.reported} != {None}
            }
            assert one in costs or two not in costs


def totals(runs: int, usd: str | None, known: int = 4, faster: int | None = None) -> CohortTotals:
    return CohortTotals(runs, None if usd is None else Decimal(usd), known, faster)


@pytest.mark.parametrize(
    ("baseline", "candidate", "sentence"),
    [
        (
            totals(5, "2.00", 5, faster=1),
            totals(5, "2.36", 5, faster=2),
            (
                "5 runs cost $2.36, +18% vs. $2.00 of 5 runs in the baseline; 2 measured "
                "faster, 1 in the baseline."
            ),
        ),
        (  # a percentage of fewer than five costs would be chance
            totals(1, "2.00", 1),
            totals(4, "1.00", 3, faster=0),
            (
                "4 runs cost $1.00 (known for 3 of 4) vs. $2.00 of 1 run in the baseline; 0 "
                "measured faster, not measured in the baseline."
            ),
        ),
        (
            totals(0, None, 0),
            totals(4, "1.00"),
            "4 runs cost $1.00 vs. – of 0 runs in the baseline.",
        ),
        (
            totals(2, "0", 2),
            totals(4, "1.00"),
            "4 runs cost $1.00 vs. $0 of 2 runs in the baseline.",
        ),
    ],
)
def test_totals_are_said_with_what_is_known_of_them(
    baseline: CohortTotals, candidate: CohortTotals, sentence: str
) -> None:
    assert (
        totals_words(
            TwoTotals(
                baseline, candidate, BEST, min(baseline.known, candidate.known) >= FEWEST_VALUES
            )
        )
        == sentence
    )


@pytest.mark.slow
def test_a_baseline_may_be_another_store(tachograph: Run, filled: Path, tmp_path: Path) -> None:
    """With the same figures as if both were in one, and runs of both counted."""
    (tmp_path / "more.json").write_text(record_text())
    tachograph("ingest more.json --db next.duckdb --label branch=next")
    tachograph("ingest more.json --db both.duckdb --label branch=next")
    tachograph("ingest", str(SAMPLES), "--db", "both.duckdb", "--label", "branch=main")
    apart = json.loads(
        tachograph("compare --base", FILE, "--db", "next.duckdb", "--format", "json").stdout
    )
    together = json.loads(
        tachograph(
            "compare label=branch=main label=branch=next --db both.duckdb --format",
            "json",
        ).stdout
    )
    assert (
        [{**row, "group": "", "filters": ""} for row in apart]
        == [{**row, "group": "", "filters": ""} for row in together]
        != []
    )
    said = tachograph(
        "compare --base both.duckdb label=branch=main",
        "",
        "--db",
        "next.duckdb",
        "--brief",
    )
    assert said.stdout == "1 run cost $0.25 vs. $2.83 of 3 runs in the baseline.\n"
    assert (
        "1 run of All runs is in All runs (both.duckdb), too."
        in tachograph("compare --base both.duckdb --db next.duckdb").stderr
    )
    assert [
        tachograph("compare", *words).returncode
        for words in (("label=branch=main",), ("--base", "nowhere.duckdb"))
    ] == [2, 4]
