"""The store: a database that DuckDB can attach.

- `opening`: the engine, waiting for others, a new store, the files of a store, errors in words;
  `database`: reading, writing, replacing
- `record_rows`: a record → its rows, checked; `spool`: rows on their way from the workers, as
  Parquet; `read_result`: counts of a source
- `commit`: the spool into the tables, in one transaction; `cross_checks`: findings that compare
  records and runs
- `records`: the records of a run; `sessions`, `chains`: what several of a session come to;
  `pricing`: list prices
- `ingests`: the list of ingests; `undo`: taking one back; `annotations`: what people say of runs,
  and views they saved
- `rebuild`: every derived table made again from the raw records; `copying`: a store copied to
  another place
- `ddl`: writes `sql/schema.sql` from the row models; `sql/`: schema, views and the steps of commit,
  pricing and retry
- `lake/`: stores that many machines write to
"""
