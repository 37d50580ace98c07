"""Every column and every figure, once: what it is called, what it counts, what it means and, where it is derived, its SQL.

- `entry`: what an entry says
- `figures`: figures of one run or one model of a run, which the views derive: one entry is a column of the view, of the lists and exports
  of runs, a card, a distribution, a line of `compare`
- `metrics`: figures of groups, and bounds on them; `dimensions`: the groupings
- `columns`: every column by what a row of its table is: RUNS, GROUPS, MODELS, CLAIMS, …; stored ones are described in `schemas.rows`

Screens, reports, exports, commands, the comments of the store and help texts read it.
"""
