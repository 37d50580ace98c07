"""pyarrow without pandas: its first `pa.array(list)` imports pandas where that is installed, 0.3 s in every process that reads."""

from __future__ import annotations

import sys
from contextlib import suppress

import pyarrow as pa


def spare_pandas() -> None:
    """Let pyarrow ask for pandas once and find none, unless it is loaded. Whoever asks for it by name afterwards gets it.

    Another thread that imports it in that instant does not: only for a process that has no other threads.
    """
    if "pandas" in sys.modules:
        return
    sys.modules["pandas"] = None  # type: ignore[assignment]  # what tells Python that there is none
    try:
        with suppress(ImportError, AttributeError):  # pyarrow trips over the None where Python would have raised
            pa.array([0])
    finally:
        del sys.modules["pandas"]
