"""`tachograph run`: a run's record gets into its row in all cases; the exit code never changes.

The exit code is that of the agent.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from app.runner.launch import cells, parse_axes
from app.runner.limits import Limits, with_own_options
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.agents import AGENTS, agent_of_program
from schemas.errors import UsageError
from schemas.wire.launch import LAUNCH_FILE, PATCH_FILE
from tests.conftest import FILE, Run, fetched, ingest_paths, record_text
from tests.forks import Forks
from tests.golden_logs import text_of
from tests.test_pass_through import AGENT

KEPT = "runs-of-agents"
ONE_TURN = "codex/a_turn_of_rollout_and_stream_counts_once"
SESSION = "0199aaaa-1111-7222-8333-444455556666"
COLUMNS = tuple(
    (
        "run_id session_id agent record_kind outcome is_started duration_ms "
        "cost_own_usd labels experiment task repo branch cwd base_commit patch_files "
        "patch_insertions patch_deletions patch_sha256 time_source terminal_reason "
        "title"
    ).split()
)


def rows(place: Path | Store) -> list[dict[str, Any]]:
    store = place if isinstance(place, Store) else Store(place / FILE)
    with store.reading() as connection:
        found = (
            connection.sql(f"select {', '.join(COLUMNS)} from v_runs order by started_at")
            .to_arrow_table()
            .to_pylist()
        )
    return [row | {"labels": dict(row["labels"])} for row in found]


def said_of(tmp_path: Path, **changes: Any) -> str:
    """A word of the fake agent: print a record with these changes."""
    path = tmp_path / f"record-{changes.get('uuid', 'usual')}.json"
    path.write_text(record_text(**changes) + "\n")
    return f"copy:{path}"


def program(folder: Path, name: str) -> str:
    """The fake agent as a program of another name."""
    path = folder / name
    path.write_text(f'#!/bin/sh\nexec {shlex.join(AGENT)} "$@"\n')
    path.chmod(0o755)
    return str(path)


def git(folder: Path, *words: str) -> str:
    """A git command, whatever the settings of the machine."""
    settings = "-c user.name=a -c user.email=a@example.org -c init.defaultBranch=main".split()
    done = subprocess.run(
        ["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "kernels"
    folder.mkdir()
    git(folder, "init", "-q")
    for name, text in (
        ("fast.py", "a = 1\nb = 2\n"),
        ("dirty.py", "x = 1\n"),
        (".gitignore", "*.o\n"),
    ):
        (folder / name).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "begin")
    return folder


def test_a_run_has_what_was_recorded_of_it_and_its_output_is_untouched(
    tachograph: Run, repository: Path, tmp_path: Path
) -> None:
    """Its changes are those between its start and its end.

    Neither what was changed before, nor what git ignores.
    """
    (repository / "dirty.py").write_text("x = 2\n")
    (repository / "notes.txt").write_text("mine\n")
    untouched = git(repository, "count-objects", "-v")
    words = [
        "write:fast.py=a = 1\nb = 3\n",
        "write:new.py=1\n",
        "write:made.o=binary",
        said_of(tmp_path),
        "complain:hm",
        "exit:3",
    ]
    done = tachograph("run --label task=speed --label team=a --", *AGENT, *words, cwd=repository)
    assert (done.returncode, done.stdout) == (3, record_text() + "\n")
    assert done.stderr.startswith(
        "hm\ntachograph: claude-code completed, but exited with code 3, in 1m 00s, "
    ), "as the store has it"
    assert "$0.25, 2 files changed (+2 −1): run 00000000… in tachograph.duckdb" in done.stderr
    [run] = rows(repository)
    assert (
        run
        | {
            "agent": "claude-code",
            "task": "speed",
            "repo": "kernels",
            "branch": "main",
            "cwd": str(repository),
            "duration_ms": 60_000,
            "base_commit": git(repository, "rev-parse", "HEAD"),
            "time_source": "sidecar",
            "outcome": "execution_error",
        }
        == run
    )
    assert run["labels"] == {
        "task": "speed",
        "team": "a",
        "host": os.uname().nodename,
        "exit-code": "3",
    }
    [folder] = (repository / KEPT).iterdir()
    assert (run["patch_files"], run["patch_insertions"], run["patch_deletions"]) == (2, 2, 1)
    assert (
        run["patch_sha256"]
        == json.loads((folder / LAUNCH_FILE).read_text())["git"]["patch"]["sha256"]
    )
    assert git(repository, "count-objects", "-v") == untouched, (
        "nothing is written into the repository"
    )


def test_the_folders_of_runs_are_read_again_to_the_same_rows(
    tachograph: Run, repository: Path, tmp_path: Path
) -> None:
    """One with a record, and one without that commits.

    Into another store, a second time, out of an archive, and by a rebuild.
    """
    commit = "shell:git -c user.name=a -c user.email=a@example.org commit -qam made"
    tachograph(
        "run --label task=speed --",
        *AGENT,
        "write:fast.py=1\n",
        said_of(tmp_path),
        cwd=repository,
    )
    tachograph("run --quiet --", *AGENT, commit, cwd=repository)
    stored = rows(repository)
    after = git(repository, "rev-parse", "HEAD")
    assert (
        stored[1]["labels"]["commit-after"]
        == after
        != stored[1]["base_commit"]
        == stored[0]["base_commit"]
    )
    assert (stored[1]["patch_files"], stored[1]["patch_sha256"]) == (0, None), (
        "the files are as they were"
    )
    anew, archived = Store(tmp_path / "anew.duckdb"), Store(tmp_path / "archived.duckdb")
    ingest_paths(anew, repository / KEPT)
    assert rows(anew) == stored
    assert ingest_paths(anew, repository / KEPT).total("accepted") == 0
    assert (rebuild(anew).rejects, rows(anew)) == (0, stored)
    ingest_paths(
        archived, Path(shutil.make_archive(str(tmp_path / "runs"), "zip", repository / KEPT))
    )
    assert rows(archived) == stored


def test_the_patch_makes_of_the_files_before_those_after(
    tachograph: Run, repository: Path, tmp_path: Path
) -> None:
    """With bytes that are no text, a name beyond ASCII, and an end without a new line."""
    fresh = shutil.copytree(repository, tmp_path / "fresh")
    changes = [
        "write:fast.py=no end",
        "write:größe.py=é\n",
        "shell:printf '\\000\\377' > raw.bin; rm dirty.py",
    ]
    tachograph("run --", *AGENT, *changes, cwd=repository)
    [patch] = repository.glob(f"{KEPT}/*/{PATCH_FILE}")
    git(fresh, "apply", str(patch))
    shown = {
        path.name: path.read_bytes()
        for path in repository.iterdir()
        if path.is_file() and not path.name.startswith("tachograph")
    }
    assert {path.name: path.read_bytes() for path in fresh.iterdir() if path.is_file()} == shown
    assert rows(repository)[0]["patch_files"] == 4


def test_a_record_of_success_does_not_hide_that_the_process_failed(
    tachograph: Run, tmp_path: Path
) -> None:
    """The record's own words stay; the run counts as failed, also after a rebuild.

    One that tells a failure is at odds with nothing.
    """
    tachograph("run --", *AGENT, said_of(tmp_path, uuid="good"))
    tachograph(
        "run --", *AGENT, said_of(tmp_path, uuid="odd", terminal_reason="completed"), "exit:3"
    )
    failed = tachograph(
        "run --",
        *AGENT,
        said_of(tmp_path, uuid="bad", is_error=True, result="API Error: 500"),
        "exit:1",
    )
    assert "claude-code api error (exited with code 1) in " in failed.stderr
    shown = json.loads(tachograph("show odd --format json").stdout)
    its = [shown[key] for key in ("outcome", "subtype", "is_error", "terminal_reason")]
    assert its == ["execution_error", "success", False, "completed"]
    [told] = [finding for finding in shown["findings"] if finding["rule"] == "exit_code"]
    assert (told["expected"], told["actual"]) == ("exit code 0", "exit code 3")
    assert "its process exited with code 3" in tachograph("show odd").stdout.replace("\n    ", " ")
    limits = [tachograph("check --max-error-rate", limit).returncode for limit in ("0.6", "0.7")]
    assert limits == [1, 0], "two of three failed"
    stored = rows(tmp_path)
    assert [
        (run["outcome"], run["terminal_reason"], run["labels"].get("exit-code")) for run in stored
    ] == [
        ("completed", None, None),
        ("execution_error", "completed", "3"),
        ("api_error", None, "1"),
    ]
    store = Store(tmp_path / FILE)
    assert (rebuild(store).rejects, rows(tmp_path)) == (0, stored)
    assert "exit_code" in found_of(store)


def test_a_run_without_a_record_is_kept_and_says_so(tachograph: Run, tmp_path: Path) -> None:
    done = tachograph("run --", *AGENT, "say:hello", "\udcff is no text", "exit:7")
    assert (done.returncode, done.stdout) == (7, "hello\n")
    assert "no record on standard output: cost and tokens are unknown" in done.stderr, done.stderr
    assert "not ingested" not in done.stderr, done.stderr
    [run] = rows(tmp_path)
    assert (run["agent"], run["record_kind"], run["outcome"]) == (
        Path(AGENT[0]).name,
        "sidecar",
        "execution_error",
    )
    assert (run["terminal_reason"], run["patch_files"], run["cost_own_usd"]) == (
        "exit code 7",
        None,
        None,
    )
    assert run["duration_ms"] > 0
    assert run["is_started"], "what it did is not known"
    assert run["title"][:30] == shlex.join(AGENT)[:30], "nothing says more of it than the command"
    store = Store(tmp_path / FILE)
    assert (rebuild(store).rejects, rows(tmp_path)) == (0, [run])


def test_a_transcript_of_the_run_stands_in_for_a_record(tachograph: Run, tmp_path: Path) -> None:
    """Not that of a session in another folder, nor one that was there before."""
    sessions = tmp_path / "sessions-of-codex" / "sessions"
    sessions.mkdir(parents=True)
    for name, cwd in (("mine", tmp_path), ("other", tmp_path / "elsewhere")):
        (tmp_path / name).write_text(rollout(name, cwd))
    (sessions / "rollout-before.jsonl").write_text(rollout("before", tmp_path))
    copies = (
        f"shell:cp mine '{sessions}/rollout-mine.jsonl'; cp other '{sessions}/rollout-other.jsonl'"
    )
    done = tachograph("run --label team=a --", program(tmp_path, "codex"), copies, "say:Done.")
    assert "read 1 transcript of Codex from its home" in done.stderr
    [run] = rows(tmp_path)
    assert (run["session_id"], run["agent"], run["labels"]["team"]) == ("mine", "codex", "a")


def test_a_transcript_that_is_ingested_too_does_not_hide_the_exit_code(
    tachograph: Run, tmp_path: Path
) -> None:
    """In any order and after a rebuild.

    Without the log of the process, the run ended as its transcript says.
    """
    (tmp_path / "events").write_text(text_of(f"{ONE_TURN}/stream.jsonl"))
    transcript = tmp_path / f"rollout-2026-11-01T10-00-00-{SESSION}.jsonl"
    transcript.write_text(rollout(SESSION, tmp_path))
    tachograph("run --", program(tmp_path, "codex"), "copy:events", "exit:3")
    first, last = Store(tmp_path / FILE), Store(tmp_path / "last.duckdb")
    ingest_paths(first, transcript)
    ingest_paths(last, transcript)
    ingest_paths(last, tmp_path / KEPT)
    for number, store in enumerate((first, last, last)):
        if number == 2:
            rebuild(last)
        [run] = rows(store)
        assert (run["record_kind"], run["outcome"], run["terminal_reason"]) == (
            "transcript",
            "execution_error",
            "exit code 3",
        )
        assert found_of(store) == ["exit_code"]
    undo(last, 2)
    assert ([run["outcome"] for run in rows(last)], found_of(last)) == (["completed"], [])


def found_of(store: Store) -> list[str]:
    return [rule for (rule,) in fetched(store, "select rule from findings order by rule")]


def rollout(session: str, cwd: Path) -> str:
    """A session of Codex with one turn."""
    text = text_of(f"{ONE_TURN}/rollout.jsonl")
    return text.replace(SESSION, session).replace("/work", str(cwd))


def test_a_locked_store_loses_nothing_and_the_command_that_is_told_ingests_the_run(
    tachograph: Run, tmp_path: Path
) -> None:
    with Store(tmp_path / FILE).writing():
        done = tachograph("run --wait 0 --label team=a --", *AGENT, said_of(tmp_path), "exit:4")
    assert (done.returncode, done.stdout) == (4, record_text() + "\n")
    command = done.stderr.rpartition("Ingest it: ")[2].strip()
    assert tachograph(*shlex.split(command)[1:]).returncode == 0
    [run] = rows(tmp_path)
    assert (run["labels"]["team"], run["cost_own_usd"]) == ("a", Decimal("0.25"))


def test_a_store_that_cannot_be_made_changes_no_exit_code(tachograph: Run, tmp_path: Path) -> None:
    done = tachograph("run --db no/such/folder.duckdb --", *AGENT, said_of(tmp_path), "exit:5")
    assert done.returncode == 5
    assert "not ingested: " in done.stderr
    assert "--db no/such/folder.duckdb" in done.stderr


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (("--label", "nope"), 2, "a label is written"),
        (("--max-usd", "-1"), 2, "above 0"),
        (("--matrix", "model=a"), 2, "does not use --matrix model"),
        (("--matrix", "repeat=a"), 2, "is taken"),
        (("--keep", "here.txt"), 2, "is a file"),
    ],
)
def test_what_makes_no_sense_is_told_before_anything_runs(
    options: tuple[str, str], code: int, told: str, tachograph: Run, tmp_path: Path
) -> None:
    (tmp_path / "here.txt").touch()
    done = tachograph("run", *options, "--", *AGENT, "write:ran=yes")
    assert (done.returncode, told in done.stderr, (tmp_path / "ran").exists()) == (
        code,
        True,
        False,
    ), done.stderr


def test_a_command_that_is_not_there_is_told_and_leaves_nothing(
    tachograph: Run, tmp_path: Path
) -> None:
    done = tachograph("run -- no-such-agent -p")
    assert (done.returncode, "cannot start 'no-such-agent'" in done.stderr) == (127, True)
    assert not any((tmp_path / KEPT).iterdir())


def test_a_limit_of_time_ends_the_run_and_all_that_it_started(
    tachograph: Run, tmp_path: Path
) -> None:
    words = ["ignore:SIGTERM", f"leave-running:{tmp_path / 'pid'}", "say:working", "sleep:60"]
    done = tachograph("run --max-minutes 0.005 --grace 0.2 --", *AGENT, *words)
    assert (done.returncode, done.stdout) == (128 + signal.SIGKILL, "working\n")
    assert "ended by a signal: --max-minutes was reached" in done.stderr
    [run] = rows(tmp_path)
    assert (run["outcome"], run["labels"]["ended-by"], run["is_started"]) == (
        "limit_reached",
        "max-minutes",
        True,
    )
    assert (
        "never started" not in tachograph("show", run["run_id"]).stdout + tachograph("runs").stdout
    ), "its usage is unknown, not none"


def test_a_limit_of_cost_ends_a_run_that_tells_its_cost_as_it_goes(
    tachograph: Run, tmp_path: Path
) -> None:
    """By a signal: the agent has no option of its own."""
    (tmp_path / "steps").write_text(text_of("opencode/steps_without_an_end.jsonl"))
    done = tachograph(
        "run --max-usd 1.20 --", program(tmp_path, "opencode"), "copy:steps", "sleep:60"
    )
    assert (done.returncode, "--max-usd was reached" in done.stderr) == (
        128 + signal.SIGTERM,
        True,
    ), done.stderr
    [run] = rows(tmp_path)
    assert (run["agent"], run["outcome"], run["labels"]["ended-by"]) == (
        "opencode",
        "max_budget",
        "max-usd",
    )
    assert run["cost_own_usd"] == Decimal("1.5")


def test_a_cost_that_is_told_at_the_end_only_is_told_to_be_over_the_limit(
    tachograph: Run, tmp_path: Path
) -> None:
    """Nothing could end the run before: its exit code stays.

    A cost within the limit is no reason for that word.
    """
    over = tachograph("run --max-usd 0.2 --", *AGENT, said_of(tmp_path))
    assert (
        over.returncode,
        "went over --max-usd 0.2: its output told that only at its end" in over.stderr,
    ) == (0, True), over.stderr
    within = tachograph("run --max-usd 0.25 --", *AGENT, said_of(tmp_path, uuid="b"))
    assert "could not be watched" in within.stderr
    assert "went over" not in within.stderr


def test_an_event_stream_that_was_cut_is_said_to_be_one(tachograph: Run, tmp_path: Path) -> None:
    """Who asked for a stream is not told to ask for a record. Who asked for nothing is."""
    session = "11111111-1111-1111-1111-111111111111"
    (tmp_path / "cut").write_text(
        json.dumps(
            {"type": "system", "subtype": "init", "session_id": session, "cwd": str(tmp_path)}
        )
        + "\n"
    )
    cut, hint = "the event stream ended without its result event", "--output-format json"
    claude = program(tmp_path, "claude")
    for command in (
        (claude, "copy:cut"),
        (claude, "say:", "say:--output-format", "say:stream-json"),
        (*AGENT, "copy:cut"),
    ):
        done = tachograph("run --", *command)
        assert (cut in done.stderr, hint in done.stderr) == (True, False), done.stderr
    plain = tachograph("run --", claude, "say:Hello.")
    assert (cut in plain.stderr, hint in plain.stderr) == (False, True), plain.stderr


def test_ctrl_c_is_the_agents_and_its_record_is_kept(forks: Forks, tmp_path: Path) -> None:
    words = [said_of(tmp_path), f"write:{tmp_path / 'there'}=", "sleep:60"]
    running = forks.start(
        tmp_path,
        "run",
        "--repeat",
        "3",
        "--keep-going",
        "--db",
        FILE,
        "--keep",
        KEPT,
        "--",
        *AGENT,
        *words,
    )
    while not (tmp_path / "there").exists():
        signal.sigtimedwait((), 0.01)
    running.send(signal.SIGINT)
    ended = running.wait()
    assert ended.code == 128 + signal.SIGINT, ended.story
    assert "stopped: run 1 of 3 was interrupted; runs 2 and 3 were not started\n" in ended.err
    assert [run["labels"]["ended-by"] for run in rows(tmp_path)] == ["SIGINT"], (
        "no further run is begun"
    )


def test_an_experiment_has_a_run_for_each_cell_with_labels_that_line_up(
    tachograph: Run, tmp_path: Path
) -> None:
    for uuid in ("a1", "b1"):
        said_of(tmp_path, uuid=uuid)
    words = [
        "shell:test ! -e {model}",
        f"copy:{tmp_path}/record-{{model}}.json",
        "write:{model}=",
        '{"json": 1}',
    ]
    done = tachograph("run --matrix model=a1,b1 --label task=t --", *AGENT, *words)
    assert done.returncode == 0, done.stderr
    assert "run 2 of 2: claude-code completed" in done.stderr
    first, second = (run["labels"] for run in rows(tmp_path))
    assert (first["model"], second["model"], first["experiment"]) == (
        "a1",
        "b1",
        second["experiment"],
    )
    stopped = tachograph("run --matrix model=a1,b1 --", *AGENT, *words)
    assert (stopped.returncode, stopped.stderr.count("tachograph: run ")) == (1, 1), (
        "the first failure ends it"
    )
    assert (
        "stopped: run 1 of 2 exited with code 1; run 2 was not started (--keep-going goes on)"
        in stopped.stderr
    )
    compared = tachograph(
        "compare", "label=model=a1 task=t", "label=model=b1 task=t", "--format", "json"
    )
    assert json.loads(compared.stdout)[0]["tasks"] == 1


@pytest.mark.parametrize(
    ("repeats", "words", "told"),
    [
        (
            "3",
            (*AGENT, "exit:4"),
            "run 1 of 3 exited with code 4; runs 2 and 3 were not started (--keep-going goes on)",
        ),
        (
            "4",
            ("no-such-agent",),
            "run 1 of 4 could not be started; runs 2 to 4 were not started (--keep-going goes on)",
        ),
    ],
)
def test_runs_that_are_not_started_are_told_even_where_nothing_else_is(
    repeats: str, words: tuple[str, ...], told: str, tachograph: Run
) -> None:
    assert (
        f"tachograph: stopped: {told}\n"
        in tachograph("run --quiet --repeat", repeats, "--", *words).stderr
    )
    assert "not started" not in tachograph("run --quiet --repeat 2 --keep-going --", *words).stderr


def test_every_combination_comes_once_before_any_is_repeated() -> None:
    axes = parse_axes(["model=a, b", "effort=low,high"])
    found = list(cells(["agent", "{model}-{effort}", "{other}"], axes, 2))
    assert [cell.command for cell in found[:4]] == [
        ("agent", f"{model}-{effort}", "{other}") for model in "ab" for effort in ("low", "high")
    ]
    assert [cell.labels["repeat"] for cell in found] == ["1"] * 4 + ["2"] * 4
    assert found[4].labels == {"model": "a", "effort": "low", "repeat": "2"}
    with pytest.raises(UsageError):
        parse_axes(["model="])


@pytest.mark.parametrize(
    ("command", "usd", "minutes", "expected", "watched"),
    [
        (
            ["claude", "-p", "x"],
            "5",
            10,
            ["claude", "--max-budget-usd", "5", "-p", "x"],
            (None, 10),
        ),
        (
            ["claude", "-p", "x"],
            "1.000000000",
            None,
            ["claude", "--max-budget-usd", "1", "-p", "x"],
            (None, None),
        ),
        (
            ["claude", "-p", "x", "--max-budget-usd=2"],
            "5",
            None,
            ["claude", "-p", "x", "--max-budget-usd=2"],
            (None, None),
        ),
        (
            ["/opt/qwen", "-p", "x"],
            "5",
            1.5,
            ["/opt/qwen", "--max-wall-time", "90s", "-p", "x"],
            (Decimal(5), None),
        ),
        (["npx", "claude"], "5", 10, ["npx", "claude"], (Decimal(5), 10)),
    ],
)
def test_a_limit_is_the_agents_own_option_where_it_has_one(
    command: list[str],
    usd: str,
    minutes: float | None,
    expected: list[str],
    watched: tuple[Decimal | None, float | None],
) -> None:
    agent = agent_of_program(command[0])
    limited = with_own_options(
        command, agent.program if agent else None, Limits(Decimal(usd), minutes)
    )
    assert (list(limited.command), (limited.watched.usd, limited.watched.minutes)) == (
        expected,
        watched,
    )


def test_no_two_agents_have_a_program_of_one_name() -> None:
    names = [name for agent in AGENTS.values() if agent.program for name in agent.program.names]
    assert len(names) == len(set(names))
    assert all(agent.program for agent in AGENTS.values() if agent.home)


def test_no_secret_of_the_command_line_is_kept(tachograph: Run, tmp_path: Path) -> None:
    """Neither in the store, nor in the files of the run, which are the user's alone.

    Labels of a matrix are command line too.
    """
    words = ["env", "OPENAI_API_KEY=HUSH-1", *AGENT, "--api-key", "HUSH-2", "--token={token}"]
    tachograph("run --matrix token=HUSH-3 --", *words)
    assert tachograph("run -- env - true").returncode == 0
    for name in ("runs", "ingests"):
        shown = [
            tachograph(name, "--format", one, "--with-text").stdout
            for one in ("json", "csv", "md", "html")
        ]
        assert not [one for one in shown if "HUSH" in one or "env" not in one]
    for path in [*(tmp_path / KEPT).rglob("*"), tmp_path / KEPT]:
        assert path.stat().st_mode & 0o077 == 0, f"{path} may be read by others"
        assert path.is_dir() or path.name == "stdout.log" or "HUSH" not in path.read_text()
    assert b"HUSH" not in (tmp_path / FILE).read_bytes()


def test_what_an_older_version_kept_of_a_command_line_is_hidden_when_it_is_read(
    tachograph: Run, tmp_path: Path
) -> None:
    tachograph("run -- true --mode fast")
    [folder] = (tmp_path / KEPT).iterdir()
    for name in ("run.json", LAUNCH_FILE):
        (folder / name).write_text(
            (folder / name).read_text().replace("--mode", "--token").replace("fast", "HUSH")
        )
    anew = Store(tmp_path / "anew.duckdb")
    ingest_paths(anew, folder)
    with anew.writing() as writer:
        writer.connection.execute(
            "update ingests set command = 'tachograph ingest x --db ducklake:password=HUSH'"
        )
    assert [row["title"] for row in rows(anew)] == ["true --token '[hidden]'"]
    rebuild(anew)
    kept = fetched(anew, "select raw, title, (select any_value(command) from ingests) from runs")
    assert "HUSH" not in str(kept)
    assert "[hidden]" in kept[0][2]


def test_the_command_line_of_a_run_without_a_record_is_text(
    tachograph: Run, tmp_path: Path
) -> None:
    """It may hold the prompt.

    Files have it with --with-text alone, and a store with --no-text has it nowhere.
    """
    tachograph("run -- true", "Make it faster")
    for words, has in ((("--with-text",), True), ((), False)):
        for name in ("runs", "ingests", "findings"):
            assert ("faster" in tachograph(name, "--format", "json", *words).stdout) is (
                has and name == "runs"
            )
    tachograph("run --no-text --db textless.duckdb -- true", "Make it faster")
    assert "faster" not in tachograph("runs --db textless.duckdb").stdout
    assert fetched(Store(tmp_path / "textless.duckdb"), "select count(*) from runs") == [(1,)]
