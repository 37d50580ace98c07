"""Words and numbers for people. Pure functions: values in, text out.

- `formatting`: values by unit (money, durations, tokens, ratios)
- `columns`, `grid_columns`, `cost_grids`, `text_tables`: which columns a table shows, what they are called, how a cell reads
- `answers`: rows, and what they are about
- `presentation`, `words/`: sentences, cards and titles
- `summary_html`, `highlights`, `claim_marks`: a run's summary as safe HTML, with its claims marked
"""
