"""Result files that no reader knows, read by a map that people write (docs/map.md).

`schemas.wire.result_map` is its form. `found` says which map a file has: given, beside it, or of
those in `maps`, which come with the tool. `rows` yields the rows of a file, `fields` their values,
`reading` makes runs, measured values and experiments of them. `propose` writes a map for a file.
"""
