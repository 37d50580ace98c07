"""Cost reports and budgets: what they hold. How they are written is in `exports/`, one module per format.

- `cost_report`: the sections of a report
- `report_files`: a report as a file to download; `report_grids`: its sections as grids of a screen
- `budgets`: limits on cost and errors, and a verdict on each (`tachograph check`)
"""
