"""Events of the file system, by watchdog: inotify, FSEvents, kqueue or ReadDirectoryChangesW."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from watchdog.events import (
    DirCreatedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from ingest.watching.places import Place

HEARD: list[type[FileSystemEvent]] = [
    FileCreatedEvent, FileModifiedEvent, FileMovedEvent, FileClosedEvent, DirCreatedEvent, DirMovedEvent,
]  # fmt: skip
"""Not those of our own reading: opened, closed without a change."""


class _Handler(FileSystemEventHandler):
    """Tells of the paths of a folder's events under the names of the places in it."""

    def __init__(self, places: list[Place], tell: Callable[[str], object]) -> None:
        self._places, self._tell = places, tell

    def on_any_event(self, event: FileSystemEvent) -> None:
        path = os.fsdecode(event.dest_path or event.src_path)
        for place in self._places:
            if named := place.named(path):
                self._tell(named)


class Events:
    """The events of places, each path told to `tell` in another thread. Raises OSError where the system has none left for us."""

    def __init__(self, places: Iterable[Place], tell: Callable[[str], object]) -> None:
        self._places, self._tell = list(places), tell
        self._marks: dict[str, tuple[int, int] | None] = {}
        self._observer = Observer()

    def start(self) -> None:
        """Begin to tell. Raises OSError."""
        self._schedule()
        self._observer.start()

    def stop(self) -> None:
        """Tell nothing more."""
        if self._observer.is_alive():
            self._observer.stop()
            self._observer.join(5)

    def replaced(self) -> list[Place]:
        """The places whose folder is another one than it was, which is heard from now on; a folder that is gone is none. Raises OSError."""
        now = {place.folder: place.mark for place in self._places}
        if now == self._marks:
            return []
        fresh = [place for place in self._places if now[place.folder] and now[place.folder] != self._marks.get(place.folder)]
        self._observer.unschedule_all()
        self._schedule()
        return fresh

    def _schedule(self) -> None:
        self._marks = {place.folder: place.mark for place in self._places}
        for folder, mark in self._marks.items():
            inside = [place for place in self._places if place.folder == folder]
            if mark:
                is_deep = any(place.is_folder for place in inside)
                self._observer.schedule(_Handler(inside, self._tell), folder, recursive=is_deep, event_filter=HEARD)
