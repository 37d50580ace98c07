"""pyarrow without pandas: its first `pa.array(list)` imports pandas where that is installed, which takes 0.3 s in every process."""

from __future__ import annotations

import sys
from contextlib import suppress


def spare_pandas() -> None:
    """Let pyarrow look for pandas once and find none, unless it is loaded already. A later `import pandas` works.

    Another thread that imports it meanwhile would fail: only for a process without other threads.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa  # here: whoever finds nothing new needs neither

    sys.modules["pandas"] = None  # type: ignore[assignment]  # the import then raises ImportError
    try:
        with suppress(ImportError, AttributeError):  # pyarrow trips over the None
            pa.array([0])
    finally:
        del sys.modules["pandas"]
