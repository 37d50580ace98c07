"""A disk that fills up while somebody uploads.

The page says so, the store is as before, and with room the upload succeeds.
"""

from __future__ import annotations

import os
import re
from contextlib import closing
from pathlib import Path
from unittest import mock

from playwright.sync_api import Browser

from tests.attack import logs
from tests.attack.browsing import Log, Tab
from tests.attack.disk_full import ROOMY_BYTES, refusal, resize, small_disk
from tests.attack.hashes import State, differences
from tests.attack.kills import STORE
from tests.attack.lab import Lab, Tally
from tests.serving import served

CHECKED = (
    "a sentence on the page, no traceback there or in the log, hash of all columns as before; "
    "with room the next upload succeeds"
)
RUNS = 40
STORE_BYTES = 3 << 20
"""About what the store of such an upload takes, with the spool and the files themselves."""


def attack(lab: Lab, browser: Browser, attempts: int) -> None:
    """Upload to a dashboard on a small disk, which has another size each time.

    The store and the temporary folder are on this disk.
    """
    tally = lab.tally("disk full: upload", CHECKED)
    room = lab.room("uploads")
    files = sorted(logs.write_logs(room / "few", "few", RUNS).iterdir())
    tally.skipped = refusal(room / "mounted")
    for step in [] if tally.skipped else range(attempts):
        _attack_one(lab, tally, browser, files, 8192 + STORE_BYTES * step // attempts)


def _attack_one(lab: Lab, tally: Tally, browser: Browser, files: list[Path], size: int) -> None:
    with (
        tally.attempt(
            f"upload of {len(files)} files to a dashboard on a tmpfs of {size:,} bytes"
        ) as folder,
        small_disk(folder / "disk", size),
    ):
        disk, log = folder / "disk", folder / "dashboard.log"
        variables = mock.patch.dict(os.environ, {"TMPDIR": str(disk / "tmp")})
        with (
            variables,
            served(disk / STORE, log) as (address, _),
            browser.new_page() as page,
            closing(Tab(page, address)) as tab,
        ):
            _upload(tab, files, Log(log), is_full=True)
            found = lab.hasher.state(disk / STORE)
            resize(disk, ROOMY_BYTES)
            _upload(tab, files, Log(log), is_full=False)
            done = lab.hasher.state(disk / STORE)
        assert done.tables["runs"].rows == RUNS, done
        assert found == State() or found.is_like(done), (
            f"a part was written: {differences(found, done)}"
        )


def _upload(tab: Tab, files: list[Path], log: Log, *, is_full: bool) -> None:
    """Upload the files; a full disk may be told in place of what became of them."""
    tab.open("data?view=upload")
    tab.page.locator("input[type=file]").set_input_files(files)
    arrived = tab.page.get_by_role("heading", name=re.compile(r"\bnew runs?\b"))
    (arrived.or_(tab.page.get_by_text(SAID)).first if is_full else arrived).wait_for()
    tab.check()
    assert "Traceback" not in (logged := log.take()), logged[-3000:]


SAID = re.compile(r"\broom\b|\b507\b")
"""A word of the sentence that says what to do, make room; or the status by which the framework
shows that there was none for the file.
"""
