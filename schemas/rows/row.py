"""The base of every row of the store: frozen, strict, without unknown fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field


class Row(BaseModel):
    """One row of a table of the store. Its fields are the table's columns, their descriptions the comments on them."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    @classmethod
    def unchecked(cls, **values: Any) -> Self:
        """A row whose values are not checked here but in `tables.arrow_table`, column by column, which takes a fifth of the time.

        Raises TypeError for a field that does not exist.
        """
        return cls._of({**_defaults(cls), **values})

    def completed(self, values: Mapping[str, Any]) -> Self:
        """The same row with these values, not checked. Raises TypeError for a field that does not exist."""
        return self._of({**self.__dict__, **values})

    def values(self) -> Iterable[Any]:
        """The values in the order of the fields."""
        return self.__dict__.values()

    @classmethod
    def _of(cls, values: dict[str, Any]) -> Self:
        if len(values) != len(cls.__pydantic_fields__):  # `model_fields` would take as long as everything else here
            raise TypeError(f"{cls.__name__} does not take {', '.join(values.keys() ^ cls.model_fields.keys())}")
        row = cls.__new__(cls)
        object.__setattr__(row, "__dict__", values)
        object.__setattr__(row, "__pydantic_fields_set__", set())
        object.__setattr__(row, "__pydantic_extra__", None)
        object.__setattr__(row, "__pydantic_private__", None)
        return row


def optional(title: str, description: str) -> Any:
    """A field that may be unknown: what people call its column, and what it means."""
    return Field(default=None, title=title, description=description)


@cache
def _defaults(row: type[Row]) -> Mapping[str, Any]:
    """Default by field; None for required fields, which the check refuses later if they are not given."""
    return {name: info.get_default() if not info.is_required() else None for name, info in row.model_fields.items()}
