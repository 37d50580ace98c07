"""Questions to the store: filters in, Arrow tables out. No screen, no chart.

- `filters`, `filter_inputs`, `grouping`: one grammar of filters and groupings, for options,
  widgets, links, Python and JSON
- `reading`: the queries of one request, which see one state of the store
- `runs`, `run_page`, `run_money`, `agents`, `tasks`, `claims`, `cost`, `failures`, `measured`,
  `quality`, `usage`, `sessions`: one subject each
- `comparison`: groups beside a baseline, task by task, with the intervals of `ratios`
"""

from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]
"""A row of a table: column → value."""
Rows = list[dict[str, Any]]
"""Rows as values of Python, which may get more columns."""
