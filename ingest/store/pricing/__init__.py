"""List prices of what is in the store.

- `price_tables`: the prices as tables of a transaction
- `repricing`: model rows, runs and price differences again; `response_prices`: each response by its own size, tier and date
"""
