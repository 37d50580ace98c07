"""Numbers with units, as texts write them, and what rules read and give.

- `quantities`: every number of a passage with its unit; `units`; `spelled`: numbers that are written out
- `effect`: a number in its text, two neighbouring figures, and the change that rules make of them; `ReadingRule`, a named rule with an example
- `measure`: what a figure measures, in which unit, and what says so
"""
