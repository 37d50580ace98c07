"""What a found effect means: of which metric, how large, on what evidence.

- `merging`: one effect per claim; `metrics` with `metric_words`: what was measured; `inferred_metric`: where no word says it
- `not_performance`: settings, sizes of tests and other figures that are no performance
- `ratios`: the factor, above 1 better; `evidence_and_scope` with `surroundings`: the other fields of a claim
"""
