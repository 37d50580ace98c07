"""What limits a claim: the words that stand beside its number wherever that is shown."""

from __future__ import annotations

_SCOPES = {"micro": "micro-benchmark only", "component": "one component only", "unspecified": "scope not stated"}
"""A claim about the whole program has no limit to name."""


def caveat_sql(prefix: str = "") -> str:
    """SQL of a claim's caveat: `micro-benchmark only, approximate`; NULL without one. Its columns are `{prefix}scope` and so on."""
    scopes = " ".join(f"when '{scope}' then '{words}'" for scope, words in _SCOPES.items())
    return (
        f"nullif(concat_ws(', ', case {prefix}scope {scopes} end, case {prefix}evidence when 'estimated' then 'projected' end, "
        f"case when {prefix}hedged then 'approximate' end), '')"
    )
