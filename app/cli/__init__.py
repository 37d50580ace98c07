"""The command line: a module per command or small family, imported when it is called.

- `main`: the list of commands; `answering`: what commands that show data share
- `options`, `ingest_options`: options that commands share (store, filters, format; labels, prices)
- `output`: where answers and reports go (terminal, standard output, a file); `terminal`: notes on
  stderr, progress bars, exit codes
"""
