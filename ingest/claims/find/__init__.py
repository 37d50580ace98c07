"""Where a text may hold a claim: cheap signs first, then the passages around them.

- `signs`: words and symbols that every claim has one of; `multi_search`: all of them in one pass
- `passages`: the lines and sentences around the signs, with `captions` of tables, `sections` (Before/After), `column_legends`
- `box_drawing`: tables drawn with box characters
"""
