"""Claims in tables.

- `table_effects`: the effects of a table, row by row; `RULES` has the rules for a row, in their order
- `cells`: rows and cells; `header_cells`: which columns have baseline, candidate and change; `rows`: the figures of a row
- `captions`: the lines above a table; `aligned_columns`: columns separated by blanks, as tools print them
"""
