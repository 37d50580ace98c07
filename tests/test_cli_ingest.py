"""`tachograph ingest` as it is typed: standard input, archives, templates, processes, retries."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

from tests.conftest import SAMPLES, Run, record_text


def runs(tachograph: Run, *columns: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in tachograph("runs --format jsonl").stdout.splitlines()]
    return [{column: row[column] for column in columns} for row in rows]


def test_standard_input_is_a_source(tachograph: Run) -> None:
    done = tachograph("ingest - --json", input=record_text())
    assert json.loads(done.stdout)["accepted"] == 1
    assert done.returncode == 0
    assert tachograph("sources --format csv").stdout.splitlines()[1].split(",")[1] == "stdin"


def test_an_archive_is_read_and_its_members_stand_as_sources(
    tachograph: Run, tmp_path: Path
) -> None:
    archive = tmp_path / "logs.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(SAMPLES, arcname="samples")
    assert json.loads(tachograph("ingest", archive, "--json").stdout)["accepted"] == 3
    assert json.loads(tachograph("ingest", archive, "--json").stdout)["duplicates"] == 3
    again = json.loads(tachograph("ingest", SAMPLES, "--json").stdout)
    assert (again["accepted"], again["duplicates"]) == (0, 3)
    names = [
        json.loads(line)["name"]
        for line in tachograph("sources --format jsonl").stdout.splitlines()
    ]
    assert (
        sorted(name.rpartition("!")[2] for name in names)[-1] == "samples/003_02b393ca620dfaa5.txt"
    )


def test_a_path_template_fills_columns_and_labels(tachograph: Run, tmp_path: Path) -> None:
    log = (
        tmp_path
        / "runs"
        / "vllm"
        / "claude_code"
        / "2026-01-27_15-16-21"
        / "task-7"
        / "result.json"
    )
    log.parent.mkdir(parents=True)
    log.write_text(record_text(duration_ms=60_000))
    tachograph(
        "ingest", tmp_path / "runs", "--path-template", "runs/{repo}/{harness}/{timestamp}/{task}/*"
    )
    [row] = runs(tachograph, "repo", "task", "labels", "started_at", "ended_at", "time_source")
    assert row["started_at"].startswith("2026-01-27T15:16:21")
    assert row["ended_at"].startswith("2026-01-27T15:17:21")
    assert (row["repo"], row["task"], row["labels"], row["time_source"]) == (
        "vllm",
        "task-7",
        {"harness": "claude_code"},
        "path",
    )


def test_an_ingest_says_what_a_path_template_gave(tachograph: Run, tmp_path: Path) -> None:
    """A template that fits nothing, or the wrong folder, would be noticed much later, if at all."""
    (log := tmp_path / "core" / "7" / "out.json").parent.mkdir(parents=True)
    log.write_text(record_text())
    said = tachograph("ingest", tmp_path, "--path-template", "{team}/**").stderr
    assert "--path-template {team}/** fits 1 of 1 log with runs. team: 7." in said
    said = tachograph(
        "ingest", tmp_path, "--path-template", "logs/{team}/x/*", "--db", "other.duckdb"
    ).stderr
    assert "fits 0 of 1 log with runs, such as" in said


def test_a_bad_template_is_told(tachograph: Run) -> None:
    done = tachograph("ingest", SAMPLES, "--path-template", "runs/{repo}/{repo}")
    assert done.returncode == 2
    assert "repo" in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_to_ingest_is_told(tachograph: Run) -> None:
    done = tachograph("ingest")
    assert done.returncode == 2
    assert "Name a file or a folder" in done.stderr


def test_rejects_are_retried_also_those_in_an_archive(tachograph: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(
        record_text(uuid="a") + "\n" + record_text(uuid="b", num_turns=-1)
    )
    with tarfile.open(tmp_path / "logs.tar", "w") as tar:
        tar.add(tmp_path / "log.jsonl", arcname="log.jsonl")
    tachograph("ingest", tmp_path / "logs.tar")
    found = json.loads(tachograph("ingest --retry-rejects --json").stdout)
    assert (found["documents"], found["accepted"], found["duplicates"], found["rejected"]) == (
        2,
        0,
        1,
        1,
    )
    assert len(tachograph("rejects --format jsonl").stdout.splitlines()) == 1
    assert len(tachograph("sources --format jsonl").stdout.splitlines()) == 2
    (tmp_path / "logs.tar").unlink()
    assert "no longer there" in tachograph("ingest --retry-rejects").stderr


def mixed(good: str, bad: str) -> str:
    return record_text(uuid=good) + "\n" + record_text(uuid=bad, num_turns=-1)


def test_a_file_whose_name_looks_like_a_member_is_retried(tachograph: Run, tmp_path: Path) -> None:
    for folder in ("we!rd", "a.tar!"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "b!.json").write_text(mixed(folder, "bad"))
    with tarfile.open(tmp_path / "lo!gs.tar", "w") as tar:
        tar.add(tmp_path / "we!rd" / "b!.json", arcname="c.json")
    tachograph("ingest", "we!rd", "a.tar!/b!.json", "lo!gs.tar")
    done = tachograph("ingest --retry-rejects --json")
    assert "retried" not in done.stderr
    assert json.loads(done.stdout)["rejected"] == 2


def test_what_is_not_found_is_told_with_the_folder_it_was_looked_for_in(
    tachograph: Run, tmp_path: Path
) -> None:
    (tmp_path / "bad.json").write_text('{"type":"result","total_cost_usd":')
    tachograph("ingest bad.json")
    (tmp_path / "elsewhere").mkdir()
    done = tachograph(
        "ingest --retry-rejects --db ../tachograph.duckdb", cwd=tmp_path / "elsewhere"
    )
    assert (
        f"bad.json is not in {tmp_path / 'elsewhere'} (run this in the folder of the first ingest)"
        in done.stderr
    )


def test_a_file_that_was_mended_keeps_no_reject(tachograph: Run, tmp_path: Path) -> None:
    """Whether the retry reads it or an ingest did before.

    What its former content was accepted for stays.
    """
    (tmp_path / "log.jsonl").write_text(mixed("a", "b"))
    (tmp_path / "bad.json").write_text('{"type":"result","total_cost_usd":')
    (tmp_path / "still.json").write_text('{"type":"result","duration_ms":')
    tachograph("ingest .")
    (tmp_path / "log.jsonl").write_text(record_text(uuid="a") + "\n" + record_text(uuid="b"))
    (tmp_path / "bad.json").write_text(record_text(uuid="c"))
    tachograph("ingest bad.json")
    done = tachograph("ingest --retry-rejects --label branch=main")
    told = [line.partition(" ")[0] for line in done.stderr.splitlines() if "changed since" in line]
    assert told == ["bad.json", "log.jsonl"]
    assert [
        json.loads(line)["detail"]
        for line in tachograph("rejects --format jsonl").stdout.splitlines()
    ] == ["truncated JSON"]
    rows = {row["run_id"]: row["labels"] for row in runs(tachograph, "run_id", "labels")}
    assert (sorted(rows), rows["b"]) == (["a", "b", "c"], {"branch": "main"})
    found = tachograph("doctor").stdout.replace(
        "problem  prices", ""
    )  # they grow old by themselves
    assert "problem" not in found


def test_the_store_in_a_folder_of_logs_is_no_log(tachograph: Run, tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(record_text())
    for sources in (1, 1):
        assert json.loads(tachograph("ingest . --json").stdout)["sources"] == sources
    assert len(tachograph("sources --format jsonl").stdout.splitlines()) == 1


def test_a_place_for_the_store_that_does_not_exist_is_told_before_anything_is_read(
    tachograph: Run,
) -> None:
    done = tachograph("ingest", SAMPLES, "--db", "nowhere/s.duckdb")
    assert done.returncode == 4
    assert "nowhere does not exist" in done.stderr


def test_logs_that_are_called_like_the_store_are_read(tachograph: Run, tmp_path: Path) -> None:
    for number, name in enumerate(("runs.jsonl", "runs1/a.json", "runs-old/a.json")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(record_text(uuid=f"u{number}"))
    for accepted in (3, 0):
        found = json.loads(tachograph("ingest . --db runs --json").stdout)
        assert (found["sources"], found["accepted"]) == (3, accepted)


def test_rejects_of_standard_input_are_to_be_piped_in_again(tachograph: Run) -> None:
    tachograph("ingest -", input='{"type":"result","num_tu')
    done = tachograph("ingest --retry-rejects")
    assert "pipe it in again" in done.stderr
    assert "No files found" in done.stderr


def test_a_folder_without_files_is_told(tachograph: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = tachograph("ingest", tmp_path / "empty")
    assert (done.returncode, "No files found." in done.stderr) == (0, True)


def test_rejects_from_before_are_pointed_to(tachograph: Run, tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text('{"type":"result","num_tu')
    tachograph("ingest", tmp_path / "cut.json")
    done = tachograph("ingest", tmp_path / "cut.json", "--strict")
    assert (done.returncode, "1 earlier reject. List them: tachograph rejects" in done.stderr) == (
        1,
        True,
    )
