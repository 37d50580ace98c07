"""What tokens cost at list prices.

- `model_ids`: a model id as logged → model, provider, region
- `list_prices`: the prices of genai-prices; `price_file`: the user's own; `price_book`: which of them applies
- `alternatives`: other prices an agent may have used, which explain a difference
- `repricing`: list prices into the store's rows
"""
