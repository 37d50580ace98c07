"""What several readers need: tokens in disjoint classes, ids and times, prompts, tool calls, errors."""
