"""Answers, cost reports and budgets: what they hold. How they are written is in `exports/`, one module per format.

- `results`: the rows that a command answers with, and the columns that people see of them
- `cost_report`: the sections of a report
- `report_files`: a report as a file to download; `report_grids`: its sections as grids of a screen
- `budgets`: limits on cost and errors, and a verdict on each (`tachograph check`)
"""
