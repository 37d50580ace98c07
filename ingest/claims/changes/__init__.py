"""Changes with one figure or none.

- `single_numbers`: `23% faster`, `reduced by 40%`, `saves 12 ms`, bare `3.2x`; `RULES_OF_VALUES` and `RULES_OF_CHANGES` in their order
- `coordinated`: a change that takes its word from the one before: `8x faster for reads and 7x for writes`
- `idioms`: changes without a numeral, `twice as fast`, `halved`; `qualitative`: claims without a size, `eliminates allocations`
"""
