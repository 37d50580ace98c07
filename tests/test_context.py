"""What paths, sidecars, labels and streams say about a record, and who is believed."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.context import sidecars
from ingest.context.gather import gather
from ingest.context.patches import KEPT_BYTES, patch_in, read_patch
from ingest.context.path_template import PathReading, PathTemplate
from ingest.context.sidecars import Sidecars, is_sidecar, sidecar_facts
from ingest.facts import NO_FACTS, SIDECAR_RANK, Facts, PatchText
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.sources.times import lenient_time, time_of_path
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from schemas.errors import UsageError
from tests.conftest import ingest_paths, record_text
from tests.documents import runs_in_store

TEMPLATE = "runs/{repo}/{agent}/{model}/{timestamp}/{task}/*"
STARTED = datetime(2026, 1, 27, 15, 16, 21, tzinfo=UTC)
WRITTEN = 1769527001
"""15:16:41 of the same day, as Unix time."""

PATCH = """diff --git a/vllm/worker.py b/vllm/worker.py
index 1..2 100644
--- a/vllm/worker.py
+++ b/vllm/worker.py
@@ -1,3 +1,4 @@
 import os
--- a comment in SQL
+++ counter
+import sys
 x = 1
@@ -10 +11 @@
-y = 2
+y = 3
diff --git a/old name.py b/new name.py
similarity index 100%
rename from old name.py
rename to new name.py
diff --git "a/caf\\303\\251.txt" "b/caf\\303\\251.txt"
deleted file mode 100644
--- "a/caf\\303\\251.txt"
+++ /dev/null
@@ -1,2 +0,0 @@
-un
-deux
\\ No newline at end of file
"""
JOURNAL = {
    "task_id": "vllm_core",
    "commits": {"pre": "a" * 40, "human": "b" * 40},
    "agent_branch": "agent/vllm_core/bbbbbbbb",
    "status": "success",
    "run_metadata": {
        "repo": "vllm",
        "agent": "claude_code",
        "model": "opus",
        "run_timestamp": "2026-01-27_15-00-00",
        "run_path": "…",
    },
    "metrics": {
        "time_to_first_edit_s": 61.5,
        "commit_count": 1,
        "patch_size_loc": 6,
        "changed_files_count": 3,
        "violations_count": 0,
    },
    "claude_code": {
        "cli": "claude",
        "time_budget_minutes": 120,
        "returncode": 0,
        "duration_s": 20.0,
    },
    "timestamps": {"written": WRITTEN},
}
SUMMARY = {
    "schema_version": "1.0",
    "meta": {
        "repo": "vllm",
        "agent": "trae",
        "model": "gpt-5",
        "model_full": "gpt-5-2025-08-07",
        "timestamp": "2026-01-27_15-16-21",
    }
    | {"task_id": "vllm_core", "item_id": "vllm_core-0007"},
    "commits": {"human": "b" * 40, "pre": "a" * 40},
    "agent": {
        "status": "error",
        "patch_stats": {"lines_added": 4, "lines_removed": 2, "files_changed": 1},
        "time_to_first_edit_s": 1.25,
    },
}
PREDICTION = {
    "instance_id": "vllm-project__vllm-abc1234",
    "model_patch": PATCH,
    "model_name_or_path": "openhands",
}


def item(folder: Path, **files: Any) -> Path:
    """A folder of an item: `journal={…}` becomes journal.json; text stays as it is."""
    suffixes = {
        "journal": ".json",
        "run_summary": ".json",
        "prediction": ".jsonl",
        "model_patch": ".diff",
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = (
            content
            if isinstance(content, str)
            else json.dumps(content, indent=None if name == "prediction" else 2)
        )
        (folder / (name + suffixes[name])).write_text(text, encoding="utf-8")
    return folder


def test_a_template_reads_the_end_of_a_path() -> None:
    path = (
        "/data/runs/vllm/claude_code/opus/2026-01-27_15-16-21/vllm_core-0007/claude_code_stdout.txt"
    )
    assert PathTemplate.parse(TEMPLATE).match(path) == Facts(
        repo="vllm",
        task="vllm_core-0007",
        labels={"agent": "claude_code", "model": "opus"},
        started_at=STARTED,
    )


@pytest.mark.parametrize(
    ("template", "path", "facts"),
    [
        ("{repo}/*.log", "a/b.log", Facts(repo="a")),
        ("{repo}/*.log", "a/b.txt", None),
        ("{repo}/*", "b", None),
        ("{experiment}/**/{task}", "x/e/1/2/t", Facts(experiment="2", task="t")),
        ("logs/{experiment}/**/{task}", "x/logs/1/2/t", Facts(experiment="1", task="t")),
        ("logs/{experiment}/**/{task}", "x/logs/1/t", Facts(experiment="1", task="t")),
        ("{task}/**", "a/b/c", Facts(task="b")),
        ("/a/{task}/**", "/a/b/c/d", Facts(task="b")),
        ("/{repo}/x", "/a/b/x", None),
        ("./logs/{task}", "logs/t", Facts(task="t")),
        (
            "{task}_{timestamp}.log",
            "US_001_20260127T151621Z.log",
            Facts(task="US_001", started_at=STARTED),
        ),
        ("{host}-{task}.json", "h1-US-001.json", Facts(task="US-001", labels={"host": "h1"})),
        ("{timestamp}/{task}", "run-7/t", Facts(task="t", labels={"timestamp": "run-7"})),
        ("{repo}/{task}.log", "C:\\logs\\vllm\\t.log", Facts(repo="vllm", task="t")),
        ("a+(b)/{task}", "a+(b)/t", Facts(task="t")),
        ("{task}/x", "t\ud800/x", Facts(task="t?")),
        ("{task}/x", "a\nb/x", Facts(task="a\nb")),
        ("run-*-{task}.*", "run-1-2-sort.a.log", Facts(task="sort")),
        ("{repo}{task}.log", "vllm.log", Facts(repo="v", task="llm")),
        (
            "{repo}-{task}_{timestamp}.log",
            "a-b-c_d_20260127T151621Z.log",
            Facts(repo="a", task="b-c_d", started_at=STARTED),
        ),
        ("{repo}/**/x/{task}", "a/b//x/t", None),
        ("{repo}/**/x/{task}", "/a/b/x/t", Facts(repo="b", task="t")),
    ],
)
def test_templates(template: str, path: str, facts: Facts | None) -> None:
    assert PathTemplate.parse(template).match(path) == facts


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ("", "has no names in braces"),
        ("runs/*", "has no names in braces"),
        ("{repo}/{repo}", "{repo} more than once"),
        ("{repo", "an unmatched '{'"),
        ("repo}", "an unmatched '}'"),
        ("{{repo}}", "an unmatched"),
        ("{}/x", "braces without a name"),
        ("{my repo}/x", "the invalid name 'my repo'"),
        ("{1}/x", "the invalid name '1'"),
        ("{repo}/a**", "'**' inside 'a**'"),
        ("{repo}/***", "'***' inside '***'"),
        ("{repo}/**/x/**/{task}", "** more than once"),
        ("*-{repo}-*.log", "* more than once in '*-{repo}-*.log'"),
    ],
)
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
    path = "/".join(
        [
            "x",
            "runs",
            parts["repo"],
            parts["agent"],
            parts["model"],
            "20260127T151621Z",
            parts["task"],
            "out.json",
        ]
    )
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


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-01-27_15-16-21", STARTED),
        ("20260127T151621Z", STARTED),
        ("20260127_151621", STARTED),
        ("20260127151621", STARTED),
        ("2026-01-27T15:16:21+00:00", STARTED),
        ("2026-01-27T17:16:21+02:00", STARTED),
        ("2026-01-27T17:16:21+0200", STARTED),
        ("2026-01-27 15:16:21", STARTED),
        ("2026-01-27T15-16-21-250Z", STARTED + timedelta(milliseconds=250)),
        ("2026-01-27_15-16", STARTED.replace(second=0)),
        ("2026-01-27", datetime(2026, 1, 27, tzinfo=UTC)),
        ("20260127", datetime(2026, 1, 27, tzinfo=UTC)),
        ("1769526981", STARTED),
        ("1769526981.5", STARTED + timedelta(milliseconds=500)),
        ("1769526981000", STARTED),
        ("2026-13-27_15-16-21", None),
        ("2026-01-27_25-16-21", None),
        ("run-7", None),
        ("1999-01-01", None),
        ("٢٠٢٦-٠١-٢٧", None),
        ("9" * 100, None),
        ("", None),
    ],
)
def test_times_are_read_leniently_where_a_template_asks(text: str, time: datetime | None) -> None:
    assert lenient_time(text) == time


@pytest.mark.parametrize(
    ("name", "time"),
    [
        ("claude_output_2026-01-27_15-16-21.log", STARTED),
        ("88b51a37_2026-01-27_15-16-21_US-001.log", STARTED),
        ("solve-2026-01-27T15-16-21-302Z.log", STARTED + timedelta(milliseconds=302)),
        ("runs/2026-01-27T15:16:21Z/out.json", STARTED),
        ("2025-01-01_00-00-00/x_20260127-151621.json", STARTED),
        ("2026-01-27.log", None),
        ("2026-01-27_15-16.log", None),
        ("iteration-10.log", None),
        ("1769526981.log", None),
        ("3fa20260127151621bc.json", None),
        ("920260127151621.json", None),
        ("2026-02-30_15-16-21.log", None),
    ],
)
def test_a_name_tells_its_time_only_where_it_is_beyond_doubt(
    name: str, time: datetime | None
) -> None:
    assert time_of_path(name) == time


def test_a_patch_is_counted_hunk_by_hunk() -> None:
    """Lines that look like headers are lines of the hunk they stand in."""
    patch = read_patch(PATCH.splitlines())
    assert (patch.files, patch.insertions, patch.deletions) == (3, 3, 4)
    assert patch.changes == (("vllm/worker.py", 3, 2), ("new name.py", 0, 0), ("café.txt", 0, 2))


def test_a_plain_diff_is_counted_too() -> None:
    lines = [
        "--- a.py\t2026-01-27 15:16:21",
        "+++ a.py\t2026-01-27 15:16:22",
        "@@ -1 +1,2 @@",
        "-x",
        "+y",
        "+z",
        "@@ -9,9 +9,9 @@",
        "+cut",
    ]
    assert read_patch(lines).changes == (("a.py", 3, 1),)


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
            [
                "diff --git a/x b/x",
                "--- a/x",
                "+++ b/y",
                "@@ -1,2 +1,3 @@",
                "+a",
                "-b",
                " c",
                "",
                "\\",
                "@@ -1 +1 @@",
                "?",
            ]
        )
    )
)
def test_no_patch_raises(lines: list[str]) -> None:
    patch = read_patch(lines)
    assert patch.insertions == sum(inserted for _, inserted, _ in patch.changes)


def test_the_sidecars_of_iso_bench(tmp_path: Path) -> None:
    facts = sidecar_facts(
        item(tmp_path / "vllm_core-0003", journal=JOURNAL, model_patch=PATCH, prediction=PREDICTION)
    )
    assert facts == Facts(
        context_rank=SIDECAR_RANK,
        task="vllm_core-0003",
        repo="vllm",
        base_commit="a" * 40,
        head_commit="b" * 40,
        task_status="success",
        first_edit_ms=61_500,
        patch_files=3,
        patch_insertions=3,
        patch_deletions=4,
        patch_sha256=hashlib.sha256(PATCH.encode()).hexdigest(),
        started_at=STARTED,
        ended_at=STARTED + timedelta(seconds=20),
        requested_model="opus",
        patch_changes=(("vllm/worker.py", 3, 2), ("new name.py", 0, 0), ("café.txt", 0, 2)),
        patch=PatchText("model_patch.diff", len(PATCH.encode()), is_cut=False, text=PATCH),
        process_ms=20_000,
        exit_code=0,
    )


def test_a_summary_alone_says_most_of_it(tmp_path: Path) -> None:
    facts = sidecar_facts(item(tmp_path, run_summary=SUMMARY))
    assert (facts.task, facts.task_status, facts.first_edit_ms, facts.requested_model) == (
        "vllm_core-0007",
        "error",
        1250,
        None,
    )
    assert (facts.patch_files, facts.patch_insertions, facts.patch_deletions) == (1, 4, 2)
    assert (facts.started_at, facts.ended_at) == (STARTED, None)


def test_a_prediction_alone_names_repository_and_base(tmp_path: Path) -> None:
    facts = sidecar_facts(item(tmp_path, prediction=PREDICTION))
    assert (facts.repo, facts.base_commit, facts.patch_files, facts.requested_model) == (
        "vllm",
        "abc1234",
        3,
        None,
    )


def test_a_task_in_a_folder_of_another_name_is_its_task_id(tmp_path: Path) -> None:
    assert sidecar_facts(item(tmp_path / "out", journal=JOURNAL)).task == "vllm_core"


def test_an_empty_patch_changed_nothing(tmp_path: Path) -> None:
    facts = sidecar_facts(item(tmp_path, model_patch=""))
    assert (
        facts.context_rank > 0,
        facts.patch_files,
        facts.patch_insertions,
        facts.patch_changes,
    ) == (
        True,
        0,
        0,
        (),
    )


@pytest.mark.parametrize(
    "journal",
    [
        "",
        "{",
        "[]",
        "null",
        "\ufeff",
        "[" * 100_000,
        '{"task_id": 1}',
        JOURNAL | {"status": 7},
        JOURNAL | {"type": "result"},
    ],
    ids=["empty", "cut", "array", "null", "mark", "deep", "few", "odd", "record"],
)
def test_what_is_no_journal_says_nothing(tmp_path: Path, journal: Any) -> None:
    folder = item(tmp_path, journal=journal)
    assert sidecar_facts(folder) == NO_FACTS
    assert not is_sidecar(folder / "journal.json")


@pytest.mark.parametrize("bad", [None, 7, "x", -1, [], {"pre": 3}, "\ud800", 1e308, True])
def test_a_damaged_field_costs_only_itself(tmp_path: Path, bad: Any) -> None:
    journal = JOURNAL | dict.fromkeys(("run_metadata", "metrics", "claude_code", "timestamps"), bad)
    facts = sidecar_facts(item(tmp_path, journal=journal))
    assert (
        facts.task_status,
        facts.base_commit,
        facts.repo,
        facts.first_edit_ms,
        facts.ended_at,
    ) == (
        "success",
        "a" * 40,
        "vllm",
        None,
        None,
    )


def test_sidecars_are_read_anew_when_they_change(tmp_path: Path) -> None:
    assert sidecar_facts(item(tmp_path, journal=JOURNAL)).task_status == "success"
    assert (
        sidecar_facts(item(tmp_path, journal=JOURNAL | {"status": "error!"})).task_status
        == "error!"
    )


def test_what_is_too_large_or_no_file_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe would never end."""
    os.mkfifo(tmp_path / "journal.json")
    (tmp_path / "run_summary.json").mkdir()
    monkeypatch.setattr(sidecars, "LARGEST_READ", 10)
    item(tmp_path, prediction=PREDICTION)
    assert sidecar_facts(tmp_path) == NO_FACTS
    assert not any(is_sidecar(path) for path in tmp_path.iterdir())
    assert sidecar_facts(tmp_path / "nowhere") == NO_FACTS


