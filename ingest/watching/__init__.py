"""Files that are written while we look: events and polls → batches of changed paths → `ingest`.

- `batches`: which changed paths are ingested when: a pure function of events and time
- `events`: the file system's own events (watchdog); `polls`: snapshots of folders, where there are none
- `places`: folders that can be watched, and file systems that tell of no changes
- `lock`: one watcher for each store
- `watcher`: the loop that brings them together. It ingests nothing itself and imports nothing heavy: an idle watcher is small
"""
