"""Rows of the store: their base and the types of their columns, with their units.

Without pydantic, which only checking rows needs.
"""

from __future__ import annotations

import sys
import types
from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache
from inspect import get_annotations
from typing import (
    Annotated,
    Any,
    ClassVar,
    NoReturn,
    Self,
    Union,
    get_args,
    get_origin,
)

import pyarrow as pa

from schemas.units import Unit


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its title for people, its meaning, and its default value.

    An empty title hides it from people. The default is the value of a row that is not given one.
    """

    title: str
    description: str
    default: Any


def column(*, description: str, title: str = "", default: Any = None) -> Any:
    """Declare a column of a row model. A required one has no default; its None fails the check."""
    return Column(title, description, default)


def optional(title: str, description: str) -> Any:
    """Declare a column that may be unknown: its title, and meaning."""
    return Column(title, description, None)


class Row(ABC):  # noqa: B024  abstract to mypy too, which lets a class be the key of a cache only if it has a metaclass
    """One row of a table of the store, frozen.

    Its fields are the table's columns, their descriptions the comments on them.

    Values are checked when they become columns (`tables.arrow_table`), which takes a fifth of the
    time. Raises TypeError for an unknown field.
    """

    columns: ClassVar[Mapping[str, Column]] = {}

    def __init_subclass__(cls) -> None:
        cls.columns = {
            **cls.columns,
            **{name: value for name, value in vars(cls).items() if isinstance(value, Column)},
        }

    def __init__(self, **values: Any) -> None:
        self._hold({**_defaults(type(self)), **values})

    def completed(self, values: Mapping[str, Any]) -> Self:
        """Return the row with these values. Raises TypeError for an unknown field."""
        row = object.__new__(type(self))
        row._hold({**self.__dict__, **values})
        return row

    def _hold(self, values: dict[str, Any]) -> None:
        object.__setattr__(self, "__dict__", values)
        if len(values) != len(self.columns):
            raise TypeError(
                f"{type(self).__name__} does not take "
                f"{', '.join(values.keys() - self.columns.keys())}"
            )

    def values(self) -> Iterable[Any]:
        return self.__dict__.values()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen: make another row by `completed`")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    __hash__ = None  # type: ignore[assignment]  # values may be lists and maps

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({values})"


@cache
def _defaults(row: type[Row]) -> dict[str, Any]:
    return {name: column.default for name, column in row.columns.items()}


NANODOLLAR = Decimal("1e-9")
"""The smallest stored amount. Costs are rounded to it once, when a record is read."""


LARGEST_INT = 2**53
"""The largest whole number that JSON keeps exactly; no agent counts further, and sums of such
numbers fit into 64 bits.
"""


@dataclass(frozen=True, slots=True)
class ArrowType:
    """The Arrow type that a value is stored as, and its unit.

    `compressed` asks the store for zstd, for long text.

    `bounds`: what else the check asks of a value, in the words of pydantic's schemas.
    """

    type: pa.DataType
    unit: Unit = Unit.TEXT
    compressed: bool = False
    bounds: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), **self.bounds}


_WHOLE = {"ge": 0, "le": LARGEST_INT}
_MONEY = pa.decimal128(18, 9)

Text = Annotated[str, ArrowType(pa.string())]
LongText = Annotated[str, ArrowType(pa.string(), compressed=True)]
RawText = Annotated[str | bytes, ArrowType(pa.string(), compressed=True)]
"""Text, or its UTF-8 bytes if it was not decoded."""
Flag = Annotated[bool, ArrowType(pa.bool_())]
Count = Annotated[int, ArrowType(pa.int64(), Unit.COUNT, bounds=_WHOLE)]
Tokens = Annotated[int, ArrowType(pa.int64(), Unit.TOKENS, bounds=_WHOLE)]
Bytes = Annotated[int, ArrowType(pa.int64(), Unit.BYTES, bounds=_WHOLE)]
Milliseconds = Annotated[int, ArrowType(pa.int64(), Unit.MILLISECONDS, bounds=_WHOLE)]
Offset = Annotated[int, ArrowType(pa.int64(), Unit.COUNT, bounds=_WHOLE)]
Usd = Annotated[Decimal, ArrowType(_MONEY, Unit.USD, bounds={"ge": 0})]
SignedUsd = Annotated[Decimal, ArrowType(_MONEY, Unit.USD)]
Rank = Annotated[int, ArrowType(pa.int64(), Unit.COUNT, bounds=_WHOLE | {"ge": -LARGEST_INT})]
"""How complete a record is; below 0 behind every record of the agent itself."""
Ratio = Annotated[float, ArrowType(pa.float64(), Unit.RATIO, bounds={"gt": 0})]
Share = Annotated[float, ArrowType(pa.float64(), Unit.SHARE, bounds={"ge": 0, "le": 1})]
Quantity = Annotated[float, ArrowType(pa.float64(), Unit.COUNT)]
_IN_PYTHON = {
    "tz_constraint": "aware",
    "ge": datetime.min.replace(tzinfo=UTC),
    "le": datetime.max.replace(tzinfo=UTC),
}
"""Times that Python can read again, in whatever zone."""
UtcTime = Annotated[datetime, ArrowType(pa.timestamp("us", tz="UTC"), Unit.TIME, bounds=_IN_PYTHON)]
UsdParts = Annotated[tuple[Usd | None, ...], ArrowType(pa.list_(_MONEY), Unit.USD)]
Names = Annotated[tuple[str, ...], ArrowType(pa.list_(pa.string()))]
Labels = Annotated[dict[str, str], ArrowType(pa.map_(pa.string(), pa.string()))]


@cache
def types_of(row: type[Row]) -> Mapping[str, Any]:
    """Return the annotated type of each column."""
    return {name: named[0] for name, named in _named_types(row).items()}


def stored_type(row: type[Row], name: str) -> ArrowType:
    """Return how a column is stored, and its unit.

    Raises TypeError if its annotation does not say it.
    """
    _, arrow = _named_types(row)[name]
    if arrow is None:
        raise TypeError(f"{row.__name__}.{name} names no ArrowType")
    return arrow


@cache
def _named_types(row: type[Row]) -> Mapping[str, tuple[Any, ArrowType | None]]:
    return {
        name: _named_type(base.__module__, text)
        for base in reversed(row.__mro__)
        for name, text in get_annotations(base).items()
        if name in row.columns
    }


@cache
def _named_type(module: str, text: str) -> tuple[Any, ArrowType | None]:
    """Return the type that an annotation names in a module, and how it is stored.

    The 900 columns have 60 different ones, and to evaluate one takes long.
    """
    annotation = eval(text, vars(sys.modules[module]))  # noqa: S307  a text of ours
    return annotation, _arrow_type(annotation)


def _arrow_type(annotation: Any) -> ArrowType | None:
    """Return the `ArrowType` of an annotation, also inside `Annotated[…] | None`."""
    inner = get_args(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        return next(filter(None, map(_arrow_type, inner)), None)
    return next((item for item in inner if isinstance(item, ArrowType)), None)


LARGEST_USD = Decimal(10**9) - NANODOLLAR


def usd(amount: Decimal) -> Decimal:
    """Round an amount in US dollars to whole nanodollars, halves to even."""
    return amount.quantize(NANODOLLAR, rounding=ROUND_HALF_EVEN)
