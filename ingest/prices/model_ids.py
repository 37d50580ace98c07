"""A model id as logged → model, provider and region.

Forms met in real records: `claude-haiku-4-5-20251001` and `gpt-5-2025-08-07` (dated),
`claude-opus-4-6[1m]` (context suffix), `us.anthropic.claude-sonnet-4-5-20250929-v1:0` (Bedrock,
region prefix), `arn:aws:bedrock:…` (Bedrock, by ARN), `claude-sonnet-4-5@20250929` (Vertex AI),
`anthropic/claude-sonnet-4.5` and, with the version first, `anthropic/claude-4.5-sonnet-20250929`
(OpenRouter), `glm-5.1` (through a proxy). Providers carry the names of the price library:
anthropic, aws, google, azure, openrouter, …
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from schemas.catalogue.figures import EFFORT_IN_MODEL

PROVIDER_OF_WIRE_NAME = {
    "firstParty": "anthropic",
    "bedrock": "aws",
    "mantle": "aws",
    "anthropicAws": "aws",
    "vertex": "google",
    "anthropicGoogleCloud": "google",
    "foundry": "azure",
}
"""`modelUsage.*.provider` → provider. For `gateway` and unknown words the id decides."""

PROVIDER_OF_ROUTE = {
    "bedrock": "aws",
    "vertex_ai": "google",
    "vertex": "google",
    "gemini": "google",
    "azure": "azure",
    "azure_ai": "azure",
    "xai": "x-ai",
    "moonshot": "moonshotai",
}
"""First part of `route/model` ids, by litellm's names → provider; any other `maker/model` id is
OpenRouter's.
"""

PROVIDER_OF_FAMILY = {
    "claude": "anthropic",
    "gpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "codex": "openai",
    "gemini": "google",
    "grok": "x-ai",
    "deepseek": "deepseek",
    "glm": "zhipuai",
    "kimi": "moonshotai",
    "minimax": "minimax",
    "mistral": "mistral",
}
"""Prefix of a plain id → its maker, which is the provider unless the form of the id names another.
Open-weight families are omitted.
"""

LOCAL_PROVIDERS = frozenset(
    (
        "ollama",
        "lmstudio",
        "lm_studio",
        "lm-studio",
        "llamacpp",
        "llama.cpp",
        "llama-cpp",
        "vllm",
        "hosted_vllm",
        "sglang",
        "mlx",
        "local",
        "localhost",
    )
)
"""Providers that run a model locally: no maker's price applies, even if the maker sells a model of
that name.
"""

_MAKER_PREFIX = re.compile(r"^[a-z0-9]+\.(?=[a-z])")
_BEDROCK_VERSION = re.compile(r"-v\d+(:\d+)?(:\d+k)?$")
_CONTEXT_SUFFIX = re.compile(r"\[[^\]]*\]$")


@dataclass(frozen=True, slots=True)
class ModelId:
    """The parts of a model id. `provider` and `region` are None if the id lacks them."""

    model: str
    provider: str | None
    region: str | None


def is_free(logged: str | None) -> bool:
    """Return whether the id says that the model costs nothing.

    `z-ai/glm-4.5-air:free`, `minimax-m2-free`.
    """
    return re.search(r"[:/-]free$", logged or "", flags=re.IGNORECASE) is not None


def makers(model: str, provider: str) -> tuple[str, ...]:
    """Return the providers whose price applies to a model behind a gateway.

    The gateway's namesake, then the model's maker, by any name.
    """
    maker = _provider(model, bedrock=False)
    abroad = "zai" if maker == "zhipuai" else None  # one maker, two price lists
    return tuple(dict.fromkeys(filter(None, (provider.lower().partition("-")[0], abroad, maker))))


def without_effort(name: str) -> tuple[str, str | None]:
    """Return the name of a model without the effort that it ends in, and that effort."""
    found = re.search(EFFORT_IN_MODEL, name)
    return (name[: found.start()], found[1] or found[2]) if found else (name, None)


@lru_cache(maxsize=4096)
def parse_model_id(
    logged: str, wire_provider: str | None = None, canonical: str | None = None
) -> ModelId:
    """Parse a model id as logged.

    `wire_provider` and `canonical` come from the record and win over the id.

    An id without a name (`[1m]`, `us.`, blanks) becomes the name itself, so that no name is empty.
    """
    parsed = _parse(logged.strip())
    provider = PROVIDER_OF_WIRE_NAME.get(wire_provider or "", parsed.provider)
    return ModelId(
        (_bare(canonical) if canonical else parsed.model) or canonical or logged,
        provider,
        parsed.region,
    )


def _parse(text: str) -> ModelId:
    provider, region, text = _routed(text)
    prefix = re.match(r"^(us-gov|us|eu|apac|jp|au|ca|sa|global)\.", text)
    rest = text[prefix.end() :] if prefix else text
    bedrock = prefix is not None or _is_versioned(rest) or rest.startswith("anthropic.")
    return ModelId(
        _bare(rest), provider or _provider(rest, bedrock), prefix[1] if prefix else region
    )


def _is_versioned(text: str) -> bool:
    """Return whether an id ends as Bedrock's do.

    `deepseek-v3` ends in the version of the model itself.
    """
    found = _BEDROCK_VERSION.search(text)
    return found is not None and (
        found[1] is not None or text.startswith("claude") or _MAKER_PREFIX.match(text) is not None
    )


def _routed(text: str) -> tuple[str | None, str | None, str]:
    """Return the outermost route's provider, the innermost ARN's region, and the id behind all."""
    provider, region = None, None
    for _ in range(8):
        if arn := re.match(
            r"^arn:aws[\w-]*:bedrock:(?P<region>[\w-]*):\d*:[\w-]+/(?P<id>.+)$", text
        ):
            provider, region, text = provider or "aws", arn["region"] or region, arn["id"]
        elif "/" in text:
            route, _, text = text.partition("/")
            provider = provider or PROVIDER_OF_ROUTE.get(route.lower(), "openrouter")
    return provider, region, text.rpartition("/")[2]


def _provider(text: str, bedrock: bool) -> str | None:
    if bedrock:
        return "aws"
    if "@" in text and text.startswith("claude"):
        return "google"
    family = re.split(r"[-.\d]", text.lower(), maxsplit=1)[0]
    return PROVIDER_OF_FAMILY.get(family) or PROVIDER_OF_FAMILY.get(text.lower()[:2])


def _bare(text: str) -> str:
    """Return the plain name of the model, without maker, version, date and context suffix.

    Versions of Claude with dashes.
    """
    name = _CONTEXT_SUFFIX.sub("", without_effort(text)[0])
    name = _MAKER_PREFIX.sub("", name) if "." in name.split("-")[0] else name
    name = re.sub(
        r"[-@](20\d{6}|20\d{2}-\d{2}-\d{2}|default)$",
        "",
        _BEDROCK_VERSION.sub("", name) if _is_versioned(text) else name,
    )
    # Matches `claude-4-6-opus`, which is `claude-opus-4-6`. Up to version 3 Anthropic itself put
    # the version first.
    return (
        re.sub(
            r"^claude-([4-9](?:-\d{1,2})?)-([a-z]+)",
            r"claude-\2-\1",
            re.sub(r"(?<=\d)\.(?=\d)", "-", name),
        )
        if name.startswith("claude")
        else name
    )
