"""How records get into the store. `pipeline` is the path on one screen.

- `sources/`: files, pipes, archives → bytes; `documents/`: bytes → JSON objects
- `reading/`: one source → rows, in worker processes
- `agents/`: documents → runs, one folder per agent
- `context/`: what the surroundings of a record say (stream, path, files beside it, labels)
- `claims/`: what a summary claims became faster, smaller or cheaper
- `findings/`: what a summary states, and rules that compare
- `prices/`: list prices, alternatives, price files
- `system/`: signals, file locks and temporary folders
- `store/`: the DuckDB store: spool, commit, chains, rebuild, SQL
"""
