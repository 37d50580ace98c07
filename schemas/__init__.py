"""The shape of data: wire models, strict rows, Arrow tables, metrics and errors.

Imports neither ingest nor app.
"""
