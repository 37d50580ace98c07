"""What a screen asks of the store.

Recorded from its script once, asked again as often as a measurement wants, without Streamlit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from app.queries.filters import Filters
from app.queries.reading import ReadTransaction, read_transaction
from app.screens import cache
from ingest.store.database import Store


@dataclass(frozen=True)
class Question:
    """A function of `app.queries` with its arguments."""

    ask: Callable[..., Any]
    arguments: tuple[Any, ...]
    named: tuple[tuple[str, Any], ...]

    @property
    def name(self) -> str:
        """The function and what tells its questions apart."""
        about = [
            value.key if hasattr(value, "key") else str(value)[:30]
            for value in self.arguments
            if not isinstance(value, Filters)
        ]
        return f"{self.ask.__module__.rpartition('.')[2]}.{self.ask.__name__}({', '.join(about)})"

    @property
    def is_filtered(self) -> bool:
        """Whether it is about the runs that somebody chose.

        The dashboard remembers the answers to all others until the next ingest.
        """
        return any(isinstance(value, Filters) and value for value in self.arguments)

    def with_filter(self, key: str, value: str) -> Question:
        """The same question with another value of a filter, where it has that filter.

        No cache knows the answer.
        """
        chosen = (
            one.with_values(key, [value]) if isinstance(one, Filters) and one.values(key) else one
            for one in self.arguments
        )
        return Question(self.ask, tuple(chosen), self.named)

    def put_to(self, transaction: ReadTransaction) -> Any:
        """The answer."""
        sought = (
            transaction.searched(value) if isinstance(value, Filters) else value
            for value in self.arguments
        )
        return self.ask(transaction, *sought, **dict(self.named))


@contextmanager
def recorded() -> Iterator[list[Question]]:
    """The questions that screens ask until the end of the block, each once."""
    asked: list[Question] = []
    answers: dict[str, Any] = {}

    def answer(
        _state: object,
        _name: str,
        arguments: tuple[Any, ...],
        named: dict[str, Any],
        question: Any,
        transaction: Any,
    ) -> Any:
        one = Question(question, arguments, tuple(named.items()))
        if repr(one) not in answers:
            asked.append(one)
            answers[repr(one)] = one.put_to(transaction)
        return answers[repr(one)]

    with patch.object(cache, "_answer", answer):
        yield asked


@dataclass(frozen=True)
class Times:
    """Seconds of a request: on the clock, and of processors."""

    wall: float
    cpu: float


def timed(store: Store, ask: Callable[[ReadTransaction], object]) -> Times:
    """The time of a request, on a connection of its own."""
    wall, cpu = time.perf_counter(), time.process_time()
    with read_transaction(store) as transaction:
        ask(transaction)
    return Times(time.perf_counter() - wall, time.process_time() - cpu)
