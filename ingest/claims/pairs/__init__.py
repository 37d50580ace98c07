"""Changes with two figures, baseline and candidate.

In running text (`pairs.RULES` lists the ways to write a pair, in the order in which they are tried):

- `pairs`: `A → B`, `from A to B`, verbs, chains; `was_and_instead`: `B (was A)`, `B instead of A`; `tenses`: `took A, now B`
- `side_labels`: `A on main, B with this PR`; `parallel`: two lists of figures

By layout:

- `labelled_lines`: `Before: A` / `After: B`; `sections`: below the headings `Before` and `After`, outputs of tools too
"""
