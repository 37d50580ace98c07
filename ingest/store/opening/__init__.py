"""Opening a store: which files it has, who may open it next, and how a new one begins.

- `engines`: instances of DuckDB, kept for the next user; `own_files`: the files of a store
- `queue`, `waiting`: who may open it next, and what is said meanwhile
- `attaching`: how a file is attached, and written out; `new_store`: a store that is not complete yet; `tables`: its tables, made ahead
"""
