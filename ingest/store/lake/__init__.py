"""A lake: a store that many machines write to at once.

DuckLake keeps its catalog in PostgreSQL and its data in Parquet files.

- `place`: a lake as DuckDB sees it, now or at an earlier time, and how its writers keep out of each
  other's way
- `access`: what reaching it takes: extensions of DuckDB, settings and keys; and what goes wrong, in
  words
- `upkeep`: a new lake; its files and snapshots: status, compacting, expiring
"""
