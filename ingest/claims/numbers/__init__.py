"""Numbers with units, as texts write them.

- `quantities`: every number with its unit in a passage; `units`; `spelled`: numbers as words
- `quantity_context`: the text around a number; `pair_candidate`: two numbers that may be before and after
- `effect`: the change that a claim is about, before it is judged
"""
