"""Names of models as litellm writes them, `provider/model`: the first part is who is asked, not the maker as in OpenRouter's catalogue."""

from __future__ import annotations

_PROVIDERS = {
    "anthropic": "anthropic",
    "azure": "azure",
    "azure_ai": "azure",
    "bedrock": "aws",
    "deepseek": "deepseek",
    "fireworks_ai": "fireworks",
    "gemini": "google",
    "google": "google",
    "groq": "groq",
    "mistral": "mistral",
    "moonshot": "moonshotai",
    "openai": "openai",
    "openrouter": "openrouter",
    "together_ai": "together",
    "vertex_ai": "google",
    "xai": "x-ai",
}
"""litellm's name of a provider → the price library's."""


def provider_named(name: str | None) -> str | None:
    """The provider by litellm's name; an unknown one as it is."""
    return _PROVIDERS.get(name.lower(), name) if name else None


def provider_of(model: str | None) -> str | None:
    """The provider in front of a model's name; None where there is none that is known. Portkey writes `@` before it."""
    first, slash, _ = (model or "").partition("/")
    return _PROVIDERS.get(first.removeprefix("@").lower()) if slash else None
