"""pyarrow without what it imports beside itself."""

from __future__ import annotations

import sys
from contextlib import suppress


def import_arrow_alone() -> None:
    """Import pyarrow without numpy, and let it look for pandas once and find none.

    They take 0.1 and 0.3 s. Both can be imported later.

    pyarrow then converts nothing to or from numpy. Only for processes without other threads: an
    import in one would fail meanwhile.
    """
    if "pandas" in sys.modules:
        return
    hidden = {"numpy", "pandas"} - sys.modules.keys()
    sys.modules |= dict.fromkeys(hidden)  # type: ignore[arg-type]  # importing one then raises ImportError
    try:
        import pyarrow as pa

        with suppress(ImportError, AttributeError):  # pyarrow trips over the None
            pa.scalar(0, pa.timestamp("us", "UTC")).as_py()  # asks for pandas
    finally:
        for name in hidden:
            del sys.modules[name]
