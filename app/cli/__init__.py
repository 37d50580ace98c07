"""The command line: a file per group of commands, and shared code.

- `main`: all commands in the order of use, and those that serve
- `answers`, `claims`, `annotate`, `ingest`, `watch`, `run`, `store`: the other commands
- `options`: options that commands share (store, filters, format)
- `output`: where answers and reports go (terminal, standard output, a file); `terminal`: notes on
  stderr, progress bars, exit codes
- `doctor`: the work behind the commands of these names
"""
