"""List prices of tokens. They are written into the store by `ingest.store.pricing`.

- `model_ids`: a model id as logged → model, provider, region
- `list_prices`: the prices of genai-prices; `price_file`: the user's own; `price_book`: both, as prices of a model over time
- `services`: what a request costs by the way it was served: fast mode, batch, region
- `alternatives`: other prices that an agent may have used, which explain a difference
"""
