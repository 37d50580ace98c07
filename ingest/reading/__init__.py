"""One source → rows in the spool, in worker processes that never open the store.

- `read_source`: the documents of a source become rows, and a result with their counts
- `tasks`: which sources are read together and which in portions; `workers`: processes that do the tasks
- `retries`: files to read again because something was rejected
- `known`: sources that the store has already
- `arrow_without_pandas`: pyarrow without the import of pandas
"""
