"""A disk that fills up while somebody uploads: the page says so in a sentence, the store is as before, and with room the upload succeeds."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

from playwright.sync_api import Browser

from tests.attack import kills, logs
from tests.attack.browsing import Log, Tab
from tests.attack.disk_full import ROOMY_BYTES, NotPermitted, resize, small_disk
from tests.attack.hashes import State, differences
from tests.attack.kills import STORE
from tests.attack.lab import Lab
from tests.attack.tally import Tally
from tests.serving import served

CHECKED = "a sentence on the page, no traceback there or in the log, hash of all columns as before; with room the next upload succeeds"
STORE_BYTES = 3 << 20
"""About what the store of such an upload takes, with the spool and the files themselves."""


def attack(lab: Lab, browser: Browser, attempts: int) -> None:
    """Upload to a dashboard whose store and temporary folder are on a small disk, of another size each time."""
    tally = lab.tally("disk full: upload", CHECKED)
    room = lab.room("uploads")
    files = sorted(logs.write_logs(room / "few", "few", 40).iterdir())
    lab.forks.succeed(room, *kills.ingest(room / "few"), "--db", room / STORE)
    done = lab.hasher.state(room / STORE)
    for step in range(attempts):
        try:
            _upload(lab, tally, browser, files, done, 8192 + STORE_BYTES * step // attempts)
        except NotPermitted as error:
            tally.skip(f"a tmpfs may not be mounted here ({error})")
            return


def _upload(lab: Lab, tally: Tally, browser: Browser, files: list[Path], done: State, size: int) -> None:
    with (
        tally.attempt(f"upload of {len(files)} files to a dashboard on a tmpfs of {size:,} bytes") as folder,
        small_disk(folder / "disk", size),
    ):
        disk, told = folder / "disk", folder / "dashboard.log"
        with mock.patch.dict(os.environ, {"TMPDIR": str(disk / "tmp")}), served(disk / STORE, told) as (address, _):
            tab, log = Tab(browser, address), Log(told)
            tab.open("upload")
            tab.page.locator("input[type=file]").set_input_files(files)
            tab.page.get_by_text(SAID).or_(tab.page.get_by_role("heading", name=ARRIVED)).first.wait_for()
            tab.check()
            log.check()
            found = lab.hasher.state(disk / STORE)
            assert found in (State(), done) or found.is_like(done), differences(found, done)
            resize(disk, ROOMY_BYTES)
            tab.open("upload")
            tab.page.locator("input[type=file]").set_input_files(files)
            tab.page.get_by_role("heading", name=ARRIVED).wait_for()
            tab.check()
            log.check()
            tab.close()
        runs = lab.hasher.rows(disk / STORE, "select count(*) from runs")
        assert runs == [(40,)], runs


SAID = "room"
"""A word of the sentence that says what to do: make room."""

ARRIVED = "What became of them"
