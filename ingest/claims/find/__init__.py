"""Where a text may hold a claim.

- `signs`: words and symbols of which every claim has one; `multi_search` finds them all in one pass
- `passages`: the bullet, paragraph, labelled lines or table around each sign; drawn tables as Markdown
"""
