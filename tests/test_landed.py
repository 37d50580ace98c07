"""What became of runs' changes, read from real checkouts by git."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from app.queries.filters import NO_FILTERS, choose
from app.queries.landed import landed_money
from app.queries.reading import exported
from app.queries.runs import summary
from app.reports import results
from app.text.landed import landed_words
from ingest.landings import Landings, RunChanges, read_landings
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.landings import keep_landings, recorded_changes
from schemas.errors import UsageError
from tests.claude_lines import reply, user
from tests.conftest import record_text
from tests.documents import lines
from tests.test_verdicts import line, rows, stored, table
from tests.test_verdicts import run as claim

NAME = "acme/widget"
BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)


class Work:
    """A repository with a remote's address; each commit is a minute after the one before."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.at = folder, BEGAN
        self.git("init", "-q", "-b", "main")
        self.git("remote", "add", "origin", f"git@github.com:{NAME}.git")
        self.commit("first", "readme")

    def git(self, *words: str) -> str:
        self.at += timedelta(minutes=1)
        who = {"NAME": "a", "EMAIL": "a@b.c", "DATE": self.at.isoformat()}
        settings = {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in who.items()
        }
        done = subprocess.run(
            ["git", *words],
            cwd=self.folder, check=True, capture_output=True, text=True,
            env=os.environ | settings | {"GIT_CONFIG_GLOBAL": "/dev/null"},
        )  # fmt: skip
        return done.stdout.strip()

    def commit(self, message: str, file: str, text: str = "") -> str:
        with (self.folder / file).open("a") as out:
            out.write(f"{text or message}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str, *files: str) -> list[str]:
        """Return the commits of a branch that leaves main here, one for each file."""
        self.git("checkout", "-q", "-b", name, "main")
        made = [self.commit(f"{name}: {file}", file) for file in files]
        self.git("checkout", "-q", "main")
        return made

    def read(self, *runs: RunChanges, ticket: str = "") -> Landings:
        return read_landings(self.folder, runs, "", ticket)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def run(number: int, *commits: str, **facts: object) -> RunChanges:
    begun = {"started_at": BEGAN, "ended_at": BEGAN + timedelta(hours=1), "project": NAME}
    return RunChanges(f"run-{number}", commits=[one[:9] for one in commits], **(begun | facts))  # type: ignore[arg-type]


def states(reading: Landings) -> list[str]:
    return [str(row.state) for row in reading.rows]


def test_a_commit_landed_by_itself_by_its_patch_or_by_a_squash_of_its_whole_branch(
    work: Work,
) -> None:
    [merged] = work.branch("merged", "a")
    work.git("merge", "-q", "--no-ff", "-m", f"Merge pull request #4 from {NAME}", "merged")
    [rebased] = work.branch("rebased", "b")
    work.commit("between", "other")
    work.git("cherry-pick", rebased)
    copy = work.git("rev-parse", "HEAD")
    squashed = work.branch("squashed", "c", "d")
    work.git("merge", "-q", "--squash", "squashed")
    work.git("commit", "-q", "-m", "Both at once (#6)")
    squash = work.git("rev-parse", "HEAD")
    reading = work.read(run(1, merged), run(2, rebased), run(3, squashed[0]), run(4, squashed[1]))
    assert states(reading) == ["landed"] * 4
    assert [row.changes for row in reading.rows] == [
        (f"{NAME}#4",), (copy,), (f"{NAME}#6",), (f"{NAME}#6",)
    ]  # fmt: skip
    assert reading.rows[3].reason == f"{squash[:9]} on main has the changes of its whole branch"
    assert (reading.commits, reading.by_runs) == (5, 3)  # first, between and three of runs


def test_a_pull_request_landed_by_the_number_in_the_subject_of_a_squash(work: Work) -> None:
    work.commit("Faster loop, changed in review (#12)", "a")
    work.commit("See #13 for more", "b")
    ours, other = run(1, pull_requests=[f"{NAME}#12"]), run(2, pull_requests=[f"{NAME}#13"])
    reading = work.read(ours, other, run(3, pull_requests=["else/where#12"], project="else/where"))
    assert states(reading) == ["landed", "unknown"]
    assert [row.pull_request for row in reading.rows] == [f"{NAME}#12", f"{NAME}#13"]


def test_what_is_on_another_branch_is_open_and_what_is_on_none_is_abandoned(work: Work) -> None:
    [kept] = work.branch("kept", "a")
    [lost] = work.branch("lost", "b")
    work.git("branch", "-D", "lost")
    reading = work.read(run(1, kept), run(2, lost), run(3, "0" * 40), run(4), run(5, lost, kept))
    assert states(reading) == ["open", "abandoned", "unknown", "unknown", "open"]
    work.git("checkout", "-q", "kept")
    work.git("commit", "-q", "--amend", "-m", "In other words")  # and pushed by force
    assert states(work.read(run(1, kept))) == ["open"]
    assert [row.reason for row in reading.rows[:3]] == [
        f"{kept[:9]} is on kept", f"{lost[:9]} is on no branch", "000000000 is not in the checkout"
    ]  # fmt: skip


def test_a_reverted_change_is_abandoned_unless_the_revert_was_reverted_or_it_came_anew(
    work: Work,
) -> None:
    once, twice = work.commit("once", "a"), work.commit("twice", "b")
    again, other = work.commit("again", "c"), work.commit("other (#7)", "d")
    for one in (once, twice, "HEAD", again):
        work.git("revert", "--no-edit", one)
    work.git("cherry-pick", again)
    work.commit("Not ours\n\nReverts else/where#7", "e")
    of_merge = work.branch("merged", "f", "g")
    work.git("merge", "-q", "--no-ff", "-m", "Merge pull request #4 from x/merged", "merged")
    work.git("revert", "--no-edit", "-m", "1", "HEAD")
    found = states(work.read(*(run(1, one) for one in (once, twice, again, other, *of_merge))))
    assert found == ["abandoned", "landed", "landed", "landed", "abandoned", "abandoned"]


def test_a_reverted_pull_request_landed_if_its_revert_was_reverted_on_github(work: Work) -> None:
    squash = work.commit("Faster (#12)", "a")
    ours = run(1, squash), run(2, pull_requests=[f"{NAME}#12"])
    for by, of, state in ((15, 12, "abandoned"), (16, 15, "landed")):
        work.git("revert", "--no-commit", "HEAD")
        work.git("commit", "-q", "-m", f'Revert "…" (#{by})\n\nReverts {NAME}#{of}')
        assert states(work.read(*ours)) == [state] * 2


def test_a_patch_landed_if_a_commit_of_the_main_branch_has_it(work: Work) -> None:
    work.commit("by hand", "a", "quick")
    patch = work.git("show", "--format=", "HEAD") + "\n"
    reading = work.read(run(1, patch=patch), run(2, patch=patch.replace("quick", "quicker")))
    assert states(reading) == ["landed", "unknown"]


def test_a_short_hash_of_another_project_is_ours_only_at_the_time_of_the_run(work: Work) -> None:
    made = work.commit("ours", "a")
    year = timedelta(days=365)
    late = {"started_at": BEGAN + year, "ended_at": BEGAN + year}
    nameless, other = run(1, made, project=None), run(2, made, project="else/where", **late)
    assert [row.run_id for row in work.read(nameless, other).rows] == ["run-1"]


def test_a_ticket_is_looked_for_in_branch_title_and_message(work: Work) -> None:
    made = work.commit("Speed up\n\nFor ABC-3", "a")
    reading = work.read(
        run(1, made), run(2, made, branch="fix/ABC-1", title="ABC-2"), run(3), ticket=r"ABC-\d+"
    )
    assert [row.ticket for row in reading.rows] == ["ABC-3", "ABC-1", None]
    assert states(work.read(run(1, made, title=f"{'a' * 99}!"), ticket="(a+)+$")) == ["landed"]
    with pytest.raises(UsageError, match="takes a regular expression"):
        work.read(ticket="(")


def test_nothing_of_the_checkout_runs(work: Work, tmp_path: Path) -> None:
    mark = tmp_path.parent / f"{tmp_path.name}-ran"
    [away] = work.branch("away", "a")
    work.commit("attributes", ".gitattributes", "* diff=word filter=word")
    for setting in ("core.fsmonitor", "diff.external", "core.pager", "diff.word.textconv"):
        work.git("config", setting, f"touch {mark} #")
    assert states(work.read(run(1, away))) == ["open"]
    assert not mark.exists()


def test_nothing_is_fetched_and_what_a_partial_clone_lacks_is_unknown(
    work: Work, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git asks the remote for each file that such a clone lacks, by a program of its settings."""
    work.branch("away", "a", "b")
    work.git("merge", "-q", "--squash", "away")
    work.git("commit", "-q", "-m", "Both at once")
    work.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path_factory.mktemp("partial")
    words = ("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{work.folder}")
    work.git(*words, str(clone))
    mark = clone.parent / f"{clone.name}-ran"
    work.git("-C", str(clone), "config", "remote.origin.uploadpack", f"touch {mark} #")
    monkeypatch.setenv("GIT_DIR", "/nonexistent")  # as in a hook of git
    theirs = {"project": None, "cwd": str(clone)}
    away = (clone / ".git" / "packed-refs").read_text().split("refs/remotes/origin/away")[0][-41:-1]
    [row] = read_landings(clone, [run(1, away, **theirs)]).rows
    assert row.reason.endswith("the checkout lacks files to compare its patch")
    assert not mark.exists()


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://user:pa/ss@host/widget.git", "widget"),
        ("https://token@github.com/acme/widget.git/", "acme/widget"),
        ("git@host:widget", "widget"),
        ("ssh://git@host:2222/team/acme/widget.git", "acme/widget"),
        ("/home/jo/secret/widget.git", "widget"),
    ],
)
def test_a_repository_has_its_name_without_user_password_host_and_folders(
    work: Work, address: str, name: str
) -> None:
    work.git("remote", "set-url", "origin", address)
    assert work.read().repository == name


def test_a_folder_that_is_no_checkout_and_an_unknown_branch_are_named(
    work: Work, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("plain")
    with pytest.raises(UsageError, match="is no git repository"):
        read_landings(elsewhere, [])
    with pytest.raises(UsageError, match="has no branch 'trunk'"):
        read_landings(work.folder, [], "trunk")


def test_groups_of_landed_runs_add_up_and_the_dead_ones_are_paid_by_the_landed(
    work: Work, store: Store
) -> None:
    """Every dollar is in one group; a run on two pull requests is one of both."""
    made = [work.commit(f"Change (#{number})", "a") for number in (1, 2)]
    for name, usd in {"one": 1.0, "both": 2.0, "dead": 4.0}.items():
        text = record_text(uuid=name, session_id=name, total_cost_usd=usd)
        ingest([Source(f"{name}.json", text.encode())], store)
    runs = [
        RunChanges("one", project=NAME, commits=made[:1]),
        RunChanges("both", project=NAME, commits=made),
        RunChanges("dead", project=NAME),
    ]
    reading = work.read(*runs)
    for _ in range(2):  # a second reading replaces the first
        assert keep_landings(store, reading.repository, reading.rows) == 3
    metrics = ("cost_best_usd", "changes_landed", "cost_per_landed_usd", "unattributed_share")
    groups = summary(store, NO_FILTERS, ["pull-request"], metrics).to_pylist()
    assert {row["pull-request"]: row["cost_best_usd"] for row in groups} == {
        f"{NAME}#1": 1, f"{NAME}#1, {NAME}#2": 2, None: 4
    }  # fmt: skip
    [total] = summary(store, NO_FILTERS, (), metrics).to_pylist()
    assert [total[key] for key in metrics] == [7, 2, Decimal("3.5"), pytest.approx(4 / 7)]
    ingest([Source("u.json", record_text(uuid="u", session_id="u").encode())], store)
    unknown = summary(store, choose({"landed": "unknown"}), (), ("runs",))
    assert unknown["runs"].to_pylist() == [1]  # no checkout was read for the new one
    assert landed_words(landed_money(store, NO_FILTERS) or pytest.fail("nothing landed")) == (
        "2 changes landed at $3.50 each, by the cost of all 3 runs that a checkout shows; 57% of "
        "it is of runs with unknown changes"
    )


def test_commits_that_name_a_checkpoint_of_a_session_are_its_commits(work: Work) -> None:
    """A person commits what the session left; Entire links both by a branch of checkpoints."""
    work.git("checkout", "-q", "--orphan", "entire/checkpoints/v1")
    folder = work.folder / "ab" / "cdef012345" / "0"
    folder.mkdir(parents=True)
    said = '{\n  "session_id": "2026-03-02-s1",\n}'
    work.commit("checkpoint", "ab/cdef012345/0/metadata.json", said)
    work.git("checkout", "-q", "main")
    landed = work.commit("By hand (#9)\n\n* part\n\nEntire-Checkpoint: abcdef012345\n\nmore", "a")
    runs = (run(1, session_id="s1"), run(2, session_id="s2"))
    (work.folder / "part").mkdir()
    reading = read_landings(work.folder / "part", runs)
    assert [(row.state, row.changes) for row in reading.rows] == [
        ("landed", (f"{NAME}#9",)), ("unknown", ())
    ]  # fmt: skip
    assert reading.rows[0].commits == (landed,)


def test_a_commit_on_no_branch_is_unknown_if_the_main_branch_changed_its_files_since(
    work: Work,
) -> None:
    """A squash with further changes has another patch, and any message."""
    [lost], [other] = work.branch("lost", "b"), work.branch("other", "c")
    work.git("branch", "-D", "lost", "other")
    work.commit("All at once", "b", "otherwise")
    assert states(work.read(run(1, lost), run(2, other))) == ["unknown", "abandoned"]


def test_what_runs_record_is_read_from_logs_and_labels(store: Store) -> None:
    """A launched run is labelled with its commit and, in a job of CI, its pull request."""
    made, opened = "[fix/x 1a2b3c4] Faster\n 1 file changed, 2 insertions(+)", f"{NAME}#7"
    calls = {"commit": ("git commit -m Faster", made)}
    calls["open"] = ("gh pr create --fill", f"Creating …\nhttps://github.com/{NAME}/pull/7\n")
    calls["list"] = ("gh pr list", f"https://github.com/{NAME}/pull/8\n")
    log = [user("Make it faster.")]
    for call, (command, output) in calls.items():
        tool = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        message = {"content": [tool], "stop_reason": "tool_use"}
        log.append(reply(f"u-{call}", f"msg-{call}", f"req-{call}", inside=message))
        result = {"type": "tool_result", "tool_use_id": call, "content": output}
        log.append(user([result], f"r-{call}"))
    ingest([Source("s.jsonl", lines(*log).encode())], store)
    text = record_text(uuid="launched", session_id="launched")
    labels = (("commit-after", "5d6e7f8"), ("pull-request", f"{NAME}#9"), ("branch", "next"))
    ingest([Source("launched.json", text.encode())], store, Options(labels))
    assert recorded_changes(exported(store)) == recorded_changes(store)
    found = {row["commits"][0]: row for row in recorded_changes(store)}
    assert [found["1a2b3c4"]["pull_requests"], found["5d6e7f8"]["pull_requests"]] == [
        [opened], [f"{NAME}#9"]
    ]  # fmt: skip
    assert found["5d6e7f8"]["branch"] == "next"
    rows = summary(store, choose({"pull-request": opened}), ["pull-request"], ("runs",))
    assert rows["pull-request"].to_pylist() == [opened]


def test_a_landed_percent_costs_all_that_was_spent(work: Work, store: Store) -> None:
    """A landed change twice as fast is a hundred percent; the run that landed nothing is paid."""
    stored(
        store,
        claim(),
        claim(task="other", uuid="b"),
        table(line("baseline", 10), line("candidate", 5)),
    )
    made = work.commit("Faster", "a")
    [faster, _] = [row["run_id"] for row in rows(store, "select run_id from runs order by run_id")]
    costs = rows(store, "select sum(cost_best_usd) as usd from v_runs")
    runs = [RunChanges(row["run_id"], project=NAME) for row in rows(store, "from runs")]
    runs = [replace(one, commits=[made] if one.run_id == faster else ()) for one in runs]
    reading = work.read(*runs)
    keep_landings(store, reading.repository, reading.rows)
    found = landed_money(store, NO_FILTERS)
    assert found
    assert found.usd_per_percent == costs[0]["usd"] / 100 > 0


def test_a_checkout_that_no_run_worked_in_is_named(work: Work, store: Store) -> None:
    ingest([Source("a.json", record_text().encode())], store)
    reading = work.read(*(RunChanges(**one) for one in recorded_changes(store)))
    note = results.landed(store, reading).note
    assert note.startswith(f"No run of the store worked in {NAME}:")
