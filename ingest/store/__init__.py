"""The store: a database that DuckDB can attach.

- `database`: opening, reading, writing, replacing; `errors`: its errors, in words; `opening/`: waiting for a store, and making a new one
- `statements`: SQL that is parsed once in a process
- `record_rows`: a record → its rows, checked; `spool`: rows on their way from the workers, as Parquet; `read_result`: counts of a source
- `commit`: the spool into the tables, in one transaction; `doubts`: findings that compare the records of a run
- `sessions/`: what several records of a session come to; `history/`: ingests, undo, annotations; `pricing/`: list prices
- `text_index`: the words of runs, for search
- `rebuild`: every derived table made again from the raw records
- `ddl`: writes `sql/schema.sql` from the row models; `sql/`: schema, views and the steps of commit, pricing and retry
"""
