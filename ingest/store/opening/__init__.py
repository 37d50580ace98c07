"""Opening a store: which files it has, who may open it next, and how a new one begins.

- `engines`: the version of DuckDB that wrote a file; `own_files`: the files of a store
- `queue`, `waiting`: who may open it next, and what is said meanwhile; `new_store`: a store that is not complete yet
"""
