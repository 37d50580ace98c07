"""The context of a record: the events of its stream, its path, the files beside it, and labels.

- `gather`: all of it merged into the columns of `runs`
- `stream`: events of the stream; `path_template`: parts of the path; `sidecars`, `patches`: files beside the record
- `temporary_sidecars`: sidecars from archives and uploads, in a temporary folder
"""
