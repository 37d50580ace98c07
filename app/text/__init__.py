"""Words and numbers for people. Pure functions: values in, text out.

- values: `formatting`, `columns` (label, unit, words, bounds), `answers` (rows and notes on them)
- tables of columns: `text_tables` (terminal), `grids` (a screen's grid); files are written by
  `app.reports.exports`. Tables in words, for screens, phones and first pages: `table`, `agents`
- parts of pages in HTML: `html_parts`
- parts of sentences: `sentences`
- sentences and tables of a screen: `overview`, `failures`, `tasks`, `speedups`, `compare`, `costs`,
  `usage`, `data`
- a run: `run_html`, `run_text`, `run_money`, `summary`; words: `claims`, `ingests`, `filter_words`
"""
