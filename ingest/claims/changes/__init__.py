"""Claims told as one figure: a factor, a percentage, a saving.

- `changes`: "23% faster", "reduced by 40 ms"; `coordinated`: one word for several figures; `cjk`: Chinese, Japanese, Korean
- `bare_factors`: "3.2x" without a word; `savings`; `idioms`: "twice as fast", "halved"
- `effects`: all ways in the order in which they are tried; `qualitative`: claims without a figure
"""
