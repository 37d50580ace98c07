"""A lake: a store that many machines write to at once. DuckLake keeps its catalog in PostgreSQL and its data in Parquet files.

- `settings`, `extensions`: variables of the environment, and extensions of DuckDB
- `attaching`: a lake as DuckDB sees it, now or at an earlier time; `errors`: what goes wrong with it, in words
- `tables`: the tables and options of a lake; `making`: a new one
- `turns`: how writers keep out of each other's way; `replacing`: every table made again, for a rebuild
- `upkeep`: its files and snapshots: status, compacting, expiring
"""
