"""How records get into the store. `pipeline` shows the whole path.

- `sources/`: files, pipes, archives → bytes → JSON objects
- `reading/`: one source → rows, in worker processes
- `agents/`: documents → runs, one folder per agent
- `context/`: facts from outside a record (its stream, path, files beside it, labels)
- `claims/`: claims of a summary that something became faster, smaller or cheaper
- `findings/`: statements of a summary, and rules that compare them with the record
- `prices/`: list prices, alternatives, price files
- `system/`: signals, file locks and temporary folders
- `store/`: the DuckDB store: spool, commit, chains, rebuild, SQL
"""
