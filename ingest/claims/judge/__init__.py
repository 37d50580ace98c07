"""What an effect means.

- `merging`: several expressions of one effect become one claim; `surroundings`: the words around it, cut once
- `metrics`: what was measured, by unit, nearest noun, or inferred; `not_performance`: settings and other figures that claim nothing
- `ratios`: the factor, above 1 is better; `evidence_and_scope`: the other fields of a claim
"""
