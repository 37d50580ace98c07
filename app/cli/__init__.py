"""The command line: one module per group of commands, and what the commands share.

- `main`: the commands, in the order of use; `commands/` holds those that need more than a page
- `options`: options that commands share (store, filters, format)
- `output`: where answers go (terminal, standard output, a file), `report_output`: where reports do; `report_text` and `check_text` draw on
  a terminal
- `terminal`: notes on stderr, progress bars, exit codes
- `ingest_paths`, `doctor`, `claims_extract`: the work behind the commands of these names
"""
