"""Every column and figure, defined once: its name, unit, meaning and, if derived, its SQL.

- `entry`: the types of entries
- `figures`: derived figures of one run or one model of a run: each is a column of the view, of
  lists and exports of runs, a card, a
  distribution, a line of `compare`
- `metrics`: figures of groups, and bounds on them; `dimensions`: the groupings
- `columns`: every column by the kind of row of its table: RUNS, GROUPS, MODELS, CLAIMS, …;
  `schemas.rows` describes the stored ones

Used by screens, reports, exports, commands, help texts and the comments in the store.
"""
