"""Locations and errors are shown without passwords, keys and tokens."""

from __future__ import annotations

import pytest

from ingest.system.command_lines import command_line, extra_command
from ingest.system.secrets import scrubbed, scrubbed_command, scrubbed_text, without_secrets
from schemas.errors import StoreError, UsageError
from tests.conftest import SAMPLES, Run


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("ducklake:postgres:host=h password=pw1 dbname=d", "ducklake:postgres:host=h dbname=d"),
        (r"ducklake:postgres:password='p\' w' host=h", "ducklake:postgres:host=h"),
        ("ducklake:postgres:host=h PASSWORD = pw1", "ducklake:postgres:host=h"),
        ("ducklake:postgres:postgresql://u:p%40w@h:1/d", "ducklake:postgres:postgresql://u@h:1/d"),
        (
            "ducklake:postgres:postgresql://h/d?user=u&password=pw1",
            "ducklake:postgres:postgresql://h/d?user=u",
        ),
        ("md:runs?motherduck_token=abc", "md:runs"),
        ("runs password=1.duckdb", "runs password=1.duckdb"),  # a file may be called so
    ],
)
def test_a_location_is_shown_without_its_secrets(given: str, shown: str) -> None:
    assert without_secrets(given) == shown


def test_a_text_is_shown_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "of the environment")
    text = "cannot use postgresql://u:pw1@h/d with password='a b' and of the environment and named"
    assert scrubbed(text, "ducklake:postgres:password=named") == (
        "cannot use postgresql://u:***@h/d with password=*** and *** and ***"
    )


def test_a_printed_command_has_no_password() -> None:
    shown = command_line("doctor", "ducklake:postgres:host=h password=pw1")
    assert shown == "tachograph doctor --db ducklake:postgres:host=h"


def test_the_list_of_ingests_has_no_password(tachograph: Run) -> None:
    """A command that ingests into a file may name a lake beside it, for instance by mistake."""
    tachograph(
        "ingest", str(SAMPLES), "--label", "of=ducklake", "--db", "runs.duckdb", "--wait", "5"
    )
    tachograph(
        "ingest",
        str(SAMPLES.parent),
        "--db=ducklake:postgres:host=h password=pw1",
        "--db",
        "runs.duckdb",
    )
    listed = tachograph("ingests --format json --db runs.duckdb").stdout
    assert "host=h" in listed
    assert "pw1" not in listed


@pytest.mark.parametrize(
    "line",
    [
        "env ANTHROPIC_API_KEY=HUSH agent --model opus",
        "agent --api-key HUSH",
        "agent --api-key=HUSH --accessToken -HUSH",
        "agent -token HUSH --client-secret 'two HUSH'",
        "docker run --env=GITHUB_TOKEN=HUSH --build-arg=NPM_TOKEN=HUSH --set=auth.token=HUSH img",
        "agent DB_PASS=HUSH --pass HUSH --pat=HUSH",
        "sh -c 'curl -u somebody:HUSH https://example.org'",
        "sh -c 'export DB_PASSWORD=\"a HUSH\"; agent --token HUSH && echo ok'",
        (
            "curl -H 'Authorization: Bearer HUSH' --header='X-Api-Key: HUSH' -H 'Cookie: a=HUSH; "
            "b=HUSH' https://example.org"
        ),
        "curl -u me:HUSH https://example.org",
        "git clone https://me:HUSH@example.org/x.git",
        'agent --config \'{"auth_token": "HUSH", "n": 1}\'',
        "tachograph ingest logs --db 'ducklake:postgres:host=h password=HUSH dbname=d'",
        "tachograph ingest logs --db=ducklake:postgres:postgresql://u:HUSH@h/d",
        "agent sk-ant-api03-HUSH0123456789 ghp_HUSH01234567890123456789 AKIAHUSH012345678901",
        "agent 'the value HUSH of a variable'",
        "agent --password 'HUSH",  # cut off
    ],
)
def test_a_command_line_is_kept_without_its_secrets(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "value HUSH of a")
    shown = scrubbed_command(line)
    assert "HUSH" not in shown
    assert "[hidden]" in shown
    assert scrubbed_command(shown) == shown


@pytest.mark.parametrize(
    "line",
    [
        "agent --max-tokens 4096 --max_new_tokens=31k MAX_THINKING_TOKENS=31999",
        "agent --author Jane --keywords a,b --tokenizer bpe --no-auth x",
        "agent -p 'Make the key: faster, tokens = 5, and the password: short'",
        "agent --api-key $KEY",
        "docker run -u 1000:1000 image",
        "pytest -k token tests/test_auth.py",
        "agent task-1234567890123 https://example.org:8000/a@b PWD=/home/me",
    ],
)
def test_what_is_no_secret_is_kept_as_it_was(line: str) -> None:
    assert scrubbed_command(line) == line


PIECES = (
    "a",
    "-",
    "sk-",
    "key=",
    "key: ",
    "'",
    '"\\',
    "://",
    "a-",
    '--a="x',
    "eyJaaaaaaaaa-",
    "-----BEGIN PRIVATE KEY-----",
    "bearer ",
)


@pytest.mark.parametrize("piece", PIECES)
def test_secrets_are_looked_for_in_linear_time(piece: str) -> None:
    """Much of what patterns begin with: squared, it would take hours."""
    assert len(scrubbed_text(piece * (300_000 // len(piece)))) > 0


def test_only_a_lake_has_a_history(tachograph: Run) -> None:
    tachograph("ingest", str(SAMPLES))
    ended = tachograph("report --at yesterday")
    assert ended.returncode == UsageError.exit_code
    assert "keeps no history: only a lake can be read as it was" in ended.stderr


def test_only_a_lake_has_an_upkeep(tachograph: Run) -> None:
    for words in ("init --data data", "status", "compact", "expire"):
        ended = tachograph("lake", *words.split())
        assert ended.returncode == UsageError.exit_code
        assert "is not a lake" in ended.stderr


def test_without_the_extra_a_lake_says_what_to_install(
    tachograph: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/nowhere")  # where extensions would be that somebody installed
    ended = tachograph("report --db", "ducklake:postgres:host=127.0.0.1 port=1 dbname=none")
    assert ended.returncode == StoreError.exit_code
    assert (
        extra_command("lake") in ended.stderr or "the catalog cannot be reached" in ended.stderr
    )  # the latter with the extra


def test_a_file_is_copied_whole(tachograph: Run) -> None:
    tachograph("ingest", str(SAMPLES), "--db", "one.duckdb")
    assert "all 3 runs" in tachograph("copy one.duckdb two.duckdb").stderr
    assert "(0 copied now)" in tachograph("copy one.duckdb two.duckdb").stderr
    reports = [
        tachograph("runs --format json --db", f"{name}.duckdb").stdout for name in ("one", "two")
    ]
    assert reports[0] == reports[1] != ""
