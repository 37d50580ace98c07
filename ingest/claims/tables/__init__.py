"""Claims in tables.

- `tables`: the claims of a table, row by row; `cells`; `header_cells`: which column is baseline, candidate or change; `rows`: their figures
- `captions`: the lines above a table; `aligned_columns`: columns made with blanks, as tools print them
"""
