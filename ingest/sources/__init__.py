"""Named bytes (files, pipes, archives, uploads) → documents.

The JSON objects in them, found by content and in bounded memory.
"""
