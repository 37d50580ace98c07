"""Changes with two figures, baseline and candidate.

In running text:

- `running_text`: `A → B`, `from A to B`, verbs, chains; `RULES` has all rules for two neighbouring figures, in their order
- `marked_baselines`: `B (was A)`, `B instead of A`; `tenses`: `took A, now B`; `side_labels`: `A on main, B with this PR`
- `parallel_lists`: `from 2 s / 300 MB to 1 s / 80 MB`

By layout:

- `labelled_lines`: `Before: A` / `After: B`; `sections`: below the headings `Before` and `After`, outputs of tools too
"""
