"""genai-prices without its updates over the network, which are not used here: they import an HTTP client and asyncio, half of the time."""

from __future__ import annotations

import sys
from types import ModuleType

_UPDATES = "genai_prices.update_prices"


def _spare_updates() -> None:
    """Import the library with nothing in place of its updates, unless it is loaded already. A later import of the updates works."""
    if "genai_prices" in sys.modules:
        return
    nothing = ModuleType(_UPDATES)
    nothing.__getattr__ = lambda _: None  # type: ignore[method-assign]  # for the names that the library imports from them
    sys.modules[_UPDATES] = nothing
    try:
        import genai_prices  # noqa: F401, PLC0415
    finally:
        del sys.modules[_UPDATES]


_spare_updates()

from genai_prices.data_snapshot import DataSnapshot, get_snapshot  # noqa: E402
from genai_prices.types import ModelInfo, ModelPrice, StartDateConstraint, TieredPrices  # noqa: E402

__all__ = ["DataSnapshot", "ModelInfo", "ModelPrice", "StartDateConstraint", "TieredPrices", "get_snapshot"]
