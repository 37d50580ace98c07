"""Words and numbers for people. Pure functions: values in, text out.

- values: `formatting`, `columns` (label, unit, words, bounds), `answers` (rows and notes on them)
- writers of tables: `text_tables` (terminal), `html_parts` (HTML), `grids` (a screen's grid); files
  are written by `app.reports.exports`
- parts of sentences: `sentences`, `agents`
- sentences and tables of a screen: `overview`, `failures`, `tasks`, `speedups`, `compare`, `costs`,
  `usage`, `data`
- a run: `run_html`, `run_text`, `summary`; words: `claims`, `ingests`, `filter_words`
"""
