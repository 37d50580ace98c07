"""What templates, times in names, sidecars, labels and zones say about a record."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.context import sidecars
from ingest.context.path_template import PathReading, PathTemplate
from ingest.context.sidecars import Sidecars
from ingest.facts import NO_FACTS, Facts, PatchText
from ingest.patches import KEPT_BYTES, patch_in, read_patch
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.sources.times import lenient_time, time_of_path
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from schemas.errors import UsageError
from tests.conftest import fetched, record_text
from tests.documents import runs_in_store
from tests.golden_logs import LOGS

TEMPLATE = "runs/{repo}/{agent}/{model}/{timestamp}/{task}/*"
STARTED = datetime(2026, 1, 27, 15, 16, 21, tzinfo=UTC)
SIDECARS = LOGS / "sidecars/beside_a_run"


GOLDEN: dict[str, list[Any]] = json.loads(
    (LOGS.parent / "golden/names_of_files.json").read_text(encoding="utf-8")
)
"""Templates with paths and their facts, and names of files with their times."""


def moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


@pytest.mark.parametrize(("template", "path", "facts"), GOLDEN["templates"])
def test_templates(template: str, path: str, facts: dict[str, Any] | None) -> None:
    expected = facts and Facts(**facts | {"started_at": moment(facts.get("started_at"))})
    assert PathTemplate.parse(template).match(path) == expected


@pytest.mark.parametrize(("template", "complaint"), GOLDEN["refused templates"])
def test_bad_templates_are_refused_with_a_reason(template: str, complaint: str) -> None:
    with pytest.raises(UsageError) as refused:
        PathTemplate.parse(template)
    assert complaint in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize(
    "template",
    [
        "{a}{b}{c}{d}{e}{f}.json",
        "{a}-{b}-{c}-{d}-{e}_{f}.json",
        "*-{a}-{b}-{c}.json",
        "{a}/**/{b}/x",
        "{a}_{b}_{timestamp}.q",
    ],
)
@pytest.mark.parametrize(
    "path",
    [
        "a" * 200,
        "a-" * 120,
        "-a" * 100_000,
        "a/" * 100_000,
        "20260127_" * 28,
        "/".join(["a-" * 100] * 500),
    ],
)
def test_a_path_that_does_not_fit_is_told_at_once(template: str, path: str) -> None:
    """A path that does not fit is refused without trying all ways to split it.

    Trying to share out its characters among the names in all ways could take years.
    """
    assert PathTemplate.parse(template).match(path) is None


@pytest.mark.slow
@given(
    st.fixed_dictionaries(
        {
            name: st.from_regex(r"[^/\ud800-\udfff]{1,12}", fullmatch=True)
            for name in ("repo", "agent", "model", "task")
        }
    )
)
def test_a_printed_template_gives_its_parts_back(parts: dict[str, str]) -> None:
    path = "x/runs/{repo}/{agent}/{model}/20260127T151621Z/{task}/out.json".format(**parts)
    assert PathTemplate.parse(TEMPLATE).match(path) == Facts(
        repo=parts["repo"],
        task=parts["task"],
        labels={"agent": parts["agent"], "model": parts["model"]},
        started_at=STARTED,
    )


@given(
    st.text(st.sampled_from("{}*/.ab_"), max_size=20),
    st.text(st.sampled_from("/ab._-1"), max_size=30),
)
def test_a_template_is_refused_or_works(template: str, path: str) -> None:
    try:
        parsed = PathTemplate.parse(template)
    except UsageError:
        return
    parsed.match(path)


@pytest.mark.parametrize(("text", "time"), GOLDEN["times"])
def test_times_are_read_leniently_where_a_template_asks(text: str, time: str | None) -> None:
    assert lenient_time(text) == moment(time)


@pytest.mark.parametrize(("name", "time"), GOLDEN["names"])
def test_a_name_tells_its_time_only_where_it_is_beyond_doubt(name: str, time: str | None) -> None:
    assert time_of_path(name) == moment(time)


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        (b"+1\n" * KEPT_BYTES, "+1\n" * (KEPT_BYTES // 3)),
        (("+é\n" * KEPT_BYTES).encode(), "+é\n" * (KEPT_BYTES // 4)),
        (("é" * KEPT_BYTES).encode(), "é" * (KEPT_BYTES // 2)),
        (b"\xff\n" * (KEPT_BYTES // 2), "\ufffd\n" * (KEPT_BYTES // 4)),
    ],
    ids=["lines", "of letters", "no line end", "no UTF-8, which is longer as text"],
)
def test_a_long_patch_is_kept_up_to_a_line_end(content: bytes, kept: str) -> None:
    patch = patch_in("a.diff", content)
    assert patch.kept == PatchText("a.diff", len(content), is_cut=True, text=kept)
    assert patch.sha256 == hashlib.sha256(content).hexdigest(), "of all of it"


@given(
    st.lists(
        st.sampled_from(
            "diff --git a/x b/x|--- a/x|+++ b/y|@@ -1,2 +1,3 @@|+a|-b| c||\\|@@ -1 +1 @@|?".split(
                "|"
            )
        )
    )
)
def test_no_patch_raises(lines: list[str]) -> None:
    patch = read_patch(lines)
    assert patch.insertions == sum(inserted for _, inserted, _ in patch.changes)


def test_what_is_too_large_or_no_file_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe would never end."""
    os.mkfifo(tmp_path / "journal.json")
    (tmp_path / "run_summary.json").mkdir()
    monkeypatch.setattr(sidecars, "LARGEST_READ", 10)
    shutil.copy(SIDECARS / "prediction_alone/prediction.jsonl", tmp_path)
    beside = Sidecars()
    for path in (*tmp_path.iterdir(), tmp_path / "nowhere/x"):
        assert beside.beside(path, str(path)) == NO_FACTS
        assert not beside.has(path, str(path))


