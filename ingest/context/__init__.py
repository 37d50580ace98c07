"""The context of a record: labels, path, sidecars and stream, merged by `gather` into the columns of `runs`."""
