"""Changes with one figure or none.

- `changes`: `23% faster`, `reduced by 40%`, `saves 12 ms`, bare `3.2x`; its `WAYS_…` list the ways in the order in which they are tried
- `coordinated`: one word for several figures
- `idioms`: `twice as fast`, `halved`; `qualitative`: claims without a number
"""
