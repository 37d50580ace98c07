"""What ingests brought, and how to take one back; what people say of runs.

- `records`: every record of a run, and its labels over all of them
- `merging`, `borrowing`: the run that they make together
- `read_again`: kept records as rows once more
- `ingests`: the list of ingests, and what each took the place of
- `undo`: taking an ingest back
- `annotations`: labels, notes, stars and exclusions
"""
