"""What data looks like: wire models, strict rows, Arrow tables, metrics and errors. Imports neither ingest nor app."""
