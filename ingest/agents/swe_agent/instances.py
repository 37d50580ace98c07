"""What SWE-bench's name of a task says: `django__django-12143` is an issue of django/django."""

from __future__ import annotations

import re

_INSTANCE = re.compile(r"([A-Za-z0-9][\w.-]*?)__([A-Za-z0-9][\w.-]*)-\d+")


def repo_of(instance: str | None) -> str | None:
    """The repository of a task; None for a name in any other style."""
    found = _INSTANCE.fullmatch(instance or "")
    return f"{found[1]}/{found[2]}" if found else None
