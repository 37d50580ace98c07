"""What ingests brought, and how to take one back; what people say of runs.

- `records`: every record of a run, and its labels over all of them
- `ingests`: the list of ingests, and what each took the place of
- `undo`: taking an ingest back
- `annotations`: labels, notes, stars and exclusions
"""
