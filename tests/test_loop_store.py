"""Loops in the store: each once, for all copies and versions, after undo, rebuild and copies.

It does not matter which copies and versions of its log are ingested.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from app.queries.filters import NO_FILTERS, choose
from app.queries.loops import loops
from app.reports import loop_tables, results
from app.text.ingests import looped, took_back
from ingest.store.copying import copy_store
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.rows.loop import State
from tests.conftest import fetched, ingest_paths
from tests.test_verdicts import line, run, stored, table

CONFIG = {
    "type": "config",
    "name": "Sorting",
    "metricName": "total_ms",
    "metricUnit": "ms",
    "bestDirection": "lower",
}
STATUSES = ("keep", "keep", "discard", "crash", "keep")


def lines_of(experiments: int, start: int = 1_780_000_000_000) -> list[dict[str, Any]]:
    runs = [
        {
            "run": place,
            "commit": f"{place:x}bcdef0",
            "metric": 0 if status == "crash" else 100 - place,
            "status": status,
            "description": f"try number {place}",
            "timestamp": start + place * 60_000,
            "segment": 0,
        }
        for place, status in zip(range(1, experiments + 1), itertools.cycle(STATUSES), strict=False)
    ]
    return [CONFIG, *runs]


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def counts(store: Store) -> list[tuple[int | None, int | None]]:
    """(experiments, kept) of each loop."""
    return [(one.experiments, one.counts[State.KEPT]) for one in loops(store)]


def test_a_log_that_grows_is_one_loop(store: Store, tmp_path: Path) -> None:
    for experiments in (2, 3, 9):
        write(tmp_path / "work" / ".auto" / "log.jsonl", lines_of(experiments))
        ingest_paths(store, tmp_path / "work")
        [(found, _)] = counts(store)
        assert found == experiments


@pytest.mark.parametrize("order", [(10, 3, 6), (6, 10, 3)])
def test_versions_and_copies_of_a_log_are_one_loop_in_any_order(
    store: Store, tmp_path: Path, order: tuple[int, ...]
) -> None:
    for experiments in order:
        write(tmp_path / f"v{experiments}" / "autoresearch.jsonl", lines_of(experiments))
        write(tmp_path / f"copy{experiments}" / "a.jsonl", lines_of(experiments))
        ingest_paths(store, *(tmp_path / f"{name}{experiments}" for name in ("v", "copy")))
    [(found, _)] = counts(store)
    assert found == 10


def test_all_versions_at_once_are_one_loop(store: Store, tmp_path: Path) -> None:
    for experiments in range(2, 30):
        write(tmp_path / f"{experiments}" / "autoresearch.jsonl", lines_of(experiments))
    ingest_paths(store, tmp_path)
    [(found, _)] = counts(store)
    assert found == 29


def test_ingest_and_undo_tell_copies_and_versions_from_the_loops_that_are_shown(
    store: Store, tmp_path: Path
) -> None:
    for folder, experiments in (("a", 6), ("b", 6), ("c", 4)):
        write(tmp_path / folder / "autoresearch.jsonl", lines_of(experiments))
    read = looped(ingest_paths(store, tmp_path))
    assert read == (
        "3 loops with 16 experiments in 3 logs; 2 are copies or versions of others, and not shown"
    )
    assert len(loops(store)) == 1
    assert looped(ingest_paths(store, tmp_path)) == "", "the loops are here already"
    write(tmp_path / "d" / "autoresearch.jsonl", lines_of(7))
    assert looped(ingest_paths(store, tmp_path)) == "1 loop with 7 experiments in 1 log"
    assert (
        took_back(undo(store, 2))
        == "Undid ingest 2: removed 1 loop of 1 file (it read 4: copies, or of other ingests)."
    )
    assert (
        took_back(undo(store, 1))
        == "Undid ingest 1: removed 2 loops of 2 files (it read 3: copies, or of other ingests)."
    )


def test_every_list_that_is_cut_says_so_in_its_heading(store: Store, tmp_path: Path) -> None:
    for folder, start in (("a", 1_780_000_000_000), ("b", 1_790_000_000_000)):
        write(tmp_path / folder / "autoresearch.jsonl", lines_of(4, start))
    ingest_paths(store, tmp_path)
    measured = [
        table(*(line(variant, 2, task=task) for variant in ("baseline", "candidate")))
        for task in ("sort", "scan")
    ]
    stored(
        store,
        run(),
        run("It is 3x faster. It uses 2x less memory.", task="scan", uuid="b"),
        *measured,
    )

    def told(limit: int | None) -> list[str]:
        answers = (
            results.runs(store, NO_FILTERS, limit),
            results.sources(store, limit),
            results.claims(store, NO_FILTERS, ["quantified"], limit),
            results.findings(store, NO_FILTERS, [], [], limit),
            results.verdicts(store, NO_FILTERS, limit),
            results.verdicts(store, NO_FILTERS, limit, every=True),
            results.measurements(store, NO_FILTERS, limit),
            results.measurements(store, choose({"task": "sort"}), limit),
            loop_tables.loops(store, limit),
            loop_tables.loops(store, limit, "per-percent"),
            loop_tables.experiments(store, "/a/", limit),
        )
        return [answer.heading.partition(" · ")[0].partition(",")[0] for answer in answers]

    whole = told(None)
    assert told(1) == [
        f"the {first} of {what}"
        for first, what in zip(
            (
                "1 most expensive",
                "1 newest",
                "1 largest",
                "1 most severe",
                "first 1",
                "first 1",
                "first 1",
                "first 1",
                "1 largest gains",
                "1 cheapest per percent",
                "last 1 of 4 experiments",
            ),
            whole,
            strict=True,
        )
    ]
    assert whole[4:8] == [
        "2 measured runs of 2",
        "2 runs",
        "4 measured values",
        "2 measured values",
    ]
    assert told(99) == whole


def test_a_version_without_its_configuration_is_no_second_loop(
    store: Store, tmp_path: Path
) -> None:
    write(tmp_path / "a.jsonl", lines_of(12))
    write(tmp_path / "b.jsonl", lines_of(12)[2:])
    ingest_paths(store, tmp_path)
    [(found, _)] = counts(store)
    assert found == 12


def test_two_loops_of_one_commit_are_two(store: Store, tmp_path: Path) -> None:
    write(tmp_path / "a" / "autoresearch.jsonl", lines_of(4))
    write(tmp_path / "b" / "autoresearch.jsonl", lines_of(4, start=1_790_000_000_000))
    ingest_paths(store, tmp_path)
    assert [found for found, _ in counts(store)] == [4, 4]


def test_undo_takes_a_loop_back_and_brings_its_earlier_version_back(
    store: Store, tmp_path: Path
) -> None:
    for experiments in (3, 5):
        write(tmp_path / "autoresearch.jsonl", lines_of(experiments))
        ingest_paths(store, tmp_path)
    assert took_back(undo(store, 2)) == "Undid ingest 2: removed 1 loop of 1 file."
    assert [found for found, _ in counts(store)] == [3]
    undo(store, 1)
    assert counts(store) == []
    assert fetched(store, "select count(*) from experiments") == [(0,)]


def test_a_rebuild_and_a_copy_keep_every_loop(store: Store, tmp_path: Path) -> None:
    write(tmp_path / "log" / "autoresearch.jsonl", lines_of(7))
    ingest_paths(store, tmp_path / "log")
    before = counts(store)
    rebuild(store)
    assert counts(store) == before
    copy_store(store, str(tmp_path / "copy.duckdb"), 5)
    assert counts(Store(str(tmp_path / "copy.duckdb"))) == before
    rebuild(store, keeps_text=False)
    [one] = loops(store)
    assert {tried.row["description"] for tried in one.tries} == {None}
    assert one.improvements == 4


def test_loops_that_begin_alike_have_ids_of_their_own_which_stay_as_they_grow(
    store: Store, tmp_path: Path
) -> None:
    ids = []
    for tries in (2, 4):
        for folder in ("a", "b"):
            rows = [
                f"{folder}{place}bcdef\t{90 - place}.5\tkeep\tidea {folder}{place}"
                for place in range(tries)
            ]
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / "results.tsv").write_text(
                "\n".join(
                    ["commit\tval_ms\tstatus\tdescription", "\t100.5\tkeep\tbaseline", *rows, ""]
                )
            )
        ingest_paths(store, tmp_path)
        ids.append({one.row["source_name"]: one.row["loop_id"] for one in loops(store)})
    assert ids[0] == ids[1]
    assert len({*ids[0].values()}) == 2


def test_a_word_in_the_commit_cell_makes_no_two_loops_begin_alike(
    store: Store, tmp_path: Path
) -> None:
    for folder, first in (("a", 1.0), ("b", 7.0)):
        (tmp_path / folder).mkdir()
        rows = [
            f"baseline\t{first}\tkeep\tbaseline",
            f"{folder}1bcdef\t{first - 0.1}\tkeep\tidea of {folder}",
        ]
        (tmp_path / folder / "results.tsv").write_text(
            "\n".join(["commit\tval_loss\tstatus\tdescription", *rows, ""])
        )
    ingest_paths(store, tmp_path)
    assert [one.noise for one in loops(store)] == [None, None]


@pytest.mark.parametrize(("other", "known"), [("MI300X", True), ("RTX 5090", False), ("-", False)])
def test_another_machine_makes_no_repeat(
    store: Store, tmp_path: Path, other: str, known: bool
) -> None:
    head = "commit\tval_bpb\tstatus\tdescription\tgpu_name"
    for place, machine in enumerate(("MI300X", other)):
        rows = [
            f"abcdef{end}\t{1 - end / 100 - place / 20}\t{state}\ttry {place}{end}\t{machine}"
            for end, state in enumerate(("baseline", "keep"))
        ]
        (tmp_path / str(place)).mkdir()
        (tmp_path / str(place) / "results.tsv").write_text("\n".join([head, *rows, ""]))
    ingest_paths(store, tmp_path)
    assert [one.noise is not None for one in loops(store)] == [known] * 2