def test_a_sidecar_is_known_by_name_and_content(tmp_path: Path) -> None:
    folder = item(
        tmp_path, journal=JOURNAL, run_summary=SUMMARY, prediction=PREDICTION, model_patch=PATCH
    )
    (folder / "diff_targets.json").write_text(
        '{"changed": [], "allowed": [], "disallowed": [], "ok": true}'
    )
    (folder / "prompt.json").write_text('{"task": "t", "target_files": [], "commits": {}}')
    assert all(is_sidecar(path) for path in folder.iterdir())
    (folder / "record.json").write_text(json.dumps(JOURNAL))
    (folder / "model_patch.diff").write_text('{"type": "result"}')
    assert not is_sidecar(folder / "record.json")
    assert not is_sidecar(folder / "model_patch.diff")


def context_of(
    tmp_path: Path | None = None,
    name: str = "out.json",
    stream: Facts = NO_FACTS,
    template: str = "",
) -> Facts:
    parsed = PathTemplate.parse(template) if template else None
    path = tmp_path / name if tmp_path else None
    modified = STARTED + timedelta(hours=1) if path else None
    return gather(str(path or name), path, modified, PathReading(parsed), Sidecars()).for_run(
        stream, 20_000
    )


def test_the_path_wins_over_sidecars(tmp_path: Path) -> None:
    folder = item(tmp_path / "runs" / "sglang" / "t1", journal=JOURNAL)
    template = "runs/{repo}/{task}/*"
    assert (context_of(folder).repo, context_of(folder).task) == ("vllm", "vllm_core")
    assert (
        context_of(folder, template=template).repo,
        context_of(folder, template=template).task,
    ) == ("sglang", "t1")


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