def test_labels_that_are_given_win_over_the_path_in_one_ingest_or_two(
    store: Store, tmp_path: Path
) -> None:
    """Names of a template are labels, too.

    Of a label that is given twice, the first by alphabet counts.
    """
    template, record = PathTemplate.parse("{host}/{task}/{model}/*"), record_text().encode()
    whole = Store(tmp_path / "whole.duckdb")
    ingest(
        [Source("h1/t1/m1/out.json", record)],
        whole,
        Options((("host", "mine"), ("task", "own")), template),
    )
    ingest([Source("h1/t1/m1/out.json", record)], store, Options(template=template))
    for host in ("yours", "mine"):
        ingest([Source("other.json", record)], store, Options((("host", host), ("task", "own"))))
    for one in (whole, store):
        [run] = runs_in_store(one)
        assert (dict(run["labels"]), run["task"]) == (
            {"host": "mine", "model": "m1", "task": "own"},
            "own",
        )


def test_the_path_wins_over_sidecars_and_may_be_longer_than_the_name(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`cd runs && tachograph ingest .` gives names without `runs/`."""
    folder = tmp_path / "runs" / "sglang" / "t1"
    shutil.copytree(SIDECARS / "iso_bench" / "vllm_core-0003", folder)
    monkeypatch.chdir(folder)
    template = PathTemplate.parse("runs/{repo}/{task}/*")
    ingest(read_paths([Path()]), store, Options(template=template))
    [run] = runs_in_store(store)
    assert (run["repo"], run["task"], run["base_commit"]) == ("sglang", "t1", "a" * 40)


NAMED = "out_2026-01-27_15-16-21.json"


@pytest.mark.parametrize(
    ("name", "zone", "began"),
    [
        (NAMED, "America/New_York", "2026-01-27T20:16:21Z"),
        ("out_2026-07-27_15-16-21.json", "America/New_York", "2026-07-27T19:16:21Z"),
        ("out_2026-01-27T15-16-21Z.json", "America/New_York", "2026-01-27T15:16:21Z"),
        (NAMED, "UTC", "2026-01-27T15:16:21Z"),
    ],
)
def test_times_in_names_are_those_of_the_zone_that_is_told(
    name: str, zone: str, began: str
) -> None:
    """Also by a template; a name that says its zone is believed."""
    for template in (None, PathTemplate.parse("out_{timestamp}.json")):
        facts = PathReading(template, ZoneInfo(zone)).facts(name)
        assert facts.started_at == moment(began), template


def test_the_zone_of_paths_is_kept_for_rebuild_and_retry(store: Store, tmp_path: Path) -> None:
    """A mended file with earlier rejects keeps the zone of its first ingest when read again."""
    (tmp_path / "logs").mkdir()
    good, broken = (
        tmp_path / "logs" / f"{name}_2026-01-27_15-16-21.json" for name in ("good", "broken")
    )
    good.write_text(record_text(uuid="good", session_id="g"))
    broken.write_text(record_text(uuid="broken", session_id="b", total_cost_usd="much"))
    ingest(read_paths([good, broken]), store, Options(path_zone="America/New_York"))
    broken.write_text(record_text(uuid="broken", session_id="b"))
    ingest(read_paths([broken]), store, Options(retry_rejects=True))

    def began() -> list[tuple[str, int]]:
        return fetched(store, "select run_id, epoch(started_at)::bigint from runs order by run_id")

    expected = int(datetime(2026, 1, 27, 20, 16, 21, tzinfo=UTC).timestamp())
    assert began() == [("broken", expected), ("good", expected)]
    rebuild(store)
    assert began() == [("broken", expected), ("good", expected)]
    assert fetched(store, "select path_tz from ingests order by ingest_id") == [
        ("America/New_York",),
        (None,),
    ]
