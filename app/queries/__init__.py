"""Questions to the store: filters in, Arrow tables out. No screen, no chart.

- `filters`, `grouping`, `filter_urls`: one grammar of filters and groupings, for options, widgets and links
- `runs`: lists, totals and groups of runs; `claims`, `cost`, `quality`, `reports`, `screens`: one subject each
- `comparisons`: groups beside a baseline, task by task, with intervals
- `what_if`: the same tokens at another model's list prices
- `read_transaction`: the queries of one request, which see one state of the store
"""