def test_the_stream_wins_over_sidecars(tmp_path: Path) -> None:
    stream = Facts(requested_model="haiku", in_stream=True, tool_calls=(("Bash", 1, 0),))
    context = context_of(item(tmp_path, journal=JOURNAL), stream=stream)
    assert (context.requested_model, context.tool_calls, context.in_stream) == (
        "haiku",
        (("Bash", 1, 0),),
        True,
    )
    assert context_of(tmp_path).requested_model == "opus"


LATER = STARTED + timedelta(minutes=5)
IN_STREAM = Facts(started_at=LATER, ended_at=LATER + timedelta(seconds=9), in_stream=True)


def test_times_come_from_the_best_side_and_say_which(tmp_path: Path) -> None:
    """Stream over sidecar over path over file; a missing end is the duration (20 s here) away."""
    name = "out_2026-01-27_15-30-00.json"
    named = datetime(2026, 1, 27, 15, 30, tzinfo=UTC)
    lasted, hour = timedelta(seconds=20), STARTED + timedelta(hours=1)
    journal = JOURNAL | {"claude_code": {}}
    bare, full = item(tmp_path / "bare"), item(tmp_path / "full", journal=journal)
    assert times(context_of(full, name, IN_STREAM)) == (
        "stream",
        LATER,
        LATER + timedelta(seconds=9),
    )
    assert times(context_of(full, name)) == ("sidecar", STARTED, STARTED + lasted)
    assert times(context_of(bare, name)) == ("path", named, named + lasted)
    assert times(context_of(bare)) == ("file", hour - lasted, hour)
    assert times(context_of(None)) == (None, None, None)


