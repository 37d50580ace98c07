"""Claims told as two figures, before and after.

- `pairs`: the ways to write a pair; `arrows`: `A → B`; `was_and_instead`: "was A, now B"; `tenses`; `parallel` lists
- `tagged_figures`: `before: A, after: B`; `labelled_lines`; `tool_outputs`: outputs of benchmark tools
- `parenthetical_figures`: a remark between the two; `not_a_pair`: two figures that belong to different things
"""
