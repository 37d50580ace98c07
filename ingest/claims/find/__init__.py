"""Where a text may hold claims.

- `triggers`: words and symbols, at least one of which is in every claim; `multi_search` finds them all in one pass
- `passages`: the bullet, paragraph, labelled lines or table around a trigger; box-drawn tables become Markdown tables
"""