def times(context: Facts) -> tuple[str | None, datetime | None, datetime | None]:
    return context.time_source, context.started_at, context.ended_at


def test_one_timed_event_is_taken_as_the_start() -> None:
    context = context_of(stream=Facts(started_at=LATER, ended_at=LATER, in_stream=True))
    assert times(context) == ("stream", LATER, LATER + timedelta(seconds=20))


@pytest.mark.parametrize("duration_ms", [None, 2**53])
def test_an_end_that_cannot_be_told_stays_unknown(duration_ms: int | None) -> None:
    context = gather("out_2026-01-27_15-16-21.json", None, None, PathReading(), Sidecars()).for_run(
        NO_FACTS, duration_ms
    )
    assert times(context) == ("path", STARTED, None)


def test_the_context_rank_grows_with_what_is_known(tmp_path: Path) -> None:
    bare, full = item(tmp_path / "bare"), item(tmp_path / "full", journal=JOURNAL)
    name = "out_2026-01-27_15-30-00.json"
    contexts = [
        context_of(bare), context_of(bare, name), context_of(full, name),
        context_of(bare, name, IN_STREAM), context_of(full, name, IN_STREAM),
    ]  # fmt: skip
    assert [context.context_rank for context in contexts] == [0, 2, 6, 10, 14]


