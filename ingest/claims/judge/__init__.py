"""From effects to the fields of claims.

- `merging`: joins expressions of one effect: `2822 → 2172 ms (23% faster)`; `surroundings`: the words around an effect, cut once
- `metrics`: the metric, by unit, nearest noun, or inferred; `not_performance`: settings and other figures that make no claim
- `ratios`: the improvement factor, above 1 is better; `subjects`: whether a change is that of the baseline
- `evidence`: evidence, hedge, origin, subject
"""
