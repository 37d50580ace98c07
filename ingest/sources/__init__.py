"""Named bytes (files, pipes, archives, uploads) → documents: the JSON objects in them, found by content and in bounded memory."""
