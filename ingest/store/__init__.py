"""The store: a database that DuckDB can attach.

- `database`: opening, reading, writing, replacing; `errors`: its errors, in words; `own_files`: the files of a store
- `queue`, `waiting`: who may open it next; `new_store`: a store that is not complete yet
- `statements`: SQL that is parsed once in a process
- `record_rows`: a record → its rows, checked; `spool`: rows on their way from the workers, as Parquet; `read_result`: counts of a source
- `commit`: the spool into the tables, in one transaction
- `chains`: records whose totals continue those of an earlier record
- `rebuild`: every derived table made again from the raw records; `repricing`: list prices of the runs in the store
- `ddl`: writes `sql/schema.sql` from the row models; `sql/`: schema, views and the steps of commit, pricing and retry
"""
