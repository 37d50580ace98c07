"""Where budgets come from: options, a file with the same names, and the environment of the dashboard.

Budgets are pairs of a key of `LIMITS` and what it allows: `(("max-total-usd", Decimal(50)),)`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from app.reports.budgets import parse_allowed
from schemas.catalogue.metrics import LIMITS
from schemas.errors import UsageError
from schemas.text import did_you_mean

Budgets = tuple[tuple[str, Decimal], ...]

VARIABLE = "TACHOGRAPH_BUDGETS"
"""The environment variable by which the dashboard's process learns its budgets: `max-total-usd=50 max-run-usd=5`."""

EXAMPLE = "max-total-usd = 50"


def budgets_of(given: Mapping[str, str], file: Path | None = None) -> Budgets:
    """The budgets of a file, each replaced by the option of its name (`given`, as written). Raises UsageError."""
    found = read_budgets(file) if file else {}
    found |= {key: parse_allowed(LIMITS[key], text) for key, text in given.items()}
    return tuple((key, found[key]) for key in LIMITS if key in found)


def read_budgets(file: Path) -> dict[str, Decimal]:
    """The budgets of a TOML file: `max-total-usd = 50`, `max-error-rate = "10%"`. Raises UsageError with what is wrong in it."""
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError as error:
        raise UsageError(f"cannot read the budgets in {file}: {error.strerror}.", f"Write a file with a line such as: {EXAMPLE}") from error
    except ValueError as error:
        raise UsageError(f"cannot read the budgets in {file}: {error}.", f"A line is written: {EXAMPLE}") from error
    return {key: _allowed(file, key, value) for key, value in values.items()}


def _allowed(file: Path, key: str, value: object) -> Decimal:
    if key not in LIMITS:
        raise UsageError(f"unknown budget {key!r} in {file}.", f"{did_you_mean(key, list(LIMITS))}Choose from: {', '.join(LIMITS)}.")
    try:
        return parse_allowed(LIMITS[key], str(value))
    except UsageError as error:
        raise UsageError(f"{file}: {error.message}", error.hint) from error


def as_options(budgets: Budgets) -> list[str]:
    """The words of a command line: `--max-total-usd 50`."""
    return [word for key, allowed in budgets for word in (f"--{key}", f"{allowed.normalize():f}")]


def to_environment(budgets: Budgets) -> dict[str, str]:
    """The environment variable that hands budgets on."""
    return {VARIABLE: " ".join(f"{key}={allowed.normalize():f}" for key, allowed in budgets)}


def from_environment() -> Budgets:
    """The budgets of this process, none where it was given none. Raises UsageError."""
    pairs = (pair.partition("=") for pair in os.environ.get(VARIABLE, "").split())
    return budgets_of({key: text for key, _, text in pairs if key in LIMITS})
