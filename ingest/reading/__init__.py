"""One source → rows in the spool, in worker processes that never open the store.

- `read_source`: the documents of a source → rows, and a result with their counts
- `tasks`: which sources are read together and which in portions; `workers`: worker processes
- `retries`: files to read again, and rejects that no longer hold
- `known_sources`: sources that the store has already
- `arrow_without_pandas`: pyarrow without the import of pandas
"""
