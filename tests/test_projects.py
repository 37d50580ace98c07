"""One project for every run, by the first origin that names one."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from app.queries.filters import Filters, choose, where
from app.queries.reading import fetch
from app.queries.runs import summary
from app.queries.sessions import sessions
from app.queries.usage import UsageRequest, usage
from ingest.context.path_template import PathTemplate
from ingest.pipeline import Options, ingest
from ingest.sources.walking import read_paths
from ingest.store.annotations import Change, annotate
from ingest.store.database import Store
from ingest.store.opening import sql_of
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from tests.claude_lines import in_session, reply, user

LONG = "x" * 200


@pytest.mark.parametrize(
    ("repo", "cwd", "path", "expected"),
    [
        ("vllm", "/srv/other", "a/Own+Repo/x", ("record", "vllm")),
        ("git@github.com:vllm-project/vllm.git", "/srv/x", "", ("remote", "vllm")),
        ("ssh://git@example.org:2222/team/search.git/", "/srv/x", "", ("remote", "search")),
        ("https://example.org/acme/api", "/srv/x", "", ("remote", "api")),
        ("psf/requests", "/testbed", "", ("remote", "requests")),
        ("redacted://url/d18f1190d0", "/srv/shop/", "", ("folder", "shop")),
        (None, "C:\\Users\\ann\\code\\shop\\", "", ("folder", "shop")),
        (None, "/Users/ann/My Projekt ü/", "", ("folder", "My Projekt ü")),
        (None, f"/srv/{LONG}", "", ("folder", LONG)),
        (None, "/srv/cli/.worktrees/ann/fix-it", "", ("folder", "cli")),
        (None, "/testbed", "logs/Ann-1+hive.mind/run.log", ("archive", "hive.mind")),
        (None, "/tmp/gh-issue-solver-1764523986440", "x.zip!a+b/c", ("archive", "b")),
        (None, "/private/tmp/demo", "C:\\logs\\ann+shop\\run.log", ("archive", "shop")),
        (None, "/srv/run-2026-07-11", "ann+shop.tar.gz!run.log", ("archive", "shop")),
        (None, "/srv/cli/.claude/worktrees/fix-it", "", ("folder", "cli")),
        (None, "/root", "", None),
        (None, "/home/ann", "", None),
        (None, "C:\\Users\\ann", "", None),
        (None, "C:\\Users\\ann\\AppData\\Local\\Temp\\demo", "", None),
        (None, "C:\\", "", None),
        (None, "/", "", None),
        (None, "/workspace/app", "c++/20260101T000000+0200/run.log", None),
        (None, None, "run.log", None),
    ],
)
def test_the_first_origin_that_names_a_project_names_it(
    repo: str | None, cwd: str | None, path: str, expected: tuple[str, str] | None
) -> None:
    """A folder that any run may have worked in, or that is there for one run, names nothing."""
    connection = duckdb.connect()
    connection.execute(sql_of("projects/macros"))
    by_origin = "select project_of(map {}, $repo, $cwd, $path)"
    by_label = "select project_of(map {'project': 'a/b'}, $repo, $cwd, $path)"
    given = {"repo": repo, "cwd": cwd, "path": path}
    [(found,)] = connection.execute(by_origin, given).fetchall()
    assert (found and (found["origin"], found["name"])) == expected
    [(labelled,)] = connection.execute(by_label, given).fetchall()
    assert labelled == {"origin": "label", "name": "a/b"}


@pytest.fixture
def three(tmp_path: Path) -> Store:
    """Three sessions: in a folder of its own, in /tmp of an archive, and in /tmp."""
    logs, store = tmp_path / "logs", Store(tmp_path / "runs.duckdb")
    for number, (folder, cwd) in enumerate(
        (("a", "/srv/shop"), ("ann+hive-mind", "/tmp/x"), ("b", "/tmp"))
    ):
        (logs / folder).mkdir(parents=True)
        lines = (json.dumps(one | {"cwd": cwd}) for one in (user("Go."), reply()))
        text = in_session(number, "\n".join(lines))
        (logs / folder / f"{number}.jsonl").write_text(text + "\n")
    ingest(read_paths([logs]), store, Options(jobs=1))
    return store


def _query(filters: Filters) -> tuple[str, dict[str, object]]:
    chosen = where(filters)
    return f"select repo from v_runs where {chosen.sql}", chosen.parameters


def _named(store: Store) -> list[tuple[str | None, str | None]]:
    found = fetch(store, "select repo, repo_source from v_runs order by repo nulls last")
    return [(row["repo"], row["repo_source"]) for row in found.to_pylist()]


def test_the_project_is_one_in_reports_usage_sessions_filters_and_search(three: Store) -> None:
    """`report` knew no repository of runs that `usage` listed by project."""
    named = {"shop": 1, "hive-mind": 1, None: 1}
    by_run = summary(three, choose({}), ("project",), ("runs",)).to_pylist()
    assert {row["project"]: row["runs"] for row in by_run} == named
    by_part = usage(three, UsageRequest(by=("project",))).table.to_pylist()
    assert {row["project"] for row in by_part} == set(named)
    assert {row["project"] for row in sessions(three).to_pylist()} == set(named)
    for chosen in ({"project": "hive-mind"}, {"repo": "hive-mind"}, {"search": "hive-m"}):
        found = fetch(three, *_query(choose(chosen))).to_pylist()
        assert [row["repo"] for row in found] == ["hive-mind"], chosen


def test_a_label_precedes_until_it_is_taken_back(three: Store) -> None:
    [run] = fetch(three, "select run_id from v_runs where repo = 'shop'").to_pylist()
    before = _named(three)
    for label in ("project", "repo"):
        annotate(three, [run["run_id"]], Change(labels={label: "till"}))
        assert ("till", "label") in _named(three)
        if label == "repo":
            rebuild(three)
            assert ("till", "label") in _named(three)
        annotate(three, [run["run_id"]], Change(removed=[label]))
        assert _named(three) == before


def test_another_copy_names_the_project_in_any_order(three: Store, tmp_path: Path) -> None:
    """A record that came later took the place of a better name, or its undo left that name."""
    before = _named(three)
    copies = tmp_path / "copies" / "runs" / "till"
    copies.mkdir(parents=True)
    for path in (tmp_path / "logs").rglob("*.jsonl"):
        (copies / path.name).write_text(path.read_text() + "\n")
    template = PathTemplate.parse("runs/{repo}/*")
    ingest(read_paths([copies.parent]), three, Options(jobs=1, template=template))
    assert _named(three) == [("till", "record")] * 3
    other = Store(tmp_path / "other.duckdb")
    ingest(read_paths([copies.parent]), other, Options(jobs=1, template=template))
    ingest(read_paths([tmp_path / "logs"]), other, Options(jobs=1))
    assert _named(other) == [("till", "record")] * 3
    undo(three, 2)
    undo(other, 1)
    assert _named(three) == _named(other) == before
