"""`tachograph run` is not noticed.

Streams byte for byte, signals, exit codes and terminals are those of the command alone.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from app.runner.process import Running, _relay
from app.runner.reaper import end
from tests.conftest import ROOT
from tests.fake_agent import EVERY_BYTE, MEGABYTES

AGENT = [sys.executable, "-IS", str(ROOT / "tests" / "fake_agent.py")]
PATIENCE = 180
pytestmark = pytest.mark.slow


def passed(log: Path, *words: str, agent: list[str] | None = None) -> list[str]:
    return [sys.executable, "-m", "tests.pass_through", str(log), *(agent or AGENT), *words]


def both(log: Path, *words: str, **options: Any) -> list[tuple[int, bytes, bytes]]:
    """Exit code, output and complaints of the command alone, and passed through."""
    how: dict[str, Any] = {"cwd": ROOT, "capture_output": True, "timeout": PATIENCE} | options
    found = [
        subprocess.run(command, check=False, **how)
        for command in ([*AGENT, *words], passed(log, *words))
    ]
    return [
        (128 - one.returncode if one.returncode < 0 else one.returncode, one.stdout, one.stderr)
        for one in found
    ]


def begun(log: Path, *words: str, **options: Any) -> subprocess.Popen[bytes]:
    """A command that has said `ready`."""
    process = subprocess.Popen(passed(log, *words), cwd=ROOT, stdout=subprocess.PIPE, **options)
    assert process.stdout
    assert os.read(process.stdout.fileno(), 6) == b"ready\n", (
        "what was written arrives while the command runs"
    )
    return process


def test_streams_and_exit_code_are_those_of_the_command_alone(tmp_path: Path) -> None:
    """Streams pass on bytes that are no text, large data, input, errors, and no last line end.

    Large data is more than a pipe holds.
    """
    words = ("bytes", "large", "echo", "complain:no", "exit:7")
    alone, through = both(tmp_path / "log", *words, input=EVERY_BYTE * 50)
    assert (
        through
        == alone
        == (7, EVERY_BYTE + (tmp_path / "log").read_bytes()[len(EVERY_BYTE) :], b"no\n")
    )
    assert (tmp_path / "log").read_bytes() == alone[1]
    assert len(alone[1]) == (MEGABYTES << 20) + 51 * len(EVERY_BYTE)


@pytest.mark.parametrize("words", [("close", "sleep:0.2", "exit:5"), ("say:a", "kill:SIGKILL")])
def test_a_stream_that_ends_early_is_no_end_and_a_signal_has_the_exit_code_of_shells(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    alone, through = both(tmp_path / "log", *words)
    assert through == alone


def test_a_reader_that_goes_away_is_noticed_by_the_command(tmp_path: Path) -> None:
    """As with `| head`: its next write fails."""
    process = begun(
        tmp_path / "log",
        "say:ready",
        f"wait-for:{tmp_path / 'gone'}",
        "large",
        "exit:0",
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout
    process.stdout.close()
    (tmp_path / "gone").touch()
    assert process.wait(PATIENCE) == 1, "the fake agent's error is a traceback"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGWINCH"])
def test_signals_reach_the_command(name: str, tmp_path: Path) -> None:
    process = begun(tmp_path / "log", f"catch:{name}", "say:ready", "sleep:60")
    process.send_signal(getattr(signal, name))
    assert process.communicate(timeout=PATIENCE)[0] == f"caught {name}\n".encode()
    assert process.returncode == 9


class EndsWhenLookedAt(subprocess.Popen[bytes]):
    """A command that writes its last line and ends just as somebody looks whether it has ended."""

    def poll(self) -> int | None:
        if self.stdin and not self.stdin.closed:
            self.stdin.close()
            self.wait()
        return super().poll()


def test_what_a_command_writes_last_is_not_lost_on_a_busy_machine(tmp_path: Path) -> None:
    """Where it came after we looked for output and before we looked for the end, it was."""
    reading, writing = os.pipe()
    with EndsWhenLookedAt(
        ["sh", "-c", "read x; echo the record"], stdin=subprocess.PIPE, stdout=writing
    ) as process:
        os.close(writing)
        with (tmp_path / "log").open("wb", buffering=0) as record:
            _relay(Running(process, reading, None), record)
    assert (tmp_path / "log").read_bytes() == b"the record\n"


def test_a_command_that_ignores_a_signal_goes_on(tmp_path: Path) -> None:
    process = begun(
        tmp_path / "log", "ignore:SIGTERM", "say:ready", f"wait-for:{tmp_path / 'sent'}", "exit:4"
    )
    process.terminate()
    time.sleep(0.1)
    (tmp_path / "sent").touch()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 4


def test_nothing_that_the_command_started_is_left(tmp_path: Path) -> None:
    """Neither holds it up, though it has the standard output open."""
    done = subprocess.run(
        passed(tmp_path / "log", f"leave-running:{tmp_path / 'pid'}", "exit:3"),
        cwd=ROOT,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 3
    assert not runs(int((tmp_path / "pid").read_text()))


def runs(process: int) -> bool:
    try:
        return (Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]) != "Z"
    except OSError:
        return False


def test_what_ignores_the_end_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    command = [
        *AGENT,
        "ignore:SIGTERM",
        f"leave-running:{tmp_path / 'pid'}",
        "say:ready",
        "sleep:60",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout
        process.stdout.readline()
        assert end(process.pid, 0.2)
        assert process.wait(PATIENCE) == -signal.SIGKILL
    assert not runs(int((tmp_path / "pid").read_text()))
    assert not end(process.pid, 0.2), "nothing is left"


class Terminal:
    """A terminal on which a command runs, as somebody sits before it."""

    def __init__(self, command: list[str], typed: bool = True) -> None:
        self.process, self._ours = os.forkpty()
        if not self.process:
            os.chdir(ROOT)
            if not typed:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.execv(command[0], command)
        self.seen = b""

    def type(self, text: bytes) -> None:
        os.write(self._ours, text)

    def until(self, text: bytes) -> None:
        """Wait until it is seen."""
        end = time.monotonic() + PATIENCE
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            assert self._read(), self.seen

    def _read(self) -> bool:
        select.select([self._ours], [], [], 1)
        try:
            self.seen += (block := os.read(self._ours, 1 << 16))
        except OSError:
            return False
        return bool(block)

    def end(self) -> int:
        while self._read():
            pass
        os.close(self._ours)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def test_on_a_terminal_the_command_has_a_terminal(tmp_path: Path) -> None:
    terminal = Terminal(passed(tmp_path / "log", "terminals", "size", "complain:no", "exit:6"))
    assert terminal.end() == 6
    assert terminal.seen.startswith(b"[True, True, True]\r\nos.terminal_size(columns=")
    assert terminal.seen.endswith(b"no\r\n")
    assert (tmp_path / "log").read_bytes() == terminal.seen


def test_keys_reach_the_command_and_ctrl_c_is_its_own(tmp_path: Path) -> None:
    terminal = Terminal(passed(tmp_path / "log", "catch:SIGINT", "say:ready", "echo"))
    terminal.until(b"ready\r\n")
    terminal.type(b"hello\n")
    terminal.until(b"hello\r\nhello\r\n")  # echoed by the terminal, and by the command
    terminal.type(b"\x03")
    assert terminal.end() == 9
    assert b"caught SIGINT" in terminal.seen


def test_input_from_elsewhere_stays_so_on_a_terminal(tmp_path: Path) -> None:
    terminal = Terminal(passed(tmp_path / "log", "terminals", "exit:0"), typed=False)
    assert terminal.end() == 0
    assert terminal.seen == b"[False, True, True]\r\n"
    assert (tmp_path / "log").read_bytes() == b"[False, True, True]\n", (
        "only the real terminal turns ends of lines into its own"
    )


def test_a_command_that_is_not_there_has_the_exit_codes_of_shells(tmp_path: Path) -> None:
    from app.runner.process import NotStarted, pass_through  # noqa: PLC0415

    for command, code in ((str(tmp_path / "nope"), 127), (str(tmp_path), 126)):
        with pytest.raises(NotStarted) as caught:
            pass_through([command], tmp_path / "log", lambda _: None)
        assert caught.value.exit_code == code
