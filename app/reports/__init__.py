"""Contents of answers, cost reports and budgets. `exports/` writes them, one module per format.

- `results`: the rows of a command's answer, and the columns for people
- `cost_report`: the sections of a report
- `report_files`: a report as a file to download; `report_grids`: its sections as grids of a screen
- `budgets`: limits on cost and errors, and a verdict on each (`tachograph check`)
"""

REPORT_RUNS = 10
"""Runs that a report lists unless its format has room for more."""
