"""What a reader is given to do at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingest.reading.settings import Beginning
from ingest.sources.files import Source
from ingest.sources.portions import Portion


@dataclass(frozen=True)
class Task:
    """Some sources to be read whole, or one portion of a big one. `name` tells the task from all others of the ingest."""

    name: str
    sources: tuple[Source, ...]
    portion: Portion | None = None
    portion_number: int = 0
    beginnings: Mapping[str, Beginning] = field(default_factory=dict)
    """Of transcripts that have grown, by name: what was read before."""
