"""The base of every row we keep: frozen, strict, no field unknown."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Row(BaseModel):
    """One row of a table of the store. Its fields are the table's columns, their descriptions the comments on them."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)
