"""How logs become rows of the store: containers, formats, repair, pipeline, store."""
