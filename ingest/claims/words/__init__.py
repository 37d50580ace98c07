"""The words of claims, as data: a TOML file for each kind of word, with an example and its claim beside each word.

- `*.toml`: the tables; their tables `[triggers.…]`: literals that mark a text as worth reading
- `word_tables` reads them; `vocabulary` makes pieces of regular expressions of them
"""
