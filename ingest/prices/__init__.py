"""List prices of tokens. They are written into the store by `ingest.store.pricing`.

- `model_ids`: a model id as logged → model, provider, region
- `library`: the prices of genai-prices, also by the way of being served, looked up in `genai` once
  and kept in the user's cache; `price_file`: the user's own
- `price_book`: both, as prices of a model over time, with other prices that explain a difference
"""
