"""The words of claims, as data: a TOML file for each kind, with an example and its claim beside each word.

- `*.toml`: the tables; `tables` reads them; `vocabulary` makes pieces of regular expressions of them
"""
