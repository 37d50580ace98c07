"""Claims in tables.

- `tables`: a table's claims; `cells`; `header_cells`: which column was before, which after; `rows`
- `aligned_columns`: columns made with blanks; `transposed`: tables on their side; `change_columns`: a change without its figures
"""
