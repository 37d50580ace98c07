"""What responses wrote into the log of a loop, and committed.

In transcripts of Claude Code, Codex and Pi.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queries.usage import UsageRequest
from app.queries.usage import usage as usage_of
from ingest.agents.shared.logged import LONGEST_LOGGED, commits_in, logged_by
from ingest.pipeline import Options, ingest
from ingest.sources.walking import read_paths
from ingest.store.database import Store, arrow
from ingest.store.rebuild import rebuild
from tests.claude_lines import SESSION, read_transcript, reply, usage, user
from tests.conftest import ingest_paths
from tests.documents import lines
from tests.pi_loop import PiLoop
from tests.test_codex import STARTED, event, meta, uuid7
from tests.test_codex_responses import count, responses_in
from tests.test_pi import answer as pi_answer
from tests.test_pi import entry as pi_entry
from tests.test_pi import header as pi_header
from tests.test_pi import message as pi_message
from tests.test_pi import session as pi_session
from tests.test_pi import stream as pi_stream

ROW = r"abc1234\t0.9979\t44.0\tkeep\tlarger batch"
COMMITTED = (
    "[autoresearch/may 3f2a1bc] larger batch\n 1 file changed, 2 insertions(+), 1 deletion(-)\n"
)


@pytest.mark.parametrize(
    ("tool", "arguments", "logged"),
    [
        ("Bash", {"command": (f"printf '{ROW}\\n' >> "
"results.tsv")}, ("printf 'abc1234 0.9979 44.0 keep larger batch ' >> "
"results.tsv")),
        ("bash", {"command": ('echo "a,1,keep" | tee -a "my '
'runs.csv"')}, ('echo "a,1,keep" | tee -a "my '
'runs.csv"')),
        ("Bash", {"command": ("cat >> .auto/log.jsonl <<'E'\n{\"run\": "
"1}\nE")}, ("cat >> .auto/log.jsonl <<'E' {\"run\": 1} "
"E")),
        ("Bash", {"command": ('LOG=runs.tsv; echo "7 keep" >> '
'"$LOG"')}, ('LOG=runs.tsv; echo "7 keep" >> '
'"$LOG"')),
        ("Bash", {"command": ("python - <<E\nopen('r.tsv', "
"'a').write('x')\nE")}, ("python - <<E open('r.tsv', 'a').write('x') "
"E")),
        ("Bash", {"command": ("K_API_KEY=sk-abcdef012345678 ./x >> "
"r.csv")}, ("K_API_KEY=[hidden] ./x >> "
"r.csv")),
        ("Write", {"file_path": "/w/results.tsv", "content": "commit\tms\nabc1234\t5\n"}, ("commit ms abc1234 5")),  # noqa: E501
        ("Edit", {"file_path": "r.tsv", "old_string": "a\t1", "new_string": "a\t1\nb\t2"}, "b 2"),
        ("edit", {"path": "r.csv", "edits": [{"oldText": "a", "newText": "a\nb"}, {"oldText": "", "newText": "c"}]}, ("b c")),  # noqa: E501
        (
            "mcp__auto__log_experiment",
            {"metrics": {"kb": 3}, "metric": 1.5, "description": "héllo\nthere"},
            'metric 1.5 description héllo there metrics {"kb": 3}',
        ),
        ("auto__log_experiment", '{"status": "keep"}', "status keep"),
        ("shell", '{"command": ["bash", "-lc", "echo 1 >> r.tsv"]}', "bash -lc echo 1 >> r.tsv"),
        ("exec_command", '{"cmd": "echo 1 >> r.tsv"}', "echo 1 >> r.tsv"),
        ("local_shell_call", {"type": "exec", "command": ["sh", "-c", ("echo 1 >> "
"r.tsv")]}, ("sh -c echo 1 >> "
"r.tsv")),
        (
            "apply_patch",
            ("*** Begin Patch\n*** Update File: a.py\n@@\n+x = 1\n*** Update File: "
"results.tsv\n@@\n old\n+abc1234\t5\n*** End Patch"),
            "abc1234 5",
        ),
        ("exec_command", ('{"cmd": "apply_patch <<E\\n*** Begin Patch\\n*** Add File: r.csv\\n+a,1\\n*** End '  # noqa: E501
'Patch\\nE"}'), ("a,"
"1")),
        ("Bash", {"command": ("python -c \"p = 'r.tsv'; open(p, "
"mode='a')\"")}, ("python -c \"p = 'r.tsv'; open(p, "
"mode='a')\"")),
        ("Bash", {"command": "R=r.csv; echo 1 >> ${R}"}, "R=r.csv; echo 1 >> ${R}"),
        # nothing that writes into a log
        ("Bash", {"command": "R=r.csv; echo 1 >> $OUT"}, None),
        ("Bash", {"command": "python -c \"p = 'r.tsv'; open(p, 'r')\""}, None),
        ("Read", {"file_path": "results.tsv"}, None),
        ("Bash", {"command": "tail -1 results.tsv >> run.log"}, None),
        ("Bash", {"command": "cat results.tsv > all.txt"}, None),
        ("Bash", {"command": "echo 1 >> data.tsv.bak"}, None),
        ("Bash", {"command": None}, None),
        ("Write", {"file_path": "notes.md", "content": "see results.tsv"}, None),
        ("apply_patch", ("*** Begin Patch\n*** Update File: "
"a.py\n+open('results.tsv')\n*** End Patch"), None),
        ("log_experiment", None, None),
        ("log_experiment", [], None),
        ("shell", "not >> JSON", None),
    ],
)  # fmt: skip
def test_what_a_tool_call_writes_into_a_log(tool: str, arguments: Any, logged: str | None) -> None:
    assert logged_by(tool, arguments) == logged


@given(
    st.text(min_size=1),
    st.text(),
    st.sampled_from(["Bash", "Write", "log_experiment", "apply_patch"]),
)
def test_what_is_kept_is_short_and_on_one_line(before: str, behind: str, tool: str) -> None:
    command = f"{before * 400}\necho 'b1946ac keep' >> results.tsv\n{behind * 400}"
    for arguments in (
        {"command": command},
        {"file_path": "r.tsv", "content": command},
        {"description": command},
        command,
    ):
        logged = logged_by(tool, arguments)
        assert logged is None or (
            0 < len(logged) <= LONGEST_LOGGED and logged == " ".join(logged.split())
        )
    assert "b1946ac" in (
        logged_by("Bash", {"command": f"{'x ' * 5000}echo b1946ac >> r.tsv{' x' * 5000}"}) or ""
    )


@pytest.mark.parametrize(
    ("output", "commits"),
    [
        (COMMITTED, ("3f2a1bc",)),
        ([{"type": "text", "text": f"ok\n{COMMITTED}{COMMITTED}"}], ("3f2a1bc",)),
        (
            (
                "[main (root-commit) 0123456789ab] first\n 2 files changed, 9 insertions(+)\n "
                "create mode 100644 a"
            ),
            ("0123456789ab",),
        ),
        (json.dumps({"output": f"$ git commit\n{COMMITTED}"}), ("3f2a1bc",)),
        ("📝 Git: committed — [detached HEAD 3f2a1bc] faster", ("3f2a1bc",)),
        ("[main 3f2a1bc] without a count of files", ()),
        (" 1 file changed, 2 insertions(+)", ()),
        (None, ()),
        ([None, {"text": 5}], ()),
    ],
)
def test_commits_in_the_output_of_git(output: Any, commits: tuple[str, ...]) -> None:
    assert commits_in(output) == commits


def bash(number: int, command: str) -> dict[str, Any]:
    call = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {"command": command}}
    inside = {"content": [call], "stop_reason": "tool_use"}
    return reply(
        f"u{number}",
        f"msg_{number}",
        f"req_{number}",
        usage(number),
        second=10 * number,
        inside=inside,
    )


def output(number: int, text: str) -> dict[str, Any]:
    """A result as Claude Code writes it.

    A line that the reader passes over if nothing on it concerns it.
    """
    block = {"tool_use_id": f"c{number}", "type": "tool_result", "content": text, "is_error": False}
    return user(
        [block], f"r{number}", 10 * number + 5, toolUseResult={"stdout": text, "stderr": ""}
    )


def claude_loop() -> list[dict[str, Any]]:
    return [
        user("Go."),
        bash(1, "ls"),
        output(1, "nothing changed, really"),
        bash(2, "git commit -am 'larger batch'"),
        output(2, COMMITTED),
        bash(3, f"printf '{ROW}\\n' >> results.tsv"),
        output(3, ""),
    ]


def test_a_transcript_of_claude_code() -> None:
    read = read_transcript(
        "".join(f"{json.dumps(one, separators=(',', ':'))}\n" for one in claude_loop())
    )
    assert read.told("logged", "commits") == [
        (None, None),
        (None, ("3f2a1bc",)),
        ("printf 'abc1234 0.9979 44.0 keep larger batch ' >> results.tsv", None),
    ]


def test_a_rollout_of_codex() -> None:
    def item(seconds: float, **payload: Any) -> dict[str, Any]:
        return event(seconds, payload, "response_item")

    rollout = lines(
        meta(uuid7(STARTED)),
        item(
            1,
            type="function_call",
            call_id="c1",
            name="exec_command",
            arguments=json.dumps({"cmd": "git commit -am x"}),
        ),
        count(2, total={"uncached": 100, "output": 10}),
        item(
            3,
            type="function_call_output",
            call_id="c1",
            output=f"Chunk ID: 1\nProcess exited with code 0\nOutput:\n{COMMITTED}",
        ),
        item(
            4,
            type="custom_tool_call",
            call_id="c2",
            name="apply_patch",
            input="*** Begin Patch\n*** Update File: r.tsv\n+abc1234\t5\n",
        ),
        item(
            4,
            type="function_call",
            call_id="c3",
            name="x__log_experiment",
            arguments='{"status": "keep"}',
        ),
        count(5, total={"uncached": 300, "output": 30}),
    )
    assert [(row["logged"], row["commits"]) for row in responses_in(rollout)] == [
        (None, ("3f2a1bc",)),
        ("abc1234 5 status keep", None),
    ]


def rows(store: Store, sql: str) -> list[dict[str, Any]]:
    with store.reading() as connection:
        found: list[dict[str, Any]] = arrow(connection, sql).to_pylist()
    return found


COLUMNS = '"at", cost_reported_usd, tools, logged, commits, run_id, model, provider, cost_list_usd'


def responses(store: Store) -> list[dict[str, Any]]:
    return rows(store, f'select {COLUMNS} from responses order by "at"')


def test_a_loop_of_pi_is_cut_at_its_experiments(store: Store, tmp_path: Path) -> None:
    loop = PiLoop(tmp_path / "work", tmp_path / "sessions" / "s.jsonl")
    loop.experiment(100, "baseline")
    loop.experiment(90.5, "use a “faster” parser\n(twice)", usd="0.2")
    loop.experiment(95, "unroll", "discard", usd="0.3")
    loop.end()
    ingest_paths(store, loop.file)
    found = responses(store)
    assert [row["tools"] for row in found] == [
        ["init_experiment"],
        *([["bash"], ["run_experiment"], ["log_experiment"]] * 3),
        [],
    ]
    logging = [place for place, row in enumerate(found) if row["logged"]]
    assert logging == [3, 6, 9]
    assert [row["commits"] for row in found if row["commits"]] == [["1c0ffee"], ["2c0ffee"]]
    for place, result in zip(logging, loop.results, strict=True):
        for told in (
            result["commit"],
            " ".join(result["description"].split()),
            str(result["timestamp"]),
        ):
            assert told in found[place]["logged"]
    spent = [
        sum((row["cost_reported_usd"] for row in found[first + 1 : last + 1]), Decimal(0))
        for first, last in ((0, 3), (3, 6), (6, 9))
    ]
    assert (found[0]["cost_reported_usd"], spent) == (loop.setup_usd, loop.costs_usd)
    [run] = rows(
        store,
        (
            "select run_id, cost_reported_usd, cost_own_usd, responses, input_tokens, "
            "output_tokens from runs"
        ),
    )
    assert (
        run["cost_reported_usd"]
        == run["cost_own_usd"]
        == sum(row["cost_reported_usd"] for row in found)
    )
    assert (run["responses"], run["input_tokens"], run["output_tokens"]) == (11, 110, 2200)


def test_without_text_only_hashes_stay(store: Store, tmp_path: Path) -> None:
    loop = PiLoop(tmp_path / "work", tmp_path / "s.jsonl")
    loop.experiment(100, "baseline")
    transcript = tmp_path / f"{SESSION}.jsonl"
    transcript.write_text(lines(*claude_loop()))
    ingest_paths(store, loop.file, transcript)
    sums = "select count(logged) as logged, count(*) filter (len(commits) > 0) as committed from {}"
    [before] = rows(store, sums.format("responses"))
    assert before == {"logged": 2, "committed": 2}
    rebuild(store, keeps_text=False)
    for table in ("responses", "response_copies"):
        assert rows(store, sums.format(table)) == [before | {"logged": 0}]
    other = Store(tmp_path / "other.duckdb")
    ingest(read_paths([loop.file, transcript]), other, Options(jobs=1, keeps_text=False))
    assert rows(other, sums.format("responses")) == [before | {"logged": 0}]


def test_responses_of_pi_belong_to_the_file_of_the_session(store: Store, tmp_path: Path) -> None:
    """A process that is not in the file yet is a run of its own.

    It must not take the responses, nor leave the file without figures.
    """
    (tmp_path / "a.jsonl").write_text(pi_session())
    (tmp_path / "b.jsonl").write_text(
        pi_stream([pi_message(900, "user", "Go on."), pi_answer(901, "Done.")])
    )
    ingest_paths(store, tmp_path / "a.jsonl")
    alone = rows(
        store,
        (
            "select run_id, input_tokens, output_tokens, cost_own_usd, tokens_basis, responses "
            "from runs"
        ),
    )
    ingest_paths(store, tmp_path / "b.jsonl")
    columns = ", ".join(alone[0])
    assert rows(store, f"select {columns} from runs where record_kind = 'transcript'") == alone
    assert {row["run_id"] for row in rows(store, "select run_id from responses")} == {
        alone[0]["run_id"]
    }
    used = usage_of(store, UsageRequest(by=("agent",))).table.to_pylist()
    assert [
        (row["responses"], row["whole_runs"], row["output_tokens"], row["outside_usd"])
        for row in used
    ] == [(2, 1, 15, None)]


def test_a_summary_of_pi_whose_tokens_are_not_told_is_a_lower_bound(
    store: Store, tmp_path: Path
) -> None:
    """As a response without tokens it marks the sums of its period.

    Copies of a parent's lines are no responses of the branch.
    """
    (tmp_path / "a.jsonl").write_text(pi_session(pi_entry(9, 4, None, "compaction")))
    forked = pi_header(
        10,
        "019a0000-0000-7000-8000-000000000009",
        parentSession="/x/_019a0000-0000-7000-8000-000000000001.jsonl",
    )
    (tmp_path / "b.jsonl").write_text(pi_session(of=forked))
    ingest_paths(store, tmp_path)
    sql = (
        "select output_tokens, output_is_final, cost_reported_usd is null as is_unknown from "
        'responses order by "at"'
    )
    found = rows(store, sql)
    assert [tuple(row.values()) for row in found] == [
        (5, True, False),
        (5, True, False),
        (None, False, True),
    ]
    [used] = usage_of(store, UsageRequest(by=("agent",))).table.to_pylist()
    assert (used["lower_bounds"], used["output_tokens"], used["cost_reported_usd"]) == (
        1,
        10,
        Decimal("0.6"),
    )
    assert [
        row["tokens_basis"]
        for row in rows(store, "select tokens_basis from runs order by output_tokens desc")
    ] == [
        "lower_bound",
        "exact",
    ]
