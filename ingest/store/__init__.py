"""The store: a database that DuckDB can attach.

- `database`: opening, reading, writing, replacing; `errors`: what can go wrong, in words; `own_files`: which files are the store's
- `queue`, `waiting`: who may open it next; `new_store`: a store in the making; `leftovers`: what killed writers left
- `spool`, `spool_folder`, `row_tables`: rows on their way from the workers, as Parquet
- `commit`: the spool into the tables, in one transaction
- `chains`, `chain_steps`: records whose totals continue those of an earlier record
- `rebuild`: every derived table made again from the raw records
- `ddl`: writes `sql/schema.sql` from the row models; `sql/`: schema, views and the steps of commit, pricing and retry
"""