def test_a_template_may_fit_the_whole_path_where_the_name_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`cd runs && tachograph ingest .` gives names without `runs/`."""
    folder = item(tmp_path / "runs" / "vllm")
    monkeypatch.chdir(folder)
    template = PathTemplate.parse("runs/{repo}/*")
    assert (
        gather("out.json", Path("out.json"), None, PathReading(template), Sidecars())
        .for_run(NO_FACTS, None)
        .repo
        == "vllm"
    )


def test_the_files_of_a_patch_beside_a_record_stand_in_the_store_and_outlive_a_rebuild(
    store: Store, tmp_path: Path
) -> None:
    folder = item(tmp_path / "item", journal=JOURNAL, model_patch=PATCH)
    (folder / "claude_output.json").write_text(record_text())
    ingest_paths(store, folder)
    wanted = [("café.txt", 0, 2), ("new name.py", 0, 0), ("vllm/worker.py", 3, 2)]
    assert patch_files(store) == wanted
    rebuild(store)
    assert patch_files(store) == wanted


def patch_files(store: Store) -> list[tuple[str, int, int]]:
    with store.reading() as connection:
        return connection.execute(
            "select path, insertions, deletions from patch_files join runs using (run_id) "
            "order by path"
        ).fetchall()


NAMED = "out_2026-01-27_15-16-21.json"


@pytest.mark.parametrize(
    ("name", "zone", "began"),
    [
        (NAMED, "America/New_York", "2026-01-27T20:16:21"),
        ("out_2026-07-27_15-16-21.json", "America/New_York", "2026-07-27T19:16:21"),
        ("out_2026-01-27T15-16-21Z.json", "America/New_York", "2026-01-27T15:16:21"),
        (NAMED, "UTC", "2026-01-27T15:16:21"),
    ],
)
def test_times_in_names_are_those_of_the_zone_that_is_told(
    name: str, zone: str, began: str
) -> None:
    """Also by a template; a name that says its zone is believed."""
    stem = name.removeprefix("out_").removesuffix(".json")
    for template in (None, PathTemplate.parse("out_{timestamp}.json")):
        facts = PathReading(template, ZoneInfo(zone)).facts(name)
        assert facts.started_at == datetime.fromisoformat(began).replace(tzinfo=UTC), (
            template,
            stem,
        )


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
        with store.reading() as connection:
            return connection.sql(
                "select run_id, epoch(started_at)::bigint from runs order by run_id"
            ).fetchall()

    expected = int(datetime(2026, 1, 27, 20, 16, 21, tzinfo=UTC).timestamp())
    assert began() == [("broken", expected), ("good", expected)]
    rebuild(store)
    assert began() == [("broken", expected), ("good", expected)]
    with store.reading() as connection:
        assert connection.sql("select path_tz from ingests order by ingest_id").fetchall() == [
            ("America/New_York",),
            (None,),
        ]
