"""`python -m tests.pass_through LOG COMMAND…`.

Only passes a command through, which starts ten times as fast as `tachograph run`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from app.runner.process import pass_through

if __name__ == "__main__":
    log, *command = sys.argv[1:]
    sys.exit(pass_through(command, Path(log), lambda _: None).exit_code)
