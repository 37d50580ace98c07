"""Numbers with their units, and the types that the rules of `pairs/`, `changes/` and `tables/` read and return.

- `quantities`: finds every number of a passage; `units`: the unit behind a number; `spelled`: numbers in words
- `effect`: a number in its text (`NumberInText`), two neighbouring figures (`TwoFigures`), and the result of a rule (`Effect`);
  `ReadingRule`: a rule with its name and example
- `measure`: metric and unit of an effect, and the part of the text that states them
"""
