"""The context of a record.

Labels, path, sidecars and stream, merged by `gather` into the columns of `runs`.
"""
