"""The words of claims: `change_words`, `context_words`, and the parts of expressions they share (`regex_parts`)."""
